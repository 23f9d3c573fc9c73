//! What a right routing looks like: nothing is taken on trust from the kernel but which requests it says it
//! has routed.
//!
//! Each path is walked from its source to its destination; the whole grid is compared with what the paths and
//! the maze say of it; and each request without a path must have none in the final grid. For that the free
//! cells are cut into areas that hang together: two ends can be joined if they are neighbours or border on
//! the same area.

use super::maze::Maze;
use crate::workloads::prelude::*;
use stm_kernels::labyrinth::{
    CLOCK_WORDS, FREE, GridSize, RESERVED, UNROUTED, UNSETTLED, WALL, cell_of_path,
};

#[derive(Clone, Debug)]
pub(super) struct FinalGrid {
    pub(super) grid: Vec<u32>,
    pub(super) results: Vec<u32>,
    /// The paths, `room` words for each request.
    pub(super) paths: Vec<u32>,
    pub(super) room: usize,
}

/// What a routing has, and what the clocks of all routers say of their claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Routing {
    pub(super) routed: u64,
    pub(super) unrouted: u64,
    pub(super) path_cells: u64,
    pub(super) longest_path: u64,
    /// One for each path traced, cancelled ones included.
    pub(super) claims: u64,
    pub(super) claim_ticks: u64,
    pub(super) router_ticks: u64,
    /// Of a claim, on average.
    pub(super) claim_us: f64,
    /// The share of claims in the routers' time.
    pub(super) claim_share: f64,
}

impl Routing {
    /// Adds what the clocks say; the router that worked longest worked for `time`.
    pub(super) fn with_claims(mut self, clocks: &[u64], time: Duration) -> Self {
        let routers = || clocks.chunks_exact(CLOCK_WORDS as usize);
        [self.claim_ticks, self.claims, self.router_ticks] =
            [0, 1, 2].map(|word| routers().map(|router| router[word]).sum::<u64>());
        let longest = routers().map(|router| router[2]).max().unwrap_or(0);
        let tick_us = time.as_secs_f64() * 1e6 / longest.max(1) as f64;
        self.claim_us = self.claim_ticks as f64 / self.claims.max(1) as f64 * tick_us;
        self.claim_share = self.claim_ticks as f64 / self.router_ticks.max(1) as f64;
        self
    }
}

/// The grid before any routing, with the walls between rows and planes.
pub(super) fn initial_grid(maze: &Maze) -> Vec<u32> {
    let size = maze.size;
    let mut grid = vec![WALL; size.cells() as usize];
    for z in 0..size.z {
        for y in 0..size.y {
            let first = size.index(0, y, z) as usize;
            grid[first..first + size.x as usize].fill(FREE);
        }
    }
    for &end in maze.requests.as_flattened() {
        grid[end as usize] = RESERVED;
    }
    for &wall in &maze.walls {
        grid[wall as usize] = WALL;
    }
    grid
}

/// The neighbours of a cell, with the walls after its row and its plane.
fn neighbours(size: GridSize, cell: usize) -> impl Iterator<Item = usize> {
    let steps = [1, size.row() as usize, size.plane() as usize];
    let both = steps.map(|step| [cell.wrapping_sub(step), cell + step]);
    let cells = size.cells() as usize;
    (both.into_iter().flatten()).filter(move |&near| near < cells)
}

fn meaning(word: u32) -> String {
    match word {
        FREE => "free".into(),
        WALL => "a wall".into(),
        RESERVED => "an end that no path uses".into(),
        other => format!("on path {}", other - 1),
    }
}

/// Walks a request's path and enters it into `grid`, which has the paths walked so far.
fn walk(maze: &Maze, request: usize, path: &[u32], grid: &mut [u32]) -> Result<(), String> {
    let size = maze.size;
    let at = |cell: u32| size.place(cell);
    for &cell in path {
        let (x, y, z) = at(cell);
        wrong! {
            x >= size.x || y >= size.y || z >= size.z =>
                "has cell {cell}, which is not in the grid";
        }
    }
    let (first, last) = (path[0], path[path.len() - 1]);
    wrong! {
        path.len() == 1 || [first, last] != maze.requests[request] =>
            "has {} cells from {:?} to {:?}", path.len(), at(first), at(last);
    }
    for (i, &cell) in path.iter().enumerate() {
        let before = path[i.saturating_sub(1)];
        let mut near = neighbours(size, before as usize);
        let is_end = i == 0 || i == path.len() - 1;
        let word = &mut grid[cell as usize];
        wrong! {
            i != 0 && !near.any(|near| near == cell as usize) =>
                "jumps from {:?} to {:?}", at(before), at(cell);
            *word != if is_end { RESERVED } else { FREE } =>
                "goes over {:?}, which is {}", at(cell), meaning(*word);
        }
        *word = cell_of_path(request as u32);
    }
    Ok(())
}

