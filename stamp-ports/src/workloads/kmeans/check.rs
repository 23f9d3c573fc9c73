//! What a run of k-means must have left, checked after every launch.
//!
//! # One launch, against itself
//! 1. Every point sits with its nearest centre: no other is nearer, by distances in double precision from the
//!    centres that the launch used. The device computes them in `f32`, where `dims` differences, squares and
//!    sums make an error of at most `dims + 2` roundings of `2^-24`; by no more may another be nearer.
//! 2. The number of changed points is that of the members that differ.
//! 3. The counts are those of the members, so they sum to `n`.
//! 4. The ranks of a centre's members are 0 to the count less 1, each once: its transactions came one after
//!    the other, and none saw a count twice.
//! 5. Each sum is, *bit for bit*, that of the members' coordinates added in `f32` in the order of their
//!    ranks: a lost, doubled, torn or stale addition shows in its last bit. Transactions that only add leave
//!    no order: then, in place of 4 and 5, the sums are those in double precision within so many roundings.
//!
//! # The whole run, against a sequential one in double precision
//! [`Clustering`] makes that pass by pass from the same points, with its own centres, never rounded to `f32`,
//! and compares:
//! - each point's centre. Where the device's is another, both must be equally near as far as either can
//!   tell: within the error of 1 and the distances of the device's centres from the exact ones. Such a tie
//!   may fall either way, and from there two right runs may part for good; so the sequential run takes the
//!   device's side, and the tie is counted.
//! - each centre after the pass, within what `f32` sums may lose ([`Centres::move_to_means`]): as members are
//!   the same, this error is of one pass and does not grow with their number.
//!
//! So a run is accepted if it is *a* run of k-means in double precision in which rounding decided ties alone.

use super::points::Points;
use crate::workloads::prelude::*;
use stm_core::internal::host::in_ranges;
use stm_kernels::kmeans::NOWHERE;

#[derive(Clone, Debug)]
pub(super) struct PassResult {
    pub(super) members: Vec<u32>,
    /// The points' places among the additions to their centre, if these are known.
    pub(super) ranks: Option<Vec<u32>>,
    /// For each centre, the count and the bits of the sums; those of further centres are zeros.
    pub(super) rows: Vec<u32>,
    pub(super) changed: u64,
}

const WORTH: u64 = 1024;

/// A clustering by a device, and the sequential one in double precision that follows it.
pub(super) struct Clustering {
    pub(super) passes: u32,
    /// The device's centres, one after the other.
    pub(super) centres: Vec<f32>,
    pub(super) members: Vec<u32>,
    exact: Centres,
    /// The most by which a device's centre may be off, one after the other.
    bounds: Vec<f64>,
    pub(super) ties: u64,
}

impl Clustering {
    pub(super) fn new(points: &Points, chosen: &[u32]) -> Self {
        let centres = points.values_of(chosen);
        Self {
            passes: 0,
            members: vec![NOWHERE; points.len()],
            exact: Centres::new(points.dims(), &centres),
            bounds: vec![0.0; centres.len()],
            ties: 0,
            centres,
        }
    }

    /// Makes all checks of a pass, and the same pass of the sequential run.
    pub(super) fn check(&mut self, points: &Points, left: &PassResult) -> Result<(), String> {
        let (dims, clusters) = (points.dims(), self.exact.clusters);
        let changed = zip(&self.members, &left.members).filter(|(before, now)| before != now);
        let changed = changed.count() as u64;
        wrong! {
            changed != left.changed =>
                "{changed} points changed their centre, and {} were counted", left.changed;
        }
        for (i, &c) in left.members.iter().enumerate() {
            wrong! {
                c as usize >= clusters => "point {i} has centre {c}, and there are {clusters}";
            }
        }
        let sums = sums(points, &left.members, clusters);
        let (used, beyond) = left.rows.split_at(clusters * (dims + 1));
        for (c, (&count, row)) in zip(&sums.0, used.chunks(dims + 1)).enumerate() {
            wrong! {
                row[0] != count => "centre {c} counts {} points, and {count} sit with it", row[0];
            }
        }
        match &left.ranks {
            Some(ranks) => left.check_in_order(points, ranks, &sums.0)?,
            None => left.check_within_rounding(&sums)?,
        }
        self.follow(points, &left.members, &sums)?;
        wrong! {
            beyond.iter().any(|&word| word != 0) => "a sum beyond the last centre was written";
        }
        Ok(())
    }

    /// How far each of the device's centres is from the exact one, or the first that is too far.
    pub(super) fn shifts(&self) -> Result<Vec<f64>, String> {
        let mut squares = vec![0.0; self.exact.clusters];
        let dims = self.centres.len() / squares.len();
        for (i, (&x, &bound)) in zip(&self.centres, &self.bounds).enumerate() {
            let (c, j) = (i / dims, i % dims);
            let exact = self.exact.at(c, j);
            let apart = (f64::from(x) - exact).abs();
            wrong! {
                apart > bound || apart.is_nan() =>
                    "coordinate {j} of centre {c} is {x:e}: {apart:e} from the {exact:e} of the \
                     sequential run, and rounding explains {bound:e}";
            }
            squares[c] += apart * apart;
        }
        Ok(squares.into_iter().map(f64::sqrt).collect())
    }

