//! The search for the best launch of each variant.
//!
//! 1. Every shape is probed: few transactions first, then as many as fill the time of a probe. A launch that
//!    reaches its limit is stopped and counted by what it committed.
//! 2. The best few run again with as many transactions as fill the time of a trial.
//! 3. The best of each variant is measured and verified, repeatedly, with as many as fill [`MEASURE`], or all.

use super::run_report::{MemorySpec, check_input};
use super::runner::Runner;
use crate::prelude::*;
use crate::workloads::AnyWorkload;

const PROBE_TRANSACTIONS: u64 = 2048;
/// The fewest transactions that fill a time.
const FILL_MIN: u64 = 1024;
/// The most by which a probe has more transactions than the last.
const PROBE_GROWTH_MAX: f64 = 32.0;
const MEASURE: Duration = Duration::from_millis(500);
/// A launch that takes longer, as its input says how many transactions there are, is not repeated.
pub(crate) const LONG: Duration = Duration::from_secs(2);
const LIMIT: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) probe: Duration,
    /// Longer, and a probe is stopped.
    pub(crate) probe_limit: Duration,
    pub(crate) trials: usize,
    pub(crate) trial: Duration,
}

const TUNE: Effort = effort([15, 250], 4, 150);

/// An effort of so many milliseconds a probe, at most, and of so many trials of as many.
pub(crate) const fn effort([probe, limit]: [u64; 2], trials: usize, trial: u64) -> Effort {
    Effort {
        probe: Duration::from_millis(probe),
        probe_limit: Duration::from_millis(limit),
        trials,
        trial: Duration::from_millis(trial),
    }
}

pub(crate) struct Search<'a> {
    pub(crate) runner: Runner<'a>,
    progress: Progress,
    shapes: Vec<Shape>,
    pub(crate) effort: Effort,
    /// The fewest transactions: all of the runner's, where the input says how many there are.
    transactions_min: u64,
    pub(crate) config: StmConfig,
    pub(crate) tried: Vec<Tried>,
    /// The searches that are done, by algorithm and locks, and what was best.
    done: BTreeMap<(&'static str, u64), Option<Tried>>,
}

