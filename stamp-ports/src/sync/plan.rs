//! The points of a device, in the order in which they are measured: first what the targets
//! and the claims of the papers need, and last what takes long.

use crate::devices::{AnyDevice, DeviceKind};
use crate::points::Asked;
use stm_core::host::Device;

/// Points of one of the workloads.
#[derive(Clone, Copy)]
struct Of {
    part: &'static str,
    /// A parameter that all of them share.
    shared: Option<(&'static str, u64)>,
    /// The parameter in which they differ.
    varied: &'static str,
}

/// The hash table, of so many pairs.
const fn table(pairs: u64) -> Of {
    Of {
        part: "table",
        shared: Some(("pairs", pairs)),
        varied: "buckets",
    }
}

/// The sorted list, of so many keys.
const fn list(keys: u64) -> Of {
    Of {
        part: "list",
        shared: Some(("keys", keys)),
        varied: "entry-points",
    }
}

/// The counter.
const COUNTER: Of = Of {
    part: "counter",
    shared: None,
    varied: "items",
};

/// Critical sections.
const SECTION: Of = Of {
    part: "sections",
    shared: None,
    varied: "rounds",
};

impl Of {
    /// Adds the points that are not there yet: of each value of the parameter, at each shape, of
    /// each kind in the lists.
    fn add(
        self,
        all: &mut Vec<Asked>,
        values: &[u64],
        shapes: &[(u32, u32)],
        kinds: &[&[&'static str]],
    ) {
        for &value in values {
            for &shape in shapes {
                for &kind in kinds.iter().copied().flatten() {
                    let parameters = [(self.varied, value)].into_iter().chain(self.shared);
                    let parameters: Vec<_> = parameters.collect();
                    let point = Asked::new(self.part, kind, shape, &parameters);
                    if !all.contains(&point) {
                        all.push(point);
                    }
                }
            }
        }
    }
}

/// The locks of Grote 2020, each lane by itself.
const OF_GROTE: [&str; 4] = ["tas/lane", "ttas/lane", "ticket", "mcs/lane"];

/// The other implementations of the counter.
const COUNTERS: [&str; 13] = [
    "tas",
    "ttas",
    "tas-backoff",
    "ticket-handoff",
    "fetch-add",
    "ring",
    "anderson",
    "mcs",
    "cohort",
    "combining",
    "added",
    "stm:fast",
    "stm:hv-sorting",
];

/// The other implementations of the table that are measured with every number of buckets.
const TABLES: [&str; 4] = ["lock-free", "mcs", "combining", "stm:fast"];

/// The rest of them, with the fewest buckets.
const TABLES_FEW: [&str; 6] = [
    "tas",
    "ttas",
    "tas-backoff",
    "ticket-handoff",
    "fetch-add",
    "anderson",
];

/// Lock coupling.
const COUPLED: [&str; 4] = [
    "coupled:tas",
    "coupled:ttas",
    "coupled:ticket",
    "coupled:mcs2",
];

/// Coarse-grained locking, each lane by itself.
const COARSE: [&str; 4] = [
    "coarse:tas/lane",
    "coarse:ttas/lane",
    "coarse:ticket",
    "coarse:mcs/lane",
];

/// The implementations of critical sections.
const SECTIONS: [&str; 9] = [
    "none",
    "tas",
    "tas-again",
    "spin-spin",
    "ticket",
    "anderson",
    "mcs",
    "combining",
    "stm:fast",
];

/// The keys of the sorted list.
const LIST_KEYS: u64 = 262_000;

/// The pairs of the hash table: 100 MiB of keys, as in the code that Grote adapted.
const PAIRS: u64 = 26_214_400;

/// The points of the workloads.
pub fn sections(device: &AnyDevice, quick: bool) -> Vec<Asked> {
    let mut all = Vec::new();
    if quick || device.kind() == DeviceKind::Cpu {
        small(&mut all);
    } else {
        full(&mut all, device.limits().processors);
    }
    all
}

/// The points of a small run.
fn small(all: &mut Vec<Asked>) {
    let shapes = [(1, 1), (1, 4), (2, 2)];
    COUNTER.add(all, &[2048], &shapes, &[&OF_GROTE, &COUNTERS]);
    let kinds: [&[_]; 3] = [&OF_GROTE, &TABLES, &TABLES_FEW];
    table(1 << 16).add(all, &[256, 16], &[(2, 2)], &kinds);
    let ours = &["coarse:ttas", "coarse:mcs", "stm:fast", "stm:hv-sorting"];
    list(4000).add(all, &[16, 128], &[(2, 2)], &[&COUPLED, &COARSE, ours]);
    SECTION.add(all, &[0, 100], &[(16, 2)], &[&SECTIONS]);
}

/// Numbers of entry points of the sorted list, the most first.
const ENTRY_POINTS: [u64; 9] = [4096, 2048, 1024, 512, 256, 128, 64, 32, 16];

/// The increments of the counter.
const ITEMS: [u64; 1] = [32_768];

/// The points at the papers' shapes, and at those of a machine with so many multiprocessors.
pub(crate) fn full(all: &mut Vec<Asked>, processors: u32) {
    // The hash table. The locks of Grote are at this machine's launch with the fewest buckets alone,
    // and of them those that end within seconds there.
    let (of, theirs) = (table(PAIRS), [(30, 256)]);
    of.add(all, &[16, 32, 64, 256], &theirs, &[&TABLES, &OF_GROTE]);
    of.add(all, &[64, 256], &theirs, &[&["stm:hv-sorting"]]);
    of.add(all, &[16], &theirs, &[&TABLES_FEW]);
    let kinds = &["ticket", "mcs/lane"];
    of.add(all, &[16], &[(processors, 256)], &[&TABLES, kinds]);
    // The sorted list, as far as it does not take long.
    let (list, theirs, ours) = (list(LIST_KEYS), [(30, 128)], [(processors, 128)]);
    let first = &["coupled:tas", "stm:fast"];
    let then = &["coupled:ttas", "coupled:ticket", "coupled:mcs2"];
    list.add(all, &[16], &theirs, &[first, then]);
    list.add(all, &[16], &ours, &[first]);
    list.add(all, &ENTRY_POINTS[..8], &theirs, &[&COUPLED, &["stm:fast"]]);
    let coarse = &["coarse:tas/lane", "coarse:ttas/lane", "coarse:ttas"];
    list.add(all, &ENTRY_POINTS[..7], &theirs, &[coarse]);
    list.add(all, &[4096, 1024], &theirs, &[&["stm:hv-sorting"]]);
    for entry_points in [4096, 1024, 256] {
        let kinds = &["coupled:ttas", "coarse:ttas", "stm:fast"];
        list.add(all, &[entry_points], &ours, &[kinds]);
    }
    for threads in [32, 256, 1024] {
        list.add(all, &[128, 64], &[(30, threads)], &[&COARSE]);
    }
    list.add(all, &[128, 64], &theirs, &[&COARSE[2..]]);
    critical(all, processors);
    // The counter.
    COUNTER.add(all, &ITEMS, &[(1, 1)], &[&OF_GROTE]);
    let shapes = [(32, 1024), (32, 256), (32, 32), (processors, 256)];
    COUNTER.add(all, &ITEMS, &shapes, &[&COUNTERS, &OF_GROTE]);
    for threads in [1024, 32, 64, 128, 256, 384, 512, 192, 768] {
        let shapes = [1, 8, 16, 32].map(|blocks| (blocks, threads));
        COUNTER.add(all, &ITEMS, &shapes, &[&OF_GROTE]);
    }
    // What the papers have at their shapes once more, at this machine's.
    for entry_points in ENTRY_POINTS {
        let coarse = if entry_points >= 128 { 2 } else { 0 };
        let kinds: [&[_]; 3] = [&COUPLED, &["stm:fast"], &COARSE[..coarse]];
        list.add(all, &[entry_points], &ours, &kinds);
    }
    for blocks in [processors.div_ceil(2), processors, 2 * processors] {
        let shapes = [32, 256, 1024].map(|threads| (blocks, threads));
        COUNTER.add(all, &ITEMS, &shapes, &[&OF_GROTE]);
    }
    // The points of the sorted list that take long; with 16 entry points each takes half a minute.
    let coarse = &["coarse:ttas/lane", "coarse:tas/lane"];
    list.add(all, &[32], &theirs, &[coarse]);
}

/// Critical sections: at the paper's shape, and at this machine's.
fn critical(all: &mut Vec<Asked>, processors: u32) {
    for rounds in [0, 100, 100_000] {
        for blocks in [512, processors, 4 * processors] {
            for kind in SECTIONS {
                // An attempt takes as long as a section of a lock's holder, and nearly
                // all are in vain.
                if rounds > 100 && kind.starts_with("stm:") {
                    continue;
                }
                // The combiner's holder takes more registers than blocks of 1,024 threads
                // have, and so do transactions, each of which is to be in its own block.
                let threads = match kind {
                    "combining" => 256,
                    kind if kind.starts_with("stm:") => 1,
                    _ => 1024,
                };
                if blocks == 512 || !["tas-again", "spin-spin"].contains(&kind) {
                    SECTION.add(all, &[rounds], &[(blocks, threads)], &[&[kind]]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_core::host::Cpu;

    #[test]
    fn no_point_is_asked_for_twice() {
        let mut full = Vec::new();
        super::full(&mut full, 132);
        let quick = sections(&AnyDevice::Cpu(Cpu::new()), true);
        for all in [full, quick] {
            for (i, point) in all.iter().enumerate() {
                assert!(!all[..i].contains(point), "{point:?}");
            }
        }
    }
}
