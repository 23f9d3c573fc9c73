//! Step 4 of a router: claiming a path, by one thread or by a team.

use super::params::{FREE, RESERVED, cell_of_path};
use stm_core::{Abort, Lane, StmRef, TeamTx, TxResult, View, algorithm::Algorithm, internal::Crew};

// These are verdicts on an attempt at a request.
pub(crate) const SETTLED: u32 = 0;
/// Another path took a cell, so the request must be routed again.
pub(crate) const AGAIN: u32 = 1;
pub(crate) const STOP: u32 = 2;

/// The number of cells whose loads are in flight together.
pub(super) const BATCH: u32 = 8;

/// The number of cells of each lane of a team whose loads are in flight together.
const TEAM_BATCH: u32 = 4;

/// The first word of a path, and its number of cells.
pub(crate) type Path = (*mut u32, u32);

/// How a router reads the grid, and claims a path in it.
pub(crate) trait Claims<L: Lane> {
    /// Whether several threads conclude, and read the path that thread 0 has traced.
    const BY_TEAMS: bool;

    fn cells(&self) -> u64;

    /// Returns some state that a cell has or had, if there is such a cell.
    fn peek(&self, lane: &L, cell: u32) -> Option<u32>;

    fn concludes(&self, lane: &L) -> bool;

    /// Does step 4: the path that thread 0 has traced becomes the request's, or nothing changes. It returns
    /// [`SETTLED`] if it is, [`AGAIN`] if a cell was taken, and [`STOP`] if the launch is to stop.
    fn claim(&self, lane: &L, request: u32, path: Path) -> u32;
}

pub(super) struct Transactions<'a, A: Algorithm, const BY_BLOCK: bool> {
    pub(super) stm: &'a StmRef<A>,
    pub(super) grid: &'a A::Array<u32>,
}

#[stm_core::inlined]
impl<L: Lane, A: Algorithm, const BY_BLOCK: bool> Claims<L> for Transactions<'_, A, BY_BLOCK> {
    const BY_TEAMS: bool = A::TEAMS;

    fn cells(&self) -> u64 {
        self.grid.len()
    }

    fn peek(&self, lane: &L, cell: u32) -> Option<u32> {
        self.grid.peek(lane, u64::from(cell))
    }

    /// Thread 0 concludes, the whole first warp, or the whole block.
    fn concludes(&self, lane: &L) -> bool {
        if !A::TEAMS {
            lane.thread_index() == 0
        } else if BY_BLOCK {
            true
        } else {
            lane.warp_index() == 0
        }
    }

    fn claim(&self, lane: &L, request: u32, path: Path) -> u32 {
        let claimed = if !A::TEAMS {
            self.claim_alone(lane, request, path)
        } else if BY_BLOCK {
            // They meet first, so that the path is visible to all of them.
            // SAFETY: all threads of the block claim the path.
            unsafe { lane.barrier() };
            (self.stm).team_of_block(lane, |tx| self.claim_as_team(lane, tx, request, path))
        } else {
            // SAFETY: all lanes of the block's one warp claim the path.
            unsafe { lane.sync_warp(lane.warp_mask()) };
            (self.stm).team(lane, |tx| self.claim_as_team(lane, tx, request, path))
        };
        match claimed {
            Ok(()) => SETTLED,
            // The path met another one, or was given up after too many conflicts.
            Err(Abort::User { .. }) => AGAIN,
            Err(abort) if abort.is_conflict() => AGAIN,
            Err(_) => STOP,
        }
    }
}

#[stm_core::inlined]
impl<A: Algorithm, const BY_BLOCK: bool> Transactions<'_, A, BY_BLOCK> {
    fn claim_alone<L: Lane>(&self, lane: &L, request: u32, path: Path) -> TxResult<()> {
        let (path, cells) = path;
        let grid = self.grid;
        let cell = |i: u32| {
            // SAFETY: below the length that `trace` wrote.
            u64::from(unsafe { lane.private_load_32(path.wrapping_add(i as usize)) })
        };
        let last = cells - 1;
        // The ends belong to the request until a path takes them.
        let open = |i: u32, found: u32| found == if i == 0 || i == last { RESERVED } else { FREE };
        self.stm.atomically(lane, |tx| {
            let mut i = 0;
            while i < cells {
                let mut free = true;
                if cells - i >= BATCH {
                    let at: [u64; BATCH as usize] = core::array::from_fn(|j| cell(i + j as u32));
                    let found = tx.read_many(grid, at)?;
                    for (j, found) in (0..).zip(found) {
                        free &= open(i + j, found);
                    }
                    i += BATCH;
                } else {
                    free = open(i, tx.read(grid, cell(i))?);
                    i += 1;
                }
                if !free {
                    return tx.cancel();
                }
            }
            for i in 0..cells {
                tx.write(grid, cell(i), cell_of_path(request))?;
            }
            Ok(())
        })
    }

    /// Claims the path by the lanes of a team; neighbouring lanes have neighbouring cells.
    fn claim_as_team<L: Lane, C: Crew>(
        &self,
        lane: &L,
        tx: &mut TeamTx<'_, L, A, C>,
        request: u32,
        (path, cells): Path,
    ) -> TxResult<()> {
        let grid = self.grid;
        let cell = |i: u32| {
            // SAFETY: below the length that `trace` wrote.
            u64::from(unsafe { lane.load_relaxed_32(path.wrapping_add(i as usize)) })
        };
        let last = cells - 1;
        let (size, rank) = (tx.size(), tx.rank());
        let place = |first: u32, k: usize| {
            let i = first + k as u32 * size + rank;
            (i < cells).then_some(i)
        };
        let mut first = 0;
        while first < cells {
            let at: [_; TEAM_BATCH as usize] = core::array::from_fn(|k| place(first, k));
            let found = tx.read_many(grid, at.map(|i| i.map(cell)))?;
            let mut free = true;
            for (i, found) in at.into_iter().zip(found) {
                if let (Some(i), Some(found)) = (i, found) {
                    free &= found == if i == 0 || i == last { RESERVED } else { FREE };
                }
            }
            if !tx.all(free) {
                return tx.cancel();
            }
            first += TEAM_BATCH * size;
        }
        first = 0;
        while first < cells {
            let writes: [_; TEAM_BATCH as usize] =
                core::array::from_fn(|k| place(first, k).map(|i| (cell(i), cell_of_path(request))));
            tx.write_many(grid, writes)?;
            first += TEAM_BATCH * size;
        }
        Ok(())
    }
}
