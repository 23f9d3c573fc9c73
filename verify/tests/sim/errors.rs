//! Each way to misuse the machine ends the launch with its own error, which names the lanes; and
//! the machine can be used again. Neighbouring words of 32 bits may be used in different ways; what
//! covers both may not. So it is with the operations at which the lanes of a warp or a block meet.
// The simulator checks each operation of a warp or a block, and the tests make wrong ones.
#![allow(clippy::undocumented_unsafe_blocks)]

use crate::{assert_is, shared};
use stm_core::host::{Buffer, Device, Error, Launch};
use stm_core::{Kernel, Lane};
use verify::sim::{LaneId, Op, Owner, Schedule, Sim, SimConfig, SimError, SimLane, Stuck, Waiting};

fn sim(schedule: Schedule, seed: u64) -> Sim {
    let config = SimConfig::of(4, schedule).with_seed(seed);
    Sim::new(config.with_limits(5000, 1000))
}

const SCHEDULES: &str = "lockstep stack starve32 random pct2x100";

/// The error of a kernel of two blocks of four lanes, which gets a buffer of 4
/// 64-bit words; under every schedule.
fn errors(kernel: impl Fn(&SimLane<'_>, *mut u64)) -> Vec<SimError> {
    let run = |schedule| {
        let sim = sim(schedule, 9);
        let words = Buffer::<_, u64>::zeroed(&sim, 4, "words").unwrap();
        let p = words.as_mut_ptr();
        let error = sim
            .run(&shared(Launch::new(2, 4), 16), |lane| kernel(lane, p))
            .unwrap_err();
        assert_eq!(sim.last_run().unwrap().1, Err(error.clone()));
        // The machine is as good as new.
        let again = sim.run(&Launch::new(2, 4), |lane| {
            // SAFETY: a live 64-bit word.
            unsafe { lane.fetch_add_relaxed_64(p, 1) };
        });
        assert_eq!(again.unwrap().steps, 8);
        error
    };
    Schedule::named(SCHEDULES).into_iter().map(run).collect()
}

/// Asserts that a kernel ends with an error of this form, which may be looked at closer.
macro_rules! ends_with {
    (|$lane:ident, $p:ident| $body:expr, $form:pat $(=> $holds:expr)?) => {
        // SAFETY: none: this is what is tested, and the simulator checks.
        for error in errors(|$lane, $p| _ = unsafe { $body }) {
            match &error {
                $form => { $(assert!($holds, "{error}");)? }
                _ => panic!("{error}"),
            }
        }
    };
}

#[test]
fn an_access_outside_every_allocation_is_an_error() {
    for past in [32, 36, 4096, 1 << 40] {
        let end = "bytes past the end of `words`, which has 32 bytes";
        let is_near = |near: &str| near.contains(&format!("{} {end}", past - 32));
        ends_with!(
            |lane, p| lane.load_relaxed_32(p.wrapping_byte_add(past).cast()),
            SimError::OutOfBounds { op: Op::LoadRelaxed32, near, .. } => is_near(near)
        );
    }
    ends_with!(
        |lane, _p| lane.store_relaxed_64(std::ptr::without_provenance_mut(64), 1),
        SimError::OutOfBounds { address: 64, .. }
    );
}

/// Runs a kernel of so many lanes on the first of two allocations, and one that was freed.
fn beside_freed(lanes: u32, kernel: impl Fn(&SimLane<'_>, *mut u8, *mut u8)) -> Option<SimError> {
    let sim = sim(Schedule::Random, 1);
    let bytes = Buffer::<_, u8>::zeroed(&sim, 5, "bytes").unwrap();
    let freed = Buffer::<_, u8>::zeroed(&sim, 5, "freed").unwrap();
    let (p, q) = (bytes.as_mut_ptr(), freed.as_mut_ptr());
    drop(freed);
    let launch = Launch::new(1, lanes);
    sim.run(&launch, |lane| kernel(lane, p, q)).err()
}

#[test]
fn an_access_past_the_end_and_one_of_a_freed_allocation_are_outside_every_allocation() {
    let past = |lane: &SimLane<'_>, p: *mut u8, _| unsafe {
        lane.private_store_32(p.wrapping_add(4).cast(), 1);
    };
    assert_is!(beside_freed(1, past), Some(SimError::OutOfBounds { .. }));
    let freed = |lane: &SimLane<'_>, _, q: *mut u8| unsafe {
        lane.store_relaxed_32(q.cast(), 1);
    };
    assert_is!(beside_freed(1, freed), Some(SimError::OutOfBounds { .. }));
}

