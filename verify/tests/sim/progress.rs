//! Forward progress of the algorithms themselves, where lanes of one warp
//! conflict and cannot get out of each other's way (`progress.txt`).
//!
//! That the simulator shows the classic failures (the spin lock under a
//! reconvergence stack, the wait for a masked-off lane, scheme #3 of Xu et al.
//! 2014, section 2.2, under lockstep) is tested in `schedules.rs`. Here the
//! same conflicts go through transactions.

use crate::{passes, section, sections};
use stm_core::algorithm::{Algorithm, Granule, Variant};
use stm_core::with_algorithm;
use verify::program::{FailureKind, run};

/// Returns the transactions of a row.
fn repeated(row: &str) -> String {
    match row.split_once(" x ") {
        None => row.to_owned(),
        Some((before, again)) => {
            let (first, times) = before.rsplit_once(" / ").unwrap_or(("", before));
            let again = vec![again; times.parse().unwrap()].join(" / ");
            format!(
                "{first}{}{again}",
                if first.is_empty() { "" } else { " / " }
            )
        }
    }
}

/// Runs transactions as a row says, and returns how many cases that were.
fn completes(row: &str, transactions: &str) -> u64 {
    let [variants, head, schedules, times, width] = row.split(" : ").collect::<Vec<_>>()[..] else {
        panic!("{row}")
    };
    // All whose lanes run transactions together.
    let together = |variant: &Variant| with_algorithm!(*variant, A => <A as Algorithm>::GRANULE != Granule::Block);
    let all = Variant::ALL.iter().filter(|variant| together(variant));
    let variants: Vec<&str> = match variants {
        "*" => all.map(|variant| variant.name()).collect(),
        some => some.split(' ').collect(),
    };
    let (seeds, length) = times.split_once(' ').unwrap();
    let (seeds, length): (u64, u64) = (seeds.parse().unwrap(), length.parse().unwrap());
    let (steps, idle) = (length * 100_000, length * 20_000);
    let mut cases = 0;
    for variant in variants {
        for schedule in schedules.split(' ') {
            for seed in 0..seeds {
                let line = format!(
                    "{variant} {head} : {transactions} : \
                     sim:w{width},{schedule},weak30,seed={seed},steps={steps},idle={idle}"
                );
                assert!(!passes(&line).unfair, "{line}");
                cases += 1;
            }
        }
    }
    cases
}

/// Runs the rows of a test.
fn all_complete(name: &str) {
    let (mut row, mut cases) = ("", 0);
    for line in section(include_str!("progress.txt"), name) {
        if let Some(next) = line.strip_prefix("> ") {
            row = next;
        } else if let Some(transactions) = line.strip_prefix("- ") {
            cases += completes(row, &repeated(transactions));
        }
    }
    assert!(cases >= 200, "{name}: {cases} cases");
}

sections! {
    all_complete:
    lanes_that_lock_in_opposite_order_always_complete
    lanes_that_read_what_the_other_writes_always_complete
    a_whole_warp_on_two_words_completes
    sorted_locks_complete_without_the_warps_help
    the_backoff_scheme_takes_turns_even_with_one_try_at_the_locks
    the_coarse_lock_needs_turns_under_a_stack
    a_hot_word_and_a_long_audit_complete
    teams_in_each_others_way_complete
}

#[test]
fn without_turns_the_coarse_lock_hangs_under_a_stack() {
    let transactions = repeated("4 x r0 w0+1");
    for seed in 0..50 {
        let line = format!(
            "cgl 1x4 own init=0 : {transactions} : sim:w4,stack,sc,seed={seed},steps=20000,idle=5000"
        );
        let failure = run(&line.parse().unwrap()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Livelock, "{line}: {failure}");
    }
}

/// Lanes of a warp that want each other's words fail together in every round, while the others
/// commit and so keep the warp's width. One of them must sit out in the end.
#[test]
fn two_lanes_in_each_others_way_do_not_wait_for_the_others() {
    let crossed = ["r0 w0+1 r1 w1+1", "r1 w1+1 r0 w0+1"].map(str::to_owned);
    let own = (2..8).map(|word| format!("r{word} w{word}+1"));
    // Transaction i is of lane i % 8. Those behind the first are on words of the lane's own.
    let rest = (8..10).chain(2..8).cycle().take(8 * 60);
    let rest = rest.map(|word| format!("r{word} w{word}+1"));
    let lanes: Vec<_> = crossed.into_iter().chain(own).chain(rest).collect();
    let init = ["0"; 10].join(",");
    for variant in ["fast", "fast-table"] {
        for seed in 0..8 {
            let done = passes(&format!(
                "{variant} 1x8 each locks=64 retry_limits=4/1000 init={init} : {} : \
                 sim:w8,lockstep,sc,seed={seed},steps=1000000,idle=200000",
                lanes.join(" / ")
            ));
            // Two transactions fail sixteen times, and one of them once or a few times more.
            let failed = done.attempts - done.transactions;
            assert!(
                (32..60).contains(&failed),
                "{variant} {seed}: {failed} failed"
            );
        }
    }
}
