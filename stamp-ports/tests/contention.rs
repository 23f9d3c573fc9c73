//! Every workload with every variant on the CPU where everything collides: few words, few locks,
//! more threads than cores. Every result must be verified; `ra`, `bank` and `eigenbench` compare
//! each word with a replay, `ht` walks each chain, `map` and `list` account for each value, and
//! `vacation` accounts for each place and each reservation.
//!
//! `--static`: workloads as static updates, and what has no static form.

mod common;

use common::{
    Memory, Shape, TINY_BANK, TINY_RA, aborted, additions_do_not_conflict, holds, json, list,
    refused_rows, right, verified, workload,
};
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::variants::AskedVariant;
use stm_core::algorithm::Variant;

/// Lock tables and stripes, each with launches below and above the cores.
const MEMORIES: [Memory; 6] = [(1, 4), (2, 4), (16, 4), (1, 16), (2, 16), (16, 16)];
const SHAPES: [Shape; 2] = [(2, 8), (5, 3)];

/// Few locks.
const MEMORY: [Memory; 1] = [(16, 4)];

/// Runs a workload with every variant in each of these shapes and memories.
fn all_variants(
    line: &str,
    shapes: &[Shape],
    memories: &[Memory],
    transactions: u64,
) -> Vec<RunReport> {
    common::all_variants(workload(line, 11), 11, shapes, memories, transactions)
}

#[test]
fn random_arrays_of_few_words_keep_every_increment() {
    let of = |words, reads, writes| format!("ra --words {words} --reads {reads} --writes {writes}");
    all_variants(&of(32, 4, 4), &SHAPES, &MEMORIES, 600);
    let memories = [(2, 4), (16, 16), (1 << 10, 4)];
    all_variants(&of(32, 8, 3), &SHAPES[..1], &memories, 600);
    // Transactions that only read, and more reads than go to memory together.
    all_variants(&of(32, 4, 0), &SHAPES[..1], &MEMORY, 600);
    all_variants(&of(64, 37, 37), &[(2, 4)], &MEMORY, 200);
}

#[test]
fn hash_tables_of_few_buckets_keep_every_key_once() {
    for buckets in [1, 8] {
        for nodes in ["preassigned", "pool"] {
            let of = format!("ht --keys-per-tx 4 --buckets {buckets} --nodes {nodes}");
            all_variants(&of, &SHAPES[..1], &MEMORIES, 400);
        }
    }
    all_variants(
        "ht --buckets 32 --keys-per-tx 1",
        &SHAPES[1..],
        &MEMORY,
        1000,
    );
}

#[test]
fn containers_lose_no_key_and_leak_no_node() {
    for (of, transactions) in [
        ("map --keys 1 --chains 1", 400),
        ("map --keys 40 --chains 5", 400),
        ("list --keys 1", 200),
        ("list --keys 40", 200),
        ("ordered --keys 1", 400),
        ("ordered --keys 40", 400),
    ] {
        all_variants(of, &SHAPES[..1], &MEMORIES, transactions);
    }
    all_variants("pool", &SHAPES, &MEMORY, 2_000);
}

#[test]
fn vacation_accounts_for_every_place_and_reservation() {
    // One of everything; as many tasks of each kind; many queries; STAMP's mixes.
    for options in [
        "-r 1 -n 1 -q 100 -u 50",
        "-r 8 -n 3 -q 100 -u 34",
        "-r 30 -n 10 -q 90 -u 90",
        "-r 60 -n 2 -q 90 -u 98",
        "-r 60 -n 4 -q 60 -u 90",
        "-r 60 -n 4 -q 60 -u 0",
        "-r 60 -n 4 -q 60 -u 100",
    ] {
        let of = format!("vacation --transactions 600 {options}");
        all_variants(&of, &SHAPES, &MEMORY, 600);
    }
    let of = "vacation --transactions 400 -r 10 -n 4 -q 100 -u 60";
    all_variants(of, &SHAPES[..1], &MEMORIES, 400);
}

#[test]
fn bank_keeps_every_account_and_shows_audits_no_wrong_sum() {
    for accounts in [
        "2 --audit-range 2",
        "37 --audit-range 5",
        "64 --audit-range 64",
    ] {
        for zipf in ["0", "1.2"] {
            let of = format!("bank --accounts {accounts} --audit-share 30 --zipf {zipf}");
            all_variants(&of, &SHAPES[..1], &MEMORIES, 600);
        }
    }
    // Transfers alone, and audits alone.
    for share in [0, 100] {
        let of = format!("bank --accounts 40 --audit-range 20 --audit-share {share}");
        all_variants(&of, &SHAPES[1..], &MEMORY, 1000);
    }
}

