//! The hash map: an ordered chain of nodes for each bucket, in the form of [`TLists`].

use crate::algorithm::prelude::*;
use crate::collections::item::Key;
use crate::collections::lists::{ListEntry, ListPlace, TLists};

/// A hash map, small enough to be a kernel parameter. The host's [`Map`](super::Map) makes one.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Gives each key twice its value, and the next key the same.
/// #[kernel]
/// pub fn copy_up(stm: &Stm, map: Map<u32, u32>) {
///     stm.each(0..1, |tx, _| {
///         let value = map.get(tx, 5)?.unwrap_or(0);
///         map.insert(tx, 5, 2 * value)?;
///         map.insert(tx, 6, 2 * value)?;
///         Ok(())
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let mut map = stm_core::collections::Map::new(&cpu, stm_core::Layout::Cells, 4, "map")?;
/// map.upload([(5, 21)])?;
/// copy_up::launch(&mut stm, Launch::new(1, 1), &map)?;
/// assert_eq!(map.download()?, [(5, 42), (6, 42)].into());
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[repr(C)]
pub struct TMap<A: Algorithm, K, V>(TLists<A, K, V>);

stm_machine::handle!([A: Algorithm, K, V] TMap<A, K, V>);
stm_machine::shown!([A: Algorithm, K, V] TMap<A, K, V>: 0);
super::lists::operations_at_places!(TMap, 0);

#[inline(always)]
pub(crate) fn bucket<K: Key>(key: K, buckets: u64) -> u64 {
    // There are fewer than 2^32.
    (u64::from(key.hash()) * buckets) >> 32
}

#[stm_core_macros::inlined]
impl<A: Algorithm, K: Key, V: Element> TMap<A, K, V> {
    /// Makes a map whose buckets are `lists`, of which there are less than 2^32.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub(crate) const fn from_lists(lists: TLists<A, K, V>) -> Self {
        Self(lists)
    }

    /// Does [`TLists::entry`] in the bucket of `key`.
    pub fn entry<'t, 'a, L: Lane>(
        &self,
        tx: &'t mut Tx<'a, L, A>,
        key: K,
    ) -> TxResult<ListEntry<'t, 'a, L, A, K, V>> {
        self.0.entry(tx, bucket(key, self.0.lists()), key)
    }

    /// Does [`TLists::locate`] in the bucket of `key`.
    pub fn locate<'a, L: Lane>(
        &self,
        tx: &mut Tx<'a, L, A>,
        key: K,
    ) -> TxResult<Option<(ListPlace<'a, K, V>, V)>> {
        self.0.locate(tx, bucket(key, self.0.lists()), key)
    }

    /// Returns the value of `key`.
    pub fn get<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: K) -> TxResult<Option<V>> {
        Ok(self.locate(tx, key)?.map(|(_, value)| value))
    }

    /// Returns whether the map has `key`.
    pub fn contains<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: K) -> TxResult<bool> {
        self.0.contains(tx, bucket(key, self.0.lists()), key)
    }
}
