//! The place of a key in an ordered map, and the changes that are made there.

use super::{Branch, Leaf, Link, LinkWord, TOrderedMap, WAYS, Walk, above, digit, highest_digit};
use crate::algorithm::prelude::*;
use crate::collections::item::Key;

/// The place of a key in an ordered map ([`TOrderedMap::entry`]). It borrows the transaction, so that nothing
/// changes the map before its use.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Sells one of what is there, and takes away what is sold out.
/// #[kernel]
/// pub fn sell_one(stm: &Stm, stock: OrderedMap<u64, u32>, items: Input<u64>) {
///     stm.each(0..items.len(), |tx, i| {
///         let mut entry = stock.entry(tx, items.get(stm.lane(), i).unwrap_or(0))?;
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
/// let mut stock = stm_core::collections::OrderedMap::new(&cpu, stm_core::Layout::Cells, 4, "stock")?;
/// stock.upload([(10, 2), (20, 1)])?;
/// let items = Buffer::from_slice(&cpu, &[10, 20], "items")?;
/// sell_one::launch(&mut stm, Launch::new(1, 2), &stock, &items)?;
/// assert_eq!(stock.download()?, [(10, 1)].into());
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
pub struct OrderedEntry<'t, 'a, L: Lane, A: Algorithm, K, V> {
    pub(super) tx: &'t mut Tx<'a, L, A>,
    pub(super) map: TOrderedMap<A, K, V>,
    pub(super) key: K,
    pub(super) walk: Walk,
    pub(super) leaf: Option<(K, V)>,
    pub(super) there: bool,
}

stm_machine::shown!([L: Lane, A: Algorithm, K: Key, V] OrderedEntry<'_, '_, L, A, K, V>: key, there; ..);

#[stm_core_macros::inlined(apart)]
impl<L: Lane, A: Algorithm, K: Key, V: Element> OrderedEntry<'_, '_, L, A, K, V> {
    /// Returns whether the key is there.
    pub const fn is_there(&self) -> bool {
        self.there
    }

    /// Returns the value, if the key is there. It cannot fail, as the value was read with the key.
    pub fn get(&mut self) -> TxResult<Option<V>> {
        Ok(self.found())
    }

    fn found(&self) -> Option<V> {
        self.leaf.filter(|_| self.there).map(|(_, value)| value)
    }

    /// Puts a value at the key and returns the one that was there.
    pub fn insert(mut self, value: V) -> TxResult<Option<V>> {
        let old = self.found();
        if self.there {
            let leaf = u64::from(self.walk.link.index());
            let records = &self.map.leaves.records;
            self.tx
                .write_field(records, leaf, Leaf::<K, V>::value(), value)?;
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

    fn add(&mut self, value: V) -> TxResult<()> {
        let (map, key) = (self.map, self.key.to_bits64());
        let LinkWord { branch, digit: at } = self.walk.last;
        let item = Leaf {
            key: self.key,
            links: [],
            value,
        };
        let node = self.tx.alloc_record(&map.leaves, item)?;
        let Some(index) = map.leaves.pool.index(node) else {
            // A pool's own node has an index.
            return Ok(());
        };
        let leaf = Link::leaf(index);
        let differing = if let Some((other, _)) = self.leaf {
            other.to_bits64() ^ key
        } else if branch.is_none() {
            return map.write_link(self.tx, LinkWord::ROOT, leaf);
        } else {
            let prefix = map.of_branch(self.tx, branch, Branch::<K>::key())?;
            prefix.to_bits64() ^ above(key, branch.shift())
        };
        if differing == 0 {
            let occupied = map.of_branch(self.tx, branch, Branch::<K>::value())?;
            let occupied = occupied | 1 << at;
            map.set_branch(self.tx, branch, Branch::<K>::value(), occupied)?;
            return map.write_link(self.tx, self.walk.last, leaf);
        }
        // A branch for the highest digit that differs, behind those for higher digits.
        let shift = highest_digit(differing);
        let (mut place, mut below) = (self.walk.last, self.walk.link);
        if !branch.is_none() && branch.shift() < shift {
            place = LinkWord::ROOT;
            below = map.read_link(self.tx, place)?;
            while below.is_branch() && below.shift() > shift {
                place = LinkWord::of(below, digit(key, below.shift()));
                below = map.read_link(self.tx, place)?;
            }
        }
        let node = self.tx.alloc(map.branches.pool())?;
        let Some(index) = map.branches.pool.index(node) else {
            return Ok(());
        };
        let new = Link::branch(index, shift);
        let (mine, other) = (digit(key, shift), digit(key ^ differing, shift));
        let prefix = K::from_bits64(above(key, shift));
        map.set_branch(self.tx, new, Branch::<K>::key(), prefix)?;
        let occupied = 1 << mine | 1 << other;
        map.set_branch(self.tx, new, Branch::<K>::value(), occupied)?;
        map.set_branch(self.tx, new, Branch::<K>::link_at(mine), leaf.0)?;
        map.set_branch(self.tx, new, Branch::<K>::link_at(other), below.0)?;
        map.write_link(self.tx, place, new)
    }

    /// Removes the key and returns its value.
    pub fn remove(self) -> TxResult<Option<V>> {
        let Some(value) = self.found() else {
            return Ok(None);
        };
        let (map, tx) = (self.map, self.tx);
        let Walk { before, last, link } = self.walk;
        let branch = last.branch;
        map.write_link(tx, last, Link::NONE)?;
        if !branch.is_none() {
            let occupied = map.of_branch(tx, branch, Branch::<K>::value())?;
            let mut left = occupied & !(1 << last.digit);
            if left.is_power_of_two() {
                let only = LinkWord::of(branch, left.trailing_zeros() % WAYS as u32);
                let other = map.read_link(tx, only)?;
                map.write_link(tx, before, other)?;
                map.write_link(tx, only, Link::NONE)?;
                left = 0;
                let pool = map.branches.pool();
                tx.free(pool, pool.node(branch.index()))?;
            }
            map.set_branch(tx, branch, Branch::<K>::value(), left)?;
        }
        let pool = map.leaves.pool();
        tx.free(pool, pool.node(link.index()))?;
        Ok(Some(value))
    }
}
