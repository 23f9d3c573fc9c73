//! Every workload with every variant on the CPU where everything collides: few words, few locks,
//! more threads than cores. Every result must be verified; `ra`, `bank` and `eigenbench` compare
//! each word with a replay, `ht` walks each chain, `map` and `list` account for each value, and
//! `vacation` accounts for each place and each reservation.
//!
//! `--static`: workloads as static updates, and what has no static form.

mod common;

use common::{
    Memory, Shape, TINY_BANK, TINY_RA, aborted, additions_do_not_conflict, holds, json, list,
    on_all_cores, refused_rows, right, verified, workload,
};
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::variants::AskedVariant;
use stm_core::algorithm::Variant;

/// Few blocks of several threads, and more blocks.
const SHAPES: [Shape; 2] = [(2, 8), (5, 3)];

/// Runs a workload with every variant in each of these shapes and memories.
fn all_variants(
    line: &str,
    shapes: &[Shape],
    memories: &[Memory],
    transactions: u64,
) -> Vec<RunReport> {
    common::all_variants(workload(line, 11), 11, shapes, memories, transactions)
}

/// `EigenBench` on few words, with all that it can do.
const EIGENBENCH: &str = "eigenbench --hot-words 32 --hot-reads 6 --hot-writes 4 \
    --mild-words 8 --mild-reads 3 --mild-writes 2 --cold-words 8 --cold-reads 3 --cold-writes 2 \
    --cold-reads-outside 2 --cold-writes-outside 3 --nops 2 --nops-outside 3 --locality 30";

/// Transactions, the shapes of the launch, lock tables and stripes (`every`, or `few` locks), and the
/// workload; of one that only `adds`, no attempt of the algorithms that can add without a read aborts.
const ROWS: &str = "
    600 2x8,5x3 every : ra --words 32 --reads 4 --writes 4
    600 2x8 few : ra --words 32 --reads 8 --writes 3
    // Transactions that only read, and more reads than go to memory together.
    600 2x8 few : ra --words 32 --reads 4 --writes 0
    200 2x8 few : ra --words 64 --reads 37 --writes 37
    400 2x8 every : ht --keys-per-tx 4 --buckets 1
    400 2x8 every : ht --keys-per-tx 4 --buckets 8
    400 2x8 every : ht --keys-per-tx 4 --buckets 1 --nodes pool
    400 2x8 every : ht --keys-per-tx 4 --buckets 8 --nodes pool
    1000 5x3 few : ht --buckets 32 --keys-per-tx 1
    400 2x8 every : map --keys 1 --chains 1
    400 2x8 every : map --keys 40 --chains 5
    200 2x8 every : list --keys 1
    200 2x8 every : list --keys 40
    400 2x8 every : ordered --keys 1
    400 2x8 every : ordered --keys 40
    2000 2x8,5x3 few : pool
    // One of everything; as many tasks of each kind; many queries; STAMP's mixes.
    600 2x8,5x3 few : vacation --transactions 600 -r 1 -n 1 -q 100 -u 50
    600 2x8,5x3 few : vacation --transactions 600 -r 8 -n 3 -q 100 -u 34
    600 2x8,5x3 few : vacation --transactions 600 -r 30 -n 10 -q 90 -u 90
    600 2x8,5x3 few : vacation --transactions 600 -r 60 -n 2 -q 90 -u 98
    600 2x8,5x3 few : vacation --transactions 600 -r 60 -n 4 -q 60 -u 90
    600 2x8,5x3 few : vacation --transactions 600 -r 60 -n 4 -q 60 -u 0
    600 2x8,5x3 few : vacation --transactions 600 -r 60 -n 4 -q 60 -u 100
    400 2x8 every : vacation --transactions 400 -r 10 -n 4 -q 100 -u 60
    600 2x8 every : bank --accounts 2 --audit-range 2 --audit-share 30 --zipf 0
    600 2x8 every : bank --accounts 2 --audit-range 2 --audit-share 30 --zipf 1.2
    600 2x8 every : bank --accounts 37 --audit-range 5 --audit-share 30 --zipf 0
    600 2x8 every : bank --accounts 37 --audit-range 5 --audit-share 30 --zipf 1.2
    600 2x8 every : bank --accounts 64 --audit-range 64 --audit-share 30 --zipf 0
    600 2x8 every : bank --accounts 64 --audit-range 64 --audit-share 30 --zipf 1.2
    // Transfers alone, and audits alone.
    1000 5x3 few : bank --accounts 40 --audit-range 20 --audit-share 0
    1000 5x3 few : bank --accounts 40 --audit-range 20 --audit-share 100
    // Rows of one, rows that ranges cut, and a row for all; a last row that is not full.
    600 2x8 every : bank --adds --zipf 0.9 --accounts 2 --audit-range 2 --row 1 --audit-share 30
    600 2x8 every : bank --adds --zipf 0.9 --accounts 37 --audit-range 5 --row 4 --audit-share 30
    600 2x8 every : bank --adds --zipf 0.9 --accounts 64 --audit-range 64 --row 32 --audit-share 30
    600 2x8 every : bank --adds --zipf 0.9 --accounts 61 --audit-range 20 --row 64 --audit-share 30
    600 2x8 adds : bank --adds --zipf 0.9 --accounts 2 --audit-range 2 --row 1 --audit-share 0
    600 2x8 adds : bank --adds --zipf 0.9 --accounts 37 --audit-range 5 --row 4 --audit-share 0
    600 2x8 adds : bank --adds --zipf 0.9 --accounts 64 --audit-range 64 --row 32 --audit-share 0
    600 2x8 adds : bank --adds --zipf 0.9 --accounts 61 --audit-range 20 --row 64 --audit-share 0
    600 2x8,5x3 every : EIGENBENCH
    // More writes than reads, and the other way about.
    400 2x8 few : EIGENBENCH --hot-reads 1 --hot-writes 13 --mild-reads 0 --mild-writes 9
    400 2x8 few : EIGENBENCH --hot-reads 17 --hot-writes 0 --mild-reads 9 --mild-writes 1
    // All accesses to one word, and all distinct words one.
    400 2x8 few : EIGENBENCH --locality 100
    400 2x8 few : EIGENBENCH --hot-words 1 --mild-words 1 --cold-words 1
    400 2x8 few : EIGENBENCH --locality 0 --mild-reads 0 --mild-writes 0 --cold-reads 0 --cold-writes 0 --cold-reads-outside 0 --cold-writes-outside 0
    400 2x8 few : EIGENBENCH --hot-reads 0 --hot-writes 0 --hot-words 0
