//! The points: one measurement each, of a workload whose data is there.

use super::document::{Characteristics, CriticalSection, KernelPart, LaunchPoint, Speedup};
use super::plan::{DESCRIBED, LOCKS, Plan, Room, recorded_shape};
use crate::error::{Result, given_up};
use crate::measure::floor::search::{self as floor, Setting, shapes_of_critical_sections};
use crate::measure::launches;
use crate::measure::meter::Progress;
use crate::measure::run_report::{RunReport, RunSpec, resolve};
use crate::measure::runner::Runner;
use crate::measure::search::{Search, Tried};
use crate::record::{Settings, record};
use crate::variants::AskedVariant;
use crate::workloads::AnyWorkload;
use crate::workloads::contender::ContenderKind;
use crate::workloads::workload::Sizes;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use stm_core::algorithm::Variant;
use stm_core::host::StmConfig;
use stm_history::history::{Event, History, Outcome};

pub(super) struct Bench<'s, 'a> {
    pub(super) plan: &'s Plan,
    pub(super) room: &'s Room,
    pub(super) workload: &'s AnyWorkload,
    pub(super) seed: u64,
    pub(super) search: Search<'s, 'a>,
}

fn abort_rate(commits: u64, aborts: u64) -> f64 {
    aborts as f64 / (commits + aborts).max(1) as f64
}

fn config_of(workload: &dyn Sizes, locks: u64) -> StmConfig {
    StmConfig {
        locks,
        capacity: workload.capacity(),
        ..StmConfig::default()
    }
}

impl<'s, 'a> Bench<'s, 'a> {
    /// Begins with a runner that has data for up to so many transactions.
    pub(super) fn new(
        plan: &'s Plan,
        room: &'s Room,
        (workload, seed): (&'s AnyWorkload, u64),
        runner: &'s mut Runner<'a>,
        transactions: u64,
    ) -> Self {
        let config = config_of(runner.workload(), LOCKS);
        let shapes = plan.search_shapes(room, workload.sizes().by_blocks());
        let effort = plan.search_effort(false);
        Self {
            plan,
            room,
            workload,
            seed,
            search: Search::new(runner, &shapes, effort, transactions, config),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.search.runner.workload().name()
    }

    pub(super) fn resolved(&self, variant: AskedVariant) -> Variant {
        let search = &self.search;
        let workload = search.runner.workload();
        resolve(workload, variant, &search.config, search.transactions)
    }

    /// A point of Figure 2: the search, unless `known` has its result, and the
    /// measurement of the best launch. And every launch that was tried. Errors are those
    /// after which nothing can run on the device; others are in the point.
    pub(super) fn speedup(
        &mut self,
        variant: AskedVariant,
        known: &[Speedup],
        progress: &Progress,
    ) -> Result<(Speedup, Vec<Tried>)> {
        let resolved = self.resolved(variant);
        let known = Self::of(known, self.name(), resolved.name());
        let before = known.filter(|s| s.error.is_none());
        let whole = self.search.runner.workload().transactions().is_some();
        self.search.effort = self.plan.search_effort(whole);
        let mut best = before.map(|s| ((s.blocks, s.threads), s.tx_per_s));
        if best.is_none() {
            let found = given_up(self.search.best(resolved, LOCKS, progress))?.ok();
            best = found.flatten().map(|t| ((t.blocks, t.threads), t.tx_per_s));
        }
        let tried = std::mem::take(&mut self.search.tried);
        let (spec, reports) = if let Some((shape, rate)) = best {
            let transactions = self.search.fill(self.plan.measure, rate);
            let spec = self.limited(variant, shape, transactions);
            let reports = given_up(self.repeats(&spec))?;
            (spec, reports)
        } else {
            let why = tried.iter().rev().find_map(|t| t.note.as_deref());
            let why = why.unwrap_or("nothing committed");
            let error = format!("no launch ran to its end: {why}");
            (self.search.spec(variant, LOCKS, (0, 0), 0), Err(error))
        };
        let mut point = self.point(&spec, reports.as_deref().unwrap_or_default());
        point.error = reports.err().or(point.error);
        point.tried = before.map_or(tried.len() as u64, |s| s.tried);
        Ok((point, tried))
    }

    fn of<'k>(known: &'k [Speedup], workload: &str, variant: &str) -> Option<&'k Speedup> {
        let mut known = known.iter();
        known.find(|s| s.workload == workload && s.variant == variant)
    }

