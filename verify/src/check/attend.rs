//! What records the launches of a checked run and judges each when it is over.

use super::case::Case;
use super::found::{Launched, Report};
use crate::error::Error;
use crate::explained::Explained;
use crate::failure::{Failure, FailureKind};
use crate::history::left::Left;
use crate::history::records::Records;
use crate::history::{Header, InitialMemory, Rest};
use crate::named::{NamedWord, Names};
use crate::opacity;
use crate::sim::{Attendant, Schedule, Sim, SimError, Stuck};
use std::cell::RefCell;
use stm_core::algorithm::Variant;
use stm_core::host::{self, Device, Launch};
use stm_core::observe::HostProbe;

/// What has happened so far.
#[derive(Default)]
pub(super) struct State {
    names: Names,
    records: Option<(Records<Sim>, (u32, u32))>,
    /// The last launch, or the first one in which something was found.
    pub(super) judged: Option<Launched>,
    pub(super) failure: Option<Failure>,
    /// Words that a lane's buffer would have needed.
    pub(super) needed: Option<u64>,
    /// What the run has done; it is unfair if its schedule kept a launch from its end.
    pub(super) report: Report,
}

/// Attends the launches of one run.
pub(super) struct Recorder {
    case: Case,
    /// What the history calls the run.
    name: String,
    words_per_lane: u64,
    state: RefCell<State>,
}

impl Recorder {
    pub(super) fn new(case: &Case, name: String, words_per_lane: u64) -> Self {
        Self {
            case: case.clone(),
            name,
            words_per_lane,
            state: RefCell::default(),
        }
    }

    pub(super) fn name(&self, array: crate::named::NamedArray) {
        self.state.borrow_mut().names.add(array);
    }

    /// Ends the recording, and returns what happened. The buffers are freed.
    pub(super) fn finish(&self) -> State {
        let mut state = self.state.take();
        state.records = None;
        state
    }
}

impl Attendant for Recorder {
    fn before(&self, sim: &Sim, launch: &Launch) -> Result<HostProbe, host::Error> {
        let state = &mut *self.state.borrow_mut();
        let shape = (launch.blocks, launch.threads);
        match &mut state.records {
            Some((records, of)) if *of == shape => records.clear().map_err(of_device)?,
            _ => {
                let records = Records::new(sim, launch, self.words_per_lane).map_err(of_device)?;
                state.records = Some((records, shape));
            }
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
            variant: self.case.algorithm.to_string(),
            workload: self.name.clone(),
            device: sim.name(),
            seed: self.case.to_string(),
        };
        let initial = InitialMemory {
            words: state.names.values().collect(),
            rest: Rest::Inferred,
        };
        let history = match records.history(header, initial) {
            Ok(history) => history,
            Err(Error::BufferFull { needed, .. }) => {
                state.needed = Some(needed);
                return;
            }
            Err(error) => {
                state.failure = Some(Failure::trimmed(FailureKind::Impossible, error));
                return;
            }
        };
        let mut judged = Launched {
            history,
            verdict: None,
            names: state.names.clone(),
        };
        state.failure = judge(sim, &mut judged).err();
        if let Some(verdict) = &judged.verdict {
            state.report.attempts += verdict.counts.attempts;
            state.report.transactions += verdict.counts.updates + verdict.counts.read_only;
        }
        state.judged = Some(judged);
    }
}

/// Returns the error of a device in an error of a recording.
fn of_device(error: Error) -> host::Error {
    match error {
        Error::Host(error) => error,
        other => host::Error::DeviceLost {
            during: "the recording".into(),
            code: other.to_string(),
        },
    }
}

fn of_simulator(error: &SimError) -> Failure {
    let kind = match error {
        SimError::Livelock { .. } => FailureKind::Livelock,
        SimError::Panicked { .. } => FailureKind::Panicked,
        _ => FailureKind::Simulator,
    };
    Failure::trimmed(kind, error)
}

/// Judges the history of a launch, and the memory that it left.
fn judge(sim: &Sim, judged: &mut Launched) -> Result<(), Failure> {
    let (history, names) = (&judged.history, &judged.names);
    let verdict = opacity::check(history)
        .map_err(|error| Failure::trimmed(FailureKind::Impossible, error))?;
    let first = verdict.violations.first().map(|violation| {
        let explained = Explained {
            violation,
            history,
            names,
        };
        Failure::trimmed(FailureKind::NotOpaque, explained)
    });
    judged.verdict = Some(verdict);
    first.map_or(Ok(()), Err)?;
    let newest = |word: &NamedWord| sim.newest(word.value_at, word.wide);
    match Left::by(&judged.history).difference(&judged.names, newest) {
        Some(text) => Err(Failure::trimmed(FailureKind::Memory, text)),
        None => Ok(()),
    }
}

impl Recorder {
    /// Returns whether a launch that does not end says nothing about the code,
    /// because its schedule is one that no machine has to run it to an end under. The launch had
    /// blocks of so many `threads`.
    fn is_unfair(&self, error: &SimError, threads: u32) -> bool {
        let SimError::Livelock { why, .. } = error else {
            return false;
        };
        // Those that wait while they hold a lock, or that undo each other, for as
        // long as a schedule lets neither get ahead.
        let may_undo = matches!(self.case.algorithm, Variant::Egpgv | Variant::HvBackoff);
        let alone = self.case.sim.warp_width == 1 || threads == 1;
        match self.case.sim.schedule {
            // The highest priority runs for as long as it likes.
            Schedule::Pct { .. } => true,
            // A lane that loops on its own (`atomically`) waits for one that is
            // masked off, as before Volta, or meets it in each round.
            Schedule::Lockstep | Schedule::Stack => may_undo || !alone,
            Schedule::Its { .. } => may_undo && matches!(why, Stuck::NoneEnded(_)),
            Schedule::Random => false,
        }
    }
}
