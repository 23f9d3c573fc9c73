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

const LINES: Lines = Lines {
    bytes_max: 4096,
    expected: "a line that begins with d, w, p or #",
    has_comments: true,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Coordinate {
    /// In its row.
    pub x: u32,
    /// Its row in its plane.
    pub y: u32,
    /// Its plane.
    pub z: u32,
}

impl fmt::Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub source: Coordinate,
    /// Where it ends; another place.
    pub destination: Coordinate,
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
    pub size: GridSize,
    pub walls: Vec<Coordinate>,
    pub requests: Vec<Request>,
}

pub(super) fn cell(size: GridSize, place: Coordinate) -> u32 {
    size.index(place.x, place.y, place.z)
}

pub(super) fn place(size: GridSize, cell: u32) -> Coordinate {
    let (x, y, z) = size.place(cell);
    Coordinate { x, y, z }
}

pub(super) fn inside(size: GridSize, place: Coordinate) -> bool {
    place.x < size.x && place.y < size.y && place.z < size.z
}

/// Refuses a grid without cells, or with more than can be numbered.
fn check_size(size: GridSize) -> std::result::Result<(), String> {
    let GridSize { x, y, z } = size;
    wrong! {
        x == 0 || y == 0 || z == 0 =>
            "a grid of {x} x {y} x {z} has no cells: expected 1 or more each way";
        size.cells() > GridSize::CELLS_MAX =>
            "a grid of {x} x {y} x {z} is too large: expected fewer than 2^30 cells";
    }
    Ok(())
}

#[derive(Default)]
struct Reading {
    size: Option<(GridSize, u64)>,
    walls: HashMap<Coordinate, u64>,
    walls_in_order: Vec<Coordinate>,
    requests: Vec<(Request, u64)>,
}

impl Reading {
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

    fn place(&self, what: &str, [x, y, z]: [u32; 3]) -> std::result::Result<Coordinate, String> {
        let place = Coordinate { x, y, z };
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

    pub fn text(&self) -> String {
        let GridSize { x, y, z } = self.size;
        let mut text = format!("# Dimensions (x, y, z)\nd {x} {y} {z}\n");
        let numbers = |p: Coordinate| format!("{} {} {}", p.x, p.y, p.z);
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
                let place = Coordinate {
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
mod tests {
    //! Files that are read, written and refused, and mazes that are drawn.

    use super::*;
    use crate::testing::has;
    use std::fs;

    fn read(text: impl AsRef<[u8]>) -> Result<Maze> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("maze.txt");
        fs::write(&path, text).unwrap();
        Maze::read(&path)
    }

    fn at(x: u32, y: u32, z: u32) -> Coordinate {
        Coordinate { x, y, z }
    }

    #[test]
    fn a_file_is_read_as_it_is_meant() {
        let maze =
            read("# size\n\n d 4\t5 6\r\nw 1 2 3\n  # \u{e9}\np 0 0 0  3 4 5\np 0 0 0 1 1 1\n")
                .unwrap();
        assert_eq!(maze.size, GridSize { x: 4, y: 5, z: 6 });
        assert_eq!(maze.walls, [at(1, 2, 3)]);
        assert_eq!(maze.requests.len(), 2);
        assert_eq!(maze.requests[0].to_string(), "(0, 0, 0) to (3, 4, 5)");
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (paths, walls) in [(1, 0), (7, 20)] {
            let size = GridSize { x: 6, y: 5, z: 3 };
            let maze = Maze::generate(3, size, paths, walls).unwrap();
            assert_eq!(read(maze.text()).unwrap(), maze);
        }
    }

    #[test]
    fn what_is_drawn_fits_and_fills_the_grid_to_its_last_place() {
        let size = GridSize { x: 3, y: 2, z: 2 };
        let maze = Maze::generate(1, size, 5, 2).unwrap();
        let mut places: Vec<Coordinate> = maze.walls.clone();
        places.extend(maze.requests.iter().flat_map(|r| [r.source, r.destination]));
        assert!(places.iter().all(|p| inside(size, *p)));
        let distinct: HashSet<Coordinate> = places.iter().copied().collect();
        assert_eq!((places.len(), distinct.len()), (12, 12));
        assert_ne!(maze, Maze::generate(2, size, 5, 2).unwrap());
        let error = Maze::generate(1, size, 6, 1).unwrap_err().to_string();
        has(&error, "13 places | has 12");
    }

    /// Each wrong file, the line where it is wrong, and parts of the error.
    #[test]
    fn wrong_files_are_refused_with_the_line_and_what_was_expected() {
        // A row has the file, the line, and what is said of it.
        let rows = r#"
             => 1: file ends here | d X Y Z
            # nothing\n => 1: file ends here | d X Y Z
            d 4 4 1\n => 1: file ends here | a path
            d 4 4\np 0 0 0 1 0 0\n => 1: 2 numbers after d | expected 3
            d 4 4 1 1\n => 1: 4 numbers after d
            d 4 0 1\n => 1: 4 x 0 x 1 | 1 or more
            d 4 -4 1\n => 1: "-4" | whole number
            d 4 +4 1\n => 1: "+4" | whole number
            d 4 4 99999999999\n => 1: "99999999999"
            d 40000 40000 40000\n => 1: too large | 2^30
            d 4 4 1\nd 4 4 1\n => 2: second size | line 1
            p 0 0 0 1 0 0\nd 4 4 1\n => 1: size is not known yet
            d 4 4 1\np 0 0 0 1 0\n => 2: 5 numbers after p | expected 6
            d 4 4 1\np 0 0 0 1 0 0 => 2: ends inside | line break
            d 4 4 1\np 4 0 0 1 0 0\n => 2: source (4, 0, 0) | less than 4 4 1
            d 4 4 1\np 0 0 0 1 0 1\n => 2: destination (1, 0, 1) | outside
            d 4 4 1\np 1 2 0 1 2 0\n => 2: both (1, 2, 0) | two places
            d 4 4 1\np 0 0 nan 1 0 0\n => 2: "nan" | whole number
            d 4 4 1\nw 1 0 0\np 0 0 0 1 0 0\n => 3: destination (1, 0, 0) | line 2
            d 4 4 1\np 0 0 0 1 0 0\nw 0 0 0\n => 2: source (0, 0, 0) | line 3
            d 4 4 1\nq 0 0 0\n => 2: "q" | d, w, p or #
            d 4 4 1\n\u{7f}ELF\0\n => 2: byte 0x7f in column 1
        "#;
        for row in rows
            .lines()
            .map(str::trim_start)
            .filter(|row| !row.is_empty())
        {
            let (text, told) = row.split_once("=> ").expect("a file and what is wrong");
            let (line, parts) = told.split_once(": ").expect("a line and what is said");
            let text = text.trim_end().replace("\\n", "\n");
            let text = text.replace("\\0", "\0").replace("\\u{7f}", "\u{7f}");
            let error = read(text).unwrap_err();
            let shown = error.to_string();
            let Error::BadInput { line: found, .. } = error else {
                panic!("{shown}");
            };
            assert_eq!(found.to_string(), line, "{shown}");
            assert!(shown.contains("maze.txt, line ") && !shown.contains('\n'));
            has(&shown, parts);
        }
    }

    #[test]
    fn a_line_without_end_is_refused_without_reading_it_all() {
        let error = read(vec![b'p'; 100_000]).unwrap_err().to_string();
        has(&error, "line 1 | too long");
        let error = Maze::read(Path::new("no/such/maze")).unwrap_err();
        assert!(error.to_string().contains("no/such/maze"), "{error}");
    }
}
