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

fn at(x: u32, y: u32, z: u32) -> Place {
    Place { x, y, z }
}

#[test]
fn a_file_is_read_as_it_is_meant() {
    let maze = read("# size\n\n d 4\t5 6\r\nw 1 2 3\n  # \u{e9}\np 0 0 0  3 4 5\np 0 0 0 1 1 1\n")
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
    let mut places: Vec<Place> = maze.walls.clone();
    places.extend(maze.requests.iter().flat_map(|r| [r.source, r.destination]));
    assert!(places.iter().all(|p| inside(size, *p)));
    let distinct: HashSet<Place> = places.iter().copied().collect();
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
