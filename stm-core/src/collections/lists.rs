//! Ordered lists: chains of nodes in the order of their keys. A list is a word with the link to its first
//! node. An operation walks to the key's place and reads every node on the way. [`TMap`](super::TMap) keeps
//! its chains short; the walks of [`TList`](super::TList) release what they have passed.

use crate::algorithm::prelude::*;
use crate::array::pool::{Node, TNodes};
use crate::collections::item::{Item, Key};

mod entry;

pub use entry::ListEntry;

/// A node of a list: its link leads to the next node.
///
/// ```
/// use stm_core::collections::ListItem;
///
/// let last = ListItem { key: 9u64, links: [0], value: 2u32 };
/// assert_eq!(last.links, [0]); // there is no next node
/// ```
pub type ListItem<K, V> = Item<K, V, 1>;

/// Lists with nodes of one pool, as a kernel's parameter; the host's [`Lists`](super::Lists) makes one.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Takes the first entry of each list and puts it into list 0.
/// #[kernel]
/// pub fn gather_firsts(stm: &Stm, lists: Lists<u32, u32>) {
///     stm.each(1..lists.lists(), |tx, i| {
///         if let Some((key, value)) = lists.pop_first(tx, i)? {
///             lists.insert(tx, 0, key, value)?;
///         }
///         Ok(())
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// use stm_core::{Layout, collections::Lists};
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let mut lists = Lists::new(&cpu, Layout::Cells, 3, 10, "lists")?;
/// lists.upload(&[vec![], vec![(4u32, 40u32), (6, 60)], vec![(5, 50)]])?;
/// gather_firsts::launch(&mut stm, Launch::new(1, 2), &lists)?;
/// assert_eq!(lists.download()?, [vec![(4, 40), (5, 50)], vec![(6, 60)], vec![]]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[repr(C)]
pub struct TLists<A: Algorithm, K, V> {
    heads: A::Array<u32>,
    nodes: TNodes<A, ListItem<K, V>>,
}

stm_machine::handle!([A: Algorithm, K, V] TLists<A, K, V>: heads, nodes);

/// Where an attempt has found an entry ([`ListEntry::place`]). It does not borrow the transaction, so an
/// attempt can hold several, and it cannot leave the attempt.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Lets two accounts have the mean of what they had.
/// #[kernel]
/// pub fn level(stm: &Stm, accounts: Map<u32, u64>) {
///     stm.each(0..1, |tx, _| {
///         let (Some((a, of_a)), Some((b, of_b))) = (accounts.locate(tx, 1)?, accounts.locate(tx, 2)?) else {
///             return tx.cancel();
///         };
///         accounts.set_at(tx, a, (of_a + of_b) / 2)?; // no second search
///         accounts.set_at(tx, b, (of_a + of_b).div_ceil(2))
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let mut accounts = stm_core::collections::Map::new(&cpu, stm_core::Layout::Cells, 2, "accounts")?;
/// accounts.upload([(1, 10), (2, 3)])?;
/// level::launch(&mut stm, Launch::new(1, 1), &accounts)?;
/// assert_eq!(accounts.download()?, [(1, 6), (2, 7)].into());
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
pub struct ListPlace<'a, K, V> {
    node: Node,
    of: PhantomData<&'a (K, V)>,
}

stm_machine::handle!([K, V] ListPlace<'_, K, V>: node; ..);

/// Gives a container made of [`TLists`] the operations that do the same in all of them.
macro_rules! operations_at_places {
    ($container:ident, $lists:tt) => {
        #[stm_core_macros::inlined]
        impl<A: Algorithm, K: Key, V: Element> $container<A, K, V> {
            /// Does what [`TLists::get_at`] does.
            pub fn get_at<'a, L: Lane>(
                &self,
                tx: &mut Tx<'a, L, A>,
                place: ListPlace<'a, K, V>,
            ) -> TxResult<V> {
                self.$lists.get_at(tx, place)
            }

            /// Does what [`TLists::set_at`] does.
            pub fn set_at<'a, L: Lane>(
                &self,
                tx: &mut Tx<'a, L, A>,
                place: ListPlace<'a, K, V>,
                value: V,
            ) -> TxResult<()> {
                self.$lists.set_at(tx, place, value)
            }

            /// Puts `value` at `key` and returns the value that was there.
            pub fn insert<L: Lane>(
                &self,
                tx: &mut Tx<'_, L, A>,
                key: K,
                value: V,
            ) -> TxResult<Option<V>> {
                self.entry(tx, key)?.insert(value)
            }

            /// Removes `key` and returns its value.
            pub fn remove<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: K) -> TxResult<Option<V>> {
                self.entry(tx, key)?.remove()
            }
        }
    };
}
pub(super) use operations_at_places;

