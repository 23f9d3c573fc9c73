//! What chains and their operations must have left.
//!
//! A value is the number of the operation that inserted it, plus one, and each
//! operation notes what it found. From that the host tells, without a replay:
//!
//! - each value that was inserted is in its chain at the end, or was removed by
//!   exactly one operation, of the same key;
//! - what a lookup found was inserted, with the same key;
//! - the keys of a chain rise, and belong to it;
//! - the nodes of the chains are all different, and are exactly those that the
//!   pool has given out: none has leaked, and none is free and linked to.

use stm_core::Node;
use stm_kernels::chain::{ChainNode, ChainPlan, INSERTED, Operation};

/// What a launch left.
pub(super) struct Left<'a> {
    /// The operations.
    pub(super) plan: ChainPlan,
    /// What each operation noted.
    pub(super) results: &'a [u32],
    /// The first link of each chain.
    pub(super) heads: &'a [u32],
    /// The records of all nodes.
    pub(super) records: &'a [ChainNode],
    /// The index of a node, if it is one of the pool's.
    pub(super) index: &'a dyn Fn(Node) -> Option<u32>,
    /// The chain that a key belongs to.
    pub(super) chain_of: &'a dyn Fn(u32) -> u64,
    /// The nodes that the pool has given out.
    pub(super) taken: &'a [Node],
}

/// How many operations changed the chains, and how many nodes are in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Found {
    pub(super) inserted: u64,
    pub(super) removed: u64,
    pub(super) there: u64,
}

/// One bit for each of many things.
struct Marks(Vec<u64>);

impl Marks {
    fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    /// Sets a bit, and returns whether it was set before.
    fn set(&mut self, i: usize) -> bool {
        let before = self.has(i);
        self.0[i / 64] |= 1 << (i % 64);
        before
    }

    fn has(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 != 0
    }
}

