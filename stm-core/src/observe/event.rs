//! The events that a transaction reports to its probe, for the opacity checker of `verify`.
//!
//! With a recorder, each lane appends its transactions' events to its own buffer, in the
//! layout of [`crate::observe::history_layout`].
//!
//! On a GPU and on a CPU, observation changes the memory order: the clock in the begin and end events is
//! loaded with acquire ([`Lane::observed_clock`](crate::Lane::observed_clock)), which can hide that the
//! protocol itself lacks one. A history recorded there proves nothing about the acquire at the begin of
//! an attempt (E1, F1, S1). The simulator of `verify` answers that load from outside of its memory
//! model, so there a recorded run is the silent run.

use crate::{memory::version::Version, observe::history_layout as layout, tx::abort::Abort};
use stm_machine::{WordAddress, observe::LogRecord};

/// An event of an attempt.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The attempt begins; the value is the clock before its first action.
    Begin(Version),
    /// A read from memory returned this value.
    Read(WordAddress, u64),
    /// A write was accepted.
    Write(WordAddress, u64),
    /// An addition was accepted.
    Add(WordAddress, u64),
    /// An addition of floats was accepted. The resulting value is not recorded,
    /// as it depends on the order of the additions.
    AddFloat(WordAddress),
    /// The last writes and additions that were accepted, this many, are undone.
    Undo(u64),
    /// An update of the transaction with this number committed with this
    /// version; the last value is the clock afterwards.
    Commit(u64, Version, Version),
    /// The attempt at the transaction with this number committed without writes;
    /// the last value is the clock afterwards.
    CommitReadOnly(u64, Version),
    /// The attempt at the transaction with this number ended without effect; the
    /// last value is the clock afterwards.
    Abort(u64, Abort, Version),
}

#[stm_core_macros::inlined]
impl Event {
    pub(crate) fn record(self) -> LogRecord {
        let (tag, operand, words) = match self {
            Event::Begin(clock) => (layout::BEGIN, 0, [clock.0, 0]),
            Event::Read(word, value) => (layout::READ, word.bits(), [value, 0]),
            Event::Write(word, value) => (layout::WRITE, word.bits(), [value, 0]),
            Event::Add(word, delta) => (layout::ADD, word.bits(), [delta, 0]),
            Event::AddFloat(word) => (layout::ADD_FLOAT, word.bits(), [0; 2]),
            Event::Undo(count) => (layout::UNDO, 0, [count, 0]),
            Event::Commit(transaction, version, clock) => {
                let number = layout::number(transaction);
                (layout::COMMIT, number, [version.0, clock.0])
            }
            Event::CommitReadOnly(transaction, clock) => {
                let number = layout::number(transaction);
                (layout::COMMIT_READ_ONLY, number, [clock.0, 0])
            }
            Event::Abort(transaction, reason, clock) => {
                let operand = layout::number(transaction) << layout::REASON_BITS | reason as u64;
                (layout::ABORT, operand, [clock.0, 0])
            }
        };
        let words = [layout::head(tag, operand), words[0], words[1]];
        let len = if tag == layout::COMMIT { 3 } else { 2 };
        LogRecord { words, len }
    }
}
