//! Early release: words that were read leave the set again, so that nothing validates them (Herlihy,
//! Luchangco, Moir and Scherer 2003). It is for walks that answer for their results by the words that they
//! keep, as in `collections/list.rs`. A released word holds at the snapshot of its read only.

use crate::algorithm::fast::entries::{BLIND, Column, Entries, SHARES, WRITTEN};
use crate::algorithm::fast::entry_set::EntrySet;
use stm_machine::{Lane, observe::Mutant};

impl EntrySet {
    /// Returns the set without the entries from `from` up to `to`; those behind move up. It is the set as it
    /// is if an alternative is open, whose savepoint counts entries, or an entry from `from` on is written.
    #[inline(never)]
    pub(crate) fn release<L: Lane, const N: usize>(
        self,
        at: Entries<'_, L, N>,
        from: u32,
        to: u32,
    ) -> Self {
        if self.is_open() || from >= to || to > self.len {
            return self;
        }
        for i in from..self.len {
            // SAFETY: below the count.
            let entry = unsafe { at.get(Column::Address, i) };
            if entry & (WRITTEN | BLIND | SHARES) != 0 {
                return self;
            }
        }
        let mut kept = from;
        let to = if Mutant::WitnessReleased.on(at.lane) {
            self.len
        } else {
            to
        };
        for i in to..self.len {
            // SAFETY: below the count, as what is kept is.
            unsafe {
                let [entry, seen, value] =
                    [Column::Address, Column::Seen, Column::Value].map(|column| at.get(column, i));
                at.store(kept, entry, seen, value);
            }
            kept += 1;
        }
        Self {
            len: kept,
            // No entry from `from` on is written, so the hint is still behind all that are.
            hint: self.hint.min(from),
            ..self
        }
    }
}
