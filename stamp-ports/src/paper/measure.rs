//! The points: each is added to the document, and returns what it came to. Errors are those after which
//! nothing can run on the device; others are in the document, or in what is returned.

use super::document::{Best, Breakdown, Characteristics, LaunchPoint, Paper, Speedup};
use super::plan::{
    ALONE, DESCRIBED, LIMIT, LOCKS, MEASURE, MEASURE_WALL, POINT, PROFILES, Plan, RECORD_BYTES,
    RECORDED, REPEAT,
};
use crate::measure::floor::search::{self as floor, Setting};
use crate::measure::runner::Runner;
use crate::measure::search::{Search, Tried};
use crate::prelude::*;
use crate::record::{Settings, record};
use crate::store::row;
use stm_history::history::{Event, History, Outcome};

pub(super) struct Bench<'a> {
    plan: &'a Plan,
    search: Search<'a>,
}

fn abort_rate(commits: u64, aborts: u64) -> f64 {
    aborts as f64 / (commits + aborts).max(1) as f64
}

fn rate(tx_per_s: f64, (blocks, threads): Shape) -> String {
    format!("{} tx/s at {blocks}x{threads}", short(tx_per_s))
}

const fn verdict(verified: bool) -> &'static str {
    if verified { "verified" } else { "NOT verified" }
}

fn result_of<'k>(known: &'k [Speedup], workload: &str, variant: &str) -> Option<&'k Speedup> {
    let mut known = known.iter();
    known.find(|s| s.workload == workload && s.variant == variant)
}

impl<'a> Bench<'a> {
    pub(super) fn new(plan: &'a Plan, runner: Runner<'a>, progress: &Progress) -> Self {
        let sizes = runner.workload();
        let config = StmConfig {
            locks: LOCKS,
            capacity: sizes.capacity(),
            ..StmConfig::default()
        };
        let shapes = plan.shapes("search", sizes.by_blocks());
        let effort = plan.search_effort(false);
        Self {
            plan,
            search: Search::new((runner, progress), shapes, effort, config),
        }
    }

