//! What the bank must hold afterwards.
//!
//! Three things must hold. Every account equals a replay of all transfers, whose amounts do not
//! depend on balances: so the total is exact, and no transfer was lost, doubled or torn. No audit,
//! whether its attempt committed or not, has seen another sum of its range than the one that
//! transfers conserve. And every audit has compared its sum.
//!
//! With `zipf` above zero, accounts are drawn by Zipf's law: the one of rank `r`, from 0, with
//! probability in proportion to `(r + 1)^-zipf`. Ranks are dealt to the ranges in turn like cards,
//! so each has its popular accounts at its front. A transfer draws its range, then both accounts
//! within it: the account that loses follows the law exactly.
//!
//! Alias tables (Walker 1977, made as by Vose 1991): a draw from any
//! distribution by one load and one comparison.
//!
//! Column `c` of a table for `n` outcomes stands for outcome `c` and one other,
//! its alias; choosing a column uniformly and then one of the two by the
//! column's threshold gives each outcome its probability. An entry has the
//! threshold, in units of 2^-32, in its upper half and the alias in its lower.

use super::input::Bank;
use crate::error::Result;
use stm_kernels::bank::{BankPlan, BankTransaction, CHECKS, WRONG_SUM_OF, WRONG_SUMS};
use stm_kernels::draw::draw;

impl Bank {
    pub(super) fn plan(&self, seed: u64) -> BankPlan {
        BankPlan::new(
            seed,
            self.accounts,
            self.audit_range,
            self.audit_percent,
            self.zipf_thousandths == 0,
        )
    }

    /// The balances before a launch: some thousand, another for each account,
    /// so that a store to a wrong one shows.
    pub(super) fn initial(&self, seed: u64) -> Vec<i32> {
        (0..u64::from(self.accounts))
            .map(|a| 1000 + (draw(seed, a, u32::MAX) >> 54) as i32)
            .collect()
    }

    /// The sum of each range, wrapping as the device's.
    pub(super) fn sums(plan: &BankPlan, accounts: &[i32]) -> Vec<i32> {
        (0..plan.ranges())
            .map(|range| {
                let start = plan.start(range) as usize;
                accounts[start..start + plan.len(range) as usize]
                    .iter()
                    .fold(0, |sum: i32, balance| sum.wrapping_add(*balance))
            })
            .collect()
    }

    pub(super) fn rank(&self, plan: &BankPlan, range: u32, offset: u32) -> u64 {
        let (ranges, offset) = (u64::from(plan.ranges()), u64::from(offset));
        let dealt = u64::from(self.audit_range);
        if offset < dealt {
            offset * ranges + u64::from(range)
        } else {
            // What is left over goes to the last range, and ranks last.
            dealt * ranges + (offset - dealt)
        }
    }

    /// The alias tables in the layout of [`BankPlan`]: for a range, then for an
    /// account within each. None if draws are uniform.
    pub(super) fn tables(&self, plan: &BankPlan) -> Vec<u64> {
        if self.zipf_thousandths == 0 {
            return Vec::new();
        }
        let exponent = -f64::from(self.zipf_thousandths) / 1000.0;
        let mut within = Vec::with_capacity(self.accounts as usize);
        let mut of_ranges = Vec::with_capacity(plan.ranges() as usize);
        for range in 0..plan.ranges() {
            let weights: Vec<f64> = (0..plan.len(range))
                .map(|offset| (self.rank(plan, range, offset) as f64 + 1.0).powf(exponent))
                .collect();
            of_ranges.push(weights.iter().sum::<f64>());
            append(&mut within, &weights);
        }
        let mut tables = Vec::with_capacity(of_ranges.len() + within.len());
        append(&mut tables, &of_ranges);
        tables.append(&mut within);
        tables
    }

    /// The accounts after all of `transactions`, and how many of these are audits.
    pub(super) fn replay(
        plan: &BankPlan,
        tables: &[u64],
        mut accounts: Vec<i32>,
        n: u64,
    ) -> (Vec<i32>, u64) {
        let mut audits = 0;
        for i in 0..n {
            match plan.transaction(i, |at| tables[at as usize]) {
                BankTransaction::Audit { .. } => audits += 1,
                BankTransaction::Transfer { from, to, amount } => {
                    let (from, to) = (from as usize, to as usize);
                    accounts[from] = accounts[from].wrapping_sub(amount);
                    accounts[to] = accounts[to].wrapping_add(amount);
                }
            }
        }
        (accounts, audits)
    }
}

/// Checks what the audits found. `audits` of the transactions are audits.
pub(super) fn check_audits(findings: &[u64], audits: u64) -> Result<()> {
    let finding = |at: u64| findings[at as usize];
    let (checks, wrong) = (finding(CHECKS), finding(WRONG_SUMS));
    wrong! {
        wrong != 0 || finding(WRONG_SUM_OF) != 0 =>
            "{wrong} of {checks} audits saw a sum that their range never had, transaction {} one \
             of them", finding(WRONG_SUM_OF).wrapping_sub(1);
        checks < audits => "only {checks} of {audits} audits compared a sum";
        audits == 0 && checks != 0 => "{checks} audits compared a sum, and there are none";
    }
    Ok(())
}

/// Appends the table for outcomes with these weights, at least one of them above zero.
pub(super) fn append(table: &mut Vec<u64>, weights: &[f64]) {
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
    fn tables_are_one_after_the_other_and_give_every_outcome_its_probability() {
        for weights in [
            vec![1.0],
            vec![1.0; 7],
            vec![0.0, 3.0, 0.0, 1.0],
            (1..1000).map(|k| f64::from(k).powf(-0.99)).collect(),
            (1..1000).map(|k| f64::from(k).powf(-3.0)).rev().collect(),
        ] {
            let mut tables = Vec::new();
            append(&mut tables, &weights);
            append(&mut tables, &weights);
            let (table, next) = tables.split_at(weights.len());
            assert_eq!(table, next);
            let sum: f64 = weights.iter().sum();
            for (p, w) in probabilities(table).iter().zip(&weights) {
                assert!((p - w / sum).abs() < 1e-9, "{p} for {w} of {sum}");
            }
        }
    }
}
