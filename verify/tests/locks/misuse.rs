//! Misuse is an error and not a hang. So is a panic of a section, as on the CPU: the lock stays held,
//! and nobody waits for it for ever.

use super::{World, config, each_kind, fair, shared};
use crate::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use stm_sync::host::Locks;
use stm_sync::{
    Anderson, Checked, Cohort, LockFault, LockKind, Mcs, Mcs2, Reserving, Ring, Step, TLocks, Tas,
    Ticket, Timeout, TryLock,
};

#[track_caller]
fn reported<K: LockKind>(world: &World<K>, part: &str) {
    assert_says(world.locks.check().unwrap_err(), &[part]);
}

/// Holds a lock until the flag is 2, after it has set it to 1.
fn holds<K: LockKind>(lane: &SimLane<'_>, view: &TLocks<K>, lock: u64, flag: &Flag) {
    let held = view.with(lane, lock, || {
        flag.set(lane, 1);
        flag.wait_for(lane, 2);
    });
    assert_eq!(held, Ok(()));
}

#[test]
fn a_checked_lock_refuses_reentry_and_an_unlock_of_what_is_not_held() {
    of_each!(K: TryLock in Tas, Ticket, Mcs, Mcs2, Reserving<3> => {
        for config in fair(1, 4) {
            let mut world = World::<Checked<K>>::new(config, &Launch::new(2, 1), 2);
            // A thread asks for a lock that it holds, in three ways.
            world.ends(|lane, view| {
                let again = view.with(lane, 0, || {
                    [
                        view.with(lane, 0, || ()),
                        view.try_with(lane, 0, || ()).map(|_| ()),
                        view.lock(lane, 0),
                    ]
                });
                assert_eq!(again, Ok([Err(LockFault::HeldAlready); 3]));
            });
            reported(&world, "that it held already (lock 0 of locks)");
            world.locks.reset().unwrap();
            // A thread gives up what nobody holds, then what another one holds.
            let flag = Flag::new(&world.sim);
            world.ends(|lane, view| {
                assert_eq!(view.unlock(lane, 1), Err(LockFault::NotHeld));
                if lane.block_index() == 0 {
                    view.lock(lane, 1).unwrap();
                    flag.set(lane, 1);
                    flag.wait_for(lane, 2);
                    view.unlock(lane, 1).unwrap();
                } else {
                    flag.wait_for(lane, 1);
                    assert_eq!(view.unlock(lane, 1), Err(LockFault::NotHeld));
                    flag.set(lane, 2);
                    // It is given up in the end.
                    assert_eq!(view.with(lane, 1, || 7), Ok(7));
                }
            });
            reported(&world, "that it did not hold (lock 1 of locks)");
        }
    });
}

#[test]
fn a_ring_refuses_reentry_and_whoever_is_behind_it() {
    for config in fair(1, 20) {
        let world = World::<Ring>::new(config, &Launch::new(4, 1), 1);
        world.ends(|lane, view| {
            let enters = || view.with(lane, 0, || world.section(lane, &[0]));
            if lane.grid_thread() == 2 {
                // More often than the ring has entries.
                let again = view.with(lane, 0, || [(); 9].map(|()| enters()));
                assert_eq!(again, Ok([Err(LockFault::HeldAlready); 9]));
            }
            let _ = [(); 9].map(|()| enters());
        });
        reported(&world, "thread 2 asked for a lock that it held already");
        world.counted().unwrap();
    }
}

/// A section cannot give up its own lock, also after its thread had it by a call.
#[test]
fn an_unlock_inside_of_a_section_is_refused() {
    of_each!(K: TryLock in Tas, Ticket, Mcs2, Reserving<3> => {
        for config in fair(1, 10) {
            let world = World::<Checked<K>>::new(config, &Launch::new(3, 1), 1);
            world.ends(|lane, view| {
                view.lock(lane, 0).unwrap();
                view.unlock(lane, 0).unwrap();
                for _ in 0..3 {
                    let inside = view.with(lane, 0, || {
                        let refused = view.unlock(lane, 0);
                        world.section(lane, &[0]);
                        refused
                    });
                    assert_eq!(inside, Ok(Err(LockFault::NotHeld)));
                }
                let walked = view.walk(lane, 0, |_, _| Step::Done(view.unlock(lane, 0)));
                assert_eq!(walked, Ok(Err(LockFault::NotHeld)));
            });
            assert_eq!(world.counted(), Ok(vec![9]), "{}", K::NAME);
        }
    });
}

