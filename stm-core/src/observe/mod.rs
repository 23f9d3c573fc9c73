//! Observation of transactions: probes that record histories or measure time,
//! and the seeded defects that test the checks themselves.
//!
//! | file | contains |
//! | --- | --- |
//! | `probe` | [`Probe`], the interface through which a transaction reports its [`Event`]s |
//! | `recorder`, `history_layout` | the probe that records histories, and the layout of its buffer |
//! | `profiler`, `phase`, `mark` | the probe that measures time, the phases, and the macro at their boundaries |
//! | `host_probe` | the probe of the host's lanes, which is chosen at run time |
//! | `mutant` | the seeded defects |
//!
//! Invariant: a silent kernel on a GPU contains no code of this module.

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
