//! Alias tables (Walker 1977, made as by Vose 1991): a draw from any
//! distribution by one load and one comparison.
//!
//! Column `c` of a table for `n` outcomes stands for outcome `c` and one other,
//! its alias; choosing a column uniformly and then one of the two by the
//! column's threshold gives each outcome its probability. An entry has the
//! threshold, in units of 2^-32, in its upper half and the alias in its lower.

/// Appends the table for outcomes with these weights, at least one of them
/// above zero.
pub fn append(table: &mut Vec<u64>, weights: &[f64]) {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    // What is left of each outcome's weight, a whole column being 1.
    let mut left: Vec<f64> = weights.iter().map(|w| w / mean).collect();
    let first = table.len();
    // A column of its own, until it is given an alias.
    table.extend((0..weights.len() as u64).map(|c| entry(1.0, c)));
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..weights.len()).partition(|&c| left[c] < 1.0);
    while let (Some(&s), Some(&l)) = (small.last(), large.last()) {
        small.pop();
        table[first + s] = entry(left[s], l as u64);
        left[l] -= 1.0 - left[s];
        if left[l] < 1.0 {
            large.pop();
            small.push(l);
        }
    }
    // Whoever is left has a whole column, but for rounding.
}

fn entry(threshold: f64, alias: u64) -> u64 {
    let units = (threshold * 4_294_967_296.0) as u64;
    units.min(u64::from(u32::MAX)) << 32 | alias
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of each outcome, by the table's text.
    fn probabilities(table: &[u64]) -> Vec<f64> {
        let mut p = vec![0.0; table.len()];
        for (c, entry) in table.iter().enumerate() {
            let own = (entry >> 32) as f64 / 4_294_967_296.0;
            p[c] += own / table.len() as f64;
            p[(entry & 0xFFFF_FFFF) as usize] += (1.0 - own) / table.len() as f64;
        }
        p
    }

    #[test]
    fn a_table_gives_every_outcome_its_probability() {
        for weights in [
            vec![1.0],
            vec![1.0; 7],
            vec![0.0, 3.0, 0.0, 1.0],
            (1..1000).map(|k| f64::from(k).powf(-0.99)).collect(),
            (1..1000).map(|k| f64::from(k).powf(-3.0)).rev().collect(),
        ] {
            let mut table = Vec::new();
            append(&mut table, &weights);
            let sum: f64 = weights.iter().sum();
            for (p, w) in probabilities(&table).iter().zip(&weights) {
                assert!((p - w / sum).abs() < 1e-9, "{p} for {w} of {sum}");
            }
        }
    }

    #[test]
    fn tables_are_appended_one_after_the_other() {
        let mut table = Vec::new();
        append(&mut table, &[1.0, 2.0]);
        append(&mut table, &[1.0, 2.0]);
        assert_eq!(table[..2], table[2..]);
    }
}
