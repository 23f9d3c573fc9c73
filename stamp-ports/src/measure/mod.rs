//! Measurements of workloads on a device.
//!
//! | file | is |
//! | --- | --- |
//! | `run_spec` | what a run is asked to be |
//! | `runner` | one measurement: reset, launch, verify, repeat |
//! | `repeats` | the loop of what is timed launch by launch |
//! | `run_report` | what it found |
//! | `breakdown`, `breakdown_table` | where the lanes' time goes, and what it costs to ask |
//! | `search`, `tried` | the search for the best launch |
//! | `floor` | the same without transactions, measured beside |
//! | `machine` | what a machine's memory and barriers do |
//! | `launches` | default launches, all in one file |
//! | `phases` | where the host's time goes |
//! | `meter` | how far a command is that measures points |
//! | `progress` | a spinner on standard error, when somebody may be watching |

pub mod breakdown;
pub mod breakdown_table;
pub mod floor;
pub mod launches;
pub mod machine;
pub mod meter;
pub mod phases;
pub mod progress;
pub mod repeats;
pub mod run_report;
pub mod run_spec;
pub mod runner;
pub(crate) mod search;
pub mod tried;
