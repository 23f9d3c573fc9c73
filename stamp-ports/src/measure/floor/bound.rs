//! Bounds: the time that the memory system needs for a protocol's own accesses, if nothing else took any: the
//! sum of their number over their rate, which is measured in the same run, for each kind of random accesses.
//!
//! [`accesses`] has the protocols. `hv-sorting` validates by value, and owns what it has read, too; static
//! updates of `fast` read by their swaps. The *cache* stands for the smallest memory that was measured: the
//! line has just been fetched by an access before. A rate is that of the largest memory measured which is no
//! larger than the data, so that it is not too low. Swaps count at the rate of their memory, although the same
//! transaction has loaded the line, because all other warps have loaded theirs since; where a launch has so
//! few threads that those lines all stay in the cache, the bound is lower than it must be. Left out are: the
//! clock, one addition for a warp; the logs, which lie together; nodes that only one transaction has; and all
//! that aborted attempts do.

use crate::measure::machine::Rate;
use crate::numbers::{bytes as in_bytes, short};
use crate::output::Joined;
use crate::workloads::contender::UNSYNCHRONISED;
use crate::workloads::form::FAST_STATIC;
use crate::workloads::workload::Accesses;
use serde::Serialize;

#[derive(PartialEq, Debug, Serialize)]
pub(crate) struct Term {
    /// Accesses of a transaction, on average.
    pub accesses: f64,
    pub operation: &'static str,
    pub bits: u32,
    /// The bytes over which their rate was measured.
    pub bytes: u64,
    pub per_s: f64,
}

#[derive(PartialEq, Debug, Default, Serialize)]
pub(crate) struct Bound {
    pub workload: &'static str,
    pub name: &'static str,
    pub terms: Vec<Term>,
    pub tx_per_s: f64,
    /// The rate measured over the bound.
    pub reached: f64,
}

/// The bytes that accesses go over; none where the line has just been fetched.
type Over = Option<u64>;

const CACHE: Over = None;

/// The accesses of each protocol's transaction: their number, operation, bits, and what they go over. `r`, `w`
/// and `v` are the words that it reads, writes, and reads and does not write if it writes any.
fn accesses(locks: u64, of: Accesses) -> [(&'static str, f64, &'static str, u32, Over); 21] {
    let (r, w, v) = (of.reads, of.writes, of.validated);
    let (values, cells) = (Some(4 * of.words), Some(8 * of.words));
    let table = Some(8 * locks.min(of.words));
    [
        ("fast", r, "load", 64, cells),
        ("fast", w, "swap", 64, cells),
        ("fast", v, "load", 64, cells),
        ("fast", w, "store", 64, CACHE),
        (FAST_STATIC, r, "swap", 64, cells),
        (FAST_STATIC, r, "store", 64, CACHE),
        ("fast-table", r, "load", 64, table),
        ("fast-table", r, "load", 32, values),
        ("fast-table", r, "load", 64, CACHE),
        ("fast-table", w, "swap", 64, table),
        ("fast-table", v, "load", 64, table),
        ("fast-table", w, "store", 32, CACHE),
        ("fast-table", w, "store", 64, CACHE),
        ("hv-sorting", r, "load", 32, values),
        ("hv-sorting", r, "load", 64, table),
        ("hv-sorting", r, "load", 32, values),
        ("hv-sorting", r, "swap", 64, table),
        ("hv-sorting", w, "store", 32, CACHE),
        ("hv-sorting", r, "store", 64, CACHE),
        (UNSYNCHRONISED.1, r, "load", 32, values),
        (UNSYNCHRONISED.1, w, "store", 32, CACHE),
    ]
}

impl Bound {
    /// Returns the bound of a protocol that is known, if all of its rates are.
    pub(crate) fn of(protocol: &str, locks: u64, of: Accesses, rates: &[Rate]) -> Option<Self> {
        let all = accesses(locks, of).into_iter();
        let own = all.filter(|(of, accesses, ..)| *of == protocol && *accesses > 0.0);
        let terms = own.map(|(_, accesses, operation, bits, over)| {
            let rate = rate(rates, operation, bits, over)?;
            Some(Term {
                accesses,
                operation,
                bits,
                bytes: rate.bytes,
                per_s: rate.per_s,
            })
        });
        let terms: Vec<Term> = terms.collect::<Option<_>>()?;
        let seconds: f64 = terms.iter().map(|term| term.accesses / term.per_s).sum();
        (seconds > 0.0).then(|| Self {
            terms,
            tx_per_s: 1.0 / seconds,
            ..Self::default()
        })
    }

    pub(crate) fn formula(&self) -> String {
        let terms = self.terms.iter().map(|term| {
            let accesses = (term.accesses * 100.0).round() / 100.0;
            let (bits, bytes) = (term.bits, in_bytes(term.bytes));
            let (operation, per_s) = (term.operation, short(term.per_s));
            format!("{accesses} {operation} {bits} at {per_s}/s ({bytes})")
        });
        terms.joined(" + ")
    }
}

