//! A radix tree of 16 ways with compressed paths (Morrison 1968; Leis, Kemper and Neumann 2013).
//!
//! A key is digits of four bits. A *branch* stands for the keys that agree in all digits above one, its
//! *prefix*, and has a link for each value of that digit. A *leaf* has a key and its value. A branch exists
//! only where two keys differ, so there are fewer branches than leaves, about log16 of their number on a way,
//! and nothing is ever rebalanced.
//!
//! | bits of a link | meaning |
//! | --- | --- |
//! | all 0 | no link |
//! | 31..27 | 0 for a leaf; for a branch one more than the number of its digit, from the lowest |
//! | 26..0 | one more than the index of the node |
//!
//! | field of a branch | meaning |
//! | --- | --- |
//! | `key` | the prefix, with zeros from the branch's digit on |
//! | `value` | *occupied*: a bit for each link that is there |
//! | `links` | the 16 links |
//!
//! # Invariants
//!
//! 1. A branch has two links or more; keys below it have its prefix, and below link `d` the digit `d`.
//! 2. The digits along a way fall. So every walk ends.
//! 3. In a free branch all links and *occupied* are 0: to take one writes four words, to free one clears the
//!    rest.
//!
//! # Operations
//!
//! 1. *find*: follow the key's digits to a leaf or an empty link, and compare the leaf's key, and no
//!    prefixes.
//! 2. *insert*: the leaf's key, or the last branch's prefix, tells the highest digit in which the key
//!    differs. If it is that of the last branch, its empty link takes the leaf; else a new branch goes into
//!    the way, where that digit belongs.
//! 3. *remove*: empty the link. If one other is left, it replaces the branch.
//! 4. *`next_after`*: follow the key's digits, and note the last branch with a link above the key's
//!    digit. A branch with another prefix is as a whole above the key or below it.
//!
//! # What conflicts
//!
//! A lookup reads one word of each branch, so it conflicts with changes of its own way. Two insertions
//! conflict if they fill links of the same branch, as both write *occupied*.

use crate::algorithm::prelude::*;
use crate::array::pool::TNodes;
use crate::array::record::Field;
use crate::collections::item::{Item, Key};

mod entry;

pub use entry::OrderedEntry;

const DIGIT_BITS: u32 = 4;
const WAYS: usize = 1 << DIGIT_BITS;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link(pub(crate) u32);

/// The bits of a link that name a node.
const INDEX_BITS: u32 = 27;

#[stm_core_macros::inlined]
impl Link {
    pub(crate) const NONE: Self = Self(0);
    /// The largest number of leaves, and of branches.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub(crate) const NODES_MAX: u64 = (1 << INDEX_BITS) - 1;

    pub(crate) const fn leaf(index: u32) -> Self {
        Self(index + 1)
    }

    /// Makes a link to a branch for the digit that begins at bit `shift`.
    pub(crate) const fn branch(index: u32, shift: u32) -> Self {
        Self((shift / DIGIT_BITS + 1) << INDEX_BITS | (index + 1))
    }

    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn is_branch(self) -> bool {
        self.0 >> INDEX_BITS != 0
    }

    pub(crate) const fn index(self) -> u32 {
        (self.0 & ((1 << INDEX_BITS) - 1)).wrapping_sub(1)
    }

    /// Returns the lowest bit of the branch's digit.
    pub(crate) const fn shift(self) -> u32 {
        (self.0 >> INDEX_BITS).wrapping_sub(1) * DIGIT_BITS
    }
}

/// Returns the digit of a key that begins at bit `shift`.
#[inline(always)]
pub(crate) const fn digit(key: u64, shift: u32) -> u32 {
    (key >> (shift & 63)) as u32 & (WAYS as u32 - 1)
}

/// Returns the bits of a key above the digit that begins at bit `shift`.
#[inline(always)]
pub(crate) const fn above(key: u64, shift: u32) -> u64 {
    match u64::MAX.checked_shl(shift + DIGIT_BITS) {
        Some(mask) => key & mask,
        None => 0,
    }
}

/// Returns the lowest bit of the highest digit in which two keys differ, given
/// the bits in which they do; there are some.
#[inline(always)]
pub(crate) const fn highest_digit(differing: u64) -> u32 {
    match differing.checked_ilog2() {
        Some(bit) => bit / DIGIT_BITS * DIGIT_BITS,
        None => 0,
    }
}

