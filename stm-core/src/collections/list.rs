//! One ordered list, in the form of [`TLists`].
//!
//! # Early release
//!
//! A walk of a [`TList`] under `fast` and `fast-table` removes words that it has passed from the read set
//! again (Herlihy, Luchangco, Moir and Scherer 2003; an elastic transaction in the sense of Felber, Gramoli
//! and Guerraoui 2009). There remain the key and the link of the node before the place, and those of the node
//! at the place: the *witnesses*. `ORDERING.md`, "Early release", proves that in any state in which they have
//! these values the operation returns the same, by two rules that this file keeps:
//!
//! 1. A removal also writes the removed node's link: a link to itself, which no node of a list has.
//! 2. The nodes of the pool belong to this list and to no other. Where it has entry points, the key of a node
//!    says which range it is in.
//!
//! So extensions and the commit validate the witnesses, and a change in a part of the list that a walk has
//! passed does not conflict with it. The other algorithms release nothing, nor does an attempt inside of an
//! alternative, or one that is recorded, because a history tells of all reads.

use crate::algorithm::prelude::*;
use crate::array::pool::Node;
use crate::collections::item::Key;
use crate::collections::lists::{ListEntry, ListPlace, TLists};

/// One ordered list, as a kernel's parameter; the host's [`List`](super::List) makes one.
///
/// Under `fast` and `fast-table` a walk releases the words that it has passed: the transaction conflicts only
/// with changes around the places that it came to, and its read set needs little room (early release:
/// Herlihy, Luchangco, Moir and Scherer 2003). Results still belong to one state.
///
/// The list may have *entry points* (`List::with_entry_points`): the keys of a range begin at a word of their
/// own, so that a walk is as long as its range. [`Self::first`], [`Self::next_after`] and [`Self::pop_first`]
/// then read a word of each empty range that they pass, for which the read set needs room.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Serves the most urgent one who waits, and appends a new one.
/// #[kernel]
/// pub fn serve(stm: &Stm, waiting: List<u32, u32>, served: Output<u32>) {
///     stm.into(served).each(0..served.len(), |tx, i| {
///         waiting.insert(tx, 100 + i as u32, 0)?;
///         Ok(waiting.pop_first(tx)?.map_or(0, |(urgency, _)| urgency))
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let mut waiting = stm_core::collections::List::new(&cpu, stm_core::Layout::Cells, 10, "waiting")?;
/// waiting.upload([(7, 0), (3, 0)])?;
/// let mut served = Buffer::zeroed(&cpu, 3, "served")?;
/// serve::launch(&mut stm, Launch::new(1, 1), &waiting, &mut served)?;
/// assert_eq!(served.download()?, [3u32, 7, 100]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[repr(C)]
pub struct TList<A: Algorithm, K, V> {
    /// A list for each range of keys, in their order.
    ranges: TLists<A, K, V>,
    /// A range has 2^`shift` keys; the last one has all that are greater, too.
    shift: u32,
}

stm_machine::handle!([A: Algorithm, K, V] TList<A, K, V>: ranges, shift);
super::lists::operations_at_places!(TList, ranges);

/// Returns the number of the range of `key`: 2^`shift` keys each, and the last one of
/// `ranges` has all that are greater, too.
#[inline(always)]
pub(crate) fn range<K: Key>(key: K, shift: u32, ranges: u64) -> u64 {
    (key.to_bits64() >> shift).min(ranges - 1)
}

#[stm_core_macros::inlined]
impl<A: Algorithm, K: Key, V: Element> TList<A, K, V> {
    /// Makes the view of a list whose ranges have 2^`shift` keys.
    ///
    /// # Safety
    /// As for [`TLists::from_parts`]; there is a list or more, `shift` is less than 64,
    /// and each key is in the list of its range.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub(crate) const unsafe fn from_lists(ranges: TLists<A, K, V>, shift: u32) -> Self {
        Self { ranges, shift }
    }

    fn range(&self, key: K) -> u64 {
        range(key, self.shift, self.ranges.lists())
    }

    /// Returns the first entry of the first range from `range` on that has one.
    fn first_from<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        mut range: u64,
    ) -> TxResult<Option<(K, V)>> {
        while range < self.ranges.lists() {
            let found = self.ranges.first(tx, range)?;
            if found.is_some() {
                return Ok(found);
            }
            range += 1;
        }
        Ok(None)
    }

    /// Finds the place of `key`, to use what is there or to change it.
    pub fn entry<'t, 'a, L: Lane>(
        &self,
        tx: &'t mut Tx<'a, L, A>,
        key: K,
    ) -> TxResult<ListEntry<'t, 'a, L, A, K, V>> {
        self.ranges.find::<L, true>(tx, self.range(key), key)
    }

    /// Returns the value of `key`.
    pub fn get<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: K) -> TxResult<Option<V>> {
        self.entry(tx, key)?.get()
    }

    /// Returns whether the list has `key`.
    pub fn contains<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: K) -> TxResult<bool> {
        Ok(self.entry(tx, key)?.is_there())
    }

    /// Returns the entry with the smallest key.
    pub fn first<L: Lane>(&self, tx: &mut Tx<'_, L, A>) -> TxResult<Option<(K, V)>> {
        self.first_from(tx, 0)
    }

    /// Returns the entry with the smallest key that is greater than `key`.
    pub fn next_after<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: K) -> TxResult<Option<(K, V)>> {
        let place = self.entry(tx, key)?;
        let next = if place.is_there() {
            Node::from_bits(place.after)
        } else {
            place.node
        };
        if next.is_nil() {
            return self.first_from(tx, self.range(key) + 1);
        }
        self.ranges.item(tx, next)
    }

    /// Removes the entry with the smallest key and returns it.
    pub fn pop_first<L: Lane>(&self, tx: &mut Tx<'_, L, A>) -> TxResult<Option<(K, V)>> {
        let mut range = 0;
        while range < self.ranges.lists() {
            let found = self.ranges.remove_first(tx, range, A::RELEASES)?;
            if found.is_some() {
                return Ok(found);
            }
            range += 1;
        }
        Ok(None)
    }
}
