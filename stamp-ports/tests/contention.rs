//! Every workload with every variant on the CPU where everything collides: few words, few locks,
//! more threads than cores. Every result must be verified; `ra`, `bank` and `eigenbench` compare
//! each word with a replay, `ht` walks each chain, `map` and `list` account for each value, and
//! `vacation` accounts for each place and each reservation.
//!
//! `--static`: workloads as static updates, and what has no static form.

mod common;

use common::{Setting, TINY_BANK, TINY_RA, json, refused_rows, right};
use serde_json::Value;
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::AnyWorkload;
use stamp_ports::workloads::bank::Bank;
use stamp_ports::workloads::container::{List, Map, Ordered};
use stamp_ports::workloads::eigenbench::Eigenbench;
use stamp_ports::workloads::form::Form;
use stamp_ports::workloads::ht::{Ht, NodeSource};
use stamp_ports::workloads::pool::Pool;
use stamp_ports::workloads::ra::Ra;
use stamp_ports::workloads::vacation::Vacation;
use stm_core::algorithm::Variant;
use stm_kernels::eigenbench::{Accesses, EigenbenchPlan};

/// Lock tables and stripes, each with launches below and above the cores.
const MEMORIES: [(u64, u64); 6] = [(1, 4), (2, 4), (16, 4), (1, 16), (2, 16), (16, 16)];
const SHAPES: [(u32, u32); 2] = [(2, 8), (5, 3)];

/// Few locks.
const MEMORY: [(u64, u64); 1] = [(16, 4)];

/// Runs every variant in each of these shapes and memories, and returns the reports, all of which
/// were verified.
fn all_variants(
    workload: impl Into<AnyWorkload>,
    shapes: &[(u32, u32)],
    memories: &[(u64, u64)],
    transactions: u64,
) -> Vec<RunReport> {
    let settings = Setting::each(11, shapes, memories, transactions);
    let reports = common::all_variants(workload, settings);
    for report in &reports {
        assert_eq!(report.commits, transactions, "{}", report.variant);
    }
    reports
}

#[test]
fn random_arrays_of_few_words_keep_every_increment() {
    all_variants(Ra::of(32, 4, 4), &SHAPES, &MEMORIES, 600);
    let memories = [(2, 4), (16, 16), (1 << 10, 4)];
    all_variants(Ra::of(32, 8, 3), &SHAPES[..1], &memories, 600);
    // Transactions that only read, and more reads than go to memory together.
    all_variants(Ra::of(32, 4, 0), &SHAPES[..1], &MEMORY, 600);
    all_variants(Ra::of(64, 37, 37), &[(2, 4)], &MEMORY, 200);
}

#[test]
fn hash_tables_of_few_buckets_keep_every_key_once() {
    for buckets in [1, 8] {
        for nodes in [NodeSource::Preassigned, NodeSource::Pool] {
            let ht = Ht {
                nodes,
                ..Ht::of(buckets, 4)
            };
            all_variants(ht, &SHAPES[..1], &MEMORIES, 400);
        }
    }
    all_variants(Ht::of(32, 1), &SHAPES[1..], &MEMORY, 1000);
}

#[test]
fn containers_lose_no_key_and_leak_no_node() {
    for (keys, chains) in [(1, 1), (40, 5)] {
        let map = Map {
            keys,
            chains,
            ..Map::default()
        };
        let list = List {
            keys,
            ..List::default()
        };
        let ordered = Ordered {
            keys,
            ..Ordered::default()
        };
        all_variants(map, &SHAPES[..1], &MEMORIES, 400);
        all_variants(list, &SHAPES[..1], &MEMORIES, 200);
        all_variants(ordered, &SHAPES[..1], &MEMORIES, 400);
    }
    all_variants(Pool {}, &SHAPES, &MEMORY, 2_000);
}

#[test]
fn vacation_accounts_for_every_place_and_reservation() {
    let vacation = |relations, queries, range_percent, users_percent| Vacation {
        relations,
        queries,
        range_percent,
        users_percent,
        transactions_max: 600,
    };
    // One of everything; as many tasks of each kind; many queries; STAMP's mixes.
    for workload in [
        vacation(1, 1, 100, 50),
        vacation(8, 3, 100, 34),
        vacation(30, 10, 90, 90),
        vacation(60, 2, 90, 98),
        vacation(60, 4, 60, 90),
        vacation(60, 4, 60, 0),
        vacation(60, 4, 60, 100),
    ] {
        all_variants(workload, &SHAPES, &MEMORY, 600);
    }
    all_variants(vacation(10, 4, 100, 60), &SHAPES[..1], &MEMORIES, 400);
}

