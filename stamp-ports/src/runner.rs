//! One measurement: put the data into its first state, launch, verify, repeat.
//!
//! What is timed is the kernel alone, by the device's own clock where it has
//! one: neither the input's making and copying, nor the metadata's allocation,
//! nor the driver's compilation (reported as `jit_ms`), nor the verification.

use crate::error::{Error, Result};
use crate::profile::Breakdown;
use crate::timed::{KernelTime, Launched, Observer, Timed};
use crate::variants::Variant;
use crate::with_algorithm;
use crate::workload::{AllAlgorithms, Launches, Workload};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use stm_core::abort::Abort;
use stm_core::algorithm::{Algorithm, Granule};
use stm_core::host::{self, Device, Launch, Patience, Stm, StmConfig};
use stm_core::probe::Silent;

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The variant, as asked for.
    pub variant: Variant,
    /// The launch's blocks and threads.
    pub shape: (u32, u32),
    /// The transactional memory.
    pub config: StmConfig,
    /// Transactions of a launch.
    pub transactions: u64,
    /// Timed launches, each with the data in its first state. More than one
    /// are preceded by one that is not counted.
    pub repeat: u32,
}

/// The kernel's times over the repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimeMs {
    /// The median.
    pub median: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
}

/// A run, as `--json` prints it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The workload's name.
    pub workload: &'static str,
    /// The variant asked for.
    pub variant: &'static str,
    /// The device's id.
    pub device: String,
    /// Blocks of the launch.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Version locks.
    pub locks: u64,
    /// Transactions of a launch.
    pub transactions: u64,
    /// The seed of the data.
    pub seed: u64,
    /// Transactions that committed, in the repeat of the median time.
    pub commits: u64,
    /// Attempts that did not, by reason, in the same. Of a launch that was
    /// stopped, what it committed, and all its aborts as `any_reason`.
    pub aborts: BTreeMap<&'static str, u64>,
    /// The kernel's times.
    pub time_ms: TimeMs,
    /// Transactions a second, by the median time.
    pub tx_per_s: f64,
    /// Whether every repeat left the right result.
    pub verified: bool,
    /// Lanes of a warp that made attempts together, on average, in the repeat
    /// of the median time; of loops over transactions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_lanes: Option<f64>,
    /// Device memory of locks, sets and statistics.
    pub metadata_bytes: u64,
    /// The workload's parameters, and those of the transactional memory.
    pub parameters: Map<String, Value>,
    /// What the run of the last repeat found, beside its verification.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub observed: Map<String, Value>,
    /// What the driver took to compile the kernel; 0 on the CPU.
    pub jit_ms: f64,
    /// The algorithm that ran.
    pub resolved: &'static str,
    /// The device's name.
    pub device_name: String,
    /// Bits of the widest atomics that kernels use there.
    pub atomics_bits: u32,
    /// The kernels of a run that has several, in the repeat of the median
    /// time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelTime>,
    /// Where the lanes' time went, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Breakdown>,
    /// What is wrong, if the run is not verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The key of aborts whose reasons are not known one by one.
const ANY_REASON: &str = "any_reason";

impl Report {
    /// The run was ended by an error. An earlier one stays: it is the cause.
    fn end(&mut self, error: &Error) {
        self.verified = false;
        self.error.get_or_insert_with(|| error.to_string());
        if let Error::Host(host::Error::Timeout {
            committed, aborted, ..
        }) = error
        {
            self.commits = *committed;
            self.aborts = BTreeMap::from([(ANY_REASON, *aborted)]);
        }
    }
}

/// The algorithm that a variant stands for: for `optimized`, by how many
/// stripes the shared words fill.
pub fn resolve(
    workload: &impl Workload,
    variant: Variant,
    config: &StmConfig,
    transactions: u64,
) -> Variant {
    let bytes = workload.shared_words(transactions).saturating_mul(4);
    variant.resolve(bytes.div_ceil(config.stripe_bytes.max(1)), config.locks)
}

/// Refuses parameters that make no sense, before anything is made for them.
///
/// # Errors
/// Names the parameter and the fix.
pub fn check_input(workload: &impl Workload, transactions: u64) -> Result<()> {
    workload.check(transactions)?;
    if transactions == 0 {
        return Err(Error::Usage(
            "--transactions 0 leaves nothing to run: give 1 or more".into(),
        ));
    }
    Ok(())
}

/// A workload's data on a device, for any number of measurements.
#[derive(Debug)]
pub struct Session<'a, D: Device, W: Workload> {
    /// The device.
    pub device: &'a D,
    /// The workload.
    pub workload: &'a W,
    data: W::Data<D>,
    transactions_max: u64,
    seed: u64,
}

