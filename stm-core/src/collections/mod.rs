//! Containers: functions of a transaction.
//!
//! | container | host | in a kernel | structure |
//! | --- | --- | --- | --- |
//! | hash map | [`Map`] | [`TMap`] | a chain of nodes, in the order of their keys, for each bucket |
//! | ordered map | [`OrderedMap`] | [`TOrderedMap`] | a radix tree of 16 ways with compressed paths |
//! | ordered list | [`List`] | [`TList`] | one chain, with entry points if it is long; a walk along it keeps few reads |
//! | many lists | [`Lists`] | [`TLists`] | chains whose nodes come from one pool |
//! | bounded queue | [`Queue`] | [`TQueue`] | a ring and two counts |
//!
//! Keys are `u32` or `u64`, values are words of any type. The host owns a container; its `view` is a kernel
//! parameter. Every operation is a part of the transaction that it takes: several, on one container or more,
//! take effect together, an alternative of [`Tx::or_else`](crate::Tx::or_else) that gives up has changed
//! none, and a transaction that waits ([`Tx::retry`](crate::Tx::retry)) is woken when one would return
//! something else. All work under every algorithm.
//!
//! ```
//! use stm_core::collections::TMap;
//! use stm_core::{Lane, Tx, TxResult, algorithm::Algorithm};
//!
//! /// Moves an entry to another map, and returns whether there was one.
//! fn move_entry<L: Lane, A: Algorithm>(
//!     tx: &mut Tx<'_, L, A>, from: &TMap<A, u32, u64>, to: &TMap<A, u32, u64>, key: u32,
//! ) -> TxResult<bool> {
//!     let Some(value) = from.remove(tx, key)? else {
//!         return Ok(false);
//!     };
//!     to.insert(tx, key, value)?;
//!     Ok(true)
//! }
//! ```
//!
//! An entry ([`TMap::entry`]) borrows the transaction. One that looks at several before it changes some holds
//! their places ([`TMap::locate`], [`ListPlace`]), which are read and written without another search.
//!
//! # Errors
//!
//! An operation returns the errors of [`Tx::read`](crate::Tx::read); one that changes, inserts or removes
//! something, also those of [`Tx::write`](crate::Tx::write), [`Tx::alloc`](crate::Tx::alloc) or
//! [`Tx::free`](crate::Tx::free).
//! [`TQueue`]'s `push` and `pop` also return `Abort::Retry`, and `drain` what its closure returns.
//!
//! # Sizes
//!
//! The capacity of a container is the number of its nodes: one for each entry, and one for each insertion in
//! progress. A full one is [`Error::PoolExhausted`](crate::host::Error::PoolExhausted). The sets of a
//! transaction ([`StmConfig`](crate::host::StmConfig)) need room for the words that its operations access:
//!
//! | operation | words read | words written | deferred actions |
//! | --- | --- | --- | --- |
//! | of a list or a hash map | 1 and 2 for each node up to the key's place; a list under `fast` and `fast-table`: 16 at most | 5 | 1 |
//! | `locate`, `get` of a hash map or of lists | 3, and 3 for each node before the key's | | |
//! | `drain` of a list | 1, and 3 for each entry | 1 | 1 for each entry |
//! | `get` of an ordered map | 3 and 1 for each branch: about log16 of the entries, [`Key::BITS`] / 4 at most | | |
//! | `insert`, `remove` of an ordered map | twice as many | 9 | 2 |
//! | `first`, `next_after` of an ordered map | 3 and 5 for each branch | | |
//! | of a queue | 3 | 2 | |

// What takes a `Tx` is inlined on a GPU, so that the transaction stays in registers. Elsewhere the larger
// functions are not: a kernel that calls some of them would take minutes to compile.

mod item;
mod list;
mod lists;
mod map;
mod ordered;
mod queue;

pub use item::{Item, Key};
pub use list::TList;
pub use lists::{ListEntry, ListItem, ListPlace, TLists};
pub use map::TMap;
pub use ordered::{OrderedEntry, TOrderedMap};
pub use queue::TQueue;

#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub(crate) use list::range;
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub(crate) use map::bucket;
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub(crate) use ordered::{Branch, Leaf, Link, above, digit, highest_digit};

#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub use crate::host::collections::{List, Lists, Map, OrderedMap, Queue};
