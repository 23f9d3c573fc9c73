//! A run on the simulator and what it found.

use super::case::{Case, Invariant, Loop, Program, Widths};
use super::judge::judge;
use super::kernel::{Item, Params, interpret};
use super::silent::Watch;
use crate::prelude::*;
use crate::sim::{self, Schedule, Sim, SimErrorKind};
use serde::Serialize;
use std::cell::RefCell;
use std::fmt::Display;
use std::ops::AddAssign;
use stm_core::algorithm::Algorithm;
use stm_core::host::{self, Capacity, Launch, Nodes, RetryLimits, Stm, StmConfig, Sums, TxArray};
use stm_core::internal::algorithm::{Cells, Table, Versioned};
use stm_core::{StmRef, View, with_algorithm};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Done {
    pub schedules: u64,
    pub transactions: u64,
    /// Attempts made, all of them checked.
    pub attempts: u64,
    /// Turns in which a warp, a team or a lane worked alone.
    #[serde(skip)]
    pub turns: u64,
    pub operations: u64,
    /// Runs given up because an unfair schedule starved a lane; nothing that they did is counted.
    pub unfair: u64,
}

impl AddAssign for Done {
    fn add_assign(&mut self, more: Self) {
        self.schedules += more.schedules;
        self.transactions += more.transactions;
        self.attempts += more.attempts;
        self.turns += more.turns;
        self.operations += more.operations;
        self.unfair += more.unfair;
    }
}

const RECORD_WORDS: u64 = 256;

pub type Shown = (History, Names);

pub fn run(case: &Case) -> Result<Done, Failure> {
    run_shown(case).0
}

/// Does the same, and returns the history of a case that ended and is not silent.
pub fn run_shown(case: &Case) -> (Result<Done, Failure>, Option<Shown>) {
    // In half of the cases the sets of the versioned algorithms have no part on the stack.
    let launches = match case.variant {
        Variant::Fast if case.sim.seed & 1 != 0 => launches::<Versioned<Cells, 0>>,
        Variant::FastTable if case.sim.seed & 1 != 0 => launches::<Versioned<Table, 0>>,
        variant => with_algorithm!(variant, A => launches::<A>),
    };
    let config = case.sim.with_mutant(case.mutant);
    let (mut words_per_lane, mut shown) = (RECORD_WORDS, None);
    loop {
        let sim = Sim::new(config);
        let result = match launches(case, &sim, words_per_lane, &mut shown) {
            // Recording is no scheduling point: the same run, with more room.
            Err(Stop::Room(needed)) => {
                words_per_lane = needed.next_power_of_two();
                continue;
            }
            Err(Stop::Found(failure)) => Err(failure),
            Err(Stop::Unfair) => Ok(Done {
                schedules: 1,
                unfair: 1,
                ..Done::default()
            }),
            Ok(done) => Ok(done),
        };
        return (result, shown);
    }
}

enum Stop {
    Found(Failure),
    Unfair,
    Room(u64),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Found(failure)
    }
}

