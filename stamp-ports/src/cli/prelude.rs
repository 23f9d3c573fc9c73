//! What most commands use.

pub(super) use super::console::{DocumentArgs, below, check_options, described, open, workloads};
pub(super) use crate::output::terminal_columns;
pub(super) use crate::prelude::*;
pub(super) use crate::workloads::options::WorkloadArgs;
pub(super) use crate::workloads::{AnyWorkload, WORKLOADS, parse_names};
pub(super) use std::ffi::OsString;