/// Returns the rate over the largest memory that is no larger than the data, else the smallest.
fn rate<'r>(rates: &'r [Rate], operation: &str, bits: u32, over: Over) -> Option<&'r Rate> {
    let same = |r: &&Rate| r.operation == operation && r.bits == bits && r.per_s > 0.0;
    let same = rates.iter().filter(same);
    let fits = |r: &&Rate| over.is_some_and(|bytes| r.bytes <= bytes);
    let largest = same.clone().filter(fits).max_by_key(|r| r.bytes);
    largest.or(same.min_by_key(|r| r.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::AnyWorkload;
    use crate::workloads::input::Occasion;

    const MIB: u64 = 1 << 20;

    /// The rates of `docs/lab-notes/data/machine.txt` over 4 and 64 MiB, in G/s.
    const RATES: [(&str, u32, [f64; 2]); 5] = [
        ("load", 32, [159.0, 80.6]),
        ("load", 64, [159.0, 80.2]),
        ("store", 32, [76.0, 24.4]),
        ("store", 64, [76.4, 24.4]),
        ("swap", 64, [78.6, 35.4]),
    ];

    fn rates() -> Vec<Rate> {
        let rates = RATES.into_iter().flat_map(|(operation, bits, per_s)| {
            let rate = move |(mib, per_s)| Rate {
                bytes: mib * MIB,
                operation: operation.to_owned(),
                bits,
                threads: 1,
                per_s: per_s * 1e9,
            };
            [4, 64].into_iter().zip(per_s).map(rate)
        });
        rates.collect()
    }

    /// RA of Table 1.
    const RA: Accesses = Accesses {
        reads: 16.0,
        writes: 16.0,
        validated: 0.0,
        words: 8 * MIB,
    };

    fn bound(protocol: &str, locks: u64, of: Accesses) -> f64 {
        let bound = Bound::of(protocol, locks, of, &rates());
        bound.expect("all rates").tx_per_s
    }

    #[test]
    fn bounds_of_each_protocol_are_those_computed_by_hand() {
        // RA has 32 MiB of values, 64 MiB of cells, and locks of 8 MiB.
        let (r, w) = (16.0, 16.0);
        let small = Accesses { words: MIB, ..RA };
        // What is read and not written is validated by loads.
        let reader = Accesses {
            writes: 8.0,
            validated: 8.0,
            ..RA
        };
        let of_reader = [(r + 8.0, 80.2), (8.0, 35.4), (8.0, 76.4)];
        let table = [(3.0 * r, 159.0), (w, 78.6), (w, 76.0), (w, 76.4)];
        let hv = [(3.0 * r, 159.0), (r, 78.6), (w, 76.0), (r, 76.4)];
        for (protocol, of, terms) in [
            (UNSYNCHRONISED.1, RA, &[(r, 159.0), (w, 76.0)][..]),
            ("fast", RA, &[(r, 80.2), (w, 35.4), (w, 76.4)]),
            ("fast", small, &[(r, 159.0), (w, 78.6), (w, 76.4)]),
            ("fast", reader, &of_reader),
            (FAST_STATIC, RA, &[(r, 35.4), (r, 76.4)]),
            ("fast-table", RA, &table),
            ("hv-sorting", RA, &hv),
        ] {
            let each = terms.iter().map(|(accesses, per_ns)| accesses / per_ns);
            let expected = 1e9 / each.sum::<f64>();
            let found = bound(protocol, MIB, of);
            let is_close = (found / expected - 1.0).abs() < 1e-9;
            assert!(is_close, "{protocol} {of:?}: {found}");
        }
        // A table that is larger than the data has no more words in use.
        let table = |locks| bound("fast-table", locks, RA);
        assert!(table(8 * MIB) < table(MIB));
        assert!((table(8 * MIB) / table(64 * MIB) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_accesses_of_workloads_are_those_of_their_transactions() {
        let of = |name| {
            let workload = AnyWorkload::sized(name, Occasion::Measurement, 1);
            workload.expect("a workload").sizes().accesses()
        };
        let shape = |of: Accesses| [of.reads, of.writes, of.validated, of.words as f64];
        let mega = MIB as f64;
        assert_eq!(of("ra").map(shape), Some([16.0, 16.0, 0.0, 8.0 * mega]));
        // Each key reads the head of a chain and writes it; nodes are nobody else's.
        assert_eq!(of("ht").map(shape), Some([4.0, 4.0, 0.0, mega / 4.0]));
        // Every tenth transaction is an audit, so that nothing follows from the parameters.
        assert_eq!(of("bank"), None);
        let eigenbench = of("eigenbench").expect("hot words alone");
        let written = eigenbench.reads - eigenbench.writes;
        assert!(eigenbench.writes > 0.0 && (eigenbench.validated - written).abs() < 1e-9);
    }

    #[test]
    fn without_a_rate_or_a_known_protocol_there_is_no_bound() {
        let mut loads = rates();
        loads.retain(|rate| rate.operation == "load");
        assert_eq!(Bound::of("fast", MIB, RA, &loads), None);
        assert_eq!(Bound::of("egpgv", MIB, RA, &rates()), None);
    }
}