pub(crate) type Leaf<K, V> = Item<K, V, 0>;
/// A branch: the prefix, the set of occupied links, and the links.
pub(crate) type Branch<K> = Item<K, u32, WAYS>;

/// An ordered map, as a kernel's parameter; the host's [`OrderedMap`](super::OrderedMap) makes one.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Adds up the values from key 10 up to, and without, key 30.
/// #[kernel]
/// pub fn sum_range(stm: &Stm, map: OrderedMap<u32, u64>, sum: Cells<u64>) {
///     stm.each(0..1, |tx, _| {
///         let (mut total, mut before) = (0, 9);
///         while let Some((key, value)) = map.next_after(tx, before)?.filter(|(key, _)| *key < 30) {
///             (total, before) = (total + value, key);
///         }
///         tx.write(sum, 0, total)
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let sum = stm.array("sum", &[0u64])?;
/// let mut map = stm_core::collections::OrderedMap::new(&cpu, stm_core::Layout::Cells, 4, "map")?;
/// map.upload([(5, 1), (10, 2), (20, 4), (30, 8)])?;
/// sum_range::launch(&mut stm, Launch::new(1, 1), &map, &sum)?;
/// assert_eq!(sum.download()?, [6]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[repr(C)]
pub struct TOrderedMap<A: Algorithm, K, V> {
    root: A::Array<u32>,
    leaves: TNodes<A, Leaf<K, V>>,
    branches: TNodes<A, Branch<K>>,
}

stm_machine::handle!([A: Algorithm, K, V] TOrderedMap<A, K, V>: root, leaves, branches);

/// The word of a link: that of the root, or one of a branch.
#[derive(Clone, Copy, Debug)]
struct LinkWord {
    /// The branch, or nothing for the root.
    branch: Link,
    digit: u32,
}

impl LinkWord {
    const ROOT: Self = Self::of(Link::NONE, 0);

    #[inline(always)]
    const fn of(branch: Link, digit: u32) -> Self {
        Self { branch, digit }
    }
}

/// What a walk along a key's digits came to.
#[derive(Clone, Copy, Debug)]
struct Walk {
    /// The word with the link to the last branch, if there is one.
    before: LinkWord,
    last: LinkWord,
    /// The last link: to a leaf, or to nothing.
    link: Link,
}

