//! A run on the simulator and what it found.

use super::case::{Case, Invariant, Program, Widths};
use super::judge::words;
use super::kernel::{Item, Params, interpret};
use super::silent::Watch;
use crate::judged::{Launched, Recorder, Report, observed};
use crate::prelude::*;
use crate::sim;
use std::cell::RefCell;
use std::error::Error;
use stm_core::host::{self, Launch, Nodes, Stm, StmConfig, Sums, TxArray};
use stm_core::internal::algorithm::{Cells, Table, Versioned};
use stm_core::{View, with_algorithm};

/// What a run did and found.
#[derive(Debug)]
pub struct Ran {
    /// Of runs that are given up nothing is counted.
    pub result: Result<Report, Failure>,
    /// The launch in which something was found, or the last one, of a case that ended and is not silent.
    pub judged: Option<Launched>,
    /// Turns in which a warp, a team or a lane worked alone.
    pub turns: u64,
}

const RECORD_WORDS: u64 = 256;

pub fn run(case: &Case) -> Result<Report, Failure> {
    ran(case).result
}

pub fn ran(case: &Case) -> Ran {
    // In half of the cases the sets of the versioned algorithms have no part on the stack.
    let launches = match case.variant {
        Variant::Fast if case.sim.seed & 1 != 0 => launches::<Versioned<Cells, 0>>,
        Variant::FastTable if case.sim.seed & 1 != 0 => launches::<Versioned<Table, 0>>,
        variant => with_algorithm!(variant, A => launches::<A>),
    };
    let mut turns = 0;
    let simulation = case.sim.with_mutant(case.mutant);
    let room = case.program.silent.is_none().then_some(RECORD_WORDS);
    let (mut report, found, judged) = observed(case, simulation, room, |sim, recorder| {
        turns = launches(case, sim, recorder)?;
        Ok(())
    });
    if report.unfair != 0 {
        (report.launches, report.operations) = (0, 0);
        (report.attempts, report.transactions) = (0, 0);
    }
    Ran {
        result: found.map_or(Ok(report), Err),
        judged,
        turns,
    }
}

fn sizes(program: &Program) -> StmConfig {
    let bytes = 4_u64 << u32::from(program.widths != Widths::Narrow);
    let mut sizes = StmConfig {
        locks: program.locks,
        stripe_bytes: u64::from(program.stripe_words) * bytes,
        time_limit: None,
        ..StmConfig::default()
    };
    (sizes.capacity.reads, sizes.capacity.writes) = program.sets;
    let limits = &mut sizes.retry_limits;
    (limits.read_polls, limits.acquire_tries) = program.retry_limits;
    (limits.retries_max, limits.queue_after) = (0, limits.acquire_tries);
    sizes
}

/// The words and sums of a program. A word's place in the array of the other width is idle.
struct Data {
    narrow: TxArray<Sim, u32>,
    wide: TxArray<Sim, u64>,
    narrow_sums: Sums<Sim, u32>,
    wide_sums: Sums<Sim, u64>,
    nodes: Nodes<Sim, Item>,
}

impl Data {
    fn new<A: Algorithm>(program: &Program, sim: &Sim) -> Result<Self, host::Error> {
        let layout = <A::Array<u32> as View<u32>>::LAYOUT;
        let narrow = |values: &[u64]| values.iter().map(|&v| v as u32).collect::<Vec<u32>>();
        let mut sums = program.sums.clone();
        // The last row is filled up with zeros.
        sums.resize(sums.len().next_multiple_of(program.row as usize), 0);
        let (narrow_sums, wide_sums) = if program.sums_are_wide() {
            (Vec::new(), sums)
        } else {
            (narrow(&sums), Vec::new())
        };
        Ok(Self {
            narrow: TxArray::from_slice(sim, layout, &narrow(&program.initial), "narrow words")?,
            wide: TxArray::from_slice(sim, layout, &program.initial, "wide words")?,
            narrow_sums: Sums::from_slice(sim, program.row, &narrow_sums, "narrow sums")?,
            wide_sums: Sums::from_slice(sim, program.row, &wide_sums, "wide sums")?,
            nodes: Nodes::new(sim, layout, program.nodes(), "nodes")?,
        })
    }

    fn names(&self) -> Result<Names, host::Error> {
        let mut names = Names::default();
        names.add(self.narrow.describe()?);
        names.add(self.wide.describe()?);
        names.add(self.narrow_sums.describe()?);
        names.add(self.wide_sums.describe()?);
        Ok(names)
    }

