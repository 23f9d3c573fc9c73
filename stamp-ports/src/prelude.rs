//! What most modules use.

pub(crate) use crate::devices::{AnyDevice, Choice, DeviceKind, Shape, parse_choice};
pub(crate) use crate::error::{Error, Result, given_up, refuse};
pub(crate) use crate::external_prelude::*;
pub(crate) use crate::head::{Head, UNKNOWN};
pub(crate) use crate::measure::meter::{Meter, Progress};
pub(crate) use crate::measure::run_report::{RunReport, RunSpec};
pub(crate) use crate::measure::{TimeMs, ms};
pub(crate) use crate::numbers::{bytes, count, digits3, of, short};
pub(crate) use crate::numbers::{parse_count, parse_count_32, parse_seconds};
pub(crate) use crate::out_file::{OutFile, make_folder};
pub(crate) use crate::output::{aligned, grouped};
pub(crate) use crate::store::{BenchSpec, Document, NameList, Store, published};
pub(crate) use crate::variants::{AskedVariant, parse_variants};
pub(crate) use crate::workloads::contender::lanes;
pub(crate) use crate::workloads::input::{Occasion, SEED};
pub(crate) use crate::workloads::workload::Sizes;
pub(crate) use crate::workloads::{AnyWorkload, WORKLOADS};