impl<'a, D: Device, W: AllAlgorithms> Session<'a, D, W> {
    /// Makes the data for up to `transactions_max` transactions.
    ///
    /// # Errors
    /// Parameters that make no sense, too little memory, or of the device.
    pub fn new(device: &'a D, workload: &'a W, seed: u64, transactions_max: u64) -> Result<Self> {
        check_input(workload, transactions_max)?;
        Ok(Self {
            device,
            workload,
            data: workload.prepare(device, seed, transactions_max)?,
            transactions_max,
            seed,
        })
    }

    /// The seed of the data.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Launches once, without looking at the result: for a search.
    ///
    /// # Errors
    /// Of the launch.
    pub fn launch_once(&mut self, spec: &Spec) -> Result<Launched> {
        let algorithm = resolve(self.workload, spec.variant, &spec.config, spec.transactions);
        with_algorithm!(algorithm, A => {
            let mut stm = self.memory(spec)?;
            self.fit::<A>(spec)?;
            self.workload.clear(&mut self.data)?;
            self.launch::<A>(&mut stm, spec)
        })
    }

    /// Measures: the warm-up if there are repeats, then each repeat launched
    /// and verified.
    ///
    /// # Errors
    /// Of the launch. A wrong result is no error, but a report that is not
    /// verified; so is a launch that only this run does not survive.
    pub fn measure(&mut self, spec: &Spec) -> Result<Report> {
        let algorithm = resolve(self.workload, spec.variant, &spec.config, spec.transactions);
        let _span = tracing::info_span!(
            "run",
            workload = self.workload.name(),
            variant = spec.variant.name(),
            resolved = algorithm.name(),
            blocks = spec.shape.0,
            threads = spec.shape.1
        )
        .entered();
        with_algorithm!(algorithm, A => self.measure_as::<A>(spec))
    }

    pub(crate) fn memory(&self, spec: &Spec) -> Result<Stm<D>> {
        let (blocks, threads) = spec.shape;
        let _span = tracing::info_span!("allocate metadata").entered();
        let launch = Launch {
            shared_bytes: self.workload.shared_bytes(),
            ..Launch::new(blocks, threads)
        };
        Ok(Stm::new(self.device, launch, spec.config)?)
    }

    /// Makes the data fit for the lanes that run transactions of `A`.
    pub(crate) fn fit<A: Algorithm>(&mut self, spec: &Spec) -> Result<()> {
        let (blocks, threads) = spec.shape;
        let lanes = match A::GRANULE {
            Granule::Lane | Granule::LaneInTurn => u64::from(blocks) * u64::from(threads),
            Granule::Block => u64::from(blocks),
        };
        self.workload.fit(self.device, &mut self.data, lanes)?;
        self.workload.arrange::<D, A>(&mut self.data)
    }

    fn launch<A: Algorithm<Probe = Silent>>(
        &mut self,
        stm: &mut Stm<D>,
        spec: &Spec,
    ) -> Result<Launched>
    where
        W: Launches<A>,
    {
        self.launch_observed::<A>(stm, Silent, spec, &mut |_, _| {})
    }

    /// Launches with a probe, which outlives the launch, and an observer, told
    /// of each launch of several.
    pub(crate) fn launch_observed<A: Algorithm>(
        &mut self,
        stm: &mut Stm<D>,
        probe: A::Probe,
        spec: &Spec,
        observer: &mut Observer<'_>,
    ) -> Result<Launched>
    where
        W: Launches<A>,
    {
        assert!(
            spec.transactions <= self.transactions_max,
            "a launch of more transactions than there is data for"
        );
        let _span = tracing::info_span!("launch", transactions = spec.transactions).entered();
        let mut timed =
            Timed::new(self.device, stm, probe, spec.config.time_limit).observed_by(observer);
        Launches::<A>::run(self.workload, &mut self.data, &mut timed, spec.transactions)
            .map_err(|error| self.explain(error))?;
        Ok(timed.finish())
    }

    /// Adds the capacity that would be enough.
    fn explain(&self, error: Error) -> Error {
        let enough = self.workload.capacity_max();
        match error {
            Error::Host(host::Error::CapacityExceeded {
                set,
                limit,
                transaction,
            }) => {
                let (option, needed) = if set == "write set" {
                    ("--write-capacity", enough.writes)
                } else {
                    ("--read-capacity", enough.reads)
                };
                Error::Capacity {
                    set,
                    limit,
                    transaction,
                    option,
                    needed,
                }
            }
            other => other,
        }
    }

