//! The question of a transaction that waits under the versioned algorithms: has a word that it read changed?
//!
//! The version words of the entries read, and the headers of the rows read, are compared with what the
//! attempt saw. A version never returns to an old value meanwhile, so no change is missed. A locked word
//! counts as changed, as does another of its stripe under `fast-table`: an attempt without need.

use crate::algorithm::fast::prelude::*;

impl<L: Lane, const N: usize> Entries<'_, L, N> {
    #[inline(never)]
    pub(crate) fn word_changed<S: Storage>(self, map: S::Map, len: u32) -> bool {
        // Relaxed loads: nothing is read on the strength of them, and a change is seen in the end.
        !(self.with::<S>(map, len)).hold::<BATCH>(BLIND, |i, changed| {
            Mutant::LostWakeup.on(self.lane) && i == 0 && changed & !2 == 0
        })
    }
}