/// How many transactions fill a time, from `least` to `most`: a power of two, which reads well.
fn fill(time: Duration, tx_per_s: f64, least: u64, most: u64) -> u64 {
    let n = (time.as_secs_f64() * tx_per_s) as u64;
    if n >= most {
        return most;
    }
    (1u64 << n.max(1).ilog2()).max(least).min(most)
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        (runner, progress): (Runner<'a>, &Progress),
        shapes: Vec<Shape>,
        effort: Effort,
        config: StmConfig,
    ) -> Self {
        Self {
            transactions_min: runner.workload().transactions().unwrap_or(FILL_MIN),
            runner,
            progress: progress.clone(),
            shapes,
            effort,
            config,
            tried: Vec::new(),
            done: BTreeMap::new(),
        }
    }

    pub(crate) fn fill(&self, time: Duration, tx_per_s: f64) -> u64 {
        let most = self.runner.transactions_max;
        fill(time, tx_per_s, self.transactions_min, most)
    }

    /// The algorithm that a variant stands for in runs of all transactions.
    pub(crate) fn resolved(&self, variant: AskedVariant, locks: u64) -> Variant {
        let mut config = self.config;
        config.locks = locks;
        let (of, all) = (self.runner.workload(), self.runner.transactions_max);
        resolve(of, variant, &config, all)
    }

    /// A run of one launch, which is stopped after a time.
    pub(crate) fn spec(
        &self,
        variant: impl Into<AskedVariant>,
        locks: u64,
        (shape, transactions): (Shape, u64),
        limit: Duration,
    ) -> RunSpec {
        let mut spec = RunSpec::new(self.runner.workload(), variant.into(), shape, transactions);
        spec.config = self.config;
        (spec.config.locks, spec.config.time_limit) = (locks, Some(limit));
        spec
    }

    /// One launch. Shapes that the device does not take are no error.
    fn attempt(&mut self, spec: &RunSpec) -> Result<Tried> {
        let workload = self.runner.workload();
        let mut tried = Tried {
            workload: workload.name().into(),
            variant: workload.form().name(spec.variant).into(),
            locks: spec.config.locks,
            blocks: spec.shape.0,
            threads: spec.shape.1,
            transactions: spec.transactions,
            ..Tried::default()
        };
        let (time, commits, aborts) = match self.runner.launch_once(spec) {
            Ok(run) => (run.time, run.statistics.commits, run.statistics.aborted()),
            Err(Error::Host(host::Error::Timeout {
                limit,
                committed,
                aborted,
            })) => {
                tried.note = Some(TIME_LIMIT.into());
                (limit, committed, aborted)
            }
            Err(error) if error.is_too_large() => {
                tried.note = Some(error.to_string());
                return Ok(tried);
            }
            Err(error) => return Err(error),
        };
        (tried.commits, tried.aborts, tried.time_ms) = (commits, aborts, ms(time));
        tried.tx_per_s = commits as f64 / time.as_secs_f64().max(1e-9);
        Ok(tried)
    }

    pub(crate) fn probe(&mut self, variant: Variant, locks: u64, shape: Shape) -> Result<Tried> {
        let few = PROBE_TRANSACTIONS.max(self.transactions_min);
        let mut transactions = few.min(self.runner.transactions_max);
        loop {
            let limit = self.effort.probe_limit;
            let tried = self.attempt(&self.spec(variant, locks, (shape, transactions), limit))?;
            let scale = ms(self.effort.probe) / tried.time_ms.max(1e-3);
            if tried.note.is_some() || scale < 1.5 || transactions == self.runner.transactions_max {
                return Ok(tried);
            }
            let grown = transactions as f64 * scale.min(PROBE_GROWTH_MAX);
            transactions = (grown as u64).min(self.runner.transactions_max);
        }
    }

    /// Steps 1 and 2 for an algorithm: the best shape, if any ran.
    pub(crate) fn best(&mut self, variant: Variant, locks: u64) -> Result<Option<Tried>> {
        if let Some(best) = self.done.get(&(variant.name(), locks)) {
            return Ok(best.clone());
        }
        let of = format!("{} with {} locks", variant.name(), count(locks));
        let mut found = Vec::new();
        for shape in self.shapes.clone() {
            (self.progress).say(format!("{of}: {} x {}", shape.0, shape.1));
            found.push(self.probe(variant, locks, shape)?);
        }
        let by_rate = |a: &Tried, b: &Tried| b.tx_per_s.total_cmp(&a.tx_per_s);
        found.sort_by(by_rate);
        let (trial, trials) = (self.effort.trial, self.effort.trials.min(found.len()));
        let best = &mut found[..trials];
        for tried in &mut *best {
            let transactions = self.fill(trial, tried.tx_per_s);
            if tried.note.is_none() && transactions > tried.transactions {
                let launch = ((tried.blocks, tried.threads), transactions);
                *tried = self.attempt(&self.spec(variant, locks, launch, 4 * trial))?;
            }
        }
        best.sort_by(by_rate);
        let best = best.iter().find(|t| t.tx_per_s > 0.0).cloned();
        self.tried.extend(found);
        self.done.insert((variant.name(), locks), best.clone());
        Ok(best)
    }

    fn measure(&mut self, variant: AskedVariant, locks: u64, repeat: u32) -> Result<RunReport> {
        let Some(best) = self.best(self.resolved(variant, locks), locks)? else {
            let why = self.tried.iter().rev().find_map(|t| t.note.as_deref());
            let (name, why) = (variant.name(), why.unwrap_or("none was left to try"));
            return Err(Error::Usage(format!("no launch shape ran {name}: {why}")));
        };
        (self.progress).say(format!("{}, the best shape", variant.name()));
        let transactions = self.fill(MEASURE, best.tx_per_s);
        let launch = ((best.blocks, best.threads), transactions);
        let mut spec = self.spec(variant, locks, launch, LIMIT);
        // What takes long is launched once, as its time is steady.
        let takes = transactions as f64 / best.tx_per_s.max(1e-9);
        let is_long = takes > LONG.as_secs_f64();
        spec.repeat = if is_long { 1 } else { repeat };
        self.runner.measure(&spec)
    }
}

