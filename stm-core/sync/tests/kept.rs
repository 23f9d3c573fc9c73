//! Nothing that a kernel receives outlives its launch: what refers to memory is neither `Send` nor
//! `Sync`.

#[macro_use]
#[path = "../../tests/kernels/stay.rs"]
mod stay;

use stm_sync::barrier::{TBarrier, XiaoFeng};
use stm_sync::channel::{TChannels, TRings};
use stm_sync::semaphore::{Spin, TSemaphores};
use stm_sync::{TCombiners, TLocks, Ticket};

stay!(
    TLocks<Ticket>,
    TCombiners<1>,
    TBarrier<XiaoFeng>,
    TSemaphores<Spin>,
    TChannels<u32>,
    TRings<u32>,
);
