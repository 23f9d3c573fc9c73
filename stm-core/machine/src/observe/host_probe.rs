//! The probe of the host's lanes, which chooses between the others at run time.

use crate::lane::{Lane, Probe};
use crate::observe::probe::{LogRecord, Observation, ProbeBuffer};
use crate::observe::{profiler::Profiler, profiler::Stretches};
use crate::observe::{recorder::Recorder, recorder::Recording};

/// The probe of lanes that run on the host, chosen at run time, so that each
/// kernel is compiled there once and not once for each probe.
#[derive(Clone, Copy, Debug)]
pub struct HostProbe {
    observation: Observation,
    buffer: ProbeBuffer,
}

impl HostProbe {
    /// The probe that observes nothing.
    pub const SILENT: Self = Self {
        observation: Observation::Silent,
        buffer: ProbeBuffer::NONE,
    };

    /// Makes the probe of a launch with this observation, which writes into `buffer`.
    ///
    /// # Safety
    /// While lanes with this probe run, the buffer has a part for each of them,
    /// which is zero before the first launch and which nobody else uses.
    pub const unsafe fn new(observation: Observation, buffer: ProbeBuffer) -> Self {
        Self {
            observation,
            buffer,
        }
    }

    /// Returns the kind of observation.
    pub const fn observation(self) -> Observation {
        self.observation
    }

    /// Returns the buffer that the probe writes into.
    pub const fn buffer(self) -> ProbeBuffer {
        self.buffer
    }
}

/// The state that a lane of the host keeps for its probe.
#[derive(Clone, Copy, Debug)]
pub struct HostCursor(Observed);

#[derive(Clone, Copy, Debug)]
enum Observed {
    Nothing,
    Records(Recording),
    Times(Stretches),
}

// The observing paths are out of line, because the silent run is the one measured.
impl Probe for HostProbe {
    const RECORDS: bool = true;
    const TIMES: bool = true;
    type Cursor = HostCursor;

    #[inline]
    fn records(self) -> bool {
        self.observation == Observation::Record
    }
    #[inline]
    fn times(self) -> bool {
        self.observation == Observation::Profile
    }
    #[inline]
    unsafe fn open<L: Lane>(self, lane: &L, _place: *const ProbeBuffer) -> HostCursor {
        // SAFETY: the caller of `new` promises it.
        HostCursor(unsafe {
            match self.observation {
                Observation::Silent => Observed::Nothing,
                Observation::Record => Observed::Records(Recording::open(lane, self.buffer)),
                Observation::Profile => Observed::Times(Stretches::open(lane, self.buffer)),
            }
        })
    }
    #[cold]
    #[inline(never)]
    fn record<L: Lane>(self, lane: &L, cursor: &mut HostCursor, record: LogRecord) {
        if let Observed::Records(recording) = &mut cursor.0 {
            Recorder.record(lane, recording, record);
        }
    }
    #[cold]
    #[inline(never)]
    fn spent<L: Lane>(self, lane: &L, cursor: &mut HostCursor, phase: usize) {
        if let Observed::Times(stretches) = &mut cursor.0 {
            Profiler.spent(lane, stretches, phase);
        }
    }
    #[cold]
    #[inline(never)]
    fn settle(self, cursor: &mut HostCursor, instead: Option<usize>) {
        if let Observed::Times(stretches) = &mut cursor.0 {
            Profiler.settle(stretches, instead);
        }
    }
    #[inline]
    fn close<L: Lane>(self, lane: &L, cursor: HostCursor) {
        match cursor.0 {
            Observed::Nothing => {}
            Observed::Records(recording) => Recorder.close(lane, recording),
            Observed::Times(stretches) => Profiler.close(lane, stretches),
        }
    }
}
