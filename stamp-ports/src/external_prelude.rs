//! What most modules use of other crates, and their tests of ours. A module that the crate's
//! [`prelude`](crate::prelude) takes names from begins with this in its place, as the two were a circle otherwise.

#[cfg(test)]
pub(crate) use crate::testing::has;
pub(crate) use clap::{Args, Parser};
pub(crate) use serde::de::DeserializeOwned;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::{Map, Value, json};
pub(crate) use std::borrow::Cow;
pub(crate) use std::collections::{BTreeMap, BTreeSet, HashSet};
pub(crate) use std::fmt::{self, Display, Write as _};
pub(crate) use std::io::{self, ErrorKind, IsTerminal, Write, stderr, stdout};
pub(crate) use std::ops::{ControlFlow, Deref};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::process::{Command, Stdio};
pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use std::sync::{LazyLock, Mutex, PoisonError};
pub(crate) use std::time::{Duration, Instant};
pub(crate) use std::{env, fs, iter, thread};
pub(crate) use stm_core::algorithm::{Algorithm, Variant};
pub(crate) use stm_core::host::{self, Buffer, Capacity, Device, Launch, RetryLimits, Statistics};
pub(crate) use stm_core::host::{Stm, StmConfig, TxArray};
pub(crate) use stm_core::internal::host::Limits;
pub(crate) use stm_core::internal::kernel::Build;
pub(crate) use stm_core::internal::observe::{Mutant, Observation, Phase};
pub(crate) use stm_core::{Kernel, Lane, View, with_algorithm};
pub(crate) use tempfile::{NamedTempFile, TempDir};
