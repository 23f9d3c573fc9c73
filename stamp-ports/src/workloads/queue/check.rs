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

pub(super) fn check(left: &Left) -> Result<(), String> {
    let ([taken, appended], places) = (
        [TAKEN, APPENDED].map(|k| left.counts[k as usize]),
        left.ring.len(),
    );
    let waiting = appended.checked_sub(taken);
    wrong! {
        waiting.is_none_or(|waiting| waiting as usize > places) =>
            "{appended} values were appended and {taken} taken, of a queue of {places} places";
        appended as usize > left.results.len() =>
            "{appended} values were appended by {} operations", left.results.len();
    }
    let (by, taken_by) = (
        positions(left, true, appended)?,
        positions(left, false, taken)?,
    );
    let noted = by.iter().flatten().count();
    wrong! {
        noted != by.len() => "{noted} operations appended a value, and the queue counts {appended}";
    }
    for (position, (i, value)) in by.into_iter().flatten().enumerate() {
        let (expected, found) = (QueuePlan::value(i), left.ring[position % places]);
        wrong! {
            value != expected => "operation {i} appended {value}, and its value is {expected}";
        }
        match taken_by.get(position) {
            Some(Some((taker, took))) => wrong! {
                *took != value =>
                    "operation {taker} took {took} from position {position}, where {value} was \
                     appended";
            },
            Some(None) => wrong! {
                true => "the value at position {position} is gone, and no operation took it";
            },
            None => wrong! {
                found != value =>
                    "the value at position {position}, which nobody took, is {found}, not {value}";
            },
        }
    }
    Ok(())
}

/// Returns for each of so many positions which operation of a role was there, and its value. The
/// positions of each lane must rise.
fn positions(left: &Left, producers: bool, count: u32) -> Result<Vec<Option<(u64, u32)>>, String> {
    let (what, at, both) = if producers {
        ("appended", "appended at", "appended at")
    } else {
        ("taken", "took from", "took the value at")
    };
    let lanes = left.lanes.max(1).min(left.results.len().max(1) as u64);
    let (mut last, mut all) = (vec![None; lanes as usize], vec![None; count as usize]);
    for (i, position, value) in done(left, producers) {
        wrong! {
            position >= count =>
                "operation {i} {at} position {position}, and {count} values were {what}";
        }
        if let Some((other, _)) = all[position as usize].replace((i, value)) {
            return Err(format!(
                "operations {other} and {i} both {both} position {position}"
            ));
        }
        if let Some((before, earlier)) = last[(i % lanes) as usize].replace((i, position))
            && earlier >= position
        {
            return Err(format!(
                "operation {i} {at} position {position}, and operation {before} of the same lane, \
                 before it, at {earlier}"
            ));
        }
    }
    Ok(all)
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
    use crate::workloads::queue::{Data, Queue};
    use crate::workloads::test_prelude::*;
    use crate::workloads::workload::Workload;
    use stm_kernels::queue::{Roles, done as noted};

    const QUEUE: Queue = Queue {
        places: 4,
        producers_percent: 60,
        operations: 250,
        roles: Roles::Drawn,
    };

    /// The numbers of the operations of a role that got something done.
    fn numbers(data: &Data<Cpu>, producers: bool) -> Vec<usize> {
        let left = data.left(250).unwrap();
        done(&left, producers).map(|(i, ..)| i as usize).collect()
    }

    #[test]
    fn a_right_queue_is_accepted_also_one_that_is_full_or_empty() {
        for operations in [0, 1, 50, 500] {
            let mut data = left(&QUEUE, 9, ((1, 3), operations));
            let found = QUEUE.verify(&mut data, operations).unwrap();
            assert!(operations < 500 || found["refused"] != 0, "never full");
        }
    }

    const SPOILS: Spoils<Data<Cpu>, 6> = spoils! {
        |data| {
            let gone = numbers(data, false)[7];
            change!(data.results, |results| results[gone] = 0);
        } => "is gone, and no operation took it";
        |data| {
            let takers = numbers(data, false);
            change!(data.results, |results| results[takers[8]] =
                results[takers[7]]);
        } => "both took the value at position";
        // Two values in the wrong order.
        |data| {
            let takers = numbers(data, false);
            change!(data.results, |results| {
                let (a, b) = (results[takers[4]], results[takers[5]]);
                results[takers[4]] = noted((a >> 32) as u32, b as u32);
                results[takers[5]] = noted((b >> 32) as u32, a as u32);
            });
        } => "where";
        // An append that was lost under another.
        |data| {
            let producers = numbers(data, true);
            change!(data.results, |results| {
                let (over, lost) = (results[producers[3]], results[producers[4]]);
                results[producers[4]] = noted((over >> 32) as u32, lost as u32);
            });
        } => "both appended at position";
        |data| {
            let [taken, appended] = data.left(0).unwrap().counts;
            assert_ne!(taken, appended, "nobody waits");
            change!(data.ring, |ring| ring[taken as usize % 4] += 1);
        } => "which nobody took";
        |data| change!(data.counts, |counts| counts[1] += 1) => "and the queue counts";
    };

    #[test]
    fn what_was_lost_came_twice_or_in_the_wrong_order_is_refused() {
        spoilt(&QUEUE, 9, ((1, 1), 250), SPOILS);
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
            ..left(&QUEUE, 9, ((1, 1), 0)).left(0).unwrap()
        };
        left.plan.producers_percent = 100;
        assert!(check(&left).unwrap_err().contains("of the same lane"));
        left.lanes = 2;
        assert_eq!(check(&left), Ok(()));
    }
}
