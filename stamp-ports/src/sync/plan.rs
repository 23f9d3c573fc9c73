//! The points of a device, in the order in which they are measured: first what the targets
//! and the claims of the papers need, and last what takes long.

use super::document::Asked;
use crate::devices::{AnyDevice, DeviceKind};
use std::collections::BTreeMap;
use stm_core::host::Device;

/// A point of one of the workloads.
fn asked(
    part: &str,
    implementation: &str,
    (blocks, threads): (u32, u32),
    parameters: &[(&str, u64)],
) -> Asked {
    Asked {
        part: part.into(),
        implementation: implementation.into(),
        blocks,
        threads,
        parameters: parameters
            .iter()
            .map(|&(name, value)| (name.to_owned(), value))
            .collect::<BTreeMap<_, _>>(),
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
const TABLES: [&str; 5] = [
    "lock-free",
    "mcs",
    "combining",
    "stm:fast",
    "stm:hv-sorting",
];

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
    if quick || device.kind() == DeviceKind::Cpu {
        return sections_quick();
    }
    let processors = device.limits().processors;
    let mut all = Vec::new();
    tables(&mut all, processors);
    lists(&mut all, processors);
    critical(&mut all, processors);
    counters(&mut all, processors);
    at_machine_size(&mut all, processors);
    lists_long(&mut all);
    all
}

/// The points of a small run.
fn sections_quick() -> Vec<Asked> {
    let mut all = Vec::new();
    let items = &[("items", 2048)][..];
    for shape in [(1, 1), (1, 4), (2, 2)] {
        for kind in OF_GROTE.iter().chain(&COUNTERS) {
            all.push(asked("counter", kind, shape, items));
        }
    }
    for buckets in [256, 16] {
        let parameters = &[("pairs", 1 << 16), ("buckets", buckets)][..];
        for kind in OF_GROTE.iter().chain(&TABLES).chain(&TABLES_FEW) {
            all.push(asked("table", kind, (2, 2), parameters));
        }
    }
    for entry_points in [16, 128] {
        let parameters = &[("keys", 4000), ("entry-points", entry_points)][..];
        let ours = ["coarse:ttas", "coarse:mcs", "stm:fast", "stm:hv-sorting"];
        for kind in COUPLED.iter().chain(&COARSE).chain(&ours) {
            all.push(asked("list", kind, (2, 2), parameters));
        }
    }
    for rounds in [0, 100] {
        for kind in SECTIONS {
            all.push(asked("sections", kind, (16, 2), &[("rounds", rounds)]));
        }
    }
    all
}

/// The hash table: at the paper's shape, and at this machine's.
fn tables(all: &mut Vec<Asked>, processors: u32) {
    for buckets in [16, 32, 64, 256] {
        let parameters = &[("pairs", PAIRS), ("buckets", buckets)][..];
        for kind in TABLES.iter().chain(&OF_GROTE) {
            all.push(asked("table", kind, (30, 256), parameters));
        }
    }
    let fewest = &[("pairs", PAIRS), ("buckets", 16)][..];
    for kind in TABLES.iter().chain(&TABLES_FEW).chain(&OF_GROTE) {
        all.push(asked("table", kind, (processors, 256), fewest));
    }
}

/// The sorted list, as far as it does not take long.
fn lists(all: &mut Vec<Asked>, processors: u32) {
    let parameters = |entry_points| [("keys", LIST_KEYS), ("entry-points", entry_points)];
    for kind in [
        "coupled:tas",
        "stm:fast",
        "coupled:ttas",
        "coupled:ticket",
        "coupled:mcs2",
    ] {
        all.push(asked("list", kind, (30, 128), &parameters(16)));
    }
    for kind in ["coupled:tas", "stm:fast"] {
        all.push(asked("list", kind, (processors, 128), &parameters(16)));
    }
    for entry_points in [4096, 2048, 1024, 512, 256, 128, 64, 32] {
        for kind in COUPLED.iter().chain(&["stm:fast"]) {
            all.push(asked("list", kind, (30, 128), &parameters(entry_points)));
        }
    }
    for entry_points in [4096, 2048, 1024, 512, 256, 128, 64] {
        for kind in ["coarse:tas/lane", "coarse:ttas/lane", "coarse:ttas"] {
            all.push(asked("list", kind, (30, 128), &parameters(entry_points)));
        }
    }
    for entry_points in [4096, 1024, 256] {
        all.push(asked(
            "list",
            "stm:hv-sorting",
            (30, 128),
            &parameters(entry_points),
        ));
        for kind in ["coupled:ttas", "coarse:ttas", "stm:fast"] {
            all.push(asked(
                "list",
                kind,
                (processors, 128),
                &parameters(entry_points),
            ));
        }
    }
    for threads in [32, 64, 256, 512, 1024] {
        for entry_points in [128, 64] {
            for kind in COARSE {
                all.push(asked(
                    "list",
                    kind,
                    (30, threads),
                    &parameters(entry_points),
                ));
            }
        }
    }
    for entry_points in [128, 64] {
        for kind in ["coarse:ticket", "coarse:mcs/lane"] {
            all.push(asked("list", kind, (30, 128), &parameters(entry_points)));
        }
    }
}

/// The points of the sorted list that take long.
fn lists_long(all: &mut Vec<Asked>) {
    for entry_points in [32, 16] {
        let parameters = &[("keys", LIST_KEYS), ("entry-points", entry_points)][..];
        for kind in ["coarse:ttas/lane", "coarse:tas/lane"] {
            all.push(asked("list", kind, (30, 128), parameters));
        }
    }
    for entry_points in [32, 16] {
        let parameters = &[("keys", LIST_KEYS), ("entry-points", entry_points)][..];
        for threads in [32, 64, 128, 256, 512, 1024] {
            for kind in &COARSE[1..] {
                let point = asked("list", kind, (30, threads), parameters);
                if !all.contains(&point) {
                    all.push(point);
                }
            }
        }
    }
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
                    all.push(asked(
                        "sections",
                        kind,
                        (blocks, threads),
                        &[("rounds", rounds)],
                    ));
                }
            }
        }
    }
}

