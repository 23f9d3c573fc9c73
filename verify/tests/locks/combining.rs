//! Combining: every request is executed once, in an order that respects real
//! time, and what `ORDERED` promises is seen.

use super::{config, everywhere, fair};
use crate::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use stm_sync::host::Combiners;
use stm_sync::{Combined, LockFault};
use verify::sim::SimError;

/// A counter in memory, of which a holder keeps the sum. A request adds its first word and gets the
/// sum before; the second word must be the first one's complement. A request of 0 panics.
struct Counter<'a> {
    sum: *mut u32,
    /// The oracle: how many execute requests, and whether anything was wrong.
    holders: &'a Cell<u32>,
    wrong: &'a Cell<bool>,
}

impl Combined<2> for Counter<'_> {
    type State = u32;
    const ORDERED: bool = false;

    fn begin<L: Lane>(&self, lane: &L) -> u32 {
        self.holders.set(self.holders.get() + 1);
        // SAFETY: a live word of 32 bits, which the combiner protects.
        unsafe { lane.load_relaxed_32(self.sum) }
    }
    fn apply<L: Lane>(&self, _lane: &L, sum: &mut u32, [number, check]: [u32; 2]) -> u32 {
        if number == 0 {
            resume_unwind(Box::new(()));
        }
        if number != !check || self.holders.get() != 1 {
            self.wrong.set(true);
        }
        std::mem::replace(sum, *sum + number)
    }
    fn end<L: Lane>(&self, lane: &L, sum: u32) {
        // SAFETY: as above.
        unsafe { lane.store_relaxed_32(self.sum, sum) };
        self.holders.set(self.holders.get() - 1);
    }
}

/// A request that was answered: the answer, and when it was made and answered.
#[derive(Clone, Copy, Debug)]
struct Answered {
    response: u32,
    asked: u64,
    got: u64,
}

/// Launches additions of 1. The responses must be those of a counter that was incremented so many
/// times, one after the other, each between its request and its answer.
pub(crate) fn count<const BOUND: u32>(
    config: SimConfig,
    launch: &Launch,
    times: u32,
    first: u32,
) -> Result<(), String> {
    let sim = Sim::new(config);
    let users = launch.blocks * launch.threads;
    let mut combiners =
        Combiners::<_, 2, BOUND>::new(&sim, 1, users.into(), "the counter").unwrap();
    combiners.advance(first).unwrap();
    let words = Buffer::<_, u32>::zeroed(&sim, 1, "sum").unwrap();
    let (wrong, holders) = (Cell::new(false), Cell::new(0));
    let counter = Counter {
        sum: word(&words, 0),
        holders: &holders,
        wrong: &wrong,
    };
    let view = combiners.view();
    let answers = RefCell::new(Vec::new());
    let ran = sim.run(launch, |lane| {
        for _ in 0..times {
            let asked = lane.clock();
            let response = view.apply(lane, 0, &counter, [1, !1]).unwrap();
            let got = lane.clock();
            let answered = Answered {
                response,
                asked,
                got,
            };
            answers.borrow_mut().push(answered);
        }
    });
    ran.map_err(|error| error.to_string())?;
    combiners.check().unwrap();
    let mut answers = answers.into_inner();
    answers.sort_by_key(|answer| answer.response);
    let once = answers.iter().map(|a| a.response).eq(0..users * times);
    // No answer came before the request of one that counted less was made.
    let mut latest = 0;
    let in_time = answers.iter().all(|answer| {
        latest = latest.max(answer.asked);
        answer.got > latest
    });
    let right = !wrong.get() && once && in_time && words.download().unwrap() == [users * times];
    right.then_some(()).ok_or_else(|| format!("{answers:?}"))
}

fn counts<const BOUND: u32>(first: u32) {
    for (config, launch) in everywhere(8) {
        let times = if config.warp_width == 32 { 1 } else { 4 };
        let counted = count::<BOUND>(config, launch, times, first);
        assert_eq!(counted, Ok(()), "{config}");
    }
}

#[test]
fn a_combined_counter_is_linearizable_also_when_holders_change_often() {
    counts::<4096>(0);
    counts::<1>(0);
}

/// Numbers wrap around, and number 0 comes again, which is that of a response that was never
/// written. There are more numbers before than entries, of which there are eight, as an entry that
/// was never written looks like one of number 2^32 - 1.
#[test]
fn numbers_of_requests_wrap_around() {
    for first in [u32::MAX - 17, u32::MAX - 16, u32::MAX - 14] {
        for seed in 0..20 {
            let config = config(4, Schedule::Random, seed);
            let counted = count::<2>(config, &Launch::new(2, 4), 6, first);
            assert_eq!(counted, Ok(()), "{config}");
        }
    }
}

/// A request names a word that its thread has stored before. The operation loads
/// it and stores its answer in another word, which the thread then loads.
struct Doubler<'a> {
    asked: &'a Buffer<Sim, u32>,
    answered: &'a Buffer<Sim, u32>,
}

impl Combined<1> for Doubler<'_> {
    type State = ();

    fn begin<L: Lane>(&self, _lane: &L) {}
    fn apply<L: Lane>(&self, lane: &L, (): &mut (), [user]: [u32; 1]) -> u32 {
        // SAFETY: live words of 32 bits, between a request and its response.
        unsafe {
            let found = lane.load_relaxed_32(word(self.asked, user as usize));
            lane.store_relaxed_32(word(self.answered, user as usize), 2 * found);
        }
        0
    }
    fn end<L: Lane>(&self, _lane: &L, (): ()) {}
}

