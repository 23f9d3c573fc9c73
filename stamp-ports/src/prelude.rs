//! What most modules use.

pub(crate) use crate::devices::{AnyDevice, Choice, DeviceKind, parse_choice};
pub(crate) use crate::error::{Error, Result, refuse};
pub(crate) use crate::head::Head;
pub(crate) use crate::measure::meter::Progress;
pub(crate) use crate::measure::ms;
pub(crate) use crate::measure::run_report::{RunReport, RunSpec};
pub(crate) use crate::numbers::{bytes, count, digits3, of, short};
pub(crate) use crate::numbers::{parse_count, parse_count_32, parse_seconds};
pub(crate) use crate::out_file::{OutFile, make_folder};
pub(crate) use crate::output::{aligned, cells, grouped};
pub(crate) use crate::store::NameList;
pub(crate) use crate::variants::AskedVariant;
pub(crate) use crate::workloads::contender::lanes;
pub(crate) use crate::workloads::input::{Occasion, SEED};
pub(crate) use crate::workloads::workload::Sizes;
pub(crate) use crate::workloads::{AnyWorkload, WORKLOADS};
pub(crate) use clap::{Args, Parser};
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::{Map, Value, json};
pub(crate) use std::collections::BTreeMap;
pub(crate) use std::ops::ControlFlow;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::time::{Duration, Instant};
pub(crate) use stm_core::algorithm::Variant;
pub(crate) use stm_core::host::{self, Device, Launch, Stm, StmConfig};
pub(crate) use stm_core::internal::observe::Observation;
