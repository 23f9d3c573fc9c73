//! Step 4 of a router: claiming a path, by one thread or by a team.

use super::{BATCH, FREE, RESERVED, Router, cell_of_path};
use stm_core::algorithm::Algorithm;
use stm_core::{Abort, Crew, Lane, TeamTx, TxResult};

/// The number of cells of each lane of a team whose loads are in flight
/// together.
const TEAM_BATCH: u32 = 4;

impl<L: Lane, A: Algorithm, const BY_BLOCK: bool> Router<'_, L, A, BY_BLOCK> {
    /// Returns whether the calling thread takes part in steps 3 and 4: thread
    /// 0, the whole first warp, or the whole block.
    #[inline(always)]
    pub(super) fn concludes(&self) -> bool {
        if !A::TEAMS {
            self.lane.thread_index() == 0
        } else if BY_BLOCK {
            true
        } else {
            self.lane.warp_index() == 0
        }
    }

    /// Does step 4, called by the threads that conclude: the path that thread 0
    /// has traced becomes the request's, or nothing changes.
    #[inline(always)]
    pub(super) fn claim(&self, request: u32, path: *mut u32, cells: u32) -> TxResult<()> {
        let (lane, stm) = (self.lane, &self.p.stm);
        if !A::TEAMS {
            return self.claim_alone(request, path, cells);
        }
        // They meet first, so that the path is visible to all of them.
        if BY_BLOCK {
            // SAFETY: all threads of the block claim the path.
            unsafe { lane.barrier() };
            stm.team_of_block(lane, |tx| self.claim_as_team(tx, request, path, cells))
        } else {
            // SAFETY: all lanes of the block's one warp claim the path.
            unsafe { lane.sync_warp(lane.warp_mask()) };
            stm.team(lane, |tx| self.claim_as_team(tx, request, path, cells))
        }
    }

    /// Claims the path by thread 0.
    #[inline(always)]
    fn claim_alone(&self, request: u32, path: *mut u32, cells: u32) -> Result<(), Abort> {
        let (lane, grid) = (self.lane, &self.p.grid);
        let cell = |i: u32| {
            // SAFETY: below the length that `trace` wrote.
            u64::from(unsafe { lane.private_load_32(path.wrapping_add(i as usize)) })
        };
        let last = cells - 1;
        // The ends belong to the request until a path takes them.
        let open = |i: u32, found: u32| found == if i == 0 || i == last { RESERVED } else { FREE };
        self.p.stm.atomically(lane, |tx| {
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

    /// Claims the path by the lanes of a team; neighbouring lanes have
    /// neighbouring cells.
    #[inline(always)]
    fn claim_as_team<C: Crew>(
        &self,
        tx: &mut TeamTx<'_, L, A, C>,
        request: u32,
        path: *mut u32,
        cells: u32,
    ) -> TxResult<()> {
        let (lane, grid) = (self.lane, &self.p.grid);
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
