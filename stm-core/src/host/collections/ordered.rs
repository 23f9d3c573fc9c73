//! The ordered map.

use super::{check_nodes, damaged};
use crate::collections::{Branch, Key, Leaf, Link, TOrderedMap, above, digit, highest_digit};
use crate::host::arranged::TxArray;
use crate::host::pool::Nodes;
use crate::host::prelude::*;
use crate::host::stm::Stm;

/// A map in the order of its keys, in the memory of a device. A kernel receives it as a [`TOrderedMap`].
///
/// ```
/// use stm_core::Layout;
/// use stm_core::collections::OrderedMap;
/// use stm_core::host::Cpu;
///
/// let mut map = OrderedMap::new(&Cpu::new(), Layout::Cells, 10, "map")?;
/// map.upload([(1u64 << 40, 2.5f32), (1, 0.5)])?;
/// map.arrange_as(Layout::Plain)?; // for another algorithm
/// assert_eq!(map.download()?.first_key_value(), Some((&1, &0.5)));
/// # Ok::<(), stm_core::host::Error>(())
/// ```
pub struct OrderedMap<D: Device, K, V> {
    root: TxArray<D, u32>,
    leaves: Nodes<D, Leaf<K, V>>,
    branches: Nodes<D, Branch<K>>,
}

container! {
    OrderedMap<K: [Key], V: [Element]> => TOrderedMap, |it|
        // SAFETY: the parts are this owner's, which makes no other views of them.
        unsafe {
            TOrderedMap::from_parts(
                it.root.view::<A>(), it.leaves.view::<A>(), it.branches.view::<A>(),
            )
        };
    parts [root leaves branches]; nodes leaves; shown leaves
}

/// The records of a map while the host reads them.
struct Tree<K, V> {
    leaves: Vec<Leaf<K, V>>,
    branches: Vec<Branch<K>>,
}

impl<D: Device, K: Key, V: Element> OrderedMap<D, K, V> {
    /// Makes an empty map with `capacity` leaves and as many branches; `what` names it in an error.
    ///
    /// # Errors
    /// [`Error::PoolSize`] for no leaves, or for 2^27 and more.
    pub fn new(device: &D, layout: Layout, capacity: u64, what: &'static str) -> Result<Self> {
        if capacity > Link::NODES_MAX {
            let nodes = capacity;
            return Err(Error::PoolSize { what, nodes });
        }
        Ok(Self {
            root: TxArray::zeroed(device, layout, 1, what)?,
            leaves: Nodes::new(device, layout, capacity, what)?,
            branches: Nodes::new(device, layout, capacity, what)?,
        })
    }

    /// Replaces the contents; of several values of one key, the last one counts. More entries than leaves are
    /// [`Error::PoolExhausted`].
    pub fn upload(&mut self, entries: impl IntoIterator<Item = (K, V)>) -> Result {
        self.clear()?;
        let entries: BTreeMap<K, V> = entries.into_iter().collect();
        // The first nodes of an empty pool, so a node's place is its index.
        self.leaves.pool_mut().take(entries.len() as u64)?;
        let (links, leaves) = ([], entries.into_iter());
        let leaves = leaves.map(|(key, value)| Leaf { key, links, value });
        let (leaves, mut branches) = (leaves.collect::<Vec<_>>(), Vec::new());
        let root = build(&leaves, 0, &mut branches);
        self.branches.pool_mut().take(branches.len() as u64)?;
        self.leaves.records_mut().upload_first(&leaves)?;
        self.branches.records_mut().upload_first(&branches)?;
        self.root.upload(&[root.0])
    }

