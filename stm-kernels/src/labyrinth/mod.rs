//! LB, labyrinth (STAMP; Xu et al. 2014, section 4.1): routes paths through a three-dimensional
//! grid so that no two share a cell, as Lee's algorithm does.
//!
//! Each block is a router. It takes the next request from a queue and then, until that is settled:
//!
//! 1. All threads copy the grid into the router's own memory, as the snapshot.
//! 2. All threads expand it, breadth first and level by level, from the source until the
//!    destination is reached or nothing is left to reach.
//! 3. Thread 0 traces a shortest path back into the request's own memory.
//! 4. Thread 0 claims the path in one transaction, which reads all its cells, cancels itself if one is taken,
//!    and else writes all. Under an algorithm with teams, the block's first warp does so together, or in
//!    [`LabyrinthByBlock`] the whole block. After a claim that was cancelled it continues with step 1.
//!
//! Thread 0 reads its clock around each claim and all of its work, to tell transactions from the search.
//!
//! # Cells
//! A cell is free, a wall, an end of a request that no path has claimed yet (`RESERVED`), or on a path. There
//! is a column of walls after each row and a row of them after each plane, so that a neighbour is an addition
//! away: off the grid in x or y lies a wall, and off it in z an index past the end.
//!
//! # A request without a path
//! That a request has no path is found in a snapshot that does not exist at any one time, as the loads of
//! step 1 are relaxed. The finding is final all the same: a load sees the first state of a cell or the path
//! of a commit that stands, and a cell once on a path stays there. So the final grid has no open cell that
//! the snapshot has not. A path that the snapshot does have may be blocked by now, so the claim reads it
//! again.

mod claim;
pub mod floor;
mod grid;
mod params;

use crate::prelude::*;
pub(crate) use claim::{AGAIN, Claims, SETTLED, STOP};
use claim::{BATCH, Transactions};
pub use grid::GridSize;
pub use params::{
    CLOCK_WORDS, FREE, LabyrinthWork, REQUESTS_MAX, RESERVED, RouterParams, TOO_LONG, UNROUTED,
    UNSETTLED, WALL, cell_of_path,
};

transactional! {
    Labyrinth<A>(LabyrinthWork<A>) = route::<false, _, _> ["lb"];
    /// The same with paths claimed by the whole block; under algorithms without teams it is [`Labyrinth`].
    LabyrinthByBlock<A>(LabyrinthWork<A>) = route::<true, _, _> ["lb_block", teams];
}

pub const SHARED_BYTES: u32 = 16;

// These are the indices of the words of shared memory.
/// The request that the router works on.
const REQUEST: u32 = 0;
/// The number of cells that the expansion has reached.
const REACHED: u32 = 1;
/// Says whether the destination is among them.
const FOUND: u32 = 2;
/// The verdict on an attempt at a request: one of [`claim`]'s three.
const VERDICT: u32 = 3;

// These are the values of cells in the snapshot that are no distance from the source.
const UNSEEN: u32 = u32::MAX - 1;
const BLOCKED: u32 = u32::MAX;

/// A router at work: its lane and its memory. All pointers are to words that live while the kernel
/// runs, as many as the parameters say.
pub(crate) struct Router<'a, L: Lane, C> {
    lane: &'a L,
    p: &'a RouterParams,
    claims: C,
    cells: u32,
    /// The snapshot, which the distances replace.
    distances: *mut u32,
    /// The cells reached, in the order of their distances.
    reached: *mut u32,
    next: *mut u32,
    clock: *mut u64,
}

#[inline(always)]
fn route<const BY_BLOCK: bool, L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    p: &LabyrinthWork<A>,
) {
    let grid = &p.grid;
    Router::run(lane, &p.work, Transactions::<A, BY_BLOCK> { stm, grid });
}

#[stm_core::inlined]
impl<'a, L: Lane, C: Claims<L>> Router<'a, L, C> {
    pub(crate) fn run(lane: &'a L, p: &'a RouterParams, claims: C) {
        let cells = claims.cells();
        let first = u64::from(lane.block_index()) * 2 * cells;
        // If the memory is too small for the block, the host sees unsettled requests. All threads
        // of the block return here, so none waits for another.
        let clock = u64::from(lane.block_index()) * CLOCK_WORDS;
        let (Some(own), Some(_), Some(next), Some(clock), Some(_)) = (
            p.routers.get(first),
            p.routers.get(first + 2 * cells - 1),
            p.next.get(0),
            p.clocks.get(clock),
            p.clocks.get(clock + CLOCK_WORDS - 1),
        ) else {
            return;
        };
        let router = Self {
            lane,
            p,
            claims,
            cells: cells as u32,
            distances: own,
            reached: own.wrapping_add(cells as usize),
            next,
            clock,
        };
        let begun = router.now();
        router.route();
        router.spent(2, begun);
    }