    fn measure_as<A: Algorithm<Probe = Silent>>(&mut self, spec: &Spec) -> Result<Report>
    where
        W: Launches<A>,
    {
        let mut stm = self.memory(spec)?;
        self.fit::<A>(spec)?;
        let jit = Launches::<A>::compile(self.workload, self.device)?;
        let mut report = self.blank(spec);
        report.jit_ms = jit.as_secs_f64() * 1e3;
        report.metadata_bytes = stm.metadata_bytes();
        match self.repeat::<A>(&mut stm, spec, &mut report) {
            Err(error) if error.is_of_this_run_only() => report.end(&error),
            other => other?,
        }
        Ok(report)
    }

    /// The warm-up and the repeats, and what they give for the report.
    fn repeat<A: Algorithm<Probe = Silent>>(
        &mut self,
        stm: &mut Stm<D>,
        spec: &Spec,
        report: &mut Report,
    ) -> Result<()>
    where
        W: Launches<A>,
    {
        report.verified = true;
        if spec.repeat > 1 {
            self.workload.reset(&mut self.data)?;
            self.launch::<A>(stm, spec)?;
        }
        let mut runs = Vec::new();
        for _ in 0..spec.repeat.max(1) {
            self.workload.reset(&mut self.data)?;
            let run = self.launch::<A>(stm, spec)?;
            if let Some(wrong) = self.verify(&run, spec.transactions)? {
                report.verified = false;
                report.error.get_or_insert(wrong);
            }
            runs.push(run);
        }
        runs.sort_by_key(|run| run.time);
        let ms = |run: &Launched| run.time.as_secs_f64() * 1e3;
        let median = &runs[runs.len() / 2];
        report.time_ms = TimeMs {
            median: ms(median),
            min: ms(&runs[0]),
            max: ms(&runs[runs.len() - 1]),
        };
        report.tx_per_s = median.tx_per_s();
        report.commits = median.statistics.commits;
        report.active_lanes = median.statistics.active_lanes();
        for (name, value) in self.workload.observed(&self.data) {
            report.observed.insert(name.into(), value);
        }
        if median.kernels.len() > 1 {
            report.kernels.clone_from(&median.kernels);
        }
        for reason in Abort::ALL {
            report
                .aborts
                .insert(reason.name(), median.statistics.aborts[reason as usize]);
        }
        Ok(())
    }

    pub(crate) fn reset(&mut self) -> Result<()> {
        self.workload.reset(&mut self.data)
    }

    pub(crate) fn verify(&mut self, run: &Launched, transactions: u64) -> Result<Option<String>> {
        let _span = tracing::info_span!("verify").entered();
        let commits = run.statistics.commits;
        let expected = self.workload.commits_expected(&self.data, transactions)?;
        if let Some(expected) = expected
            && commits != expected
        {
            return Ok(Some(format!(
                "{commits} of {expected} transactions committed"
            )));
        }
        self.workload.verify(&mut self.data, transactions)
    }

    fn blank(&self, spec: &Spec) -> Report {
        let mut parameters = Map::new();
        for (name, value) in self.workload.parameters() {
            parameters.insert(name.into(), value.into());
        }
        for (name, value) in self.workload.more_parameters() {
            parameters.insert(name.into(), value);
        }
        for (name, value) in [
            ("stripe_bytes", spec.config.stripe_bytes),
            ("read_capacity", spec.config.capacity.reads.into()),
            ("write_capacity", spec.config.capacity.writes.into()),
            ("repeat", spec.repeat.into()),
        ] {
            parameters.insert(name.into(), value.into());
        }
        let (given, default) = (spec.config.patience, Patience::DEFAULT);
        for (name, value, unless) in [
            ("read_polls", given.read_polls, default.read_polls),
            ("lanes_max", given.width_max, default.width_max),
            ("elder_after", given.elder_after, default.elder_after),
        ] {
            if value != unless {
                parameters.insert(name.into(), value.into());
            }
        }
        Report {
            workload: self.workload.name(),
            variant: spec.variant.name(),
            device: self.device.id(),
            blocks: spec.shape.0,
            threads: spec.shape.1,
            locks: spec.config.locks,
            transactions: spec.transactions,
            seed: self.seed,
            commits: 0,
            aborts: BTreeMap::new(),
            time_ms: TimeMs::default(),
            tx_per_s: 0.0,
            verified: false,
            active_lanes: None,
            metadata_bytes: 0,
            parameters,
            observed: Map::new(),
            jit_ms: 0.0,
            resolved: resolve(self.workload, spec.variant, &spec.config, spec.transactions).name(),
            device_name: self.device.name(),
            atomics_bits: self.device.atomics_bits(),
            kernels: Vec::new(),
            profile: None,
            error: None,
        }
    }
}