pub(crate) fn double(config: SimConfig, launch: &Launch, times: u32) -> Result<(), SimError> {
    let sim = Sim::new(config);
    let users = launch.blocks * launch.threads;
    let combiners = Combiners::<_, 1, 2>::new(&sim, 1, users.into(), "the doubler").unwrap();
    let buffer = |name| Buffer::<_, u32>::zeroed(&sim, users as usize, name).unwrap();
    let (asked, answered) = (buffer("asked"), buffer("answered"));
    let doubler = Doubler {
        asked: &asked,
        answered: &answered,
    };
    let view = combiners.view();
    let ran = sim.run(launch, |lane| {
        let user = lane.grid_thread() as u32;
        for k in 1..=times {
            // SAFETY: live words of 32 bits.
            let answer = unsafe {
                lane.store_relaxed_32(word(&asked, user as usize), k);
                view.apply(lane, 0, &doubler, [user]).unwrap();
                lane.load_relaxed_32(word(&answered, user as usize))
            };
            assert_eq!(answer, 2 * k);
        }
    });
    ran.map(|_| ())
}

#[test]
fn ordered_operations_see_what_came_before_the_request_and_are_seen_after_the_response() {
    for (config, launch) in everywhere(8) {
        assert_eq!(double(config, launch, 2), Ok(()), "{config}");
    }
}

/// Lanes of a warp ask several combiners, each of which is one counter.
#[test]
fn combiners_of_one_array_do_not_disturb_each_other() {
    for config in fair(4, 8) {
        let sim = Sim::new(config);
        let combiners = Combiners::<_, 2>::new(&sim, 3, 12, "counters").unwrap();
        let sums = Buffer::<_, u32>::zeroed(&sim, 3, "sums").unwrap();
        let (wrong, holders) = (Cell::new(false), [const { Cell::new(0) }; 3]);
        let view = combiners.view();
        sim.run(&Launch::new(2, 6), |lane| {
            for k in 1..5 {
                let i = (lane.thread_index() + k) as usize % 3;
                let counter = Counter {
                    sum: word(&sums, i),
                    holders: &holders[i],
                    wrong: &wrong,
                };
                view.apply(lane, i as u64, &counter, [k, !k]).unwrap();
            }
        })
        .unwrap_or_else(|error| panic!("{config}: {error}"));
        assert!(!wrong.get(), "{config}");
        let total: u32 = sums.download().unwrap().iter().sum();
        assert_eq!(total, 12 * 10, "{config}");
    }
}

#[test]
fn a_combiner_without_room_for_a_thread_and_one_past_the_end_are_errors() {
    let sim = Sim::new(config(1, Schedule::Random, 1));
    let combiners = Combiners::<_, 1>::new(&sim, 1, 2, "the doubler").unwrap();
    let words = Buffer::<_, u32>::zeroed(&sim, 3, "words").unwrap();
    let doubler = Doubler {
        asked: &words,
        answered: &words,
    };
    let view = combiners.view();
    sim.run(&Launch::new(3, 1), |lane| {
        let user = lane.grid_thread() as u32;
        let done = view.apply(lane, 0, &doubler, [user]);
        let expected = if user < 2 {
            Ok(0)
        } else {
            Err(LockFault::TooManyUsers)
        };
        assert_eq!(done, expected);
    })
    .unwrap();
    let error = combiners.check().unwrap_err();
    assert_is!(error, Error::LockMisused { thread: 2, .. });
    let other = Combiners::<_, 1>::new(&sim, 1, 2, "other").unwrap();
    let view = other.view();
    sim.run(&Launch::new(1, 1), |lane| {
        let done = view.apply(lane, 1, &doubler, [0]);
        assert_eq!(done, Err(LockFault::OutOfRange));
    })
    .unwrap();
    assert!(other.check().is_err());
}

const FAILED: LockFault = LockFault::HolderFailed;

/// Whoever executes the request panics, and that may be any thread.
#[test]
fn who_waits_for_a_combiner_whose_holder_has_panicked_is_refused() {
    for config in fair(1, 10) {
        let sim = Sim::new(config);
        let mut combiners = Combiners::<_, 2>::new(&sim, 2, 4, "combiners").unwrap();
        let words = Buffer::<_, u32>::zeroed(&sim, 1, "the sum").unwrap();
        let (wrong, holders) = (Cell::new(false), Cell::new(0));
        let sum = Counter {
            sum: word(&words, 0),
            holders: &holders,
            wrong: &wrong,
        };
        let view = combiners.view();
        sim.run(&Launch::new(4, 1), |lane| {
            let run = |request: u32| {
                let apply = || view.apply(lane, 0, &sum, [request, !request]);
                catch_unwind(AssertUnwindSafe(apply)).unwrap_or(Err(FAILED))
            };
            assert!(lane.grid_thread() != 1 || matches!(run(1), Ok(_) | Err(FAILED)));
            let request = u32::from(lane.grid_thread() != 1);
            while run(request) != Err(FAILED) {}
            // Nor does the other combiner take requests.
            assert_eq!(view.apply(lane, 1, &sum, [1, !1]), Err(FAILED));
        })
        .unwrap_or_else(|error| panic!("{config}: {error}"));
        assert_says(combiners.check().unwrap_err(), &["panicked in a section"]);
        combiners.reset().unwrap();
        sim.run(&Launch::new(4, 1), |lane| {
            assert!(view.apply(lane, 0, &sum, [1, !1]).is_ok());
        })
        .unwrap();
    }
}
