//! A directed program for every known hole: the right algorithms pass each of
//! them under many simulations. That each can fail is what the mutants gate
//! (`mutants.rs`) shows, with the same programs.

use stm_core::algorithm::Variant;
use verify::program::{directed, run, shrink::shrink};

/// Simulations of each program with each variant.
const SEEDS: u64 = 600;

fn passes(name: &str) {
    let directed = directed::Directed::named(name).unwrap();
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

macro_rules! directed_programs {
    ($($test:ident: $name:literal;)*) => {
        $(
            #[test]
            fn $test() {
                passes($name);
            }
        )*

        #[test]
        fn every_directed_program_has_a_test() {
            let tested = [$($name),*];
            let all = directed::ALL.iter().chain(directed::SILENT);
            let all: Vec<&str> = all.map(|d| d.name).collect();
            assert_eq!(tested[..], all[..]);
        }
    };
}

directed_programs! {
    torn_pair: "torn-pair";
    torn_batch: "torn-batch";
    torn_stripe: "torn-stripe";
    increments: "increments";
    three_increments: "three-increments";
    update_pairs: "update-pairs";
    update_beside: "update-beside";
    update_restored: "update-restored";
    update_twins: "update-twins";
    write_skew: "write-skew";
    crossed_pair: "crossed-pair";
    hot_word: "hot-word";
    hot_updates: "hot-updates";
    restored_version: "restored-version";
    write_elsewhere: "write-elsewhere";
    opposite_order: "opposite-order";
    swap_and_back: "swap-and-back";
    swap_three_times: "swap-three-times";
    many_swaps: "many-swaps";
    two_groups: "two-groups";
    late_extension: "late-extension";
    unclocked_release: "unclocked-release";
    read_stripe_keeps_version: "read-stripe-keeps-version";
    stripe_read_and_written: "stripe-read-and-written";
    many_versions: "many-versions";
    circle_pair: "circle-pair";
    circle_skew: "circle-skew";
    circle_of_extensions: "circle-of-extensions";
    circle_renewed: "circle-renewed";
    circle_old_words: "circle-old-words";
    three_threads: "three-threads";
    repeated_read: "repeated-read";
    second_write: "second-write";
    sets_just_full: "sets-just-full";
    one_read_too_many: "one-read-too-many";
    one_write_too_many: "one-write-too-many";
    doomed: "doomed";
    team_torn_pair: "team-torn-pair";
    team_torn_batch: "team-torn-batch";
    team_half: "team-half";
    team_skew: "team-skew";
    team_stripe: "team-stripe";
    team_stripe_torn: "team-stripe-torn";
    torn_row: "torn-row";
    torn_rows: "torn-rows";
    sum_and_word: "sum-and-word";
    sum_skew: "sum-skew";
    sum_increments: "sum-increments";
    only_additions: "only-additions";
    block_torn_pair: "block-torn-pair";
    block_torn_batch: "block-torn-batch";
    block_half: "block-half";
    block_skew: "block-skew";
    block_stripe: "block-stripe";
    block_stripe_torn: "block-stripe-torn";
    or_else: "or-else";
    or_else_skew: "or-else-skew";
    team_or_else: "team-or-else";
    silent_torn_pair: "silent-torn-pair";
    silent_late_extension: "silent-late-extension";
    silent_two_launches: "silent-two-launches";
    silent_toggle: "silent-toggle";
    silent_total: "silent-total";
    silent_skew: "silent-skew";
    silent_list: "silent-list";
    silent_nodes: "silent-nodes";
    silent_node_reused: "silent-node-reused";
    silent_turns: "silent-turns";
    silent_chain: "silent-chain";
    silent_sums: "silent-sums";
    silent_team_pair: "silent-team-pair";
    silent_block_pair: "silent-block-pair";
    silent_or_else: "silent-or-else";
    silent_node_or_else: "silent-node-or-else";
}