    /// Takes requests until there are none, or the launch is to stop.
    fn route(&self) {
        let (lane, p) = (self.lane, self.p);
        loop {
            if lane.thread_index() == 0 {
                // SAFETY: live; and a word of the block's shared memory.
                unsafe {
                    let request = lane.fetch_add_relaxed_32(self.next, 1);
                    lane.shared_store_32(REQUEST, request);
                }
            }
            let request = self.uniform(REQUEST);
            if request >= p.count || self.settle(request) == STOP {
                return;
            }
        }
    }

    /// Returns the clock, for thread 0.
    fn now(&self) -> u64 {
        if self.lane.thread_index() == 0 {
            self.lane.clock()
        } else {
            0
        }
    }

    /// Adds the time since `begun` to a word of the block's clock, and 1 to the next if it is the claims'.
    fn spent(&self, word: usize, begun: u64) {
        let lane = self.lane;
        if lane.thread_index() != 0 {
            return;
        }
        let ticks = lane.clock().wrapping_sub(begun);
        let add = |word: usize, n: u64| {
            let p = self.clock.wrapping_add(word);
            // SAFETY: one of the block's words (`body`), which its thread 0 alone uses.
            unsafe { lane.private_store_64(p, lane.private_load_64(p).wrapping_add(n)) };
        };
        add(word, ticks);
        if word == 0 {
            add(1, 1);
        }
    }

    /// Returns a word of shared memory to all threads; none changes it before all have it.
    fn uniform(&self, word: u32) -> u32 {
        self.meet();
        // SAFETY: a word of the block's shared memory.
        let value = unsafe { self.lane.shared_load_32(word) };
        self.meet();
        value
    }

    /// Loads a cell of the grid, in any state (see the module); past its end it is a wall.
    fn cell(&self, i: u32) -> u32 {
        self.claims.peek(self.lane, i).unwrap_or(WALL)
    }

    fn load(&self, array: *mut u32, i: u32) -> u32 {
        // SAFETY: callers keep `i` below the cells of the grid, for each of which there is a word
        // (`body`). Relaxed: barriers order what the block wrote.
        unsafe { self.lane.load_relaxed_32(array.wrapping_add(i as usize)) }
    }

    fn meet(&self) {
        // SAFETY: the threads of a block take the same branches around it, as these depend on what
        // one of them has stored and all have loaded (`uniform`).
        unsafe { self.lane.barrier() };
    }

    fn store(&self, array: *mut u32, i: u32, value: u32) {
        // SAFETY: as for `load`. Relaxed: a barrier precedes other threads' loads.
        unsafe {
            self.lane
                .store_relaxed_32(array.wrapping_add(i as usize), value);
        }
    }

    /// Routes a request until it is settled or the launch is to stop; all threads of the block call it.
    fn settle(&self, request: u32) -> u32 {
        let (Some(source), Some(destination)) = (self.end(request, 0), self.end(request, 1)) else {
            return STOP;
        };
        loop {
            self.snapshot();
            let distance = self.expand(source, destination);
            if self.claims.concludes(self.lane) {
                let verdict = self.conclude(request, destination, distance);
                if self.lane.thread_index() == 0 {
                    // SAFETY: a word of the block's shared memory.
                    unsafe { self.lane.shared_store_32(VERDICT, verdict) };
                }
            }
            let verdict = self.uniform(VERDICT);
            if verdict != AGAIN {
                return verdict;
            }
        }
    }

    /// Returns an end of a request, if it is a cell.
    fn end(&self, request: u32, end: u64) -> Option<u32> {
        let word = self.p.requests.get(u64::from(request) * 2 + end)?;
        // SAFETY: in range of a live array that nothing writes.
        let cell = unsafe { self.lane.load_relaxed_32(word) };
        (cell < self.cells).then_some(cell)
    }

    /// Does step 1. The block's memory is used again only after a barrier.
    fn snapshot(&self) {
        let step = u64::from(self.lane.block_dim());
        let cells = u64::from(self.cells);
        let mut i = u64::from(self.lane.thread_index());
        while i < cells {
            let at: [u64; BATCH as usize] = core::array::from_fn(|j| i + j as u64 * step);
            // Past the end, the last cell is loaded again.
            let found = at.map(|c| self.cell(c.min(cells - 1) as u32));
            for (c, found) in at.iter().zip(found) {
                if *c < cells {
                    let seen = if found == FREE { UNSEEN } else { BLOCKED };
                    self.store(self.distances, *c as u32, seen);
                }
            }
            i += u64::from(BATCH) * step;
        }
    }

    /// Returns the six neighbours of a cell; off the grid, it returns the cell itself.
    fn neighbours(&self, cell: u32) -> [u32; 6] {
        let (row, plane) = (self.p.row, self.p.plane);
        [
            cell.wrapping_sub(1),
            cell.wrapping_add(1),
            cell.wrapping_sub(row),
            cell.wrapping_add(row),
            cell.wrapping_sub(plane),
            cell.wrapping_add(plane),
        ]
        .map(|near| if near < self.cells { near } else { cell })
    }

