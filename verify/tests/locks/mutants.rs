//! Seeded defects of locks: each is caught, and the right code survives the same
//! runs.

use super::combining::{count, double};
use super::common::{Load, increments, of_each, show};
use super::exclusion::walk;
use stm_core::host::Launch;
use stm_core::observe::Mutant;
use stm_sync::{
    Anderson, Cohort, FetchAdd, LockKind, Mcs, Mcs2, Reserving, Ring, Tas, Ticket, TicketHandoff,
    Ttas,
};
use verify::sim::Schedule;

const RANDOM: Schedule = Schedule::Random;

/// Looks for a defect in a launch of increments.
fn shows<K: LockKind>(mutant: Mutant, schedule: Schedule, width: u32, launch: Launch) {
    let load = Load { times: 3, locks: 1 };
    show(K::NAME, &[mutant], schedule, width, |config| {
        increments::<K>(config, &launch, load).is_ok_and(|found| found.is_right())
    });
}

#[test]
fn a_lock_that_is_granted_without_acquire_or_given_up_without_release_is_caught() {
    for mutant in [Mutant::LockNoAcquire, Mutant::LockNoRelease] {
        of_each!(
            shows(mutant, RANDOM, 1, Launch::new(3, 1)):
            Tas, Ttas, Ticket, FetchAdd, Anderson, Ring, Mcs, Reserving<2>
        );
        // Within a block, and across blocks.
        shows::<Cohort<9>>(mutant, RANDOM, 1, Launch::new(1, 3));
        shows::<Cohort<1>>(mutant, RANDOM, 1, Launch::new(3, 1));
    }
}

#[test]
fn lanes_of_a_warp_that_do_not_wait_for_each_other_are_caught() {
    let mutant = Mutant::LockNoHandoff;
    for (width, launch) in [(4, Launch::new(1, 4)), (32, Launch::new(1, 32))] {
        shows::<TicketHandoff>(mutant, Schedule::Lockstep, width, launch);
        shows::<Tas>(mutant, Schedule::Lockstep, width, launch);
    }
}

#[test]
fn a_wakeup_that_mcs_loses_is_caught() {
    shows::<Mcs>(Mutant::LockWakeupLost, RANDOM, 1, Launch::new(3, 1));
}

#[test]
fn an_entry_of_a_ring_that_stays_is_caught() {
    let schedule = Schedule::starve(64);
    shows::<Ring>(Mutant::LockRingEntryKept, schedule, 1, Launch::new(4, 1));
    shows::<Ring>(Mutant::LockRingFrontStale, schedule, 1, Launch::new(4, 1));
}

#[test]
fn a_node_that_is_used_again_too_early_is_caught() {
    show("walks", &[Mutant::LockNodeReused], RANDOM, 1, |config| {
        walk::<Mcs2>(config, &Launch::new(3, 1)).is_ok_and(|walked| walked.is_right(3))
    });
}

#[test]
fn a_combiner_whose_holder_does_not_say_how_far_it_has_come_is_caught() {
    // What holders keep goes from one to the next by the lock.
    let of_the_lock = [Mutant::LockNoAcquire, Mutant::LockNoRelease];
    let mutants = [&[Mutant::LockHeadKept], &of_the_lock[..]].concat();
    show("a counter", &mutants, RANDOM, 1, |config| {
        count::<2>(config, &Launch::new(3, 1), 4, 0).is_ok_and(|counted| counted.is_right(12))
    });
}

#[test]
fn a_combiner_that_does_not_order_requests_and_responses_is_caught() {
    let mutants = [Mutant::LockRequestUnordered, Mutant::LockResponseUnordered];
    show("a doubler", &mutants, RANDOM, 1, |config| {
        double(config, &Launch::new(3, 1), 4) == Ok(0)
    });
}
