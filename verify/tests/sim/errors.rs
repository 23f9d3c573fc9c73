//! Each way to misuse the machine ends the launch with its own error, which names the lanes; and
//! the machine can be used again. So it is with the operations at which the lanes of a warp or a block meet.
// The simulator checks each operation of a warp or a block, and the tests make wrong ones.
#![allow(clippy::undocumented_unsafe_blocks)]

use crate::litmus::At;
use crate::prelude::*;
use verify::sim::SimErrorKind::{Launch as NoLaunch, OutOfBounds, Panicked};

fn sim(schedule: Schedule, seed: u64) -> Sim {
    let config = SimConfig::of(4, schedule).with_seed(seed);
    Sim::new(config.with_limits(5000, 1000))
}

const FOURS: Launch = Launch::new(2, 4);

const SCHEDULES: &str = "lockstep stack starve32 random pct2x100";

/// The error of a kernel on 4 words of 64 bits, under every schedule.
fn errors(launch: Launch, kernel: impl Fn(&SimLane<'_>, *mut u64)) -> Vec<SimError> {
    let run = |schedule| {
        let sim = sim(schedule, 9);
        let words = Buffer::<_, u64>::zeroed(&sim, 4, "words").unwrap();
        let p = words.as_mut_ptr();
        let error = sim.run(&shared(launch, 16), |lane| kernel(lane, p));
        let error = error.unwrap_err();
        assert_eq!(sim.last_run().unwrap().1, Err(error.clone()));
        // The machine is as good as new.
        let again = sim.run(&FOURS, |lane| {
            // SAFETY: a live 64-bit word.
            unsafe { lane.fetch_add_relaxed_64(p, 1) };
        });
        assert_eq!(again.unwrap().steps, 8);
        error
    };
    Schedule::named(SCHEDULES).into_iter().map(run).collect()
}

/// What the lanes of the blocks do, in the letters of `litmus.txt` and of `errors.txt`.
pub(crate) fn letters(blocks: &str) -> impl Fn(&SimLane<'_>, *mut u64) {
    let blocks = blocks
        .split(" | ")
        .map(|block| block.split(" / ").collect());
    let blocks: Vec<Vec<&str>> = blocks.collect();
    move |lane, words| {
        let at = At::new(lane, words, false, &[]);
        let threads = &blocks[lane.block_index() as usize % blocks.len()];
        let thread = threads[lane.thread_index() as usize % threads.len()];
        thread.split(' ').for_each(|text| at.execute(text));
    }
}

#[test]
fn what_the_table_names_is_an_error_of_its_kind() {
    let rows = include_str!("errors.txt").lines();
    for row in rows.filter(|row| !row.starts_with('#')) {
        let (rest, threads) = row.rsplit_once(": ").unwrap();
        let (kind, says) = rest.split_once(": ").unwrap();
        let block = threads.split(" | ").next().unwrap();
        let in_block = block.split(" / ").count() as u32;
        let cluster = if threads.contains('K') { 2 } else { 1 };
        let launch = Launch::new(2, in_block.max(4)).with_cluster(cluster);
        for error in errors(launch, letters(threads)) {
            let said = |all: &str| all.split(" | ").all(|part| error.text.contains(part));
            let all = says.split(" or ").any(said);
            assert!(format!("{:?}", error.kind) == kind && all, "{row}: {error}");
        }
    }
}

#[test]
fn an_access_past_the_end_and_one_of_a_freed_allocation_are_outside_every_allocation() {
    let bodies: [fn(&SimLane<'_>, *mut u8, *mut u8); 2] = [
        |lane, bytes, _| unsafe { lane.private_store_32(bytes.wrapping_add(4).cast(), 1) },
        |lane, _, freed| unsafe { lane.store_relaxed_32(freed.cast(), 1) },
    ];
    for body in bodies {
        let sim = sim(Schedule::Random, 1);
        let bytes = Buffer::<_, u8>::zeroed(&sim, 5, "bytes").unwrap();
        let freed = Buffer::<_, u8>::zeroed(&sim, 5, "freed").unwrap();
        let (p, q) = (bytes.as_mut_ptr(), freed.as_mut_ptr());
        drop(freed);
        let error = sim.run(&Launch::new(1, 1), |lane| body(lane, p, q));
        assert_eq!(error.unwrap_err().kind, OutOfBounds);
    }
}

struct Dropped<'a>(&'a Cell<u32>);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn a_panic_names_its_lane_and_every_lane_is_unwound() {
    let (begun, dropped) = (Cell::new(0), Cell::new(0));
    let ended = errors(FOURS, |lane, p| unsafe {
        begun.set(begun.get() + 1);
        let _counted = Dropped(&dropped);
        lane.barrier();
        let before = lane.fetch_add_relaxed_64(p, 1);
        assert!(before != 3, "the fourth lane fails");
        lane.barrier();
    });
    let says = "panicked: the fourth lane fails";
    let is_it = |error: &SimError| error.kind == Panicked && error.text.contains(says);
    assert!(ended.iter().all(is_it), "{ended:?}");
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
    assert_says(code, &["load_relaxed_64 at 0x10"]);
}

#[test]
fn a_launch_that_cannot_be_is_refused() {
    let sim = sim(Schedule::Random, 1);
    let clusters = |blocks, cluster| Launch::new(blocks, 1).with_cluster(cluster);
    for (launch, part) in [
        (Launch::new(0, 1), "0 blocks: "),
        (Launch::new(1, 0), "0 threads a block: "),
        (Launch::new(1, 1025), "1025 threads a block"),
        (Launch::new(9, 1024), "9216 threads in all"),
        (shared(Launch::new(1, 1), 1 << 20), "bytes of shared memory"),
        (clusters(4, 0), "0 blocks a cluster: "),
        (clusters(34, 17), "17 blocks a cluster are more"),
        (clusters(9, 4), "a multiple of the cluster's blocks"),
    ] {
        let error = sim.run(&launch, |_| {}).unwrap_err();
        assert_eq!(error.kind, NoLaunch);
        assert_says(error, &[part]);
    }
    sim.run(&clusters(32, 16), |_| {}).unwrap();
    let error = sim.allocate(9 << 30, "too much").unwrap_err();
    assert_says(error, &["too much"]);
}
