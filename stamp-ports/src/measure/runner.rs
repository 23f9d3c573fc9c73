//! One measurement: put the data into its first state, launch, verify, repeat. What is timed is the kernel
//! alone, by the device's own clock where it has one: neither the making and copying of the input, nor
//! allocation, nor the driver's compilation (reported as `jit_ms`), nor the verification.

use super::meter::{Phase, Phases};
use super::run_report::{Breakdown, NOT_VERIFIED, check_input};
use crate::prelude::*;
use crate::variants::no_profile_of;
use crate::workloads::AnyWorkload;
use crate::workloads::launcher::{AfterLaunch, Launched, Launcher};
use crate::workloads::prepared::Prepared;
use stm_core::internal::host::{Profile, ProfileRows};

/// A workload with its data on a device, for any number of measurements.
pub struct Runner<'a> {
    pub(crate) device: &'a AnyDevice,
    pub(crate) of: &'a AnyWorkload,
    prepared: Box<dyn Prepared<AnyDevice> + 'a>,
    pub(crate) transactions_max: u64,
    pub(crate) seed: u64,
    pub(crate) phases: Phases,
    pub(crate) verifies: bool,
}

impl<'a> Runner<'a> {
    /// Makes the data for up to `most` transactions.
    pub fn new(device: &'a AnyDevice, of: &'a AnyWorkload, seed: u64, most: u64) -> Result<Self> {
        check_input(of.sizes(), most)?;
        let mut phases = Phases::default();
        let prepare = || of.prepare(device, seed, most);
        Ok(Self {
            device,
            of,
            prepared: phases.time(Phase::Data, prepare)?,
            transactions_max: most,
            seed,
            phases,
            verifies: true,
        })
    }

