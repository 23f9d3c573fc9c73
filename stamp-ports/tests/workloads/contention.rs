//! Every workload with every variant on the CPU where everything collides: few words, few locks,
//! more threads than cores. Every result must be verified; `ra`, `bank` and `eigenbench` compare
//! each word with a replay, `ht` walks each chain, `map` and `list` account for each value, and
//! `vacation` accounts for each place and each reservation.
//!
//! `--static`: workloads as static updates.

use crate::prelude::*;
use stm_core::algorithm::Variant;

/// `EigenBench` on few words, with all that it can do.
const EIGENBENCH: &str = "eigenbench --hot-words 32 --hot-reads 6 --hot-writes 4 \
    --mild-words 8 --mild-reads 3 --mild-writes 2 --cold-words 8 --cold-reads 3 --cold-writes 2 \
    --cold-reads-outside 2 --cold-writes-outside 3 --nops 2 --nops-outside 3 --locality 30";

/// Transactions, the shapes of the launch, lock tables and bytes of a stripe (`every`, or `few` locks),
/// and the workload; of one that only `adds`, no attempt of the algorithms that can add without a read
/// aborts.
const ROWS: &str = "
    600 2x8,5x3 every : ra --words 32 --reads 4 --writes 4
    600 2x8 few : ra --words 32 --reads 8 --writes 3
    // Transactions that only read, and more reads than go to memory together.
    600 2x8 few : ra --words 32 --reads 4 --writes 0
    200 2x8 few : ra --words 64 --reads 37 --writes 37
    400 2x8 every : ht --keys-per-tx 4 --buckets {1,8}{, --nodes pool}
    1000 5x3 few : ht --buckets 32 --keys-per-tx 1
    400 2x8 every : map --keys {1 --chains 1,40 --chains 5,40 --alike 64}
    200 2x8 every : list --keys {1,40}
    400 2x8 every : ordered --keys {1,40}
    2000 2x8,5x3 few : pool
    // One of everything; as many tasks of each kind; many queries; STAMP's mixes.
    600 2x8,5x3 few : vacation --transactions 600 -r 1 -n 1 -q 100 -u 50
    600 2x8,5x3 few : vacation --transactions 600 -r 8 -n 3 -q 100 -u 34
    600 2x8,5x3 few : vacation --transactions 600 -r 30 -n 10 -q 90 -u 90
    600 2x8,5x3 few : vacation --transactions 600 -r 60 -n 2 -q 90 -u 98
    600 2x8,5x3 few : vacation --transactions 600 -r 60 -n 4 -q 60 -u {0,90,100}
    400 2x8 every : vacation --transactions 400 -r 10 -n 4 -q 100 -u 60
    600 2x8 every : BANK {2,37 --audit-range 5,64 --audit-range 64} --audit-share 30 --zipf {0,1.2}
    // Transfers alone, and audits alone.
    1000 5x3 few : BANK 40 --audit-range 20 --audit-share {0,100}
    // Rows of one, rows that ranges cut, and a row for all; a last row that is not full.
    600 2x8 every : BANK ADDED --audit-share 30
    600 2x8 adds : BANK ADDED --audit-share 0
    600 2x8,5x3 every : EIGENBENCH
    // More writes than reads, and the other way about.
    400 2x8 few : EIGENBENCH --hot-reads 1 --hot-writes 13 --mild-reads 0 --mild-writes 9
    400 2x8 few : EIGENBENCH --hot-reads 17 --hot-writes 0 --mild-reads 9 --mild-writes 1
    // All accesses to one word, and all distinct words one.
    400 2x8 few : EIGENBENCH --locality 100
    400 2x8 few : EIGENBENCH --hot-words 1 --mild-words 1 --cold-words 1
    400 2x8 few : EIGENBENCH --locality 0 --mild-reads 0 --mild-writes 0 --cold-reads 0 --cold-writes 0 --cold-reads-outside 0 --cold-writes-outside 0
    400 2x8 few : EIGENBENCH --hot-reads 0 --hot-writes 0 --hot-words 0
    // Few clusters; points and centres that no batch, warp or block divides; points of one coordinate,
    // and of more than go to memory together; as many clusters as points.
    0 2x8 every : KMEANS --points 300 --dims 3 --centres {1,4 -n 2}
    0 1x1,5x3,1x16,7x2,30x10 64x4 : KMEANS --points 203 --dims 9 --centres 7
    0 2x4 256x4 : KMEANS --points 120 --dims {1,7,8,64} --centres 3
    0 2x4 64x4 : KMEANS --points 40 --dims 2 --centres 40
    // Rows that fit the stack of a lane, and rows that do not.
    0 2x8 adds : KMEANS --adds --points {1000 --dims 3,300 --dims 32,60 --dims 100} --centres 3 -n 1
    // Segments that end within a word, at its end, just behind it, and in the third; covered many
    // times, and hardly at all. One segment that is the gene, and two.
    0 2x4 4096x4 : genome -g 300 -s {16,31,32,33,90} -n {1,40,3000}
    0 2x2 16x4 : genome -g {32,33} -s 32 -n 5
    0 2x3 1024x4 : nw --letters 23