/// Whoever has given up a wait in a queue gets no other lock of the array, as its
/// place in the queue stays.
#[test]
fn after_a_timeout_in_a_queue_all_locks_of_the_array_refuse() {
    of_each!(K: LockKind in
        Timeout<Mcs, 4_000>, Timeout<Ring, 4_000>, Timeout<Ticket, 4_000>, Checked<Timeout<Mcs2, 4_000>> => {
        for seed in 0..10 {
            let config = config(1, Schedule::Random, seed);
            let mut world = World::<K>::new(config, &Launch::new(2, 1), 2);
            let flag = Flag::new(&world.sim);
            world.ends(|lane, view| {
                let timed_out = Err(LockFault::TimedOut);
                if lane.block_index() == 0 {
                    holds(lane, view, 0, &flag);
                    assert_eq!(view.with(lane, 1, || ()), timed_out);
                } else {
                    flag.wait_for(lane, 1);
                    assert_eq!(view.with(lane, 0, || ()), timed_out);
                    assert_eq!(view.with(lane, 1, || ()), timed_out);
                    flag.set(lane, 2);
                }
            });
            world.is_reset_after(&["lock 0 of locks"]);
        }
    });
}

/// A thread holds lock 0, and asks for lock 1 of the same array while others wait for
/// lock 0 behind its node.
#[test]
fn an_mcs_lock_refuses_a_second_one() {
    of_each!(K: LockKind in Mcs, Checked<Mcs> => {
        for config in fair(1, 5) {
            let world = World::<K>::new(config, &Launch::new(4, 1), 2);
            world.ends(|lane, view| {
                for _ in 0..3 {
                    let nested = view.with(lane, 0, || {
                        let refused = view.with(lane, 1, || ());
                        world.section(lane, &[0]);
                        refused
                    });
                    assert_eq!(nested, Ok(Err(LockFault::TooManyHeld)));
                    assert_eq!(view.with(lane, 1, || ()), Ok(()));
                }
            });
            reported(&world, "more locks at a time");
            assert_eq!(world.counted(), Ok(vec![12, 0]), "{} {config}", K::NAME);
        }
    });
}

/// A thread that asks for a third MCS2 lock gets an error, and so does the host.
#[test]
fn an_mcs2_lock_refuses_a_third_one() {
    of_each!(K: LockKind in Mcs2, Checked<Mcs2> => {
        let config = config(1, Schedule::Random, 1);
        let mut world = World::<K>::new(config, &Launch::new(2, 1), 3);
        let run = |world: &World<K>| {
            world.ends(|lane, view| {
                let done = view.with(lane, 0, || view.with(lane, 1, || view.with(lane, 2, || ())));
                assert_eq!(done, Ok(Ok(Err(LockFault::TooManyHeld))));
            });
        };
        run(&world);
        reported(&world, "more locks at a time");
        // The two locks were given up, so the same goes on.
        run(&world);
        world.locks.reset().unwrap();
        world.locks.check().unwrap();
    });
}

/// Checked locks have a number for each user, whatever the kind.
#[test]
fn more_users_than_nodes_or_slots_are_refused() {
    of_each!(K: LockKind in Mcs, Ring, Checked<Anderson>, Checked<Ticket> => {
        let config = config(1, Schedule::Random, 3);
        let world = World::<K>::of(config, &Launch::new(4, 1), 1, |sim| {
            Locks::new(sim, 1, 2, "locks").unwrap()
        });
        world.ends(|lane, view| {
            let refused = view.with(lane, 0, || ()) == Err(LockFault::TooManyUsers);
            assert_eq!(refused, lane.grid_thread() >= 2);
        });
        reported(&world, "is not below the number of users");
    });
}

