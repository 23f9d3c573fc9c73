//! Observation of lanes: probes that write a log of words or measure time, and the
//! seeded defects that test the checks of what is built on lanes.
//!
//! What a record or a phase means is up to the library that reports it.
//!
//! Invariant: a silent kernel on a GPU contains no code of this module.

pub mod host_probe;
pub mod mutant;
pub mod probe;
pub mod profiler;
pub mod recorder;

pub use crate::lane::{Probe, Silent};
pub use host_probe::HostProbe;
pub use mutant::Mutant;
pub use probe::{LogRecord, Observation, ProbeBuffer};
pub use profiler::Profiler;
pub use recorder::Recorder;
