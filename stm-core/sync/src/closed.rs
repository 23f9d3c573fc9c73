//! The kinds and algorithms of this library: nobody else's has their traits.

use crate::sealed::Sealed;
use crate::{
    barrier, channel, chosen, cohort, mcs, per_lane, reserve, semaphore, slots, spin, ticket, watch,
};

macro_rules! sealed {
    (@ [$($generic:tt)*] $type:ty) => {
        impl<$($generic)*> Sealed for $type {}
    };
    ($generic:tt $($type:ty),+) => {
        $(sealed!(@ $generic $type);)+
    };
}
sealed!([] spin::Tas, spin::Ttas, spin::TasBackoff, slots::Anderson, slots::Ring);
sealed!([] ticket::Ticket, ticket::TicketHandoff, ticket::FetchAdd, chosen::Chosen);
sealed!([const HELD: u32] mcs::Queue<HELD>);
sealed!([const PASSES: u32] cohort::Cohort<PASSES>, reserve::Reserving<PASSES>);
sealed!([K, const TICKS: u64] watch::Timeout<K, TICKS>);
sealed!([K] watch::Checked<K>, per_lane::PerLane<K>, semaphore::Checked<K>);
sealed!([] semaphore::Spin, semaphore::SpinBackoff, semaphore::Sleeping);
sealed!([] semaphore::Tickets, semaphore::Chosen);
sealed!([] barrier::TwoStage, barrier::XiaoFeng, barrier::Tree, barrier::Counted);
sealed!([] barrier::Grouped, barrier::Led, barrier::Chosen);
sealed!([] channel::Global, channel::Shared, channel::Cluster);
