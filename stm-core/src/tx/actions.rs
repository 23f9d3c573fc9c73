//! Deferred actions: operations on plain words that an attempt makes only once it has committed, or aborted.
//!
//! 1. *defer*: store the action in the lane's log of actions; the count is a register.
//! 2. *commit or abort*: the attempt ends, with everything that it publishes.
//! 3. *fence* (D1): whoever sees the effect of an action, and fences, sees what the transaction wrote.
//! 4. *execute*: the actions of a commit in order, of an abort in reverse, each by one relaxed operation.
//!
//! Invariants: an action is executed at most once, and once if its condition comes true and the launch is not
//! lost; an attempt executes the actions of one kind only.
//!
//! | bits of an action's first word | meaning |
//! | --- | --- |
//! | 63 | executed after an abort, else after a commit |
//! | 60..57 | the operation ([`Op`]) |
//! | 56..0 | the address of the word |
//!
//! The second word is the operand, the third the subject, which a fault names.

use crate::algorithm::prelude::*;
use crate::array::sums::{Addend, Summand};
use crate::memory::globals::{self, FaultRecord, Globals};
use crate::tx::team::{TeamTx, agree};
use crate::{array::pool::freed_twice, memory::logs::Actions};
use stm_machine::TArray;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    Commit = 0,
    Abort = 1,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Add32 = 0,
    AddFloat = 1,
    Add64 = 2,
    Store32 = 3,
    Store64 = 4,
    Or64 = 5,
    /// Clears the bits that are not in the operand of a 64-bit word.
    And64 = 6,
    /// Does [`Self::And64`]; a clear bit is the fault [`Abort::FreedTwice`], which names the subject.
    Release64 = 7,
    /// Does [`Self::And64`] on a word of a pool's bitmap; a clear bit is the fault [`Abort::BadNode`]. The
    /// subject is the number of the pool in the upper half and the name of the node in the lower one.
    FreeNode = 8,
}

const WHEN_SHIFT: u32 = 63;
const OP_SHIFT: u32 = 57;
const ADDRESS_MASK: u64 = (1 << OP_SHIFT) - 1;

/// An operation on an element of a plain array, for [`Tx::at_commit`] and [`Tx::at_abort`].
///
/// The operation is atomic by itself and relaxed: a thread that sees its effect, and fences, sees the
/// transaction's writes. It is no part of the transaction: between the commit and the action, others may see
/// one without the other. No transaction may read or write the array.
///
/// ```
/// use stm_core::prelude::*;
/// use stm_core::{Action, TArray};
///
/// /// Counts the transactions that have committed, in an array that none of them reads.
/// #[kernel]
/// pub fn announce<L: Lane, A: Algorithm>(
///     lane: &L, stm: &StmRef<A>, slots: &A::Array<u64>, ready: &TArray<u32>,
/// ) {
///     stm.for_each(lane, 0..slots.len(), |tx, i| {
///         tx.write(slots, i, i)?;
///         tx.at_commit(Action::add(ready, 0, 1))
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let slots = stm.array("slots", &[0u64; 30])?;
/// let ready = Buffer::zeroed(&cpu, 1, "ready")?;
/// announce::launch(&mut stm, Launch::new(1, 3), &slots, &ready)?;
/// assert_eq!(ready.download()?, [30u32]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Action {
    op: Op,
    address: u64,
    operand: u64,
    subject: u64,
    /// The index and the length, if the index is past the end.
    outside: Option<(u64, u64)>,
    /// It names an element as a view does, so it is neither `Send` nor `Sync`.
    element: PhantomData<*mut ()>,
}

#[stm_core_macros::inlined]
impl Action {
    fn new<T: Element>(array: &TArray<T>, i: u64, op: Op, operand: u64) -> Self {
        let inside = i < array.len();
        Self {
            op,
            address: if inside { array.at(i) as u64 } else { 0 },
            operand,
            subject: 0,
            outside: (!inside).then_some((i, array.len())),
            element: PhantomData,
        }
    }

    fn head(self, when: When) -> u64 {
        (when as u64) << WHEN_SHIFT | (self.op as u64) << OP_SHIFT | self.address & ADDRESS_MASK
    }

    /// Adds `n` to `array[i]`.
    pub fn add<T: Summand>(array: &TArray<T>, i: u64, n: T) -> Self {
        let op = match T::ADDED_AS {
            kind if kind == Addend::Wide as u32 => Op::Add64,
            kind if kind == Addend::Float as u32 => Op::AddFloat,
            _ => Op::Add32,
        };
        Self::new(array, i, op, n.to_bits64())
    }