#[test]
fn bank_keeps_every_account_and_shows_audits_no_wrong_sum() {
    for (accounts, audit_range) in [(2, 2), (37, 5), (64, 64)] {
        for zipf_thousandths in [0, 1200] {
            let bank = Bank {
                zipf_thousandths,
                ..Bank::of(accounts, 30, audit_range)
            };
            all_variants(bank, &SHAPES[..1], &MEMORIES, 600);
        }
    }
    // Transfers alone, and audits alone.
    for audit_percent in [0, 100] {
        all_variants(Bank::of(40, audit_percent, 20), &SHAPES[1..], &MEMORY, 1000);
    }
}

#[test]
fn bank_whose_transfers_only_add_keeps_every_account_and_shows_audits_no_wrong_sum() {
    // Rows of one, rows that ranges cut, and a row for all; a last row that is not full.
    for (accounts, audit_range, row) in [(2, 2, 1), (37, 5, 4), (64, 64, 32), (61, 20, 64)] {
        for audit_percent in [0, 30] {
            let bank = Bank {
                zipf_thousandths: 900,
                adds_row: Some(row),
                ..Bank::of(accounts, audit_percent, audit_range)
            };
            for report in all_variants(bank, &SHAPES[..1], &MEMORIES, 600) {
                let adds = ["fast", "fast-table"].contains(&report.variant);
                if adds && audit_percent == 0 {
                    let aborted: u64 = report.aborts.values().sum();
                    assert_eq!(aborted, 0, "{}: additions conflict", report.variant);
                }
            }
        }
    }
}

/// `EigenBench` on few words, with all that it can do.
const EIGENBENCH: EigenbenchPlan = EigenbenchPlan {
    seed: 0,
    hot_words: 32,
    mild_words: 8,
    cold_words: 8,
    hot: accesses(6, 4),
    mild: accesses(3, 2),
    cold_inside: accesses(3, 2),
    cold_outside: accesses(2, 3),
    nops_inside: 2,
    nops_outside: 3,
    locality_percent: 30,
};

const fn accesses(reads: u32, writes: u32) -> Accesses {
    Accesses { reads, writes }
}

const fn eigenbench(plan: EigenbenchPlan) -> Eigenbench {
    let form = Form::Dynamic;
    Eigenbench { plan, form }
}

#[test]
fn eigenbench_keeps_every_addition_and_every_word_of_a_lane() {
    all_variants(eigenbench(EIGENBENCH), &SHAPES, &MEMORIES, 600);
    let none = accesses(0, 0);
    for plan in [
        // More writes than reads, and the other way about.
        EigenbenchPlan {
            hot: accesses(1, 13),
            mild: accesses(0, 9),
            ..EIGENBENCH
        },
        EigenbenchPlan {
            hot: accesses(17, 0),
            mild: accesses(9, 1),
            ..EIGENBENCH
        },
        // All accesses to one word, and all distinct words one.
        EigenbenchPlan {
            locality_percent: 100,
            ..EIGENBENCH
        },
        EigenbenchPlan {
            hot_words: 1,
            mild_words: 1,
            cold_words: 1,
            ..EIGENBENCH
        },
        EigenbenchPlan {
            locality_percent: 0,
            mild: none,
            cold_inside: none,
            cold_outside: none,
            ..EIGENBENCH
        },
        EigenbenchPlan {
            hot: none,
            hot_words: 0,
            ..EIGENBENCH
        },
    ] {
        all_variants(eigenbench(plan), &SHAPES[..1], &MEMORY, 400);
    }
}

#[test]
fn these_runs_do_collide() {
    let bank = Bank {
        zipf_thousandths: 1200,
        ..Bank::of(37, 30, 5)
    };
    let (shape, memory) = (&SHAPES[..1], &MEMORY);
    collides(|| all_variants(Ra::of(32, 4, 4), shape, memory, 20_000));
    collides(|| all_variants(bank, shape, memory, 20_000));
    collides(|| all_variants(eigenbench(EIGENBENCH), shape, memory, 20_000));
}