fn sizes(program: &Program) -> StmConfig {
    let (reads, writes) = program.sets;
    let bytes = 4_u64 << u32::from(program.widths != Widths::Narrow);
    StmConfig {
        locks: program.locks,
        stripe_bytes: u64::from(program.stripe_words) * bytes,
        capacity: Capacity {
            reads,
            writes,
            ..Capacity::DEFAULT
        },
        retry_limits: RetryLimits {
            read_polls: program.retry_limits.0,
            acquire_tries: program.retry_limits.1,
            retries_max: 0,
            queue_after: program.retry_limits.1,
            ..RetryLimits::DEFAULT
        },
        time_limit: None,
    }
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
        let layouts = (
            <A::Array<u32> as View<u32>>::LAYOUT,
            <A::Array<u64> as View<u64>>::LAYOUT,
        );
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
            narrow: TxArray::from_slice(sim, layouts.0, &narrow(&program.initial), "narrow words")?,
            wide: TxArray::from_slice(sim, layouts.1, &program.initial, "wide words")?,
            narrow_sums: Sums::from_slice(sim, program.row, &narrow_sums, "narrow sums")?,
            wide_sums: Sums::from_slice(sim, program.row, &wide_sums, "wide sums")?,
            nodes: Nodes::new(sim, layouts.0, program.nodes(), "nodes")?,
        })
    }

    /// Returns all words, and after them all sums, with the names of all.
    fn words(&self, program: &Program) -> Result<(Vec<NamedWord>, Names), Failure> {
        let mut names = Names::default();
        let arrays: [&dyn Named; 4] =
            [&self.narrow, &self.wide, &self.narrow_sums, &self.wide_sums];
        for array in arrays {
            let described = array.describe();
            names.add(described.map_err(Failure::of(FailureKind::Corrupt))?);
        }
        let array = |first: usize, wide: bool| &names.arrays()[first + usize::from(wide)].words;
        let words = (0..program.initial.len()).map(|i| array(0, program.is_wide(i as u8))[i]);
        let sums = array(2, program.sums_are_wide()).iter().copied();
        let words = words.chain(sums.take(program.sums.len())).collect();
        Ok((words, names))
    }

    fn memory(&self, program: &Program) -> Result<Vec<u64>, Failure> {
        let (words, _) = self.words(program)?;
        Ok(words.iter().map(|word| word.value).collect())
    }

    /// Checks that the words name all nodes that are not free, and may refresh the pool.
    fn check_nodes(&mut self, memory: &[u64], refresh: bool) -> Result<(), Failure> {
        let pool = self.nodes.pool_mut();
        let taken = pool.taken().map_err(Failure::of(FailureKind::Corrupt))?;
        let mut taken: Vec<u64> = taken.into_iter().map(|node| node.bits().into()).collect();
        let mut named: Vec<u64> = memory.iter().copied().filter(|&v| v != 0).collect();
        taken.sort_unstable();
        named.sort_unstable();
        if taken != named {
            let text = format!("the words name the nodes {named:x?}, and {taken:x?} are not free");
            return Err(Failure::new(FailureKind::Invariant, text));
        }
        if refresh {
            pool.refresh().map_err(Failure::of(FailureKind::Corrupt))?;
        }
        Ok(())
    }
}

fn parameters<'a, A: Algorithm>(
    case: &'a Case,
    k: u32,
    stm: StmRef<A>,
    data: &Data,
    watch: Option<&'a RefCell<Watch>>,
) -> Params<'a, A> {
    let program = &case.program;
    let launch = program.launch(k);
    Params {
        stm,
        narrow: data.narrow.view::<A>(),
        wide: data.wide.view::<A>(),
        narrow_sums: data.narrow_sums.view(),
        wide_sums: data.wide_sums.view(),
        nodes: data.nodes.view::<A>(),
        program,
        watch,
        launch: (launch.start, launch.len()),
        updates: program.updates(k),
        // Half of the schedules. The lowest bits of the seed choose other things.
        in_step: case.sim.seed >> 40 & 1 == 0,
    }
}

fn launches<A: Algorithm>(
    case: &Case,
    sim: &Sim,
    words_per_lane: u64,
    shown: &mut Option<Shown>,
) -> Result<Done, Stop> {
    let program = &case.program;
    let setup = Failure::of(FailureKind::Simulator);
    let mut data = Data::new::<A>(program, sim).map_err(&setup)?;
    let shape = Launch::new(program.blocks, program.threads);
    let mut stm = Stm::new(sim, shape, sizes(program)).map_err(&setup)?;
    let watch = Watch::new(program).map(RefCell::new);
    let records = (watch.is_none()).then(|| Records::new(sim, &stm.shape(), words_per_lane));
    let records = records.transpose();
    let records = records.map_err(Failure::of(FailureKind::Simulator))?;
    if let Some(records) = &records {
        stm.observe(records.probe());
    }
    let mut done = Done {
        schedules: 1,
        ..Done::default()
    };
    let mut complete = true;
    for k in 0..program.launches {
        let params = parameters::<A>(case, k, stm.handle::<A>(), &data, watch.as_ref());
        let ended = sim::launch(&mut stm, |lane| interpret(lane, &params));
        done.operations += sim.last_run().map_or(0, |(run, _)| run.steps);
        if let (Err(host::Error::EverybodyWaits { .. }), Some(watch)) = (&ended, &watch) {
            // A program may have put what nobody takes.
            let broken = watch.borrow().judge_waiting(&data.memory(program)?);
            Failure::unless_none(FailureKind::Invariant, broken)?;
            complete = false;
            break;
        }
        complete = how_it_ended(case, sim, k, ended.as_ref().map(|_| ()))?;
        let statistics = ended.unwrap_or_default();
        done.transactions += statistics.commits;
        done.attempts += statistics.attempts;
        done.turns += statistics.turns;
        if !complete {
            break;
        }
        if let Some(watch) = &watch {
            let memory = data.memory(program)?;
            let broken = watch.borrow().judge(&memory, program.launch(k).end);
            Failure::unless_none(FailureKind::Invariant, broken)?;
            if program.silent == Some(Invariant::Nodes) {
                data.check_nodes(&memory, case.sim.seed & 1 != 0)?;
            }
        }
    }
    if let Some(records) = &records {
        let (words, names) = data.words(program)?;
        let history = history(case, records, &words)?;
        done.attempts = history.len() as u64;
        let judged = judge(case, &history, &words, complete);
        *shown = (!history.is_empty()).then_some((history, names));
        judged?;
    }
    let (commits, all) = (done.transactions, program.transactions.len());
    if complete && commits != all as u64 {
        let text = format!("{commits} commits are counted for {all} transactions");
        return Err(Failure::new(FailureKind::Corrupt, text).into());
    }
    Ok(done)
}

