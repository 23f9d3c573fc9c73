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
    pub(super) fn new(dims: usize, values: &[f32]) -> Self {
        let by_coordinate = (0..dims).flat_map(|j| values.iter().skip(j).step_by(dims));
        Self {
            clusters: values.len() / dims,
            values: by_coordinate.map(|&x| x.into()).collect(),
        }
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
        let (mut centre, mut square, mut second) = (0, f64::INFINITY, f64::INFINITY);
        for (&other, c) in squares.iter().zip(0..) {
            if other < square {
                (centre, square, second) = (c, other, square);
            } else if other < second {
                second = other;
            }
        }
        Nearest {
            centre,
            square,
            second,
        }
    }

    /// Replaces each by the mean of its members, if it has any.
    ///
    /// Then its bounds, one for each coordinate, become the most by which a mean of `f32` sums in any
    /// order may differ: `m` additions of values `x` lose at most `m * 2^-24` times the sum of the
    /// `|x|`, the division and the conversion half a unit each.
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

/// The number of each centre's members, and for each of its coordinates the sum of theirs and of
/// their magnitudes.
pub(super) type Sums = (Vec<u32>, Vec<(f64, f64)>);

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

/// Whether a run goes on after a pass in which so many of `n` points changed
/// their centre: STAMP's condition.
pub(super) fn goes_on(changed: u64, n: usize, threshold: f64) -> bool {
    changed as f64 / n as f64 > threshold
}
