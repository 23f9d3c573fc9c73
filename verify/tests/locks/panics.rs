//! Panics of sections, as on the CPU: the lock stays held, and nobody waits for it for
//! ever.

use super::common::{FAIR, World, config, each_kind, fair, increment, word};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use stm_core::Lane;
use stm_core::host::{Buffer, Launch};
use stm_sync::host::Combiners;
use stm_sync::{Combined, LockFault, LockKind, Mcs2, Step};
use verify::sim::{Schedule, Sim};

/// Ends like a panic, without its message.
fn panics<R>() -> R {
    resume_unwind(Box::new(()))
}

/// Runs what panics, so that the launch goes on.
fn caught<R>(run: impl FnOnce() -> R) {
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
}

const FAILED: LockFault = LockFault::HolderFailed;

/// The second section of thread 1 panics. The others go on until they are refused, and
/// nobody enters after the half-done section.
fn ends<K: LockKind>() {
    let refused = Cell::new(0);
    for schedule in Schedule::named(FAIR) {
        for seed in 0..4 {
            let config = config(1, schedule, seed);
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
            let text = world.locks.check().unwrap_err().to_string();
            let thread = text.contains("thread 1 panicked in a section");
            assert!(thread && text.contains("lock 0 of locks"), "{text}");
            let [begun, ended] = world.counted()[..] else {
                unreachable!("two counters")
            };
            assert_eq!(begun, ended + 1, "{} {config}", K::NAME);
            world.locks.reset().unwrap();
            world.ends(|lane, view| assert_eq!(view.with(lane, 0, || ()), Ok(())));
            world.locks.check().unwrap();
        }
    }
    assert!(refused.get() > 30, "{} of 60 of {}", refused.get(), K::NAME);
}

#[test]
fn who_waits_for_a_section_that_has_panicked_is_refused() {
    each_kind!(ends());
}

#[test]
fn a_series_and_a_walk_that_panic_are_seen_by_those_who_wait() {
    for schedule in Schedule::named(FAIR) {
        let config = config(1, schedule, 5);
        let mut world = World::<Mcs2>::new(config, &Launch::new(3, 1), 3);
        for walks in [false, true] {
            world.ends(|lane, view| {
                if lane.grid_thread() == 0 {
                    if walks {
                        let visit = |_, at| {
                            if at == 2 {
                                panics()
                            } else {
                                Step::Next(at + 1)
                            }
                        };
                        caught(|| view.walk::<_, ()>(lane, 0, visit));
                    } else {
                        let mut left = 3;
                        caught(|| {
                            view.with_many(lane, 1, 2, || {
                                left -= 1;
                                if left == 0 { panics() } else { true }
                            })
                        });
                    }
                    return;
                }
                let steps = |_, at| {
                    if at == 2 {
                        Step::Done(())
                    } else {
                        Step::Next(at + 1)
                    }
                };
                while view.walk(lane, 0, steps) != Err(FAILED) {}
            });
            let text = world.locks.check().unwrap_err().to_string();
            let lock = if walks { "lock 2" } else { "lock 1" };
            assert!(
                text.contains("thread 0 panicked") && text.contains(lock),
                "{text}"
            );
            world.locks.reset().unwrap();
        }
    }
}

/// A sum in memory; a request of 0 panics.
struct Sum(*mut u32);

impl Combined<1> for Sum {
    type State = u32;
    const ORDERED: bool = false;

    fn begin<L: Lane>(&self, lane: &L) -> u32 {
        // SAFETY: a live word that the combiner protects.
        unsafe { lane.load_relaxed_32(self.0) }
    }

    fn apply<L: Lane>(&self, _lane: &L, sum: &mut u32, [number]: [u32; 1]) -> u32 {
        if number == 0 {
            panics::<()>();
        }
        *sum += number;
        *sum
    }

    fn end<L: Lane>(&self, lane: &L, sum: u32) {
        // SAFETY: as above.
        unsafe { lane.store_relaxed_32(self.0, sum) };
    }
}

/// Whoever executes the request panics, and that may be any thread.
#[test]
fn who_waits_for_a_combiner_whose_holder_has_panicked_is_refused() {
    for config in fair(1, 10) {
        let sim = Sim::new(config);
        let mut combiners = Combiners::<_, 1>::new(&sim, 2, 4, "combiners").unwrap();
        let words = Buffer::<_, u32>::zeroed(&sim, 1, "the sum").unwrap();
        let view = combiners.view();
        sim.run(&Launch::new(4, 1), |lane| {
            let sum = Sum(word(&words, 0));
            let run = |request| {
                let apply = || view.apply(lane, 0, &sum, [request]);
                catch_unwind(AssertUnwindSafe(apply)).unwrap_or(Err(FAILED))
            };
            assert!(lane.grid_thread() != 1 || matches!(run(1), Ok(_) | Err(FAILED)));
            let request = u32::from(lane.grid_thread() != 1);
            while run(request) != Err(FAILED) {}
            // Nor does the other combiner take requests.
            assert_eq!(view.apply(lane, 1, &sum, [1]), Err(FAILED));
        })
        .unwrap_or_else(|error| panic!("{config}: {error}"));
        let text = combiners.check().unwrap_err().to_string();
        assert!(text.contains("panicked in a section"), "{text}");
        combiners.reset().unwrap();
        sim.run(&Launch::new(4, 1), |lane| {
            let sum = Sum(word(&words, 0));
            assert!(view.apply(lane, 0, &sum, [1]).is_ok());
        })
        .unwrap();
    }
}
