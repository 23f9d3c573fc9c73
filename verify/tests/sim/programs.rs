//! Random transaction programs on the simulator: every variant, both regimes of
//! values, random warps, stripes, schedules and weak memory.
//!
//! After each run: no lock held and counts that add up, every transaction committed once and did
//! what it says, a history that is opaque, and a memory that is what the commits leave. A failure
//! prints the line that replays the smallest case found.
//!
//! And a directed program for every known hole: the right algorithms pass each of
//! them under many simulations. That each can fail is what the mutants gate
//! (`mutants.rs`) shows, with the same programs.
//!
//! And forward progress, where lanes of one warp conflict and cannot get out of each other's way
//! (`progress.txt`). That the simulator shows the classic failures (the spin lock under a
//! reconvergence stack, the wait for a masked-off lane, scheme #3 of Xu et al. 2014, section 2.2,
//! under lockstep) is tested in `schedules.rs`. Here the same conflicts go through transactions.

use crate::{assert_replays, first_failure, passes, section, sections};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use stm_core::algorithm::{Algorithm, Granule, Variant};
use stm_core::internal::observe::Mutant;
use stm_core::with_algorithm;
use verify::fuzz::{self, Config};
use verify::program::directed::{ALL, Directed};
use verify::program::shrink::shrink;
use verify::program::{Case, FailureKind, Invariant, Op, Widths, generate, run};

proptest! {
    #[test]
    fn a_printed_case_parses_to_the_same_case(seed in any::<u64>(), which in 0..ALL.len()) {
        for mutant in [None, Some(Mutant::ALL[seed as usize % Mutant::ALL.len()])] {
            for &variant in Variant::ALL {
                for case in [
                    generate::case(variant, mutant, seed),
                    generate::silent_case(variant, mutant, seed),
                    ALL[which].case(variant, mutant, seed),
                ] {
                    prop_assert_eq!(case.to_string().parse::<Case>().unwrap(), case);
                }
            }
        }
    }
}

/// CI's step `fuzz` has a million transactions.
#[test]
fn random_programs_have_no_violation() {
    // The same ones each time, and then others.
    let other = RandomState::new().build_hasher().finish();
    for (seed, transactions) in [(0x5eed, 1 << 17), (other, 1 << 19)] {
        let config = Config {
            transactions: Some(transactions),
            threads: std::thread::available_parallelism().map_or(2, usize::from),
            ..Config::new(Variant::ALL, seed)
        };
        let report = fuzz::fuzz(&config, |_, _| {});
        println!("{report}");
        assert!(report.found.is_none(), "{report}");
        let total = report.total();
        assert!(total.transactions >= transactions);
        // Runs that say nothing must stay the exception.
        assert!(total.unfair * 100 < total.schedules, "{report}");
    }
}

#[test]
fn the_bits_of_versions_can_be_chosen_and_nothing_else_changes() {
    let mut config = Config::new(&[Variant::Fast], 1);
    let drawn: Vec<Case> = (0..500).map(|k| fuzz::case(&config, k)).collect();
    config.version_bits = Some(3..=8);
    let mut bits = BTreeSet::new();
    for (k, mut case) in (0..).zip(drawn) {
        let narrow = fuzz::case(&config, k);
        bits.insert(narrow.sim.version_bits);
        case.sim.version_bits = narrow.sim.version_bits;
        assert_eq!(narrow, case);
    }
    assert_eq!(bits, (3..=8).collect());
}

/// A lane loads its snapshot and does nothing until eight stores to the clock
/// have come after. `fuzz --version-bits 3..8` found that its sample was newer.
#[test]
fn a_sample_of_the_clock_is_no_newer_than_the_snapshot_of_a_lane_that_was_suspended() {
    for bits in [5, 7, 31] {
        let line = format!(
            "fast 1x3 each u32 stripe=1 locks=8 sets=8/8 retry_limits=2/8 init=0,0,0 : \
             r1 / - / - / - / w0=4 / r0 r2 / - / w0=5 / - / - / w1=1 w2=1 / - / - / - / - / - / - \
             / - / - / - / - / - / - / - / - / w0=1 / - / - / w1=2 w2=2 / - / - / w0=3 / - / - / \
             w0=4 / - / - / w1=1 w2=1 / - / - / w0=5 / - / - / w0=6 : \
             sim:w1,pct5x90,weak70,votes=relaxed,versions={bits},seed=0x92a95596af8bb639,\
             steps=1000000,idle=300000"
        );
        passes(&line);
    }
}