/// Anderson's lock itself stays correct: users take turns at a slot.
#[test]
fn more_users_than_slots_of_an_anderson_lock_still_exclude_each_other() {
    for config in fair(1, 20) {
        let world = World::<Anderson>::of(config, &Launch::new(7, 1), 1, |sim| {
            Locks::new(sim, 1, 2, "the lock").unwrap()
        });
        world.ends(|lane, view| {
            for _ in 0..4 {
                view.with(lane, 0, || world.section(lane, &[0])).unwrap();
            }
        });
        let found = world.found().map(|order| order.len());
        assert_eq!(found, Ok(28), "{config}");
    }
}

/// Two threads take two locks in opposite orders, and each holds its first one
/// when it asks for the second.
#[test]
fn a_watchdog_ends_a_deadlock() {
    of_each!(K: LockKind in
        Timeout<Tas, 4_000>, Timeout<Ticket, 4_000>, Timeout<Mcs2, 4_000>, Timeout<Anderson, 4_000>, Timeout<Reserving<4>, 4_000>, Checked<Timeout<Mcs2, 4_000>> => {
        for config in fair(1, 5) {
            let world = World::<K>::new(config, &Launch::new(2, 1), 2);
            let here = Flag::new(&world.sim);
            world.ends(|lane, view| {
                let own = lane.grid_thread();
                let done = view.with(lane, own, || {
                    here.count(lane);
                    here.wait_for(lane, 2);
                    view.with(lane, 1 - own, || ())
                });
                assert!(matches!(done, Ok(Ok(()) | Err(LockFault::TimedOut))));
            });
            let error = world.locks.check().unwrap_err();
            assert_is!(error, Error::LockTimeout { what: "locks", .. });
        }
    });
}

/// A holder that never ends keeps its warp waiting no longer than the bound, and
/// each lane of a group that waits gets the error.
#[test]
fn a_watchdog_tells_all_lanes_of_a_warp() {
    let config = config(4, Schedule::Lockstep, 1);
    let world = World::<Timeout<Tas, 2_000>>::new(config, &Launch::new(2, 4), 1);
    let (held, told) = (Flag::new(&world.sim), Flag::new(&world.sim));
    world.ends(|lane, view| {
        if lane.block_index() == 1 {
            held.wait_for(lane, 1);
            assert_eq!(view.with(lane, 0, || ()), Err(LockFault::TimedOut));
            told.count(lane);
        } else if lane.lane_index() == 0 {
            let done = view.with(lane, 0, || {
                held.set(lane, 1);
                told.wait_for(lane, 4);
            });
            assert_eq!(done, Ok(()));
            // The others have left no trace.
            assert_eq!(view.with(lane, 0, || 3), Ok(3));
        }
    });
    assert_is!(world.locks.check(), Err(Error::LockTimeout { lock: 0, .. }));
}

/// A walk whose second lock times out gives up its first.
#[test]
fn a_walk_that_times_out_holds_nothing() {
    let config = config(1, Schedule::Random, 1);
    let world = World::<Timeout<Tas, 2_000>>::new(config, &Launch::new(2, 1), 2);
    let flag = Flag::new(&world.sim);
    world.ends(|lane, view| {
        if lane.block_index() == 0 {
            holds(lane, view, 1, &flag);
        } else {
            flag.wait_for(lane, 1);
            let walked: Result<(), _> = view.walk(lane, 0, |_, _| Step::Next(1));
            assert_eq!(walked, Err(LockFault::TimedOut));
            assert_eq!(view.with(lane, 0, || ()), Ok(()));
            flag.set(lane, 2);
        }
    });
}

#[test]
fn a_cohort_lock_that_is_not_set_up_or_has_no_shared_memory_is_refused() {
    let sim = Sim::new(config(1, Schedule::Random, 1));
    let locks = Locks::<_, Cohort<2>>::new(&sim, 3, 4, "locks").unwrap();
    let locks = locks.behind_shared_words(4);
    assert_eq!(locks.shared_bytes(), (4 + 3 * 5) * 4);
    let view = locks.view();
    let launch = shared(&Launch::new(1, 2), &locks);
    sim.run(&launch, |lane| {
        assert_eq!(view.with(lane, 0, || ()), Err(LockFault::NotSetUp));
    })
    .unwrap();
    let error = locks.check().unwrap_err();
    assert_says(error, &["before its block had set it up"]);
    // The words before the locks stay as they are.
    sim.run(&launch, |lane| {
        // SAFETY: all threads of the block call it; the words are inside.
        unsafe {
            lane.shared_store_32(3, 77);
            view.set_up_block(lane);
            assert_eq!(view.with(lane, 2, || 5), Ok(5));
            assert_eq!(lane.shared_load_32(3), 77);
        }
    })
    .unwrap();
    // The third lock is past the end.
    let short = Launch {
        shared_bytes: launch.shared_bytes - 4,
        ..launch
    };
    sim.run(&short, |lane| {
        // SAFETY: as above.
        unsafe { view.set_up_block(lane) };
        assert_eq!(view.with(lane, 1, || ()), Ok(()));
        assert_eq!(view.with(lane, 2, || ()), Err(LockFault::NotSetUp));
    })
    .unwrap();
}

