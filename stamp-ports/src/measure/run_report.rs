//! What a run is asked to be, and what a measurement found, as `--json` prints it. A [`Breakdown`] is Figure 5
//! of Xu et al. 2014: a run is measured as ever, and then once more, on the same data, by a kernel that reads
//! the lanes' clocks ([`stm_core::internal::observe::phase`]), which cost time of their own.

use super::{TimeMs, ms};
use crate::devices::{AnyDevice, Shape};
use crate::error::{Error, Result, refuse};
use crate::external_prelude::*;
use crate::numbers::{parse_count, parse_count_32};
use crate::output::Joined;
use crate::variants::AskedVariant;
use crate::workloads::launcher::{KernelTime, Launched};
use crate::workloads::workload::{Sizes, Verifies, known};
use stm_core::Abort;
use stm_core::internal::host::Profile;

/// A run, as `--json` prints it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    pub(crate) workload: &'static str,
    /// The variant asked for, and its form where that is static: `fast, static`.
    pub variant: &'static str,
    pub(crate) device: String,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) locks: u64,
    /// Transactions of a launch.
    pub transactions: u64,
    pub(crate) seed: u64,
    /// Transactions that committed, in the repeat of the median time.
    pub commits: u64,
    /// Attempts that did not, by reason, in the same repeat; of a launch that was stopped all as `any_reason`.
    pub aborts: BTreeMap<&'static str, u64>,
    /// The kernel's times.
    pub time_ms: TimeMs,
    /// Transactions a second, by the median time.
    pub(crate) tx_per_s: f64,
    /// Whether every repeat left the right result.
    pub verified: bool,
    /// [`NOT_VERIFIED`], if nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verification: Option<&'static str>,
    /// What [`verified`](Self::verified) covers.
    pub(crate) verifies: Verifies,
    /// Lanes of a warp that made attempts together, on average, in the median repeat; of loops over transactions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) active_lanes: Option<f64>,
    /// Turns in which a warp worked alone under contention, in the median repeat.
    pub(crate) turns: u64,
    /// Device memory of locks, sets and statistics.
    pub(crate) metadata_bytes: u64,
    /// The workload's parameters, and those of the transactional memory.
    pub parameters: Map<String, Value>,
    /// What the run of the last repeat found, beside its verification.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub observed: Map<String, Value>,
    /// What the driver took to compile the kernel; 0 on the CPU.
    pub(crate) jit_ms: f64,
    pub(crate) resolved: &'static str,
    pub(crate) device_name: String,
    /// Bits of the widest atomics that kernels use there.
    pub(crate) atomics_bits: u32,
    /// The kernels of a run that has several, in the median repeat.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelTime>,
    /// The host's time for each launch that it did not wait for, in the median repeat; of a run with such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) enqueue_us: Option<f64>,
    /// Where the lanes' time went, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Breakdown>,
    /// What a person has to know about the last repeat: what a remark is of, and the remark.
    #[serde(skip)]
    pub(crate) remarks: Vec<(&'static str, String)>,
    #[serde(skip)]
    pub(crate) summary: String,
    /// What is wrong, if the run is not verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

pub(crate) const NOT_VERIFIED: &str = "not verified (--no-verify)";

impl RunReport {
    /// Whether nothing is wrong: it is verified, or ended well and was not to be.
    pub(crate) const fn is_as_asked(&self) -> bool {
        self.verified || (self.verification.is_some() && self.error.is_none())
    }

    /// Fills in what launches of a right run found, the fastest first.
    pub(super) fn fill(&mut self, runs: &[(Launched, Profile)]) {
        let times: Vec<f64> = runs.iter().map(|(run, _)| ms(run.time)).collect();
        self.time_ms = TimeMs::of(&times);
        let (median, _) = &runs[runs.len() / 2];
        self.tx_per_s = median.tx_per_s();
        self.commits = median.statistics.commits;
        self.active_lanes = median.statistics.active_lanes();
        self.turns = median.statistics.turns;
        self.enqueue_us = median.us_enqueued();
        if median.kernels.len() > 1 {
            self.kernels.clone_from(&median.kernels);
        }
        let aborts = Abort::NAMES.into_iter().zip(median.statistics.aborts);
        self.aborts = aborts.collect();
    }

    pub(super) fn end(&mut self, error: &Error) {
        self.verified = false;
        self.error.get_or_insert_with(|| error.to_string());
        if let Error::Host(host::Error::Timeout {
            committed, aborted, ..
        }) = error
        {
            self.commits = *committed;
            self.aborts = BTreeMap::from([("any_reason", *aborted)]);
        }
    }

    pub(crate) fn new(
        device: &AnyDevice,
        workload: &dyn Sizes,
        spec: &RunSpec,
        algorithm: Variant,
        seed: u64,
    ) -> Self {
        let (sets, given) = (spec.config.capacity, spec.config.retry_limits);
        let usual = RetryLimits::DEFAULT;
        let other = |given: u32, usual: u32| Value::from((given != usual).then_some(given));
        let of_memory = known([
            ("stripe_bytes", spec.config.stripe_bytes.into()),
            ("read_capacity", sets.reads.into()),
            ("write_capacity", sets.writes.into()),
            ("repeat", spec.repeat.into()),
            ("read_polls", other(given.read_polls, usual.read_polls)),
            ("lanes_max", other(given.lanes_max, usual.lanes_max)),
            ("queue_after", other(given.queue_after, usual.queue_after)),
        ]);
        let parameters = workload.parameters().into_iter().chain(of_memory);
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value));
        Self {
            workload: workload.name(),
            variant: workload.form().name(spec.variant),
            device: device.id(),
            blocks: spec.shape.0,
            threads: spec.shape.1,
            locks: spec.config.locks,
            transactions: spec.transactions,
            seed,
            verifies: workload.verifies(),
            parameters: parameters.collect(),
            resolved: algorithm.name(),
            device_name: device.name(),
            atomics_bits: device.atomics_bits(),
            summary: workload.summary(),
            ..Self::default()
        }
    }
}

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct RunSpec {
    /// The variant, as asked for.
    pub variant: AskedVariant,
    /// The launch's blocks and threads.
    pub shape: Shape,
    /// The transactional memory.
    pub config: StmConfig,
    /// Transactions of a launch.
    pub transactions: u64,
    /// Timed launches, each with the data in its first state; before more than one is one that does not count.
    pub repeat: u32,
}