";

#[test]
fn workloads_lose_nothing_and_show_no_wrong_sum_where_everything_collides() {
    let rows = ROWS.lines().map(str::trim);
    let rows: Vec<&str> = rows.filter(|row| row.contains(" : ")).collect();
    on_all_cores(&rows, |row| {
        let (head, line) = row.split_once(" : ").expect(row);
        let [transactions, shapes, memories] = head.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let shapes = shapes.split(',').map(|shape| {
            let (blocks, threads) = shape.split_once('x').expect(row);
            (blocks.parse().expect(row), threads.parse().expect(row))
        });
        let all = [(16, 4), (1, 4), (2, 4), (1, 16), (2, 16), (16, 16)];
        let all = if memories == "few" { &all[..1] } else { &all };
        let line = line.replace("EIGENBENCH", EIGENBENCH);
        let (shapes, number) = (shapes.collect::<Vec<_>>(), transactions.parse().expect(row));
        let reports = all_variants(&line, &shapes, all, number);
        if memories == "adds" {
            additions_do_not_conflict(&reports);
        }
    });
}

/// That the operating system interrupts an attempt in a transaction is a matter of luck.
#[test]
fn these_runs_do_collide() {
    let bank = "bank --accounts 37 --audit-share 30 --audit-range 5 --zipf 1.2";
    for of in ["ra --words 32 --reads 4 --writes 4", bank, EIGENBENCH] {
        let runs = || all_variants(of, &SHAPES[..1], &[(16, 4)], 20_000);
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
            verified(&of, &[Variant::Fast.into()], 11, (shape, (16, 4)), 3000);
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
