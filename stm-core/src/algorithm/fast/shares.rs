//! Entries that share the lock of an earlier entry of their transaction, as their words have one
//! version word.

use crate::algorithm::fast::entries::{BLIND, Column, Entries, SHARES, WRITTEN, word_of};
use crate::{algorithm::fast::protocol::Versioned, algorithm::fast::storage::Storage};
use stm_machine::Lane;

#[stm_core_macros::inlined]
impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    /// Returns whether all entries of a batch whose swap has failed are of words that this
    /// transaction owns already; those entries then share the locks.
    pub(super) fn share<L: Lane, const LONG: bool>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        first: u32,
        mut lost: u32,
    ) -> bool {
        while lost != 0 {
            let i = first + lost.trailing_zeros();
            lost &= lost - 1;
            // SAFETY: the entry and its holder are below the count.
            unsafe {
                let entry = at.get(Column::Address, i);
                at.put(Column::Address, i, entry | SHARES);
                let holder = Self::holder(at, map, i, entry);
                if let Some(holder) = holder
                    && (entry & BLIND != 0
                        || at.get(Column::Seen, holder) == at.get(Column::Seen, i))
                {
                    if Self::is_whole(at.lane(), at.apart, word_of(entry)) {
                        // One cell takes one store, which must be of the later value.
                        at.put(Column::Value, holder, at.get(Column::Value, i));
                    }
                } else {
                    return false;
                }
            }
        }
        true
    }

    /// Returns the entry before `end` that owns the lock of an entry's word. It takes its arguments
    /// by value, so that the transaction stays in registers.
    pub(crate) fn holder<L: Lane, const LONG: bool>(
        at: Entries<'_, L, INLINE, LONG>,
        map: S::Map,
        end: u32,
        entry: u64,
    ) -> Option<u32> {
        let word = S::version_word(map, word_of(entry));
        let mut i = 0;
        while i < end {
            // SAFETY: the index is below the count.
            let other = unsafe { at.get(Column::Address, i) };
            if other & (WRITTEN | SHARES) == WRITTEN && S::version_word(map, word_of(other)) == word
            {
                return Some(i);
            }
            i += 1;
        }
        None
    }
}
