//! What a right routing looks like: nothing is taken on trust from the kernel
//! but which requests it says it has routed.
//!
//! Each path is walked from its source to its destination; the whole grid is compared with what the
//! paths and the maze say of it; and each request without a path must have none in the final grid.
//! That last is a breadth-first search from its source through free cells; as it is the same search
//! for all requests, it is made once: the free cells are cut into the areas that hang together, and
//! two ends can be joined if they are neighbours or border on the same area.

use super::maze::{Coordinate, Maze, Request, cell, inside, place};
use serde::Serialize;
use std::collections::VecDeque;
use stm_kernels::labyrinth::{FREE, GridSize, RESERVED, UNROUTED, UNSETTLED, WALL, cell_of_path};

#[derive(Clone, Debug)]
pub(super) struct Left {
    pub(super) grid: Vec<u32>,
    pub(super) results: Vec<u32>,
    /// The paths, `room` words for each request.
    pub(super) paths: Vec<u32>,
    pub(super) room: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    pub(super) routed: u64,
    pub(super) unrouted: u64,
    #[serde(rename = "path_cells")]
    pub(super) cells: u64,
    /// Cells of the longest path.
    #[serde(rename = "longest_path")]
    pub(super) longest: u64,
}

/// The grid before any routing: walls, reserved ends, free cells, and the walls
/// between rows and planes.
pub(super) fn initial_grid(maze: &Maze) -> Vec<u32> {
    let size = maze.size;
    let mut grid = vec![WALL; size.cells() as usize];
    for z in 0..size.z {
        for y in 0..size.y {
            let first = size.index(0, y, z) as usize;
            grid[first..first + size.x as usize].fill(FREE);
        }
    }
    for request in &maze.requests {
        for end in [request.source, request.destination] {
            grid[cell(size, end) as usize] = RESERVED;
        }
    }
    for wall in &maze.walls {
        grid[cell(size, *wall) as usize] = WALL;
    }
    grid
}

/// The neighbours of a place inside the grid.
fn neighbours(size: GridSize, p: Coordinate) -> impl Iterator<Item = Coordinate> {
    let Coordinate { x, y, z } = p;
    let at = |x, y, z| Coordinate { x, y, z };
    let on = |n: u32| [n.wrapping_sub(1), n + 1];
    let [xs, ys, zs] = [x, y, z].map(on);
    let all = (xs.map(|x| at(x, y, z)).into_iter())
        .chain(ys.map(|y| at(x, y, z)))
        .chain(zs.map(|z| at(x, y, z)));
    all.filter(move |p| inside(size, *p))
}

fn adjacent(a: Coordinate, b: Coordinate) -> bool {
    a.x.abs_diff(b.x) + a.y.abs_diff(b.y) + a.z.abs_diff(b.z) == 1
}

fn meaning(word: u32) -> String {
    match word {
        FREE => "free".into(),
        WALL => "a wall".into(),
        RESERVED => "an end that no path uses".into(),
        other => format!("on path {}", other - 1),
    }
}

/// Walks a request's path and enters it into `grid`, which has the initial
/// state and the paths walked so far.
fn walk(maze: &Maze, request: usize, path: &[u32], grid: &mut [u32]) -> Result<(), String> {
    let size = maze.size;
    let wanted = maze.requests[request];
    let at = |i: usize| place(size, path[i]);
    for &cell in path {
        wrong! {
            cell as usize >= grid.len() || !inside(size, place(size, cell)) =>
                "has cell {cell}, which is not in the grid";
        }
    }
    let last = path.len() - 1;
    wrong! {
        last == 0 || at(0) != wanted.source || at(last) != wanted.destination =>
            "has {} cells from {} to {}", path.len(), at(0), at(last);
    }
    for i in 0..path.len() {
        wrong! {
            i != 0 && !adjacent(at(i - 1), at(i)) => "jumps from {} to {}", at(i - 1), at(i);
        }
        let expected = if i == 0 || i == last { RESERVED } else { FREE };
        let word = &mut grid[path[i] as usize];
        wrong! {
            *word != expected => "goes over {}, which is {}", at(i), meaning(*word);
        }
        *word = cell_of_path(request as u32);
    }
    Ok(())
}

