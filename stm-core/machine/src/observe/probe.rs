//! The interface between the code of a kernel and its observer, which writes a log or
//! measures the phases of the code.
//!
//! A probe belongs to the machine ([`Lane::Probe`]), and not to the kernel. A GPU has an entry point for each kind: [`Silent`] ones,
//! which ship and contain no code for observers, those with a
//! [`Recorder`](crate::observe::Recorder), and those with a
//! [`Profiler`](crate::observe::profiler::Profiler). On the host one instance
//! of a kernel serves all three, and a lane's
//! [`HostProbe`](crate::observe::HostProbe) says at run time which it is.
//!
//! With a recorder, each lane appends its records by plain stores to its own buffer in
//! device memory.

use crate::lane::Lane;

/// A record of an event: up to three words, of which the first `len` are written.
#[derive(Clone, Copy, Debug)]
pub struct LogRecord {
    /// The words.
    pub words: [u64; 3],
    /// How many of them there are.
    pub len: u64,
}

/// The kind of observation of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Observation {
    /// Nothing observes the launch.
    #[default]
    Silent,
    /// A log is written ([`Recorder`](crate::observe::Recorder)).
    Record,
    /// The time of each phase is measured
    /// ([`crate::observe::profiler::Profiler`]).
    Profile,
}

/// The buffer that the probe of a launch writes into, with a part for each
/// lane. It is all zero for [`Observation::Silent`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ProbeBuffer {
    /// The first word of the first lane's part.
    pub base: *mut u64,
    /// The number of words of each lane's part.
    pub words_per_lane: u64,
}

impl ProbeBuffer {
    /// No buffer.
    pub const NONE: Self = Self {
        base: core::ptr::null_mut(),
        words_per_lane: 0,
    };

    /// Loads the description of the buffer from device memory.
    ///
    /// # Safety
    /// `place` is live, and nobody writes it while the kernel runs.
    #[inline(always)]
    pub unsafe fn load<L: Lane>(lane: &L, place: *const Self) -> Self {
        // SAFETY: two words of the live structure. Relaxed: the host wrote them
        // before the launch.
        unsafe {
            Self {
                base: lane.load_relaxed_64(&raw const (*place).base as *const u64) as *mut u64,
                words_per_lane: lane.load_relaxed_64(&raw const (*place).words_per_lane),
            }
        }
    }

    /// Returns the first word of the calling lane's part.
    #[inline(always)]
    pub fn of_lane<L: Lane>(self, lane: &L) -> *mut u64 {
        self.base
            .wrapping_add((lane.grid_thread() * self.words_per_lane) as usize)
    }
}

// SAFETY: the pointer is only followed through a `Lane`, each lane in its own
// part.
unsafe impl Send for ProbeBuffer {}
// SAFETY: as above.
unsafe impl Sync for ProbeBuffer {}

/// An observer of the code that a lane runs.
pub trait Probe: Copy {
    /// Says whether it may want records. Code that exists only for them
    /// depends on this constant.
    const RECORDS: bool;

    /// Says whether it may want marks. If not, a mark compiles to no code at
    /// all.
    const TIMES: bool;

    /// The position of a lane in its part of the buffer while the lane runs.
    type Cursor: Copy;

    /// Returns whether it wants records.
    #[inline(always)]
    fn records(self) -> bool {
        Self::RECORDS
    }

    /// Returns whether it wants marks.
    #[inline(always)]
    fn times(self) -> bool {
        Self::TIMES
    }

    /// Opens the calling lane's part of the buffer.
    ///
    /// # Safety
    /// `place` is live and holds a buffer that has a part for each lane, zero
    /// before the first launch that uses it; nobody else uses the calling lane's
    /// part while the kernel runs.
    unsafe fn open<L: Lane>(self, lane: &L, place: *const ProbeBuffer) -> Self::Cursor;

    /// Observes an event, given the record that describes it.
    fn record<L: Lane>(self, lane: &L, cursor: &mut Self::Cursor, record: LogRecord);

    /// Marks the end of a phase: the lane's time since the last mark, or since
    /// `open`, belongs to `phase`, which is below [`PHASES`](crate::observe::profiler::PHASES).
    fn spent<L: Lane>(self, lane: &L, cursor: &mut Self::Cursor, phase: usize);

    /// Settles the time marked since the last call. All of it counts as that of the phase
    /// `instead`, if there is one; else the phases keep it.
    fn settle(self, cursor: &mut Self::Cursor, instead: Option<usize>);

    /// Stores the cursor where the next `open` finds it.
    fn close<L: Lane>(self, lane: &L, cursor: Self::Cursor);
}

/// The probe that observes nothing; it takes no memory and no code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Probe for Silent {
    const RECORDS: bool = false;
    const TIMES: bool = false;
    type Cursor = ();

    #[inline(always)]
    unsafe fn open<L: Lane>(self, _lane: &L, _place: *const ProbeBuffer) {}
    #[inline(always)]
    fn record<L: Lane>(self, _lane: &L, _cursor: &mut (), _record: LogRecord) {}
    #[inline(always)]
    fn spent<L: Lane>(self, _lane: &L, _cursor: &mut (), _phase: usize) {}
    #[inline(always)]
    fn settle(self, _cursor: &mut (), _instead: Option<usize>) {}
    #[inline(always)]
    fn close<L: Lane>(self, _lane: &L, _cursor: ()) {}
}