/// The counter: at the paper's shapes, and at this machine's.
fn counters(all: &mut Vec<Asked>, processors: u32) {
    let items = &[("items", 32_768)][..];
    for kind in OF_GROTE {
        all.push(asked("counter", kind, (1, 1), items));
    }
    for (blocks, threads) in [(32, 1024), (32, 256), (32, 32), (processors, 256)] {
        for kind in COUNTERS.iter().chain(&OF_GROTE) {
            all.push(asked("counter", kind, (blocks, threads), items));
        }
    }
    for threads in [1024, 32, 64, 128, 256, 384, 512, 192, 768] {
        for blocks in [1, 8, 16, 32] {
            for kind in OF_GROTE {
                let point = asked("counter", kind, (blocks, threads), items);
                if !all.contains(&point) {
                    all.push(point);
                }
            }
        }
    }
}

/// What the papers have at their shapes once more, at this machine's.
fn at_machine_size(all: &mut Vec<Asked>, processors: u32) {
    let mut more = Vec::new();
    for buckets in [32, 64, 256] {
        let parameters = &[("pairs", PAIRS), ("buckets", buckets)][..];
        for kind in ["lock-free"].iter().chain(&OF_GROTE) {
            more.push(asked("table", kind, (processors, 256), parameters));
        }
    }
    for entry_points in [4096, 2048, 1024, 512, 256, 128, 64, 32, 16] {
        let parameters = &[("keys", LIST_KEYS), ("entry-points", entry_points)][..];
        for kind in COUPLED.iter().chain(&["stm:fast"]) {
            more.push(asked("list", kind, (processors, 128), parameters));
        }
        if entry_points >= 128 {
            for kind in &COARSE[..2] {
                more.push(asked("list", kind, (processors, 128), parameters));
            }
        }
    }
    let items = &[("items", 32_768)][..];
    for blocks in [processors.div_ceil(2), processors, 2 * processors] {
        for threads in [32, 64, 128, 256, 384, 512, 1024] {
            for kind in OF_GROTE {
                more.push(asked("counter", kind, (blocks, threads), items));
            }
        }
    }
    more.retain(|point| !all.contains(point));
    all.extend(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_core::host::Cpu;

    #[test]
    fn no_point_is_asked_for_twice() {
        let mut full = Vec::new();
        tables(&mut full, 132);
        lists(&mut full, 132);
        critical(&mut full, 132);
        counters(&mut full, 132);
        at_machine_size(&mut full, 132);
        lists_long(&mut full);
        let quick = sections(&AnyDevice::Cpu(Cpu::new()), true);
        for all in [full, quick] {
            for (i, point) in all.iter().enumerate() {
                assert!(!all[..i].contains(point), "{point:?}");
            }
        }
    }
}