    fn limited(
        &self,
        variant: impl Into<AskedVariant>,
        shape: (u32, u32),
        transactions: u64,
    ) -> RunSpec {
        let mut spec = self.search.spec(variant, LOCKS, shape, transactions);
        spec.config.time_limit = Some(self.plan.limit);
        spec
    }

    /// The workload's transactions as critical sections of one lock, searched and
    /// measured; of each of its kernels that have such.
    pub(super) fn critical_sections(&mut self) -> Result<Vec<CriticalSection>> {
        let (kind, limits) = (self.room.kind, &self.room.limits);
        let by_blocks = self.workload.sizes().by_blocks();
        let shapes = shapes_of_critical_sections(kind, limits, by_blocks, self.plan.quick);
        let setting = Setting {
            seed: self.seed,
            transactions: self.search.transactions,
            repeat: self.plan.repeat,
            shapes: &shapes,
            measure_ms: self.plan.measure.as_secs_f64() * 1e3,
        };
        let device = self.search.runner.device();
        let mut found = Vec::new();
        for contender in self.workload.contenders() {
            if contender.kind != ContenderKind::CriticalSection {
                continue;
            }
            let of = self.workload.sizes();
            let (run, tried) = floor::measure(device, of, &contender, &setting)?;
            let rate = |ms: f64| run.transactions as f64 / (ms * 1e-3).max(1e-9);
            found.push(CriticalSection {
                // `critical_gn1` is that of the kernel `gn1`.
                workload: match run.kernel.split_once('_') {
                    Some((_, part)) if part != run.workload => format!("{}/{part}", run.workload),
                    _ => run.workload.into(),
                },
                blocks: run.blocks,
                threads: run.threads,
                transactions: run.transactions,
                transactions_full: run.transactions_full,
                repeat: run.repeat,
                tx_per_s: run.tx_per_s,
                tx_per_s_min: rate(run.time_ms.max),
                tx_per_s_max: rate(run.time_ms.min),
                verified: run.verified == Some(true),
                error: run.error,
                tried: tried.len() as u64,
            });
        }
        Ok(found)
    }

    /// Measurements of one launch until the time for them is spent. The first
    /// of several warms up: its result counts, its time does not.
    fn repeats(&mut self, spec: &RunSpec) -> Result<Vec<RunReport>> {
        let began = Instant::now();
        let mut reports = Vec::new();
        loop {
            let report = self.search.runner.measure(spec)?;
            let wrong = !report.verified;
            reports.push(report);
            let enough = reports.len() > self.plan.repeat as usize;
            if wrong || enough || began.elapsed() >= self.plan.measure_wall {
                return Ok(reports);
            }
        }
    }

    fn point(&self, spec: &RunSpec, reports: &[RunReport]) -> Speedup {
        let runner = &*self.search.runner;
        let wrong = reports.iter().find(|r| !r.verified);
        let mut timed: Vec<&RunReport> = match reports {
            [_, rest @ ..] if !rest.is_empty() => rest.iter().collect(),
            all => all.iter().collect(),
        };
        timed.sort_by(|a, b| a.tx_per_s.total_cmp(&b.tx_per_s));
        let median = timed.get(timed.len() / 2).copied();
        let shown = wrong.or(median);
        let rate = |report: Option<&&RunReport>| report.map_or(0.0, |r| r.tx_per_s);
        let aborts = shown.iter().flat_map(|r| &r.aborts);
        let parameters = shown.map(|r| r.parameters.clone()).unwrap_or_default();
        let kernels = || shown.iter().flat_map(|r| &r.kernels);
        let launches: u64 = kernels().map(|k| k.launches).sum();
        let kernels = kernels().map(|k| KernelPart {
            kernel: k.kernel.into(),
            launches: k.launches,
            time_ms: k.time_ms,
            commits: k.commits,
            aborts: k.aborts,
            ..KernelPart::default()
        });
        Speedup {
            workload: runner.workload().name().into(),
            variant: spec.variant.name().into(),
            resolved: self.resolved(spec.variant).name().into(),
            blocks: spec.shape.0,
            threads: spec.shape.1,
            locks: spec.config.locks,
            transactions: spec.transactions,
            transactions_full: self.search.transactions,
            repeat: timed.len() as u32,
            tx_per_s: rate(median.as_ref()),
            tx_per_s_min: rate(timed.first()),
            tx_per_s_max: rate(timed.last()),
            verified: wrong.is_none() && median.is_some(),
            verifies: Some(runner.workload().verifies().covers.told().into()),
            error: wrong.and_then(|r| r.error.clone()),
            commits: shown.map_or(0, |r| r.commits),
            aborts: aborts.map(|(&reason, &n)| (reason.to_owned(), n)).collect(),
            active_lanes: shown.and_then(|r| r.active_lanes),
            warp_width: self.room.limits.warp_width,
            metadata_bytes: shown.map_or(0, |r| r.metadata_bytes),
            jit_ms: reports.iter().map(|r| r.jit_ms).fold(0.0, f64::max),
            launches: launches.max(u64::from(shown.is_some())),
            kernels: kernels.collect(),
            parameters: parameters.into_iter().collect(),
            ..Speedup::default()
        }
    }

