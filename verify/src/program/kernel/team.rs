//! The transactions that teams run.

use super::{Access, Params, Part, transaction};
use crate::program::case::Op;
use std::ops::Range;
use stm_core::algorithm::Algorithm;
use stm_core::{Crew, Element, Lane, TeamTx, TxResult};

impl<L: Lane, A: Algorithm, C: Crew> Access<A> for TeamTx<'_, L, A, C> {
    #[inline(never)]
    fn read_words<T: Element>(
        &mut self,
        words: &A::Array<T>,
        at: &[Option<u64>],
        found: &mut [Option<u64>],
    ) -> TxResult<()> {
        let mut put = |values: &[Option<T>]| {
            for (to, value) in found.iter_mut().zip(values) {
                *to = value.map(Element::to_bits64);
            }
        };
        match *at {
            [a] => put(&[self.read(words, a)?]),
            [a, b] => put(&self.read_many(words, [a, b])?),
            [a, b, c] => put(&self.read_many(words, [a, b, c])?),
            _ => {}
        }
        Ok(())
    }

    #[inline(never)]
    fn write_words<T: Element>(
        &mut self,
        words: &A::Array<T>,
        writes: [Option<(u64, u64)>; 2],
        count: u32,
    ) -> TxResult<()> {
        let writes = writes.map(|write| write.map(|(at, value)| (at, T::from_bits64(value))));
        if count == 1 {
            return self.write(words, writes[0]);
        }
        self.write_many(words, writes)
    }

    fn either(
        &mut self,
        first: impl FnOnce(&mut Self) -> TxResult<()>,
        second: impl FnOnce(&mut Self) -> TxResult<()>,
    ) -> TxResult<()> {
        self.or_else(first, second)
    }

    fn give_up(&mut self) -> TxResult<()> {
        self.retry()
    }

    fn lanes(&self) -> (u32, u32) {
        (self.size(), self.rank())
    }

    fn told(&self, place: u32, value: u64) -> u64 {
        self.told_by(place, value)
    }

    /// Teams have no such operations (`Program::check`).
    fn alone(_: &mut Part<'_, '_, Self, A>, _: &Op, _: Option<&Op>) -> TxResult<bool> {
        Ok(false)
    }
}

/// Runs one transaction by a team.
fn by_team<L: Lane, A: Algorithm, C: Crew>(
    tx: &mut TeamTx<'_, L, A, C>,
    params: &Params<A>,
    i: u64,
) -> TxResult<()> {
    let lane = tx.lane().grid_thread();
    let leader = lane - u64::from(tx.rank());
    transaction(tx, params, params.launch.0 + i as usize, (lane, leader))
}

/// Runs all transactions by teams of warps. The constant keeps an algorithm
/// without teams from compiling what it cannot run.
pub(super) fn of_warps<L: Lane, A: Algorithm>(lane: &L, params: &Params<A>, range: Range<u64>) {
    if A::TEAMS {
        let stm = &params.stm;
        stm.for_each_team(lane, range, |tx, i| by_team(tx, params, i));
    }
}

/// Runs all transactions by teams of blocks, under the same condition.
pub(super) fn of_blocks<L: Lane, A: Algorithm>(lane: &L, params: &Params<A>, range: Range<u64>) {
    if A::TEAMS {
        let stm = &params.stm;
        stm.for_each_block_team(lane, range, |tx, i| by_team(tx, params, i));
    }
}
