//! k-means on the host: the new centres between two launches, and the
//! sequential run in double precision that the device's run is compared with.

use super::points::Points;

/// What bounds an `f32` operation: half a unit in the last place of 1.
pub(super) const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;

/// Replaces the centres by the means of what was added to them, given as the
/// kernel leaves it: a row for each centre, the count and then the bits of the
/// sums. A centre without points stays, as in STAMP.
pub(super) fn move_centres(centres: &mut [f32], rows: &[u32], dims: usize) {
    for (centre, row) in centres.chunks_exact_mut(dims).zip(rows.chunks(dims + 1)) {
        if let Some((&count @ 1.., sums)) = row.split_first() {
            for (x, sum) in centre.iter_mut().zip(sums) {
                *x = (f64::from(f32::from_bits(*sum)) / f64::from(count)) as f32;
            }
        }
    }
}

/// Centres in double precision, a coordinate of all after the other, so that a
/// point is compared with many at a time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Centres {
    clusters: usize,
    values: Vec<f64>,
}

/// The two nearest centres of a point, with the squares of their distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearest {
    pub(super) centre: u32,
    pub(super) square: f64,
    /// The distance of the nearest of the others, squared; infinite if there is no other.
    pub(super) second: f64,
}

impl Centres {
    /// Makes centres of values that stand one centre after the other.
    pub(super) fn new(dims: usize, values: impl ExactSizeIterator<Item = f64>) -> Self {
        let clusters = values.len() / dims;
        let mut by_coordinate = vec![0.0; values.len()];
        for (i, x) in values.enumerate() {
            by_coordinate[i % dims * clusters + i / dims] = x;
        }
        Self {
            clusters,
            values: by_coordinate,
        }
    }

    pub(super) fn of_points(points: &Points, chosen: &[u32]) -> Self {
        let values = points.values_of(chosen).into_iter();
        Self::new(points.dims(), values.map(f64::from))
    }

    pub(super) const fn len(&self) -> usize {
        self.clusters
    }

    pub(super) fn at(&self, c: usize, j: usize) -> f64 {
        self.values[j * self.clusters + c]
    }

    /// Finds the centres that are nearest to a point; `squares` become those of all distances.
    pub(super) fn nearest(&self, point: &[f32], squares: &mut Vec<f64>) -> Nearest {
        squares.clear();
        squares.resize(self.clusters, 0.0);
        for (&x, row) in point.iter().zip(self.values.chunks_exact(self.clusters)) {
            for (square, c) in squares.iter_mut().zip(row) {
                let apart = f64::from(x) - c;
                *square += apart * apart;
            }
        }
        let mut found = Nearest {
            centre: 0,
            square: f64::INFINITY,
            second: f64::INFINITY,
        };
        for (&square, c) in squares.iter().zip(0..) {
            if square < found.square {
                found = Nearest {
                    centre: c,
                    square,
                    second: found.square,
                };
            } else if square < found.second {
                found.second = square;
            }
        }
        found
    }

    /// Replaces each by the mean of its members, if it has any.
    ///
    /// Then its bounds, one for each coordinate, become the most by which a mean of `f32` sums in any
    /// order may differ: `m` additions of values `x` lose at most `m * 2^-24` times the sum of the
    /// `|x|`, the division and the conversion half a unit each.
    pub(super) fn move_to_means(&mut self, points: &Points, members: &[u32], bounds: &mut [f64]) {
        let (dims, clusters) = (points.dims(), self.clusters);
        let (counts, sums) = sums(points, members, clusters);
        for (i, ((sum, magnitudes), bound)) in sums.into_iter().zip(bounds).enumerate() {
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

/// Returns the number of each centre's members, and for each of its coordinates the sum of theirs and
/// of their magnitudes.
pub(super) fn sums(
    points: &Points,
    members: &[u32],
    clusters: usize,
) -> (Vec<u32>, Vec<(f64, f64)>) {
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

/// Whether a run goes on after a pass in which so many of `n` points changed
/// their centre: STAMP's condition.
pub(super) fn goes_on(changed: u64, n: usize, threshold: f64) -> bool {
    changed as f64 / n as f64 > threshold
}

/// The whole run in double precision, sequentially, with nothing from a device: the centre of each
/// point in the last pass, the centres after it, and the passes.
#[cfg(test)]
pub(super) fn run(
    points: &Points,
    chosen: &[u32],
    threshold: f64,
    passes_max: u32,
) -> (Vec<u32>, Centres, u32) {
    let mut members = vec![stm_kernels::kmeans::NOWHERE; points.len()];
    let (mut centres, mut squares) = (Centres::of_points(points, chosen), Vec::new());
    let mut bounds = vec![0.0; chosen.len() * points.dims()];
    for passes in 1.. {
        let mut changed = 0;
        for (point, member) in points.iter().zip(&mut members) {
            let centre = centres.nearest(point, &mut squares).centre;
            changed += u64::from(*member != centre);
            *member = centre;
        }
        centres.move_to_means(points, &members, &mut bounds);
        if passes >= passes_max || !goes_on(changed, points.len(), threshold) {
            return (members, centres, passes);
        }
    }
    unreachable!("passes end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_groups_are_found_and_the_run_ends_when_nothing_changes() {
        let points = Points::new(1, vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
        let (members, centres, passes) = run(&points, &[0, 1], 0.0, 500);
        assert_eq!(members, [0, 0, 0, 1, 1, 1]);
        assert_eq!((centres.at(0, 0), centres.at(1, 0)), (1.0, 11.0));
        assert!((2..10).contains(&passes), "{passes}");
    }

    #[test]
    fn the_limit_of_passes_and_the_threshold_end_a_run() {
        let points = Points::generate(1, 500, 2, 8);
        let chosen = points.choose(1, 8);
        let passes = |threshold, most| run(&points, &chosen, threshold, most).2;
        assert_eq!(passes(0.0, 1), 1);
        assert_eq!(passes(0.999, 500), 2); // all change in the first pass
        assert!(passes(0.5, 500) <= passes(0.0, 500));
    }

    #[test]
    fn nearest_takes_the_first_of_equals_and_tells_the_second() {
        let centres = Centres::new(1, [5.0, 1.0, -1.0, 3.0].into_iter());
        let found = centres.nearest(&[0.0], &mut Vec::new());
        assert_eq!(
            found,
            Nearest {
                centre: 1,
                square: 1.0,
                second: 1.0
            }
        );
        let alone = Centres::new(1, [2.0].into_iter()).nearest(&[0.0], &mut Vec::new());
        assert_eq!((alone.centre, alone.second), (0, f64::INFINITY));
    }

    #[test]
    fn centres_move_to_the_means_and_stay_without_points() {
        let rows = [2, 3f32.to_bits(), 5f32.to_bits(), 0, 0, 0];
        let mut centres = [9.0, 9.0, 7.0, 8.0];
        move_centres(&mut centres, &rows, 2);
        assert_eq!(
            centres.map(f32::to_bits),
            [1.5f32, 2.5, 7.0, 8.0].map(f32::to_bits)
        );
        let points = Points::new(2, vec![1.0, 2.0, 2.0, 3.0]);
        let mut exact = Centres::new(2, [9.0, 9.0, 7.0, 8.0].into_iter());
        let mut bounds = [0.0; 4];
        exact.move_to_means(&points, &[0, 0], &mut bounds);
        assert_eq!(exact, Centres::new(2, [1.5, 2.5, 7.0, 8.0].into_iter()));
        assert!(bounds[0] > 0.0 && bounds[0] < 1e-6);
        assert_eq!(bounds[2..], [0.0, 0.0]);
    }
}
