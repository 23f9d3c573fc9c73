//! The interface between a transaction and its observer, which records
//! histories to be checked for opacity or measures the phases of the code.
//!
//! A probe belongs to the machine ([`Lane::Probe`]), and not to the algorithm
//! or the kernel. A GPU has an entry point for each kind: [`Silent`] ones,
//! which ship and contain no code for observers, those with a
//! [`Recorder`](crate::observe::Recorder), and those with a
//! [`Profiler`](crate::observe::profiler::Profiler). On the host one instance
//! of a kernel serves all three, and a lane's
//! [`HostProbe`](crate::observe::HostProbe) says at run time which it is.
//!
//! With a recorder, each lane appends its transactions' events by plain stores
//! to its own buffer in device memory, in the layout of
//! [`crate::observe::history_layout`].
//!
//! On a GPU and on a CPU, observation is not free of side effects on the memory
//! order: the clock in the begin and end events is loaded with acquire
//! ([`Lane::observed_clock`]), which a silent kernel does not do there. This
//! extra acquire can hide that an acquire is missing in the protocol, because
//! it orders the reads that follow. The simulator of `verify` answers that load
//! from outside of its memory model, so there a recorded run is the silent run.

use crate::lane::Lane;
use crate::memory::version::Version;
use crate::memory::word::WordAddress;
use crate::observe::phase::Phase;
use crate::tx::abort::Abort;

/// An event of an attempt.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The attempt begins; the value is the clock before its first action.
    Begin(Version),
    /// A read from memory returned this value.
    Read(WordAddress, u64),
    /// A write was accepted.
    Write(WordAddress, u64),
    /// An addition was accepted.
    Add(WordAddress, u64),
    /// An addition of floats was accepted. The resulting value is not recorded,
    /// as it depends on the order of the additions.
    AddFloat(WordAddress),
    /// The last writes and additions that were accepted, this many, are undone.
    Undo(u64),
    /// An update of the transaction with this number committed with this
    /// version; the last value is the clock afterwards.
    Commit(u64, Version, Version),
    /// The attempt at the transaction with this number committed without writes;
    /// the last value is the clock afterwards.
    CommitReadOnly(u64, Version),
    /// The attempt at the transaction with this number ended without effect; the
    /// last value is the clock afterwards.
    Abort(u64, Abort, Version),
}

/// The kind of observation of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Observation {
    /// Nothing observes the launch.
    #[default]
    Silent,
    /// A history is recorded ([`Recorder`](crate::observe::Recorder)).
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

    /// Loads the description of the buffer from the metadata.
    ///
    /// # Safety
    /// `place` is live, and nobody writes it while the kernel runs.
    #[inline(always)]
    pub(crate) unsafe fn load<L: Lane>(lane: &L, place: *const Self) -> Self {
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
    pub(crate) fn of_lane<L: Lane>(self, lane: &L) -> *mut u64 {
        self.base
            .wrapping_add((lane.grid_thread() * self.words_per_lane) as usize)
    }
}

// SAFETY: the pointer is only followed through a `Lane`, each lane in its own
// part.
unsafe impl Send for ProbeBuffer {}
// SAFETY: as above.
unsafe impl Sync for ProbeBuffer {}

/// An observer of the transactions that a lane runs.
pub trait Probe: Copy {
    /// Says whether it may want events. Code that exists only for events
    /// depends on this constant.
    const RECORDS: bool;

    /// Says whether it may want marks. If not, a mark compiles to no code at
    /// all.
    const TIMES: bool;

    /// The position of a lane in its part of the buffer while the lane runs.
    type Cursor: Copy;

    /// Returns whether it wants events.
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

    /// Observes an event.
    fn record<L: Lane>(self, lane: &L, cursor: &mut Self::Cursor, event: Event);

    /// Marks the end of a phase: the lane's time since the last mark, or since
    /// `open`, belongs to `phase`.
    fn spent<L: Lane>(self, lane: &L, cursor: &mut Self::Cursor, phase: Phase);

    /// Settles the time marked since the last call. If `aborted`, all of it
    /// counts as an aborted attempt; else the phases keep it.
    fn settle(self, cursor: &mut Self::Cursor, aborted: bool);

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
    fn record<L: Lane>(self, _lane: &L, _cursor: &mut (), _event: Event) {}
    #[inline(always)]
    fn spent<L: Lane>(self, _lane: &L, _cursor: &mut (), _phase: Phase) {}
    #[inline(always)]
    fn settle(self, _cursor: &mut (), _aborted: bool) {}
    #[inline(always)]
    fn close<L: Lane>(self, _lane: &L, _cursor: ()) {}
}