/// The area of each free cell, from 1 on, the same for cells that hang together; 0 for the others.
fn areas(size: GridSize, grid: &[u32]) -> Vec<u32> {
    let mut areas = vec![0; grid.len()];
    let (mut found, mut reached) = (0, Vec::new());
    for start in 0..grid.len() {
        if grid[start] != FREE || areas[start] != 0 {
            continue;
        }
        found += 1;
        areas[start] = found;
        reached.push(start);
        while let Some(cell) = reached.pop() {
            for near in neighbours(size, cell) {
                if grid[near] == FREE && areas[near] == 0 {
                    areas[near] = found;
                    reached.push(near);
                }
            }
        }
    }
    areas
}

/// Whether a request without a path could have one in the final grid.
fn could_be_routed(maze: &Maze, request: usize, grid: &[u32], areas: &[u32]) -> bool {
    let [from, to] = maze.requests[request].map(|end| end as usize);
    let near = |end| neighbours(maze.size, end);
    let is_near = |area| area != 0 && near(to).any(|near| areas[near] == area);
    grid[from] == RESERVED
        && grid[to] == RESERVED
        && near(from).any(|near| near == to || is_near(areas[near]))
}

pub(super) fn check(maze: &Maze, left: &FinalGrid) -> Result<Routing, String> {
    let mut expected = initial_grid(maze);
    let mut routed = Routing::default();
    let name = |k: usize| {
        let [from, to] = maze.requests[k].map(|end| maze.size.place(end));
        format!("request {k}, {from:?} to {to:?}")
    };
    for (k, &result) in left.results.iter().enumerate() {
        match result {
            UNSETTLED => return Err(format!("{}, is not settled", name(k))),
            UNROUTED => routed.unrouted += 1,
            cells if (1..=left.room).contains(&(cells as usize)) => {
                let path = &left.paths[k * left.room..][..cells as usize];
                walk(maze, k, path, &mut expected)
                    .map_err(|what| format!("the path of {}, {what}", name(k)))?;
                routed.routed += 1;
                routed.path_cells += u64::from(cells);
                routed.longest_path = routed.longest_path.max(cells.into());
            }
            other => return Err(format!("the result of {}, is {other:#x}", name(k))),
        }
    }
    for (cell, (&found, &expected)) in (0..).zip(zip(&left.grid, &expected)) {
        wrong! {
            found != expected =>
                "cell {:?} is {}, and should be {}",
                maze.size.place(cell), meaning(found), meaning(expected);
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
    use crate::workloads::test_prelude::*;
    use std::ops::Range;

    const SIZE: GridSize = GridSize { x: 4, y: 3, z: 2 };

    const fn at(x: u32, y: u32, z: u32) -> u32 {
        SIZE.index(x, y, z)
    }

    /// Two requests along rows 0 and 2 of plane 0, and one that crosses both
    /// and is shut in: its ends are at the corners of the wall.
    fn maze() -> Maze {
        // Plane 1 is shut but for (1, 1, 1), right above the middle row.
        let plane = (0..12).map(|i| at(i % 4, i / 4, 1));
        Maze {
            size: SIZE,
            walls: plane.filter(|&p| p != at(1, 1, 1)).collect(),
            requests: vec![
                [at(0, 0, 0), at(3, 0, 0)],
                [at(0, 2, 0), at(3, 2, 0)],
                [at(0, 1, 0), at(1, 1, 1)],
            ],
        }
    }

    const ROOM: usize = 8;

    impl FinalGrid {
        /// The paths given; the requests without are unrouted.
        fn of(paths: &[Vec<u32>; 3]) -> Self {
            let mut routing = Self {
                grid: initial_grid(&maze()),
                results: Vec::new(),
                paths: vec![u32::MAX; paths.len() * ROOM],
                room: ROOM,
            };
            for (path, k) in zip(paths, 0..) {
                let cells = path.len() as u32;
                routing.paths[k as usize * ROOM..][..path.len()].copy_from_slice(path);
                for &cell in path {
                    routing.grid[cell as usize] = cell_of_path(k);
                }
                (routing.results).push(if cells == 0 { UNROUTED } else { cells });
            }
            routing
        }

        fn right() -> Self {
            Self::of(&[row(0), row(2), third()])
        }

        /// Leads the first path, or the second, by other cells in place of a range of its row.
        fn reroute(&mut self, path: usize, range: Range<usize>, cells: &[u32]) {
            let mut paths = [row(0), row(2), third()];
            paths[path].splice(range, cells.iter().copied());
            *self = Self::of(&paths);
        }

        fn wrong(&self) -> Option<String> {
            check(&maze(), self).err()
        }
    }

    fn row(y: u32) -> Vec<u32> {
        (0..4).map(|x| at(x, y, 0)).collect()
    }

    fn third() -> Vec<u32> {
        vec![at(0, 1, 0), at(1, 1, 0), at(1, 1, 1)]
    }

    #[test]
    fn a_right_routing_is_accepted_and_counted_and_a_request_that_is_shut_in_may_be_unrouted() {
        let expected = Routing {
            routed: 3,
            path_cells: 11,
            longest_path: 4,
            ..Routing::default()
        };
        assert_eq!(check(&maze(), &FinalGrid::right()), Ok(expected));
        // The first path's detour through the middle row leaves the third none.
        let mut detour = row(0);
        detour.splice(2..2, row(1)[1..3].iter().copied());
        let shut = check(&maze(), &FinalGrid::of(&[detour, row(2), Vec::new()])).unwrap();
        assert_eq!((shut.routed, shut.unrouted), (2, 1));
    }

    const SPOILS: Spoils<FinalGrid, 12> = spoils! {
        // Two paths through one cell, jumps, another end, a wall.
        |left| left.reroute(0, 1..3, &row(1)) => "request 0 | (0, 1, 0) | an end";
        |left| left.reroute(1, 2..2, &row(1)[1..3]) =>
            "request 2 | goes over (1, 1, 0), which is on path 1";
        |left| left.reroute(0, 2..3, &[]) => "jumps from (1, 0, 0) to (3, 0, 0)";
        |left| left.reroute(0, 3..4, &[]) => "from (0, 0, 0) to (2, 0, 0)";
        |left| left.reroute(1, 1..1, &[at(0, 2, 1), at(1, 2, 1)]) => "(0, 2, 1), which is a wall";
        // From the last cell of a row to the first of the next is one on in memory, but for the
        // wall between them.
        |left| left.paths[1] = at(3, 0, 0) + 1 => "not in the grid";
        |left| left.paths[1] = u32::MAX => "not in the grid";
        |left| left.results[1] = UNSETTLED => "request 1 | not settled";
        |left| left.results[1] = ROOM as u32 + 1 => "request 1 | 0x9";
        // A path that is in the grid, and requests that are said to have none.
        |left| left.results[1] = UNROUTED => "(0, 2, 0) is on path 1 | an end";
        |left| *left = FinalGrid::of(&[row(0), row(2), Vec::new()]) =>
            "request 2 | has one in the final grid";
        |left| left.reroute(1, 0..4, &[]) => "request 1 | (0, 2, 0) to (3, 2, 0) | has one";
    };

    #[test]
    fn wrong_paths_results_and_every_change_of_a_single_cell_are_refused() {
        refused(SPOILS, FinalGrid::right, |left| left.wrong());
        let right = FinalGrid::right();
        for at in 0..right.grid.len() {
            for word in [FREE, WALL, RESERVED, 1, 2, 3] {
                if word != right.grid[at] {
                    let mut wrong = right.clone();
                    wrong.grid[at] = word;
                    has(&wrong.wrong().unwrap(), "cell ( | should be");
                }
            }
        }
    }
}
