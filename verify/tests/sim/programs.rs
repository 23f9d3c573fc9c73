//! Random transaction programs: every variant, both regimes of values, random warps, stripes, schedules and weak
//! memory. After each no lock is held, counts add up, every transaction has committed once, the history is opaque,
//! and the memory is what the commits leave. A failure prints the line that replays the smallest case found.
//!
//! And a directed program for every known hole, which can fail (`mutants.rs`); and forward progress, where lanes of one
//! warp conflict (`progress.txt`): `schedules.rs` has the classic failures without transactions.

use crate::prelude::*;
use crate::{assert_replays, each_part, first_failure, passes};
use proptest::prelude::*;
use std::hash::{BuildHasher, Hasher, RandomState};
use verify::check;
use verify::fuzz::{self, Config};
use verify::program::directed::{ALL, Directed};
use verify::program::shrink::shrink;
use verify::program::{Case, FailureKind, Invariant, Op, Ran, Widths, flat, generate, ran, run};

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

/// CI's step `fuzz` has more transactions.
#[test]
fn random_programs_have_no_violation() {
    // The same ones each time, and then others.
    let other = RandomState::new().build_hasher().finish();
    for (seed, transactions) in [(0x5eed, 1 << 17), (other, times(1 << 17))] {
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
        assert!(total.unfair * 100 < total.cases, "{report}");
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

#[test]
fn a_bad_line_is_refused_with_the_bad_part() {
    let rows = include_str!("bad_lines.txt").lines();
    let rows: Vec<_> = rows.filter_map(|row| row.split_once(" => ")).collect();
    assert_eq!(rows.len(), 58);
    for (line, part) in rows {
        let error = match line.split_once(' ') {
            Some(("check", line)) => line.parse::<check::Case>().unwrap_err().to_string(),
            Some(("alone", line)) => line.parse::<SimConfig>().unwrap_err().to_string(),
            _ => line.parse::<Case>().unwrap_err().to_string(),
        };
        assert!(error.contains(part), "{line}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

fn has_alternatives(case: &Case) -> bool {
    case.program.ops().any(|op| matches!(op, Op::Either(..)))
}

#[test]
fn random_cases_come_in_every_kind() {
    let all = [generate::case, generate::silent_case].map(|case| {
        let seeds = (0..2000_u64).map(|k| k.wrapping_mul(0x9E37_79B9));
        let of = |seed| case(Variant::Fast, None, seed);
        seeds.map(of).collect::<Vec<Case>>()
    });
    // How many recorded ones, and silent ones, are such; which must be many.
    let count = |is: &dyn Fn(&Case) -> bool| {
        all.each_ref()
            .map(|cases| cases.iter().filter(|case| is(case)).count())
    };
    let many = |least: usize, what: &str, is: &dyn Fn(&Case) -> bool| {
        let of = count(is);
        assert!(of.iter().all(|&n| n > least), "{what}: {of:?}");
    };
    for widths in [Widths::Narrow, Widths::Wide, Widths::Mixed] {
        many(400, "widths", &|case| case.program.widths == widths);
    }
    for wide in [false, true] {
        many(200, "atomics of 128 bits", &|case| {
            case.sim.wide_atomics == wide && case.program.widths == Widths::Wide
        });
    }
    many(400, "launches", &|case| case.program.launches > 1);
    many(50, "more words than the sets have on the stack", &|case| {
        let distinct = |ops: &Vec<Op>| {
            let of_words = flat(ops).into_iter().filter(|op| !op.is_of_sums());
            of_words.flat_map(Op::words).collect::<BTreeSet<_>>().len()
        };
        let mut transactions = case.program.transactions.iter();
        transactions.any(|ops| distinct(ops) > 16)
    });
    for &invariant in <Invariant as clap::ValueEnum>::value_variants() {
        let [recorded, silent] = count(&|case| case.program.silent == Some(invariant));
        assert!(recorded == 0 && silent > 200, "{invariant:?}: {silent}");
    }
    for teams in [false, true] {
        many(40, "alternatives", &|case| {
            case.program.calls.is_of_teams() == teams && has_alternatives(case)
        });
    }
    many(100, "teams", &|case| case.program.calls.is_of_teams());
}

/// A second write gone astray, and an alternative that keeps its writes.
#[test]
fn a_failure_shrinks_to_a_smaller_case_whose_line_replays_it() {
    use Mutant::{OrElseKeepsWrites, WriteAtReadPosition};
    for (variant, mutant) in [
        (Variant::HvSorting, WriteAtReadPosition),
        (Variant::Fast, OrElseKeepsWrites),
        (Variant::FastTable, OrElseKeepsWrites),
    ] {
        for case in [generate::case, generate::silent_case] {
            let cases = (0..500_u64).map(|seed| seed.wrapping_mul(0x9E37_79B9));
            let found = first_failure(cases.map(|seed| case(variant, Some(mutant), seed)));
            let (first, failure) = found.unwrap();
            let (mut small, failure) = shrink(&first, failure);
            let ops = |case: &Case| case.program.ops().count();
            assert!(ops(&small) <= ops(&first), "{first}\n{small}");
            if mutant == OrElseKeepsWrites {
                assert!(has_alternatives(&small), "{small}");
            } else {
                assert!(ops(&small) <= 4, "{small}");
            }
            let replayed: Case = small.to_string().parse().unwrap();
            assert_eq!(run(&replayed), run(&small));
            assert_replays(&small, &failure);
            small.mutant = None;
            assert!(run(&small).is_ok(), "{small}");
        }
    }
}

const SEEDS: u64 = 200;

fn passes_directed(directed: &Directed) {
    let name = directed.name;
    let mut transactions = 0;
    for &variant in Variant::ALL {
        for seed in 0..times(SEEDS) {
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
    let none = name.ends_with("too-many");
    assert!(transactions != 0 || none, "{name} commits nothing");
}

#[test]
fn the_right_algorithms_pass_every_directed_program() {
    fuzz::on_all_cores(&ALL, passes_directed);
}

/// Returns transactions, of which those behind `N x` are there so many times, up to the next `;`.
fn repeated(row: &str) -> String {
    let parts = row.split(" ; ").map(|part| match part.split_once(" x ") {
        None => part.to_owned(),
        Some((times, again)) => vec![again; times.parse().unwrap()].join(" / "),
    });
    parts.collect::<Vec<String>>().join(" / ")
}

/// Runs transactions as a row says, all of which complete or hang; returns how many cases that were.
fn runs(row: &str, transactions: &str, hangs: bool) -> u64 {
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
                if hangs {
                    let failure = run(&line.parse().unwrap()).unwrap_err();
                    assert_eq!(failure.kind, FailureKind::Livelock, "{failure}");
                } else {
                    assert_eq!(passes(&line).unfair, 0, "{line}");
                }
                cases += 1;
            }
        }
    }
    cases
}

#[test]
fn transactions_in_each_others_way_complete() {
    each_part(include_str!("progress.txt"), 8, |name, rows| {
        let (mut row, mut cases) = ("", 0);
        for line in rows {
            if let Some(next) = line.strip_prefix("> ") {
                row = next;
            } else if let Some(transactions) = line.strip_prefix("- ") {
                cases += runs(row, &repeated(transactions), false);
            } else if let Some(transactions) = line.strip_prefix("! ") {
                cases += runs(row, &repeated(transactions), true);
            }
        }
        assert!(cases >= 200, "{name}: {cases} cases");
    });
}

/// Runs a program as a row says, with some variants and so many seeds, and looks at what it counts.
fn counts(row: &str) {
    let fields: Vec<&str> = row.split(" : ").collect();
    let [of, head, transactions, sim, seeds, said] = fields[..] else {
        panic!("{row}")
    };
    let said: Vec<&str> = said.split(' ').collect();
    let [least, most] = [said[2], said[3]].map(|bound| bound.parse::<u64>().unwrap());
    let variants: Vec<&str> = match of {
        "*" => Variant::ALL.iter().map(|variant| variant.name()).collect(),
        some => some.split(' ').collect(),
    };
    for variant in variants {
        let counted = (0..seeds.parse::<u64>().unwrap()).map(|seed| {
            let sim = sim.replace("SEED", &seed.to_string());
            let transactions = repeated(transactions);
            let line = format!("{variant} {head} : {transactions} : sim:{sim}");
            let Ran { result, turns, .. } = ran(&line.parse().unwrap());
            let done = result.unwrap_or_else(|failure| panic!("{line}: {failure}"));
            match said[1] {
                "turns" => turns,
                "commits" => done.transactions,
                _ => done.attempts - done.transactions,
            }
        });
        let mut counted: Vec<u64> = counted.collect();
        if said[0] == "all" {
            counted = vec![counted.iter().sum()];
        }
        let right = counted.iter().all(|n| (least..=most).contains(n));
        assert!(right, "{row}: {variant}: {counted:?}");
    }
}

#[test]
fn lines_pass_and_count_as_the_table_says() {
    each_part(include_str!("lines.txt"), 5, |_, rows| {
        let rows = rows.into_iter().filter(|row| !row.starts_with(' '));
        rows.for_each(counts);
    });
}
