//! From the recording buffers of a run to its histories.

use super::{Row, Sink};
use crate::error::Error;
use crate::history::recorder::decode;
use crate::history::{Header, InitialMemory};
use std::ops::ControlFlow;
use std::time::Duration;
use stm_core::host::{Buffer, Device, Statistics};

/// A launch whose records did not fit: the lane that needed the most, and the
/// words that it needed.
pub(super) struct BufferFull {
    pub(super) lane: u32,
    pub(super) needed: u64,
}

/// The records of a run, and where their histories go.
pub(super) struct Recording<'a, 's, D: Device> {
    pub(super) records: Buffer<D, u64>,
    pub(super) room: u64,
    pub(super) lanes: u32,
    pub(super) header: Header,
    pub(super) initial: InitialMemory,
    /// Of the launches that the next history is of.
    pub(super) pending: Statistics,
    pub(super) kernel: Duration,
    pub(super) row: &'a mut Row,
    pub(super) sink: &'a mut Sink<'s>,
    /// The launch that needed the most room, of those that had too little.
    pub(super) full: Option<BufferFull>,
    /// Whether the sink has seen enough, or what went wrong.
    pub(super) ended: Result<ControlFlow<()>, Error>,
}

impl<D: Device> Recording<'_, '_, D> {
    /// Makes a history of the records since the last.
    pub(super) fn take(&mut self) {
        if matches!(self.ended, Ok(ControlFlow::Continue(()))) {
            self.ended = self.history();
        }
    }

    fn history(&mut self) -> Result<ControlFlow<()>, Error> {
        let buffers = self.records.download()?;
        self.records.clear()?;
        let done = std::mem::take(&mut self.pending);
        let kernel = std::mem::take(&mut self.kernel);
        let (header, initial) = (self.header.clone(), self.initial.clone());
        let history = match decode(&buffers, self.lanes, self.room, header, initial) {
            Ok(history) => history,
            Err(Error::BufferFull { lane, needed, .. }) => {
                self.row.repeated += 1;
                if self.full.as_ref().is_none_or(|full| full.needed < needed) {
                    self.full = Some(BufferFull { lane, needed });
                }
                return Ok(ControlFlow::Continue(()));
            }
            Err(error) => return Err(error),
        };
        drop(buffers);
        let row = &mut *self.row;
        row.histories += 1;
        row.transactions += done.commits;
        row.attempts += done.attempts;
        row.aborted += done.aborted();
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
