//! Each way to misuse the machine ends the launch with its own error, which
//! names the lanes; and the machine can be used again.
// The simulator checks each operation of a warp or a block, and the tests make wrong ones.
#![allow(clippy::undocumented_unsafe_blocks)]

mod meetings;

use crate::assert_is;
use stm_core::Lane;
use stm_core::host::{Buffer, Device, Error, Launch};
use stm_core::kernel::Kernel;
use verify::sim::{Op, Owner, Schedule, Sim, SimConfig, SimError, SimLane, Stuck, Waiting};

fn sim(schedule: Schedule, seed: u64) -> Sim {
    Sim::new(SimConfig {
        warp_width: 4,
        schedule,
        seed,
        steps_max: 5000,
        idle_max: 1000,
        ..SimConfig::default()
    })
}

const SCHEDULES: [Schedule; 5] = [
    Schedule::Lockstep,
    Schedule::Stack,
    Schedule::starve(32),
    Schedule::Random,
    Schedule::pct(2, 100),
];

/// The error of a kernel of two blocks of four lanes, which gets a buffer of 4
/// 64-bit words; under every schedule.
fn errors(kernel: impl Fn(&SimLane<'_>, *mut u64)) -> Vec<SimError> {
    let run = |schedule| {
        let sim = sim(schedule, 9);
        let words = Buffer::<_, u64>::zeroed(&sim, 4, "words").unwrap();
        let p = words.as_mut_ptr();
        let error = sim
            .run(
                &Launch {
                    shared_bytes: 16,
                    ..Launch::new(2, 4)
                },
                |lane| kernel(lane, p),
            )
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
    SCHEDULES.into_iter().map(run).collect()
}

#[test]
fn an_access_outside_every_allocation_is_an_error() {
    for past in [32, 36, 4096, 1 << 40] {
        for error in errors(|lane, p| {
            // SAFETY: none: this is what is tested, and the simulator checks.
            unsafe { lane.load_relaxed_32(p.wrapping_byte_add(past).cast()) };
        }) {
            assert_is!(
                error,
                SimError::OutOfBounds {
                    op: Op::LoadRelaxed32,
                    ..
                }
            );
            let near = format!(
                "{} bytes past the end of `words`, which has 32 bytes",
                past - 32
            );
            assert!(error.to_string().contains(&near), "{error}");
        }
    }
    for error in errors(|lane, _| {
        // SAFETY: as above.
        unsafe { lane.store_relaxed_64(std::ptr::without_provenance_mut(64), 1) };
    }) {
        assert_is!(error, SimError::OutOfBounds { address: 64, .. });
    }
}

#[test]
fn an_access_that_ends_past_its_allocation_is_an_error() {
    let sim = sim(Schedule::Random, 1);
    let bytes = Buffer::<_, u8>::zeroed(&sim, 5, "bytes").unwrap();
    let p = bytes.as_mut_ptr();
    // SAFETY: none: this is what is tested, and the simulator checks.
    let error = sim.run(&Launch::new(1, 1), |lane| unsafe {
        lane.private_store_32(p.wrapping_add(4).cast(), 1);
    });
    assert_is!(error, Err(SimError::OutOfBounds { .. }));
}

#[test]
fn a_freed_allocation_is_outside_every_allocation() {
    let sim = sim(Schedule::Random, 1);
    let keeps = Buffer::<_, u32>::zeroed(&sim, 1, "keeps").unwrap();
    let p = Buffer::<_, u32>::zeroed(&sim, 1, "freed")
        .unwrap()
        .as_mut_ptr();
    // SAFETY: none: this is what is tested, and the simulator checks.
    let error = sim.run(&Launch::new(1, 1), |lane| unsafe {
        lane.store_relaxed_32(p, 1);
    });
    assert_is!(error, Err(SimError::OutOfBounds { .. }));
    drop(keeps);
}

#[test]
fn a_misaligned_access_is_an_error() {
    for error in errors(|lane, p| {
        // SAFETY: none: this is what is tested, and the simulator checks.
        unsafe { lane.load_acquire_64(p.wrapping_byte_add(4)) };
    }) {
        assert_is!(
            error,
            SimError::Misaligned {
                bytes: 8,
                op: Op::LoadAcquire64,
                ..
            }
        );
    }
}

#[test]
fn a_word_accessed_with_two_widths_is_an_error() {
    for error in errors(|lane, p| {
        // SAFETY: live words; the widths are what is tested.
        unsafe {
            if lane.block_index() == 0 {
                lane.load_relaxed_32(p.wrapping_add(2).cast());
            } else {
                lane.add_relaxed_64(p.wrapping_add(2), 1);
            }
        }
    }) {
        let SimError::MixedWidth { access, other, .. } = &error else {
            panic!("{error}")
        };
        assert!(
            matches!(
                (access.op, other),
                (Op::LoadRelaxed32, 64) | (Op::AddRelaxed64, 32)
            ),
            "{error}"
        );
        assert!(error.to_string().contains("of `words`["), "{error}");
    }
}

#[test]
fn a_private_word_of_two_lanes_is_an_error() {
    for error in errors(|lane, p| {
        lane.fence();
        // SAFETY: live words; the sharing is what is tested.
        unsafe {
            lane.private_store_32(
                p.cast::<u32>().wrapping_add(lane.thread_index() as usize),
                1,
            );
        };
    }) {
        let SimError::NotPrivate {
            lane,
            owner: Owner::Lane(other),
            ..
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!(lane.thread, other.thread);
        assert_ne!(lane.block, other.block);
    }
}

#[test]
fn neighbouring_private_halves_belong_to_two_lanes_and_a_whole_to_one() {
    let run = |wide: bool| {
        let sim = sim(Schedule::Random, 1);
        let words = Buffer::<_, u32>::zeroed(&sim, 2, "words").unwrap();
        let p = words.as_mut_ptr();
        // SAFETY: live words; the sharing is what is tested.
        sim.run(&Launch::new(1, 2), |lane| unsafe {
            if wide && lane.thread_index() == 0 {
                lane.private_load_64(p.cast());
            } else {
                lane.private_load_32(p.wrapping_add(lane.thread_index() as usize));
            }
        })
    };
    assert!(run(false).is_ok());
    assert!(matches!(run(true), Err(SimError::NotPrivate { .. })));
}

#[test]
fn a_word_both_private_and_shared_is_an_error() {
    for shared_first in [true, false] {
        for error in errors(|lane, p| {
            // SAFETY: live words; the sharing is what is tested.
            unsafe {
                if shared_first {
                    lane.load_relaxed_64(p);
                }
                lane.private_load_64(p);
                lane.load_relaxed_64(p);
            }
        }) {
            let SimError::NotPrivate { owner, .. } = &error else {
                panic!("{error}")
            };
            assert_eq!(shared_first, *owner == Owner::Everyone, "{error}");
        }
    }
}

#[test]
fn a_shared_word_past_the_end_is_an_error() {
    // SAFETY: none: this is what is tested, and the simulator checks.
    for error in errors(|lane, _| unsafe { lane.shared_store_32(lane.shared_words(), 1) }) {
        assert_is!(
            error,
            SimError::SharedOutOfBounds {
                index: 4,
                words: 4,
                ..
            }
        );
    }
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
    let waits = errors(|lane, p| {
        // SAFETY: a live word, used with 64 bits.
        while unsafe { lane.load_relaxed_64(p.wrapping_add(2)) } == 0 {}
    });
    for error in waits {
        assert!(
            matches!(&error, SimError::Livelock { why: Stuck::NothingChanged(1000), lanes } if lanes.len() == 8)
        );
        assert!(
            error
                .to_string()
                .contains("after load_relaxed_64 of `words`[2] gave 0x0"),
            "{error}"
        );
    }
    let changes = errors(|lane, p| {
        loop {
            // SAFETY: as above.
            unsafe { lane.add_relaxed_64(p, 1) };
        }
    });
    for error in changes {
        assert_is!(
            error,
            SimError::Livelock {
                why: Stuck::NoneEnded(5000),
                ..
            }
        );
    }
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
    for error in errors(|lane, p| {
        begun.set(begun.get() + 1);
        let _counted = Dropped(&dropped);
        unsafe { lane.barrier() };
        // SAFETY: a live word, used with 64 bits.
        let before = unsafe { lane.fetch_add_relaxed_64(p, 1) };
        assert!(before != 3, "the fourth lane fails");
        unsafe { lane.barrier() };
    }) {
        let SimError::Panicked { message, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(message, "the fourth lane fails");
    }
    // A lane that had not begun has nothing to drop.
    assert_eq!(dropped.get(), begun.get());
    assert!(begun.get() >= 4 * SCHEDULES.len() as u32);
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
    let big = Launch {
        shared_bytes: 1 << 20,
        ..Launch::new(1, 1)
    };
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
