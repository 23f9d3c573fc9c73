//! Combining: every request is executed once, in an order that respects real
//! time, and what `ORDERED` promises is seen.

use super::{config, everywhere, fair};
use crate::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use stm_sync::host::Combiners;
use stm_sync::{Combined, LockFault};

/// A counter in memory, of which a holder keeps the sum. A request adds its first word and gets the
/// sum before; the second word must be the first one's complement. A request of 0 panics. If operations are
/// ordered, the third word is a user, who has stored a word before, and finds its double in the next one.
struct Counter<'a, const ORDERED: bool> {
    words: &'a Buffer<Sim, u32>,
    /// The place of the sum.
    at: usize,
    /// The oracle: how many execute requests, and whether anything was wrong.
    holders: Cell<u32>,
    wrong: Cell<bool>,
}

impl<'a, const ORDERED: bool> Counter<'a, ORDERED> {
    const fn of(words: &'a Buffer<Sim, u32>, at: usize) -> Self {
        let (holders, wrong) = (Cell::new(0), Cell::new(false));
        Self {
            words,
            at,
            holders,
            wrong,
        }
    }

    /// The place of a user's word, behind the sums of up to three combiners.
    const fn of_user(user: u32) -> usize {
        3 + 2 * user as usize
    }
}

impl<const ORDERED: bool> Combined<3> for Counter<'_, ORDERED> {
    type State = u32;
    const ORDERED: bool = ORDERED;

    fn begin<L: Lane>(&self, lane: &L) -> u32 {
        self.holders.set(self.holders.get() + 1);
        // SAFETY: a live word of 32 bits, which the combiner protects.
        unsafe { lane.load_relaxed_32(word(self.words, self.at)) }
    }
    fn apply<L: Lane>(&self, lane: &L, sum: &mut u32, [number, check, user]: [u32; 3]) -> u32 {
        if number == 0 {
            resume_unwind(Box::new(()));
        }
        if number != !check || self.holders.get() != 1 {
            self.wrong.set(true);
        }
        if ORDERED {
            let at = Self::of_user(user);
            // SAFETY: live words of 32 bits, between a request and its response.
            unsafe {
                let found = lane.load_relaxed_32(word(self.words, at));
                lane.store_relaxed_32(word(self.words, at + 1), 2 * found);
            }
        }
        std::mem::replace(sum, *sum + number)
    }
    fn end<L: Lane>(&self, lane: &L, sum: u32) {
        // SAFETY: as in `begin`.
        unsafe { lane.store_relaxed_32(word(self.words, self.at), sum) };
        self.holders.set(self.holders.get() - 1);
    }
}

const fn adds(number: u32) -> [u32; 3] {
    [number, !number, 0]
}

/// Launches additions of 1 by so many combiners in turn; the responses must be those of a counter each, between request
/// and answer.
pub(crate) fn count<const BOUND: u32, const ORDERED: bool>(
    config: SimConfig,
    launch: &Launch,
    (combiners, times): (usize, u32),
    first: u32,
) -> Result<(), String> {
    let sim = Sim::new(config);
    let users = launch.blocks * launch.threads;
    let len = combiners as u64;
    let mut owner = Combiners::<_, 3, BOUND>::new(&sim, len, users.into(), "the counters").unwrap();
    owner.advance(first).unwrap();
    let words = Buffer::<_, u32>::zeroed(&sim, 3 + 2 * users as usize, "words").unwrap();
    let counters: Vec<_> = (0..combiners)
        .map(|i| Counter::<ORDERED>::of(&words, i))
        .collect();
    let view = owner.view();
    // Who gave each response, and when it was asked for and had.
    let answers = RefCell::new(Vec::new());
    let ran = sim.run(launch, |lane| {
        let user = lane.grid_thread() as u32;
        let at = Counter::<ORDERED>::of_user(user);
        for k in 1..=times {
            let of = (user + k) as usize % combiners;
            if ORDERED {
                // SAFETY: a live word of 32 bits.
                unsafe { lane.store_relaxed_32(word(&words, at), k) };
            }
            let asked = lane.clock();
            let response = view.apply(lane, of as u64, &counters[of], [1, !1, user]);
            let answered = (of, response.unwrap(), asked, lane.clock());
            answers.borrow_mut().push(answered);
            // SAFETY: as above.
            let doubled = || unsafe { lane.load_relaxed_32(word(&words, at + 1)) };
            assert!(!ORDERED || doubled() == 2 * k, "the answer to {k}");
        }
    });
    ran.map_err(|error| error.to_string())?;
    owner.check().unwrap();
    let mut answers = answers.into_inner();
    answers.sort_unstable();
    let sums = words.download().unwrap();
    let is_right = |answers: &[(usize, u32, u64, u64)]| {
        let (of, len) = (answers[0].0, answers.len() as u32);
        let once = answers.iter().map(|answer| answer.1).eq(0..len);
        // No answer came before the request of one that counted less was made.
        let mut latest = 0;
        let in_time = answers.iter().all(|&(_, _, asked, got)| {
            latest = latest.max(asked);
            got > latest
        });
        !counters[of].wrong.get() && once && in_time && sums[of] == len
    };
    let all = answers.len() as u32 == users * times;
    let right = all && answers.chunk_by(|a, b| a.0 == b.0).all(is_right);
    right.then_some(()).ok_or_else(|| format!("{answers:?}"))
}

