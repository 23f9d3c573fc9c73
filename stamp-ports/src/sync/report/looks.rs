//! How an implementation looks, the same in every figure.

use crate::report::palette::{self, Hue};

/// The implementations by the slots of their looks. Those of one slot never meet in a figure.
const SLOTS: [&[&str]; 12] = [
    &["tas", "spin", "two-stage", "tas-again"],
    &["ttas", "tas-backoff", "spin-backoff", "tree"],
    &["ticket", "ticket-handoff", "sleeping", "led"],
    &["mcs", "mcs2", "tickets", "xiao-feng"],
    &["anderson", "cohort", "counted", "stm:hv-sorting"],
    &["combining", "grouped"],
    &["none", "added", "lock-free", "default, one in a row"],
    &[
        "cuda::binary_semaphore",
        "cuda::counting_semaphore",
        "grid.sync",
    ],
    &["default", "stm:fast"],
    &["fetch-add", "coarse:ttas"],
    &["ring", "coarse:tas/lane"],
    &["reserving-16", "spin-spin", "coarse:ttas/lane"],
];

/// The slot of names that are not known.
const OTHER: usize = 7;

/// Returns the look and the marker of an implementation. Where coarse-grained and coupled
/// locking stand in one figure, `apart` gives the former looks of their own.
pub fn of(name: &str, apart: bool) -> (Hue, usize) {
    let found = |name: &str| SLOTS.iter().position(|names| names.contains(&name));
    let whole = found(name).filter(|_| apart || !name.starts_with("coarse:"));
    palette::line(whole.or_else(|| found(plain(name))).unwrap_or(OTHER))
}

/// Returns the name of the lock alone: `tas` of `coarse:tas/lane`.
pub fn plain(name: &str) -> &str {
    let name = name
        .strip_prefix("coupled:")
        .or_else(|| name.strip_prefix("coarse:"))
        .unwrap_or(name);
    name.strip_suffix("/lane").unwrap_or(name)
}
