//! The question of a transaction that waits under the versioned algorithms: has a word that it read changed?
//!
//! The version words of the entries read, and the headers of the rows read, are compared with what the
//! attempt saw. A version never returns to an old value meanwhile, so no change is missed. A locked word
//! counts as changed, as does another of its stripe under `fast-table`: an attempt without need.

use crate::algorithm::fast::entries::{BATCH, BLIND, Entries};
use crate::algorithm::fast::protocol::Versioned;
use crate::algorithm::fast::storage::Storage;
use stm_machine::{Lane, observe::Mutant};

impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    #[inline(never)]
    pub(crate) fn word_changed<L: Lane>(at: Entries<'_, L, INLINE>, map: S::Map, len: u32) -> bool {
        // Relaxed loads: nothing is read on the strength of them, and a change is seen in the end.
        !Self::hold::<L, true, BATCH>(at, map, len, BLIND, |i, changed| {
            Mutant::LostWakeup.on(at.lane) && i == 0 && changed & !2 == 0
        })
    }
}