#[test]
fn a_misaligned_access_is_an_error() {
    ends_with!(
        |lane, p| lane.load_acquire_64(p.wrapping_byte_add(4)),
        SimError::Misaligned {
            bytes: 8,
            op: Op::LoadAcquire64,
            ..
        }
    );
}

#[test]
fn a_word_accessed_with_two_widths_is_an_error() {
    ends_with!(
        |lane, p| if lane.block_index() == 0 {
            lane.load_relaxed_32(p.wrapping_add(2).cast());
        } else {
            lane.add_relaxed_64(p.wrapping_add(2), 1);
        },
        SimError::MixedWidth { access, other, .. } => {
            let ops = (access.op, other);
            let known = matches!(ops, (Op::LoadRelaxed32, 64) | (Op::AddRelaxed64, 32));
            known && access.to_string().contains(" of `words`[")
        }
    );
}

#[test]
fn a_private_word_of_two_lanes_is_an_error() {
    ends_with!(
        |lane, p| {
            lane.fence();
            let mine = lane.thread_index() as usize;
            lane.private_store_32(p.cast::<u32>().wrapping_add(mine), 1);
        },
        SimError::NotPrivate { lane, owner: Owner::Lane(other), .. }
            => lane.thread == other.thread && lane.block != other.block
    );
}

#[test]
fn a_word_both_private_and_shared_is_an_error() {
    for shared_first in [true, false] {
        ends_with!(
            |lane, p| {
                if shared_first {
                    lane.load_relaxed_64(p);
                }
                lane.private_load_64(p);
                lane.load_relaxed_64(p)
            },
            SimError::NotPrivate { owner, .. } => shared_first == (*owner == Owner::Everyone)
        );
    }
}

#[test]
fn a_shared_word_past_the_end_is_an_error() {
    ends_with!(
        |lane, _p| lane.shared_store_32(lane.shared_words(), 1),
        SimError::SharedOutOfBounds {
            index: 4,
            words: 4,
            ..
        }
    );
}

#[test]
fn a_deadlock_names_what_each_lane_waits_for() {
    // Lane 0 waits for the warp, the others for the block.
    for error in errors(|lane, _| {
        if lane.thread_index() == 0 {
            unsafe { lane.sync_warp(0xF) };
        }
        unsafe { lane.barrier() };
    }) {
        let SimError::Deadlock { lanes } = &error else {
            panic!("{error}")
        };
        assert_eq!(lanes.len(), 8);
        for report in lanes {
            match &report.waiting {
                Waiting::Warp { access, missing } => {
                    assert_eq!(
                        (report.lane.thread, access.op, *missing),
                        (0, Op::SyncWarp, 0xE)
                    );
                }
                Waiting::Barrier { missing } => assert_eq!(*missing, 1),
                other => panic!("{other:?}"),
            }
        }
        let text = error.to_string();
        let first =
            "thread 0 of block 0 (warp 0, lane 0) waits at sync_warp with mask 0xf for lanes 0xe";
        assert!(
            text.contains(first) && text.contains("waits at the barrier for 1 threads"),
            "{text}"
        );
    }
}

#[test]
fn a_livelock_says_what_each_lane_did_last() {
    ends_with!(
        |lane, p| while lane.load_relaxed_64(p.wrapping_add(2)) == 0 {},
        SimError::Livelock { why: Stuck::NothingChanged(1000), lanes } => {
            let last = "after load_relaxed_64 of `words`[2] gave 0x0";
            lanes.len() == 8 && lanes.iter().any(|lane| lane.to_string().contains(last))
        }
    );
    ends_with!(
        |lane, p| loop {
            lane.add_relaxed_64(p, 1);
        },
        SimError::Livelock {
            why: Stuck::NoneEnded(5000),
            ..
        }
    );
}

