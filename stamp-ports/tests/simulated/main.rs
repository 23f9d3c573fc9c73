//! The workloads on the simulator and on the CPU, driven as `stamp` drives them:
//! recorded and judged, profiled, and their results checked; and what is measured beside them.

use stamp_ports::Error;
use stamp_ports::record::{Row, Settings, record_made};
use stamp_ports::workloads::launcher::Launcher;
use stamp_ports::workloads::prepared::prepare;
use stamp_ports::workloads::workload::Workload;
use std::ops::ControlFlow;
use stm_core::algorithm::Variant;
use stm_core::host::{Device, Launch, RetryLimits, Statistics, Stm, StmConfig};
use stm_core::internal::observe::Mutant;
use stm_history::history::records::Records;
use stm_history::history::{Header, History, InitialMemory, Rest};
use stm_history::opacity;
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

mod applications;
mod floors;
mod words;

/// Makes one test for each algorithm of the registry, which calls a function with it.
macro_rules! tests_of_all {
    ($test:ident in $module:ident, $(
        $variant:ident $entry:ident $name:literal $origin:ident $teams:ident $sums:ident;
    )*) => {
        mod $module {
            use super::*;

            $(
                #[test]
                fn $entry() {
                    $test(Variant::$variant);
                }
            )*
        }
    };
}
pub(crate) use tests_of_all;

/// Words of a lane's recording buffer.
const RECORD_WORDS: u64 = 1 << 17;

/// How a workload is run.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) algorithm: Variant,
    /// Blocks, and threads of a block.
    pub(crate) shape: (u32, u32),
    /// The metadata's sizes, without the capacity of the sets, which the workload gives.
    pub(crate) config: StmConfig,
    /// The seed of the data.
    pub(crate) seed: u64,
    pub(crate) transactions: u64,
}

/// Limits at which lanes that wait give up soon.
pub(crate) const LIMITS: RetryLimits = RetryLimits {
    read_polls: 8,
    acquire_tries: 4,
    retries_max: 0,
    ..RetryLimits::DEFAULT
};

impl Setup {
    /// Few locks and small limits, so that lanes collide.
    pub(crate) fn crowded(algorithm: Variant, seed: u64, transactions: u64) -> Self {
        Self {
            algorithm,
            shape: (2, 6),
            config: StmConfig {
                locks: 16,
                stripe_bytes: 4 << (seed % 3),
                retry_limits: LIMITS,
                ..StmConfig::default()
            },
            seed,
            transactions,
        }
    }

    /// The launch of a workload.
    pub(crate) fn launch(&self, workload: &impl Workload) -> Launch {
        Launch {
            shared_bytes: workload.shared_bytes(),
            ..Launch::new(self.shape.0, self.shape.1)
        }
    }

    /// Metadata for a workload.
    pub(crate) fn stm<D: Device>(
        &self,
        workload: &impl Workload,
        device: &D,
    ) -> Result<Stm<D>, Error> {
        let config = StmConfig {
            capacity: workload.capacity(),
            ..self.config
        };
        Ok(Stm::new(device, self.launch(workload), config)?)
    }

    /// Runs a workload; its statistics, what its driver finds wrong with the result, and the
    /// words from which it began.
    pub(crate) fn drive<D: Device>(
        &self,
        workload: &impl Workload,
        device: &D,
        stm: &mut Stm<D>,
    ) -> Result<(Statistics, Option<String>, InitialMemory), Error> {
        workload.check(self.transactions)?;
        let mut prepared = prepare(workload, device, self.seed, self.transactions)?;
        prepared.fit(self.algorithm, self.launch(workload))?;
        prepared.reset()?;
        let words = prepared.initial()?;
        let words = words.into_iter().map(|(word, value)| (word.bits(), value));
        let initial = InitialMemory::of(words, Rest::Value(0));
        let launcher = Launcher::new(device, stm);
        let done = prepared.run(self.algorithm, launcher, self.transactions)?;
        let wrong = prepared.verify(done.statistics.commits, self.transactions)?;
        Ok((done.statistics, wrong, initial))
    }

