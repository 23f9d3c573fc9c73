//! What most modules use.

pub(crate) use crate::tree::{Error, Result, Tree, said};
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::process::Command;
pub(crate) use stm_core_build::Toolchain;
pub(crate) use stm_core_build::files::{self, below, read};
pub(crate) use stm_core_build::toolchain::{clean, output};
