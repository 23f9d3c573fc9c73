//! The place of a key in a list, where an entry is used, inserted or removed.

use super::{ListItem, ListPlace, TLists};
use crate::algorithm::prelude::*;
use crate::array::pool::Node;
use crate::collections::item::{Item, Key};

/// The place of a key in a list ([`TLists::entry`]). It borrows the transaction, so nothing changes the list.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Counts down, and removes what has come to 0.
/// #[kernel]
/// pub fn count_down(stm: &Stm, counts: Map<u32, u32>) {
///     stm.each(0..2, |tx, i| {
///         let mut entry = counts.entry(tx, i as u32)?;
///         match entry.get()? {
///             Some(n) if n > 1 => entry.insert(n - 1)?,
///             _ => entry.remove()?,
///         };
///         Ok(())
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let mut counts = stm_core::collections::Map::new(&cpu, stm_core::Layout::Cells, 2, "counts")?;
/// counts.upload([(0, 5), (1, 1)])?;
/// count_down::launch(&mut stm, Launch::new(1, 2), &counts)?;
/// assert_eq!(counts.download()?, [(0, 4)].into());
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
pub struct ListEntry<'t, 'a, L: Lane, A: Algorithm, K, V> {
    pub(super) tx: &'t mut Tx<'a, L, A>,
    pub(super) lists: TLists<A, K, V>,
    pub(super) list: u64,
    pub(super) key: K,
    /// The last node with a smaller key.
    pub(super) before: Node,
    /// The first node with a key that is not smaller.
    pub(in crate::collections) node: Node,
    pub(in crate::collections) after: u32,
    pub(super) there: bool,
    pub(super) marks: bool,
}

stm_machine::shown!([L: Lane, A: Algorithm, K: Key, V] ListEntry<'_, '_, L, A, K, V>: list, key, there; ..);

#[stm_core_macros::inlined(apart)]
impl<'a, L: Lane, A: Algorithm, K: Key, V: Element> ListEntry<'_, 'a, L, A, K, V> {
    /// Returns where the entry is, if the key is there: for [`TLists::get_at`] and
    /// [`TLists::set_at`] in the rest of this attempt.
    pub fn place(&self) -> Option<ListPlace<'a, K, V>> {
        // Later walks release their own reads only, so the attempt keeps what it has read of this node.
        self.there.then_some(ListPlace {
            node: self.node,
            of: PhantomData,
        })
    }

    /// Returns whether the key is there.
    pub const fn is_there(&self) -> bool {
        self.there
    }

    /// Returns the value, if the key is there.
    pub fn get(&mut self) -> TxResult<Option<V>> {
        if !self.there {
            return Ok(None);
        }
        let value = ListItem::<K, V>::value();
        Ok(Some(self.tx.get(&self.lists.nodes, self.node, value)?))
    }

    /// Puts a value at the key and returns the one that was there.
    pub fn insert(mut self, value: V) -> TxResult<Option<V>> {
        let old = self.get()?;
        if self.there {
            let nodes = &self.lists.nodes;
            self.tx
                .set(nodes, self.node, ListItem::<K, V>::value(), value)?;
        } else {
            self.add(value)?;
        }
        Ok(old)
    }

    /// Puts a value at the key if the key is absent, and returns whether it was.
    pub fn insert_new(mut self, value: V) -> TxResult<bool> {
        if !self.there {
            self.add(value)?;
        }
        Ok(!self.there)
    }

    /// Removes the key and returns its value.
    pub fn remove(mut self) -> TxResult<Option<V>> {
        let Some(value) = self.get()? else {
            return Ok(None);
        };
        if self.marks && !Mutant::RemovalUnmarked.on(self.tx.lane) {
            let link = ListItem::<K, V>::link::<0>();
            self.tx
                .set(&self.lists.nodes, self.node, link, self.node.bits())?;
        }
        self.tx.free(self.lists.nodes.pool(), self.node)?;
        self.link(self.after)?;
        Ok(Some(value))
    }

    fn add(&mut self, value: V) -> TxResult<()> {
        let (key, links) = (self.key, [self.node.bits()]);
        let item = Item { key, links, value };
        let new = self.tx.alloc_record(&self.lists.nodes, item)?;
        self.link(new.bits())
    }

    fn link(&mut self, link: u32) -> TxResult<()> {
        if self.before.is_nil() {
            self.tx.write(&self.lists.heads, self.list, link)
        } else {
            let next = ListItem::<K, V>::link::<0>();
            self.tx.set(&self.lists.nodes, self.before, next, link)
        }
    }
}
