//! The containers of `stm_core::collections` on the simulator, against those of
//! `std`: random programs one after the other and at the same time, under every
//! algorithm.

#[path = "../../../stm-core/tests/common/asserts.rs"]
mod asserts;
#[path = "../common/recorded.rs"]
#[allow(dead_code)] // it serves the tests of `sim` as well
mod recorded;

mod concurrent;
mod kernel;
mod model;
mod places;