    fn memory(&self, program: &Program) -> Result<Vec<u64>, host::Error> {
        let words = words(program, &self.names()?);
        Ok(words.iter().map(|word| word.value).collect())
    }

    /// Checks that the words name all nodes that are not free, and may refresh the pool.
    fn check_nodes(&mut self, memory: &[u64], refresh: bool) -> Result<(), Failure> {
        let pool = self.nodes.pool_mut();
        let corrupt = |error: host::Error| Failure::new(FailureKind::Corrupt, error);
        let taken = pool.taken().map_err(corrupt)?;
        let mut taken: Vec<u64> = taken.into_iter().map(|node| node.bits().into()).collect();
        let mut named: Vec<u64> = memory.iter().copied().filter(|&v| v != 0).collect();
        taken.sort_unstable();
        named.sort_unstable();
        if taken != named {
            let text = format!("the words name the nodes {named:x?}, and {taken:x?} are not free");
            return Err(Failure::new(FailureKind::Invariant, text));
        }
        if refresh {
            pool.refresh().map_err(corrupt)?;
        }
        Ok(())
    }
}

/// Runs all launches, and returns the turns in which somebody worked alone.
fn launches<A: Algorithm>(
    case: &Case,
    sim: &Sim,
    recorder: &Recorder<Case>,
) -> Result<u64, Box<dyn Error>> {
    let program = &case.program;
    let setup = |error: host::Error| Failure::new(FailureKind::Simulator, error);
    let mut data = Data::new::<A>(program, sim).map_err(setup)?;
    let shape = Launch::new(program.blocks, program.threads);
    let mut stm = Stm::new(sim, shape, sizes(program)).map_err(setup)?;
    let watch = Watch::new(program).map(RefCell::new);
    if watch.is_none() {
        recorder.state.borrow_mut().names = data.names()?;
    }
    let (mut commits, mut turns) = (0, 0);
    for k in 0..program.launches {
        let params = Params {
            stm: stm.handle::<A>(),
            narrow: data.narrow.view::<A>(),
            wide: data.wide.view::<A>(),
            narrow_sums: data.narrow_sums.view(),
            wide_sums: data.wide_sums.view(),
            nodes: data.nodes.view::<A>(),
            case,
            k,
            watch: watch.as_ref(),
        };
        let ended = sim::launch(&mut stm, |lane| interpret(lane, &params));
        if let (Err(host::Error::EverybodyWaits { .. }), Some(watch)) = (&ended, &watch) {
            // A program may have put what nobody takes.
            let broken = watch.borrow().judge_waiting(&data.memory(program)?);
            Failure::unless_none(FailureKind::Invariant, broken)?;
            break;
        }
        let complete = how_it_ended(case, k, ended.as_ref().map(|_| ()))?;
        let mut state = recorder.state.borrow_mut();
        if !complete {
            state.report.transactions = commits;
            break;
        }
        let statistics = ended.unwrap_or_default();
        commits += statistics.commits;
        turns += statistics.turns;
        let all = program.launch(k).end;
        if let Some(watch) = &watch {
            state.report.transactions = commits;
            state.report.attempts += statistics.attempts;
            let memory = data.memory(program)?;
            let broken = watch.borrow().judge(&memory, all);
            Failure::unless_none(FailureKind::Invariant, broken)?;
            if program.silent == Some(Invariant::Nodes) {
                data.check_nodes(&memory, case.sim.seed & 1 != 0)?;
            }
        }
        let recorded = state.report.transactions;
        for (commits, kind, what) in [
            (commits, FailureKind::Corrupt, "counted"),
            (recorded, FailureKind::NotFollowed, "recorded"),
        ] {
            let text = || format!("{commits} commits are {what} for {all} transactions");
            Failure::unless_none(kind, (commits != all as u64).then(text))?;
        }
    }
    Ok(turns)
}

/// Returns whether launch `k` ran to its end; an expected fault is no failure.
fn how_it_ended(case: &Case, k: u32, ended: Result<(), &host::Error>) -> Result<bool, Failure> {
    let width = case.sim.warp_width;
    let (may_overflow, must) = case.program.launch_overflows(case.variant, width, k);
    match ended {
        Ok(()) if must => {
            let text = "a set is too small for a transaction, and no CapacityExceeded was reported";
            Err(Failure::new(FailureKind::Fault, text))
        }
        Ok(()) => Ok(true),
        Err(host::Error::CapacityExceeded { .. }) if may_overflow => Ok(false),
        Err(error @ host::Error::Corrupt { .. }) => Err(Failure::new(FailureKind::Corrupt, error)),
        Err(other) => Err(Failure::new(FailureKind::Fault, other)),
    }
}
