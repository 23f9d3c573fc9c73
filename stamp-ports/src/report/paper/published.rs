//! What the paper says in figures, to stand beside what was measured.
//!
//! Xu et al., Software transactional memory for GPU architectures, CGO 2014:
//! Tables 1 and 2 and the sections named. Its Figures 2 to 5 are drawings
//! without numbers, so only what the text says of them can be quoted.

/// The largest speed-up over coarse-grained locking (abstract).
pub const SPEEDUP_MAX: f64 = 20.0;
/// Its device (section 4.1).
pub const DEVICE: &str = "NVIDIA C2070 (Fermi), 1.15 GHz, 14 multiprocessors";
/// Table 1, as printed, and the launches of Table 2, by the workload at the command line: shared
/// data in words, words that a transaction reads and writes, transactions of a kernel, share of
/// the time in transactions, probability of conflicts, and blocks x threads of a block where its
/// optimized variant is fastest.
#[rustfmt::skip]
pub const ROWS: [(&str, [&str; 7]); 8] = [
    ("ra", ["8M", "16", "16", "1M", "high", "low", "256 x 256"]),
    ("ht", ["256K", "8", "8", "1M", "high", "medium", "256 x 256"]),
    ("genome", ["16K / 1M", "1", "1", "4M / 1M", "medium / high", "low / medium", "256 x 256, 16 x 64"]),
    ("gn1", ["16K", "1", "1", "4M", "medium", "low", "256 x 256"]),
    ("gn2", ["1M", "1", "1", "1M", "high", "medium", "16 x 64"]),
    ("labyrinth", ["1.75M", "352", "352", "512", "low", "low", "512 x 256"]),
    ("kmeans", ["2K", "32", "32", "64K", "medium", "high", "64 x 4"]),
    ("eigenbench", ["1M to 64M", "32", "32", "1M", "high", "high to low", ""]),
];

/// The paper's row for a workload, or for a kernel of it.
pub fn of(workload: &str) -> Option<[&'static str; 7]> {
    let plain = plain(workload);
    let row = ROWS.iter().find(|(name, _)| *name == plain);
    row.map(|(_, cells)| *cells)
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
