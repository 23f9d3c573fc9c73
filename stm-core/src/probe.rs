//! What a transaction tells an observer: histories, to be checked for opacity,
//! and the phases of its code, to be timed.
//!
//! A probe belongs to the machine ([`Lane::Probe`]), and not to the algorithm or
//! the kernel. A GPU has an entry point for each kind: [`Silent`] ones, which
//! ship and have no code for observers, those with a [`Recorder`], and those with a
//! [`Profiler`](crate::profile::Profiler). On the host one instance of a kernel
//! serves all three, and a lane's [`HostProbe`] says at run time which it is.
//!
//! A recorder lets each lane append what its transactions do to a buffer of its
//! own in device memory, in the layout of [`crate::history_layout`]. It uses
//! plain stores. The clock that it notes at the begin and the end of an attempt
//! is loaded with acquire, an order that silent kernels do not have there.

use crate::abort::Abort;
use crate::history_layout as layout;
use crate::lane::Lane;
use crate::profile::{Phase, Stretches};
use crate::version::Version;
use crate::word::WordAddress;

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
    /// The time of each phase is taken ([`crate::profile::Profiler`]).
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

/// Records every event of every lane. A part that fills up goes on counting
/// what it would have needed, so that the host can say so.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorder;

/// Where a lane records.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    part: *mut u64,
    words: u64,
    /// The next word to be written, from the part's front.
    at: u64,
}

impl Recording {
    /// A lane that records nothing.
    const NONE: Self = Self {
        part: core::ptr::null_mut(),
        words: 0,
        at: 0,
    };

    /// Goes on with the calling lane's part.
    ///
    /// # Safety
    /// As for [`Probe::open`], of the buffer itself.
    #[inline(always)]
    unsafe fn open<L: Lane>(lane: &L, buffer: ProbeBuffer) -> Self {
        let part = buffer.of_lane(lane);
        Self {
            part,
            words: buffer.words_per_lane,
            // SAFETY: the first word of this lane's part.
            at: unsafe { lane.private_load_64(part) }.max(layout::HEADER_WORDS),
        }
    }

    /// Appends `n` words, if all of them fit.
    #[inline(always)]
    fn append<L: Lane>(&mut self, lane: &L, words: [u64; 3], n: u64) {
        if self.at + n <= self.words {
            for (k, word) in words.iter().enumerate() {
                if (k as u64) < n {
                    let place = self.part.wrapping_add((self.at + k as u64) as usize);
                    // SAFETY: inside this lane's part (the comparison above).
                    unsafe { lane.private_store_64(place, *word) };
                }
            }
        }
        self.at += n;
    }

    #[inline(always)]
    fn record<L: Lane>(&mut self, lane: &L, event: Event) {
        let (words, n) = match event {
            Event::Begin(clock) => ([layout::head(layout::BEGIN, 0), clock.0, 0], 2),
            Event::Read(word, value) => ([layout::head(layout::READ, word.bits()), value, 0], 2),
            Event::Write(word, value) => ([layout::head(layout::WRITE, word.bits()), value, 0], 2),
            Event::Add(word, delta) => ([layout::head(layout::ADD, word.bits()), delta, 0], 2),
            Event::AddFloat(word) => ([layout::head(layout::ADD_FLOAT, word.bits()), 0, 0], 2),
            Event::Commit(version, clock) => {
                ([layout::head(layout::COMMIT, 0), version.0, clock.0], 3)
            }
            Event::CommitReadOnly(clock) => {
                ([layout::head(layout::COMMIT_READ_ONLY, 0), clock.0, 0], 2)
            }
            Event::Abort(reason, clock) => {
                ([layout::head(layout::ABORT, reason as u64), clock.0, 0], 2)
            }
        };
        self.append(lane, words, n);
    }

    #[inline(always)]
    fn close<L: Lane>(self, lane: &L) {
        // SAFETY: the first word of this lane's part.
        unsafe { lane.private_store_64(self.part, self.at) };
    }
}

impl Probe for Recorder {
    const RECORDS: bool = true;
    const TIMES: bool = false;
    type Cursor = Recording;

    #[inline(always)]
    unsafe fn open<L: Lane>(self, lane: &L, place: *const ProbeBuffer) -> Recording {
        // SAFETY: the caller's.
        unsafe { Recording::open(lane, ProbeBuffer::load(lane, place)) }
    }
    #[inline(always)]
    fn record<L: Lane>(self, lane: &L, cursor: &mut Recording, event: Event) {
        cursor.record(lane, event);
    }
    #[inline(always)]
    fn spent<L: Lane>(self, _lane: &L, _cursor: &mut Recording, _phase: Phase) {}
    #[inline(always)]
    fn settle(self, _cursor: &mut Recording, _aborted: bool) {}
    #[inline(always)]
    fn close<L: Lane>(self, lane: &L, cursor: Recording) {
        cursor.close(lane);
    }
}

/// The probe of lanes that run on the host, chosen at run time: kernels are
/// compiled there once, and not once for each probe.
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

    /// The probe of a launch that is observed so, into this buffer.
    ///
    /// # Safety
    /// While lanes with it run, the buffer has a part for each of them, zero
    /// before the first launch, that nobody else uses.
    pub const unsafe fn new(observation: Observation, buffer: ProbeBuffer) -> Self {
        Self {
            observation,
            buffer,
        }
    }

    /// How it observes.
    pub const fn observation(self) -> Observation {
        self.observation
    }

    /// Where it writes.
    pub const fn buffer(self) -> ProbeBuffer {
        self.buffer
    }
}

/// What a lane of the host keeps for its probe.
#[derive(Clone, Copy, Debug)]
pub struct HostCursor {
    recording: Recording,
    stretches: Stretches,
}

// What is seldom wanted is out of line: the silent run is what is measured.
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
        let mut cursor = HostCursor {
            recording: Recording::NONE,
            stretches: Stretches::NONE,
        };
        // SAFETY: the caller's of `new`.
        unsafe {
            match self.observation {
                Observation::Silent => {}
                Observation::Record => cursor.recording = Recording::open(lane, self.buffer),
                Observation::Profile => cursor.stretches = Stretches::open(lane, self.buffer),
            }
        }
        cursor
    }
    #[cold]
    #[inline(never)]
    fn record<L: Lane>(self, lane: &L, cursor: &mut HostCursor, event: Event) {
        cursor.recording.record(lane, event);
    }
    #[cold]
    #[inline(never)]
    fn spent<L: Lane>(self, lane: &L, cursor: &mut HostCursor, phase: Phase) {
        cursor.stretches.spent(lane, phase);
    }
    #[cold]
    #[inline(never)]
    fn settle(self, cursor: &mut HostCursor, aborted: bool) {
        cursor.stretches.settle(aborted);
    }
    #[inline]
    fn close<L: Lane>(self, lane: &L, cursor: HostCursor) {
        match self.observation {
            Observation::Silent => {}
            Observation::Record => cursor.recording.close(lane),
            Observation::Profile => cursor.stretches.close(lane),
        }
    }
}
