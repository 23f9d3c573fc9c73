//! Sorted chains of nodes from a pool, and the operations on them that `map`
//! and `list` run.
//!
//! Each operation is a transaction: it inserts a key, removes one, or looks one
//! up. Kind and key follow from the seed and the operation's number. A value is
//! the number of the operation that inserted it, plus one. So the results make
//! the run checkable without a replay: each value that was inserted was either
//! removed, by one operation, or is there at the end.

use crate::draw::{below, draw};
use stm_core::algorithm::Algorithm;
use stm_core::{Lane, Node, TNodes, Tx, TxResult, record};

record! {
    /// A node of a chain.
    pub struct ChainNode {
        /// The key; the keys of a chain rise.
        pub key: u32,
        /// The link to the next node, 0 for none.
        pub next: u32,
        /// The value, which is never 0.
        pub value: u32,
    }
}

/// The operations of a run.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainPlan {
    /// The seed of the draws.
    pub seed: u64,
    /// The number of different keys, 1 or more.
    pub keys: u32,
    /// Lookups in a hundred operations. The others insert and remove in equal
    /// parts.
    pub lookups_percent: u32,
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Inserts the key, if it is absent.
    Insert,
    /// Removes the key, if it is there.
    Remove,
    /// Looks the key up.
    Lookup,
}

/// The result of an insertion that found its key absent.
pub const INSERTED: u32 = 1;

impl ChainPlan {
    /// Returns what operation `i` does, and with which key.
    #[inline(always)]
    pub const fn operation(&self, i: u64) -> (Operation, u32) {
        let kind = draw(self.seed, i, 0);
        let key = below(draw(self.seed, i, 1), self.keys);
        let operation = if kind % 100 < self.lookups_percent as u64 {
            Operation::Lookup
        } else if kind >> 32 & 1 == 0 {
            Operation::Insert
        } else {
            Operation::Remove
        };
        (operation, key)
    }

    /// Returns the value that operation `i` inserts.
    #[inline(always)]
    pub const fn value(i: u64) -> u32 {
        i as u32 + 1
    }
}

/// Runs operation `i` on the chain that begins at `heads[head]`. The result is
/// [`INSERTED`], or the value that was removed or found, or 0 if the operation
/// found its key there, or absent, and changed nothing.
#[inline(always)]
pub fn operate<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    heads: &A::Array<u32>,
    nodes: &TNodes<A, ChainNode>,
    head: u64,
    (operation, key, value): (Operation, u32, u32),
) -> TxResult<u32> {
    let mut before = Node::NIL;
    let mut node = Node::from_bits(tx.read(heads, head)?);
    let (mut there, mut after) = (false, 0);
    while !node.is_nil() {
        let fields = [ChainNode::key(), ChainNode::next()];
        let [at, next] = tx.get_many(nodes, node, fields)?;
        after = next;
        if at >= key {
            there = at == key;
            break;
        }
        before = node;
        node = Node::from_bits(next);
    }
    let mut result = INSERTED;
    if operation == Operation::Insert {
        if there {
            return Ok(0);
        }
    } else {
        if !there {
            return Ok(0);
        }
        result = tx.get(nodes, node, ChainNode::value())?;
    }
    let link = match operation {
        Operation::Lookup => return Ok(result),
        Operation::Insert => {
            let next = node.bits();
            tx.alloc_record(nodes, ChainNode { key, next, value })?
        }
        Operation::Remove => {
            tx.free(nodes.pool(), node)?;
            Node::from_bits(after)
        }
    };
    if before.is_nil() {
        tx.write(heads, head, link.bits())?;
    } else {
        tx.set(nodes, before, ChainNode::next(), link.bits())?;
    }
    Ok(result)
}

/// Writes the kernel of a workload of chains: the type, its parameters, and its
/// body, in which `$key` and `$heads` name the key and the number of chains.
macro_rules! chains {
    ($(#[$meta:meta])* $kernel:ident, $params:ident, $name:literal,
        |$key:ident, $heads:ident| $head:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $kernel<A>(core::marker::PhantomData<A>);

        #[doc = concat!("The parameters of [`", stringify!($kernel), "`].")]
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $params<A: stm_core::algorithm::Algorithm> {
            /// The transactional memory.
            pub stm: stm_core::StmRef<A>,
            /// The first link of each chain; one or more.
            pub heads: A::Array<u32>,
            /// The nodes.
            pub nodes: stm_core::TNodes<A, $crate::chain::ChainNode>,
            /// The result of each operation ([`operate`](crate::chain::operate)).
            pub results: stm_core::TArray<u32>,
            /// Transactions of the launch.
            pub transactions: u64,
            /// The operations.
            pub plan: $crate::chain::ChainPlan,
        }

        impl<A: stm_core::algorithm::Algorithm> $kernel<A> {
            #[inline(always)]
            fn body<L: stm_core::Lane>(lane: &L, p: &$params<A>) {
                // What the lane's last attempt found; its transaction's, once
                // that has ended.
                let result = core::cell::Cell::new(0);
                let $heads = stm_core::View::len(&p.heads) as u32;
                p.stm.for_each_then(
                    lane,
                    0..p.transactions,
                    |tx, i| {
                        let (operation, $key) = p.plan.operation(i);
                        let value = $crate::chain::ChainPlan::value(i);
                        let work = (operation, $key, value);
                        let head = $head;
                        result.set($crate::chain::operate(tx, &p.heads, &p.nodes, head, work)?);
                        Ok(())
                    },
                    |i| {
                        if let Some(word) = p.results.get(i) {
                            // SAFETY: an element of a live array, which only
                            // this lane writes. Relaxed: the host reads it after
                            // the launch.
                            unsafe { lane.store_relaxed_32(word, result.get()) };
                        }
                    },
                );
            }
        }

        stm_core::kernels!($kernel, $params, $name);
    };
}
pub(crate) use chains;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_follow_the_percentages_and_use_all_keys() {
        for lookups_percent in [0, 40, 100] {
            let plan = ChainPlan {
                seed: 3,
                keys: 16,
                lookups_percent,
            };
            let count = |kind| {
                let is = |&i: &u64| plan.operation(i).0 == kind;
                (0..20_000).filter(is).count()
            };
            let lookups = 200 * lookups_percent as usize;
            assert!(count(Operation::Lookup).abs_diff(lookups) < 400);
            let updates = (20_000 - count(Operation::Lookup)) / 2;
            assert!(count(Operation::Insert).abs_diff(updates) < 400);
            let mut seen = [false; 16];
            for i in 0..1_000 {
                seen[plan.operation(i).1 as usize] = true;
            }
            assert_eq!(seen, [true; 16]);
        }
    }
}
