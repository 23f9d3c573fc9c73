//! One run of a check: what the closure gets beside the device; what records and judges its launches; and
//! panics that are findings, which nobody prints.

use super::case::Case;
use super::{Launched, Report};
use crate::prelude::*;
use crate::sim::{Attendant, Schedule, Sim, SimError, SimErrorKind};
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::Once;
use stm_core::host::{self, Capacity, Device, Launch, Stm, StmConfig};
use stm_core::internal::observe::HostProbe;
use stm_core::{Layout, View, with_algorithm};

/// What the case says about a launch, and the closure about the result.
#[derive(Debug)]
pub struct Run {
    case: Case,
    capacity: Capacity,
    recorder: Rc<Recorder>,
    rng: Rng,
}

const INPUT: u32 = 7;

impl Run {
    pub(super) fn new(case: &Case, capacity: Capacity, recorder: Rc<Recorder>) -> Self {
        Self {
            case: case.clone(),
            capacity,
            recorder,
            rng: Rng::of_stream(case.input, INPUT),
        }
    }

    /// Returns the case.
    pub const fn case(&self) -> &Case {
        &self.case
    }

    /// Returns the algorithm to run, one of [`Check::algorithms`](super::Check::algorithms).
    pub const fn algorithm(&self) -> Variant {
        self.case.algorithm
    }

    /// Returns the layout that arrays must have for the algorithm.
    pub fn layout(&self) -> Layout {
        with_algorithm!(self.case.algorithm, A => {
            <<A as stm_core::algorithm::Algorithm>::Array<u32> as View<u32>>::LAYOUT
        })
    }

    /// Returns the shape of the launch.
    pub const fn shape(&self) -> Launch {
        Launch::new(self.case.blocks, self.case.threads)
    }

    /// Returns the sizes and limits of the transactional memory, without a limit of time, as a simulation
    /// that does not end is found out otherwise.
    pub const fn config(&self) -> StmConfig {
        StmConfig {
            locks: self.case.locks,
            stripe_bytes: self.case.stripe_bytes,
            capacity: self.capacity,
            retry_limits: self.case.retry_limits(),
            time_limit: None,
        }
    }

    /// Makes the memory of the case: [`Stm::new`] with [`Self::shape`] and [`Self::config`].
    pub fn stm(&self, sim: &Sim) -> Result<Stm<Sim>, host::Error> {
        Stm::new(sim, self.shape(), self.config())
    }

    /// Returns the size of the run, one of [`Check::transactions`](super::Check::transactions): the
    /// number of transactions, or whatever makes it larger.
    pub const fn transactions(&self) -> u64 {
        self.case.transactions
    }

    /// Returns 64 bits of the run's input, other ones at each call.
    pub fn bits(&mut self) -> u64 {
        self.rng.bits()
    }

    /// Returns a number of the run's input, from 0 to below `n`; it panics if `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        assert_ne!(n, 0, "no number is below 0");
        self.rng.below(n)
    }

    /// Returns `len` numbers of the run's input, each as [`Self::below`] returns it.
    pub fn numbers(&mut self, len: usize, n: u32) -> Vec<u32> {
        (0..len).map(|_| self.below(n)).collect()
    }

    /// Names the words of an array in what is found, and has them compared after each launch with what the
    /// commits have left. Words without a name are judged too; what they held at first is inferred.
    pub fn name(&self, array: &impl Named) -> Result<(), host::Error> {
        let array = array.describe()?;
        self.recorder.state.borrow_mut().names.add(array);
        Ok(())
    }

    /// Returns the failure that `what` does not hold, for the closure to return, unless `holds` is true.
    pub fn holds(&self, what: &str, holds: bool) -> Result<(), Box<dyn std::error::Error>> {
        let broken = || Broken(format!("it does not hold that {what}")).into();
        holds.then_some(()).ok_or_else(broken)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broken(String);

#[derive(Debug, Default)]
pub(super) struct State {
    names: Names,
    records: Option<(Records<Sim>, (u32, u32))>,
    /// The last launch, or the first one in which something was found.
    pub(super) judged: Option<Launched>,
    pub(super) failure: Option<Failure>,
    /// Words that a lane's buffer would have needed.
    pub(super) needed: Option<u64>,
    pub(super) report: Report,
}

#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) case: Case,
    pub(super) name: String,
    pub(super) words_per_lane: u64,
    pub(super) state: RefCell<State>,
}