fn counts<const BOUND: u32, const ORDERED: bool>(times: [u32; 2]) {
    for (config, launch) in everywhere(8) {
        let times = times[usize::from(config.warp_width == 32)];
        let counted = count::<BOUND, ORDERED>(config, launch, (1, times), 0);
        assert_eq!(counted, Ok(()), "{config}");
    }
}

#[test]
fn a_combined_counter_is_linearizable_also_when_holders_change_often() {
    counts::<4096, false>([4, 1]);
    counts::<1, false>([4, 1]);
}

/// Number 0 comes again, that of a response that was never written. There are more numbers before than the
/// eight entries, as an entry that was never written looks like one of number 2^32 - 1.
#[test]
fn numbers_of_requests_wrap_around() {
    for first in [u32::MAX - 17, u32::MAX - 16, u32::MAX - 14] {
        for seed in 0..20 {
            let config = config(4, Schedule::Random, seed);
            let counted = count::<2, false>(config, &Launch::new(2, 4), (1, 6), first);
            assert_eq!(counted, Ok(()), "{config}");
        }
    }
}

#[test]
fn ordered_operations_see_what_came_before_the_request_and_are_seen_after_the_response() {
    counts::<2, true>([2, 2]);
}

#[test]
fn combiners_of_one_array_do_not_disturb_each_other() {
    for config in fair(4, 8) {
        let counted = count::<4096, false>(config, &Launch::new(2, 6), (3, 4), 0);
        assert_eq!(counted, Ok(()), "{config}");
    }
}

#[test]
fn a_combiner_without_room_for_a_thread_and_one_past_the_end_are_errors() {
    let sim = Sim::new(config(1, Schedule::Random, 1));
    let words = Buffer::<_, u32>::zeroed(&sim, 1, "the sum").unwrap();
    let counter = Counter::<false>::of(&words, 0);
    let combiners = Combiners::<_, 3>::new(&sim, 1, 2, "combiners").unwrap();
    let apply = |lane: &SimLane<'_>, i| combiners.view().apply(lane, i, &counter, adds(1));
    sim.run(&Launch::new(3, 1), |lane| {
        let refused = apply(lane, 0) == Err(LockFault::TooManyUsers);
        assert_eq!(refused, lane.grid_thread() == 2);
    })
    .unwrap();
    let error = combiners.check().unwrap_err();
    assert_is!(error, Error::LockMisused { thread: 2, .. });
    let combiners = Combiners::<_, 3>::new(&sim, 1, 2, "other").unwrap();
    let apply = |lane: &SimLane<'_>, i| combiners.view().apply(lane, i, &counter, adds(1));
    sim.run(&Launch::new(1, 1), |lane| {
        assert_eq!(apply(lane, 1), Err(LockFault::OutOfRange));
    })
    .unwrap();
    assert!(combiners.check().is_err());
}

const FAILED: LockFault = LockFault::HolderFailed;

/// Whoever executes the request panics, and that may be any thread.
#[test]
fn who_waits_for_a_combiner_whose_holder_has_panicked_is_refused() {
    for config in fair(1, 10) {
        let sim = Sim::new(config);
        let mut combiners = Combiners::<_, 3>::new(&sim, 2, 4, "combiners").unwrap();
        let words = Buffer::<_, u32>::zeroed(&sim, 1, "the sum").unwrap();
        let sum = Counter::<false>::of(&words, 0);
        let view = combiners.view();
        sim.run(&Launch::new(4, 1), |lane| {
            let run = |request: u32| {
                let apply = || view.apply(lane, 0, &sum, adds(request));
                catch_unwind(AssertUnwindSafe(apply)).unwrap_or(Err(FAILED))
            };
            assert!(lane.grid_thread() != 1 || matches!(run(1), Ok(_) | Err(FAILED)));
            let request = u32::from(lane.grid_thread() != 1);
            while run(request) != Err(FAILED) {}
            // Nor does the other combiner take requests.
            assert_eq!(view.apply(lane, 1, &sum, adds(1)), Err(FAILED));
        })
        .unwrap_or_else(|error| panic!("{config}: {error}"));
        assert_says(combiners.check().unwrap_err(), &["panicked in a section"]);
        combiners.reset().unwrap();
        sim.run(&Launch::new(4, 1), |lane| {
            assert!(view.apply(lane, 0, &sum, adds(1)).is_ok());
        })
        .unwrap();
    }
}
