//! Accesses of lanes alone and of teams; sums, lists, and nodes of a pool, each of which a word names, of
//! lanes alone.

use super::run::{Item, Run, Write};
use crate::program::case::{Act, Op, together};
use stm_core::algorithm::Algorithm;
use stm_core::internal::Crew;
use stm_core::{Element, Lane, Node, Summand, TSums, TeamTx, Tx, TxResult};

/// Returns where a sum is: its row, and its number there.
fn place<T: Summand>(sums: &TSums<T>, sum: u8) -> (u64, u32) {
    let (sum, row) = (u32::from(sum), sums.row_len());
    ((sum / row).into(), sum % row)
}

#[inline(never)]
fn read_sums<L: Lane, A: Algorithm, T: Summand>(
    tx: &mut Tx<'_, L, A>,
    sums: &TSums<T>,
    list: &[u8],
) -> TxResult<[u64; 3]> {
    let mut found = [0; 3];
    let (row, first) = place(sums, list[0]);
    // No more than there are: the read of a plain word is an event.
    match list.len() {
        2 if together(sums.row_len(), list) => {
            let both = tx.read_sum_many::<T, 2>(sums, row, first, 2)?;
            found[..2].copy_from_slice(&both.map(T::to_bits64));
        }
        3 if together(sums.row_len(), list) => {
            let all = tx.read_sum_many::<T, 3>(sums, row, first, 3)?;
            found = all.map(T::to_bits64);
        }
        _ => {
            for (&sum, found) in list.iter().zip(&mut found) {
                let (row, column) = place(sums, sum);
                *found = tx.read_sum(sums, row, column)?.to_bits64();
            }
        }
    }
    Ok(found)
}

#[inline(never)]
fn add<L: Lane, A: Algorithm, T: Summand>(
    tx: &mut Tx<'_, L, A>,
    sums: &TSums<T>,
    sum: u8,
    deltas: [u64; 2],
    count: u32,
) -> TxResult<()> {
    let (row, column) = place(sums, sum);
    let deltas = deltas.map(T::from_bits64);
    // No more than there are: the read of a plain word is an event.
    if count == 1 {
        return tx.add(sums, row, column, deltas[0]);
    }
    tx.add_many(sums, row, column, deltas, count)
}

fn some<T: Element, const N: usize>(values: [Option<T>; N]) -> [Option<u64>; 3] {
    let mut all = [None; 3];
    let bits = values.map(|value| value.map(T::to_bits64));
    all[..N].copy_from_slice(&bits);
    all
}

/// The transaction of a lane alone, or that of a team as one of its lanes has it. Each lane accesses the words
/// that belong to it, and all lanes learn the value last read.
pub(super) enum Access<'t, 'l, L: Lane, A: Algorithm, C: Crew> {
    Alone(&'t mut Tx<'l, L, A>),
    Team(&'t mut TeamTx<'l, L, A, C>),
}

impl<L: Lane, A: Algorithm, C: Crew> Access<'_, '_, L, A, C> {
    /// Reads one to three words of one width together, those that are the lane's.
    #[inline(never)]
    pub(super) fn read_words<T: Element>(
        &mut self,
        run: &Run<'_, A>,
        array: &A::Array<T>,
        words: &[u8],
    ) -> TxResult<[Option<u64>; 3]> {
        let own = [0, 1, 2].map(|i| words.get(i).and_then(|&word| run.own(word)));
        let at = |i: usize| u64::from(words[i]);
        Ok(match (self, words.len()) {
            (Self::Team(tx), _) => some(tx.read_many(array, own)?),
            (Self::Alone(tx), 1) => some(tx.read_many(array, [at(0)])?.map(Some)),
            (Self::Alone(tx), 2) => some(tx.read_many(array, [at(0), at(1)])?.map(Some)),
            (Self::Alone(tx), _) => some(tx.read_many(array, [at(0), at(1), at(2)])?.map(Some)),
        })
    }