    /// The same, recorded.
    pub(crate) fn record<D: Device>(
        &self,
        workload: &impl Workload,
        device: &D,
    ) -> Result<Recorded, Error> {
        let mut stm = self.stm(workload, device)?;
        let records = Records::new(device, &self.launch(workload), RECORD_WORDS).expect("records");
        stm.observe(records.probe());
        let (statistics, wrong, initial) = self.drive(workload, device, &mut stm)?;
        let header = Header {
            variant: self.algorithm.to_string(),
            workload: workload.name().into(),
            device: device.id(),
            seed: String::new(),
        };
        let history = (records.history(header, initial))
            .unwrap_or_else(|error| panic!("{}: {error}", device.id()));
        assert_eq!(history.len() as u64, statistics.attempts, "{}", device.id());
        Ok(Recorded {
            aborted: statistics.aborted(),
            wrong,
            history,
        })
    }

    /// Runs a workload recorded, whose result must be right and whose history opaque; returns
    /// the attempts that aborted.
    pub(crate) fn right<D: Device>(&self, workload: &impl Workload, device: &D) -> u64 {
        let (name, id, seed) = (workload.name(), device.id(), self.seed);
        let what = format!("{name} {} on {id}, seed {seed}", self.algorithm);
        let run = self.record(workload, device);
        run.unwrap_or_else(|error| panic!("{what}: {error}"))
            .right(&what)
    }
}

/// Records runs of a workload as the program does, whose results must be right and whose
/// histories opaque.
pub(crate) fn recorded<W: Workload + Copy>(
    sim: &Sim,
    variant: Variant,
    workload: W,
    settings: &Settings,
    what: &str,
) -> Row {
    let judge = |history: History| {
        let verdict = opacity::check(&history)?;
        assert!(verdict.is_opaque(), "{what}:\n{verdict}");
        Ok(ControlFlow::Continue(()))
    };
    let row = record_made(sim, variant, |_| Ok(workload), settings, judge);
    let row = row.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(row.wrong_state, None, "{what}");
    assert_eq!(row.transactions, settings.transactions, "{what}");
    row
}

/// Returns what the driver says of the first result that it refuses, of a memory with this defect.
pub(crate) fn noticed(
    workload: &impl Workload,
    mutant: Mutant,
    seeds: u64,
    setup: impl Fn(u64) -> Setup,
) -> String {
    let wrong = simulations(seeds).find_map(|config| {
        let sim = Sim::new(SimConfig {
            mutant: Some(mutant as u32),
            ..config
        });
        let run = setup(config.seed).record(workload, &sim);
        run.ok()?.wrong
    });
    let (workload, mutant) = (workload.name(), mutant.name());
    wrong.unwrap_or_else(|| panic!("{workload} does not notice {mutant}"))
}

/// The outcome of a recorded run.
pub(crate) struct Recorded {
    pub(crate) aborted: u64,
    /// What the driver found wrong with the result.
    pub(crate) wrong: Option<String>,
    pub(crate) history: History,
}

impl Recorded {
    /// The attempts that aborted, of a run with a right result and an opaque history.
    fn right(&self, what: &str) -> u64 {
        assert_eq!(self.wrong, None, "{what}");
        let verdict = opacity::check(&self.history);
        let verdict = verdict.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(verdict.is_opaque(), "{what}:\n{verdict}");
        self.aborted
    }
}

/// A simulation with weak memory, in which every other seed's votes order it.
pub(crate) fn simulation(warp_width: u32, schedule: Schedule, seed: u64) -> SimConfig {
    SimConfig {
        warp_width,
        schedule,
        memory: MemoryModel::Weak { stale_percent: 30 },
        votes_order: seed.is_multiple_of(2),
        seed,
        ..SimConfig::default()
    }
}

/// Simulations of warps of four: each schedule with so many seeds.
pub(crate) fn simulations(seeds: u64) -> impl Iterator<Item = SimConfig> {
    let schedules = Schedule::named("lockstep stack its64 random");
    let of = move |schedule| (0..seeds).map(move |seed| simulation(4, schedule, seed));
    schedules.into_iter().flat_map(of)
}