    /// Stores `value` to `array[i]`.
    pub fn store<T: Element>(array: &TArray<T>, i: u64, value: T) -> Self {
        let op = if T::WIDE { Op::Store64 } else { Op::Store32 };
        Self::new(array, i, op, value.to_bits64())
    }

    /// Clears the taken bit of a node, to give back an allocated one, or to free one found taken.
    pub(crate) fn clear_node(word: *mut u64, bit: u32, freed: Option<u64>) -> Self {
        Self {
            op: freed.map_or(Op::And64, |_| Op::FreeNode),
            address: word as u64,
            operand: !(1 << bit),
            subject: freed.unwrap_or(0),
            outside: None,
            element: PhantomData,
        }
    }

    /// Sets `bits` in `array[i]`.
    pub fn set_bits(array: &TArray<u64>, i: u64, bits: u64) -> Self {
        Self::new(array, i, Op::Or64, bits)
    }

    /// Clears `bits` in `array[i]`.
    pub fn clear_bits(array: &TArray<u64>, i: u64, bits: u64) -> Self {
        Self::new(array, i, Op::And64, !bits)
    }

    /// Clears `bits` in `array[i]`, which must all be set: a clear one ends the launch with
    /// [`Error::FreedTwice`](crate::host::Error::FreedTwice), which names `subject`.
    pub fn release_bits(array: &TArray<u64>, i: u64, bits: u64, subject: u64) -> Self {
        Self {
            subject,
            ..Self::new(array, i, Op::Release64, !bits)
        }
    }
}

/// Executes the actions of a log from `from` up to `end` that belong to `when`. It is not inlined and takes
/// its arguments by value, so that the transaction stays in registers.
#[inline(never)]
fn execute<L: Lane>(
    lane: &L,
    actions: Actions,
    globals: *mut Globals,
    (from, end): (u32, u32),
    when: When,
    transaction: u64,
) {
    // ORDER(D1): the attempt before its actions.
    lane.fence();
    let mut done = 0;
    while done < end - from {
        let i = match when {
            When::Commit => from + done,
            When::Abort => end - 1 - done,
        };
        done += 1;
        // SAFETY: below the count, so this attempt stored it, in the lane's own column.
        let [head, operand, subject] =
            [0, 1, 2].map(|k| unsafe { lane.private_load_64(actions.word(lane, i, k)) });
        if head >> WHEN_SHIFT != when as u64 {
            continue;
        }
        let word = (head & ADDRESS_MASK) as *mut u64;
        let half = word.cast::<u32>();
        let op = head >> OP_SHIFT & 0xF;
        // SAFETY: an element of a live plain array, of this width (`Action::new`). Relaxed: D1 precedes.
        unsafe {
            match op {
                op if op == Op::Add32 as u64 => {
                    lane.fetch_add_relaxed_32(half, operand as u32);
                }
                op if op == Op::AddFloat as u64 => {
                    lane.add_relaxed_f32(half, f32::from_bits(operand as u32));
                }
                op if op == Op::Add64 as u64 => lane.add_relaxed_64(word, operand),
                op if op == Op::Store32 as u64 => lane.store_relaxed_32(half, operand as u32),
                op if op == Op::Store64 as u64 => lane.store_relaxed_64(word, operand),
                op if op == Op::Or64 as u64 => {
                    lane.fetch_or_relaxed_64(word, operand);
                }
                _ => {
                    let before = lane.fetch_and_relaxed_64(word, operand);
                    if op != Op::And64 as u64 && before | operand != u64::MAX {
                        let mut record = FaultRecord {
                            reason: Abort::FreedTwice as u32 + 1,
                            index: subject,
                            transaction,
                            ..FaultRecord::NONE
                        };
                        if op == Op::FreeNode as u64 {
                            record.reason = Abort::BadNode as u32 + 1;
                            record.index = freed_twice(before, operand, subject);
                            record.len = subject;
                        }
                        globals::fault(lane, globals, record);
                    }
                }
            }
        }
    }
}

