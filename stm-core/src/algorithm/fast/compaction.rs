//! Removal of duplicates from a set that is full: a word that was read twice, or
//! read and then written elsewhere, has two entries.

use crate::algorithm::fast::entries::{BLIND, Column, Entries, WRITTEN, word_of};
use crate::{algorithm::fast::entry_set::EntrySet, tx::abort::Abort};
use stm_machine::Lane;

impl EntrySet {
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
            // SAFETY: below the count, as what is kept is.
            unsafe {
                let [entry, seen, value] =
                    [Column::Address, Column::Seen, Column::Value].map(|column| at.get(column, i));
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
                    at.store(kept.len, entry, seen, value);
                    kept.len += 1;
                    kept.writes += u32::from(entry & WRITTEN != 0);
                    kept.blind += u32::from(entry & BLIND != 0);
                }
            }
        }
        kept.hint = kept.len;
        Ok(kept)
    }
}