    fn probe(&mut self, variant: Variant, locks: u64, shape: (u32, u32)) -> Result<LaunchPoint> {
        self.search.effort = self.plan.point;
        let probed = given_up(self.search.probe(variant, locks, shape))?;
        let tried = probed.unwrap_or_else(|error| {
            let spec = self.search.spec(variant, locks, shape, 0);
            Tried {
                note: Some(error),
                ..Tried::new(self.name(), variant.name(), &spec)
            }
        });
        Ok(LaunchPoint {
            abort_rate: abort_rate(tried.commits, tried.aborts),
            workload: tried.workload,
            variant: tried.variant,
            blocks: tried.blocks,
            threads: tried.threads,
            transactions: tried.transactions,
            tx_per_s: tried.tx_per_s,
            note: tried.note,
            ..LaunchPoint::default()
        })
    }

    /// A point of Figure 3: as many transactions as fill its time, and a launch of them that is
    /// verified.
    pub(super) fn threads(&mut self, variant: Variant, shape: (u32, u32)) -> Result<LaunchPoint> {
        let mut point = self.probe(variant, LOCKS, shape)?;
        // What was stopped has no result that could be right.
        if point.note.is_none() {
            let spec = self.limited(variant, shape, point.transactions);
            match given_up(self.search.runner.measure(&spec))? {
                Ok(report) => {
                    point.tx_per_s = report.tx_per_s;
                    point.abort_rate = abort_rate(report.commits, report.aborts.values().sum());
                    point.verified = Some(report.verified);
                    point.note = report.error;
                }
                Err(why) => point.note = Some(why),
            }
        }
        Ok(point)
    }

    /// A point of Figure 4.
    pub(super) fn eigenbench(
        &mut self,
        variant: Variant,
        hot_words: u64,
        locks: u64,
        shape: (u32, u32),
    ) -> Result<LaunchPoint> {
        Ok(LaunchPoint {
            workload: String::new(),
            hot_words: Some(hot_words),
            locks: Some(locks),
            ..self.probe(variant, locks, shape)?
        })
    }

    /// A run of [`DESCRIBED`] at the best launch that `known` has, else at the default one.
    pub(super) fn described(&self, known: &[Speedup]) -> RunSpec {
        let known = Self::of(known, self.name(), DESCRIBED.name());
        let known = known.filter(|s| s.tx_per_s > 0.0);
        let usual = || {
            let (room, resolved) = (self.room, self.resolved(DESCRIBED));
            let workload = self.search.runner.workload();
            launches::launch(workload, resolved, room.kind, &room.limits)
        };
        let shape = known.map_or_else(usual, |s| (s.blocks, s.threads));
        self.limited(DESCRIBED, shape, self.search.transactions)
    }

