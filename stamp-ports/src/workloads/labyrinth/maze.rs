//! A grid, its walls and the paths asked for: read from STAMP's files, written
//! to them, or drawn at random.
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
//! A file that breaks off inside a line is found by its missing line break.

use crate::error::{Error, Result};
use crate::workloads::input::{Lines, bad_input, quoted};
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write as _};
use std::path::Path;
use stm_kernels::draw::{below, draw};
use stm_kernels::labyrinth::{GridSize, REQUESTS_MAX};

/// What its lines are.
const LINES: Lines = Lines {
    bytes_max: 4096,
    expected: "a line that begins with d, w, p or #",
    has_comments: true,
};

/// A place in the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// In its row.
    pub x: u32,
    /// Its row in its plane.
    pub y: u32,
    /// Its plane.
    pub z: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

/// A path asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where it begins.
    pub source: Place,
    /// Where it ends; another place.
    pub destination: Place,
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.source, self.destination)
    }
}

/// A grid and what is to be routed through it. No end of a request is a wall;
/// two requests may share an end, and then one of them at most has a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maze {
    /// The grid's size.
    pub size: GridSize,
    /// The walls.
    pub walls: Vec<Place>,
    /// The paths asked for, one or more.
    pub requests: Vec<Request>,
}

/// The cell of a place inside the grid.
pub fn cell(size: GridSize, place: Place) -> u32 {
    size.index(place.x, place.y, place.z)
}

/// The place of a cell.
pub fn place(size: GridSize, cell: u32) -> Place {
    let (x, y, z) = size.place(cell);
    Place { x, y, z }
}

/// Whether a place is inside the grid.
pub fn inside(size: GridSize, place: Place) -> bool {
    place.x < size.x && place.y < size.y && place.z < size.z
}

/// Refuses a grid without cells, or with more than can be numbered.
///
/// # Errors
/// What is wrong with it, and the fix.
pub fn check_size(size: GridSize) -> std::result::Result<(), String> {
    let GridSize { x, y, z } = size;
    wrong! {
        x == 0 || y == 0 || z == 0 =>
            "a grid of {x} x {y} x {z} has no cells: expected 1 or more each way";
        size.cells() > GridSize::CELLS_MAX =>
            "a grid of {x} x {y} x {z} is too large: expected fewer than 2^30 cells";
    }
    Ok(())
}

/// A file as read so far.
#[derive(Default)]
struct Reading {
    size: Option<(GridSize, u64)>,
    walls: HashMap<Place, u64>,
    walls_in_order: Vec<Place>,
    requests: Vec<(Request, u64)>,
}

impl Reading {
    /// Takes a line's words.
    fn line(&mut self, words: &[&str], line: u64) -> std::result::Result<(), String> {
        let Some((&code, numbers)) = words.split_first() else {
            return Ok(());
        };
        match code {
            _ if code.starts_with('#') => Ok(()),
            "d" => {
                let [x, y, z] = read_numbers(code, numbers, "the grid's size: X Y Z")?;
                let size = GridSize { x, y, z };
                if let Some((_, first)) = self.size {
                    return Err(format!(
                        "a second size of the grid: expected one, and line {first} has it"
                    ));
                }
                check_size(size)?;
                self.size = Some((size, line));
                Ok(())
            }
            "w" => {
                let [x, y, z] = read_numbers(code, numbers, "a wall's place: x y z")?;
                let wall = self.place("wall", [x, y, z])?;
                self.walls.entry(wall).or_insert(line);
                self.walls_in_order.push(wall);
                Ok(())
            }
            "p" => {
                let what = "two places: x y z of the source, x y z of the destination";
                let [x, y, z, to_x, to_y, to_z] = read_numbers(code, numbers, what)?;
                let request = Request {
                    source: self.place("source", [x, y, z])?,
                    destination: self.place("destination", [to_x, to_y, to_z])?,
                };
                wrong! {
                    request.source == request.destination =>
                        "source and destination are both {}: expected two places", request.source;
                }
                self.requests.push((request, line));
                Ok(())
            }
            _ => Err(format!("{}: expected {}", quoted(code), LINES.expected)),
        }
    }

    /// A place, if it is inside the grid.
    fn place(&self, what: &str, [x, y, z]: [u32; 3]) -> std::result::Result<Place, String> {
        let place = Place { x, y, z };
        match self.size {
            None => Err("the grid's size is not known yet: expected `d X Y Z` first".into()),
            Some((size, _)) if inside(size, place) => Ok(place),
            Some((size, first)) => Err(format!(
                "{what} {place} is outside the grid: expected less than {} {} {}, \
                 the size in line {first}",
                size.x, size.y, size.z
            )),
        }
    }

