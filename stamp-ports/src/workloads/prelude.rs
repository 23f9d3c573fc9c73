//! What the files of a workload have in common.

pub(super) use super::compare::{Difference, Expectation};
pub(super) use super::contender::ContenderKind::SpecialPurpose;
pub(super) use super::contender::{Contender, ContenderData, one_each};
pub(super) use super::exclusion::{Uses, critical_section, open, own, unsynchronised};
pub(super) use super::form::{Form, by_form};
pub(super) use super::input::{Input, Occasion, is_its_workload, sizes};
pub(super) use super::input::{SharedOption, SharedOptions};
pub(super) use super::launcher::Launcher;
pub(super) use super::memory::{Accessed, check_memory, zeros};
pub(super) use super::workload::{Accesses, Run, Sizes, Verdict, Verifies, Workload, sets};
pub(super) use crate::devices::AnyDevice;
pub(super) use crate::error::Result;
pub(super) use crate::numbers::{of, parse_count_32};
pub(super) use clap::Args;
pub(super) use serde_json::Value;
pub(super) use std::time::Duration;
pub(super) use stm_core::algorithm::{Algorithm, Cgl, Variant};
pub(super) use stm_core::array::Layout;
pub(super) use stm_core::host::{Buffer, Device, TxArray};
pub(super) use stm_core::observe::Observation;
pub(super) use stm_core::{Capacity, Kernel};
