//! What most files of kernels use.

pub(crate) use crate::draw::{below, draw, mix};
pub(crate) use crate::rows::{alone, transactional};
pub(crate) use crate::spelled::spelled;
pub(crate) use crate::words::{add, load, load_64, store, store_64};
pub(crate) use core::cell::Cell;
pub(crate) use core::marker::PhantomData;
pub(crate) use stm_core::algorithm::{Algorithm, Cgl};
pub(crate) use stm_core::{Element, Lane, StmRef, TArray, Tx, TxResult, View};
