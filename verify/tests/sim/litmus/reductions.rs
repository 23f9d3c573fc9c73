//! What a reduction (`red`) takes part in, by PTX ISA 9.1, sections 8.8 and
//! 8.9.2: it continues another thread's release sequence, it ends a release
//! pattern of its own, and it never acquires. `x` is data, and `y` a flag.
// The simulator checks each operation, and all words are live and of 64 bits.
#![allow(clippy::undocumented_unsafe_blocks)]

use super::{At, RANDOM, Runs};
use stm_core::Lane;

/// Runs a shape, and returns how often a thread that found the flag at `raised` did not find
/// the data, and how often it found the flag so.
fn stale(threads: u32, raised: u64, shape: impl Fn(&At<'_>)) -> (usize, usize) {
    let runs = Runs {
        schedules: RANDOM,
        ..Runs::of(threads, 1, true)
    };
    let outcomes: Vec<([u64; 2], u64)> = runs.outcomes(shape);
    let seen = || outcomes.iter().filter(|(found, _)| found[0] == raised);
    (
        seen().filter(|(found, _)| found[1] == 0).count(),
        seen().count(),
    )
}

impl At<'_> {
    /// Adds 1 to the flag by a `red` of 64 bits.
    fn reduce(&self) {
        unsafe { self.lane.add_relaxed_64(self.y.place, 1) }
    }

    /// Publishes the data by a reduction of the flag.
    fn publish_by_reduction(&self) {
        self.store(self.x, 1);
        self.fence();
        self.reduce();
    }

    /// Loads the flag and then, ordered, the data.
    fn receive_data(&self) {
        self.note(0, self.load(self.y));
        self.fence();
        self.note(1, self.load(self.x));
    }
}

#[test]
fn a_fence_and_a_reduction_are_a_release_pattern() {
    let (stale, raised) = stale(2, 1, |at| match at.thread {
        0 => at.publish_by_reduction(),
        _ => at.receive_data(),
    });
    assert_eq!(stale, 0);
    assert!(raised > 100, "{raised}");
}

#[test]
fn observation_passes_through_a_reduction_of_another_thread() {
    // A flag of 2 may have been read from the second thread's reduction, which
    // comes after the publisher's.
    let (stale, raised) = stale(3, 2, |at| match at.thread {
        0 => at.publish_by_reduction(),
        1 => at.reduce(),
        _ => at.receive_data(),
    });
    assert_eq!(stale, 0);
    assert!(raised > 100, "{raised}");
}

#[test]
fn a_store_of_another_thread_ends_the_sequence_that_a_reduction_continues() {
    let (stale, raised) = stale(3, 7, |at| match at.thread {
        0 => at.publish_by_reduction(),
        1 => {
            while at.load(at.y) == 0 {
                at.lane.pause(1);
            }
            at.store(at.y, 7);
        }
        _ => at.receive_data(),
    });
    assert!(raised > 100, "{raised}");
    assert!(stale > 0);
}

#[test]
fn a_reduction_and_a_fence_are_no_acquire_pattern_and_an_atomic_is_one() {
    let stale_after = |second: fn(&At<'_>)| {
        let (stale, first) = stale(2, 1, |at| {
            if at.thread == 0 {
                at.store(at.x, 1);
                at.fence();
                // 1 if the other thread's operation came second.
                at.note(0, 1 - at.add(at.y, 1));
            } else {
                second(at);
                at.fence();
                at.note(1, at.load(at.x));
            }
        });
        assert!(first > 100, "{first}");
        stale
    };
    assert_eq!(stale_after(|at| _ = at.add(at.y, 1)), 0);
    assert!(
        stale_after(|at| {
            at.reduce();
        }) > 100
    );
}
