//! What the queue and its operations must have left.
//!
//! Each operation notes at which position of the queue it appended or took which
//! value. From that the host tells, without a replay:
//!
//! - the positions of the appended values are 0, 1, 2 and so on, each once, up to
//!   the count that the queue ended with; the same of those taken;
//! - at each position that was taken, the value is the one that was appended there:
//!   the values came out in the order in which they went in, none was lost and none
//!   came twice; those that were not taken are in the ring;
//! - the queue never held more than it has places, at its end;
//! - the positions of one lane's values rise in the order of its operations, and so
//!   do those of what it took.

use std::mem::replace;
use stm_kernels::queue::{APPENDED, QueuePlan, TAKEN};

#[derive(Clone, Debug)]
pub(super) struct Left {
    pub(super) plan: QueuePlan,
    /// Lanes of the launch that ran transactions: number `n` ran operations `n`,
    /// `n + lanes` and so on.
    pub(super) lanes: u64,
    pub(super) results: Vec<u64>,
    /// How many values were taken, and appended.
    pub(super) counts: [u32; 2],
    pub(super) ring: Vec<u32>,
}

/// No value: values are transactions' numbers plus 1.
const NONE: u32 = 0;

pub(super) fn check(left: &Left) -> Result<(), String> {
    let [taken, appended] = [TAKEN, APPENDED].map(|k| left.counts[k as usize]);
    let waiting = appended.checked_sub(taken);
    wrong! {
        waiting.is_none_or(|waiting| waiting as usize > left.ring.len()) =>
            "{appended} values were appended and {taken} taken, of a queue of {} places",
            left.ring.len();
        appended as usize > left.results.len() =>
            "{appended} values were appended by {} operations", left.results.len();
    }
    let mut queue = vec![NONE; appended as usize];
    let mut noted = 0;
    for (i, position, value) in done(left, true) {
        let expected = QueuePlan::value(i);
        wrong! {
            value != expected => "operation {i} appended {value}, and its value is {expected}";
            position >= appended =>
                "operation {i} appended at position {position}, and {appended} values were \
                 appended";
        }
        let other = replace(&mut queue[position as usize], value);
        wrong! {
            other != NONE =>
                "operations {} and {i} both appended at position {position}", other - 1;
        }
        noted += 1;
    }
    wrong! {
        noted != appended => "{noted} operations appended a value, and the queue counts {appended}";
    }
    let mut by = vec![None; taken as usize];
    for (i, position, value) in done(left, false) {
        wrong! {
            position >= taken =>
                "operation {i} took from position {position}, and {taken} values were taken";
        }
        if let Some(other) = by[position as usize].replace(i) {
            return Err(format!(
                "operations {other} and {i} both took the value at position {position}"
            ));
        }
        let expected = queue[position as usize];
        wrong! {
            value != expected =>
                "operation {i} took {value} from position {position}, where {expected} was \
                 appended";
        }
    }
    if let Some(position) = by.iter().position(Option::is_none) {
        return Err(format!(
            "the value at position {position} is gone, and no operation took it"
        ));
    }
    for position in taken..appended {
        let (place, value) = (
            position as usize % left.ring.len(),
            queue[position as usize],
        );
        let found = left.ring[place];
        wrong! {
            found != value =>
                "the value at position {position}, which nobody took, is {found}, not {value}";
        }
    }
    in_order(left, true).and_then(|()| in_order(left, false))
}

/// Checks that the positions of each lane rise: of what it appended, or took.
fn in_order(left: &Left, producers: bool) -> Result<(), String> {
    let lanes = left.lanes.max(1).min(left.results.len().max(1) as u64);
    let mut last = vec![None; lanes as usize];
    for (i, position, _) in done(left, producers) {
        let of_lane = &mut last[(i % lanes) as usize];
        if let Some((before, earlier)) = of_lane.replace((i, position))
            && earlier >= position
        {
            let what = ["took from", "appended at"][usize::from(producers)];
            return Err(format!(
                "operation {i} {what} position {position}, and operation {before} of the same \
                 lane, before it, at {earlier}"
            ));
        }
    }
    Ok(())
}

