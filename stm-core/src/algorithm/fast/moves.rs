//! What moves the entries of a set to other places.
//!
//! *Alternatives*: while one is open, all its writes are in blind entries after those that were there before
//! (`EntrySet::target`). To undo it, these are removed, and the entries that it has read move up. To keep it, the
//! writes move to the entries where they would be without it.
//!
//! *Early release*: words that were read leave the set again, so that nothing validates them (Herlihy, Luchangco,
//! Moir and Scherer 2003). It is for walks that answer for their results by the words that they keep, as in
//! `collections/list.rs`. A released word holds at the snapshot of its read only.
//!
//! *Compaction* of a set that is full removes duplicates: a word that was read twice, or read and then written
//! elsewhere, has two entries.

use crate::algorithm::fast::entry_set::{EntrySet, OPEN};
use crate::algorithm::fast::prelude::*;

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

    /// Appends an entry that has moved.
    #[inline(always)]
    fn push<L: Lane, const N: usize>(&mut self, at: Entries<'_, L, N>, columns: [u64; 3]) {
        let [entry, seen, value] = columns;
        at.store(self.len, entry, seen, value);
        self.len += 1;
        self.blind += u32::from(entry & BLIND != 0);
        self.writes += u32::from(entry & WRITTEN != 0);
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
            let columns @ [entry, _, value] = at.columns(i);
            if entry & BLIND != 0
                && let Some(k) = kept.target(at, word_of(entry))
            {
                let old = at.get(Column::Address, k);
                kept.mark(at, k, old, value);
                continue;
            }
            kept.push(at, columns);
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
            let [entry, seen, value] = at.columns(i);
            if entry & BLIND == 0 {
                at.store(kept.len, entry, seen, value);
                kept.len += 1;
            }
        }
        kept.hint = saved.hint_after(kept.len);
        kept
    }

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
            if at.get(Column::Address, i) & (WRITTEN | BLIND | SHARES) != 0 {
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
            let [entry, seen, value] = at.columns(i);
            at.store(kept, entry, seen, value);
            kept += 1;
        }
        Self {
            len: kept,
            // No entry from `from` on is written, so the hint is still behind all that are.
            hint: self.hint.min(from),
            ..self
        }
    }

    /// Keeps one entry for each word. Errors: [`Abort::ReadStale`] if two reads of a word differ.
    #[inline(never)]
    pub(super) fn compact<L: Lane, const N: usize>(
        self,
        at: Entries<'_, L, N>,
    ) -> Result<Self, Abort> {
        let mut kept = Self {
            len: 0,
            writes: 0,
            blind: 0,
            hint: 0,
            ..self
        };
        for i in 0..self.len {
            let columns @ [entry, seen, value] = at.columns(i);
            let (written, first) = kept.find(at, word_of(entry));
            if let Some(k) = written.or(first) {
                if at.get(Column::Seen, k) != seen {
                    return Err(Abort::ReadStale);
                }
                if entry & WRITTEN != 0 {
                    let old = at.get(Column::Address, k);
                    kept.mark(at, k, old, value);
                }
            } else {
                kept.push(at, columns);
            }
        }
        kept.hint = kept.len;
        Ok(kept)
    }
}