    fn sizes(&self) -> &'a dyn Sizes {
        self.search.runner.workload()
    }

    fn resolved(&self, variant: AskedVariant) -> Variant {
        self.search.resolved(variant, LOCKS)
    }

    fn spec(&self, variant: impl Into<AskedVariant>, shape: Shape, n: u64) -> RunSpec {
        (self.search).spec(variant, LOCKS, (shape, n), LIMIT)
    }

    /// A point of Figure 2: the search, unless its result is known, and the measurement.
    pub(super) fn speedup(&mut self, paper: &mut Paper, variant: AskedVariant) -> Result<String> {
        let (sizes, plan) = (self.sizes(), self.plan);
        let resolved = self.resolved(variant);
        let known = result_of(&paper.speedups, sizes.name(), resolved.name());
        let known = known.filter(|s| s.error.is_none());
        self.search.effort = plan.search_effort(sizes.transactions().is_some());
        let mut best = known.map(|s| ((s.blocks, s.threads), s.tx_per_s));
        if best.is_none() {
            let found = given_up(self.search.best(resolved, LOCKS))?.ok();
            best = found.flatten().map(|t| ((t.blocks, t.threads), t.tx_per_s));
        }
        let tried = std::mem::take(&mut self.search.tried);
        let transactions = best.map_or(0, |(_, rate)| self.search.fill(plan.of(MEASURE), rate));
        let spec = self.spec(variant, best.unwrap_or_default().0, transactions);
        let reports = if best.is_some() {
            given_up(self.repeats(&spec))?
        } else {
            let why = tried.iter().rev().find_map(|t| t.note.as_deref());
            let why = why.unwrap_or("nothing committed");
            Err(format!("no launch ran to its end: {why}"))
        };
        let mut point = self.point(&spec, reports.as_deref().unwrap_or_default())?;
        point.best.error = reports.err().or(point.best.error);
        point.best.tried = known.map_or(tried.len() as u64, |s| s.tried);
        let (rate, verdict) = (rate(point.tx_per_s, spec.shape), verdict(point.verified));
        paper.search.extend(tried);
        paper.speedups.push(point);
        Ok(format!("{}: {rate}, {verdict}", variant.name()))
    }

    /// Measurements of one launch until the time for them is spent; that of the first of several does not count.
    fn repeats(&mut self, spec: &RunSpec) -> Result<Vec<RunReport>> {
        let (began, plan) = (Instant::now(), self.plan);
        let mut reports = Vec::new();
        loop {
            let report = self.search.runner.measure(spec)?;
            let wrong = !report.verified;
            reports.push(report);
            let enough = reports.len() > plan.of(REPEAT) as usize;
            if wrong || enough || began.elapsed() >= plan.of(MEASURE_WALL) {
                return Ok(reports);
            }
        }
    }

    fn point(&self, spec: &RunSpec, reports: &[RunReport]) -> Result<Speedup> {
        let wrong = reports.iter().find(|r| !r.verified);
        let mut timed: Vec<&RunReport> = reports[usize::from(reports.len() > 1)..].iter().collect();
        timed.sort_by(|a, b| a.tx_per_s.total_cmp(&b.tx_per_s));
        let median = timed.get(timed.len() / 2).copied();
        let rate = |report: Option<&&RunReport>| report.map_or(0.0, |r| r.tx_per_s);
        let (sizes, resolved) = (self.sizes(), self.resolved(spec.variant));
        let Runner { device, seed, .. } = self.search.runner;
        let none = RunReport::new(device, sizes, spec, resolved, seed);
        let shown = wrong.or(median).unwrap_or(&none);
        let launches = shown.kernels.iter().map(|k| k.launches).sum::<u64>();
        row(
            shown,
            json!({
                "transactions_full": self.search.runner.transactions_max,
                "repeat": timed.len(),
                "tx_per_s": rate(median.as_ref()),
                "tx_per_s_min": rate(timed.first()),
                "tx_per_s_max": rate(timed.last()),
                "verified": wrong.is_none() && median.is_some(),
                "verifies": sizes.verifies().covers.name(),
                "warp_width": self.plan.room.limits.warp_width,
                "jit_ms": reports.iter().map(|r| r.jit_ms).fold(0.0, f64::max),
                "launches": launches.max(u64::from(!reports.is_empty())),
                "tried": 0,
            }),
        )
    }

    /// The transactions of the workload, or of each of its kernels, as critical sections.
    pub(super) fn critical_sections(&mut self, paper: &mut Paper) -> Result<String> {
        let (plan, sizes) = (self.plan, self.sizes());
        let shapes = plan.shapes("critical", sizes.by_blocks());
        let runner = &self.search.runner;
        let setting = Setting {
            seed: runner.seed,
            transactions: runner.transactions_max,
            repeat: plan.of(REPEAT),
            measure: plan.of(MEASURE),
        };
        let mut rates = Vec::new();
        let mut contenders = runner.of.contenders();
        contenders.retain(|contender| contender.kind == ContenderKind::CriticalSection);
        for contender in contenders {
            let (run, tried) =
                floor::measure(runner.device, sizes, &contender, (&shapes, setting))?;
            let of_time = |ms: f64| run.transactions as f64 / (ms * 1e-3).max(1e-9);
            // `critical_gn1` is that of the kernel `gn1`.
            let workload = match run.kernel.split_once('_') {
                Some((_, part)) if part != run.workload => format!("{}/{part}", run.workload),
                _ => run.workload.into(),
            };
            let more = json!({
                "workload": workload,
                "tx_per_s_min": of_time(run.time_ms.max),
                "tx_per_s_max": of_time(run.time_ms.min),
                "tried": tried.len(),
            });
            let section: Best = row(&run, more)?;
            let rate = rate(section.tx_per_s, (section.blocks, section.threads));
            rates.push(format!("{rate}, {}", verdict(section.verified)));
            paper.critical_sections.push(section);
        }
        Ok(format!("{CRITICAL_SECTION}: {}", rates.join("; ")))
    }

    fn probe(&mut self, variant: Variant, locks: u64, shape: Shape) -> Result<LaunchPoint> {
        self.search.effort = self.plan.of(POINT);
        let probed = given_up(self.search.probe(variant, locks, shape))?;
        let tried = probed.unwrap_or_else(|why| Tried {
            note: Some(why),
            ..Tried::default()
        });
        let abort_rate = abort_rate(tried.commits, tried.aborts);
        let more = json!({
            "workload": self.sizes().name(), "variant": variant.name(), "locks": null,
            "blocks": shape.0, "threads": shape.1, "abort_rate": abort_rate,
        });
        row(&tried, more)
    }

    /// A point of Figure 3: as many transactions as fill its time, and a launch that is verified.
    pub(super) fn threads(
        &mut self,
        paper: &mut Paper,
        variant: Variant,
        shape: Shape,
    ) -> Result<String> {
        let mut point = self.probe(variant, LOCKS, shape)?;
        // What was stopped has no result that could be right.
        if point.note.is_none() {
            let spec = self.spec(variant, shape, point.transactions);
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
        let rate = rate(point.tx_per_s, shape);
        paper.threads.push(point);
        Ok(format!("{}: {rate}", variant.name()))
    }

    /// A point of Figure 4, of so many words and locks.
    pub(super) fn eigenbench(
        &mut self,
        paper: &mut Paper,
        variant: Variant,
        (words, locks): (u64, u64),
        shape: Shape,
    ) -> Result<String> {
        let point = LaunchPoint {
            workload: String::new(),
            hot_words: Some(words),
            locks: Some(locks),
            ..self.probe(variant, locks, shape)?
        };
        let (name, rate) = (variant.name(), rate(point.tx_per_s, shape));
        paper.eigenbench.push(point);
        let [words, locks] = [words, locks].map(count);
        Ok(format!("{name}, {words} words, {locks} locks: {rate}"))
    }

    /// A run of [`DESCRIBED`] at the best launch that is known, else at the default one.
    fn described(&self, known: &[Speedup]) -> RunSpec {
        let known = result_of(known, self.sizes().name(), DESCRIBED.name());
        let known = known.filter(|s| s.tx_per_s > 0.0);
        let usual = || (self.plan.room).launch(self.sizes(), self.resolved(DESCRIBED));
        let shape = known.map_or_else(usual, |s| (s.blocks, s.threads));
        self.spec(DESCRIBED, shape, self.search.runner.transactions_max)
    }

    /// A bar of Figure 5: of a full launch, or of one thread alone.
    pub(super) fn breakdown(&mut self, paper: &mut Paper, alone: bool) -> Result<String> {
        Ok(match given_up(self.bar(&paper.speedups, alone))? {
            Ok(bar) => {
                let cost = digits3(bar.cost);
                paper.breakdown.push(bar);
                format!("breakdown, at {cost} times the time")
            }
            Err(why) => format!("breakdown: NOT measured: {why}"),
        })
    }

    fn bar(&mut self, known: &[Speedup], alone: bool) -> Result<Breakdown> {
        let resolved = self.resolved(DESCRIBED);
        let mut spec = self.described(known);
        spec.repeat = self.plan.of(PROFILES);
        if alone {
            spec.shape = (1, 1);
            spec.repeat = 1;
            let tried = self.search.probe(resolved, LOCKS, spec.shape)?;
            spec.transactions = (self.search).fill(self.plan.of(ALONE), tried.tx_per_s);
        }
        let report = self.search.runner.profile(&spec)?;
        let profile = report.profile.as_ref().filter(|_| report.verified);
        let Some(profile) = profile else {
            let why = report.error.unwrap_or_else(|| "no lane ran".into());
            return Err(Error::Usage(why));
        };
        let own = (self.plan).workload(report.workload, self.search.runner.seed)?;
        let is_other = own.sizes().parameters() != self.sizes().parameters();
        row(
            &report,
            json!({
                "transactions": report.commits,
                "input": is_other.then(|| self.sizes().summary()),
                "shares": profile.shares,
                "cost": profile.cost,
            }),
        )
    }

    /// Rows of Table 1: the workload, and each of its kernels with transactions if they are several.
    pub(super) fn characteristics(&mut self, paper: &mut Paper) -> Result<String> {
        let (sizes, resolved) = (self.sizes(), self.resolved(DESCRIBED));
        let spec = self.described(&paper.speedups);
        let run = match given_up(self.search.runner.launch_once(&spec))? {
            Ok(run) => run,
            Err(why) => return Ok(format!("characteristics: NOT measured: {why}")),
        };
        let accesses = self.accesses()?;
        let shared_words = sizes.facts(spec.transactions).shared_words;
        let row = |workload: String, commits, aborts| Characteristics {
            workload,
            variant: DESCRIBED.name().into(),
            shared_words,
            transactions: commits,
            abort_rate: abort_rate(commits, aborts),
            ..Characteristics::default()
        };
        let (name, statistics) = (sizes.name(), &run.statistics);
        paper.characteristics.push(Characteristics {
            reads_per_tx: accesses.map(|[reads, _]| reads),
            writes_per_tx: accesses.map(|[_, writes]| writes),
            ..row(name.into(), statistics.commits, statistics.aborted())
        });
        let parts: Vec<_> = run.kernels.iter().filter(|k| k.commits > 0).collect();
        if parts.len() > 1 {
            // `gn1_hv_sorting` is the kernel `gn1`.
            let suffix = format!("_{}", resolved.name().replace('-', "_"));
            paper.characteristics.extend(parts.iter().map(|k| {
                let kernel = k.kernel.trim_end_matches(suffix.as_str());
                row(format!("{name}/{kernel}"), k.commits, k.aborts)
            }));
        }
        Ok("characteristics".into())
    }

    /// The reads and writes of a transaction, counted in a recorded run; nothing if there is none.
    fn accesses(&self) -> Result<Option<[f64; 2]>> {
        let (sizes, plan) = (self.sizes(), self.plan);
        let (blocks, threads) = plan.shapes("recorded", sizes.by_blocks())[0];
        let runner = &self.search.runner;
        let mut settings = Settings::default();
        let transactions = plan.of(RECORDED).min(runner.transactions_max);
        (settings.transactions, settings.runs_max) = (transactions, Some(1));
        (settings.blocks, settings.threads) = (blocks, threads);
        (settings.locks, settings.seed) = (LOCKS, runner.seed);
        settings.buffer_bytes = plan.of(RECORD_BYTES);
        settings.time_limit = Some(LIMIT);
        let mut found = [0; 3];
        let recorded = record(runner.device, RECORDS, runner.of, &settings, |history| {
            add_accesses(&mut found, &history);
            Ok(ControlFlow::Continue(()))
        });
        let [commits, reads, writes] = found.map(|n| n as f64);
        let each = [reads, writes].map(|n| n / commits.max(1.0));
        Ok(given_up(recorded)?.ok().map(|_| each))
    }
}

/// The algorithm of recorded runs, which does not matter to what a committed transaction accesses.
const RECORDS: Variant = Variant::HvSorting;

/// Adds a history's commits, their reads that returned a value from memory, and their writes.
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
    use stm_history::history::{Attempt, Header, InitialMemory};

    #[test]
    fn reads_and_writes_of_committed_transactions_are_counted() {
        let mut history = History::new(Header::default(), InitialMemory::ZERO);
        let (aborted, committed) = (
            Outcome::Aborted { reason: 1 },
            Outcome::Committed { version: 2 },
        );
        let read = Event::Read { word: 0, value: 0 };
        let write = Event::Write { word: 0, value: 1 };
        for (outcome, events) in [(aborted, &[read][..]), (committed, &[read, write, write])] {
            let attempt = Attempt::new(0, 1, 2, outcome);
            history.push(attempt, events).expect("room");
        }
        let mut found = [0; 3];
        add_accesses(&mut found, &history);
        assert_eq!(found, [1, 1, 2]);
    }
}
