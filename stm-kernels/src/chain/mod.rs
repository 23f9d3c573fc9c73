//! Operations on one entry of a container, and the kernels `map`, `ordered` and `list`, which run them.
//!
//! Each operation is a transaction: it inserts a key, removes one, or looks one up, by the seed and its
//! number. A value is the number of the operation that inserted it, plus one. So the results are checkable
//! without a replay: each value inserted was either removed, by one operation, or is there at the end.

pub mod floor;

use crate::prelude::*;
use stm_core::collections::{TList, TMap, TOrderedMap};
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainPlan {
    pub seed: u64,
    /// The number of different keys, 1 or more.
    pub keys: u32,
    /// Lookups in a hundred operations. The others insert and remove in equal parts.
    pub lookups_percent: u32,
    /// The number of consecutive operations that are of one kind, a power of two.
    /// With a warp's width or more all lanes of a warp do the same.
    pub alike: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    Insert,
    Remove,
    Lookup,
}

/// The result of an insertion that found its key absent.
pub const INSERTED: u32 = 1;

#[stm_core::inlined]
impl ChainPlan {
    /// Returns what operation `i` does, and with which key.
    pub const fn operation(&self, i: u64) -> (Operation, u32) {
        let kind = draw(self.seed, i >> self.alike.trailing_zeros(), 0);
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

    pub const fn value(i: u64) -> u32 {
        i as u32 + 1
    }
}

/// The work on a container: a transactional one, or one without versions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ChainWork<S> {
    pub entries: S,
    /// The result of each operation: [`INSERTED`], or the value that was removed or found, or 0 if
    /// the operation found its key there, or absent, and changed nothing.
    pub results: TArray<u32>,
    pub transactions: u64,
    pub plan: ChainPlan,
}

/// Writes the kernel of operations on the container `$container`.
macro_rules! operations {
    ($kernel:ident = $operate:ident, $name:literal, $container:ident) => {
        transactional! {
            $kernel<A>(ChainWork<$container<A, u32, u32>>) = $operate
                // So many that three warps of each scheduler are in step.
                [$name, registers { fast: 168 }];
        }

        #[inline(always)]
        fn $operate<L: Lane, A: Algorithm>(
            lane: &L,
            stm: &StmRef<A>,
            p: &ChainWork<$container<A, u32, u32>>,
        ) {
            // What the lane's last attempt found; its transaction's, once that has ended.
            let result = Cell::new(0);
            let noted = |i| store(lane, &p.results, i, result.get());
            let loops = stm.loops(lane).in_step().then(noted);
            loops.each(0..p.transactions, |tx, i| {
                let (operation, key) = p.plan.operation(i);
                // All lanes of the warp search together.
                let mut entry = p.entries.entry(tx, key)?;
                result.set(match operation {
                    Operation::Lookup => entry.get()?.unwrap_or(0),
                    Operation::Insert => u32::from(entry.insert_new(ChainPlan::value(i))?),
                    Operation::Remove => entry.remove()?.unwrap_or(0),
                });
                Ok(())
            });
        }
    };
}
operations!(Map = map, "map", TMap);
operations!(Ordered = ordered, "ordered", TOrderedMap);
operations!(List = list, "list", TList);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::counts;
    use std::vec::Vec;

    #[test]
    fn operations_of_one_run_are_of_one_kind_and_have_keys_of_their_own() {
        let plan = ChainPlan {
            seed: 3,
            keys: 1 << 20,
            lookups_percent: 40,
            alike: 32,
        };
        let kinds = |run: u64| (0..32).map(move |i| plan.operation(32 * run + i));
        for run in 0..100 {
            let (first, key) = plan.operation(32 * run);
            assert!(kinds(run).all(|(kind, _)| kind == first));
            assert!(kinds(run).skip(1).all(|(_, other)| other != key));
        }
        let starts: Vec<_> = (0..100).map(|run| plan.operation(32 * run).0).collect();
        assert!(starts.contains(&Operation::Insert) && starts.contains(&Operation::Remove));
    }

    #[test]
    fn operations_follow_the_percentages_and_use_all_keys() {
        for lookups_percent in [0, 40, 100] {
            let plan = ChainPlan {
                seed: 3,
                keys: 16,
                lookups_percent,
                alike: 1,
            };
            let operations = || (0..20_000).map(|i| plan.operation(i));
            let [inserts, _, lookups] = counts(operations().map(|(kind, _)| kind as u32));
            assert!(lookups.abs_diff(200 * lookups_percent) < 400);
            let updates = (20_000 - lookups) / 2;
            assert!(inserts.abs_diff(updates) < 400);
            let seen: [u32; 16] = counts(operations().take(1_000).map(|(_, key)| key));
            assert!(seen.iter().all(|&n| n > 0));
        }
    }
}
