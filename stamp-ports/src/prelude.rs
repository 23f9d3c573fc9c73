//! What most modules use.

pub(crate) use crate::devices::{AnyDevice, Choice, DeviceKind, Shape, parse_choice};
pub(crate) use crate::error::{Error, Result, given_up, refuse};
pub(crate) use crate::external_prelude::*;
pub(crate) use crate::head::{Head, UNKNOWN};
pub(crate) use crate::measure::meter::{Meter, Progress};
pub(crate) use crate::measure::run_report::{RunReport, RunSpec, resolve};
pub(crate) use crate::measure::{TimeMs, ms};
pub(crate) use crate::numbers::{bytes, count, digits3, of, short};
pub(crate) use crate::numbers::{parse_count, parse_count_32, parse_seconds};
pub(crate) use crate::out_file::{OutFile, make_folder, write_log, write_whole};
pub(crate) use crate::output::{Joined, aligned, grouped, sentence, titled};
pub(crate) use crate::store::{BenchSpec, Document, NameList, Store, chosen, published, with_head};
pub(crate) use crate::variants::{AskedVariant, parse_variants, suggestion};
pub(crate) use crate::workloads::contender::{CRITICAL_SECTION, Contender, ContenderKind, lanes};
pub(crate) use crate::workloads::input::{Occasion, SEED};
pub(crate) use crate::workloads::workload::{Sizes, Verifies};