impl RunSpec {
    /// Returns one launch, in sets that hold the workload's transactions.
    pub fn new(of: &dyn Sizes, variant: AskedVariant, shape: Shape, transactions: u64) -> Self {
        let capacity = of.capacity();
        Self {
            variant,
            shape,
            config: StmConfig {
                capacity,
                ..StmConfig::default()
            },
            transactions,
            repeat: 1,
        }
    }
}

/// The algorithm that a variant stands for in runs of so many transactions: for `optimized`, by how many
/// stripes the shared words fill.
pub(crate) fn resolve(of: &dyn Sizes, asked: AskedVariant, stm: &StmConfig, n: u64) -> Variant {
    let bytes = of.facts(n).shared_words.saturating_mul(4);
    asked.resolve(bytes.div_ceil(stm.stripe_bytes.max(1)), stm.locks)
}

/// Refuses parameters that make no sense, before anything is made for them.
pub(crate) fn check_input(workload: &dyn Sizes, transactions: u64) -> Result<()> {
    workload.check(transactions)?;
    if transactions == 0 {
        return refuse("--transactions 0 leaves nothing to run: give 1 or more");
    }
    Ok(())
}

/// The sizes of the transactional memory, except for the number of locks.
#[derive(Parser, Clone, Copy, Debug)]
#[command(next_help_heading = "Transactional memory")]
pub(crate) struct MemorySpec {
    /// Bytes that share a version lock
    ///
    /// Bytes that share a version lock, a power of two
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "4")]
    pub stripe_bytes: u64,
    /// Entries of a read set [default: enough]
    ///
    /// Entries of a transaction's read set [default: what the workload needs]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub read_capacity: Option<u32>,
    /// Entries of a write set [default: enough]
    ///
    /// Entries of a transaction's write set [default: what the workload needs]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub write_capacity: Option<u32>,
    /// Polls of a locked word before a read aborts
    ///
    /// With fast and fast-table, polls of a locked word and extensions for a newer one together
    /// [default: 1 for fast and fast-table, 16 for their teams, else 8]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub read_polls: Option<u32>,
    /// Lanes that attempt at a time [default: 32]
    ///
    /// With fast and fast-table, lanes of a warp that make an attempt at a time, at most, 1 to 32;
    /// fewer where many conflict [default: 32]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub lanes_max: Option<u32>,
    /// Conflicts before a turn alone [default: 1024]
    ///
    /// With fast and fast-table, conflicts in a row before a transaction waits for a turn alone, at
    /// most; fewer in small launches [default: 1024]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub queue_after: Option<u32>,
    /// Give all threads of a launch transactions
    ///
    /// Give all threads of a launch transactions, where by default only as many get some as are
    /// known to be fastest: with fast, those of ra on a GPU
    #[arg(long, hide_short_help = true)]
    pub all_threads: bool,
}

