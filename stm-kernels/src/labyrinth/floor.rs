//! LB with paths that are claimed in critical sections, by the routers of [`crate::labyrinth`].
//!
//! Thread 0 of a router claims its path: it loads the cells in batches, and writes them if all are free.

use crate::floor::{Guarded, Lock};
use crate::labyrinth::{
    AGAIN, Claims, FREE, LabyrinthWork, RESERVED, Router, SETTLED, STOP, cell_of_path,
};
use crate::prelude::*;
use crate::words::{Known, whole};

alone! {
    CriticalSection(Guarded<LabyrinthWork<Cgl>>) = critical_section
        ["critical_labyrinth", "lb" / "critical-section"];
}

/// The number of cells whose loads are in flight together.
const BATCH: u32 = 16;

struct Sections<'a> {
    lock: &'a Lock,
    grid: &'a TArray<u32>,
}

#[stm_core::inlined]
impl<L: Lane> Claims<L> for Sections<'_> {
    const BY_TEAMS: bool = false;

    fn cells(&self) -> u64 {
        self.grid.len()
    }

    fn peek(&self, lane: &L, cell: u32) -> Option<u32> {
        // Relaxed: any state of the cell will do, as the text of `labyrinth` explains; a section writes nothing
        // that does not stay.
        self.grid.peek(lane, cell.into())
    }

    fn concludes(&self, lane: &L) -> bool {
        lane.thread_index() == 0
    }

    fn claim(&self, lane: &L, request: u32, (path, cells): (*mut u32, u32)) -> u32 {
        let Some(grid) = whole(self.grid, 1) else {
            return STOP;
        };
        let last = cells - 1;
        // Of a batch that begins with cell `i`; the last one repeats the last cell to its end.
        let batch = |i: u32| -> [_; BATCH as usize] {
            core::array::from_fn(|j| {
                let i = (i + j as u32).min(last);
                // SAFETY: below the length of the path, which thread 0 has stored.
                let cell = unsafe { lane.private_load_32(path.wrapping_add(i as usize)) };
                (i, grid.nth(lane, cell))
            })
        };
        let drawn = batch(0);
        let claimed = self.lock.with(lane, 0, || {
            let (mut i, mut these) = (0, drawn);
            loop {
                // Relaxed, here and below: the lock orders it.
                let found = these.map(|(_, cell)| cell.load());
                let mut free = true;
                for ((i, _), found) in these.into_iter().zip(found) {
                    // The ends belong to the request until a path takes them.
                    free &= found == if i == 0 || i == last { RESERVED } else { FREE };
                }
                if !free {
                    return AGAIN;
                }
                i += BATCH;
                if i > last {
                    break;
                }
                these = batch(i);
            }
            (i, these) = (0, drawn);
            loop {
                for (_, cell) in these {
                    cell.store(cell_of_path(request));
                }
                i += BATCH;
                if i > last {
                    return SETTLED;
                }
                these = batch(i);
            }
        });
        // A fault has been recorded.
        claimed.unwrap_or(STOP)
    }
}

#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<LabyrinthWork<Cgl>>) {
    let claims = Sections {
        lock: &guarded.lock,
        grid: &guarded.work.grid,
    };
    Router::run(lane, &guarded.work.work, claims);
}
