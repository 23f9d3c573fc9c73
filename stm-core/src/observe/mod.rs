//! What observes transactions: probes that record histories or take times, and the
//! seeded defects with which the checks are checked.

pub mod history_layout;
pub mod host_probe;
pub(crate) mod mark;
pub mod mutant;
pub mod phase;
pub mod probe;
pub mod profiler;
pub mod recorder;

pub use host_probe::HostProbe;
pub use mutant::Mutant;
pub use phase::Phase;
pub use probe::{Event, Observation, Probe, ProbeBuffer, Silent};
pub use profiler::Profiler;
pub use recorder::Recorder;
