//! A grid, its walls and the paths asked for: read from STAMP's files, written to them, or drawn at random.
//!
//! # The format
//! Text, a statement a line, words apart by blanks or tabs:
//!
//! | line | means |
//! | --- | --- |
//! | `d X Y Z` | the grid's size; once, before the others |
//! | `w x y z` | a wall |
//! | `p x y z x y z` | a path asked for: its source, then its destination |
//! | `#` and anything | nothing, as an empty line |
//!
//! STAMP reads what `sscanf` makes of it; here every character must make sense.

use crate::workloads::input::{Lines, bad_input, quoted};
use crate::workloads::prelude::*;
use std::collections::HashMap;
use stm_kernels::labyrinth::{GridSize, REQUESTS_MAX};

const LINES: Lines = Lines {
    bytes_max: 4096,
    expected: "a line that begins with d, w, p or #",
    has_comments: true,
};

/// A grid and what is to be routed through it, by the numbers of its cells. No end of a request is a wall; of
/// requests that share an end one at most has a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maze {
    pub size: GridSize,
    pub walls: Vec<u32>,
    /// The source of each path, and its destination, which is another cell.
    pub requests: Vec<[u32; 2]>,
}

fn check_size(size: GridSize) -> Result<(), String> {
    let GridSize { x, y, z } = size;
    // With such a side the number of cells may not fit 64 bits.
    let is_long = u64::from(x.max(y)) >= GridSize::CELLS_MAX;
    wrong! {
        x == 0 || y == 0 || z == 0 =>
            "a grid of {x} x {y} x {z} has no cells: expected 1 or more each way";
        is_long || size.cells() > GridSize::CELLS_MAX =>
            "a grid of {x} x {y} x {z} is too large: expected fewer than 2^30 cells";
    }
    Ok(())
}

/// What the lines say, each with its number.
#[derive(Default)]
struct Reading {
    size: Option<(GridSize, u64)>,
    walls: Vec<(u32, u64)>,
    requests: Vec<([u32; 2], u64)>,
}

impl Reading {
    fn line(&mut self, words: &[&str], line: u64) -> Result<(), String> {
        match words {
            [] => {}
            [code, ..] if code.starts_with('#') => {}
            ["d", ..] => {
                let [x, y, z] = read_numbers(words, "the grid's size: X Y Z")?;
                wrong! {
                    self.size.is_some() =>
                        "a second size of the grid: expected one, and line {} has it",
                        self.size.map_or(0, |(_, first)| first);
                }
                let size = GridSize { x, y, z };
                check_size(size)?;
                self.size = Some((size, line));
            }
            ["w", ..] => {
                let place = read_numbers(words, "a wall's place: x y z")?;
                self.walls.push((self.cell("wall", place)?, line));
            }
            ["p", ..] => {
                let what = "two places: x y z of the source, x y z of the destination";
                let [x, y, z, to_x, to_y, to_z] = read_numbers(words, what)?;
                let source = self.cell("source", [x, y, z])?;
                let destination = self.cell("destination", [to_x, to_y, to_z])?;
                wrong! {
                    source == destination =>
                        "source and destination are both ({x}, {y}, {z}): expected two places";
                }
                self.requests.push(([source, destination], line));
            }
            [code, ..] => return Err(format!("{}: expected {}", quoted(code), LINES.expected)),
        }
        Ok(())
    }

    fn cell(&self, what: &str, [x, y, z]: [u32; 3]) -> Result<u32, String> {
        let Some((size, first)) = self.size else {
            return Err("the grid's size is not known yet: expected `d X Y Z` first".into());
        };
        wrong! {
            x >= size.x || y >= size.y || z >= size.z =>
                "{what} ({x}, {y}, {z}) is outside the grid: expected less than {} {} {}, the size \
                 in line {first}", size.x, size.y, size.z;
        }
        Ok(size.index(x, y, z))
    }

    /// The whole, or the line where it is wrong.
    fn finish(self, lines: u64) -> Result<Maze, (u64, String)> {
        let end = |what: &str| (lines.max(1), format!("the file ends here: expected {what}"));
        let (size, _) = self.size.ok_or_else(|| end("the grid's size, `d X Y Z`"))?;
        if self.requests.is_empty() {
            return Err(end("a path, `p x y z x y z`"));
        }
        if self.requests.len() > REQUESTS_MAX as usize {
            return Err(end(&format!("{REQUESTS_MAX} paths at most")));
        }
        // Of several lines with a wall the first counts.
        let lines_of: HashMap<u32, u64> = self.walls.iter().rev().copied().collect();
        for &(ends, line) in &self.requests {
            for (what, end) in zip(["source", "destination"], ends) {
                if let Some(wall) = lines_of.get(&end) {
                    let place = size.place(end);
                    let wrong = format!("{what} {place:?} is a wall, by line {wall}");
                    return Err((line, format!("{wrong}: expected a free place")));
                }
            }
        }
        Ok(Maze {
            size,
            walls: self.walls.into_iter().map(|(wall, _)| wall).collect(),
            requests: self.requests.into_iter().map(|(ends, _)| ends).collect(),
        })
    }
}