    /// Does step 2 and returns the distance of the destination to all threads, if it can be reached.
    fn expand(&self, source: u32, destination: u32) -> Option<u32> {
        let lane = self.lane;
        self.meet();
        if lane.thread_index() == 0 {
            let open = self.cell(source) == RESERVED && self.cell(destination) == RESERVED;
            self.store(self.distances, source, 0);
            self.store(self.distances, destination, UNSEEN);
            self.store(self.reached, 0, source);
            // SAFETY: words of the block's shared memory.
            unsafe {
                // If the end is on another request's path, there is nothing to expand.
                lane.shared_store_32(REACHED, u32::from(open));
                lane.shared_store_32(FOUND, 0);
            }
        }
        let (mut from, mut distance) = (0, 0);
        loop {
            self.meet();
            // SAFETY: words of the block's shared memory.
            let (to, found) = unsafe { (lane.shared_load_32(REACHED), lane.shared_load_32(FOUND)) };
            // Nobody changes them before all have them.
            self.meet();
            if found != 0 {
                return Some(distance);
            }
            if from == to {
                return None;
            }
            distance += 1;
            let mut i = from + lane.thread_index();
            while i < to {
                self.enter_neighbours(self.load(self.reached, i), distance, destination);
                i += lane.block_dim();
            }
            from = to;
        }
    }

    /// Enters every neighbour of a cell that has not been reached before.
    fn enter_neighbours(&self, cell: u32, distance: u32, destination: u32) {
        let near = self.neighbours(cell);
        let seen = near.map(|c| self.load(self.distances, c));
        for (c, seen) in near.iter().zip(seen) {
            if seen != UNSEEN {
                continue;
            }
            // SAFETY: a word of the router's memory. Relaxed: the exchange alone decides.
            let found = unsafe {
                self.lane
                    .cas_relaxed_32(self.distances.wrapping_add(*c as usize), UNSEEN, distance)
            };
            if found == UNSEEN {
                // SAFETY: a shared word. Each cell is entered once, so the number is below the cells.
                let at = unsafe { self.lane.shared_fetch_add_32(REACHED, 1) };
                self.store(self.reached, at, *c);
                if *c == destination {
                    // SAFETY: a word of the block's shared memory.
                    unsafe { self.lane.shared_store_32(FOUND, 1) };
                }
            }
        }
    }

    /// Does steps 3 and 4; the threads that conclude call it, and it returns the same verdict to all of them.
    fn conclude(&self, request: u32, destination: u32, distance: Option<u32>) -> u32 {
        let Some(distance) = distance else {
            return self.record(request, UNROUTED);
        };
        let cells = distance + 1;
        let room = u64::from(self.p.path_cells_max);
        let first = u64::from(request) * room;
        let (Some(path), Some(_)) = (
            self.p.paths.get(first),
            self.p.paths.get(first + u64::from(distance)),
        ) else {
            return self.record(request, TOO_LONG | cells);
        };
        if u64::from(cells) > room {
            return self.record(request, TOO_LONG | cells);
        }
        if self.lane.thread_index() == 0 {
            self.trace(path, destination, distance);
        }
        let begun = self.now();
        let verdict = self.claims.claim(self.lane, request, (path, cells));
        self.spent(0, begun);
        if verdict == SETTLED {
            return self.record(request, cells);
        }
        verdict
    }

    fn record(&self, request: u32, result: u32) -> u32 {
        let Some(word) = self.p.results.get(u64::from(request)) else {
            return STOP;
        };
        if self.lane.thread_index() == 0 {
            // SAFETY: in range of a live array; only this block has the request.
            unsafe { self.lane.store_relaxed_32(word, result) };
        }
        SETTLED
    }

    /// Does step 3: traces from the destination to the source, each cell one step nearer.
    fn trace(&self, path: *mut u32, destination: u32, distance: u32) {
        let (mut cell, mut distance) = (destination, distance);
        loop {
            let place = path.wrapping_add(distance as usize);
            // SAFETY: the path is at most as long as the room, which `conclude` has checked, and
            // nobody else has the request. Relaxed for a team, whose lanes then meet.
            unsafe {
                if C::BY_TEAMS {
                    self.lane.store_relaxed_32(place, cell);
                } else {
                    self.lane.private_store_32(place, cell);
                }
            }
            if distance == 0 {
                return;
            }
            distance -= 1;
            let near = self.neighbours(cell);
            let found = near.map(|c| self.load(self.distances, c));
            for (c, found) in near.iter().zip(found) {
                if found == distance {
                    cell = *c;
                }
            }
        }
    }
}
