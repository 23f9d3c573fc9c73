//! One run on the simulator: each of its launches is recorded and judged, and whatever goes wrong is a
//! finding, panics too, which nobody prints. Checks of kernels and programs are run so.

use crate::prelude::*;
use crate::sim::{Attendant, SimError};
use std::cell::RefCell;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::Once;
use stm_core::host::{Device, Launch};
use stm_core::internal::observe::HostProbe;

/// What the closure of a check returns; `?` takes any error.
pub type Checked = Result<(), Box<dyn std::error::Error>>;

/// What a check did that found nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Cases run.
    pub cases: u64,
    /// Launches.
    pub launches: u64,
    /// Attempts recorded and judged.
    pub attempts: u64,
    /// Transactions that committed.
    pub transactions: u64,
    /// Operations that the simulator scheduled.
    pub operations: u64,
    /// Cases given up, as their schedule, which is not fair, starved a lane.
    pub unfair: u64,
}

impl Report {
    pub(crate) fn add(&mut self, other: &Self) {
        self.cases += other.cases;
        self.launches += other.launches;
        self.attempts += other.attempts;
        self.transactions += other.transactions;
        self.operations += other.operations;
        self.unfair += other.unfair;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cases with {} launches, {} attempts judged, {} transactions committed, {} \
             operations; {} cases given up, as their schedule starved a lane",
            self.cases,
            self.launches,
            self.attempts,
            self.transactions,
            self.operations,
            self.unfair
        )
    }
}

/// The history of a launch, the verdict, unless it is impossible, and the names of its words.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The history.
    pub history: History,
    /// The verdict, unless the history is impossible.
    pub verdict: Option<Verdict>,
    /// The names of its words.
    pub names: Names,
}

impl Launched {
    pub(crate) fn page(&self, finding: Option<String>, replay: String) -> Page<'_> {
        Page {
            finding,
            replay: Some(replay),
            ..Page::of(&self.history, &self.names, self.verdict.as_ref())
        }
    }
}

/// What is run.
pub(crate) trait Subject: Clone + 'static {
    /// Returns what the history of a launch on a device says about it.
    fn header(&self, device: String) -> Header;

    /// Returns whether a livelock of blocks of `threads` says nothing about the code, because no machine has to
    /// run it to an end under its schedule.
    fn is_unfair(&self, livelock: SimErrorKind, threads: u32) -> bool;

    /// Checks that the attempts of an opaque launch did what they should on the states that they saw; the names
    /// have what words held before it.
    fn follows(&self, _: &Launched, _launch: u64, _: &mut States<'_>) -> Result<(), String> {
        Ok(())
    }
}

#[derive(Debug, Default)]
pub(crate) struct RecorderState {
    pub(crate) names: Names,
    records: Option<Records<Sim>>,
    /// Blocks, and threads of each, of the launch.
    shape: (u32, u32),
    /// The last launch, or the first one in which something was found.
    judged: Option<Launched>,
    failure: Option<Failure>,
    /// Words that a lane's buffer would have needed.
    needed: Option<u64>,
    pub(crate) report: Report,
}

#[derive(Debug)]
pub(crate) struct Recorder<S> {
    pub(crate) subject: S,
    words_per_lane: Option<u64>,
    pub(crate) state: RefCell<RecorderState>,
}

/// What a run did, what was found, and the launch in which that was, or the last one.
pub(crate) type Observed = (Report, Option<Failure>, Option<Launched>);

/// Runs `body` on a simulator of its own, and once more where lanes need more room than for `words_per_lane`
/// words of records. It is the same run, as recording is no scheduling point. Without such words nothing is
/// recorded.
pub(crate) fn observed<S: Subject>(
    subject: &S,
    simulation: SimConfig,
    mut words_per_lane: Option<u64>,
    mut body: impl FnMut(&Sim, &Rc<Recorder<S>>) -> Checked,
) -> Observed {
    loop {
        let sim = Sim::new(simulation);
        let recorder = Rc::new(Recorder {
            subject: subject.clone(),
            words_per_lane,
            state: RefCell::default(),
        });
        sim.attended_by(Some(recorder.clone()));
        let ended = catch(|| body(&sim, &recorder));
        sim.attended_by(None);
        // The buffers are freed with the state.
        let state = recorder.state.take();
        match state.needed {
            Some(needed) => words_per_lane = Some(needed.next_power_of_two()),
            None => return concluded(state, ended),
        }
    }
}