/// Reads the numbers behind the code that a line begins with.
fn read_numbers<const N: usize>(words: &[&str], what: &str) -> Result<[u32; N], String> {
    let (code, words) = (words[0], &words[1..]);
    wrong! {
        words.len() != N => "{} numbers after {code}: expected {N}, {what}", words.len();
    }
    let mut numbers = [0; N];
    for (number, word) in zip(&mut numbers, words) {
        let is_plain = word.bytes().all(|b| b.is_ascii_digit());
        let read = word.parse().ok().filter(|_| is_plain);
        let wrong = || format!("{}: expected a whole number, of {what}", quoted(word));
        *number = read.ok_or_else(wrong)?;
    }
    Ok(numbers)
}

impl Maze {
    pub fn read(path: &Path) -> Result<Self> {
        let mut reading = Reading::default();
        let lines = LINES.read(path, |text, line| {
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            reading.line(&words, line)
        })?;
        let maze = reading.finish(lines);
        maze.map_err(|wrong| bad_input(path, wrong))
    }

    pub fn text(&self) -> String {
        let GridSize { x, y, z } = self.size;
        let numbers = |cell: u32| {
            let (x, y, z) = self.size.place(cell);
            format!("{x} {y} {z}")
        };
        let walls = self.walls.iter();
        let walls = walls.map(|&wall| format!("w {}\n", numbers(wall)));
        let walls = sentence("\n# Walls (x, y, z)\n", walls, ("", ""));
        let paths = self.requests.iter().map(|ends| {
            let [from, to] = ends.map(numbers);
            format!("p {from}   {to}\n")
        });
        let heading = "# Paths: Sources (x, y, z) -> Destinations (x, y, z)";
        let paths = paths.joined("");
        format!("# Dimensions (x, y, z)\nd {x} {y} {z}\n{walls}\n{heading}\n{paths}")
    }

    /// Draws ends of paths and walls, no two at one place.
    pub fn generate(seed: u64, size: GridSize, paths: u32, walls: u32) -> Result<Self> {
        check_size(size).map_err(|what| Error::Usage(format!("{what}: change -x, -y or -z")))?;
        let places = 2 * u64::from(paths) + u64::from(walls);
        refuse! {
            paths == 0 => "-n 0 leaves nothing to route: give 1 or more paths";
            places > size.inner_cells() || paths > REQUESTS_MAX =>
                "{paths} paths with two ends each and {walls} walls need {places} places, and a \
                 grid of {} x {} x {} has {}: use a smaller -n or --walls, or a larger grid",
                size.x, size.y, size.z, size.inner_cells();
        }
        let (mut used, mut draws) = (HashSet::new(), 0..);
        let mut next = || {
            let drawn = draws.by_ref().map(|i| {
                let axis = |k, n| below(draw(seed, i, k), n);
                size.index(axis(0, size.x), axis(1, size.y), axis(2, size.z))
            });
            let mut free = drawn.filter(|&cell| used.insert(cell));
            free.next().expect("there are places enough")
        };
        Ok(Self {
            size,
            requests: (0..paths).map(|_| [next(), next()]).collect(),
            walls: (0..walls).map(|_| next()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_fits_and_fills_the_grid_to_its_last_place() {
        let size = GridSize { x: 3, y: 2, z: 2 };
        let maze = Maze::generate(1, size, 5, 2).unwrap();
        let places = maze.requests.as_flattened().iter().chain(&maze.walls);
        let inside = places.map(|&cell| size.place(cell));
        let inside = inside.filter(|&(x, y, z)| x < 3 && y < 2 && z < 2);
        assert_eq!(inside.collect::<HashSet<_>>().len(), 12);
        assert_ne!(maze, Maze::generate(2, size, 5, 2).unwrap());
        let error = Maze::generate(1, size, 6, 1).unwrap_err().to_string();
        has(&error, "13 places | has 12");
    }
}