impl MemorySpec {
    /// Refuses options that none of these variants takes.
    pub(crate) fn check(&self, variants: &[AskedVariant]) -> Result<()> {
        let lanes_max = self.lanes_max.map(|value| ("--lanes-max", value));
        let queue_after = self.queue_after.map(|value| ("--queue-after", value));
        let has_scheduler = |variant: &&AskedVariant| variant.has_scheduler();
        match lanes_max.or(queue_after) {
            Some((option, value)) if !variants.iter().any(|variant| has_scheduler(&variant)) => {
                let all = AskedVariant::all();
                let of = all.iter().filter(has_scheduler).map(|of| of.name());
                let of = of.joined(" and ");
                let not = variants.iter().map(|of| of.name()).joined(" and ");
                let what = format!("{option} {value} is for {of}, not for {not}");
                refuse(what + ": leave it out")
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn config(&self, locks: u64, sets: Capacity, limit: Option<Duration>) -> StmConfig {
        let default = RetryLimits::DEFAULT;
        StmConfig {
            locks,
            stripe_bytes: self.stripe_bytes,
            capacity: Capacity {
                reads: self.read_capacity.unwrap_or(sets.reads),
                writes: self.write_capacity.unwrap_or(sets.writes),
                actions: sets.actions,
            },
            retry_limits: RetryLimits {
                read_polls: self.read_polls.unwrap_or(default.read_polls),
                lanes_max: self.lanes_max.unwrap_or(default.lanes_max),
                queue_after: self.queue_after.unwrap_or(default.queue_after),
                // 0 leaves the choice to the workload.
                blocks_max: if self.all_threads { u32::MAX } else { 0 },
                ..default
            },
            time_limit: limit,
        }
    }
}

/// A profile as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Breakdown {
    /// The phases' parts of the lanes' time, from 0 to 1, by name.
    pub shares: BTreeMap<&'static str, f64>,
    /// The same in ticks of all lanes' clocks together: cycles on a GPU, nanoseconds on the CPU.
    pub ticks: BTreeMap<&'static str, u64>,
    pub(crate) lanes: u64,
    /// The profiled kernel's time over that of the kernel without clocks.
    pub cost: f64,
}

impl Breakdown {
    pub(crate) fn new(profile: &Profile, cost: f64) -> Self {
        let by = |phase: Phase| (phase.name(), profile.phases[phase as usize]);
        Self {
            shares: Phase::ALL.map(|p| (p.name(), profile.share(p))).into(),
            ticks: Phase::ALL.map(by).into(),
            lanes: profile.lanes,
            cost,
        }
    }
}
