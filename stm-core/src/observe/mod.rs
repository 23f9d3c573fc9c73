//! Observation of transactions: probes that record histories or measure time,
//! and the seeded defects that test the checks themselves.
//!
//! | file | contains |
//! | --- | --- |
//! | `event` | [`Event`], what a transaction reports, and its record |
//! | `history_layout` | the layout of recorded histories |
//! | `phase` | the phases of a transaction, and the macro at their boundaries |
//!
//! The probes themselves, and the list of seeded defects, are those of `stm-machine`.
//!
//! Invariant: a silent kernel on a GPU contains no code of this module.

pub mod event;
pub mod history_layout;
pub mod phase;

pub use event::Event;
pub use phase::Phase;
pub use stm_machine::observe::*;
