//! Ordered lists, and what is made of them: one list, and the hash map.

use super::{check_nodes, damaged};
use crate::collections::{Key, ListItem, TList, TLists, TMap, bucket, range};
use crate::host::arranged::TxArray;
use crate::host::pool::Nodes;
use crate::host::prelude::*;
use crate::host::stm::Stm;

const WORTH: u64 = 1 << 14;

/// Ordered lists with nodes of one pool, numbered from 0, in the memory of a device; [`TLists`] for a kernel.
///
/// ```
/// use stm_core::Layout;
/// use stm_core::collections::Lists;
/// use stm_core::host::Cpu;
///
/// let mut lists = Lists::new(&Cpu::new(), Layout::Cells, 2, 10, "lists")?;
/// lists.upload(&[vec![(2u32, 20u32), (1, 10)], vec![(3, 30)]])?;
/// assert_eq!(lists.download()?, [vec![(1, 10), (2, 20)], vec![(3, 30)]]);
/// assert_eq!((lists.lists(), lists.capacity()), (2, 10));
/// # Ok::<(), stm_core::host::Error>(())
/// ```
pub struct Lists<D: Device, K, V> {
    heads: TxArray<D, u32>,
    nodes: Nodes<D, ListItem<K, V>>,
}

container! {
    Lists<K: [Key], V: [Element]> => TLists, |it|
        // SAFETY: both are this owner's, which makes no other views of them.
        unsafe { TLists::from_parts(it.heads.view::<A>(), it.nodes.view::<A>()) };
    parts [heads nodes]; nodes nodes; shown nodes
}

impl<D: Device, K: Key, V: Element> Lists<D, K, V> {
    /// Makes `lists` empty lists with `capacity` nodes for all of them together; `what` names them in an
    /// error.
    ///
    /// # Errors
    /// [`Error::PoolSize`](crate::host::Error::PoolSize) for no nodes or more than 2^31.
    pub fn new(
        device: &D,
        layout: Layout,
        lists: usize,
        capacity: u64,
        what: &'static str,
    ) -> Result<Self> {
        Ok(Self {
            heads: TxArray::zeroed(device, layout, lists, what)?,
            nodes: Nodes::new(device, layout, capacity, what)?,
        })
    }

    /// Returns the number of lists.
    pub const fn lists(&self) -> usize {
        self.heads.len()
    }

    /// Replaces the contents of all lists. Of several values of one key, the last one counts.
    ///
    /// # Panics
    /// It panics if there are more of `lists` than [`Self::lists`].
    ///
    /// # Errors
    /// [`Error::PoolExhausted`](crate::host::Error::PoolExhausted) if there are more entries than nodes.
    pub fn upload(&mut self, lists: &[Vec<(K, V)>]) -> Result {
        assert!(lists.len() <= self.lists(), "more lists than there are");
        let lists = lists.iter().enumerate();
        let entries = lists.flat_map(|(i, list)| list.iter().map(move |&(k, v)| (i, k, v)));
        self.fill(&entries.collect::<Vec<_>>())
    }

    /// Replaces the contents of all lists with entries, each with the number of its list.
    fn fill(&mut self, entries: &[(usize, K, V)]) -> Result {
        self.clear()?;
        // Each core puts those of its lists into the order of their keys, the last one first.
        let parts = in_ranges(WORTH, self.lists() as u64, |lists| {
            let is_here = |entry: &&(usize, K, V)| lists.contains(&(entry.0 as u64));
            let mut entries: Vec<_> = entries.iter().filter(is_here).copied().collect();
            // The sort is stable, so the last value is the last of its key.
            entries.sort_by(|(a, k, _), (b, l, _)| (a, k).cmp(&(b, l)));
            entries.reverse();
            entries.dedup_by(|(a, k, _), (b, l, _)| (*a, *k) == (*b, *l));
            entries
        });
        let count: usize = parts.iter().map(Vec::len).sum();
        let taken = self.nodes.pool_mut().take(count as u64)?;
        // The first nodes of an empty pool, so a node's place is its index.
        let mut records = Vec::with_capacity(count);
        let mut heads = vec![0; self.lists()];
        for ((number, key, value), node) in parts.into_iter().rev().flatten().zip(taken) {
            let links = [heads[number]];
            records.push(ListItem { key, links, value });
            heads[number] = node.bits();
        }
        self.nodes.records_mut().upload_first(&records)?;
        self.heads.upload(&heads)
    }

    /// Returns the words of the lists and the bits that they hold, for a history that begins with them.
    pub fn words(&self) -> Result<Vec<(WordAddress, u64)>> {
        let mut words = self.nodes.records().words()?;
        let heads = self.heads.download()?.into_iter().map(u64::from);
        words.extend((0..).map(|list| self.heads.word(list)).zip(heads));
        Ok(words)
    }