    /// The whole, or the line where it is wrong.
    fn finish(self, lines: u64) -> std::result::Result<Maze, (u64, String)> {
        let end = |what: &str| (lines.max(1), format!("the file ends here: expected {what}"));
        let (size, _) = self.size.ok_or_else(|| end("the grid's size, `d X Y Z`"))?;
        if self.requests.is_empty() {
            return Err(end("a path, `p x y z x y z`"));
        }
        if self.requests.len() > REQUESTS_MAX as usize {
            return Err(end(&format!("{REQUESTS_MAX} paths at most")));
        }
        for (request, line) in &self.requests {
            for (what, place) in [
                ("source", request.source),
                ("destination", request.destination),
            ] {
                if let Some(wall) = self.walls.get(&place) {
                    return Err((
                        *line,
                        format!("{what} {place} is a wall, by line {wall}: expected a free place"),
                    ));
                }
            }
        }
        Ok(Maze {
            size,
            walls: self.walls_in_order,
            requests: self.requests.into_iter().map(|(r, _)| r).collect(),
        })
    }
}

/// Exactly `N` numbers after a line's code.
fn read_numbers<const N: usize>(
    code: &str,
    words: &[&str],
    what: &str,
) -> std::result::Result<[u32; N], String> {
    wrong! {
        words.len() != N => "{} numbers after {code}: expected {N}, {what}", words.len();
    }
    let mut numbers = [0; N];
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = word
            .parse()
            .ok()
            .filter(|_| word.bytes().all(|b| b.is_ascii_digit()))
            .ok_or_else(|| format!("{}: expected a whole number, of {what}", quoted(word)))?;
    }
    Ok(numbers)
}

impl Maze {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Unreadable`]; [`Error::BadInput`] with the line and what was
    /// expected there.
    pub fn read(path: &Path) -> Result<Self> {
        let mut reading = Reading::default();
        let lines = LINES.read(path, |text, line| {
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            reading.line(&words, line)
        })?;
        reading
            .finish(lines)
            .map_err(|wrong| bad_input(path, wrong))
    }

    /// The text of a file with this maze.
    pub fn text(&self) -> String {
        let GridSize { x, y, z } = self.size;
        let mut text = format!("# Dimensions (x, y, z)\nd {x} {y} {z}\n");
        let numbers = |p: Place| format!("{} {} {}", p.x, p.y, p.z);
        // Writing to a String cannot fail.
        if !self.walls.is_empty() {
            text += "\n# Walls (x, y, z)\n";
        }
        for wall in &self.walls {
            let _ = writeln!(text, "w {}", numbers(*wall));
        }
        text += "\n# Paths: Sources (x, y, z) -> Destinations (x, y, z)\n";
        for request in &self.requests {
            let (from, to) = (numbers(request.source), numbers(request.destination));
            let _ = writeln!(text, "p {from}   {to}");
        }
        text
    }

    /// Draws ends of paths and walls, no two at one place.
    ///
    /// # Errors
    /// [`Error::Usage`] for a grid that has no room for them.
    pub fn generate(seed: u64, size: GridSize, paths: u32, walls: u32) -> Result<Self> {
        check_size(size).map_err(|what| Error::Usage(format!("{what}: change -x, -y or -z")))?;
        refuse! {
            paths == 0 => "-n 0 leaves nothing to route: give 1 or more paths";
        }
        let places = 2 * u64::from(paths) + u64::from(walls);
        refuse! {
            places > size.inner_cells() || paths > REQUESTS_MAX =>
                "{paths} paths with two ends each and {walls} walls need {places} places, and a \
                 grid of {} x {} x {} has {}: use a smaller -n or --walls, or a larger grid",
                size.x, size.y, size.z, size.inner_cells();
        }
        let mut used = HashSet::new();
        let mut draws = 0;
        let mut next = || {
            loop {
                let axis = |k, n| below(draw(seed, draws, k), n);
                let place = Place {
                    x: axis(0, size.x),
                    y: axis(1, size.y),
                    z: axis(2, size.z),
                };
                draws += 1;
                if used.insert(place) {
                    return place;
                }
            }
        };
        let requests = (0..paths)
            .map(|_| Request {
                source: next(),
                destination: next(),
            })
            .collect();
        let walls = (0..walls).map(|_| next()).collect();
        Ok(Self {
            size,
            walls,
            requests,
        })
    }
}

#[cfg(test)]
mod tests;