/// Makes the runs again until an attempt aborts: that the operating system
/// interrupts one in a transaction is a matter of luck.
fn collides(runs: impl Fn() -> Vec<RunReport>) {
    for _ in 0..20 {
        let reports = runs();
        if reports.iter().flat_map(|r| r.aborts.values()).sum::<u64>() > 0 {
            return;
        }
    }
    panic!("no attempt aborted: this tests nothing");
}

#[test]
fn few_words_keep_every_static_update() {
    let ra = |words, form| Ra {
        words,
        form,
        ..Ra::default()
    };
    let bank = |accounts, form| Bank {
        form,
        ..Bank::of(accounts, 0, accounts)
    };
    let ht = |buckets| Ht {
        form: Form::Static,
        ..Ht::of(buckets, 4)
    };
    let eigenbench = |hot_words| Eigenbench {
        form: Form::Static,
        ..Eigenbench::of_hot_words(hot_words)
    };
    let all: [AnyWorkload; 12] = [
        ra(40, Form::Wide).into(),
        ra(16, Form::Static).into(),
        ra(32, Form::Static).into(),
        ra(1000, Form::Static).into(),
        bank(2, Form::Wide).into(),
        bank(37, Form::Wide).into(),
        bank(2, Form::Static).into(),
        bank(37, Form::Static).into(),
        ht(1).into(),
        ht(100).into(),
        eigenbench(1).into(),
        eigenbench(64).into(),
    ];
    for workload in all {
        for setting in Setting::each(11, &SHAPES, &MEMORY, 3000) {
            let reports = common::verified(&workload, setting, &[Variant::Fast.into()]);
            assert_eq!(reports[0].commits, 3000, "{workload:?}");
        }
    }
}

#[test]
fn tables_and_documents_name_the_static_form() {
    for base in [TINY_RA, &format!("{TINY_BANK} --audit-share 0")] {
        let table = right(&format!("{base} --static"));
        let row = table.lines().find(|line| line.contains("fast, static"));
        assert!(row.is_some_and(|row| row.contains("yes")), "{table}");
        assert!(!table.contains("optimized"), "{table}");
        let report = json(&format!("{base} --static --json"));
        assert_eq!(report["variant"], "fast, static");
        assert_eq!(report["resolved"], "fast");
        assert_eq!(report["verified"], true);
    }
}

#[test]
fn a_search_names_the_static_form_in_all_of_its_tables() {
    let document = json(
        "tune ra --device cpu --words 1K --transactions 2K --static --variant fast --repeat 1 --json",
    );
    for table in ["ratios", "runs", "search"] {
        let rows = document[table].as_array().expect("rows");
        assert!(!rows.is_empty() && rows.iter().all(|row| row["variant"] == "fast, static"));
    }
}

#[test]
fn recorded_histories_of_the_static_form_are_opaque_and_named() {
    let row = json(
        "record ra --device cpu --words 64 --transactions 2K --static --variant fast --check --json",
    );
    assert_eq!(row["variant"], "fast, static");
    assert!(
        row["violations"] == 0 && row["wrong_state"] == Value::Null,
        "{row}"
    );
}

#[test]
fn what_has_no_static_form_is_refused_with_the_value_and_the_fix() {
    for variant in AskedVariant::all() {
        if variant != Variant::Fast.into() {
            let name = variant.name();
            refused_rows(&format!(
                "TINY_RA --static --variant {name} => --static | {name} | --variant fast"
            ));
        }
    }
    refused_rows(
        "
        TINY_RA --static --variant all => cgl | --variant fast
        TINY_RA --static --reads 8 => --reads 8 | 16 | leave
        TINY_RA --static --writes 15 => --writes 15 | 16 | leave
        TINY_RA --static --reads 17 --writes 17 => --reads 17 | 16
        TINY_RA --static --profile => --profile | fast
        TINY_BANK --static => --audit-share 10 | --audit-share 0 | --static
        TINY_BANK --static --audit-share 0 --adds => --adds | --static | leave
        run ht --device cpu --static --keys-per-tx 5 => --keys-per-tx 5 | 4 | leave
        run ht --device cpu --static --nodes pool => --nodes pool | --static | leave
        run eigenbench --device cpu --static --hot-reads 31 => --static | 32 hot | leave
        run eigenbench --device cpu --static --mild-reads 1 => --static | nothing else
        run map --device cpu --static => --static | not for map
        tune ra --device cpu --static --variant vbv => --static | vbv | --variant fast
        record ra --device cpu --static --variant vbv => --static | vbv | --variant fast
        ",
    );
}