    /// Copies the entries of all lists to the host, each in the order of its keys. A list out of order, a
    /// node that is met twice and a node that has leaked, none of which a launch leaves, are
    /// [`Error::Corrupt`](crate::host::Error::Corrupt).
    pub fn download(&self) -> Result<Vec<Vec<(K, V)>>> {
        self.read(|_, list, lists| {
            lists.push(list.to_vec());
            Ok(())
        })
    }

    /// Copies the entries of all lists to the host, list after list; a key says which `place` has to have it.
    fn entries(&self, place: &str, number_of: impl Fn(K) -> usize + Sync) -> Result<Vec<(K, V)>> {
        let what = self.nodes.pool().name();
        self.read(|number, list, entries| {
            if let Some((key, _)) = list.iter().find(|(key, _)| number_of(*key) != number) {
                let found = format!("{key:?} is in {place} {number}");
                return Err(damaged(what, &found));
            }
            entries.extend(list);
            Ok(())
        })
    }

    /// Reads the lists, on all cores, and returns what `each` appends for each of them with its number.
    fn read<T: Send>(
        &self,
        each: impl Fn(usize, &[(K, V)], &mut Vec<T>) -> Result + Sync,
    ) -> Result<Vec<T>> {
        let what = self.nodes.pool().name();
        let index_of = self.nodes.pool().indices();
        let records = self.nodes.records().download()?;
        let (heads, capacity) = (self.heads.download()?, self.nodes.capacity());
        let parts = in_ranges(WORTH, heads.len() as u64, |lists| {
            let (mut all, mut seen, mut list) = (Vec::new(), Vec::new(), Vec::<(K, V)>::new());
            let lists = lists.start as usize..lists.end as usize;
            for (number, &head) in lists.clone().zip(&heads[lists]) {
                list.clear();
                let mut link = head;
                while link != 0 {
                    let Some(index) = index_of(crate::Node::from_bits(link)) else {
                        return Err(damaged(what, &format!("{link:#x} names no node")));
                    };
                    let item = records[index as usize];
                    // In order, a list has no circle, so that it ends.
                    if list.last().is_some_and(|&(last, _)| last >= item.key) {
                        return Err(damaged(what, &format!("list {number} is not in order")));
                    }
                    // Lists that share their ends would be walked for as long as there are lists.
                    if seen.len() as u64 >= capacity {
                        return Err(damaged(what, &format!("node {index} is met twice")));
                    }
                    list.push((item.key, item.value));
                    seen.push(index);
                    link = item.links[0];
                }
                each(number, &list, &mut all)?;
            }
            Ok((all, seen))
        });
        let (mut all, mut seen) = (Vec::new(), vec![false; capacity as usize]);
        for part in parts {
            let (mut more, of_part) = part?;
            all.append(&mut more);
            let twice = |&index: &u32| core::mem::replace(&mut seen[index as usize], true);
            if let Some(index) = of_part.into_iter().find(twice) {
                return Err(damaged(what, &format!("node {index} is met twice")));
            }
        }
        check_nodes(self.nodes.pool(), &seen)?;
        Ok(all)
    }
}

/// One ordered list in the memory of a device. A kernel receives it as a [`TList`].
///
/// ```
/// use stm_core::Layout;
/// use stm_core::collections::List;
/// use stm_core::host::Cpu;
///
/// let mut list = List::new(&Cpu::new(), Layout::Cells, 10, "list")?;
/// list.upload([(7u32, 70u32), (3, 30)])?;
/// assert_eq!(list.download()?, [(3, 30), (7, 70)]);
/// # Ok::<(), stm_core::host::Error>(())
/// ```
pub struct List<D: Device, K, V>(Lists<D, K, V>, u32);

/// A hash map in the memory of a device. A kernel receives it as a [`TMap`].
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Counts how often each of the words occurs.
/// #[kernel]
/// pub fn count_words(stm: &Stm, words: Input<u32>, counts: Map<u32, u64>) {
///     stm.each(0..words.len(), |tx, i| {
///         let mut entry = counts.entry(tx, words.get(stm.lane(), i).unwrap_or(0))?;
///         let before = entry.get()?.unwrap_or(0);
///         entry.insert(before + 1).map(|_| ())
///     });
/// }
///
/// # fn main() -> Result<(), stm_core::host::Error> {
/// use stm_core::{Layout, collections::Map};
/// let cpu = Cpu::new();
/// let words = Buffer::from_slice(&cpu, &[3_u32, 1, 4, 1, 5], "the words")?;
/// // A node for each word, and one more for each lane.
/// let counts = Map::new(&cpu, Layout::Cells, 5 + 8, "the counts")?;
/// let mut stm = Stm::on(&cpu)?;
/// count_words::launch(&mut stm, Launch::new(2, 4), &words, &counts)?;
/// assert_eq!(counts.download()?, [(1, 2), (3, 1), (4, 1), (5, 1)].into());
/// # Ok(()) }
/// ```
pub struct Map<D: Device, K, V>(Lists<D, K, V>);

