//! Bounded queues between transactions that wait.

use crate::prelude::*;
use stm_core::host::TxArray;
use stm_core::internal::Crew;
use stm_core::{Action, TArray, TeamTx};

/// The memory of two queues.
pub(crate) struct World {
    pub(crate) ends: TxArray<Sim, u32>,
    items: TxArray<Sim, u64>,
    pub(crate) tally: Buffer<Sim, u64>,
    places: u64,
}

impl World {
    pub(crate) fn new<A: Algorithm>(sim: &Sim, places: u64) -> Self {
        Self {
            ends: array::<A, u32, _>(sim, &[0; 4], "ends"),
            items: array::<A, u64, _>(sim, &vec![0; 2 * places as usize], "items"),
            tally: Buffer::zeroed(sim, 2, "tally").unwrap(),
            places,
        }
    }

    pub(crate) fn queues<A: Algorithm>(&self) -> Queues<A> {
        Queues {
            ends: self.ends.view::<A>(),
            items: self.items.view::<A>(),
            tally: self.tally.tarray(),
            places: self.places,
        }
    }
}

/// Two queues, either of which will do, between the threads of a launch.
pub(crate) struct Queues<A: Algorithm> {
    /// Head and tail of each queue.
    pub(crate) ends: A::Array<u32>,
    pub(crate) items: A::Array<u64>,
    /// The sum of the items taken, and a number for other kernels.
    pub(crate) tally: TArray<u64>,
    places: u64,
}

impl<A: Algorithm> Queues<A> {
    fn put<L: Lane>(&self, tx: &mut Tx<'_, L, A>, queue: u64, item: u64) -> TxResult<u64> {
        // An attempt that writes first, so that there is something to undo.
        let tail = tx.read(&self.ends, 2 * queue + 1)?;
        let place = queue * self.places + u64::from(tail) % self.places;
        tx.write(&self.items, place, item)?;
        tx.write(&self.ends, 2 * queue + 1, tail + 1)?;
        let head = tx.read(&self.ends, 2 * queue)?;
        if u64::from(tail - head) == self.places {
            return tx.retry();
        }
        Ok(0)
    }

    pub(crate) fn take<L: Lane>(&self, tx: &mut Tx<'_, L, A>, queue: u64) -> TxResult<u64> {
        let head = tx.read(&self.ends, 2 * queue)?;
        tx.write(&self.ends, 2 * queue, head + 1)?;
        if tx.read(&self.ends, 2 * queue + 1)? == head {
            return tx.retry();
        }
        let place = queue * self.places + u64::from(head) % self.places;
        tx.read(&self.items, place)
    }

    /// Even transactions put an item into a queue, odd ones take one out.
    pub(crate) fn turn<L: Lane>(&self, tx: &mut Tx<'_, L, A>, i: u64) -> TxResult<u64> {
        let at = |tx: &mut Tx<'_, L, A>, queue| {
            if i.is_multiple_of(2) {
                self.put(tx, queue, i / 2 + 1)
            } else {
                self.take(tx, queue)
            }
        };
        tx.or_else(|tx| at(tx, 0), |tx| at(tx, 1))
    }

    fn tell<L: Lane>(&self, lane: &L, item: u64) {
        // SAFETY: an element of a live array, which lanes alone access.
        unsafe { lane.add_relaxed_64(self.tally.get(0).unwrap(), item) };
    }

    /// Sends so many items by transactions in rounds, in which the warps of a block may go in step.
    pub(crate) fn rounds<L: Lane>(&self, lane: &L, stm: &StmRef<A>, items: u64, in_step: bool) {
        stm.loops(lane)
            .in_step_if(in_step)
            .with(|_, item| self.tell(lane, item), |_, _| {})
            .each(0..2 * items, |tx, i| self.turn(tx, i));
    }

    pub(crate) fn alone<L: Lane>(&self, lane: &L, stm: &StmRef<A>, items: u64) {
        let (thread, threads) = (lane.grid_thread(), lane.grid_threads());
        for i in (thread..2 * items).step_by(threads as usize) {
            match stm.atomically(lane, |tx| self.turn(tx, i)) {
                Ok(item) => self.tell(lane, item),
                Err(_) => return,
            }
        }
    }

    pub(crate) fn teams<L: Lane>(&self, lane: &L, stm: &StmRef<A>, items: u64) {
        stm.for_each_team(lane, 0..2 * items, |tx, i| {
            let item = tx.or_else(|tx| self.team(tx, i, 0), |tx| self.team(tx, i, 1))?;
            let leads = tx.rank() == 0;
            tx.at_commit(leads.then(|| Action::add(&self.tally, 0, item)))
        });
    }

    /// Puts into one queue or takes from it, by a team: returns the item taken. Lane 0 has the
    /// head, the last lane the tail.
    fn team<L: Lane, C: Crew>(
        &self,
        tx: &mut TeamTx<'_, L, A, C>,
        i: u64,
        queue: u64,
    ) -> TxResult<u64> {
        let (head_at, tail_at) = (2 * queue, 2 * queue + 1);
        let last = tx.size() - 1;
        let (first, end) = (tx.rank() == 0, tx.rank() == last);
        let head = tx.read(&self.ends, first.then_some(head_at))?;
        let tail = tx.read(&self.ends, end.then_some(tail_at))?;
        let head = tx.told_by(0, head.unwrap_or(0).into());
        let tail = tx.told_by(last, tail.unwrap_or(0).into());
        if i.is_multiple_of(2) {
            let place = queue * self.places + tail % self.places;
            tx.write(&self.items, end.then_some((place, i / 2 + 1)))?;
            tx.write(&self.ends, end.then_some((tail_at, tail as u32 + 1)))?;
            if tail - head == self.places {
                return tx.retry();
            }
            Ok(0)
        } else {
            tx.write(&self.ends, first.then_some((head_at, head as u32 + 1)))?;
            if tail == head {
                return tx.retry();
            }
            let place = queue * self.places + head % self.places;
            let item = tx.read(&self.items, first.then_some(place))?;
            Ok(tx.told_by(0, item.unwrap_or(0)))
        }
    }
}
