//! What operations on a container must have left.
//!
//! A value is the number of the operation that inserted it, plus one, and each operation notes what it found.
//! From that the host tells, without a replay:
//!
//! - each value that was inserted is there at the end, at its key, or was removed by exactly one operation,
//!   of the same key;
//! - what a lookup found was inserted, with the same key;
//! - no key is there twice.
//!
//! That the container is whole, and that no node was lost, its `download` checks.

use crate::workloads::prelude::*;
use std::mem::replace;
use stm_kernels::chain::{ChainPlan, INSERTED, Operation};

/// What a launch left: what each operation noted, and the entries that are there.
pub(super) struct FinalEntries {
    pub(super) plan: ChainPlan,
    pub(super) results: Vec<u32>,
    pub(super) entries: Vec<(u32, u32)>,
}

impl FinalEntries {
    /// Returns how many operations changed the container, and how many entries are there.
    pub(super) fn check(&self) -> Result<Observed, String> {
        let mut gone = vec![false; self.results.len()];
        let (mut inserted, mut removed) = (0, 0);
        for (i, &result) in self.results.iter().enumerate() {
            if result == 0 {
                continue;
            }
            let (operation, key) = self.plan.operation(i as u64);
            match operation {
                Operation::Insert => {
                    wrong! { result != INSERTED => "operation {i}, an insertion, noted {result}"; }
                    inserted += 1;
                }
                Operation::Lookup => {
                    self.inserted_by(result, key, &format!("operation {i} found"))?;
                }
                Operation::Remove => {
                    let by = self.inserted_by(result, key, &format!("operation {i} removed"))?;
                    wrong! {
                        replace(&mut gone[by], true) =>
                            "operation {i} removed the value {result} of key {key}, which another \
                             operation had removed";
                    }
                    removed += 1;
                }
            }
        }
        // The values that are there are gone from what was inserted.
        let mut keys = vec![false; self.plan.keys as usize];
        for &(key, value) in &self.entries {
            let by = self.inserted_by(value, key, "an entry has")?;
            wrong! {
                replace(&mut keys[key as usize], true) => "key {key} is there twice";
                replace(&mut gone[by], true) => "key {key} is there with the value {value}, which was removed";
            }
        }
        let there = self.entries.len();
        let is_lost = |&i: &usize| {
            let insertion = self.plan.operation(i as u64).0 == Operation::Insert;
            insertion && self.results[i] != 0 && !gone[i]
        };
        wrong! {
            inserted != removed + there =>
                "{inserted} keys were inserted, {removed} removed, and {there} are there: that of \
                 operation {} is lost", (0..self.results.len()).find(is_lost).unwrap_or(0);
        }
        Ok(observed(
            &json!({ "inserted": inserted, "removed": removed, "there": there }),
        ))
    }

    /// Returns the operation that inserted a value, which must have inserted this key.
    fn inserted_by(&self, value: u32, key: u32, who: &str) -> Result<usize, String> {
        let by = (value as usize).wrapping_sub(1);
        let inserted = by < self.results.len()
            && self.results[by] == INSERTED
            && self.plan.operation(by as u64) == (Operation::Insert, key);
        wrong! {
            !inserted => "{who} the value {value} of key {key}, which nobody inserted";
        }
        Ok(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::container::Map;
    use crate::workloads::test_prelude::*;
    use std::marker::PhantomData;

    impl FinalEntries {
        /// What operations one after the other leave.
        fn of(operations: u64) -> Self {
            let of = Map {
                keys: 12,
                chains: Some(3),
                lookups_percent: 20,
                alike: 1,
                kind: PhantomData,
            };
            let data = left(&of, 5, ((1, 1), operations));
            data.left(operations).unwrap()
        }

        /// The number of an operation that got something done.
        fn done(&self, kind: Operation) -> usize {
            let is = |&i: &usize| self.plan.operation(i as u64).0 == kind && self.results[i] != 0;
            (20..self.results.len()).find(is).unwrap()
        }
    }

    const SPOILS: Spoils<FinalEntries, 8> = spoils! {
        |run| {
            let removal = run.done(Operation::Remove);
            run.results[removal] = 0;
        } => "is lost";
        |run| {
            let value = run.results[run.done(Operation::Remove)];
            let key = run.plan.operation(u64::from(value) - 1).1;
            let again = |i: &u64| run.plan.operation(*i) == (Operation::Remove, key);
            let again = (0..400).rev().find(again);
            run.results[again.unwrap() as usize] = value;
        } => "which another operation had removed";
        |run| {
            let lookup = run.done(Operation::Lookup);
            run.results[lookup] += 1;
        } => "which nobody inserted";
        |run| run.entries.truncate(run.entries.len() - 1) => "is lost";
        |run| run.entries.push(run.entries[0]) => "is there twice";
        |run| run.entries[0].0 += 1 => "which nobody inserted";
        |run| run.entries[0].1 = 0 => "which nobody inserted";
        |run| {
            let removal = run.done(Operation::Remove);
            let key = run.plan.operation(removal as u64).1;
            run.entries.retain(|&(other, _)| other != key);
            run.entries.push((key, run.results[removal]));
        } => "which was removed";
    };

    #[test]
    fn what_was_lost_or_came_twice_or_from_nowhere_is_refused() {
        refused(SPOILS, || FinalEntries::of(400), |run| run.check().err());
    }
}
