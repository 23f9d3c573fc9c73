//! What a run of k-means must have left, checked after every launch.
//!
//! # One launch, against itself
//! 1. Every point has a centre, and sits with its nearest: no other centre is
//!    nearer, by distances computed in double precision from the centres that
//!    the launch used. The device computes them in `f32`, where `dims`
//!    differences, squares and sums make an error of at most `dims + 2`
//!    roundings of `2^-24` each; by no more than that may another be nearer.
//! 2. The number of changed points is that of the members that differ.
//! 3. The counts are those of the members, so they sum to `n`.
//! 4. The ranks of a centre's members are 0 to the count less 1, each once: its
//!    transactions came one after the other, and none saw a count twice.
//! 5. Each sum is, *bit for bit*, that of the members' coordinates added in
//!    `f32` in the order of their ranks. A lost, doubled, torn or stale addition
//!    shows in its last bit, however many points there are. Transactions that only
//!    add leave no order: then the sums are those in double precision within what
//!    so many roundings may make of them, in place of checks 4 and 5.
//!
//! # The whole run, against a sequential one in double precision
//! The two start from the same points. [`Follower`] makes the sequential run
//! pass by pass, with its own centres, never rounded to `f32`, and compares:
//! - each point's centre. Where the device's is another, both must be equally
//!   near as far as either can tell: within the error of 1 and the distances of
//!   the device's centres from the exact ones. Such a tie may fall either way,
//!   and from there two right runs may part for good; so the sequential run takes
//!   the device's side, and the tie is counted.
//! - each centre after the pass, within what `f32` sums may lose
//!   ([`Centres::move_to_means`]): as members are the same, this error is of one
//!   pass and does not grow with their number.
//!
//! So a run is accepted if it is *a* run of k-means in double precision, from
//! these points, in which nothing but ties was decided by rounding.

use super::points::Points;
use super::sequential::{Centres, ROUNDING, sums};
use stm_core::internal::host::in_ranges;

/// What a launch left, and what it started from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass<'a> {
    pub(super) points: &'a Points,
    /// The centres that it used, one after the other.
    pub(super) centres: &'a [f32],
    pub(super) before: &'a [u32],
    pub(super) members: &'a [u32],
    /// The points' places among the additions to their centre.
    pub(super) ranks: &'a [u32],
    /// For each centre, the count and the bits of the sums.
    pub(super) rows: &'a [u32],
    /// How many points changed, as the device counted.
    pub(super) changed: u64,
}

impl Pass<'_> {
    fn clusters(&self) -> usize {
        self.centres.len() / self.points.dims()
    }

    /// Checks 2 to 5: `None` if all is right, else what is wrong, on one line.
    pub(super) fn wrong_sums(&self) -> Option<String> {
        if let Some(wrong) = self.wrong_changes() {
            return Some(wrong);
        }
        match self.orders() {
            Err(wrong) => Some(wrong),
            Ok(orders) => (0..self.clusters()).find_map(|c| self.wrong_sum(c, &orders[c])),
        }
    }

    /// Check 2, and whether every point has a centre.
    pub(super) fn wrong_changes(&self) -> Option<String> {
        let changed = self.before.iter().zip(self.members);
        let changed = changed.filter(|(before, now)| before != now).count() as u64;
        wrong! {
            changed != self.changed =>
                "{changed} points changed their centre, and {} were counted", self.changed;
        }
        let astray = self.members.iter().zip(0u64..);
        let mut astray = astray.filter(|&(&c, _)| c as usize >= self.clusters());
        astray.next().map(|(c, i)| {
            format!(
                "point {i} has centre {c}, and there are {}",
                self.clusters()
            )
        })
    }

    /// The members of each centre in the order of their additions. All are centres.
    fn orders(&self) -> Result<Vec<Vec<u32>>, String> {
        const NONE: u32 = u32::MAX;
        let (dims, clusters) = (self.points.dims(), self.clusters());
        let mut counts = vec![0; clusters];
        for &c in self.members {
            counts[c as usize] += 1;
        }
        for (c, (&count, row)) in counts.iter().zip(self.rows.chunks(dims + 1)).enumerate() {
            wrong! {
                row[0] != count => "centre {c} counts {} points, and {count} sit with it", row[0];
            }
        }
        let mut orders: Vec<Vec<u32>> = counts
            .iter()
            .map(|&count| vec![NONE; count as usize])
            .collect();
        for ((&c, &rank), i) in self.members.iter().zip(self.ranks).zip(0..) {
            let order = &mut orders[c as usize];
            let count = order.len();
            match order.get_mut(rank as usize) {
                Some(place @ &mut NONE) => *place = i,
                Some(other) => {
                    return Err(format!(
                        "points {other} and {i} both saw a count of {rank} at centre {c}"
                    ));
                }
                None => {
                    return Err(format!(
                        "point {i} saw a count of {rank} at centre {c}, which has {count} points"
                    ));
                }
            }
        }
        Ok(orders)
    }

    /// Check 5 for one centre.
    fn wrong_sum(&self, c: usize, order: &[u32]) -> Option<String> {
        let width = self.points.dims() + 1;
        let found = &self.rows[c * width + 1..][..width - 1];
        let mut sums = vec![0f32; width - 1];
        for &i in order {
            for (sum, x) in sums.iter_mut().zip(self.points.point(i as usize)) {
                *sum += x;
            }
        }
        let j = sums
            .iter()
            .zip(found)
            .position(|(s, f)| s.to_bits() != *f)?;
        Some(format!(
            "sum {j} of centre {c} is {:e}, not the {:e} that its {} points add up to in their order",
            f32::from_bits(found[j]),
            sums[j],
            order.len()
        ))
    }
}

