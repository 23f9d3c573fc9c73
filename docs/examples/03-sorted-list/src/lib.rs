//! A sorted list whose nodes come from a pool and go back to it.

use stm_core::prelude::*;
use stm_core::record;

record! {
    /// A node of the list.
    pub struct Item {
        /// The key; the keys of the list rise.
        pub key: u32,
        /// The link to the next node, 0 for none.
        pub next: u32,
    }
}

/// The result of an operation that changed the list.
pub const DONE: u32 = 1;

/// Inserts the even operations' keys and removes those of the odd ones. The
/// result is [`DONE`], or 0 if the key was there already, or not.
///
/// `head` has one word, the link to the first node.
#[kernel]
pub fn insert_and_remove(
    stm: &Stm,
    head: Cells<u32>,
    items: Nodes<Item>,
    keys: Input<u32>,
    results: Output<u32>,
) {
    stm.into(results).each(0..keys.len(), |tx, i| {
        let key = keys.get(stm.lane(), i).unwrap_or(0);
        // The node before the place of the key, and the one that is there.
        let mut before = Node::NIL;
        let mut node = Node::from_bits(tx.read(head, 0)?);
        let (mut found, mut after) = (false, 0);
        while !node.is_nil() {
            let [at, next] = tx.get_many(items, node, [Item::key(), Item::next()])?;
            if at >= key {
                (found, after) = (at == key, next);
                break;
            }
            before = node;
            node = Node::from_bits(next);
        }
        let inserts = i % 2 == 0;
        if found == inserts {
            return Ok(0);
        }
        let link = if inserts {
            // Given back by an abort; private until the commit.
            let next = node.bits();
            tx.alloc_record(items, Item { key, next })?.bits()
        } else {
            // Free when the transaction has committed.
            tx.free(items.pool(), node)?;
            after
        };
        if before.is_nil() {
            tx.write(head, 0, link)?;
        } else {
            tx.set(items, before, Item::next(), link)?;
        }
        Ok(DONE)
    });
}