/// Counts its end.
struct Dropped<'a>(&'a std::cell::Cell<u32>);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn a_panic_names_its_lane_and_every_lane_is_unwound() {
    let (begun, dropped) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    ends_with!(
        |lane, p| {
            begun.set(begun.get() + 1);
            let _counted = Dropped(&dropped);
            lane.barrier();
            let before = lane.fetch_add_relaxed_64(p, 1);
            assert!(before != 3, "the fourth lane fails");
            lane.barrier();
        },
        SimError::Panicked { message, .. } => message == "the fourth lane fails"
    );
    // A lane that had not begun has nothing to drop.
    assert_eq!(dropped.get(), begun.get());
    assert!(begun.get() >= 4 * Schedule::named(SCHEDULES).len() as u32);
}

struct Faulty;

impl Kernel for Faulty {
    const ENTRY: &'static str = "faulty";
    type Params = u64;

    fn run<L: Lane>(lane: &L, address: &u64) {
        // SAFETY: none: this is what is tested, and the simulator checks.
        unsafe { lane.load_relaxed_64(std::ptr::without_provenance(*address as usize)) };
    }
}

#[test]
fn a_device_that_is_lost_gives_the_line_that_replays_it() {
    let sim = sim(Schedule::Random, 77);
    // SAFETY: none: this is what is tested, and the simulator checks.
    let error = unsafe { sim.launch::<Faulty>(&Launch::new(1, 1), &16) }.unwrap_err();
    let Error::DeviceLost { during, code } = &error else {
        panic!("{error}")
    };
    assert_eq!(*during, format!("faulty on {}", sim.config()));
    assert!(code.contains("load_relaxed_64 at 0x10"), "{code}");
}

#[test]
fn a_launch_that_cannot_be_is_refused() {
    let sim = sim(Schedule::Random, 1);
    for launch in [
        Launch::new(0, 1),
        Launch::new(1, 0),
        Launch::new(1, 1025),
        Launch::new(9, 1024),
    ] {
        assert!(matches!(sim.run(&launch, |_| {}), Err(SimError::Launch(_))));
    }
    let big = shared(Launch::new(1, 1), 1 << 20);
    assert!(matches!(sim.run(&big, |_| {}), Err(SimError::Launch(_))));
    let error = sim.allocate(9 << 30, "too much").unwrap_err();
    assert_is!(
        error,
        Error::OutOfMemory {
            what: "too much",
            ..
        }
    );
}

/// Runs two lanes, each a block, on two neighbouring words, the first of them on its own.
fn on_neighbours(
    first: fn(&SimLane<'_>, *mut u32),
    second: fn(&SimLane<'_>, *mut u32),
) -> Result<(), SimError> {
    let sim = Sim::new(SimConfig::default().with_width(1));
    let words = Buffer::<_, u32>::zeroed(&sim, 2, "words").unwrap();
    let at = words.as_mut_ptr();
    let bodies = [first, second];
    let ran = sim.run(&Launch::new(2, 1), |lane| {
        bodies[lane.block_index() as usize](lane, at);
    });
    ran.map(|_| ())
}

#[test]
fn neighbouring_words_are_used_in_different_ways_and_what_covers_both_is_an_error() {
    let own = |lane: &SimLane<'_>, at: *mut u32| unsafe { lane.private_store_32(at, 1) };
    let whole = |lane: &SimLane<'_>, at: *mut u32| _ = unsafe { lane.private_load_64(at.cast()) };
    let beside = |lane: &SimLane<'_>, at: *mut u32| unsafe {
        lane.store_relaxed_32(at.wrapping_add(1), 2);
    };
    let own_beside = |lane: &SimLane<'_>, at: *mut u32| unsafe {
        lane.private_store_32(at.wrapping_add(1), 1);
    };
    assert_eq!(on_neighbours(own, beside), Ok(()));
    assert_eq!(on_neighbours(own, own_beside), Ok(()));
    for ended in [
        on_neighbours(whole, own_beside),
        on_neighbours(own, |lane, at| _ = unsafe { lane.load_relaxed_32(at) }),
        on_neighbours(own, |lane, at| unsafe {
            lane.store_relaxed_32(at.wrapping_add(1), 2);
            lane.private_store_32(at, 1);
        }),
    ] {
        assert_is!(ended, Err(SimError::NotPrivate { .. }));
    }
    let wide = |lane: &SimLane<'_>, at: *mut u32| _ = unsafe { lane.load_relaxed_64(at.cast()) };
    assert_is!(
        on_neighbours(beside, wide),
        Err(SimError::MixedWidth { .. })
    );
}

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
