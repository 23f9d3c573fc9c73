//! The question of a transaction that waits under the versioned algorithms: has a word that it read changed?
//!
//! The version words of the entries read, and the headers of the rows read, are loaded again and
//! compared with what the attempt saw. A version never returns to an old value while somebody waits
//! for it to change, so no change is missed, whenever it comes. A word that is locked counts as
//! changed, as does another word of the same stripe under `fast-table`: the transaction then makes
//! an attempt without need, and waits again.

use crate::algorithm::contract::Tx;
use crate::algorithm::fast::entries::{BATCH, BLIND, Entries};
use crate::algorithm::fast::protocol::Versioned;
use crate::algorithm::fast::storage::Storage;
use stm_machine::{Lane, observe::Mutant};

impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    #[inline(always)]
    pub(crate) fn any_changed<L: Lane>(tx: &mut Tx<'_, L, Self>) -> bool {
        let at = Self::entries(tx);
        Self::word_changed(at, S::map(tx.stm), tx.attempt.set.len)
            || !Self::rows_unchanged(tx, false)
    }

    #[inline(never)]
    fn word_changed<L: Lane>(at: Entries<'_, L, INLINE>, map: S::Map, len: u32) -> bool {
        // Relaxed loads: nothing is read on the strength of them, and a change is seen in the end.
        !Self::hold::<L, true, BATCH>(at, map, len, BLIND, |i, changed| {
            Mutant::LostWakeup.on(at.lane()) && i == 0 && changed & !2 == 0
        })
    }
}