/// Returns whether launch `k` ran to its end; an expected fault is no failure.
fn how_it_ended(
    case: &Case,
    sim: &Sim,
    k: u32,
    ended: Result<(), &host::Error>,
) -> Result<bool, Stop> {
    let width = case.sim.warp_width;
    let (may_overflow, must) = case.program.launch_overflows(case.variant, width, k);
    let found = |kind, what: &dyn Display| Err(Failure::new(kind, what).into());
    match ended {
        Ok(()) if must => {
            let text = "a set is too small for a transaction, and no CapacityExceeded was reported";
            found(FailureKind::Fault, &text)
        }
        Ok(()) => Ok(true),
        Err(host::Error::CapacityExceeded { .. }) if may_overflow => Ok(false),
        Err(error @ host::Error::Corrupt { .. }) => found(FailureKind::Corrupt, error),
        Err(host::Error::DeviceLost { .. }) => Err(simulator_error(case, sim)),
        Err(other) => found(FailureKind::Fault, other),
    }
}

fn simulator_error(case: &Case, sim: &Sim) -> Stop {
    let Some((_, Err(error))) = sim.last_run() else {
        return Failure::new(FailureKind::Simulator, "no error was kept").into();
    };
    match error.kind {
        SimErrorKind::NoneEnded if may_starve(case) => Stop::Unfair,
        kind if kind.is_livelock() => Failure::new(FailureKind::Livelock, error).into(),
        _ => Failure::new(FailureKind::Simulator, error).into(),
    }
}

/// Returns whether lanes that change memory and never end say nothing about the code.
fn may_starve(case: &Case) -> bool {
    let program = &case.program;
    let one_warp = program.blocks == 1 && program.threads <= case.sim.warp_width;
    // Those that lock in the order met may undo each other for as long as a schedule lets neither get
    // ahead; lanes of one warp that go together take turns instead.
    let may_undo_each_other = match case.variant {
        Variant::Egpgv => true,
        Variant::HvBackoff => !one_warp || program.calls == Loop::Own,
        _ => false,
    };
    match case.sim.schedule {
        // The highest priority runs for as long as it changes memory.
        Schedule::Pct { .. } => true,
        Schedule::Lockstep | Schedule::Stack | Schedule::Its { .. } => may_undo_each_other,
        Schedule::Random => false,
    }
}

fn history(case: &Case, records: &Records<Sim>, words: &[NamedWord]) -> Result<History, Stop> {
    let words = words.iter().map(|w| w.word).zip(case.program.memory());
    let initial = InitialMemory::of(words, Rest::Value(0));
    let header = Header::new(case.variant.name(), "program", "simulator");
    match records.history(header, initial) {
        Ok(history) => Ok(history),
        Err(Error::BufferFull { needed, .. }) => Err(Stop::Room(needed)),
        Err(Error::Host(error)) => Err(Failure::new(FailureKind::Simulator, error).into()),
        Err(error) => Err(Failure::new(FailureKind::Record, error).into()),
    }
}
