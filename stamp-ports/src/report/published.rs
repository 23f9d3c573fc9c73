//! What the paper says in figures, to stand beside what was measured.
//!
//! Xu et al., Software transactional memory for GPU architectures, CGO 2014:
//! Tables 1 and 2 and the sections named. Its Figures 2 to 5 are drawings
//! without numbers, so only what the text says of them can be quoted.

/// How the page names its source.
pub const SOURCE: &str = "Xu et al., Software Transactional Memory for GPU Architectures, CGO 2014";
/// The largest speed-up over coarse-grained locking (abstract).
pub const SPEEDUP_MAX: f64 = 20.0;
/// Its device (section 4.1).
pub const DEVICE: &str = "NVIDIA C2070 (Fermi), 1.15 GHz, 14 multiprocessors";
/// Its version locks (section 4.2).
pub const LOCKS: u64 = 1 << 20;
/// Locks from which on hv-sorting is near its best in `EigenBench`
/// (section 4.3).
pub const HV_LOCKS_ENOUGH: u64 = 4 << 20;

/// A row of Table 1, as printed, and the launches of Table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The workload at the command line.
    pub workload: &'static str,
    /// Shared data, in words.
    pub shared: &'static str,
    /// Words that a transaction reads.
    pub reads: &'static str,
    /// Words that a transaction writes.
    pub writes: &'static str,
    /// Transactions of a kernel.
    pub transactions: &'static str,
    /// Share of the time in transactions.
    pub time: &'static str,
    /// Probability of conflicts.
    pub conflicts: &'static str,
    /// Blocks x threads of a block where its optimized variant is fastest.
    pub launch: &'static str,
}

const fn row(workload: &'static str, cells: [&'static str; 7]) -> Row {
    let [shared, reads, writes, transactions, time, conflicts, launch] = cells;
    Row {
        workload,
        shared,
        reads,
        writes,
        transactions,
        time,
        conflicts,
        launch,
    }
}

/// Tables 1 and 2.
pub const ROWS: [Row; 8] = [
    row("ra", ["8M", "16", "16", "1M", "high", "low", "256 x 256"]),
    row(
        "ht",
        ["256K", "8", "8", "1M", "high", "medium", "256 x 256"],
    ),
    row(
        "genome",
        [
            "16K / 1M",
            "1",
            "1",
            "4M / 1M",
            "medium / high",
            "low / medium",
            "256 x 256, 16 x 64",
        ],
    ),
    row("gn1", ["16K", "1", "1", "4M", "medium", "low", "256 x 256"]),
    row("gn2", ["1M", "1", "1", "1M", "high", "medium", "16 x 64"]),
    row(
        "labyrinth",
        ["1.75M", "352", "352", "512", "low", "low", "512 x 256"],
    ),
    row(
        "kmeans",
        ["2K", "32", "32", "64K", "medium", "high", "64 x 4"],
    ),
    row(
        "eigenbench",
        ["1M to 64M", "32", "32", "1M", "high", "high to low", ""],
    ),
];

/// The paper's row for a workload, or for a kernel of it.
pub fn of(workload: &str) -> Option<&'static Row> {
    let plain = plain(workload);
    ROWS.iter().find(|row| row.workload == plain)
}

/// A name without what people put between a word and its number: `genome/gn-1`
/// is `gn1`.
pub fn plain(workload: &str) -> String {
    let last = workload.rsplit(['/', ':', ' ']).next().unwrap_or(workload);
    last.chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .collect::<String>()
        .to_lowercase()
}