#[test]
fn bank_whose_transfers_only_add_keeps_every_account_and_shows_audits_no_wrong_sum() {
    // Rows of one, rows that ranges cut, and a row for all; a last row that is not full.
    for options in [
        "--accounts 2 --audit-range 2 --row 1",
        "--accounts 37 --audit-range 5 --row 4",
        "--accounts 64 --audit-range 64 --row 32",
        "--accounts 61 --audit-range 20 --row 64",
    ] {
        let of = format!("bank --adds --zipf 0.9 {options} --audit-share");
        all_variants(&format!("{of} 30"), &SHAPES[..1], &MEMORIES, 600);
        let transfers = all_variants(&format!("{of} 0"), &SHAPES[..1], &MEMORIES, 600);
        additions_do_not_conflict(&transfers);
    }
}

/// `EigenBench` on few words, with all that it can do.
const EIGENBENCH: &str = "eigenbench --hot-words 32 --hot-reads 6 --hot-writes 4 \
    --mild-words 8 --mild-reads 3 --mild-writes 2 --cold-words 8 --cold-reads 3 --cold-writes 2 \
    --cold-reads-outside 2 --cold-writes-outside 3 --nops 2 --nops-outside 3 --locality 30";

#[test]
fn eigenbench_keeps_every_addition_and_every_word_of_a_lane() {
    all_variants(EIGENBENCH, &SHAPES, &MEMORIES, 600);
    for instead in [
        // More writes than reads, and the other way about.
        "--hot-reads 1 --hot-writes 13 --mild-reads 0 --mild-writes 9",
        "--hot-reads 17 --hot-writes 0 --mild-reads 9 --mild-writes 1",
        // All accesses to one word, and all distinct words one.
        "--locality 100",
        "--hot-words 1 --mild-words 1 --cold-words 1",
        "--locality 0 --mild-reads 0 --mild-writes 0 --cold-reads 0 --cold-writes 0 \
         --cold-reads-outside 0 --cold-writes-outside 0",
        "--hot-reads 0 --hot-writes 0 --hot-words 0",
    ] {
        all_variants(
            &format!("{EIGENBENCH} {instead}"),
            &SHAPES[..1],
            &MEMORY,
            400,
        );
    }
}

/// That the operating system interrupts an attempt in a transaction is a matter of luck.
#[test]
fn these_runs_do_collide() {
    let bank = "bank --accounts 37 --audit-share 30 --audit-range 5 --zipf 1.2";
    for of in ["ra --words 32 --reads 4 --writes 4", bank, EIGENBENCH] {
        let runs = || all_variants(of, &SHAPES[..1], &MEMORY, 20_000);
        let collided = (0..20).any(|_| aborted(&runs()) > 0);
        assert!(collided, "no attempt aborted: this tests nothing");
    }
}

#[test]
fn few_words_keep_every_static_update() {
    for of in [
        "ra --words 40 --wide",
        "ra --words 16",
        "ra --words 32",
        "ra --words 1000",
        "bank --audit-share 0 --accounts 2 --audit-range 2 --wide",
        "bank --audit-share 0 --accounts 37 --audit-range 37 --wide",
        "bank --audit-share 0 --accounts 2 --audit-range 2",
        "bank --audit-share 0 --accounts 37 --audit-range 37",
        "ht --buckets 1 --keys-per-tx 4",
        "ht --buckets 100 --keys-per-tx 4",
        "eigenbench --hot-words 1",
        "eigenbench --hot-words 64",
    ] {
        let of = workload(&format!("{of} --static"), 11);
        for shape in SHAPES {
            verified(&of, &[Variant::Fast.into()], 11, (shape, MEMORY[0]), 3000);
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
        holds!(report, {"variant": "fast, static", "resolved": "fast", "verified": true});
    }
    // A search names it in all of its tables.
    let of = "ra --device cpu --transactions 2K --static --variant fast --json";
    let document = json(&format!("tune {of} --words 1K --repeat 1"));
    for table in ["ratios", "runs", "search"] {
        let rows = list(&document[table]);
        assert!(!rows.is_empty());
        for row in rows {
            holds!(*row, {"variant": "fast, static"});
        }
    }
    // Recorded histories are opaque.
    let row = json(&format!("record {of} --words 64 --check"));
    holds!(row, {"variant": "fast, static", "violations": 0, "wrong_state": null});
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
