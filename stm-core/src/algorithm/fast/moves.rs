//! Entries that change their places: when an alternative ends, when a full set is compacted, and when
//! words that were read are released early.
//!
//! While an alternative is open, all its writes are in blind entries after those that were there
//! before (`EntrySet::target`). To undo it, these are removed, and the entries that it has read
//! move up. Their fields are unchanged, so they still say what was read. To keep it, the writes
//! move to the entries where they would be without it.

use crate::algorithm::fast::entries::{BLIND, Column, Entries, SHARES, WRITTEN, word_of};
use crate::algorithm::fast::entry_set::{EntrySet, OPEN};
use crate::tx::abort::Abort;
use stm_machine::{Lane, observe::Mutant};

impl EntrySet {
    /// Returns the hint of a set of `len` entries after an alternative: that of
    /// the one around it, if there is one.
    const fn hint_after(&self, len: u32) -> u32 {
        if self.is_open() { self.hint } else { len }
    }

    /// Begins an alternative, and returns the set as it was.
    #[inline(always)]
    pub(crate) fn save(&mut self) -> Self {
        let saved = *self;
        self.hint = OPEN | self.len;
        saved
    }

    /// Adds an entry that was further behind.
    #[inline(always)]
    fn append<L: Lane, const N: usize>(&mut self, at: Entries<'_, L, N>, fields: [u64; 3]) {
        let [entry, seen, value] = fields;
        // SAFETY: below the count that the set had.
        unsafe { at.store(self.len, entry, seen, value) };
        self.len += 1;
        self.blind += u32::from(entry & BLIND != 0);
        self.writes += u32::from(entry & WRITTEN != 0);
    }

    /// Ends the alternative that began at `saved`, and returns the set with its writes in the
    /// entries where they would be without it. So there is one written entry for each word when no
    /// alternative is open, which the commit demands of blind ones.
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
                let [entry, seen, value] = at.fields(i);
                if entry & BLIND != 0
                    && let Some(k) = kept.target(at, word_of(entry))
                {
                    let old = at.get(Column::Address, k);
                    kept.mark(at, k, old, value);
                } else {
                    kept.append(at, [entry, seen, value]);
                }
            }
        }
        kept.hint = saved.hint_after(kept.len);
        kept
    }

    /// Ends the alternative that began at `saved`, and returns the set without its writes.
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
            // SAFETY: below the count.
            let fields = unsafe { at.fields(i) };
            if fields[0] & BLIND == 0 {
                kept.append(at, fields);
            }
        }
        kept.hint = saved.hint_after(kept.len);
        kept
    }

    /// Removes duplicates from a set that is full: a word that was read twice, or read and then
    /// written elsewhere, has two entries, and keeps one. Errors: [`Abort::ReadStale`] if a word
    /// was seen differently by two reads.
    #[inline(never)]
    pub(super) fn compact<L: Lane, const N: usize>(
        self,
        at: Entries<'_, L, N>,
    ) -> Result<Self, Abort> {
        let mut kept = Self {
            words: self.words,
            written: self.written,
            ..Self::EMPTY
        };
        for i in 0..self.len {
            // SAFETY: below the count, as what is kept is.
            unsafe {
                let [entry, seen, value] = at.fields(i);
                let (written, first) = kept.find(at, word_of(entry));
                let Some(k) = written.or(first) else {
                    kept.append(at, [entry, seen, value]);
                    continue;
                };
                if at.get(Column::Seen, k) != seen {
                    return Err(Abort::ReadStale);
                }
                if entry & WRITTEN != 0 {
                    let old = at.get(Column::Address, k);
                    kept.mark(at, k, old, value);
                }
            }
        }
        kept.hint = kept.len;
        Ok(kept)
    }

    /// Returns the set without the entries from `from` up to, and without, `to`; those behind move
    /// up. It returns the set as it is if an alternative is open, whose savepoint counts entries,
    /// or if an entry from `from` on is written.
    ///
    /// Nothing validates the words any more (Herlihy, Luchangco, Moir and Scherer 2003). That is for
    /// walks along a structure that answer for their results by the words that they keep:
    /// `collections/list.rs` has the only one, and the argument. A released word still holds at the
    /// snapshot at which it was read, and no longer after an extension.
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
        let to = if Mutant::WitnessReleased.on(at.lane) {
            self.len
        } else {
            to
        };
        // No entry from `from` on is written, so the hint is still behind all that are.
        let mut kept = Self {
            len: from,
            hint: self.hint.min(from),
            ..self
        };
        for i in to..self.len {
            // SAFETY: below the count.
            kept.append(at, unsafe { at.fields(i) });
        }
        kept
    }
}