/// What searches found, by the names that documents of `bench floor` have for it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct SearchResults {
    #[serde(rename = "stm")]
    pub(crate) runs: Vec<RunReport>,
    #[serde(rename = "stm_search")]
    pub(crate) tried: Vec<Tried>,
}

#[derive(Clone, Debug)]
pub(crate) struct SearchSpec {
    pub(crate) variants: Vec<AskedVariant>,
    /// The numbers of locks, of which variants without a table take the first.
    pub(crate) locks: Vec<u64>,
    pub(crate) memory: MemorySpec,
    pub(crate) repeat: u32,
    /// Transactions of a launch, where the input does not say; at most so many.
    pub(crate) transactions: u64,
    pub(crate) seed: u64,
}

impl SearchSpec {
    pub(crate) fn transactions_of(&self, workload: &dyn Sizes) -> u64 {
        workload.transactions().unwrap_or(self.transactions)
    }

    /// Refuses what no search of these workloads can do, before the first takes its time.
    pub(crate) fn check(&self, device: &AnyDevice, workloads: &[AnyWorkload]) -> Result<()> {
        for workload in workloads.iter().map(AnyWorkload::sizes) {
            check_input(workload, self.transactions_of(workload))?;
            for &variant in &self.variants {
                workload.form().check(variant)?;
            }
            for &locks in &self.locks {
                let config = self.memory.config(locks, workload.capacity(), None);
                // The smallest launch: the shapes that are tried may be too large.
                Stm::new(device, Launch::new(1, 1), config)?;
            }
        }
        Ok(())
    }

    /// Searches the best launch of each variant, and adds what was found.
    pub(crate) fn search(
        &self,
        device: &AnyDevice,
        workload: &AnyWorkload,
        shapes: &[Shape],
        found: &mut SearchResults,
    ) -> Result<()> {
        let transactions = self.transactions_of(workload.sizes());
        let progress = Progress::new();
        progress.say("making the data");
        let runner = Runner::new(device, workload, self.seed, transactions)?;
        let first = self.locks[0];
        let config = self.memory.config(first, workload.sizes().capacity(), None);
        let mut search = Search::new((runner, &progress), shapes.to_vec(), TUNE, config);
        for &variant in &self.variants {
            for &locks in &self.locks {
                if locks == first || variant.uses_lock_table() {
                    let best = search.measure(variant, locks, self.repeat)?;
                    found.runs.push(best);
                }
            }
        }
        found.tried.extend(search.tried);
        Ok(())
    }
}

/// The note of a launch that was stopped and counts what had committed.
pub(crate) const TIME_LIMIT: &str = "stopped at the time limit";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tried {
    pub workload: String,
    pub variant: String,
    pub locks: u64,
    pub blocks: u32,
    pub threads: u32,
    pub transactions: u64,
    pub commits: u64,
    pub aborts: u64,
    pub time_ms: f64,
    /// Transactions a second; 0 for a launch that did not run.
    pub tx_per_s: f64,
    /// Why the figures are not those of a whole launch, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_fill_the_time_in_powers_of_two_within_bounds() {
        let half = Duration::from_millis(500);
        let fill = |tx_per_s, most| fill(half, tx_per_s, FILL_MIN, most);
        assert_eq!(fill(1e9, 1 << 20), 1 << 20);
        assert_eq!(fill(600_000.0, 1 << 20), 1 << 18);
        assert_eq!(fill(1.0, 1 << 20), 1024);
        assert_eq!(fill(1.0, 100), 100);
    }
}
