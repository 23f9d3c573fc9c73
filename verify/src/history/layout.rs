//! The layout of a lane's recording buffer, which the kernels' probe fills:
//! [`stm_core::history_layout`].

pub use stm_core::history_layout::*;