impl Attendant for Recorder {
    fn before(&self, sim: &Sim, launch: &Launch) -> Result<HostProbe, Error> {
        let state = &mut *self.state.borrow_mut();
        let shape = (launch.blocks, launch.threads);
        match &mut state.records {
            Some((records, of)) if *of == shape => records.clear()?,
            none => *none = Some((Records::new(sim, launch, self.words_per_lane)?, shape)),
        }
        // What the host has written since, and what plain accesses have.
        state
            .names
            .refresh(|word| sim.newest(word.value_at, word.wide));
        let records = state.records.as_ref();
        Ok(records.map_or(HostProbe::SILENT, |(records, _)| records.probe()))
    }

    fn after(&self, sim: &Sim, end: &Result<(), SimError>) {
        let state = &mut *self.state.borrow_mut();
        state.report.launches += 1;
        state.report.operations += sim.last_run().map_or(0, |(run, _)| run.steps);
        let Some((records, (_, threads))) = &state.records else {
            return;
        };
        if state.failure.is_some() || state.needed.is_some() || state.report.unfair != 0 {
            return;
        }
        if let Err(error) = end {
            // Lanes that have not ended have left no records.
            state.judged = None;
            let unfair = self.is_unfair(error, *threads);
            state.report.unfair = unfair.into();
            state.failure = (!unfair).then(|| of_simulator(error));
            return;
        }
        let header = Header {
            seed: self.case.to_string(),
            ..Header::new(self.case.algorithm.name(), &self.name, sim.name())
        };
        let initial = InitialMemory::of(state.names.values(), Rest::Inferred);
        match records.history(header, initial) {
            Ok(history) => {
                let (verdict, names) = (None, state.names.clone());
                let judged = state.judged.insert(Launched {
                    history,
                    verdict,
                    names,
                });
                state.failure = judge(sim, judged).err();
                if let Some(verdict) = &judged.verdict {
                    state.report.attempts += verdict.counts.attempts;
                    state.report.transactions += verdict.counts.updates + verdict.counts.read_only;
                }
            }
            Err(Error::BufferFull { needed, .. }) => state.needed = Some(needed),
            Err(error) => {
                state.failure = Some(Failure::trimmed(FailureKind::Impossible, error));
            }
        }
    }
}

fn of_simulator(error: &SimError) -> Failure {
    let kind = match error.kind {
        SimErrorKind::Panicked => FailureKind::Panicked,
        kind if kind.is_livelock() => FailureKind::Livelock,
        _ => FailureKind::Simulator,
    };
    Failure::trimmed(kind, error)
}

fn judge(sim: &Sim, judged: &mut Launched) -> Result<(), Failure> {
    let (history, names) = (&judged.history, &judged.names);
    let verdict = opacity::check(history)
        .map_err(|error| Failure::trimmed(FailureKind::Impossible, error))?;
    let first = verdict.violations.first();
    let explained = first.map(|violation| Explained::of(violation, history, names).to_string());
    judged.verdict = Some(verdict);
    Failure::unless_none(FailureKind::NotOpaque, explained)?;
    let newest = |word: &NamedWord| sim.newest(word.value_at, word.wide);
    let difference = Left::by(history).difference(names, newest);
    Failure::unless_none(FailureKind::Memory, difference)
}

impl Recorder {
    /// Returns whether a launch of blocks of `threads` that does not end says nothing about the code, because
    /// no machine has to run it to an end under its schedule.
    fn is_unfair(&self, error: &SimError, threads: u32) -> bool {
        if !error.kind.is_livelock() {
            return false;
        }
        // Those that wait while they hold a lock, or undo each other while neither gets ahead.
        let may_undo = matches!(self.case.algorithm, Variant::Egpgv | Variant::HvBackoff);
        let alone = self.case.sim.warp_width == 1 || threads == 1;
        match self.case.sim.schedule {
            // The highest priority runs for as long as it likes.
            Schedule::Pct { .. } => true,
            // A lane that loops on its own waits for one that is masked off, or meets it in each round.
            Schedule::Lockstep | Schedule::Stack => may_undo || !alone,
            Schedule::Its { .. } => may_undo && error.kind == SimErrorKind::NoneEnded,
            Schedule::Random => false,
        }
    }
}

thread_local! {
    /// Whether this thread's panics are findings.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// The last of them.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `body`; the error is the message of its panic and where it was.
pub(super) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if QUIET.get() {
                LAST.set(info.to_string());
            } else {
                before(info);
            }
        }));
    });
    let nested = QUIET.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    QUIET.set(nested);
    result.map_err(|_| LAST.take())
}
