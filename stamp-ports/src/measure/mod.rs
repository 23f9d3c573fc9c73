//! Measurements of workloads on a device.
//!
//! | file | is |
//! | --- | --- |
//! | `runner` | one measurement: reset, launch, verify, repeat |
//! | `repeats` | the loop of what is timed launch by launch |
//! | `run_report` | what a run is asked to be, and what it found |
//! | `breakdown` | where the lanes' time goes, and what it costs to ask |
//! | `search` | the search for the best launch |
//! | `floor` | the same without transactions, measured beside |
//! | `machine` | what a machine's memory and barriers do |
//! | `launches` | default launches, all in one file |
//! | `phases` | where the host's time goes |
//! | `meter` | how far a command is that measures points, and a spinner for one that somebody may be watching |

pub mod breakdown;
pub mod floor;
pub mod launches;
pub mod machine;
pub mod meter;
pub mod phases;
pub mod repeats;
pub mod run_report;
pub mod runner;
pub mod search;
