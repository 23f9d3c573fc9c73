//! Queue: producers and consumers try a bounded first-in-first-out queue.
//!
//! Each operation notes at which position of the queue it appended or took which value. From that the host
//! tells, without a replay:
//!
//! - the positions of the appended values are 0, 1, 2 and so on, each once, up to the count that the queue
//!   ended with; the same of those taken;
//! - the value taken from a position is the one that was appended there: values came out in the order in
//!   which they went in, none was lost and none came twice; those that were not taken are in the ring;
//! - the queue does not hold more than it has places, at its end;
//! - the positions of one lane's values rise in the order of its operations; the same of what it took.

use crate::workloads::prelude::*;
use stm_kernels::queue::floor::CriticalSection;
use stm_kernels::queue::{APPENDED, Queue as QueueKernel, QueuePlan, QueueWork, Roles, TAKEN};

sizes! {
    Queue, options of "queue" {
        places: u32 = 1 << 10, count "Values that the queue holds at most" ["1K"],
            when Occasion::Quick => 64;
        /// Producers in a hundred operations; the others are consumers.
        producers_percent: u32 = 50, json "producers_percent", option
            /// Producers in a hundred operations, the others consume [default: 50]
            #[arg(long, value_name = "PERCENT", value_parser = parse_count_32)]
            producers;
        operations: u32 = 64 << 10, count "Operations, each a transaction" ["64K"],
            when Occasion::Quick => 4 << 10;
        roles: Roles = Roles::Drawn, by |options, _| options.wait.map(|wait| match wait {
            Wait::Alternating => Roles::Alternating,
            Wait::ConsumersFirst => Roles::ConsumersFirst,
        });
    } and {
        /// Operations wait while the queue is full or empty; half of them are
        /// producers, in turn with consumers or after them [default: none waits]
        #[arg(long, value_name = "ROLES", conflicts_with = "producers")]
        wait: Wait;
    } takes []
}

/// The order of roles where operations wait.
#[derive(clap::ValueEnum, Debug, Clone, Copy)]
enum Wait {
    /// Producers and consumers in turn
    Alternating,
    /// All consumers before the first producer
    ConsumersFirst,
}

impl Sizes for Queue {
    fn facts(&self, _: u64) -> Facts {
        let (waiting, roles) = match self.roles {
            Roles::Drawn => ("none", format!("{} % producers", self.producers_percent)),
            Roles::Alternating => ("alternating", "all wait".into()),
            Roles::ConsumersFirst => ("consumers-first", "all wait, consumers first".into()),
        };
        let mut parameters = self.named();
        parameters.push(("waiting", waiting.into()));
        Facts {
            summary: format!("{}, {roles}", of(self.places.into(), "place")),
            // The two counts and a place of the ring; one of the counts and the place.
            capacity: sets(3, 2, 0),
            transactions: Some(self.operations.into()),
            shared_words: u64::from(self.places) + 2,
            is_for_lanes: true,
            verifies: Covers::Isolation.that(
                "each value came out once, in the order in which values went in, at the position \
                 that its transaction saw",
            ),
            ..Facts::of(parameters)
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        refuse! {
            self.places == 0 => "--places 0 leaves the queue no room for a value: give 1 or more";
            self.producers_percent > 100 =>
                "--producers {} is no share: give from 0 to 100 per cent", self.producers_percent;
            self.roles != Roles::Drawn && !self.operations.is_multiple_of(2) =>
                "--operations {} leaves one operation without a partner to wait for: give an even \
                 number with --wait", self.operations;
            self.operations == 0 => "--operations 0 leaves nothing to do: give 1 or more";
        }
        Ok(())
    }
}

data! {
    pub Data of Queue: |of, device, made_for| {
        let (places, operations) = (u64::from(of.places), made_for.transactions);
        let on_device = places * 4 + operations * 8;
        // What the operations noted, and who appended what is at a position.
        let (on_host, fix) = (on_device + operations * 8, "use fewer --places or --operations");
        check_memory(device, "queue", on_device, on_host, fix)?;
    }
    plan: QueuePlan = QueuePlan {
        seed: made_for.seed,
        transactions: of.operations.into(),
        producers_percent: of.producers_percent,
        roles: of.roles,
    };
    counts: TxArray<D, u32> = zeros(device, 2, "the counts of queue")?, accessed, cleared;
    ring: TxArray<D, u32> = zeros(device, places, "the ring of queue")?, accessed, cleared;
    results: Buffer<D, u64> =
        Buffer::zeroed(device, operations as usize, "the results of queue")?, cleared;
    lanes: u64 = made_for.lanes;
}

impl Workload for Queue {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        let uses = Uses::own(|_: &Self, data: &Data<D>, n| data.work::<Cgl>(n));
        let section = uses.critical_section::<CriticalSection>(self, ONE_EACH);
        // A critical section does not wait for what another one does.
        let waits = self.roles != Roles::Drawn;
        if waits { Vec::new() } else { vec![section] }
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<Observed> {
        let mut results = data.results.download()?;
        results.truncate(transactions as usize);
        data.check(&results)?;
        let refused = results.iter().filter(|&&r| r == 0).count();
        Ok(observed(&json!({ "refused": refused })))
    }