/// The operations of a role that got something done: number, position and value.
fn done(left: &Left, producers: bool) -> impl Iterator<Item = (u64, u32, u32)> {
    let plan = left.plan;
    (0..)
        .zip(&left.results)
        .filter(move |&(i, &result)| result != 0 && plan.is_producer(i) == producers)
        .map(|(i, &result)| (i, (result >> 32) as u32, result as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Spoils, refused};
    use crate::workloads::launcher::tests::ran;
    use crate::workloads::queue::Queue;
    use crate::workloads::workload::Workload;
    use stm_core::algorithm::Cgl;
    use stm_core::host::Cpu;
    use stm_kernels::queue::done as noted;

    const PLACES: usize = 4;

    impl Left {
        /// What operations one after the other leave.
        fn after(operations: u64) -> Self {
            let of = Queue {
                places: PLACES as u32,
                producers_percent: 60,
                ..Queue::default()
            };
            let cpu = Cpu::new();
            let mut data = of.prepare(&cpu, 9, operations).unwrap();
            ran::<Cgl, _>(&of, &cpu, &mut data, ((1, 1), operations));
            let lanes = 3;
            Self {
                lanes,
                ..data.left(operations).unwrap()
            }
        }

        /// The numbers of the operations of a role that got something done.
        fn done(&self, producers: bool) -> Vec<usize> {
            done(self, producers).map(|(i, ..)| i as usize).collect()
        }
    }

    #[test]
    fn a_right_queue_is_accepted_also_one_that_is_full_or_empty() {
        for operations in [0, 1, 50, 500] {
            let queue = Left::after(operations);
            assert_eq!(check(&queue), Ok(()));
            assert!(operations < 500 || queue.results.contains(&0), "never full");
        }
    }

    /// What operations may have done wrong, and what is said of it.
    const SPOILS: Spoils<Left, 6> = [
        (
            |queue| {
                let gone = queue.done(false)[7];
                queue.results[gone] = 0;
            },
            "is gone, and no operation took it",
        ),
        (
            |queue| {
                let takers = queue.done(false);
                queue.results[takers[8]] = queue.results[takers[7]];
            },
            "both took the value at position",
        ),
        // Two values in the wrong order.
        (
            |queue| {
                let takers = queue.done(false);
                let (a, b) = (queue.results[takers[4]], queue.results[takers[5]]);
                queue.results[takers[4]] = noted((a >> 32) as u32, b as u32);
                queue.results[takers[5]] = noted((b >> 32) as u32, a as u32);
            },
            "where",
        ),
        // An append that was lost under another.
        (
            |queue| {
                let producers = queue.done(true);
                let position = queue.results[producers[3]] >> 32;
                let value = queue.results[producers[4]] & u64::from(u32::MAX);
                queue.results[producers[4]] = position << 32 | value;
            },
            "both appended at position",
        ),
        (
            |queue| {
                let place = queue.counts[0] as usize % PLACES;
                queue.ring[place] += 1;
            },
            "which nobody took",
        ),
        (|queue| queue.counts[1] += 1, "and the queue counts"),
    ];

    #[test]
    fn what_was_lost_came_twice_or_in_the_wrong_order_is_refused() {
        // One with values that nobody took.
        let waits = |queue: &Left| queue.counts[0] != queue.counts[1];
        let right = || (200..300).map(Left::after).find(waits).unwrap();
        refused(SPOILS, right, |queue| check(&queue).err());
    }

    #[test]
    fn values_of_one_lane_out_of_their_order_are_refused() {
        // Two producers of one lane change places in the queue.
        let value = |i: u64| QueuePlan::value(i);
        let mut left = Left {
            lanes: 1,
            results: vec![noted(1, value(0)), noted(0, value(1))],
            counts: [0, 2],
            ring: vec![value(1), value(0)],
            ..Left::after(0)
        };
        left.plan.producers_percent = 100;
        assert!(check(&left).unwrap_err().contains("of the same lane"));
        left.lanes = 2;
        assert_eq!(check(&left), Ok(()));
    }
}