/// The sequential run in double precision that follows a device's run.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    centres: Centres,
    /// The most by which a device's centre may be off, one after the other.
    bounds: Vec<f64>,
    /// Points, over all passes, for which the device took another centre that is equally near.
    pub(super) ties: u64,
}

impl Follower {
    pub(super) fn new(points: &Points, chosen: &[u32]) -> Self {
        Self {
            centres: Centres::of_points(points, chosen),
            bounds: vec![0.0; chosen.len() * points.dims()],
            ties: 0,
        }
    }

    /// How far each of the device's centres is from the exact one, or the first that is too far.
    fn shifts(&self, centres: &[f32], dims: usize) -> Result<Vec<f64>, String> {
        let mut squares = vec![0.0; self.centres.len()];
        for (i, (&x, &bound)) in centres.iter().zip(&self.bounds).enumerate() {
            let (c, j) = (i / dims, i % dims);
            let exact = self.centres.at(c, j);
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

    /// Makes the pass that the device has made, and compares, check 1 included:
    /// `None` if they agree, else what differs, on one line.
    pub(super) fn differs(&mut self, pass: &Pass<'_>) -> Option<String> {
        match self.judge(pass) {
            Err(wrong) => return Some(wrong),
            Ok(ties) => self.ties += ties,
        }
        self.centres
            .move_to_means(pass.points, pass.members, &mut self.bounds);
        None
    }

    /// Judges all points on all cores: the number of ties, or what is wrong with the first one.
    fn judge(&self, pass: &Pass<'_>) -> Result<u64, String> {
        let dims = pass.points.dims();
        let shifts = self.shifts(pass.centres, dims)?;
        let judge = Judge {
            pass,
            used: Centres::new(dims, pass.centres.iter().map(|&x| x.into())),
            exact: &self.centres,
            shift_max: shifts.iter().copied().fold(0.0, f64::max),
            shifts,
        };
        let ties = in_ranges(WORTH, pass.points.len() as u64, |points| {
            let mut squares = Vec::new();
            let ties = points.map(|i| Ok(u64::from(judge.one(i as usize, &mut squares)?)));
            ties.sum::<Result<u64, String>>()
        });
        ties.into_iter().sum()
    }

    /// Compares the centres after the last pass.
    pub(super) fn differs_at_end(&self, centres: &[f32], dims: usize) -> Option<String> {
        self.shifts(centres, dims).err()
    }
}

/// The fewest points whose judgement is worth a thread.
const WORTH: u64 = 1024;

/// Judges the members of one pass.
struct Judge<'a> {
    pass: &'a Pass<'a>,
    used: Centres,
    exact: &'a Centres,
    shifts: Vec<f64>,
    shift_max: f64,
}

impl Judge<'_> {
    /// One point: whether it is a tie that the two runs decided differently.
    fn one(&self, i: usize, squares: &mut Vec<f64>) -> Result<bool, String> {
        let (point, c) = (self.pass.points.point(i), self.pass.members[i]);
        wrong! {
            c as usize >= self.used.len() =>
                "point {i} has centre {c}, and there are {}", self.used.len();
        }
        let dims = point.len() as f64;
        let relative = (dims + 2.0) * ROUNDING / (1.0 - (dims + 2.0) * ROUNDING);
        // A square below the smallest normal number is off by as much.
        let absolute = dims * f64::from(f32::MIN_POSITIVE) * ROUNDING;
        let most = |square: f64| (square * (1.0 + relative) + 2.0 * absolute) / (1.0 - relative);

        let used = self.used.nearest(point, squares);
        let mine = squares[c as usize];
        wrong! {
            mine > most(used.square) =>
                "point {i} sits with centre {c} at a distance of {:e}, and centre {} is at {:e}",
                mine.sqrt(), used.centre, used.square.sqrt();
        }
        // The exact centres are within `shift_max` of those used: if no other is
        // so near, the sequential run comes to the same.
        if used.centre == c && used.second.sqrt() - used.square.sqrt() > 2.5 * self.shift_max {
            return Ok(false);
        }
        let exact = self.exact.nearest(point, squares);
        if exact.centre == c {
            return Ok(false);
        }
        let mine = squares[c as usize].sqrt();
        let [shift, other] = [c, exact.centre].map(|c| self.shifts[c as usize]);
        let limit = most((exact.square.sqrt() + other).powi(2)).sqrt() + shift;
        if mine <= limit * (1.0 + f64::EPSILON) {
            return Ok(true);
        }
        Err(format!(
            "point {i} sits with centre {c}, and in the sequential run with {}: the distances \
             are {mine:e} and {:e}, and rounding explains up to {limit:e}",
            exact.centre,
            exact.square.sqrt()
        ))
    }
}

/// Compares the rows with what the members add up to in double precision. All members are centres.
pub(super) fn wrong_sums(points: &Points, members: &[u32], rows: &[u32]) -> Option<String> {
    let dims = points.dims();
    let (counts, sums) = sums(points, members, rows.len() / (dims + 1));
    for (c, row) in rows.chunks_exact(dims + 1).enumerate() {
        let count = counts[c];
        wrong! {
            row[0] != count => "centre {c} counts {} points, and {count} sit with it", row[0];
        }
        for (j, (&bits, &(sum, magnitude))) in row[1..].iter().zip(&sums[c * dims..]).enumerate() {
            let found = f64::from(f32::from_bits(bits));
            // So many additions in any order (Higham 2002, section 4.2); twice
            // the first order covers the higher ones.
            let bound = 2.0 * f64::from(count) * ROUNDING * magnitude;
            let explained = (found - sum).abs() <= bound;
            // Of a sum that is no number, nothing is.
            wrong! {
                !explained =>
                    "sum {j} of centre {c} is {found:e}, not the {sum:e} of its {count} points, \
                     and rounding explains {bound:e}";
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