/// The number of entries of the read set that a walk takes before it releases those that it has
/// passed; it is less than the entries that a lane keeps on its stack.
const WALK_ENTRIES: u32 = 12;

#[stm_core_macros::inlined(apart)]
impl<A: Algorithm, K: Key, V: Element> TLists<A, K, V> {
    /// Makes a view of lists whose first links are `heads`.
    ///
    /// # Safety
    /// `heads` and `nodes` are those of one owner, and no transaction reaches
    /// them except through views made of these two.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub(crate) const unsafe fn from_parts(
        heads: A::Array<u32>,
        nodes: TNodes<A, ListItem<K, V>>,
    ) -> Self {
        Self { heads, nodes }
    }

    /// Returns the number of lists.
    pub fn lists(&self) -> u64 {
        self.heads.len()
    }

    /// Reads the key and the link of a node.
    fn step<L: Lane>(&self, tx: &mut Tx<'_, L, A>, node: Node) -> TxResult<(K, u32)> {
        let fields = (ListItem::<K, V>::key(), ListItem::<K, V>::link::<0>());
        let i = tx.record_of(&self.nodes, node)?;
        tx.read_two(&self.nodes.records, i, fields)
    }

    /// Walks to the place of `key`. If it `RELEASES`, few of the words that it reads stay in the read set.
    pub(super) fn find<'t, 'a, L: Lane, const RELEASES: bool>(
        &self,
        tx: &'t mut Tx<'a, L, A>,
        list: u64,
        key: K,
    ) -> TxResult<ListEntry<'t, 'a, L, A, K, V>> {
        let begin = tx.reads_held();
        let mut before = Node::NIL;
        let mut node = Node::from_bits(tx.read(&self.heads, list)?);
        let (mut there, mut after) = (false, 0);
        while !node.is_nil() {
            let held = tx.reads_held();
            let (at, next) = self.step(tx, node)?;
            after = next;
            if at >= key {
                there = at == key;
                break;
            }
            before = node;
            node = Node::from_bits(next);
            if RELEASES && A::RELEASES {
                let now = tx.reads_held();
                // Nothing else can tell which entries are those of the node.
                if now == held + 2 && now > begin + WALK_ENTRIES {
                    tx.release_reads(begin, held);
                }
            }
        }
        Ok(ListEntry {
            tx,
            lists: *self,
            list,
            key,
            before,
            node,
            after,
            there,
            marks: RELEASES && A::RELEASES,
        })
    }

    /// Finds the place of `key` in a list, to use or to change it. Lanes of a warp that do different things
    /// with their entries walk together. A list past the last is
    /// [`Abort::OutOfRange`](crate::Abort::OutOfRange), as in all operations.
    pub fn entry<'t, 'a, L: Lane>(
        &self,
        tx: &'t mut Tx<'a, L, A>,
        list: u64,
        key: K,
    ) -> TxResult<ListEntry<'t, 'a, L, A, K, V>> {
        self.find::<L, false>(tx, list, key)
    }

    /// Reads the key and the value of a node.
    fn key_and_value<L: Lane>(&self, tx: &mut Tx<'_, L, A>, node: Node) -> TxResult<(K, V)> {
        let fields = (ListItem::<K, V>::key(), ListItem::<K, V>::value());
        let i = tx.record_of(&self.nodes, node)?;
        tx.read_two(&self.nodes.records, i, fields)
    }

    /// Returns where `key` is in a list, and its value. It reads less than
    /// [`Self::entry`] does, as nothing can be inserted or removed there.
    pub fn locate<'a, L: Lane>(
        &self,
        tx: &mut Tx<'a, L, A>,
        list: u64,
        key: K,
    ) -> TxResult<Option<(ListPlace<'a, K, V>, V)>> {
        let mut node = Node::from_bits(tx.read(&self.heads, list)?);
        while !node.is_nil() {
            let (at, value) = self.key_and_value(tx, node)?;
            if at == key {
                let of = PhantomData;
                return Ok(Some((ListPlace { node, of }, value)));
            }
            if at > key {
                break;
            }
            node = Node::from_bits(tx.get(&self.nodes, node, ListItem::<K, V>::link::<0>())?);
        }
        Ok(None)
    }

    /// Returns the value of `key` in a list.
    pub fn get<L: Lane>(&self, tx: &mut Tx<'_, L, A>, list: u64, key: K) -> TxResult<Option<V>> {
        Ok(self.locate(tx, list, key)?.map(|(_, value)| value))
    }

    /// Returns whether a list has `key`.
    pub fn contains<L: Lane>(&self, tx: &mut Tx<'_, L, A>, list: u64, key: K) -> TxResult<bool> {
        let mut node = Node::from_bits(tx.read(&self.heads, list)?);
        while !node.is_nil() {
            let at = tx.get(&self.nodes, node, ListItem::<K, V>::key())?;
            if at >= key {
                return Ok(at == key);
            }
            node = Node::from_bits(tx.get(&self.nodes, node, ListItem::<K, V>::link::<0>())?);
        }
        Ok(false)
    }

    /// Puts `value` at `key` and returns the value that was there.
    pub fn insert<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        list: u64,
        key: K,
        value: V,
    ) -> TxResult<Option<V>> {
        self.entry(tx, list, key)?.insert(value)
    }

    /// Removes `key` and returns its value.
    pub fn remove<L: Lane>(&self, tx: &mut Tx<'_, L, A>, list: u64, key: K) -> TxResult<Option<V>> {
        self.entry(tx, list, key)?.remove()
    }

    /// Returns the value of an entry that this attempt has found, also if it has removed it since.
    /// A place in another container is [`Abort::BadNode`](crate::Abort::BadNode), a fault.
    pub fn get_at<'a, L: Lane>(
        &self,
        tx: &mut Tx<'a, L, A>,
        place: ListPlace<'a, K, V>,
    ) -> TxResult<V> {
        tx.get(&self.nodes, place.node, ListItem::<K, V>::value())
    }

    /// Puts `value` at an entry that this attempt has found, without another walk. If the attempt has removed
    /// the entry since, the value is lost with it. Its fault is that of [`Self::get_at`].
    pub fn set_at<'a, L: Lane>(
        &self,
        tx: &mut Tx<'a, L, A>,
        place: ListPlace<'a, K, V>,
        value: V,
    ) -> TxResult<()> {
        tx.set(&self.nodes, place.node, ListItem::<K, V>::value(), value)
    }

    /// Removes all entries of a list, in the order of their keys, and calls `each` for every one with
    /// transaction, key and value. The list is empty when the first call begins; what a call inserts stays.
    pub fn drain<'a, L: Lane>(
        &self,
        tx: &mut Tx<'a, L, A>,
        list: u64,
        mut each: impl FnMut(&mut Tx<'a, L, A>, K, V) -> TxResult<()>,
    ) -> TxResult<()> {
        let mut node = Node::from_bits(tx.read(&self.heads, list)?);
        if node.is_nil() {
            return Ok(());
        }
        tx.write(&self.heads, list, 0)?;
        while !node.is_nil() {
            let (key, next) = self.step(tx, node)?;
            let value = tx.get(&self.nodes, node, ListItem::<K, V>::value())?;
            tx.free(self.nodes.pool(), node)?;
            each(tx, key, value)?;
            node = Node::from_bits(next);
        }
        Ok(())
    }

    /// Returns the entry of a list with the smallest key.
    pub fn first<L: Lane>(&self, tx: &mut Tx<'_, L, A>, list: u64) -> TxResult<Option<(K, V)>> {
        let node = Node::from_bits(tx.read(&self.heads, list)?);
        self.item(tx, node)
    }

    /// Removes the entry of a list with the smallest key and returns it.
    pub fn pop_first<L: Lane>(&self, tx: &mut Tx<'_, L, A>, list: u64) -> TxResult<Option<(K, V)>> {
        self.remove_first(tx, list, false)
    }

    pub(super) fn remove_first<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        list: u64,
        marks: bool,
    ) -> TxResult<Option<(K, V)>> {
        let node = Node::from_bits(tx.read(&self.heads, list)?);
        if node.is_nil() {
            return Ok(None);
        }
        let (key, after) = self.step(tx, node)?;
        let entry = ListEntry {
            tx,
            lists: *self,
            list,
            key,
            before: Node::NIL,
            node,
            after,
            there: true,
            marks,
        };
        Ok(entry.remove()?.map(|value| (key, value)))
    }

    pub(super) fn item<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        node: Node,
    ) -> TxResult<Option<(K, V)>> {
        if node.is_nil() {
            return Ok(None);
        }
        let key = tx.get(&self.nodes, node, ListItem::<K, V>::key())?;
        let value = tx.get(&self.nodes, node, ListItem::<K, V>::value())?;
        Ok(Some((key, value)))
    }
}