    /// Copies the entries to the host; [`Error::Corrupt`] if the tree is not as its invariants say or a node
    /// has leaked, which no launch leaves.
    pub fn download(&self) -> Result<BTreeMap<K, V>> {
        let tree = Tree {
            leaves: self.leaves.records().download()?,
            branches: self.branches.records().download()?,
        };
        let mut found = [tree.leaves.len(), tree.branches.len()].map(|nodes| vec![false; nodes]);
        let root = Link(self.root.download()?[0]);
        if !root.is_none() {
            let walked = tree.walk(root, u32::MAX, &mut found);
            walked.map_err(|wrong| damaged(self.leaves.pool().name(), &wrong))?;
        }
        let [leaves, branches] = found;
        check_nodes(self.leaves.pool(), &leaves)?;
        check_nodes(self.branches.pool(), &branches)?;
        for (index, (branch, is_linked)) in tree.branches.iter().zip(branches).enumerate() {
            let dirty = branch.value != 0 || branch.links.iter().any(|&link| link != 0);
            if dirty && !is_linked {
                let what = format!("branch {index} is free and not empty");
                return Err(damaged(self.leaves.pool().name(), &what));
            }
        }
        let all = tree.leaves.iter().zip(leaves);
        let found = all.filter(|(_, is_linked)| *is_linked);
        Ok(found.map(|(leaf, _)| (leaf.key, leaf.value)).collect())
    }
}

/// Makes the branches above some leaves, whose keys rise, and returns the link to all of them; `at` is the index
/// of the first leaf.
fn build<K: Key, V: Element>(leaves: &[Leaf<K, V>], at: u32, made: &mut Vec<Branch<K>>) -> Link {
    let key = |leaf: &Leaf<K, V>| leaf.key.to_bits64();
    let (first, last) = match leaves {
        [] => return Link::NONE,
        [_] => return Link::leaf(at),
        [first, .., last] => (key(first), key(last)),
    };
    let shift = highest_digit(first ^ last);
    let way = |leaf: &Leaf<K, V>| digit(key(leaf), shift);
    let index = made.len();
    made.push(Branch {
        key: K::from_bits64(above(first, shift)),
        links: [0; 16],
        value: 0,
    });
    let mut from = at;
    for below in leaves.chunk_by(|a, b| way(a) == way(b)) {
        let link = build(below, from, made);
        made[index].links[way(&below[0]) as usize] = link.0;
        made[index].value |= 1 << way(&below[0]);
        from += below.len() as u32;
    }
    Link::branch(index as u32, shift)
}

impl<K: Key, V: Element> Tree<K, V> {
    /// Checks what is below a link, for digits lower than that at bit `limit`, and returns a key there.
    fn walk(&self, link: Link, limit: u32, found: &mut [Vec<bool>; 2]) -> Result<u64, String> {
        let (index, [leaves, branches]) = (link.index() as usize, &mut *found);
        if !link.is_branch() {
            let Some(leaf) = self.leaves.get(index) else {
                return Err(format!("{:#x} names no leaf", link.0));
            };
            if core::mem::replace(&mut leaves[index], true) {
                return Err(format!("leaf {index} is met twice"));
            }
            return Ok(leaf.key.to_bits64());
        }
        let Some(branch) = self.branches.get(index) else {
            return Err(format!("{:#x} names no branch", link.0));
        };
        let shift = link.shift();
        let is_met = core::mem::replace(&mut branches[index], true);
        if is_met || shift >= limit || shift >= K::BITS {
            return Err(format!("branch {index} is met twice, or in no order"));
        }
        let prefix = branch.key.to_bits64();
        let mut occupied = 0;
        for (way, &below) in (0..).zip(&branch.links) {
            if below == 0 {
                continue;
            }
            occupied |= 1 << way;
            let key = self.walk(Link(below), shift, found)?;
            if above(key, shift) != prefix || digit(key, shift) != way {
                return Err(format!("key {key:#x} is in way {way} of branch {index}"));
            }
        }
        if occupied != branch.value || occupied.count_ones() < 2 {
            return Err(format!("branch {index} is not as its links are"));
        }
        // Each key below was compared with its own branch's prefix, so one with the prefix is enough.
        Ok(prefix | u64::from(occupied.trailing_zeros()) << shift)
    }
}
