//! The layout of a lane's recording buffer, which the kernels' probe fills:
//! [`stm_core::observe::history_layout`].

pub use stm_core::observe::history_layout::*;
