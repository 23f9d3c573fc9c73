//! Random transaction programs: every variant, both regimes of values, random warps, stripes, schedules and weak
//! memory. After each no lock is held, counts add up, every transaction has committed once, the history is opaque,
//! and the memory is what the commits leave. A failure prints the line that replays the smallest case found.
//!
//! And a directed program for every known hole, which can fail (`mutants.rs`); and forward progress, where lanes of one
//! warp conflict (`progress.txt`): `schedules.rs` has the classic failures without transactions.

use crate::prelude::*;
use crate::{assert_replays, each_part, first_failure};
use std::hash::{BuildHasher, Hasher, RandomState};
use verify::check;
use verify::fuzz::{self, Config};
use verify::program::directed::{ALL, Directed};
use verify::program::shrink::shrink;
use verify::program::{Case, FailureKind, Invariant, Op, Ran, Widths, flat, generate, ran, run};
use verify::rng::Rng;

#[test]
fn a_printed_case_parses_to_the_same_case() {
    let mut rng = Rng::of_stream(RandomState::new().build_hasher().finish(), 1);
    for _ in 0..256 {
        let (seed, directed) = (rng.bits(), &ALL[rng.below(ALL.len() as u32) as usize]);
        for mutant in [None, Some(rng.pick(Mutant::ALL))] {
            for &variant in Variant::ALL {
                for case in [
                    generate::case(variant, mutant, seed),
                    generate::silent_case(variant, mutant, seed),
                    directed.case(variant, mutant, seed),
                ] {
                    assert_eq!(case.to_string().parse::<Case>().unwrap(), case);
                }
            }
        }
    }
}

/// The step `fuzz` of `cargo xtask ci --all` has more transactions.
#[test]
fn random_programs_have_no_violation() {
    // The same ones each time, and then others.
    let other = RandomState::new().build_hasher().finish();
    for (seed, transactions) in [(0x5eed, 1 << 17), (other, times(1 << 17))] {
        let config = Config {
            variants: Variant::ALL.to_vec(),
            seed,
            transactions: Some(transactions),
            threads: std::thread::available_parallelism().map_or(2, usize::from),
            ..Config::default()
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
    let variants = vec![Variant::Fast];
    let mut config = Config {
        variants,
        ..Config::default()
    };
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
    assert_eq!(rows.len(), 59);
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
    many(50, "teams beside lanes", &|case| case.program.singles != 0);
    let waits = |case: &Case| case.program.silent == Some(Invariant::Turns);
    let [_, by_teams] = count(&|case| waits(case) && case.program.calls.is_of_teams());
    assert!(by_teams > 20, "{by_teams} with waits of teams");
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

const SEEDS: u64 = 80;

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

/// Runs transactions as a row says, with some variants, schedules and `more` times its seeds, and looks at what it counts; returns how many
/// cases that were.
fn runs(row: &str, transactions: &str, more: u64) -> usize {
    let [of, head, sim, schedules, seeds, said] = row.split(" : ").collect::<Vec<_>>()[..] else {
        panic!("{row}")
    };
    let together = |variant: Variant| with_algorithm!(variant, A => <A as Algorithm>::GRANULE != Granule::Block);
    let variants: Vec<Variant> = match of {
        "*" | "+" => Variant::ALL.to_vec(),
        some => some.split(' ').filter_map(Variant::from_name).collect(),
    };
    let variants = variants
        .into_iter()
        .filter(|&variant| of != "+" || together(variant));
    let seeds = more * seeds.parse::<u64>().unwrap();
    let said: Vec<&str> = said.split(' ').collect();
    let mut cases = 0;
    for variant in variants {
        let mut counted = Vec::new();
        for (schedule, seed) in schedules
            .split(' ')
            .flat_map(|s| (0..seeds).map(move |seed| (s, seed)))
        {
            cases += 1;
            let sim = sim
                .replace("SCHEDULE", schedule)
                .replace("SEED", &seed.to_string());
            let line = format!("{variant} {head} : {transactions} : sim:{sim}");
            let Ran { result, turns, .. } = ran(&line.parse().unwrap());
            if said == ["hangs"] {
                assert_eq!(result.unwrap_err().kind, FailureKind::Livelock, "{line}");
                continue;
            }
            let done = result.unwrap_or_else(|failure| panic!("{line}: {failure}"));
            counted.push(match said[1] {
                "turns" => turns,
                "commits" => done.transactions,
                "unfair" => done.unfair,
                _ => done.attempts - done.transactions,
            });
        }
        if said[0] == "all" {
            counted = vec![counted.iter().sum()];
        }
        let bounds = said.get(2..).unwrap_or_default().iter();
        let bounds: Vec<u64> = bounds.map(|bound| bound.parse().unwrap()).collect();
        let right = counted.iter().all(|n| (bounds[0]..=bounds[1]).contains(n));
        assert!(right, "{row}: {variant}: {counted:?}");
    }
    cases
}

/// Runs so many parts of a text, each of which has so many cases or more.
fn parts_run(text: &str, parts: usize, least: usize, more: u64) {
    each_part(text, parts, |name, rows| {
        let (mut row, mut cases) = ("", 0);
        for line in rows {
            row = line.strip_prefix("> ").unwrap_or(row);
            let transactions = line.strip_prefix("- ").map(repeated);
            cases += transactions.map_or(0, |transactions| runs(row, &transactions, more));
        }
        assert!(cases >= least, "{name}: {cases} cases");
    });
}

#[test]
fn transactions_in_each_others_way_complete() {
    parts_run(include_str!("progress.txt"), 8, 80, times(1));
}

#[test]
fn lines_pass_and_count_as_the_table_says() {
    parts_run(include_str!("lines.txt"), 5, 3, 1);
}
