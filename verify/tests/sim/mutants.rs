//! The gate: every seeded defect is caught within its budget, and the right code
//! survives ten times the cases that caught it. `verify mutants` prints the same.

use crate::{assert_replays, first_failure, section, sections};
use stm_core::algorithm::Variant;
use stm_core::internal::observe::Mutant;
use verify::mutants::{
    BUDGET, SURVIVAL, gate, random_summary, table, target, try_at_random, try_mutant,
};
use verify::program::directed::Directed;
use verify::program::run;

#[test]
fn every_mutant_is_killed_and_the_unmutated_code_survives_ten_times_as_much() {
    let rows = gate(BUDGET, 0, |_| {});
    println!("{}", table(&rows));
    let shown = |mutant: &&Mutant| !target(**mutant).1.is_empty();
    assert_eq!(rows.len(), Mutant::ALL.iter().filter(shown).count());
    for row in &rows {
        let name = row.mutant.name();
        if let Some((case, failure)) = &row.unmutated_failure {
            panic!(
                "the unmutated code fails where {name} is looked for: {failure}\n{}",
                case.command()
            );
        }
        let Some(kill) = &row.killed else {
            panic!("{name} survives {BUDGET} schedules\n{}", table(&rows));
        };
        assert_eq!(row.unmutated, SURVIVAL * kill.schedules);
        // The line that it would print shows the same once more.
        assert_replays(&kill.case, &kill.failure);
    }
}

/// The mutant is caught where values are separate: a fence after a plain load of the version is no
/// acquire. A packed word needs none. Whoever has acquired the clock at the snapshot sees the locks
/// of all commits up to it, so the copy in a cache is that of the snapshot, locked, or newer.
#[test]
fn plain_loads_read_packed_words_right_as_the_snapshot_was_acquired() {
    let mut packed = 0;
    for name in ["torn-pair", "torn-batch", "write-skew", "many-swaps"] {
        let program = Directed::named(name).unwrap();
        for seed in 0..1000 {
            let case = program.case(Variant::Fast, Some(Mutant::WeakRead), seed);
            if case.to_string().contains(" u32 ") {
                packed += 1;
                assert!(run(&case).is_ok(), "{case}");
            }
        }
    }
    assert!(packed > 100, "{packed}");
}

#[test]
fn the_gate_is_deterministic() {
    for mutant in [Mutant::NoE5, Mutant::NewReadNotValidated, Mutant::NoS3] {
        let [a, b] = [0, 1].map(|_| try_mutant(mutant, BUDGET, 0).json());
        assert_eq!(a, b);
        assert!(a["schedules"].is_u64(), "{a}");
    }
}

/// Returns whether a mutant is of one of these kinds and no program shows it: `tests/locks`
/// and `tests/meeting` catch those of locks, barriers, semaphores and channels.
fn is_of(mutant: Mutant, kinds: &[&str]) -> bool {
    let named = kinds.iter().any(|kind| mutant.name().starts_with(kind));
    named && target(mutant).1.is_empty()
}

#[test]
fn the_programs_made_for_each_mutant_exist() {
    for &mutant in Mutant::ALL {
        let (_, names) = target(mutant);
        // `tests/collections` catches these.
        let of_containers = [Mutant::WitnessReleased, Mutant::RemovalUnmarked];
        let elsewhere = super::waiting::CAUGHT.contains(&mutant)
            || super::pool::CAUGHT.contains(&mutant)
            || of_containers.contains(&mutant)
            || is_of(mutant, &["lock-", "barrier-", "semaphore-", "channel-"]);
        assert!(!names.is_empty() || elsewhere, "{}", mutant.name());
        let known = |name: &&str| Directed::named(name).is_some();
        assert!(names.iter().all(known), "{names:?} for {}", mutant.name());
    }
}

#[test]
fn a_mutant_without_a_budget_survives_and_the_table_says_so() {
    let row = try_mutant(Mutant::NoE2, 0, 0);
    assert!(!row.is_right());
    assert!(table(&[row]).contains("SURVIVED"));
}

#[test]
fn random_programs_kill_most_mutants_and_the_lines_replay_that() {
    let kills: Vec<_> = Mutant::ALL
        .iter()
        .filter(|mutant| !is_of(**mutant, &["lock-", "channel-"]))
        .map(|&mutant| try_at_random(mutant, 3000))
        .collect();
    let killed: Vec<_> = kills
        .iter()
        .filter_map(|kill| kill.killed.as_ref())
        .collect();
    let (many, all) = (killed.len(), kills.len());
    assert!(many * 2 > all, "{many} of {all}");
    for kill in killed {
        assert_replays(&kill.case, &kill.failure);
    }
}

#[test]
fn the_table_says_after_how_many_random_programs_a_mutant_was_killed() {
    let rows = [
        try_mutant(Mutant::LockedByStore, 1, 1000),
        try_mutant(Mutant::NoE2, 0, 1),
    ];
    let kill = rows[0].random.as_ref().unwrap().killed.as_ref().unwrap();
    let table = table(&rows);
    let ends = |line: usize, with: &str| table.lines().nth(line).unwrap().ends_with(with);
    assert!(
        ends(0, " random") && ends(1, &format!(" {}", kill.schedules)) && ends(2, "> 1"),
        "{table}"
    );
    assert!(
        random_summary(&rows)
            .unwrap()
            .starts_with("1 of 2 killed by at most 1000 ")
    );
}

/// Looks for the defects of a part of `defects.txt`.
fn found(name: &str) {
    let mut rows = 0;
    let lines = section(include_str!("defects.txt"), name).skip(1);
    for row in lines.filter(|line| !line.starts_with(' ')) {
        let [mutant, variant, program, seeds, kind @ ..] = &row.split(' ').collect::<Vec<_>>()[..]
        else {
            panic!("{row}")
        };
        let mutant = Mutant::from_name(mutant).unwrap();
        let variant = Variant::from_name(variant).unwrap();
        let directed = Directed::named(program).unwrap();
        let seeds = 0..seeds.parse().unwrap();
        let found = first_failure(seeds.map(|seed| directed.case(variant, Some(mutant), seed)));
        let (_, failure) = found.unwrap_or_else(|| panic!("{row}: survives"));
        let right = kind.is_empty() || failure.kind.name() == kind.join(" ");
        assert!(right, "{row}: {failure}");
        rows += 1;
    }
    assert!(rows > 5, "{name}: {rows} rows");
}

sections! {
    found:
    a_silent_program_reports_what_its_transactions_saw
    a_seeded_defect_of_teams_is_caught_in_blocks_too
}
