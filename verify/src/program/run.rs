//! A run on the simulator and what it found.

use super::case::{Case, Loop, Program};
use super::failure::{Failure, FailureKind};
use super::judge::{Left, judge};
use super::kernel::{Interpreter, Params, ProgramRef};
use crate::error::Error;
use crate::history::records::Records;
use crate::history::{Header, History, InitialMemory, Rest};
use crate::sim::{Schedule, Sim, SimConfig, SimError, Stuck};
use std::cell::RefCell;
use std::collections::BTreeMap;
use stm_core::Capacity;
use stm_core::RetryLimits;
use stm_core::algorithm::{Algorithm, Cells, Table, Variant, Versioned};
use stm_core::host::{self, Launch, Pod, Stm, StmConfig, Sums, TxArray};
use stm_core::memory::WordAddress;
use stm_core::{Element, Summand, View, with_algorithm};

/// What a run that found nothing did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Done {
    /// Transactions committed.
    pub transactions: u64,
    /// Attempts made.
    pub attempts: u64,
    /// Operations of the simulator.
    pub steps: u64,
    /// Whether the run was given up because its schedule, which is not fair,
    /// kept the lanes from going on.
    pub unfair: bool,
}

/// The words of each lane's recording buffer in the first attempt at a run.
const RECORD_WORDS: u64 = 256;

thread_local! {
    /// A simulator for each warp width: stacks are costly to make.
    static SIMS: RefCell<BTreeMap<u32, Sim>> = const { RefCell::new(BTreeMap::new()) };
}

/// Runs `body` with this thread's simulator, set to `config`.
fn with_sim<R>(config: SimConfig, body: impl FnOnce(&Sim) -> R) -> R {
    let sim = SIMS.with_borrow_mut(|sims| {
        sims.entry(config.warp_width)
            .or_insert_with(|| Sim::new(config))
            .clone()
    });
    sim.configure(config);
    body(&sim)
}

/// Runs a case and judges it.
///
/// # Errors
/// A check failed; the error says which.
pub fn run(case: &Case) -> Result<Done, Failure> {
    let mut words_per_lane = RECORD_WORDS;
    loop {
        // In half of the cases the sets of the versioned algorithms have no
        // part on the stack, as the end of those of long transactions.
        let result = match case.variant {
            Variant::Fast if case.sim.seed & 1 != 0 => {
                of_width::<Versioned<Cells, 0>>(case, words_per_lane)
            }
            Variant::FastTable if case.sim.seed & 1 != 0 => {
                of_width::<Versioned<Table, 0>>(case, words_per_lane)
            }
            variant => with_algorithm!(variant, A => of_width::<A>(case, words_per_lane)),
        };
        match result {
            Ok(result) => return result,
            // Recording is no scheduling point: the same run, with more room.
            Err(needed) => words_per_lane = needed.next_power_of_two(),
        }
    }
}

fn of_width<A>(case: &Case, words_per_lane: u64) -> Result<Result<Done, Failure>, u64>
where
    A: Algorithm,
{
    if case.program.wide {
        attempt::<A, u64>(case, words_per_lane)
    } else {
        attempt::<A, u32>(case, words_per_lane)
    }
}

/// Runs a case with so much room for records; if it was too little, returns
/// how much is needed.
fn attempt<A, T>(case: &Case, words_per_lane: u64) -> Result<Result<Done, Failure>, u64>
where
    A: Algorithm,
    T: Summand + Pod,
{
    let config = SimConfig {
        mutant: case.mutant.map(|m| m as u32),
        ..case.sim
    };
    with_sim(config, |sim| {
        launch::<A, T>(case, sim, words_per_lane).or_else(|stop| match stop {
            Stop::Found(failure) => Ok(Err(failure)),
            Stop::Unfair => Ok(Ok(Done {
                unfair: true,
                ..Done::default()
            })),
            Stop::Room(needed) => Err(needed),
        })
    })
}

/// Why a launch has no result.
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

