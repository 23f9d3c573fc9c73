//! The transactions that teams run.

use super::{Params, stretches};
use crate::program::case::{Op, Value};
use std::ops::Range;
use stm_core::algorithm::Algorithm;
use stm_core::{Crew, Element, Lane, TeamTx, TxResult};

/// Reads words of one width as a team, each lane those that are its own.
#[inline(never)]
fn team_read<L: Lane, A: Algorithm, C: Crew, T: Element>(
    tx: &mut TeamTx<'_, L, A, C>,
    words: &A::Array<T>,
    list: &[u8],
    own: impl Fn(u8) -> Option<u64>,
    found: &mut [Option<u64>],
) -> TxResult<()> {
    let mut put = |values: &[Option<T>]| {
        for (to, value) in found.iter_mut().zip(values) {
            *to = value.map(Element::to_bits64);
        }
    };
    match *list {
        [a] => put(&[tx.read(words, own(a))?]),
        [a, b] => put(&tx.read_many(words, [own(a), own(b)])?),
        [a, b, c] => put(&tx.read_many(words, [own(a), own(b), own(c)])?),
        _ => {}
    }
    Ok(())
}

/// Writes one word as a team, or two together.
#[inline(never)]
fn team_write<L: Lane, A: Algorithm, C: Crew, T: Element>(
    tx: &mut TeamTx<'_, L, A, C>,
    words: &A::Array<T>,
    writes: [Option<(u64, u64)>; 2],
    count: u32,
) -> TxResult<()> {
    let writes = writes.map(|write| write.map(|(at, value)| (at, T::from_bits64(value))));
    if count == 1 {
        return tx.write(words, writes[0]);
    }
    tx.write_many(words, writes)
}

/// Runs one transaction by a team. Each lane accesses the words that belong to
/// it, and all lanes learn the value last read.
#[inline(never)]
fn team_body<L: Lane, A: Algorithm, C: Crew>(
    lane: &L,
    tx: &mut TeamTx<'_, L, A, C>,
    params: &Params<A>,
    number: usize,
) -> TxResult<()> {
    let (size, rank) = (tx.size(), tx.rank());
    let own = |word: u8| (u32::from(word) % size == rank).then_some(u64::from(word));
    let program = params.program.get();
    let watch = params.program.watch();
    let leader = lane.grid_thread() - u64::from(rank);
    if let Some(watch) = watch {
        watch.begin(lane.grid_thread(), leader, number);
    }
    let (mut last, mut any) = (0, 0);
    let mut ops = program.transactions[number].iter().peekable();
    while let Some(op) = ops.next() {
        match op {
            Op::Read(list) => {
                let list = list.as_slice();
                let mut found = [None; 3];
                stretches(program, list, |wide, part| {
                    let (list, found) = (&list[part.clone()], &mut found[part]);
                    if wide {
                        team_read(tx, &params.wide, list, own, found)
                    } else {
                        team_read(tx, &params.narrow, list, own, found)
                    }
                })?;
                if let Some(watch) = watch {
                    for (&word, value) in list.iter().zip(found) {
                        value.map(|value| watch.read(leader, word.into(), value));
                    }
                }
                let newest = list.last().map_or(0, |&w| u32::from(w) % size);
                last = tx.told_by(newest, found[list.len() - 1].unwrap_or(0));
                any |= last;
            }
            Op::Write(word, value) => {
                let write =
                    |word: u8, value: &Value| own(word).map(|at| (at, value.after(last, any)));
                let mut writes = [write(*word, value), None];
                let mut count = 1;
                if let Some(Op::Write(next, after)) = ops.peek()
                    && word < next
                    && program.is_wide(*word) == program.is_wide(*next)
                {
                    writes[1] = write(*next, after);
                    count = 2;
                    ops.next();
                }
                if program.is_wide(*word) {
                    team_write(tx, &params.wide, writes, count)?;
                } else {
                    team_write(tx, &params.narrow, writes, count)?;
                }
                if let Some(watch) = watch {
                    for (at, _) in writes.into_iter().flatten() {
                        watch.wrote(leader, at as usize);
                    }
                }
            }
            // Teams have none of these (`Program::check`).
            Op::Add(..)
            | Op::ReadSums(_)
            | Op::Insert(_)
            | Op::Remove(_)
            | Op::Put(_)
            | Op::Take(_)
            | Op::Node(..) => {}
        }
    }
    Ok(())
}

/// Runs all transactions by teams of warps. The constant keeps an algorithm
/// without teams from compiling what it cannot run.
pub(super) fn of_warps<L: Lane, A: Algorithm>(lane: &L, params: &Params<A>, range: Range<u64>) {
    if A::TEAMS {
        params.stm.for_each_team(lane, range, |tx, i| {
            team_body(lane, tx, params, params.launch.0 + i as usize)
        });
    }
}

/// Runs all transactions by teams of blocks, under the same condition.
pub(super) fn of_blocks<L: Lane, A: Algorithm>(lane: &L, params: &Params<A>, range: Range<u64>) {
    if A::TEAMS {
        params.stm.for_each_block_team(lane, range, |tx, i| {
            team_body(lane, tx, params, params.launch.0 + i as usize)
        });
    }
}