    /// Makes the pass that the device has made and compares, check 1 included.
    fn follow(&mut self, points: &Points, members: &[u32], sums: &Sums) -> Result<(), String> {
        let shifts = self.shifts()?;
        let shift_max = shifts.iter().copied().fold(0.0, f64::max);
        let used = Centres::new(points.dims(), &self.centres);
        let ties = in_ranges(WORTH, points.len() as u64, |range| {
            let mut squares = Vec::new();
            let mut is_tie = |i| {
                let at = (i as usize, points.point(i as usize), members[i as usize]);
                self.is_tie(at, (&used, &shifts, shift_max), &mut squares)
            };
            let ties = range.map(|i| Ok(u64::from(is_tie(i)?)));
            ties.sum::<Result<u64, String>>()
        });
        self.ties += ties.into_iter().sum::<Result<u64, String>>()?;
        self.exact.move_to_means(sums, &mut self.bounds);
        Ok(())
    }

    /// Whether a point, with its number and its centre, is a tie that the two runs decided differently. The
    /// device used other centres, shifted by so much.
    fn is_tie(
        &self,
        (i, point, c): (usize, &[f32], u32),
        (used, shifts, shift_max): (&Centres, &[f64], f64),
        squares: &mut Vec<f64>,
    ) -> Result<bool, String> {
        let dims = point.len() as f64;
        let relative = (dims + 2.0) * ROUNDING / (1.0 - (dims + 2.0) * ROUNDING);
        // A square below the smallest normal number is off by as much.
        let absolute = dims * f64::from(f32::MIN_POSITIVE) * ROUNDING;
        let most = |square: f64| (square * (1.0 + relative) + 2.0 * absolute) / (1.0 - relative);

        let (nearest, square, second) = used.nearest(point, squares);
        let mine = squares[c as usize];
        wrong! {
            mine > most(square) =>
                "point {i} sits with centre {c} at a distance of {:e}, and centre {nearest} is at \
                 {:e}", mine.sqrt(), square.sqrt();
        }
        // The exact centres are within `shift_max` of those used: if no other is
        // so near, the sequential run comes to the same.
        if nearest == c && second.sqrt() - square.sqrt() > 2.5 * shift_max {
            return Ok(false);
        }
        let (exact, square, _) = self.exact.nearest(point, squares);
        if exact == c {
            return Ok(false);
        }
        let (mine, other) = (squares[c as usize].sqrt(), square.sqrt());
        let [shift, shift_of_other] = [c, exact].map(|c| shifts[c as usize]);
        let limit = most((other + shift_of_other).powi(2)).sqrt() + shift;
        wrong! {
            mine > limit * (1.0 + f64::EPSILON) =>
                "point {i} sits with centre {c}, and in the sequential run with {exact}: the \
                 distances are {mine:e} and {other:e}, and rounding explains up to {limit:e}";
        }
        Ok(true)
    }
}

impl PassResult {
    /// Checks 4 and 5.
    fn check_in_order(&self, points: &Points, ranks: &[u32], counts: &[u32]) -> Result<(), String> {
        const NONE: u32 = u32::MAX;
        // The members of each centre in the order of their additions.
        let orders = counts.iter().map(|&count| vec![NONE; count as usize]);
        let mut orders: Vec<_> = orders.collect();
        for ((&c, &rank), i) in zip(zip(&self.members, ranks), 0..) {
            let order = &mut orders[c as usize];
            let count = order.len();
            let saw = format_args!("saw a count of {rank} at centre {c}");
            let place = (order.get_mut(rank as usize))
                .ok_or_else(|| format!("point {i} {saw}, which has {count} points"))?;
            wrong! {
                *place != NONE => "points {place} and {i} both {saw}";
            }
            *place = i;
        }
        let dims = points.dims();
        for (c, (order, row)) in zip(&orders, self.rows.chunks(dims + 1)).enumerate() {
            let mut sums = vec![0f32; dims];
            for &i in order {
                for (sum, x) in zip(&mut sums, points.point(i as usize)) {
                    *sum += x;
                }
            }
            for (j, (sum, &bits)) in zip(sums, &row[1..]).enumerate() {
                wrong! {
                    sum.to_bits() != bits =>
                        "sum {j} of centre {c} is {:e}, not the {sum:e} that its {} points add up \
                         to in their order", f32::from_bits(bits), order.len();
                }
            }
        }
        Ok(())
    }

