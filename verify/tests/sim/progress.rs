//! Forward progress of the algorithms themselves, where lanes of one warp
//! conflict and cannot get out of each other's way.
//!
//! That the simulator shows the classic failures (the spin lock under a
//! reconvergence stack, the wait for a masked-off lane, scheme #3 of Xu et al.
//! 2014, section 2.2, under lockstep) is tested in `schedules.rs`. Here the
//! same conflicts go through transactions.

use stm_core::algorithm::{Algorithm, Granule, Variant};
use stm_core::with_algorithm;
use verify::program::{Case, FailureKind, run};
use verify::sim::Schedule;

/// Runs `line` with each schedule and many seeds; all of it must end.
fn always_completes(head: &str, transactions: &str, schedules: &[Schedule], width: u32) {
    completes(head, transactions, schedules, width, (200, 1));
}

/// The same with so many seeds, and that many times the operations.
fn completes(
    head: &str,
    transactions: &str,
    schedules: &[Schedule],
    width: u32,
    (seeds, length): (u64, u64),
) {
    for schedule in schedules {
        for seed in 0..seeds {
            let (steps, idle) = (length * 100_000, length * 20_000);
            let line = format!(
                "{head} : {transactions} : sim:w{width},{schedule},weak30,seed={seed},steps={steps},idle={idle}"
            );
            let case: Case = line.parse().unwrap();
            match run(&case) {
                Ok(done) => assert!(!done.unfair, "{}", case.command()),
                Err(failure) => panic!("{failure}\n{}", case.command()),
            }
        }
    }
}

const TOGETHER: [Schedule; 2] = [Schedule::Lockstep, Schedule::Stack];

/// All whose lanes run transactions together.
fn all() -> impl Iterator<Item = Variant> {
    let together = |variant: &Variant| with_algorithm!(*variant, A => <A as Algorithm>::GRANULE != Granule::Block);
    Variant::ALL.iter().copied().filter(together)
}

/// The pattern of section 2.2: two words in opposite order.
#[test]
fn lanes_that_lock_in_opposite_order_always_complete() {
    for variant in all() {
        let head = format!("{variant} 1x2 each locks=8 retry_limits=4/4 init=0,0");
        always_completes(&head, "r0 w0+1 r1 w1+1 / r1 w1+1 r0 w0+1", &TOGETHER, 2);
        always_completes(&head, "w0=1 w1=1 / w1=2 w0=2", &TOGETHER, 2);
    }
}

/// The pattern of section 3.2.2: T1 reads Y and writes X, T2 reads X and writes Y.
#[test]
fn lanes_that_read_what_the_other_writes_always_complete() {
    for variant in all() {
        let head = format!("{variant} 1x2 each locks=8 retry_limits=4/4 init=0,0");
        always_completes(&head, "r1 w0+1 / r0 w1+1", &TOGETHER, 2);
    }
}

/// As above, with a whole warp on two words.
#[test]
fn a_whole_warp_on_two_words_completes() {
    let half = "r0 w0+1 r1 w1+1 / r1 w1+1 r0 w0+1";
    let all = [half; 16].join(" / ");
    for variant in ["hv-sorting", "hv-backoff", "fast", "fast-table"] {
        let head = format!("{variant} 1x32 each locks=8 retry_limits=4/4 init=0,0");
        always_completes(&head, &all, &[Schedule::Lockstep], 32);
    }
}

/// Sorted locks need no turns: lanes that loop on their own complete as well.
#[test]
fn sorted_locks_complete_without_the_warps_help() {
    for variant in ["hv-sorting", "tbv-sorting", "fast", "fast-table"] {
        let head = format!("{variant} 1x2 own locks=8 retry_limits=4/4 init=0,0");
        always_completes(&head, "w0=1 w1=1 / w1=2 w0=2", &[Schedule::Lockstep], 2);
        always_completes(&head, "r1 w0+1 / r0 w1+1", &[Schedule::Lockstep], 2);
    }
}

/// The back-off is what keeps `hv-backoff` from scheme #3's livelock, so there
/// is a round of turns however few tries at the locks are allowed: with one,
/// and no turns, two lanes in lockstep took each other's locks for ever.
#[test]
fn the_backoff_scheme_takes_turns_even_with_one_try_at_the_locks() {
    let head = "hv-backoff 1x2 each locks=8 retry_limits=1/1 init=0,0";
    always_completes(head, "r1 w0~ / r0 w1~", &TOGETHER, 2);
}

/// The coarse lock: each lane spinning for it on its own hangs under a
/// reconvergence stack; lanes that take turns (scheme #2) do not.
#[test]
fn the_coarse_lock_needs_turns_under_a_stack() {
    let transactions = "r0 w0+1 / r0 w0+1 / r0 w0+1 / r0 w0+1";
    always_completes("cgl 1x4 each init=0", transactions, &TOGETHER, 4);
    for seed in 0..50 {
        let line = format!(
            "cgl 1x4 own init=0 : {transactions} : sim:w4,stack,sc,seed={seed},steps=20000,idle=5000"
        );
        let failure = run(&line.parse().unwrap()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Livelock, "{line}: {failure}");
    }
}

/// A hot word, and a long read-only audit beside writers that never rest: the
/// gate serves each of them in the end.
#[test]
fn a_hot_word_and_a_long_audit_complete() {
    let hot = ["r0 w0+1"; 24].join(" / ");
    let audit = format!("r0 r1 r2 r3 / {}", ["w0~ w1~ w2~ w3~"; 23].join(" / "));
    for variant in ["fast", "fast-table"] {
        let head = format!("{variant} 3x4 each locks=8 retry_limits=2/3 init=0,0,0,0");
        let schedules = [
            Schedule::Lockstep,
            Schedule::Stack,
            Schedule::Random,
            Schedule::starve(64),
        ];
        always_completes(&head, &hot, &schedules, 4);
        always_completes(&head, &audit, &schedules, 4);
    }
}

/// The same between teams, each lane of which holds up all others of its team:
/// crossed pairs, opposite orders, a hot word, and a long audit beside writers.
#[test]
fn teams_in_each_others_way_complete() {
    let hot = ["r0 w0+1"; 12].join(" / ");
    let audit = format!("r0 r1 r2 r3 / {}", ["w0~ w1~ w2~ w3~"; 11].join(" / "));
    let crossed = ["r1 w0+1 / r0 w1+1"; 4].join(" / ");
    let opposite = ["w0=1 w1=1 / w1=2 w0=2"; 4].join(" / ");
    let schedules = [
        Schedule::Lockstep,
        Schedule::Stack,
        Schedule::Random,
        Schedule::starve(64),
    ];
    for variant in ["fast", "fast-table"] {
        for (locks, width) in [(8, 2), (1, 2), (8, 4)] {
            let threads = 2 * width;
            let head =
                format!("{variant} 2x{threads} team locks={locks} retry_limits=2/3 init=0,0,0,0");
            for transactions in [&hot, &audit, &crossed, &opposite] {
                // Each lane of a team makes all of its steps.
                completes(&head, transactions, &schedules, width, (30, 20));
            }
        }
        // Blocks of one warp, and of two of which one is short.
        for (locks, threads) in [(8, 2), (1, 3)] {
            let head =
                format!("{variant} 2x{threads} block locks={locks} retry_limits=2/3 init=0,0,0,0");
            for transactions in [&hot, &audit, &crossed, &opposite] {
                completes(&head, transactions, &schedules, 2, (20, 20));
            }
        }
    }
}
