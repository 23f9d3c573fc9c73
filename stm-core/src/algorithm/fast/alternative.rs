//! Alternatives in the sets: while one is open, all its writes are in blind entries after those that were
//! there before (`EntrySet::target`). To undo it, these are removed, and the entries that it has read move
//! up. To keep it, the writes move to the entries where they would be without it.

use crate::algorithm::fast::entries::{BLIND, Column, Entries, WRITTEN, word_of};
use crate::algorithm::fast::entry_set::{EntrySet, OPEN};
use stm_machine::{Lane, observe::Mutant};

impl EntrySet {
    /// Returns the hint of a set of `len` entries after an alternative: that of
    /// the one around it, if there is one.
    const fn hint_after(&self, len: u32) -> u32 {
        if self.is_open() { self.hint } else { len }
    }

    #[inline(always)]
    pub(crate) fn save(&mut self) -> Self {
        let saved = *self;
        self.hint = OPEN | self.len;
        saved
    }

    /// Ends the alternative that began at `saved`, and returns the set with its writes where they would be
    /// else: so there is one written entry for each word when none is open, as the commit demands.
    #[inline(never)]
    pub(crate) fn keep<L: Lane, const N: usize>(self, at: Entries<'_, L, N>, saved: Self) -> Self {
        if self.writes == saved.writes {
            return Self {
                hint: saved.hint_after(self.len),
                ..self
            };
        }
        let mut kept = Self {
            words: self.words,
            written: self.written,
            ..saved
        };
        for i in saved.len..self.len {
            // SAFETY: below the count, as what is kept is.
            unsafe {
                let [entry, seen, value] =
                    [Column::Address, Column::Seen, Column::Value].map(|column| at.get(column, i));
                if entry & BLIND != 0
                    && let Some(k) = kept.target(at, word_of(entry))
                {
                    let old = at.get(Column::Address, k);
                    kept.mark(at, k, old, value);
                    continue;
                }
                at.store(kept.len, entry, seen, value);
                kept.len += 1;
                kept.blind += u32::from(entry & BLIND != 0);
                kept.writes += u32::from(entry & WRITTEN != 0);
            }
        }
        kept.hint = saved.hint_after(kept.len);
        kept
    }

    #[inline(never)]
    pub(crate) fn undo<L: Lane, const N: usize>(self, at: Entries<'_, L, N>, saved: Self) -> Self {
        if Mutant::OrElseKeepsWrites.on(at.lane) {
            return self.keep(at, saved);
        }
        let mut kept = Self {
            words: self.words,
            ..saved
        };
        for i in saved.len..self.len {
            // SAFETY: below the count, as what is kept is.
            unsafe {
                let [entry, seen, value] =
                    [Column::Address, Column::Seen, Column::Value].map(|column| at.get(column, i));
                if entry & BLIND == 0 {
                    at.store(kept.len, entry, seen, value);
                    kept.len += 1;
                }
            }
        }
        kept.hint = saved.hint_after(kept.len);
        kept
    }
}