#[stm_core_macros::inlined(apart)]
impl<A: Algorithm, K: Key, V: Element> TOrderedMap<A, K, V> {
    /// Makes a view of a map.
    ///
    /// # Safety
    /// The parts are those of one owner, which keeps the invariants of this file,
    /// and no transaction reaches them except through views made of these parts.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub(crate) const unsafe fn from_parts(
        root: A::Array<u32>,
        leaves: TNodes<A, Leaf<K, V>>,
        branches: TNodes<A, Branch<K>>,
    ) -> Self {
        Self {
            root,
            leaves,
            branches,
        }
    }

    fn of_branch<L: Lane, T: Element>(
        &self,
        tx: &mut Tx<'_, L, A>,
        branch: Link,
        field: Field<Branch<K>, T>,
    ) -> TxResult<T> {
        tx.read_field(&self.branches.records, branch.index().into(), field)
    }

    fn set_branch<L: Lane, T: Element>(
        &self,
        tx: &mut Tx<'_, L, A>,
        branch: Link,
        field: Field<Branch<K>, T>,
        value: T,
    ) -> TxResult<()> {
        tx.write_field(&self.branches.records, branch.index().into(), field, value)
    }

    fn read_link<L: Lane>(&self, tx: &mut Tx<'_, L, A>, at: LinkWord) -> TxResult<Link> {
        if at.branch.is_none() {
            return Ok(Link(tx.read(&self.root, 0)?));
        }
        let link = Branch::<K>::link_at(at.digit);
        Ok(Link(self.of_branch(tx, at.branch, link)?))
    }

    fn write_link<L: Lane>(&self, tx: &mut Tx<'_, L, A>, at: LinkWord, link: Link) -> TxResult<()> {
        if at.branch.is_none() {
            return tx.write(&self.root, 0, link.0);
        }
        let field = Branch::<K>::link_at(at.digit);
        self.set_branch(tx, at.branch, field, link.0)
    }

    fn read_leaf<L: Lane>(&self, tx: &mut Tx<'_, L, A>, leaf: Link) -> TxResult<(K, V)> {
        let fields = (Leaf::<K, V>::key(), Leaf::<K, V>::value());
        tx.read_two(&self.leaves.records, leaf.index().into(), fields)
    }

    fn walk<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: u64) -> TxResult<Walk> {
        let (mut before, mut last) = (LinkWord::ROOT, LinkWord::ROOT);
        let mut link = self.read_link(tx, last)?;
        while link.is_branch() {
            before = last;
            last = LinkWord::of(link, digit(key, link.shift()));
            link = self.read_link(tx, last)?;
        }
        Ok(Walk { before, last, link })
    }

    /// Finds the place of `key`, to use what is there or to change it. Lanes of a
    /// warp that do different things with their entries search together.
    pub fn entry<'t, 'a, L: Lane>(
        &self,
        tx: &'t mut Tx<'a, L, A>,
        key: K,
    ) -> TxResult<OrderedEntry<'t, 'a, L, A, K, V>> {
        let walk = self.walk(tx, key.to_bits64())?;
        let leaf = if walk.link.is_none() {
            None
        } else {
            Some(self.read_leaf(tx, walk.link)?)
        };
        Ok(OrderedEntry {
            tx,
            map: *self,
            key,
            walk,
            there: leaf.is_some_and(|(other, _)| other == key),
            leaf,
        })
    }

    /// Returns the value of `key`.
    pub fn get<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: K) -> TxResult<Option<V>> {
        self.entry(tx, key)?.get()
    }

    /// Returns whether the map has `key`.
    pub fn contains<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: K) -> TxResult<bool> {
        Ok(self.entry(tx, key)?.is_there())
    }

    /// Puts `value` at `key` and returns the value that was there.
    pub fn insert<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: K, value: V) -> TxResult<Option<V>> {
        self.entry(tx, key)?.insert(value)
    }

    /// Removes `key` and returns its value.
    pub fn remove<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: K) -> TxResult<Option<V>> {
        self.entry(tx, key)?.remove()
    }

    fn first_below<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        mut link: Link,
    ) -> TxResult<Option<(K, V)>> {
        while link.is_branch() {
            let occupied = self.of_branch(tx, link, Branch::<K>::value())?;
            let first = occupied.trailing_zeros() % WAYS as u32;
            link = self.read_link(tx, LinkWord::of(link, first))?;
        }
        if link.is_none() {
            return Ok(None);
        }
        Ok(Some(self.read_leaf(tx, link)?))
    }

    /// Returns the entry with the smallest key.
    pub fn first<L: Lane>(&self, tx: &mut Tx<'_, L, A>) -> TxResult<Option<(K, V)>> {
        let root = self.read_link(tx, LinkWord::ROOT)?;
        self.first_below(tx, root)
    }

    /// Removes the entry with the smallest key and returns it.
    pub fn pop_first<L: Lane>(&self, tx: &mut Tx<'_, L, A>) -> TxResult<Option<(K, V)>> {
        let Some((key, _)) = self.first(tx)? else {
            return Ok(None);
        };
        Ok(self.remove(tx, key)?.map(|value| (key, value)))
    }

    /// Returns the entry with the smallest key that is greater than `key`.
    pub fn next_after<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: K) -> TxResult<Option<(K, V)>> {
        let bits = key.to_bits64();
        let mut larger = Link::NONE;
        let mut link = self.read_link(tx, LinkWord::ROOT)?;
        while link.is_branch() {
            let shift = link.shift();
            let prefix = (self.of_branch(tx, link, Branch::<K>::key())?).to_bits64();
            let wanted = above(bits, shift);
            if prefix != wanted {
                if prefix < wanted {
                    link = larger;
                }
                return self.first_below(tx, link);
            }
            let occupied = self.of_branch(tx, link, Branch::<K>::value())?;
            let here = digit(bits, shift);
            let higher = occupied & (u32::MAX << 1) << here;
            if higher != 0 {
                let next = higher.trailing_zeros() % WAYS as u32;
                larger = self.read_link(tx, LinkWord::of(link, next))?;
            }
            link = self.read_link(tx, LinkWord::of(link, here))?;
        }
        if !link.is_none() {
            let leaf = self.read_leaf(tx, link)?;
            if leaf.0 > key {
                return Ok(Some(leaf));
            }
        }
        self.first_below(tx, larger)
    }
}