/// The area of each free cell, from 1 on: cells that hang together through
/// free cells have the same; 0 for the others.
fn areas(size: GridSize, grid: &[u32]) -> Vec<u32> {
    let mut areas = vec![0; grid.len()];
    let mut found = 0;
    let mut queue = VecDeque::new();
    for start in 0..grid.len() {
        if grid[start] != FREE || areas[start] != 0 {
            continue;
        }
        found += 1;
        areas[start] = found;
        queue.push_back(place(size, start as u32));
        while let Some(p) = queue.pop_front() {
            for near in neighbours(size, p) {
                let at = cell(size, near) as usize;
                if grid[at] == FREE && areas[at] == 0 {
                    areas[at] = found;
                    queue.push_back(near);
                }
            }
        }
    }
    areas
}

/// Whether a request without a path could have one in the final grid.
fn could_be_routed(maze: &Maze, request: usize, grid: &[u32], areas: &[u32]) -> bool {
    let size = maze.size;
    let Request {
        source: from,
        destination: to,
    } = maze.requests[request];
    let own = |p: Coordinate| grid[cell(size, p) as usize] == RESERVED;
    let around = |p: Coordinate| {
        neighbours(size, p)
            .map(|near| areas[cell(size, near) as usize])
            .filter(|&area| area != 0)
    };
    own(from)
        && own(to)
        && (adjacent(from, to) || around(from).any(|area| around(to).any(|other| other == area)))
}