    pub(crate) fn workload(&self) -> &'a dyn Sizes {
        self.of.sizes()
    }

    pub(crate) fn algorithm(&self, spec: &RunSpec) -> Variant {
        let (of, transactions) = (self.workload(), spec.transactions);
        resolve(of, spec.variant, &spec.config, transactions)
    }

    /// Launches once, and does not verify the result: for a search.
    pub(crate) fn launch_once(&mut self, spec: &RunSpec) -> Result<Launched> {
        let (mut stm, _) = self.begin(spec, Observation::Silent)?;
        self.phases.time(Phase::Reset, || self.prepared.clear())?;
        self.run(&mut stm, spec, None)
    }

    /// Measures: the warm-up if there are repeats, then each repeat launched and verified. A wrong result is no
    /// error, but a report that is not verified; so is a launch that only this run does not survive.
    pub fn measure(&mut self, spec: &RunSpec) -> Result<RunReport> {
        let algorithm = self.algorithm(spec);
        let _span = tracing::info_span!(
            "run",
            workload = self.workload().name(),
            variant = spec.variant.name(),
            resolved = algorithm.name(),
            blocks = spec.shape.0,
            threads = spec.shape.1
        )
        .entered();
        let (mut stm, jit) = self.begin(spec, Observation::Silent)?;
        let mut report = RunReport::new(self.device, self.workload(), spec, algorithm, self.seed);
        report.jit_ms = ms(jit);
        report.metadata_bytes = stm.metadata_bytes();
        report.verification = (!self.verifies).then_some(NOT_VERIFIED);
        if let Some(cap) = self.cap(spec, algorithm) {
            let ((blocks, threads), (all, each)) = (cap, spec.shape);
            let remark = format!("{blocks}x{threads} of {all}x{each}, as more are slower");
            let kind = "Threads with transactions (--all-threads gives all some)";
            report.remarks.push((kind, remark));
            (report.observed).insert("working_threads".into(), lanes(cap).into());
        }
        let launched = self.launches(&mut stm, spec, None, &mut report.error);
        // The launches were checked in part.
        let checked = launched.and_then(|runs| Ok(stm.check_in_full().map(|()| runs)?));
        match checked {
            Err(error) if error.is_of_this_run_only() => report.end(&error),
            runs => {
                let runs = runs?;
                report.verified = report.error.is_none() && self.verifies;
                report.remarks.extend(self.prepared.remarks());
                report.observed.extend(self.prepared.observed());
                report.fill(&runs);
            }
        }
        self.phases.tell(report.workload, report.variant);
        Ok(report)
    }

    /// Measures as [`measure`](Self::measure) does, and then as often by a kernel that reads the lanes' clocks:
    /// the profile is of the launch with the median time. A report that is not verified may have none.
    pub(crate) fn profile(&mut self, spec: &RunSpec) -> Result<RunReport> {
        if !self.algorithm(spec).has_profile() {
            return Err(no_profile_of(spec.variant));
        }
        let mut report = self.measure(spec)?;
        if !report.is_as_asked() {
            return Ok(report);
        }
        let (mut stm, _) = self.begin(spec, Observation::Profile)?;
        let (blocks, threads) = spec.shape;
        let mut rows = ProfileRows::new(self.device, Launch::new(blocks, threads))?;
        stm.observe(rows.probe());
        let mut wrong = None;
        match self.launches(&mut stm, spec, Some(&mut rows), &mut wrong) {
            Err(error) if error.is_of_this_run_only() => wrong = Some(error.to_string()),
            runs => {
                let runs = runs?;
                let (run, profile) = &runs[runs.len() / 2];
                let cost = ms(run.time) / report.time_ms.median.max(1e-6);
                report.profile = Some(Breakdown::new(profile, cost));
            }
        }
        if let Some(wrong) = wrong {
            (report.verified, report.profile) = (false, None);
            report.error = Some(format!("with the profiler: {wrong}"));
        }
        Ok(report)
    }

    /// Makes the memory and the kernels of a run, and returns what the driver took for these.
    fn begin(&mut self, spec: &RunSpec, of: Observation) -> Result<(Stm<AnyDevice>, Duration)> {
        let (blocks, threads) = spec.shape;
        let launch = Launch {
            shared_bytes: self.workload().shared_bytes(),
            ..Launch::new(blocks, threads)
        };
        let algorithm = self.algorithm(spec);
        let mut config = spec.config;
        let limits = &mut config.retry_limits;
        if let Some(cap) = self.cap(spec, algorithm) {
            (limits.blocks_max, limits.threads_max) = cap;
        }
        let stm = self.phases.time(Phase::Metadata, || {
            let span = tracing::info_span!("allocate metadata");
            let stm = span.in_scope(|| Stm::new(self.device, launch, config))?;
            self.prepared.fit(algorithm, launch)?;
            Ok::<_, Error>(stm)
        })?;
        let compile = || self.prepared.compile(algorithm, of);
        Ok((stm, self.phases.time(Phase::Load, compile)?))
    }

    /// The shape that gets transactions, if that is not all of the launch and nobody asked for all.
    fn cap(&self, spec: &RunSpec, algorithm: Variant) -> Option<Shape> {
        let (workload, processors) = (self.workload(), self.device.limits().processors);
        let chosen = spec.config.retry_limits.blocks_max == 0
            && self.device.kind() == DeviceKind::Cuda
            && workload.is_capped(algorithm);
        let (blocks, threads) = workload
            .gpu_shape(algorithm, processors)
            .filter(|_| chosen)?;
        let shape = (blocks.min(spec.shape.0), threads.min(spec.shape.1));
        (lanes(spec.shape) > lanes((blocks, threads))).then_some(shape)
    }

    /// Makes one run, and calls `after_each`, if there is one, after each of its launches.
    fn run(
        &mut self,
        stm: &mut Stm<AnyDevice>,
        spec: &RunSpec,
        after_each: Option<&mut AfterLaunch<'_>>,
    ) -> Result<Launched> {
        assert!(spec.transactions <= self.transactions_max, "too few data");
        let _span = tracing::info_span!("launch", transactions = spec.transactions).entered();
        let algorithm = self.algorithm(spec);
        let mut launcher = Launcher::new(self.device, stm);
        if let Some(after_each) = after_each {
            launcher = launcher.followed_by(after_each);
        }
        let run = || (self.prepared).run(algorithm, launcher, spec.transactions);
        match self.phases.time(Phase::Kernels, run) {
            Err(Error::Host(host::Error::CapacityExceeded {
                set,
                limit,
                transaction,
            })) => {
                let of = self.workload();
                let enough = of.capacity_max().unwrap_or_else(|| of.capacity());
                let enough = match set {
                    "write set" => format!("--write-capacity {}", enough.writes),
                    _ => format!("--read-capacity {}", enough.reads),
                };
                refuse(format!(
                    "CapacityExceeded: transaction {transaction} fills its {set} of {limit} \
                     entries: the workload needs {enough}"
                ))
            }
            ran => ran,
        }
    }

    /// Launches as often as asked for, after one that does not count if that is more than once, and judges
    /// each: `wrong` becomes what is wrong with the first result that is not right. With `rows`, each has its
    /// profile. Returns the launches, the fastest first.
    fn launches(
        &mut self,
        stm: &mut Stm<AnyDevice>,
        spec: &RunSpec,
        mut rows: Option<&mut ProfileRows<AnyDevice>>,
        wrong: &mut Option<String>,
    ) -> Result<Vec<(Launched, Profile)>> {
        // A loop of its own, as it resets and verifies between launches, and repeats long ones too.
        let mut runs = Vec::new();
        let warm = u32::from(spec.repeat > 1);
        for i in 0..spec.repeat.max(1) + warm {
            self.phases.time(Phase::Reset, || self.prepared.reset())?;
            let mut profile = Profile::default();
            let run = match rows.as_deref_mut() {
                None => self.run(stm, spec, None)?,
                Some(rows) => {
                    // After every launch, so that the time between two is nobody's.
                    let mut add = |_: Duration, _: &Statistics| rows.take().map(|of| profile += of);
                    self.run(stm, spec, Some(&mut add))?
                }
            };
            if self.verifies && (i >= warm || rows.is_some()) {
                let _span = tracing::info_span!("verify").entered();
                let (commits, prepared) = (run.statistics.commits, &mut self.prepared);
                let verify = || prepared.verify(commits, spec.transactions);
                if let Some(why) = self.phases.time(Phase::Verify, verify)? {
                    wrong.get_or_insert(why);
                }
            }
            if i >= warm {
                runs.push((run, profile));
            }
        }
        runs.sort_by_key(|(run, _)| run.time);
        Ok(runs)
    }
}