    kernels! { _, data, run => QueueKernel<A>, run.on(data.work(run.transactions)) }
}

impl<D: Device> Data<D> {
    fn work<A: Algorithm>(&self, transactions: u64) -> QueueWork<A> {
        let plan = self.plan;
        views! { self => QueueWork { counts by A, ring by A, results; transactions, plan } }
    }

    /// Compares what the operations noted with what the queue has.
    fn check(&self, results: &[u64]) -> Result<()> {
        let (counts, ring) = (self.counts.download()?, self.ring.download()?);
        let [taken, appended] = [TAKEN, APPENDED].map(|k| counts[k as usize]);
        let (places, waiting) = (ring.len(), appended.checked_sub(taken));
        wrong! {
            waiting.is_none_or(|waiting| waiting as usize > places) =>
                "{appended} values were appended and {taken} taken, of a queue of {places} places";
            appended as usize > results.len() =>
                "{appended} values were appended by {} operations", results.len();
        }
        let by = self.positions(results, true, appended)?;
        let taken_by = self.positions(results, false, taken)?;
        let noted = by.iter().flatten().count();
        wrong! {
            noted != by.len() => "{noted} operations appended a value, and the queue counts {appended}";
        }
        for (position, (i, value)) in by.into_iter().flatten().enumerate() {
            let (expected, found) = (QueuePlan::value(i), ring[position % places]);
            let taken = taken_by.get(position).copied();
            let (taker, took) = taken.flatten().unwrap_or((0, value));
            wrong! {
                value != expected => "operation {i} appended {value}, and its value is {expected}";
                taken == Some(None) =>
                    "the value at position {position} is gone, and no operation took it";
                took != value =>
                    "operation {taker} took {took} from position {position}, where {value} was appended";
                taken.is_none() && found != value =>
                    "the value at position {position}, which nobody took, is {found}, not {value}";
            }
        }
        Ok(())
    }

    /// Returns which operation of a role was at each position, and its value. The positions of each lane must
    /// rise.
    fn positions(
        &self,
        results: &[u64],
        producers: bool,
        count: u32,
    ) -> Result<Vec<Option<(u64, u32)>>> {
        let (what, at, both) = if producers {
            ("appended", "appended at", "appended at")
        } else {
            ("taken", "took from", "took the value at")
        };
        let lanes = self.lanes.max(1).min(results.len().max(1) as u64);
        let (mut last, mut all) = (vec![None; lanes as usize], vec![None; count as usize]);
        for (i, position, value) in self.done(results, producers) {
            wrong! {
                position >= count =>
                    "operation {i} {at} position {position}, and {count} values were {what}";
            }
            let other = all[position as usize].replace((i, value));
            let of_lane = last[(i % lanes) as usize].replace((i, position));
            let (before, earlier) = of_lane.unwrap_or_default();
            wrong! {
                other.is_some() =>
                    "operations {} and {i} both {both} position {position}", other.unwrap_or_default().0;
                of_lane.is_some() && earlier >= position =>
                    "operation {i} {at} position {position}, and operation {before} of the same lane, \
                     before it, at {earlier}";
            }
        }
        Ok(all)
    }

    /// The operations of a role that got something done: number, position and value.
    fn done(&self, results: &[u64], producers: bool) -> impl Iterator<Item = (u64, u32, u32)> {
        let plan = self.plan;
        let of_role =
            move |&(i, result): &(_, u64)| result != 0 && plan.is_producer(i) == producers;
        let done = (0..).zip(results.iter().copied()).filter(of_role);
        done.map(|(i, result)| (i, (result >> 32) as u32, result as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::test_prelude::*;
    use stm_kernels::queue::done as noted;

    const QUEUE: Queue = Queue {
        places: 4,
        producers_percent: 60,
        operations: 250,
        roles: Roles::Drawn,
    };

    /// The numbers of the operations of a role that got something done.
    fn numbers(data: &Data<Cpu>, producers: bool) -> Vec<usize> {
        let results = data.results.download().unwrap();
        let done = data.done(&results, producers);
        done.map(|(i, ..)| i as usize).collect()
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
            let counts = data.counts.download().unwrap();
            assert_ne!(counts[0], counts[1], "nobody waits");
            change!(data.ring, |ring| ring[counts[0] as usize % 4] += 1);
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
        let mut data = left(&QUEUE, 9, ((1, 1), 0));
        let results = [noted(1, value(0)), noted(0, value(1))];
        data.counts.upload(&[0, 2]).unwrap();
        data.ring.upload(&[value(1), value(0), 0, 0]).unwrap();
        data.plan.producers_percent = 100;
        let error = data.check(&results).unwrap_err();
        assert!(error.to_string().contains("of the same lane"));
        data.lanes = 2;
        data.check(&results).unwrap();
    }
}
