//! What a launch's observer, a [`Probe`](crate::observe::Probe), writes: records, or times of phases.
//!
//! A probe belongs to the machine (`Lane::Probe`), and not to the kernel. A GPU has an entry point
//! for each kind: [`Silent`](crate::observe::Silent) ones, which ship and contain no code for
//! observers, those with a [`Recorder`](crate::observe::Recorder), and those with a
//! [`Profiler`](crate::observe::profiler::Profiler). On the host one instance of a kernel serves all
//! three, and a lane's [`HostProbe`](crate::observe::HostProbe) says at run time which it is.

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
    /// The time of each phase is measured ([`crate::observe::profiler::Profiler`]).
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
}

// SAFETY: the pointer is only followed through a `Lane`, each lane in its own part.
unsafe impl Send for ProbeBuffer {}
// SAFETY: as above.
unsafe impl Sync for ProbeBuffer {}
