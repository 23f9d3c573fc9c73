//! What a reduction (`red`) takes part in, by PTX ISA 9.1, sections 8.8 and
//! 8.9.2: it continues another thread's release sequence, it ends a release
//! pattern of its own (`litmus.txt`), and it never acquires. `x` is data, and `y` a flag.
// The simulator checks each operation, and all words are live and of 64 bits.
#![allow(clippy::undocumented_unsafe_blocks)]

use super::{At, RANDOM, Runs};
use stm_core::Lane;

#[test]
fn a_reduction_and_a_fence_are_no_acquire_pattern_and_an_atomic_is_one() {
    let stale_after = |second: fn(&At<'_>)| {
        let runs = Runs {
            schedules: RANDOM,
            ..Runs::of(2, 1, true)
        };
        let outcomes: Vec<([u64; 2], u64)> = runs.outcomes(|at| {
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
        let count = |data: &[u64]| {
            let first = outcomes.iter().filter(|(found, _)| found[0] == 1);
            first.filter(|(found, _)| data.contains(&found[1])).count()
        };
        assert!(count(&[0, 1]) > 100);
        count(&[0])
    };
    assert_eq!(stale_after(|at| _ = at.add(at.y, 1)), 0);
    let reduce = |at: &At<'_>| unsafe { at.lane.add_relaxed_64(at.y.place, 1) };
    assert!(stale_after(reduce) > 100);
}
