//! Sums whose additions came in an order that nobody knows: of plain atomic
//! additions, and of transactions that only add.

use super::points::Points;
use super::sequential::ROUNDING;

/// Compares the rows with what the members add up to in double precision. All
/// members are centres.
pub fn wrong_sums(points: &Points, members: &[u32], rows: &[u32]) -> Option<String> {
    let dims = points.dims();
    let clusters = rows.len() / (dims + 1);
    let mut counts = vec![0u32; clusters];
    // Of each coordinate the sum, and the sum of the magnitudes.
    let mut sums = vec![(0.0f64, 0.0f64); clusters * dims];
    for (&c, point) in members.iter().zip(points.iter()) {
        counts[c as usize] += 1;
        for ((sum, magnitude), &x) in sums[c as usize * dims..].iter_mut().zip(point) {
            *sum += f64::from(x);
            *magnitude += f64::from(x.abs());
        }
    }
    for (c, row) in rows.chunks_exact(dims + 1).enumerate() {
        let count = counts[c];
        if row[0] != count {
            return Some(format!(
                "centre {c} counts {} points, and {count} sit with it",
                row[0]
            ));
        }
        for (j, (&bits, &(sum, magnitude))) in row[1..].iter().zip(&sums[c * dims..]).enumerate() {
            let found = f64::from(f32::from_bits(bits));
            // So many additions in any order (Higham 2002, section 4.2); twice
            // the first order covers the higher ones.
            let bound = 2.0 * f64::from(count) * ROUNDING * magnitude;
            let explained = (found - sum).abs() <= bound;
            // Of a sum that is no number, nothing is.
            if !explained {
                return Some(format!(
                    "sum {j} of centre {c} is {found:e}, not the {sum:e} of its {count} points, \
                     and rounding explains {bound:e}"
                ));
            }
        }
    }
    None
}
