//! What the files of a workload have in common.

pub(super) use super::compare::{Expectation, expected, first_difference, same, verdict, whole};
pub(super) use super::compare::{SharedWords, drawn, in_ranges, sum};
pub(super) use super::contender::ContenderKind::{SpecialPurpose, Unsynchronised};
pub(super) use super::contender::{Contender, ONE_EACH, UNSYNCHRONISED};
pub(super) use super::exclusion::Uses;
pub(super) use super::form::{
    Accessed, Elements, Form, Memory, check_host_memory, check_memory, data, filling, kernels,
    views, zeros,
};
pub(super) use super::input::{Input, SharedOptions, file_name, parse_percent, sizes};
pub(super) use super::launcher::Launcher;
pub(super) use super::workload::{
    Accesses, Covers, Facts, MadeFor, Named, Observed, Run, SET_WORDS_MAX, Workload, known,
    observed, quantities, sets,
};
pub(super) use crate::prelude::*;
pub(super) use std::iter::zip;
pub(super) use stm_core::algorithm::Cgl;
pub(super) use stm_core::{Layout, TArray};
pub(super) use stm_kernels::draw::{below, draw};
