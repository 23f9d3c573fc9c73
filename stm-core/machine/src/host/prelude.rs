//! What most files of the host's side use.

pub(crate) use crate::host::device::{Device, Launch, Limits, Memory, StopAt};
pub(crate) use crate::host::error::{Error, Result};
pub(crate) use crate::host::locked;
pub(crate) use crate::kernel::Kernel;
pub(crate) use crate::memory::word::Element;
pub(crate) use crate::observe::probe::Observation;
pub(crate) use core::marker::PhantomData;
pub(crate) use std::borrow::ToOwned;
pub(crate) use std::string::String;
pub(crate) use std::sync::Mutex;
pub(crate) use std::time::{Duration, Instant};
pub(crate) use std::vec::Vec;
#[cfg(feature = "cuda")]
pub(crate) use {
    cudarc::driver::{DriverError, sys},
    std::boxed::Box,
    std::collections::HashMap,
    std::sync::Arc,
};