/// Returns whether the first `end` actions of a log have one with this first word and operand, which come by
/// value, as an action would be in memory for the call.
#[inline(never)]
fn has_action<L: Lane>(lane: &L, actions: Actions, end: u32, head: u64, operand: u64) -> bool {
    let mut found = false;
    for i in 0..end {
        // SAFETY: below the count, so this attempt stored it, in the lane's own column.
        let there = [0, 1].map(|k| unsafe { lane.private_load_64(actions.word(lane, i, k)) });
        found |= there == [head, operand];
    }
    found
}

#[stm_core_macros::inlined]
impl<L: Lane, A: Algorithm> Tx<'_, L, A> {
    /// Adds an action to the log. Errors: [`Abort::ActionsFull`]; [`Abort::OutOfRange`] without a word.
    pub(crate) fn defer(&mut self, when: When, action: Action) -> TxResult<()> {
        self.not_failed()?;
        if let Some(outside) = action.outside {
            return self.fail_at(Abort::OutOfRange, outside);
        }
        let i = self.actions.count;
        if i >= self.logs.capacity.actions {
            return self.fail(Abort::ActionsFull);
        }
        let head = action.head(when);
        let words = [head, action.operand, action.subject];
        let log = self.logs.actions(self.lane);
        for (k, v) in words.into_iter().enumerate() {
            // SAFETY: below the capacity, in the lane's own column.
            unsafe {
                self.lane
                    .private_store_64(log.word(self.lane, i, k as u32), v);
            }
        }
        self.actions.count = i + 1;
        self.actions.ends |= 1 << when as u32;
        Ok(())
    }

    /// Executes `action` once the attempt has committed, after those passed before; nothing happens if it
    /// aborts. A full log of actions (`Capacity::actions`) is [`Abort::ActionsFull`].
    pub fn at_commit(&mut self, action: Action) -> TxResult<()> {
        self.defer(When::Commit, action)
    }

    /// Executes `action` once the attempt has aborted, for whatever reason, even if the transaction is
    /// attempted again, and before the actions passed earlier; nothing happens if it commits.
    pub fn at_abort(&mut self, action: Action) -> TxResult<()> {
        self.defer(When::Abort, action)
    }

    /// Returns whether the attempt has deferred the action of freeing this node already.
    pub(crate) fn will_free(&self, action: Action) -> bool {
        let head = action.head(When::Commit);
        let log = self.logs.actions(self.lane);
        self.actions.count != 0
            && has_action(self.lane, log, self.actions.count, head, action.operand)
    }

    pub(crate) fn end_actions(&mut self, committed: bool, transaction: u64) {
        let when = if committed { When::Commit } else { When::Abort };
        self.end_actions_from(0, when, transaction);
    }

    /// Implements [`Mutant::ActionBeforeCommit`]: executes the actions of a commit that is still to come.
    pub(crate) fn end_actions_early(&mut self) {
        if Mutant::ActionBeforeCommit.on(self.lane) {
            self.end_actions(true, 0);
        }
    }

    /// Executes the actions from `from` on that belong to `when`, and removes all of them from the log.
    pub(crate) fn end_actions_from(&mut self, from: u32, when: When, transaction: u64) {
        if self.actions.count != from {
            // Most commits that allocate have only actions for an abort.
            if self.actions.ends >> when as u32 & 1 != 0 {
                let range = (from, self.actions.count);
                let (log, globals) = (self.logs.actions(self.lane), self.stm.globals);
                execute(self.lane, log, globals, range, when, transaction);
            }
            self.actions.count = from;
        }
    }
}

#[stm_core_macros::inlined]
impl<L: Lane, A: Algorithm, C: Crew> TeamTx<'_, L, A, C> {
    fn defer(&mut self, when: When, action: Option<Action>) -> TxResult<()> {
        self.tx.not_failed()?;
        self.deferred = true;
        let mine = action.map_or(Ok(()), |action| self.tx.defer(when, action));
        let result = agree(&mut self.tx, self.crew, mine);
        self.tx.checked(result)
    }

    /// Executes the calling lane's `action`, if there is one, once the attempt has committed
    /// ([`Tx::at_commit`]). Those of one lane have their order, those of different lanes none.
    pub fn at_commit(&mut self, action: Option<Action>) -> TxResult<()> {
        self.defer(When::Commit, action)
    }

    /// Executes the calling lane's `action` once the attempt has aborted ([`Tx::at_abort`]).
    pub fn at_abort(&mut self, action: Option<Action>) -> TxResult<()> {
        self.defer(When::Abort, action)
    }
}
