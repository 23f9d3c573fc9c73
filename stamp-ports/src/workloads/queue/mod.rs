//! Queue: producers and consumers try a bounded first-in-first-out queue.

use crate::workloads::prelude::*;
use check::{Left, check};
use serde_json::json;
use stm_kernels::floor::queue::CriticalSection;
use stm_kernels::queue::{Queue as QueueKernel, QueuePlan, QueueWork, Roles};

mod check;

sizes! {
    Queue, options of "queue" {
        places: u32 = 1 << 10, json "places", count places "Values that the queue holds at most" ["1K"],
            when Occasion::Quick => 64;
        /// Producers in a hundred operations; the others are consumers.
        producers_percent: u32 = 50, json "producers_percent", option
            /// Producers in a hundred operations, the others consume [default: 50]
            #[arg(long, value_name = "PERCENT", value_parser = parse_count_32)]
            producers;
        operations: u32 = 64 << 10, json "operations", count operations "Operations, each a transaction" ["64K"],
            when Occasion::Quick => 4 << 10;
        roles: Roles = Roles::Drawn, by |options, _| options.wait.map(Wait::roles);
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

impl Wait {
    const fn roles(self) -> Roles {
        match self {
            Self::Alternating => Roles::Alternating,
            Self::ConsumersFirst => Roles::ConsumersFirst,
        }
    }
}

impl Sizes for Queue {
    fn facts(&self, _: u64) -> Facts {
        let (waiting, told) = match self.roles {
            Roles::Drawn => ("none", format!("{} % producers", self.producers_percent)),
            Roles::Alternating => ("alternating", "all wait".into()),
            Roles::ConsumersFirst => ("consumers-first", "all wait, consumers first".into()),
        };
        let mut parameters = self.named();
        parameters.push(("waiting", waiting.into()));
        Facts {
            parameters,
            summary: format!("{}, {told}", of(self.places.into(), "place")),
            // The two counts and a place of the ring; one of the counts and the place.
            capacity: sets(3, 2, 0),
            transactions: Some(self.operations.into()),
            shared_words: u64::from(self.places) + 2,
            verifies: Verifies::isolation(
                "each value came out once, in the order in which values went in, at the position \
                 that its transaction saw",
            ),
            ..Facts::default()
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

pub struct Data<D: Device> {
    plan: QueuePlan,
    counts: TxArray<D, u32>,
    ring: TxArray<D, u32>,
    results: Buffer<D, u64>,
    lanes: u64,
}

impl<D: Device> Data<D> {
    fn left(&self, transactions: u64) -> Result<Left> {
        let (mut results, counts) = (self.results.download()?, self.counts.download()?);
        results.truncate(transactions as usize);
        Ok(Left {
            plan: self.plan,
            lanes: self.lanes,
            results,
            counts: [counts[0], counts[1]],
            ring: self.ring.download()?,
        })
    }

    fn work<A: Algorithm>(&self, transactions: u64) -> QueueWork<A> {
        let plan = self.plan;
        views! { self => QueueWork { counts by A, ring by A, results; transactions, plan } }
    }
}

impl Workload for Queue {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        let uses = Uses::own(|_: &Self, _, data: &mut Data<D>, transactions, launch| {
            launch(data.work::<Cgl>(transactions))
        });
        let section = uses.critical_section::<CriticalSection>(self, ONE_EACH);
        // A critical section does not wait for what another one does.
        let waits = self.roles != Roles::Drawn;
        if waits { Vec::new() } else { vec![section] }
    }

    fn prepare<D: Device>(&self, device: &D, seed: u64, transactions_max: u64) -> Result<Data<D>> {
        let (places, results) = (u64::from(self.places), transactions_max * 8);
        let on_device = places * 4 + results;
        // What the operations noted, and who appended what is at a position.
        let (on_host, fix) = (on_device + results, "use fewer --places or --operations");
        check_memory(device, "queue", on_device, on_host, fix)?;
        Ok(Data {
            plan: QueuePlan {
                seed,
                transactions: self.operations.into(),
                producers_percent: self.producers_percent,
                roles: self.roles,
            },
            counts: zeros(device, 2, "the counts of queue")?,
            ring: zeros(device, places, "the ring of queue")?,
            results: Buffer::zeroed(device, transactions_max as usize, "the results of queue")?,
            lanes: 1,
        })
    }

    fn fit<D: Device>(&self, _device: &D, data: &mut Data<D>, lanes: u64) -> Result<()> {
        data.lanes = lanes;
        Ok(())
    }

    accessed!(counts, ring);

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.counts.clear()?;
        data.ring.clear()?;
        Ok(data.results.clear()?)
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<Observed> {
        let left = data.left(transactions)?;
        check(&left)?;
        let refused = left.results.iter().filter(|&&r| r == 0).count();
        Ok(observed(&json!({ "refused": refused })))
    }

    kernels! { _, data, run => QueueKernel<A>, run.on(data.work(run.transactions)) }
}
