//! What a transaction tells an observer: histories, to be checked for opacity,
//! and the phases of its code, to be timed.
//!
//! A probe belongs to the machine ([`Lane::Probe`]), and not to the algorithm or
//! the kernel. A GPU has an entry point for each kind: [`Silent`] ones, which
//! ship and have no code for observers, those with a [`Recorder`], and those with a
//! [`Profiler`](crate::observe::profiler::Profiler). On the host one instance of a kernel
//! serves all three, and a lane's [`HostProbe`] says at run time which it is.
//!
//! A recorder lets each lane append what its transactions do to a buffer of its
//! own in device memory, in the layout of [`crate::observe::history_layout`]. It uses
//! plain stores. The clock that it notes at the begin and the end of an attempt
//! is loaded with acquire, an order that silent kernels do not have there.

use crate::lane::Lane;
use crate::memory::version::Version;
use crate::memory::word::WordAddress;
use crate::observe::phase::Phase;
use crate::tx::abort::Abort;

/// Something that happened in an attempt.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The attempt begins; the clock before its first action.
    Begin(Version),
    /// A read from memory returned this value.
    Read(WordAddress, u64),
    /// A write was accepted.
    Write(WordAddress, u64),
    /// An addition was accepted.
    Add(WordAddress, u64),
    /// An addition of floats was accepted: what it makes of the word depends on
    /// an order that nobody knows.
    AddFloat(WordAddress),
    /// An update committed, as this version; the clock after.
    Commit(Version, Version),
    /// The attempt committed without writes; the clock after.
    CommitReadOnly(Version),
    /// The attempt ended without effect; the clock after.
    Abort(Abort, Version),
}

/// What observes the transactions of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Observation {
    /// Nothing does.
    #[default]
    Silent,
    /// A history is recorded ([`Recorder`]).
    Record,
    /// The time of each phase is taken ([`crate::observe::profiler::Profiler`]).
    Profile,
}

/// Where a probe of a launch writes: a part for each lane. All zero for
/// [`Observation::Silent`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ProbeBuffer {
    /// The first word of the first lane's part.
    pub base: *mut u64,
    /// Words of each lane's part.
    pub words_per_lane: u64,
}

impl ProbeBuffer {
    /// No buffer.
    pub const NONE: Self = Self {
        base: core::ptr::null_mut(),
        words_per_lane: 0,
    };

    /// Loads a buffer's place from the metadata.
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

    /// The first word of the calling lane's part.
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
    /// Whether it may want events. What is only made for them is under this.
    const RECORDS: bool;

    /// Whether it may want marks. Without, a mark is no code at all.
    const TIMES: bool;

    /// Where a lane's part of the buffer ends, while the lane runs.
    type Cursor: Copy;

    /// Whether it wants events.
    #[inline(always)]
    fn records(self) -> bool {
        Self::RECORDS
    }

    /// Whether it wants marks.
    #[inline(always)]
    fn times(self) -> bool {
        Self::TIMES
    }

    /// The calling lane's cursor.
    ///
    /// # Safety
    /// `place` is live and holds a buffer that has a part for each lane, zero
    /// before the first launch that uses it; nobody else uses the calling lane's
    /// part while the kernel runs.
    unsafe fn open<L: Lane>(self, lane: &L, place: *const ProbeBuffer) -> Self::Cursor;

    /// Observes an event.
    fn record<L: Lane>(self, lane: &L, cursor: &mut Self::Cursor, event: Event);

    /// Marks a seam in the code: what the lane did since the last mark, or since
    /// `open`, was of this phase.
    fn spent<L: Lane>(self, lane: &L, cursor: &mut Self::Cursor, phase: Phase);

    /// What was marked since the last call was an attempt that aborted, or it
    /// was not, and the phases keep it.
    fn settle(self, cursor: &mut Self::Cursor, aborted: bool);

    /// Leaves the cursor where the next `open` finds it.
    fn close<L: Lane>(self, lane: &L, cursor: Self::Cursor);
}

/// Observes nothing: zero bytes, no code.
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
