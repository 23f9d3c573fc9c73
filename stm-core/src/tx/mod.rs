//! One transaction as its own code sees it: by a lane ([`attempt`]), by a team
//! ([`team`]), and the handle that a kernel begins them with ([`stm_ref`]).

pub(crate) mod abort;
pub(crate) mod attempt;
pub(crate) mod crew;
pub(crate) mod stm_ref;
mod sums;
pub(crate) mod team;