impl Left<'_> {
    /// Returns the counts, or what is wrong, on one line.
    pub(super) fn check(&self) -> Result<Found, String> {
        let mut gone = Marks::new(self.results.len());
        let mut found = Found::default();
        for (i, &result) in self.results.iter().enumerate() {
            if result == 0 {
                continue;
            }
            let (operation, key) = self.plan.operation(i as u64);
            match operation {
                Operation::Insert if result == INSERTED => found.inserted += 1,
                Operation::Insert => {
                    return Err(format!("operation {i}, an insertion, noted {result}"));
                }
                Operation::Lookup => {
                    self.inserted_by(result, key, &format!("operation {i} found"))?;
                }
                Operation::Remove => {
                    let by = self.inserted_by(result, key, &format!("operation {i} removed"))?;
                    if gone.set(by) {
                        return Err(format!(
                            "operation {i} removed the value {result} of key {key}, which \
                             another operation had removed"
                        ));
                    }
                    found.removed += 1;
                }
            }
        }
        found.there = self.walk(&mut gone)?;
        if found.inserted == found.removed + found.there {
            return Ok(found);
        }
        // Every value is accounted for once, so one is missing.
        let lost = (0..self.results.len()).find(|&i| {
            let insertion = self.plan.operation(i as u64).0 == Operation::Insert;
            insertion && self.results[i] != 0 && !gone.has(i)
        });
        Err(format!(
            "{} keys were inserted, {} removed, and {} are there: that of operation {} is lost",
            found.inserted,
            found.removed,
            found.there,
            lost.unwrap_or(0)
        ))
    }

    /// Returns the operation that inserted a value, which must have inserted
    /// this key.
    fn inserted_by(&self, value: u32, key: u32, who: &str) -> Result<usize, String> {
        let by = value as usize - 1;
        let inserted = by < self.results.len()
            && self.results[by] == INSERTED
            && self.plan.operation(by as u64) == (Operation::Insert, key);
        if inserted {
            return Ok(by);
        }
        Err(format!(
            "{who} the value {value} of key {key}, which nobody inserted"
        ))
    }

    /// Walks all chains, marks the values in them as gone, and returns how many
    /// nodes there are.
    fn walk(&self, gone: &mut Marks) -> Result<u64, String> {
        let mut seen = Marks::new(self.records.len());
        let mut there = 0;
        for (chain, &head) in (0..).zip(self.heads) {
            let mut last = None;
            let walked = self.follow(head, |node, index, record| {
                if seen.set(index as usize) {
                    return Err(format!("node {node:#x} is met twice, in chain {chain}"));
                }
                if (self.chain_of)(record.key) != chain || last.is_some_and(|l| l >= record.key) {
                    return Err(format!(
                        "key {} is in chain {chain} after {last:?}",
                        record.key
                    ));
                }
                last = Some(record.key);
                let by = self.inserted_by(record.value, record.key, "a node holds")?;
                if gone.set(by) {
                    return Err(format!(
                        "key {} is there with the value {}, which was removed",
                        record.key, record.value
                    ));
                }
                there += 1;
                Ok(())
            });
            walked?;
        }
        for node in self.taken {
            let index = (self.index)(*node).unwrap_or(0);
            if !seen.has(index as usize) {
                return Err(format!(
                    "node {:#x} has leaked: it is taken, and in no chain",
                    node.bits()
                ));
            }
        }
        if there != self.taken.len() as u64 {
            return Err(format!(
                "{there} nodes are in chains, and the pool has given out {}",
                self.taken.len()
            ));
        }
        Ok(there)
    }

    /// Calls `visit` for each node of a chain.
    fn follow(
        &self,
        head: u32,
        mut visit: impl FnMut(u32, u32, ChainNode) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut link = head;
        while link != 0 {
            let Some(index) = (self.index)(Node::from_bits(link)) else {
                return Err(format!("the link {link:#x} names no node"));
            };
            let record = self.records[index as usize];
            visit(link, index, record)?;
            link = record.next;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: u32 = 12;
    const NODES: usize = 40;

    /// One sorted chain, and what operations one after the other leave in it.
    struct List {
        plan: ChainPlan,
        results: Vec<u32>,
        head: u32,
        records: Vec<ChainNode>,
        taken: Vec<Node>,
    }

    impl List {
        fn after(operations: u64) -> Self {
            let plan = ChainPlan {
                seed: 5,
                keys: KEYS,
                lookups_percent: 20,
            };
            let mut there = std::collections::BTreeMap::new();
            let mut results = Vec::new();
            for i in 0..operations {
                let (operation, key) = plan.operation(i);
                results.push(match operation {
                    Operation::Insert if there.contains_key(&key) => 0,
                    Operation::Insert => {
                        there.insert(key, ChainPlan::value(i));
                        INSERTED
                    }
                    Operation::Remove => there.remove(&key).unwrap_or(0),
                    Operation::Lookup => there.get(&key).copied().unwrap_or(0),
                });
            }
            let mut records = vec![
                ChainNode {
                    key: 0,
                    next: 0,
                    value: 0
                };
                NODES
            ];
            let (mut next, mut taken) = (0, Vec::new());
            for (&key, &value) in there.iter().rev() {
                // Node 3k has the link 3k + 1.
                let index = 3 * key;
                records[index as usize] = ChainNode { key, next, value };
                next = index + 1;
                taken.push(Node::from_bits(next));
            }
            Self {
                plan,
                results,
                head: next,
                records,
                taken,
            }
        }

        fn check(&self) -> Result<Found, String> {
            Left {
                plan: self.plan,
                results: &self.results,
                heads: &[self.head],
                records: &self.records,
                index: &|node| node.bits().checked_sub(1).filter(|&i| i < NODES as u32),
                chain_of: &|_| 0,
                taken: &self.taken,
            }
            .check()
        }

        fn refused(&self, with: &str) {
            let what = self.check().unwrap_err();
            assert!(what.contains(with), "{what}");
        }

        fn first(&mut self) -> &mut ChainNode {
            &mut self.records[self.head as usize - 1]
        }

        /// The number of an operation that got something done.
        fn done(&self, kind: Operation) -> usize {
            let is = |&i: &usize| self.plan.operation(i as u64).0 == kind && self.results[i] != 0;
            (20..self.results.len()).find(is).unwrap()
        }
    }

    #[test]
    fn right_lists_are_accepted() {
        for operations in [0, 1, 30, 400] {
            let list = List::after(operations);
            let found = list.check().unwrap();
            assert_eq!(found.there, list.taken.len() as u64);
            assert!(operations < 400 || found.removed > 20);
        }
    }

    #[test]
    fn what_was_lost_or_came_twice_is_refused() {
        let mut list = List::after(400);
        let removal = list.done(Operation::Remove);
        list.results[removal] = 0;
        list.refused("is lost");
        let mut list = List::after(400);
        let value = list.results[list.done(Operation::Remove)];
        let key = list.plan.operation(u64::from(value) - 1).1;
        let again = (0..400)
            .rev()
            .find(|&i| list.plan.operation(i) == (Operation::Remove, key));
        list.results[again.unwrap() as usize] = value;
        list.refused("which another operation had removed");
        let mut list = List::after(400);
        let lookup = list.done(Operation::Lookup);
        list.results[lookup] += 1;
        list.refused("which nobody inserted");
    }

    #[test]
    fn chains_that_are_not_sorted_lose_nodes_or_leak_them_are_refused() {
        let mut list = List::after(400);
        list.first().next = 0;
        list.refused("has leaked");
        let mut list = List::after(400);
        list.taken.pop();
        list.refused("the pool has given out");
        let mut list = List::after(400);
        list.first().next = list.head;
        list.refused("is met twice");
        let mut list = List::after(400);
        list.first().key += 9;
        assert!(list.check().is_err());
        let mut list = List::after(400);
        list.head = 1_000;
        list.refused("names no node");
    }
}
