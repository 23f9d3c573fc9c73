//! All defaults of the benchmarks: launches and sizes, by workload, variant
//! and kind of device. `stamp tune` finds better ones for another device.

use crate::devices::Kind;
use crate::variants::Variant;
use stm_core::host::Limits;

/// Table 1 of the paper: RA's words.
pub const RA_WORDS: u32 = 8 << 20;
/// Table 1 of the paper: RA's reads of a transaction.
pub const RA_READS: u32 = 16;
/// Table 1 of the paper: RA's writes of a transaction.
pub const RA_WRITES: u32 = 16;
/// HT's buckets.
pub const HT_BUCKETS: u32 = 256 << 10;
/// HT's keys of a transaction.
pub const HT_KEYS_PER_TX: u32 = 4;
/// Accounts of a row, where transfers add.
pub const BANK_ROW: u32 = 64;
/// Bank's accounts.
pub const BANK_ACCOUNTS: u32 = 1 << 20;
/// How many of bank's transactions in a hundred are audits.
pub const BANK_AUDIT_PERCENT: u32 = 10;
/// Accounts that an audit adds up.
pub const BANK_AUDIT_RANGE: u32 = 64;
/// Table 1 of the paper: `EigenBench` has from 1 M to 64 M shared words.
pub const EIGENBENCH_HOT_WORDS: u32 = 1 << 20;
/// Table 1 of the paper: reads of a transaction, and writes.
pub const EIGENBENCH_ACCESSES: u32 = 32;
/// Words of each lane's mild array, and of its cold one.
pub const EIGENBENCH_LANE_WORDS: u32 = 256;
/// Table 1 of the paper: with this size, LB's 1.75 M shared words.
pub const LABYRINTH_SIZE: (u32, u32, u32) = (512, 512, 7);
/// Table 1 of the paper: LB's transactions, one a path.
pub const LABYRINTH_PATHS: u32 = 512;
/// LB's grid in a run without arguments on a CPU.
pub const LABYRINTH_DEMO_SIZE: (u32, u32, u32) = (96, 96, 3);
/// LB's paths in a run without arguments on a CPU.
pub const LABYRINTH_DEMO_PATHS: u32 = 64;
/// Table 1 of the paper: GN's 16 K shared words; STAMP's `-g16384`.
pub const GENOME_BASES: u32 = 16 << 10;
/// STAMP's `-s64`.
pub const GENOME_SEGMENT: u32 = 64;
/// Table 1 of the paper: GN-1's 4 M transactions.
pub const GENOME_SEGMENTS: u32 = 4 << 20;
/// GN's segments in a run without arguments on a CPU.
pub const GENOME_DEMO_SEGMENTS: u32 = 256 << 10;
/// Table 1 of the paper: KM's transactions of a kernel, one a point.
pub const KMEANS_POINTS: u32 = 64 << 10;
/// Table 1 of the paper: with the count, KM's 32 words of a transaction.
pub const KMEANS_DIMS: u32 = 31;
/// Table 1 of the paper: with those, KM's 2 K shared words.
pub const KMEANS_CENTRES: u32 = 64;
/// Clusters of points from a file.
pub const KMEANS_CLUSTERS: u32 = 16;
/// STAMP's default.
pub const KMEANS_THRESHOLD: f64 = 0.001;
/// The most passes of a clustering, about as many as STAMP's.
pub const KMEANS_PASSES_MAX: u32 = 500;
/// Passes of KM in `bench floor`.
pub const KMEANS_FLOOR_PASSES: u32 = 3;
/// KM's points in a run without arguments on a CPU.
pub const KMEANS_DEMO_POINTS: u32 = 4 << 10;
/// Table 1 of the paper: transactions.
pub const TRANSACTIONS: u64 = 1 << 20;
/// The seed.
pub const SEED: u64 = 1;
/// Runs of each shape that `tune` found best.
pub const TUNE_REPEAT: u32 = 5;

