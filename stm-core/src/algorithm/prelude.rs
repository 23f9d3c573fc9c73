//! What most files of the device code use.

pub(crate) use crate::algorithm::contract::{Algorithm, Granule, Inside, Tx};
pub(crate) use crate::memory::version::Version;
pub(crate) use crate::observe::event::Event;
pub(crate) use crate::observe::phase::mark;
pub(crate) use crate::tx::abort::{Abort, TxResult};
pub(crate) use crate::tx::crew::{Crew, WarpCrew};
pub(crate) use crate::tx::stm_ref::StmRef;
pub(crate) use core::marker::PhantomData;
pub(crate) use stm_machine::lane::{Lane, records};
pub(crate) use stm_machine::observe::Mutant;
pub(crate) use stm_machine::{Element, View, WordAddress};