fn sizes<T: Element>(program: &Program) -> StmConfig {
    let (reads, writes) = program.sets;
    StmConfig {
        locks: program.locks,
        stripe_bytes: u64::from(program.stripe_words) * if T::WIDE { 8 } else { 4 },
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

fn launch<A, T>(case: &Case, sim: &Sim, words_per_lane: u64) -> Result<Result<Done, Failure>, Stop>
where
    A: Algorithm,
    T: Summand + Pod,
{
    let program = &case.program;
    let setup = |error: host::Error| Failure::new(FailureKind::Simulator, error.to_string());
    let initial: Vec<T> = program.initial.iter().map(|&v| T::from_bits64(v)).collect();
    let layout = <A::Array<T> as View<T>>::LAYOUT;
    let words = TxArray::from_slice(sim, layout, &initial, "words").map_err(setup)?;
    let sums = sums::<T>(program, sim).map_err(setup)?;
    let mut stm = Stm::new(
        sim,
        Launch::new(program.blocks, program.threads),
        sizes::<T>(program),
    )
    .map_err(setup)?;
    let records = Records::new(sim, &stm.shape(), words_per_lane)
        .map_err(|error| Failure::new(FailureKind::Simulator, error.to_string()))?;
    stm.observe(records.probe());
    let params = Params::<A, T> {
        stm: stm.handle::<A>(),
        words: words.view::<A>(),
        sums: sums.view(),
        // SAFETY: the program outlives the launch, which runs on the host.
        program: unsafe { ProgramRef::new(program) },
    };
    // SAFETY: everything that the parameters point to lives in this function,
    // and only these transactions touch the words.
    let ended = unsafe { stm.launch::<Interpreter<A, T>>(&params) };
    let complete = how_it_ended(case, sim, ended.as_ref().map(|_| ()))?;
    let row = program.row as usize;
    let of_sum = |i: usize| params.sums.word((i / row) as u64, (i % row) as u32);
    let addresses: Vec<u64> = (0..program.initial.len())
        .map(|i| params.words.word(i as u64))
        .chain((0..program.sums.len()).map(of_sum))
        .map(WordAddress::bits)
        .collect();
    let history = history(case, &records, &addresses)?;
    let sums = sums
        .download()
        .map_err(|error| Failure::new(FailureKind::Corrupt, error.to_string()))?;
    let memory: Vec<u64> = words
        .download()
        .map_err(setup)?
        .into_iter()
        .chain(sums.into_iter().take(program.sums.len()))
        .map(Element::to_bits64)
        .collect();
    judge(
        case,
        &Left {
            history: &history,
            addresses: &addresses,
            memory: &memory,
            complete,
        },
    )?;
    let statistics = ended.map(|(_, statistics)| statistics).unwrap_or_default();
    if complete && statistics.commits != program.transactions.len() as u64 {
        let text = format!(
            "{} commits are counted for {} transactions",
            statistics.commits,
            program.transactions.len()
        );
        return Ok(Err(Failure::new(FailureKind::Corrupt, text)));
    }
    Ok(Ok(Done {
        transactions: statistics.commits,
        attempts: history.len() as u64,
        steps: sim.last_run().map_or(0, |(run, _)| run.steps),
        unfair: false,
    }))
}

/// Returns the program's sums; the last row is filled up with zeros.
fn sums<T: Summand + Pod>(program: &Program, sim: &Sim) -> Result<Sums<Sim, T>, host::Error> {
    let mut values: Vec<T> = program.sums.iter().map(|&v| T::from_bits64(v)).collect();
    let whole = values.len().next_multiple_of(program.row as usize);
    values.resize(whole, T::from_bits64(0));
    Sums::from_slice(sim, program.row, &values, "sums")
}

/// Returns whether the launch ran to its end; an expected fault is no failure.
fn how_it_ended(case: &Case, sim: &Sim, ended: Result<(), &host::Error>) -> Result<bool, Stop> {
    let overflows = case.program.overflows(case.variant, case.sim.warp_width);
    match ended {
        Ok(()) if overflows => {
            let text = "a set is too small for a transaction, and no CapacityExceeded was reported";
            Err(Failure::new(FailureKind::Fault, text).into())
        }
        Ok(()) => Ok(true),
        Err(host::Error::CapacityExceeded { .. }) if overflows => Ok(false),
        Err(error @ host::Error::Corrupt { .. }) => {
            Err(Failure::new(FailureKind::Corrupt, error.to_string()).into())
        }
        Err(host::Error::DeviceLost { .. }) => Err(simulator_error(case, sim)),
        Err(other) => Err(Failure::new(FailureKind::Fault, other.to_string()).into()),
    }
}

fn simulator_error(case: &Case, sim: &Sim) -> Stop {
    let Some((_, Err(error))) = sim.last_run() else {
        return Failure::new(FailureKind::Simulator, "no error was kept").into();
    };
    match &error {
        SimError::Livelock {
            why: Stuck::NoneEnded(_),
            ..
        } if may_starve(case) => Stop::Unfair,
        SimError::Livelock { .. } => Failure::new(FailureKind::Livelock, error.to_string()).into(),
        _ => Failure::new(FailureKind::Simulator, error.to_string()).into(),
    }
}

/// Returns whether lanes that change memory and never end say nothing about the
/// code.
fn may_starve(case: &Case) -> bool {
    let program = &case.program;
    let one_warp = program.blocks == 1 && program.threads <= case.sim.warp_width;
    // Who locks in the order met is undone by another who does, for as long as
    // a schedule lets neither get ahead; lanes of one warp that go together
    // take turns instead.
    let may_undo_each_other = match case.variant {
        Variant::Egpgv => true,
        Variant::HvBackoff => !one_warp || program.calls == Loop::Own,
        _ => false,
    };
    match case.sim.schedule {
        // The highest priority runs for as long as it changes memory, so a lane
        // may starve the one it waits for.
        Schedule::Pct { .. } => true,
        Schedule::Lockstep | Schedule::Stack | Schedule::Its { .. } => may_undo_each_other,
        Schedule::Random => false,
    }
}

fn history(case: &Case, records: &Records<Sim>, addresses: &[u64]) -> Result<History, Stop> {
    let initial = InitialMemory {
        words: addresses
            .iter()
            .copied()
            .zip(case.program.memory())
            .collect(),
        rest: Rest::Value(0),
    };
    let header = Header {
        variant: case.variant.to_string(),
        workload: "program".into(),
        device: "simulator".into(),
        seed: String::new(),
    };
    match records.history(header, initial) {
        Ok(history) => Ok(history),
        Err(Error::BufferFull { needed, .. }) => Err(Stop::Room(needed)),
        Err(Error::Host(error)) => {
            Err(Failure::new(FailureKind::Simulator, error.to_string()).into())
        }
        Err(error) => Err(Failure::new(FailureKind::Record, error.to_string()).into()),
    }
}