/// Blocks and threads of a launch, if the caller names neither. For GPUs, what
/// `stamp tune` found on an H200, by its number of multiprocessors.
/// `algorithm` is never [`Variant::Optimized`], but what that stands for.
pub fn launch(workload: &str, algorithm: Variant, kind: Kind, limits: &Limits) -> (u32, u32) {
    let p = limits.processors;
    match (kind, workload, algorithm) {
        // One thread a core; blocks of one, as `egpgv` runs one a block.
        (Kind::Cpu, _, _) => (p, 1),
        // A router a block, whose threads expand the grid together; the
        // transactions are one thread's, or with teams its warp's or the block's.
        (Kind::Cuda, "labyrinth", _) => (p, 256),
        // One warp: it hands the lock from lane to lane without a race.
        (Kind::Cuda, _, Variant::Cgl) => (1, 32),
        (Kind::Cuda, _, Variant::Egpgv) => (8 * p, 32),
        // Few rows, and every transaction writes all of one.
        (Kind::Cuda, "kmeans", _) => (p, 64),
        // More threads only stand in line for the sequence lock.
        (Kind::Cuda, "ra" | "eigenbench", Variant::Vbv) => (16, 64),
        (Kind::Cuda, _, Variant::Vbv) => (4, 64),
        // Without values, every old stamp aborts: fewer transactions at a time.
        (Kind::Cuda, "ra" | "eigenbench", Variant::TbvSorting) => (2 * p, 32),
        // Few transactions at a time, each short; or many that seldom write.
        (Kind::Cuda, "genome", Variant::Fast | Variant::FastTable) => (2 * p, 256),
        (Kind::Cuda, "bank", Variant::Fast | Variant::FastTable) => (2 * p, 128),
        (Kind::Cuda, "ht", Variant::Fast) => (p, 192),
        (Kind::Cuda, "ra", Variant::Fast) => (p, 96),
        (Kind::Cuda, _, Variant::Fast | Variant::FastTable) => (p, 128),
        (Kind::Cuda, "ra" | "eigenbench", _) => (4 * p, 64),
        (Kind::Cuda, "bank", _) => (p, 256),
        (Kind::Cuda, "genome", _) => (2 * p, 256),
        (Kind::Cuda, _, _) => (8 * p, 256),
    }
}

/// The launch of a kernel without transactions, of the kind whose threads do
/// not wait for each other: enough to fill the device.
pub fn plain(limits: &Limits) -> (u32, u32) {
    if limits.warp_width == 1 {
        (limits.processors, 1)
    } else {
        (
            8 * limits.processors,
            (8 * limits.warp_width).min(limits.threads_max),
        )
    }
}

/// Transactions of a run without arguments. The data has its full size, and
/// rates can be compared whatever the number: they are transactions a second.
pub const fn demo_transactions(variant: Variant, kind: Kind) -> u64 {
    match (kind, variant) {
        (Kind::Cpu, _) => 1 << 19,
        (Kind::Cuda, Variant::Cgl | Variant::Vbv) => 1 << 17,
        (Kind::Cuda, _) => TRANSACTIONS,
    }
}

/// Seconds that one launch of a run without arguments may take.
pub const DEMO_SECONDS_MAX: u64 = 30;

/// Shapes between those of [`shapes`], which `bench floor` tries as well: where
/// memory bounds transactions and conflicts bound their number, three warps a
/// multiprocessor can be better than two and than four.
pub fn between(kind: Kind, limits: &Limits) -> Vec<(u32, u32)> {
    match kind {
        Kind::Cpu => Vec::new(),
        Kind::Cuda => vec![(limits.processors, 96), (limits.processors, 192)],
    }
}

/// The shapes that `tune` tries: blocks, then threads a block. On a GPU, none
/// with more than twice the threads that it holds at a time.
pub fn shapes(kind: Kind, limits: &Limits, resident_threads: u64) -> Vec<(u32, u32)> {
    let p = limits.processors;
    let (blocks, threads): (Vec<u32>, &[u32]) = match kind {
        Kind::Cpu => (vec![1, p, 4 * p], &[1, 2, 4]),
        Kind::Cuda => (
            vec![1, 4, 16, p / 4, p / 2, p, 2 * p, 4 * p, 8 * p],
            &[32, 64, 128, 256, 512],
        ),
    };
    let mut shapes = Vec::new();
    for b in blocks {
        for &t in threads {
            let fits = kind == Kind::Cpu || u64::from(b) * u64::from(t) <= 2 * resident_threads;
            if b > 0 && fits && !shapes.contains(&(b, t)) {
                shapes.push((b, t));
            }
        }
    }
    shapes
}