fn concluded(state: RecorderState, ended: Result<Checked, String>) -> Observed {
    let (report, cases) = (state.report, 1);
    let found = match (state.failure, ended) {
        (Some(failure), _) => Some(failure),
        _ if report.unfair != 0 => None,
        (None, Err(panic)) => Some(Failure::new(FailureKind::Panicked, panic)),
        (None, Ok(Err(error))) => Some(match error.downcast::<Failure>() {
            Ok(failure) => *failure,
            Err(error) => Failure::new(FailureKind::Error, error),
        }),
        (None, Ok(Ok(()))) => (report.launches == 0).then(|| {
            let text = "the closure launched nothing on the device that it was given";
            Failure::new(FailureKind::NothingJudged, text)
        }),
    };
    (Report { cases, ..report }, found, state.judged)
}

impl<S: Subject> Attendant for Recorder<S> {
    fn before(&self, sim: &Sim, launch: &Launch) -> Result<HostProbe, Error> {
        let state = &mut *self.state.borrow_mut();
        let of_last = std::mem::replace(&mut state.shape, (launch.blocks, launch.threads));
        let Some(words_per_lane) = self.words_per_lane else {
            return Ok(HostProbe::SILENT);
        };
        match &mut state.records {
            Some(records) if of_last == state.shape => records.clear()?,
            none => *none = Some(Records::new(sim, launch, words_per_lane)?),
        }
        // What the host has written since, and what plain accesses have.
        let newest = |word: &NamedWord| sim.newest(word.value_at, word.wide);
        state.names.refresh(newest);
        let records = state.records.as_ref();
        Ok(records.map_or(HostProbe::SILENT, Records::probe))
    }

    fn after(&self, sim: &Sim, end: &Result<(), SimError>) {
        let state = &mut *self.state.borrow_mut();
        let launch = state.report.launches;
        state.report.launches += 1;
        state.report.operations += sim.last_run().map_or(0, |(run, _)| run.steps);
        if state.failure.is_some() || state.needed.is_some() || state.report.unfair != 0 {
            return;
        }
        if let Err(error) = end {
            // Lanes that have not ended have left no records.
            state.judged = None;
            let (livelock, threads) = (error.kind.is_livelock(), state.shape.1);
            let unfair = livelock && self.subject.is_unfair(error.kind, threads);
            state.report.unfair = unfair.into();
            let kind = match error.kind {
                SimErrorKind::Panicked => FailureKind::Panicked,
                _ if livelock => FailureKind::Livelock,
                _ => FailureKind::Simulator,
            };
            state.failure = (!unfair).then(|| Failure::new(kind, error));
            return;
        }
        let Some(records) = &state.records else {
            return;
        };
        let header = self.subject.header(sim.name());
        let initial = InitialMemory::of(state.names.values(), Rest::Inferred);
        match records.history(header, initial) {
            Ok(history) => {
                let (verdict, names) = (None, state.names.clone());
                let judged = state.judged.insert(Launched {
                    history,
                    verdict,
                    names,
                });
                state.failure = self.judge(sim, launch, judged).err();
                if let Some(verdict) = &judged.verdict {
                    state.report.attempts += verdict.counts.attempts;
                    state.report.transactions += verdict.counts.updates + verdict.counts.read_only;
                }
            }
            Err(Error::BufferFull { needed, .. }) => state.needed = Some(needed),
            Err(error) => state.failure = Some(Failure::new(FailureKind::Record, error)),
        }
    }
}

impl<S: Subject> Recorder<S> {
    fn judge(&self, sim: &Sim, launch: u64, judged: &mut Launched) -> Result<(), Failure> {
        let (history, names) = (&judged.history, &judged.names);
        let (verdict, mut states) = opacity::check_with_states(history)
            .map_err(|error| Failure::new(FailureKind::Impossible, error))?;
        let first = verdict.violations.first();
        let explained = first.map(|violation| Explained::of(violation, history, names).to_string());
        judged.verdict = Some(verdict);
        Failure::unless_none(FailureKind::NotOpaque, explained)?;
        let other = self.subject.follows(judged, launch, &mut states).err();
        Failure::unless_none(FailureKind::NotFollowed, other)?;
        let newest = |word: &NamedWord| sim.newest(word.value_at, word.wide);
        let difference = Left::by(history).difference(names, newest);
        Failure::unless_none(FailureKind::Memory, difference)
    }
}

thread_local! {
    /// The last of this thread's panics, where these are findings.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `body`; the error is the message of its panic and where it was.
fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match LAST.take() {
            Some(_) => LAST.set(Some(info.to_string())),
            None => before(info),
        }));
    });
    let outside = LAST.replace(Some(String::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    let said = LAST.replace(outside);
    result.map_err(|_| said.unwrap_or_default())
}
