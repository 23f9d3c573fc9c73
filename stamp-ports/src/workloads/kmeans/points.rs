//! The points: drawn or read from a file, normalised, and the first centres chosen among them.
//!
//! STAMP's format of points: a line of text for each, its number, which means nothing, and then its
//! coordinates, separated by blanks, tabs or commas. STAMP reads what `atof` makes of it; here every
//! character must make sense.

use crate::workloads::input::{Lines, bad_input, quoted};
use crate::workloads::prelude::*;

/// The largest magnitude of a coordinate: its squares and sums stay far inside what an `f32` holds.
const MAGNITUDE_MAX: f32 = 1e15;

/// Half the width of a generated cluster, in each coordinate; centres are uniform in the unit cube.
const SPREAD: f64 = 0.2;

#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    dims: usize,
    values: Vec<f32>,
}

/// A number from 0 to 1.
fn unit(bits: u64) -> f64 {
    (bits >> 32) as f64 / f64::from(u32::MAX)
}

/// The seed of one of several series of draws.
const fn series(seed: u64, which: u32) -> u64 {
    draw(seed, u64::MAX, which)
}

impl Points {
    pub fn new(dims: usize, values: Vec<f32>) -> Self {
        let (n, are_points) = (values.len(), dims != 0 && values.len().is_multiple_of(dims));
        assert!(are_points, "{n} values are no points of {dims}");
        Self { dims, values }
    }

    /// `n` points around `centres` random ones: each lies around its centre as the sum of four uniform draws,
    /// a bell, by sums and products of exact numbers: the same on every machine.
    pub fn generate(seed: u64, n: u32, dims: u32, centres: u32) -> Self {
        let [which, place, noise] = [0, 1, 2].map(|s| series(seed, s));
        let mut values = Vec::with_capacity(n as usize * dims as usize);
        for i in 0..u64::from(n) {
            let centre = below(draw(which, i, 0), centres);
            for j in 0..dims {
                let middle = unit(draw(place, u64::from(centre), j));
                let bits = draw(noise, i, j);
                let four: u64 = (0..4).map(|part| bits >> (16 * part) & 0xFFFF).sum();
                let bell = four as f64 / (2 * 0xFFFF) as f64 - 1.0;
                values.push((middle + SPREAD * bell) as f32);
            }
        }
        Self::new(dims as usize, values)
    }

    pub const fn len(&self) -> usize {
        self.values.len() / self.dims
    }

    pub const fn dims(&self) -> usize {
        self.dims
    }

    pub fn point(&self, i: usize) -> &[f32] {
        &self.values[i * self.dims..][..self.dims]
    }

    pub fn values_of(&self, chosen: &[u32]) -> Vec<f32> {
        let values = chosen.iter().flat_map(|&i| self.point(i as usize));
        values.copied().collect()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.dims)
    }

    /// All values, a coordinate of all points after the other, as the kernel reads them.
    pub fn by_coordinate(&self) -> Vec<f32> {
        let column = |j| self.values.iter().skip(j).step_by(self.dims);
        (0..self.dims).flat_map(column).copied().collect()
    }

    /// Brings each coordinate to mean 0 and the population's standard deviation 1, as STAMP does unless told
    /// not to. A coordinate that is the same everywhere becomes 0, where STAMP divides by 0.
    pub fn normalise(&mut self) {
        let n = self.len() as f64;
        for j in 0..self.dims {
            let of = || self.values.iter().skip(j).step_by(self.dims).copied();
            // Not by the deviation, which rounding keeps above 0.
            let differs = of().fold(f32::MIN, f32::max) > of().fold(f32::MAX, f32::min);
            let mean = of().map(f64::from).sum::<f64>() / n;
            let square = of().map(|x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
            let deviation = square.sqrt();
            for x in self.values.iter_mut().skip(j).step_by(self.dims) {
                let scaled = ((f64::from(*x) - mean) / deviation) as f32;
                *x = if differs { scaled } else { 0.0 };
            }
        }
    }

    /// The numbers of `clusters` different points, drawn from the seed. STAMP may draw one twice.
    pub fn choose(&self, seed: u64, clusters: u32) -> Vec<u32> {
        let n = u32::try_from(self.len()).unwrap_or(u32::MAX);
        assert!(clusters <= n, "{clusters} different points of {n}");
        let seed = series(seed, 3);
        // The first places of a shuffle (Fisher and Yates).
        let mut order: Vec<u32> = (0..n).collect();
        for i in 0..clusters {
            let other = i + below(draw(seed, u64::from(i), 0), n - i);
            order.swap(i as usize, other as usize);
        }
        order.truncate(clusters as usize);
        order
    }
}

const EXPECTED: &str = "a point's number and its coordinates";

const LINES: Lines = Lines {
    bytes_max: 1 << 20,
    expected: EXPECTED,
    has_comments: false,
};

