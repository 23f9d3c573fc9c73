//! From the recording buffers of a run to its histories.

use super::settings::{Row, Sink};
use crate::error::Error;
use std::ops::ControlFlow;
use std::time::Duration;
use stm_core::host::{Device, Statistics};
use verify::history::records::Records;
use verify::history::{Header, InitialMemory};

/// A launch whose records did not fit: the lane that needed the most words, and
/// how many.
pub(super) struct BufferFull {
    pub(super) lane: u32,
    pub(super) needed: u64,
}

/// The records of a run, and where their histories go.
pub(super) struct Recording<'a, 's, D: Device> {
    records: Records<D>,
    header: Header,
    initial: InitialMemory,
    /// What the launches did that the next history is of.
    pending: Statistics,
    kernel: Duration,
    row: &'a mut Row,
    sink: &'a mut Sink<'s>,
    /// The launch that needed the most room, of those that had too little.
    full: Option<BufferFull>,
    /// Whether the sink has seen enough, or what went wrong.
    ended: Result<ControlFlow<()>, Error>,
}

impl<'a, 's, D: Device> Recording<'a, 's, D> {
    /// Begins with nothing recorded.
    pub(super) fn new(
        records: Records<D>,
        header: Header,
        initial: InitialMemory,
        row: &'a mut Row,
        sink: &'a mut Sink<'s>,
    ) -> Self {
        Self {
            records,
            header,
            initial,
            pending: Statistics::default(),
            kernel: Duration::ZERO,
            row,
            sink,
            full: None,
            ended: Ok(ControlFlow::Continue(())),
        }
    }

    /// Adds what a launch did.
    pub(super) fn add(&mut self, time: Duration, statistics: Statistics) {
        self.pending += statistics;
        self.kernel += time;
    }

    /// Ends the recording: the launch that needed the most room, of those that
    /// had too little; and whether the sink has seen enough, or what went wrong.
    pub(super) fn finish(self) -> (Option<BufferFull>, Result<ControlFlow<()>, Error>) {
        (self.full, self.ended)
    }

    /// Makes a history of the records since the last.
    pub(super) fn take(&mut self) {
        if matches!(self.ended, Ok(ControlFlow::Continue(()))) {
            self.ended = self.history();
        }
    }

    fn history(&mut self) -> Result<ControlFlow<()>, Error> {
        let (header, initial) = (self.header.clone(), self.initial.clone());
        let recorded = self.records.history(header, initial);
        self.records.clear()?;
        let done = std::mem::take(&mut self.pending);
        let kernel = std::mem::take(&mut self.kernel);
        let history = match recorded {
            Ok(history) => history,
            Err(verify::error::Error::BufferFull { lane, needed, .. }) => {
                self.row.repeated += 1;
                if self.full.as_ref().is_none_or(|full| full.needed < needed) {
                    self.full = Some(BufferFull { lane, needed });
                }
                return Ok(ControlFlow::Continue(()));
            }
            Err(error) => return Err(error.into()),
        };
        let row = &mut *self.row;
        row.histories += 1;
        row.transactions += done.commits;
        row.attempts += done.attempts;
        row.aborted += done.aborted();
        row.turns += done.turns;
        row.kernel += kernel;
        if history.len() as u64 != done.attempts {
            row.wrong_state.get_or_insert(format!(
                "{} attempts were recorded, and {} made",
                history.len(),
                done.attempts
            ));
        }
        (self.sink)(history)
    }
}