    /// Compares the rows with what the members add up to in double precision.
    fn check_within_rounding(&self, (counts, sums): &Sums) -> Result<(), String> {
        let dims = sums.len() / counts.len();
        for (c, (&count, row)) in zip(counts, self.rows.chunks(dims + 1)).enumerate() {
            for (j, (&bits, &(sum, magnitude))) in zip(&row[1..], &sums[c * dims..]).enumerate() {
                let found = f64::from(f32::from_bits(bits));
                // So many additions in any order (Higham 2002, section 4.2); twice
                // the first order covers the higher ones.
                let bound = 2.0 * f64::from(count) * ROUNDING * magnitude;
                let explained = (found - sum).abs() <= bound;
                // Of a sum that is no number, nothing is.
                wrong! {
                    !explained =>
                        "sum {j} of centre {c} is {found:e}, not the {sum:e} of its {count} \
                         points, and rounding explains {bound:e}";
                }
            }
        }
        Ok(())
    }
}

/// What bounds an `f32` operation: half a unit in the last place of 1.
const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;

/// Replaces the centres by the means of what was added to them, in the kernel's rows. A centre without points
/// stays, as in STAMP.
pub(super) fn move_centres(centres: &mut [f32], rows: &[u32], dims: usize) {
    for (centre, row) in centres.chunks_exact_mut(dims).zip(rows.chunks(dims + 1)) {
        if let Some((&count @ 1.., sums)) = row.split_first() {
            for (x, sum) in centre.iter_mut().zip(sums) {
                *x = (f64::from(f32::from_bits(*sum)) / f64::from(count)) as f32;
            }
        }
    }
}

/// Centres in double precision, a coordinate of all after the other, so that a point is compared with many at
/// a time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Centres {
    clusters: usize,
    values: Vec<f64>,
}

impl Centres {
    pub(super) fn new(dims: usize, values: &[f32]) -> Self {
        let by_coordinate = (0..dims).flat_map(|j| values.iter().skip(j).step_by(dims));
        let clusters = values.len() / dims;
        let values = by_coordinate.map(|&x| x.into()).collect();
        Self { clusters, values }
    }

    pub(super) fn at(&self, c: usize, j: usize) -> f64 {
        self.values[j * self.clusters + c]
    }

    /// Finds a point's nearest centre, and the squares of its distance and of that of the second, infinite if
    /// there is none; `squares` become those of all.
    pub(super) fn nearest(&self, point: &[f32], squares: &mut Vec<f64>) -> (u32, f64, f64) {
        squares.clear();
        squares.resize(self.clusters, 0.0);
        for (&x, row) in point.iter().zip(self.values.chunks_exact(self.clusters)) {
            for (square, c) in squares.iter_mut().zip(row) {
                let apart = f64::from(x) - c;
                *square += apart * apart;
            }
        }
        let (mut centre, mut square, mut second) = (0, f64::INFINITY, f64::INFINITY);
        for (&other, c) in squares.iter().zip(0..) {
            if other < square {
                (centre, square, second) = (c, other, square);
            } else if other < second {
                second = other;
            }
        }
        (centre, square, second)
    }

    /// Replaces each by the mean of its members, if it has any. Then its bounds, one for each coordinate,
    /// become the most by which a mean of `f32` sums in any order may differ: `m` additions of values `x` lose
    /// at most `m * 2^-24` times the sum of the `|x|`, the division and the conversion half a unit each.
    pub(super) fn move_to_means(&mut self, (counts, sums): &Sums, bounds: &mut [f64]) {
        let clusters = self.clusters;
        let dims = sums.len() / clusters;
        for (i, ((sum, magnitudes), bound)) in sums.iter().zip(bounds).enumerate() {
            let count = f64::from(counts[i / dims]);
            if count > 0.0 {
                self.values[i % dims * clusters + i / dims] = sum / count;
                let relative = (count + 2.0) * ROUNDING;
                // Below the smallest normal number, rounding is absolute.
                *bound = relative / (1.0 - relative).max(ROUNDING) * magnitudes / count
                    + f64::from(f32::MIN_POSITIVE) * ROUNDING;
            }
        }
    }
}

/// The number of each centre's members, and for each coordinate the sum of theirs and of their magnitudes.
type Sums = (Vec<u32>, Vec<(f64, f64)>);

pub(super) fn sums(points: &Points, members: &[u32], clusters: usize) -> Sums {
    let mut counts = vec![0; clusters];
    let mut sums = vec![(0.0, 0.0); clusters * points.dims()];
    for (point, &c) in points.iter().zip(members) {
        counts[c as usize] += 1;
        for (sum, &x) in sums[c as usize * points.dims()..].iter_mut().zip(point) {
            sum.0 += f64::from(x);
            sum.1 += f64::from(x).abs();
        }
    }
    (counts, sums)
}

/// STAMP's condition for another pass after one in which so many of `n` points changed their centre.
pub(super) fn goes_on(changed: u64, n: usize, threshold: f64) -> bool {
    changed as f64 / n as f64 > threshold
}
