//! Neighbouring words of 32 bits may be used in different ways; what covers both
//! may not.
// The simulator checks each operation, and all words are live.
#![allow(clippy::undocumented_unsafe_blocks)]

use crate::assert_is;
use stm_core::Lane;
use stm_core::host::{Buffer, Launch};
use verify::sim::{Sim, SimConfig, SimError, SimLane};

/// Runs two lanes, each a block, on two neighbouring words.
fn run(body: impl Fn(&SimLane<'_>, *mut u32)) -> Result<(), SimError> {
    let sim = Sim::new(SimConfig::default().with_width(1));
    let words = Buffer::<_, u32>::zeroed(&sim, 2, "words").unwrap();
    let at = words.as_mut_ptr();
    sim.run(&Launch::new(2, 1), |lane| body(lane, at))
        .map(|_| ())
}

#[test]
fn a_private_word_may_lie_beside_a_shared_one() {
    let ended = run(|lane, at| unsafe {
        if lane.block_index() == 0 {
            lane.private_store_32(at, 1);
        }
        lane.store_relaxed_32(at.wrapping_add(1), 2);
    });
    assert_eq!(ended, Ok(()));
}

#[test]
fn the_private_one_of_two_neighbours_is_of_one_lane() {
    let ended = run(|lane, at| unsafe {
        lane.store_relaxed_32(at.wrapping_add(1), 2);
        lane.private_store_32(at, 1);
    });
    assert_is!(ended, Err(SimError::NotPrivate { .. }));
    let ended = run(|lane, at| unsafe {
        if lane.block_index() == 0 {
            lane.private_store_32(at, 1);
        } else {
            lane.load_relaxed_32(at);
        }
    });
    assert_is!(ended, Err(SimError::NotPrivate { .. }));
}

#[test]
fn no_wide_access_covers_neighbours_of_two_kinds() {
    let ended = run(|lane, at| unsafe {
        lane.store_relaxed_32(at.wrapping_add(1), 2);
        lane.load_relaxed_64(at.cast());
    });
    assert_is!(ended, Err(SimError::MixedWidth { .. }));
}