fn panics<R>() -> R {
    resume_unwind(Box::new(()))
}

/// Runs what panics, so that the launch goes on.
fn caught<R>(run: impl FnOnce() -> R) {
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
}

const FAILED: LockFault = LockFault::HolderFailed;

impl<K: LockKind> World<K> {
    /// Asserts that the host reports what says all of this, and that the locks can be used again
    /// after a reset.
    #[track_caller]
    fn is_reset_after(&mut self, parts: &[&str]) {
        assert_says(self.locks.check().unwrap_err(), parts);
        self.locks.reset().unwrap();
        self.ends(|lane, view| assert_eq!(view.with(lane, 1, || ()), Ok(())));
        self.locks.check().unwrap();
    }
}

/// The second section of thread 1 panics. The others go on until they are refused, and
/// nobody enters after the half-done section.
#[test]
fn who_waits_for_a_section_that_has_panicked_is_refused() {
    each_kind!(K => {
        let refused = Cell::new(0);
        for config in fair(1, 4) {
            let mut world = World::<K>::new(config, &Launch::new(4, 1), 2);
            let counter = |i| word(&world.counters, i);
            world.ends(|lane, view| {
                let section = |panics_now: bool| {
                    increment(lane, counter(0));
                    if panics_now {
                        panics::<()>();
                    }
                    increment(lane, counter(1));
                };
                if lane.grid_thread() == 1 {
                    assert_eq!(view.with(lane, 0, || section(false)), Ok(()));
                    caught(|| view.with(lane, 0, || section(true)));
                    // The other locks of the array refuse it, too.
                    assert_eq!(view.with(lane, 1, || ()), Err(FAILED));
                    return;
                }
                // Not for ever, as a lock may be unfair, and so a schedule.
                for _ in 0..100 {
                    lane.pause(1);
                    if view.with(lane, 0, || section(false)) == Err(FAILED) {
                        assert_eq!(view.with(lane, 1, || ()), Err(FAILED));
                        refused.set(refused.get() + 1);
                        return;
                    }
                }
            });
            let counted = world.counted().unwrap();
            assert_eq!(counted[0], counted[1] + 1, "{} {config}", K::NAME);
            world.is_reset_after(&["thread 1 panicked in a section", "lock 0 of locks"]);
        }
        assert!(refused.get() > 30, "{} of 60 of {}", refused.get(), K::NAME);
    });
}

#[test]
fn a_series_and_a_walk_that_panic_are_seen_by_those_who_wait() {
    for config in fair(1, 1) {
        let mut world = World::<Mcs2>::new(config, &Launch::new(3, 1), 3);
        for (walks, lock) in [(false, "lock 1"), (true, "lock 2")] {
            world.ends(|lane, view| {
                let steps = |end: fn() -> Step<()>| {
                    move |_, at| if at == 2 { end() } else { Step::Next(at + 1) }
                };
                if lane.grid_thread() != 0 {
                    while view.walk(lane, 0, steps(|| Step::Done(()))) != Err(FAILED) {}
                } else if walks {
                    caught(|| view.walk(lane, 0, steps(panics)));
                } else {
                    let mut left = 3;
                    caught(|| {
                        view.with_many(lane, 1, 2, || {
                            left -= 1;
                            if left == 0 { panics() } else { true }
                        })
                    });
                }
            });
            world.is_reset_after(&["thread 0 panicked", lock]);
        }
    }
}
