//! What most files of the host's side use.

pub(crate) use crate::algorithm::contract::Algorithm;
pub(crate) use crate::array::record::Record;
pub(crate) use crate::memory::logs::Capacity;
pub(crate) use crate::memory::stripe::StripeMap;
pub(crate) use crate::tx::abort::Abort;
pub(crate) use crate::tx::stm_ref::StmRef;
pub(crate) use core::marker::PhantomData;
pub(crate) use core::mem::offset_of;
pub(crate) use core::ops::AddAssign;
pub(crate) use std::collections::BTreeMap;
pub(crate) use std::string::{String, ToString};
pub(crate) use std::sync::Mutex;
pub(crate) use std::time::Duration;
pub(crate) use std::vec::Vec;
pub(crate) use stm_machine::host::{
    Buffer, Device, Error, ForeignArray, Launch, Memory, Pod, Result,
};
pub(crate) use stm_machine::host::{bytes_of, bytes_of_mut, in_ranges, locked};
pub(crate) use stm_machine::observe::{HostProbe, Observation};
pub(crate) use stm_machine::{Element, Kernel, Layout, Stop, WordAddress};