container! {
    List<K: [Key], V: [Element]> => TList, |it|
        // SAFETY: the parts are this owner's, of one list or more, which puts each key where the view does.
        unsafe { TList::from_lists(it.0.view::<A>(), it.1) };
    parts [0]; nodes 0; lists 0 by range; shown 0
}
container! {
    Map<K: [Key], V: [Element]> => TMap, |it| TMap::from_lists(it.0.view::<A>());
    parts [0]; nodes 0; lists 0 by bucket; shown 0
}

impl<D: Device, K: Key, V: Element> List<D, K, V> {
    /// Makes an empty list with `capacity` nodes, called `what`, with the errors of [`Lists::new`].
    pub fn new(device: &D, layout: Layout, capacity: u64, what: &'static str) -> Result<Self> {
        let lists = Lists::new(device, layout, 1, capacity, what)?;
        Ok(Self(lists, u64::BITS - 1))
    }

    /// Makes an empty list with `capacity` nodes and so many entry points: the keys of a range of
    /// 2^`range_bits` begin at one of their own, and keys beyond all ranges are in the last. A walk is as
    /// long as its range has entries.
    ///
    /// ```
    /// use stm_core::Layout;
    /// use stm_core::collections::List;
    /// use stm_core::host::Cpu;
    ///
    /// // 0 to 255, 256 to 511, 512 to 767, and all from 768 on.
    /// let mut list = List::with_entry_points(&Cpu::new(), Layout::Plain, 10, 4, 8, "a list")?;
    /// list.upload([(700_u32, 'c' as u32), (5_000, 'd' as u32), (3, 'a' as u32)])?;
    /// assert_eq!(list.download()?.len(), 3);
    /// # Ok::<(), stm_core::host::Error>(())
    /// ```
    ///
    /// # Panics
    /// It panics for no entry points, and for ranges of 2^64 keys or more. Errors are those of [`Lists::new`].
    pub fn with_entry_points(
        device: &D,
        layout: Layout,
        capacity: u64,
        entry_points: usize,
        range_bits: u32,
        what: &'static str,
    ) -> Result<Self> {
        assert!(entry_points > 0, "a list has an entry point or more");
        assert!(range_bits < u64::BITS, "a range has less than 2^64 keys");
        let lists = Lists::new(device, layout, entry_points, capacity, what)?;
        Ok(Self(lists, range_bits))
    }

    fn range(&self, key: K) -> usize {
        range(key, self.1, self.0.lists() as u64) as usize
    }

    /// Copies the entries, in the order of their keys. Errors are of [`Lists::download`]; a key in the range
    /// of others is [`Error::Corrupt`](crate::host::Error::Corrupt) too.
    pub fn download(&self) -> Result<Vec<(K, V)>> {
        let (bits, ranges) = (self.1, self.0.lists() as u64);
        (self.0).entries("range", |key| range(key, bits, ranges) as usize)
    }
}

/// The largest number of buckets: the hash of a key has 32 bits.
const BUCKETS_MAX: u64 = 1 << 31;

impl<D: Device, K: Key, V: Element> Map<D, K, V> {
    /// Makes an empty map of `capacity` nodes and buckets, called `what`, with the errors of [`Lists::new`].
    pub fn new(device: &D, layout: Layout, capacity: u64, what: &'static str) -> Result<Self> {
        let buckets = capacity.clamp(1, BUCKETS_MAX);
        Self::with_buckets(device, layout, capacity, buckets as usize, what)
    }

    /// Makes an empty map with `capacity` nodes and another number of buckets, with the errors of
    /// [`Lists::new`].
    ///
    /// # Panics
    /// It panics for no buckets or more than 2^31.
    pub fn with_buckets(
        device: &D,
        layout: Layout,
        capacity: u64,
        buckets: usize,
        what: &'static str,
    ) -> Result<Self> {
        let fits = (1..=BUCKETS_MAX).contains(&(buckets as u64));
        assert!(fits, "a map has from 1 to 2^31 buckets");
        Ok(Self(Lists::new(device, layout, buckets, capacity, what)?))
    }

    /// Copies the entries to the host. The errors are those of [`Lists::download`]; a key in the bucket of
    /// another is [`Error::Corrupt`](crate::host::Error::Corrupt) too.
    pub fn download(&self) -> Result<BTreeMap<K, V>> {
        // A map is made of all entries at once eight times as fast as of one after the other.
        Ok(self.entries()?.into_iter().collect())
    }

    /// Copies the entries in no order, faster than [`Self::download`], with its errors.
    pub fn entries(&self) -> Result<Vec<(K, V)>> {
        let buckets = self.0.lists() as u64;
        (self.0).entries("bucket", |key| bucket(key, buckets) as usize)
    }

    fn bucket(&self, key: K) -> usize {
        bucket(key, self.0.lists() as u64) as usize
    }
}