#[test]
fn a_case_replays_to_the_same_operation() {
    for seed in 0..200 {
        for &variant in Variant::ALL {
            for case in [
                generate::case(variant, None, seed),
                generate::silent_case(variant, None, seed),
            ] {
                let replayed: Case = case.to_string().parse().unwrap();
                assert_eq!(run(&case), run(&replayed), "{case}");
            }
        }
    }
}

#[test]
fn a_failure_shrinks_to_a_smaller_case_whose_line_replays_it() {
    // The first random program that shows a second write gone astray.
    let defect = Some(Mutant::WriteAtReadPosition);
    let cases = (0..).map(|seed| generate::case(Variant::HvSorting, defect, seed));
    let (first, failure) = first_failure(cases).unwrap();
    let (case, failure) = shrink(&first, failure);
    let ops = |case: &Case| -> usize { case.program.transactions.iter().map(Vec::len).sum() };
    assert!(
        ops(&case) <= 4 && ops(&case) <= ops(&first),
        "{first}\n{case}"
    );
    assert_eq!(case.program.transactions.len(), 1, "{case}");
    let replayed = case.to_string().parse::<Case>().unwrap();
    assert_eq!(run(&replayed), Err(failure));
}

#[test]
fn fuzzing_finds_a_defect_and_stops() {
    let report = fuzz::fuzz(
        &Config {
            mutant: Some(Mutant::LockedStripeRead),
            transactions: Some(10_000_000),
            threads: 2,
            ..Config::new(&[Variant::HvSorting], 3)
        },
        |_, _| {},
    );
    let found = report.found.unwrap();
    // As a recorded program or as a silent one.
    let kinds = [FailureKind::NotOpaque, FailureKind::Invariant];
    assert!(kinds.contains(&found.failure.kind), "{}", found.failure);
    let command = found.case.command();
    assert!(command.starts_with("cargo run -p verify -- replay '"));
}

#[test]
fn one_entry_too_many_is_expected_to_be_reported() {
    for (name, overflows) in [
        ("sets-just-full", false),
        ("one-read-too-many", true),
        ("one-write-too-many", true),
    ] {
        let directed = Directed::named(name).unwrap();
        let Case { program, sim, .. } = directed.case(Variant::HvSorting, None, 1);
        let found = program.launch_overflows(Variant::HvSorting, sim.warp_width, 0);
        assert_eq!(found, overflows, "{name}");
    }
}