    /// Rows of Table 1: the workload, and if it has several kernels with transactions, each of
    /// them. Conflicts are those of the best launch that `known` has, else of the default one.
    /// The inner error says why there are none.
    pub(super) fn characteristics(
        &mut self,
        known: &[Speedup],
    ) -> Result<Result<Vec<Characteristics>, String>> {
        let (name, resolved) = (self.name(), self.resolved(DESCRIBED));
        let spec = self.described(known);
        let run = match given_up(self.search.runner.launch_once(&spec))? {
            Ok(run) => run,
            Err(why) => return Ok(Err(why)),
        };
        let accesses = self.accesses()?;
        let workload = self.search.runner.workload();
        let shared_words = workload.facts(spec.transactions).shared_words;
        let row = |workload: &str, commits, aborts| Characteristics {
            workload: workload.into(),
            variant: DESCRIBED.name().into(),
            shared_words,
            transactions: commits,
            abort_rate: abort_rate(commits, aborts),
            ..Characteristics::default()
        };
        let statistics = &run.statistics;
        let mut rows = vec![Characteristics {
            reads_per_tx: accesses.map(|[reads, _]| reads),
            writes_per_tx: accesses.map(|[_, writes]| writes),
            ..row(name, statistics.commits, statistics.aborted())
        }];
        let parts: Vec<_> = run.kernels.iter().filter(|k| k.commits > 0).collect();
        if parts.len() > 1 {
            // `gn1_hv_sorting` is the kernel `gn1`.
            let suffix = format!("_{}", resolved.name().replace('-', "_"));
            rows.extend(parts.iter().map(|k| {
                let kernel = k.kernel.trim_end_matches(suffix.as_str());
                row(&format!("{name}/{kernel}"), k.commits, k.aborts)
            }));
        }
        Ok(Ok(rows))
    }

    /// The reads and writes of a transaction, counted in a run that records what its transactions do;
    /// nothing if it could not be recorded.
    fn accesses(&mut self) -> Result<Option<[f64; 2]>> {
        let workload = self.workload.sizes();
        let (blocks, threads) = recorded_shape(self.room, workload.by_blocks());
        let settings = Settings {
            transactions: self.plan.recorded.min(self.search.transactions),
            runs_max: Some(1),
            blocks,
            threads,
            locks: LOCKS,
            seed: self.seed,
            buffer_bytes: self.plan.record_bytes,
            time_limit: Some(self.plan.limit.max(Duration::from_secs(1))),
            ..Settings::default()
        };
        let mut found = [0; 3];
        let device = self.search.runner.device();
        let recorded = record(device, RECORDED, self.workload, &settings, |history| {
            add_accesses(&mut found, &history);
            Ok(ControlFlow::Continue(()))
        });
        let [commits, reads, writes] = found.map(|n| n as f64);
        let each = [reads, writes].map(|n| n / commits.max(1.0));
        Ok(given_up(recorded)?.ok().map(|_| each))
    }
}

/// The algorithm of recorded runs. It does not matter to what a committed transaction reads and
/// writes, so one records for all.
const RECORDED: Variant = Variant::HvSorting;

/// Adds a history's commits, their reads that returned a value from memory, and their writes; what
/// does not end in a commit does not count.
fn add_accesses([commits, reads, writes]: &mut [u64; 3], history: &History) {
    for i in 0..history.len() {
        if let Outcome::Aborted { .. } | Outcome::Running = history.attempt(i).outcome {
            continue;
        }
        *commits += 1;
        for event in history.events(i) {
            *reads += u64::from(matches!(event, Event::Read { .. }));
            *writes += u64::from(matches!(event, Event::Write { .. }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::AnyDevice;
    use crate::workloads::form::Form;
    use crate::workloads::ra::Ra;
    use stm_history::history::{Attempt, Header, InitialMemory};

    #[test]
    fn the_reads_and_writes_of_committed_transactions_are_counted() {
        let (words, reads, writes, form) = (1 << 10, 16, 5, Form::Dynamic);
        let of = AnyWorkload::from(Ra {
            words,
            reads,
            writes,
            form,
        });
        let settings = Settings {
            transactions: 500,
            ..Settings::default()
        };
        let mut found = [0; 3];
        let recorded = record(&AnyDevice::cpu(), RECORDED, &of, &settings, |history| {
            add_accesses(&mut found, &history);
            Ok(ControlFlow::Continue(()))
        });
        assert!(recorded.is_ok());
        assert_eq!(found, [500, 500 * 16, 500 * 5]);
    }

    #[test]
    fn an_aborted_attempt_does_not_count() {
        let mut history = History::new(Header::default(), InitialMemory::ZERO);
        for (outcome, event) in [
            (
                Outcome::Aborted { reason: 1 },
                Event::Read { word: 0, value: 0 },
            ),
            (
                Outcome::Committed { version: 2 },
                Event::Write { word: 0, value: 1 },
            ),
        ] {
            let attempt = Attempt::new(0, 1, 2, outcome);
            history.push(attempt, &[event]).expect("room");
        }
        let mut found = [0; 3];
        add_accesses(&mut found, &history);
        assert_eq!(found, [1, 0, 1]);
    }
}