";

/// What words in the rows stand for.
const WORDS: [(&str, &str); 4] = [
    (
        "BANK ADDED",
        "BANK {2 --row 1,37 --audit-range 5 --row 4,64 --audit-range 64 --row 32,61 --audit-range 20 --row 64} --adds --zipf 0.9",
    ),
    ("BANK", "bank --audit-range 2 --accounts"),
    ("KMEANS", "kmeans -t 0 --passes-max 6"),
    ("EIGENBENCH", EIGENBENCH),
];

#[test]
fn workloads_lose_nothing_and_show_no_wrong_sum_where_everything_collides() {
    on_all_cores(&table(ROWS, &WORDS), |(head, line)| {
        let [transactions, shapes, memories] = head.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{head}")
        };
        let number = |text: &str| text.parse::<u64>().expect(head);
        let pair = |text: &str| {
            let (a, b) = text.split_once('x').expect(head);
            (number(a), number(b))
        };
        let shapes = shapes.split(',').map(pair);
        let shapes: Vec<Shape> = shapes.map(|(b, t)| (b as u32, t as u32)).collect();
        let memories = match memories {
            "every" | "adds" => vec![(16, 4), (1, 4), (2, 4), (1, 16), (2, 16), (16, 16)],
            "few" => vec![(16, 4)],
            one => vec![pair(one)],
        };
        let reports = all_variants(line, 11, &shapes, &memories, number(transactions));
        if head.ends_with("adds") {
            additions_do_not_conflict(&reports);
        }
    });
}

/// That the operating system interrupts an attempt in a transaction is a matter of luck.
#[test]
fn these_runs_do_collide() {
    let bank = "bank --accounts 37 --audit-share 30 --audit-range 5 --zipf 1.2";
    let kmeans = "kmeans -t 0 --passes-max 6 --points 8000 --dims 8 --centres 2";
    let ra = "ra --words 32 --reads 4 --writes 4";
    for of in [ra, bank, EIGENBENCH, kmeans] {
        let runs = || all_variants(of, 11, &[(2, 8)], &[(16, 4)], 20_000);
        let collided = (0..20).any(|_| aborted(&runs()) > 0);
        assert!(collided, "no attempt aborted: this tests nothing");
    }
}

#[test]
fn few_words_keep_every_static_update() {
    for line in [
        "ra --words {16,32,1000,40 --wide}",
        "bank --audit-share 0 --accounts {2 --audit-range 2,37 --audit-range 37}{, --wide}",
        "ht --buckets {1,100} --keys-per-tx 4",
        "eigenbench --hot-words {1,64}",
    ] {
        for (line, _) in expanded(line, "") {
            let of = workload(&format!("{line} --static"), 11);
            for shape in [(2, 8), (5, 3)] {
                verified(&of, &[Variant::Fast.into()], 11, (shape, (16, 4)), 3000);
            }
        }
    }
}