pub(super) fn check(maze: &Maze, left: &Left) -> Result<Counts, String> {
    let mut expected = initial_grid(maze);
    let mut routed = Counts::default();
    let name = |k: usize| format!("request {k}, {}", maze.requests[k]);
    for (k, &result) in left.results.iter().enumerate() {
        match result {
            UNSETTLED => return Err(format!("{}, is not settled", name(k))),
            UNROUTED => routed.unrouted += 1,
            cells if (1..=left.room).contains(&(cells as usize)) => {
                let path = &left.paths[k * left.room..][..cells as usize];
                walk(maze, k, path, &mut expected)
                    .map_err(|what| format!("the path of {}, {what}", name(k)))?;
                routed.routed += 1;
                routed.cells += u64::from(cells);
                routed.longest = routed.longest.max(cells.into());
            }
            other => return Err(format!("the result of {}, is {other:#x}", name(k))),
        }
    }
    for (at, (&found, &expected)) in left.grid.iter().zip(&expected).enumerate() {
        wrong! {
            found != expected =>
                "cell {} is {}, and should be {}",
                place(maze.size, at as u32), meaning(found), meaning(expected);
        }
    }
    if routed.unrouted != 0 {
        let areas = areas(maze.size, &left.grid);
        for (k, &result) in left.results.iter().enumerate() {
            wrong! {
                result == UNROUTED && could_be_routed(maze, k, &left.grid, &areas) =>
                    "{}, is said to have no path, and has one in the final grid", name(k);
            }
        }
    }
    Ok(routed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;

    const SIZE: GridSize = GridSize { x: 4, y: 3, z: 2 };

    fn at(x: u32, y: u32, z: u32) -> Coordinate {
        Coordinate { x, y, z }
    }

    /// Two requests along rows 0 and 2 of plane 0, and one that crosses both
    /// and is shut in: its ends are at the corners of the wall.
    fn maze() -> Maze {
        let request = |source, destination| Request {
            source,
            destination,
        };
        Maze {
            size: SIZE,
            // Plane 1 is shut but for (1, 1, 1), right above the middle row.
            walls: (0..12)
                .map(|i| at(i % 4, i / 4, 1))
                .filter(|&p| p != at(1, 1, 1))
                .collect(),
            requests: vec![
                request(at(0, 0, 0), at(3, 0, 0)),
                request(at(0, 2, 0), at(3, 2, 0)),
                request(at(0, 1, 0), at(1, 1, 1)),
            ],
        }
    }

    const ROOM: usize = 8;

    impl Left {
        /// The paths given; the requests without are unrouted.
        fn of(paths: &[&[Coordinate]]) -> Self {
            let mut routing = Self {
                grid: initial_grid(&maze()),
                results: Vec::new(),
                paths: vec![u32::MAX; paths.len() * ROOM],
                room: ROOM,
            };
            for (k, path) in paths.iter().enumerate() {
                for (i, p) in path.iter().enumerate() {
                    let c = cell(SIZE, *p);
                    routing.paths[k * ROOM + i] = c;
                    routing.grid[c as usize] = cell_of_path(k as u32);
                }
                let cells = path.len() as u32;
                let result = if cells == 0 { UNROUTED } else { cells };
                routing.results.push(result);
            }
            routing
        }

        fn check(&self) -> Result<Counts, String> {
            check(&maze(), self)
        }

        fn refused(&self, parts: &str) {
            has(&self.check().unwrap_err(), parts);
        }
    }

    fn row(y: u32) -> Vec<Coordinate> {
        (0..4).map(|x| at(x, y, 0)).collect()
    }

    fn third() -> Vec<Coordinate> {
        vec![at(0, 1, 0), at(1, 1, 0), at(1, 1, 1)]
    }

    #[test]
    fn a_right_routing_is_accepted_and_counted() {
        let routed = Left::of(&[&row(0), &row(2), &third()]).check();
        let expected = Counts {
            routed: 3,
            unrouted: 0,
            cells: 11,
            longest: 4,
        };
        assert_eq!(routed, Ok(expected));
    }

    #[test]
    fn a_request_may_be_unrouted_only_if_it_is_shut_in() {
        // The first path's detour through the middle row leaves the third none.
        let mut detour = row(0);
        detour.splice(2..2, [at(1, 1, 0), at(2, 1, 0)]);
        let shut = Left::of(&[&detour, &row(2), &[]]).check().unwrap();
        assert_eq!((shut.routed, shut.unrouted), (2, 1));
        Left::of(&[&row(0), &row(2), &[]]).refused("request 2 | has one in the final grid");
        let said = "request 1 | (0, 2, 0) to (3, 2, 0) | has one";
        Left::of(&[&row(0), &[], &third()]).refused(said);
    }

    #[test]
    fn wrong_paths_are_refused() {
        // The row with other places than these of it.
        let spliced = |y, range: std::ops::Range<usize>, places: &[Coordinate]| {
            let mut path = row(y);
            path.splice(range, places.iter().copied());
            path
        };
        let middle: Vec<Coordinate> = (0..4).map(|x| at(x, 1, 0)).collect();
        for (paths, said) in [
            // Two paths through one cell.
            (
                [spliced(0, 1..3, &middle), row(2)],
                "request 0 | (0, 1, 0) | an end",
            ),
            (
                [row(0), spliced(2, 2..2, &middle[1..3])],
                "request 2 | goes over (1, 1, 0), which is on path 1",
            ),
            // Jumps, another end, a wall.
            (
                [spliced(0, 2..3, &[]), row(2)],
                "jumps from (1, 0, 0) to (3, 0, 0)",
            ),
            (
                [spliced(0, 3..4, &[]), row(2)],
                "from (0, 0, 0) to (2, 0, 0)",
            ),
            (
                [row(0), spliced(2, 1..1, &[at(0, 2, 1), at(1, 2, 1)])],
                "(0, 2, 1), which is a wall",
            ),
        ] {
            Left::of(&[&paths[0], &paths[1], &third()]).refused(said);
        }
        // From the last cell of a row to the first of the next is one on in
        // memory, but for the wall between them.
        let mut routing = Left::of(&[&row(0), &row(2), &third()]);
        for outside in [cell(SIZE, at(3, 0, 0)) + 1, u32::MAX] {
            routing.paths[1] = outside;
            routing.refused("which is not in the grid");
        }
    }

    #[test]
    fn every_change_of_a_single_cell_or_of_a_result_is_refused() {
        let right = Left::of(&[&row(0), &row(2), &third()]);
        for at in 0..right.grid.len() {
            for word in [FREE, WALL, RESERVED, 1, 2, 3] {
                if word != right.grid[at] {
                    let mut wrong = right.clone();
                    wrong.grid[at] = word;
                    wrong.refused("cell ( | should be");
                }
            }
        }
        for (result, said) in [
            (UNSETTLED, "request 1 | not settled"),
            (ROOM as u32 + 1, "request 1 | 0x9"),
            // A path that is in the grid, and a request that is said to have none.
            (UNROUTED, "(0, 2, 0) is on path 1 | an end"),
        ] {
            let mut wrong = right.clone();
            wrong.results[1] = result;
            wrong.refused(said);
        }
    }
}
