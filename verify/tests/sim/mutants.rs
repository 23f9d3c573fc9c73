//! The gate: every seeded defect is caught within its budget, and the right code
//! survives ten times the cases that caught it. `verify mutants` prints the same.

use crate::prelude::*;
use crate::{assert_replays, each_part, first_failure};
use verify::mutants::{
    BUDGET, SURVIVAL, gate, random_summary, table, target, try_at_random, try_mutant,
};
use verify::program::directed::Directed;
use verify::program::run;

#[test]
fn every_mutant_is_killed_and_the_unmutated_code_survives_ten_times_as_much() {
    let rows = gate(BUDGET, 0, |_| {});
    println!("{}", table(&rows));
    let shown = |mutant: &&Mutant| !target(**mutant).programs.is_empty();
    assert_eq!(rows.len(), Mutant::ALL.iter().filter(shown).count());
    for row in &rows {
        let name = row.mutant.name();
        if let Some((case, failure)) = &row.unmutated_failure {
            panic!("without {name}: {failure}\n{}", case.command());
        }
        let Some(kill) = &row.killed else {
            panic!("{name} survives {BUDGET} schedules\n{}", table(&rows));
        };
        assert_eq!(row.unmutated, SURVIVAL * kill.schedules);
        // The line that it would print shows the same once more.
        assert_replays(&kill.case, &kill.failure);
    }
}

/// A fence after a plain load of the version is no acquire. A packed word needs none: whoever has acquired the clock
/// at the snapshot sees the locks of all commits up to it, so its cache has the snapshot, locked, or newer.
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

/// Whether no program shows a mutant: one of what waits (`tests/locks`, `tests/meeting`), or of containers.
fn is_elsewhere(mutant: Mutant) -> bool {
    let kinds = ["lock-", "barrier-", "semaphore-", "channel-"];
    let of_containers = [Mutant::WitnessReleased, Mutant::RemovalUnmarked];
    let named = kinds.iter().any(|kind| mutant.name().starts_with(kind));
    target(mutant).programs.is_empty() && (named || of_containers.contains(&mutant))
}

#[test]
fn the_programs_for_each_mutant_exist_and_random_ones_kill_most_which_their_lines_replay() {
    let (mut killed, mut all) = (0, 0);
    let mutants = Mutant::ALL.iter().copied();
    for mutant in mutants.filter(|&mutant| !is_elsewhere(mutant)) {
        all += 1;
        let names = target(mutant).programs;
        let known = |name: &&str| Directed::named(name).is_some();
        let exist = !names.is_empty() && names.iter().all(known);
        assert!(exist, "{names:?} for {}", mutant.name());
        if let Some(kill) = try_at_random(mutant, times(1000)) {
            killed += 1;
            assert_replays(&kill.case, &kill.failure);
        }
    }
    assert!(killed * 4 > all * 3, "{killed} of {all}");
}

#[test]
fn the_table_says_which_mutant_survives_and_after_how_many_random_programs_one_was_killed() {
    let rows = [
        try_mutant(Mutant::LockedByStore, 1, 1000),
        try_mutant(Mutant::NoE2, 0, 1),
    ];
    let (_, kill) = rows[0].random.as_ref().unwrap();
    let kill = kill.as_ref().unwrap();
    assert_eq!(rows[0].json()["random"]["schedules"], kill.schedules);
    let table = table(&rows);
    let ends = |line: usize, with: &str| table.lines().nth(line).unwrap().ends_with(with);
    let after = format!(" {}", kill.schedules);
    let right = ends(0, " random") && ends(1, &after) && ends(2, "> 1");
    // Without a budget a mutant survives.
    assert!(
        right && !rows[1].is_right() && table.contains("SURVIVED"),
        "{table}"
    );
    let summary = random_summary(&rows).unwrap();
    assert!(summary.starts_with("1 of 2 killed by at most 1000 "));
}

#[test]
fn rows_of_defects_are_found_by_their_programs() {
    each_part(include_str!("defects.txt"), 3, |name, lines| {
        let rows = lines.iter().filter(|line| !line.starts_with(' '));
        for row in rows.clone() {
            let fields: Vec<&str> = row.splitn(5, ' ').collect();
            let mutant = Mutant::from_name(fields[0]);
            let variant = Variant::from_name(fields[1]).unwrap();
            let directed = Directed::named(fields[2]).unwrap();
            let seeds = 0..fields[3].parse().unwrap();
            assert!(mutant.is_some(), "{row}");
            let found = first_failure(seeds.map(|seed| directed.case(variant, mutant, seed)));
            let (_, failure) = found.unwrap_or_else(|| panic!("{row}: survives"));
            let kind = fields.get(4).copied().unwrap_or(failure.kind.name());
            assert_eq!(failure.kind.name(), kind, "{row}: {failure}");
        }
        assert!(rows.count() > 5, "{name}");
    });
}
