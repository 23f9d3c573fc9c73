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

use crate::array::pool::Node;
use crate::array::record::Record;
use crate::host::device::Device;
use crate::host::error::Error;
use crate::host::pool::Nodes;
use std::collections::BTreeSet;
use std::format;

/// Returns the error of a container that is not whole.
fn damaged(what: &str, found: &str) -> Error {
    Error::Corrupt {
        what: format!("{what}: {found}"),
    }
}

/// Checks that the nodes that a container links to, by index, are exactly those
/// that its pool has given out.
fn check_nodes<D: Device, R: Record>(
    nodes: &Nodes<D, R>,
    linked: &BTreeSet<u32>,
) -> Result<(), Error> {
    let view = nodes.pool().view();
    let taken = nodes.pool().taken()?;
    let taken: BTreeSet<u32> = (taken.iter().copied())
        .filter_map(|node: Node| view.index(node))
        .collect();
    let what = nodes.pool().name();
    if let Some(index) = taken.difference(linked).next() {
        return Err(damaged(what, &format!("node {index} has leaked")));
    }
    if let Some(index) = linked.difference(&taken).next() {
        return Err(damaged(what, &format!("node {index} is linked and free")));
    }
    Ok(())
}