    /// Writes one or two words of one width together, in ascending order.
    #[inline(never)]
    pub(super) fn write_words<T: Element>(
        &mut self,
        run: &Run<'_, A>,
        array: &A::Array<T>,
        values: &[Write],
    ) -> TxResult<()> {
        let own = [0, 1].map(|i| {
            let &(word, value) = values.get(i)?;
            Some((run.own(word)?, T::from_bits64(value)))
        });
        match (self, own) {
            (Self::Team(tx), own) => tx.write_many(array, own),
            (Self::Alone(tx), [Some((a, v)), Some((b, w))]) => {
                tx.write_many(array, [a, b], [v, w], 2)
            }
            (Self::Alone(tx), [one, _]) => one.map_or(Ok(()), |(at, v)| tx.write(array, at, v)),
        }
    }

    /// Does an operation of lanes alone, or two together. Teams have none (`Program::check`).
    pub(super) fn operation(&mut self, run: &Run<'_, A>, ops: &[Op]) -> TxResult<()> {
        let (params, program) = (run.params, &run.params.case.program);
        match (&ops[0], &mut *self) {
            (Op::ReadSums(list), Self::Alone(tx)) => {
                let found = if program.sums_are_wide() {
                    read_sums(tx, &params.wide_sums, list)?
                } else {
                    read_sums(tx, &params.narrow_sums, list)?
                };
                for (&sum, &value) in list.iter().zip(&found) {
                    let at = program.initial.len() + usize::from(sum);
                    run.tell(|watch, leader| watch.read(leader, at, value));
                    run.last.set(value);
                }
                run.any.set(run.any.get() | run.last.get());
            }
            (Op::Add(..), Self::Alone(tx)) => {
                let ([(sum, first), (_, second)], count) = run.values(ops);
                let deltas = [first, second];
                if program.sums_are_wide() {
                    add(tx, &params.wide_sums, sum, deltas, count as u32)?;
                } else {
                    add(tx, &params.narrow_sums, sum, deltas, count as u32)?;
                }
                let first = program.initial.len() + usize::from(sum);
                for at in first..first + count {
                    run.tell(|watch, leader| watch.wrote(leader, at));
                }
            }
            (Op::Act(act @ (Act::Insert | Act::Remove), node), _) => {
                self.relink(run, *node, *act == Act::Insert)?;
            }
            (Op::Act(act, word), _) => self.node(run, *word, *act)?,
            // `block` has them.
            _ => {}
        }
        Ok(())
    }

    fn relink(&mut self, run: &Run<'_, A>, node: u8, inserts: bool) -> TxResult<()> {
        let mut before = 0;
        // To the first node that is not before it, or to where the list is not sorted.
        let found = loop {
            let next = self.look(run, before)? as u8;
            if next == 0 || next >= node || next <= before {
                break next;
            }
            before = next;
        };
        if (found == node) == inserts {
            return Ok(());
        }
        let mut next = node;
        if inserts {
            self.write(run, &[(node, found.into())])?;
        } else {
            next = self.look(run, node)? as u8;
        }
        self.write(run, &[(before, next.into())])?;
        run.tell(|watch, _| watch.changed(run.number, node, inserts));
        Ok(())
    }

    fn node(&mut self, run: &Run<'_, A>, word: u8, act: Act) -> TxResult<()> {
        let node = Node::from_bits(self.look(run, word)? as u32);
        let Self::Alone(tx) = self else { return Ok(()) };
        let nodes = &run.params.nodes;
        let both = |owner: u32, writer: u32| u64::from(owner) << 32 | u64::from(writer);
        let (owner, writer) = (u32::from(word) + 1, run.number as u32 + 1);
        let item = Item {
            owner,
            both: both(owner, writer),
            writer,
        };
        let is_nil = node.is_nil();
        if !is_nil {
            let found = tx.read_node(nodes, node)?;
            if found.owner != owner || found.both != both(owner, found.writer) {
                let (owner, both, writer) = (found.owner, found.both, found.writer);
                let what = format!("the node of word {word} has {owner}, {both:#x} and {writer}");
                run.tell(|watch, _| watch.broken(what));
            }
        }
        let frees = matches!(act, Act::Toggle | Act::Replace) && !is_nil;
        let allocates = act == Act::Replace || act == Act::Toggle && is_nil;
        if frees {
            tx.free(nodes.pool(), node)?;
        }
        if allocates {
            let new = tx.alloc_record(nodes, item)?;
            self.write(run, &[(word, new.bits().into())])?;
        } else if frees {
            self.write(run, &[(word, 0)])?;
        } else if act == Act::Update && !is_nil {
            tx.write_node(nodes, node, item)?;
        }
        Ok(())
    }
}
