//! Misuse of the operations at which the lanes of a warp or a block meet, and
//! what is no misuse.
// The simulator checks each of them, and the tests make wrong ones.
#![allow(clippy::undocumented_unsafe_blocks)]

use super::{SCHEDULES, ends_with, errors, sim};
use stm_core::Lane;
use stm_core::host::Launch;
use verify::sim::{LaneId, Op, Schedule, SimError};

#[test]
fn a_mask_without_the_lane_or_with_lanes_that_are_not_is_an_error() {
    for mask in [0, 0x1F, 0xE, 0x10] {
        ends_with!(
            |lane, _p| if lane.lane_index() == 0 {
                lane.sync_warp(mask);
            } else {
                lane.pause(1);
            },
            SimError::BadMask { warp: 0xF, .. }
        );
    }
}

#[test]
fn a_shuffle_from_a_lane_that_takes_no_part_is_an_error() {
    for source in [1, 31, 32] {
        ends_with!(
            |lane, _p| {
                let me = lane.lane_index();
                lane.shuffle_32(lane.lane_bit(), 1, if me == 0 { source } else { me })
            },
            SimError::BadSource { mask: 1, .. }
        );
    }
}

#[test]
fn lanes_that_name_each_other_at_different_operations_are_an_error() {
    let by_operation = errors(|lane, _| {
        if lane.lane_index() == 2 {
            unsafe { lane.sync_warp(0xF) };
        } else {
            unsafe { lane.ballot(0xF, true) };
        }
    });
    let by_mask = errors(|lane, _| {
        unsafe { lane.ballot(if lane.lane_index() < 2 { 0x7 } else { 0xF }, true) };
    });
    for error in by_operation.into_iter().chain(by_mask) {
        let SimError::Mismatch {
            lane,
            here,
            other,
            there,
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!(lane.block, other.block);
        assert_ne!((lane, here), (other, there));
    }
}

#[test]
fn disjoint_masks_and_a_detour_alone_are_no_mismatch() {
    for schedule in Schedule::named(SCHEDULES) {
        for seed in 0..20 {
            let run = sim(schedule, seed).run(&Launch::new(2, 6), |lane| {
                let pair = 3 << (lane.lane_index() & 2);
                assert_eq!(
                    unsafe { lane.ballot(pair, lane.lane_index() & 1 == 1) },
                    pair & 0xA
                );
                if lane.lane_index() == 1 {
                    // The others may already wait at the next operation.
                    assert_eq!(unsafe { lane.ballot(lane.lane_bit(), true) }, 2);
                }
                assert_eq!(
                    unsafe { lane.shuffle_32(lane.warp_mask(), lane.lane_index(), 1) },
                    1
                );
                unsafe { lane.barrier() };
            });
            assert!(run.is_ok(), "{}", run.unwrap_err());
        }
    }
}

#[test]
fn a_lane_that_ended_and_is_waited_for_is_an_error() {
    ends_with!(
        |lane, _p| if lane.lane_index() != 1 {
            lane.ballot(lane.warp_mask(), true);
        },
        SimError::LaneEnded { ended, waiting, access }
            => (ended.lane, access.op, ended.block) == (1, Op::Ballot, waiting.block)
    );
    ends_with!(
        |lane, _p| if lane.thread_index() != 3 {
            lane.barrier();
        },
        SimError::LaneEnded {
            ended: LaneId { thread: 3, .. },
            ..
        }
    );
}

#[test]
fn a_barrier_used_in_two_ways_is_an_error() {
    ends_with!(
        |lane, _p| if lane.thread_index() == 2 {
            lane.barrier();
        } else {
            lane.barrier_any(true);
        },
        SimError::Mismatch { here, there, .. } => {
            let ops = [here.op, there.op];
            ops.contains(&Op::Barrier) && ops.contains(&Op::BarrierAny)
        }
    );
}

#[test]
fn a_vote_at_the_barrier_is_of_the_whole_block_and_of_that_meeting_alone() {
    for schedule in Schedule::named(SCHEDULES) {
        for seed in 0..20 {
            let run = sim(schedule, seed).run(&Launch::new(2, 6), |lane| {
                for k in 0..8 {
                    let any = unsafe {
                        lane.barrier_any(lane.thread_index() == k && lane.block_index() == 0)
                    };
                    assert_eq!(any, k < 6 && lane.block_index() == 0);
                    let count = unsafe { lane.barrier_count(lane.thread_index() >= k) };
                    assert_eq!(count, 6u32.saturating_sub(k));
                }
            });
            assert!(run.is_ok(), "{}", run.unwrap_err());
        }
    }
}
