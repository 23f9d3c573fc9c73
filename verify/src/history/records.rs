//! The recording buffers of a launch, in the memory of the device that fills
//! them.

use super::recorder::decode;
use super::{Header, History, InitialMemory};
use crate::error::Error;
use stm_core::host::{Buffer, Device, Launch};
use stm_core::observe::{HostProbe, Observation, ProbeBuffer};

/// A buffer of equal parts, one for each lane of a launch.
pub struct Records<D: Device> {
    buffer: Buffer<D, u64>,
    lanes: u32,
    words_per_lane: u64,
}

impl<D: Device> std::fmt::Debug for Records<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records")
            .field("lanes", &self.lanes)
            .field("words_per_lane", &self.words_per_lane)
            .finish_non_exhaustive()
    }
}

impl<D: Device> Records<D> {
    /// Allocates buffers of `words_per_lane` 64-bit words for launches of this
    /// shape.
    ///
    /// # Errors
    /// Too little memory, or an error of the device.
    pub fn new(device: &D, launch: &Launch, words_per_lane: u64) -> Result<Self, Error> {
        let lanes = launch.blocks * launch.threads;
        let words = u64::from(lanes) * words_per_lane;
        Ok(Self {
            buffer: Buffer::zeroed(device, words as usize, "the records")?,
            lanes,
            words_per_lane,
        })
    }

    /// Returns the probe that fills the buffers. It serves one launch at a
    /// time, while `self` lives.
    pub fn probe(&self) -> HostProbe {
        let buffer = ProbeBuffer {
            base: self.buffer.as_mut_ptr(),
            words_per_lane: self.words_per_lane,
        };
        // SAFETY: the buffer has that many words for each lane, zero before the
        // first launch (`new`), and nobody else uses them; `Stm::launch` makes
        // its caller promise that `self` lives on.
        unsafe { HostProbe::new(Observation::Record, buffer) }
    }

    /// Returns the history that the launches so far have recorded.
    ///
    /// # Errors
    /// As [`decode`], or an error of the device.
    pub fn history(&self, header: Header, initial: InitialMemory) -> Result<History, Error> {
        let words = self.buffer.download()?;
        decode(&words, self.lanes, self.words_per_lane, header, initial)
    }

    /// Clears the buffers, so that the next launch begins a history of its own.
    ///
    /// # Errors
    /// An error of the device.
    pub fn clear(&mut self) -> Result<(), Error> {
        Ok(self.buffer.clear()?)
    }
}