#[test]
fn a_bad_line_is_refused_with_the_bad_part() {
    let rows = include_str!("bad_lines.txt").lines();
    let rows: Vec<_> = rows.filter_map(|row| row.split_once(" => ")).collect();
    assert_eq!(rows.len(), 36);
    for (line, part) in rows {
        let error = line.parse::<Case>().unwrap_err().to_string();
        assert!(error.contains(part), "{line}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn random_cases_come_in_every_kind() {
    let cases =
        |case: fn(u64) -> Case| (0..2000u64).map(move |k| case(k.wrapping_mul(0x9E37_79B9)));
    let recorded = |seed| generate::case(Variant::Fast, None, seed);
    let silent = |seed| generate::silent_case(Variant::Fast, None, seed);
    let count = |is: &dyn Fn(&Case) -> bool| {
        [recorded as fn(u64) -> Case, silent].map(|case| cases(case).filter(|c| is(c)).count())
    };
    for widths in [Widths::Narrow, Widths::Wide, Widths::Mixed] {
        let of = count(&|case| case.program.widths == widths);
        assert!(of.iter().all(|&n| n > 400), "{widths:?}: {of:?}");
    }
    for wide in [false, true] {
        let of = |case: &Case| case.sim.wide_atomics == wide && case.program.widths == Widths::Wide;
        let of = count(&of);
        assert!(
            of.iter().all(|&n| n > 200),
            "atomics of 128 bits {wide}: {of:?}"
        );
    }
    let launches = count(&|case| case.program.launches > 1);
    assert!(launches.iter().all(|&n| n > 400), "{launches:?}");
    // More words than the sets have on the stack, in one transaction.
    let long = count(&|case| {
        let distinct = |ops: &Vec<Op>| {
            let words = ops.iter().filter(|op| !op.is_of_sums()).flat_map(Op::words);
            words.collect::<BTreeSet<_>>().len()
        };
        let mut transactions = case.program.transactions.iter();
        transactions.any(|ops| distinct(ops) > 16)
    });
    assert!(long.iter().all(|&n| n > 50), "{long:?}");
    for &invariant in <Invariant as clap::ValueEnum>::value_variants() {
        let [recorded, silent] = count(&|case| case.program.silent == Some(invariant));
        assert!(recorded == 0 && silent > 200, "{invariant:?}: {silent}");
    }
    let alternatives = |case: &Case| {
        let mut ops = case.program.transactions.iter().flatten();
        ops.any(|op| *op == Op::Either)
    };
    for kind in [
        count(&|case| alternatives(case) && !case.program.calls.is_of_teams()),
        count(&|case| alternatives(case) && case.program.calls.is_of_teams()),
    ] {
        assert!(kind.iter().all(|&n| n > 40), "alternatives: {kind:?}");
    }
    let teams = count(&|case| case.program.calls.is_of_teams());
    assert!(teams.iter().all(|&n| n > 100), "{teams:?}");
}

#[test]
fn random_programs_of_both_kinds_find_an_alternative_that_keeps_its_writes() {
    let mutant = Mutant::OrElseKeepsWrites;
    for (variant, silent) in [
        (Variant::Fast, false),
        (Variant::Fast, true),
        (Variant::FastTable, false),
        (Variant::FastTable, true),
    ] {
        let of = |seed: u64| {
            let seed = seed.wrapping_mul(0x9E37_79B9);
            if silent {
                generate::silent_case(variant, Some(mutant), seed)
            } else {
                generate::case(variant, Some(mutant), seed)
            }
        };
        let (case, failure) = first_failure((0..500).map(of)).unwrap();
        let (small, failure) = shrink(&case, failure);
        let ops = || small.program.transactions.iter().flatten();
        assert!(ops().any(|op| *op == Op::Either), "{small}");
        let right = Case {
            mutant: None,
            ..small.clone()
        };
        assert_replays(&small, &failure);
        assert!(run(&right).is_ok(), "{right}");
    }
}

#[test]
fn an_alternative_is_undone_and_read_again_under_every_variant() {
    // What the first alternatives write would be seen in the last transaction,
    // and the second ones must see what was there before.
    for variant in Variant::ALL {
        for transactions in [
            "r0 ( w0=7 r0 o0 | r0 w1+1 ) / r0 r1",
            "r0 ( w0=7 ( w1=9 r01 o1 | w1=8 e1 ) | r01 w1+1 ) / r0 r1",
            "r0 ( a0=5 s0 e0 | s0 w1+1 ) / s0 r1",
        ] {
            let line = format!(
                "{variant} 1x1 own init=0,0 sums=1 row=1 sets=16/16 : {transactions} : sim:w1"
            );
            let done = passes(&line);
            assert_eq!((done.transactions, done.attempts), (2, 2), "{line}");
        }
    }
}

#[test]
fn a_launch_in_which_everybody_waits_is_judged_by_what_they_wait_for() {
    // Nobody takes what the first transaction puts, so the second one waits.
    for variant in Variant::ALL {
        let line =
            format!("{variant} 2x1 own silent=turns init=0 : p0 / p0 : sim:w1,random,weak30");
        let commits = passes(&line).transactions;
        assert_eq!(commits, 0, "{line}: the launch ended with an error");
    }
    // One that waits although the word has changed.
    let found = ["silent-turns", "silent-chain"].iter().any(|name| {
        let directed = Directed::named(name).unwrap();
        let case = |seed| directed.case(Variant::Fast, Some(Mutant::LostWakeup), seed);
        first_failure((0..2000).map(case)).is_some()
    });
    assert!(found);
}

/// Simulations of each program with each variant.
const SEEDS: u64 = 600;

fn passes_directed(directed: &Directed) {
    let name = directed.name;
    let mut transactions = 0;
    for &variant in Variant::ALL {
        for seed in 0..SEEDS {
            let case = directed.case(variant, None, seed);
            match run(&case) {
                Ok(done) => transactions += done.transactions,
                Err(failure) => {
                    let (case, failure) = shrink(&case, failure);
                    panic!("{name}: {failure}\n{}", case.command());
                }
            }
        }
    }
    assert!(
        transactions != 0 || name.ends_with("too-many"),
        "{name} commits nothing"
    );
}

#[test]
fn the_right_algorithms_pass_every_directed_program() {
    fuzz::on_all_cores(&ALL, passes_directed);
}

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