pub fn read(path: &Path) -> Result<Points> {
    let (mut values, mut dims) = (Vec::new(), None);
    LINES.read(path, |text, line| {
        match (point(text, &mut values)?, dims) {
            (0, _) => {}
            (count, None) => dims = Some((count, line)),
            (count, Some((first, at))) => wrong! {
                count != first => "{count} coordinates: expected {first}, as in line {at}";
            },
        }
        Ok(())
    })?;
    let none = || format!("the file has no points: expected {EXPECTED} on each line");
    let (dims, _) = dims.ok_or_else(|| bad_input(path, (1, none())))?;
    Ok(Points::new(dims, values))
}

/// Appends the coordinates of a line, and returns how many there are, 0 for a blank line.
fn point(text: &str, values: &mut Vec<f32>) -> Result<usize, String> {
    let words = text.split(|c: char| c.is_ascii_whitespace() || c == ',');
    let mut words = words.filter(|word| !word.is_empty());
    let Some(number) = words.next() else {
        return Ok(0);
    };
    wrong! {
        number.parse::<u64>().is_err() =>
            "{} is no point's number: expected a whole number, then coordinates", quoted(number);
    }
    let before = values.len();
    for (word, k) in words.zip(1..) {
        let x: f32 = word.parse().unwrap_or(f32::NAN);
        wrong! {
            x.is_nan() => "coordinate {k} is {}: expected a number", quoted(word);
            x.abs() > MAGNITUDE_MAX =>
                "coordinate {k} is {}: expected a number of magnitude {MAGNITUDE_MAX:e} or less",
                quoted(word);
        }
        values.push(x);
    }
    let count = values.len() - before;
    wrong! {
        count == 0 => "point {number} has no coordinates: expected one or more after its number";
    }
    Ok(count)
}

/// The text of a file of these points. Read again, it gives the same bits.
pub(super) fn text(points: &Points) -> String {
    let lines = zip(1u64.., points.iter());
    let lines = lines.map(|(number, point)| format!("{number} {}\n", point.iter().joined(" ")));
    lines.joined("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn generated_points_are_of_the_seed_and_fall_into_clusters() {
        let points = Points::generate(5, 200, 3, 4);
        assert_eq!((points.len(), points.dims()), (200, 3));
        assert_eq!(points, Points::generate(5, 200, 3, 4));
        assert_ne!(points, Points::generate(6, 200, 3, 4));
        assert!(
            points
                .iter()
                .flatten()
                .all(|x| (-SPREAD..=1.0 + SPREAD).contains(&f64::from(*x)))
        );
        // All of one cluster lie in a cube of twice the spread: with one
        // centre that is all of them, with four it is not.
        let extent = |points: &Points| {
            let column = &points.by_coordinate()[..points.len()];
            let most = column.iter().copied().fold(f32::MIN, f32::max);
            most - column.iter().copied().fold(f32::MAX, f32::min)
        };
        assert!(extent(&Points::generate(5, 200, 3, 1)) < 0.4);
        assert!(extent(&points) > 0.4);
    }

    #[test]
    fn normalised_coordinates_have_mean_0_and_deviation_1_or_are_0_if_they_never_differ() {
        let mut points = Points::generate(1, 1000, 5, 7);
        points.normalise();
        for column in points.by_coordinate().chunks_exact(1000) {
            let mean = column.iter().copied().map(f64::from).sum::<f64>() / 1e3;
            let square = column.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / 1e3;
            assert!(
                mean.abs() < 1e-6 && (square - 1.0).abs() < 1e-6,
                "{mean} {square}"
            );
        }
        let mut points = Points::new(2, vec![0.1, 1.0, 0.1, 2.0, 0.1, 4.0]);
        points.normalise();
        let columns = points.by_coordinate();
        assert_eq!(columns[..3], [0.0; 3]);
        assert!(columns[3] < columns[4] && columns[4] < columns[5]);
    }

    #[test]
    fn first_centres_are_different_points_even_if_all_are_taken() {
        let points = Points::generate(1, 50, 1, 1);
        for clusters in [1, 7, 50] {
            let chosen = points.choose(9, clusters);
            let different: HashSet<u32> = chosen.iter().copied().collect();
            assert_eq!(different.len(), clusters as usize);
            assert!(chosen.iter().all(|&i| i < 50));
            assert_eq!(chosen, points.choose(9, clusters));
        }
        assert_ne!(points.choose(9, 7), points.choose(10, 7));
    }

    #[test]
    fn files_are_read_as_stamp_reads_them_and_what_is_written_bit_for_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.txt");
        let read_by = |text: &str| {
            fs::write(&path, text).unwrap();
            read(&path).unwrap()
        };
        let points = read_by("1 0.5 -2e3\n\n 7,\t+1.25, 4\r\n9\t1\t2 \n");
        let expected = vec![0.5, -2000.0, 1.25, 4.0, 1.0, 2.0];
        assert_eq!(points, Points::new(2, expected));
        let points = Points::generate(3, 4, 3, 2);
        assert_eq!(read_by(&text(&points)), points);
    }
}
