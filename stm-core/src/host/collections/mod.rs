//! The owners of the containers ([`crate::collections`]), in the memory of a
//! device.
//!
//! Each one has a capacity, a layout that can be changed, and a name for errors.
//! The host fills a container and takes out what it has between launches, and in
//! doing so checks that the container is whole: that no node is lost and none has
//! leaked.

mod arguments;
mod lists;
mod ordered;
mod queue;

pub use lists::{List, Lists, Map};
pub use ordered::OrderedMap;
pub use queue::Queue;

use crate::array::record::Record;
use crate::host::pool::Nodes;
use std::format;
use std::vec::Vec;
use stm_machine::host::Device;
use stm_machine::host::Error;

/// Returns the error of a container that is not whole.
fn damaged(what: &str, found: &str) -> Error {
    Error::Corrupt {
        what: format!("{what}: {found}"),
    }
}

/// Nodes of a pool, by index: a bit for each.
#[derive(Default)]
struct NodeSet(Vec<u64>);

impl NodeSet {
    /// Adds a node, and returns whether it was absent.
    fn insert(&mut self, index: u32) -> bool {
        let (word, bit) = (index as usize / 64, 1 << (index % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let absent = self.0[word] & bit == 0;
        self.0[word] |= bit;
        absent
    }

    /// Returns whether a node is in the set.
    fn contains(&self, index: u32) -> bool {
        let word = self.0.get(index as usize / 64);
        word.is_some_and(|word| word >> (index % 64) & 1 != 0)
    }

    /// Returns the nodes in the order of their indices.
    fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.0.len() as u32 * 64).filter(|&index| self.contains(index))
    }
}

/// Checks that the nodes that a container links to, by index, are exactly those
/// that its pool has given out.
fn check_nodes<D: Device, R: Record>(nodes: &Nodes<D, R>, linked: &NodeSet) -> Result<(), Error> {
    let view = nodes.pool().view();
    let mut taken = NodeSet::default();
    for index in nodes
        .pool()
        .taken()?
        .into_iter()
        .filter_map(|node| view.index(node))
    {
        taken.insert(index);
    }
    let what = nodes.pool().name();
    if let Some(index) = taken.iter().find(|&index| !linked.contains(index)) {
        return Err(damaged(what, &format!("node {index} has leaked")));
    }
    if let Some(index) = linked.iter().find(|&index| !taken.contains(index)) {
        return Err(damaged(what, &format!("node {index} is linked and free")));
    }
    Ok(())
}
