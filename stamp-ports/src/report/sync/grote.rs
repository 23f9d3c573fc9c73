//! The numbers that decide Grote's claims (2020) about the counter, the hash table and the
//! sorted list: those of the rows in `grote.json`.
//!
//! Every lane asks for the lock by itself, as in the thesis: the kinds with `/lane`. His MCS2
//! with one lock for each entry point is `mcs` here, as one lock is held at a time.

use super::data::{COUNTER, counts, largest, mean, over, smallest, spread};
use super::shape::At;
use crate::report::claim::{Found, one};
use crate::report::palette::plain;

const TAS: &str = "tas/lane";
const TTAS: &str = "ttas/lane";
const TICKET: &str = "ticket";
const MCS: &str = "mcs/lane";
const LOCKS: [&str; 4] = [TAS, TTAS, TICKET, MCS];
const FREE: &str = "lock-free";
const FIVE: [&str; 5] = [TAS, TTAS, TICKET, MCS, FREE];

const COUPLED: [&str; 4] = [
    "coupled:tas",
    "coupled:ttas",
    "coupled:ticket",
    "coupled:mcs2",
];
const COARSE: [&str; 4] = [
    "coarse:ttas/lane",
    "coarse:ticket",
    "coarse:mcs/lane",
    "coarse:tas/lane",
];
/// The kinds of which both forms of locking are compared.
const BOTH: [(&str, &str); 2] = [
    ("coupled:tas", "coarse:tas/lane"),
    ("coupled:ttas", "coarse:ttas/lane"),
];

/// The entry points of the coupled list, from the most contention to the least, and those of
/// the other.
const ENTRIES: [u64; 9] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
const FEW: &[u64] = &[16, 32, 64, 128];

/// The grids by their indices: one block, and the three others.
const ALL: &[usize] = &[0, 1, 2, 3];
const MANY: &[usize] = &[1, 2, 3];

/// The counter with the largest grid of 1,024 threads.
fn wide(at: &At<'_>, kind: &str) -> Option<f64> {
    at.counter(kind, 3, 1024)
}

fn wide_ratio(at: &At<'_>, a: &str, b: &str) -> Found {
    one(
        format!("{} / {}", plain(a), plain(b)),
        over(wide(at, a), wide(at, b)),
    )
}

/// A number for each of some grids.
fn grids(at: &At<'_>, wanted: &[usize], of: impl Fn(usize) -> Option<f64>) -> Found {
    let name = |g: &usize| (super::data::blocks(at.shape.counter[*g]), of(*g));
    wanted.iter().map(name).collect()
}

/// A number for each block size, of which there must be two, that all kinds have with all grids.
fn sizes(
    at: &At<'_>,
    (kinds, grids): (&[&str], &[usize]),
    wanted: impl Fn(u32) -> bool,
    of: impl Fn(u32) -> Option<f64>,
) -> Found {
    let all = at.sizes(kinds, grids);
    if all.len() < 2 {
        return one("two block sizes of all kinds and grids", None);
    }
    let own = all.into_iter().filter(|b| wanted(*b));
    own.map(|b| (format!("{b} threads"), of(b))).collect()
}

/// The time of a kind with one block size over that with another.
fn by_size(at: &At<'_>, kind: &str, grid: usize, [a, b]: [u32; 2]) -> Option<f64> {
    over(at.counter(kind, grid, a), at.counter(kind, grid, b))
}

/// The best rival's time over that of a kind.
fn lead<'k>(kinds: &[&'k str], kind: &'k str, time: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let rivals = kinds.iter().filter(|k| **k != kind);
    let rivals: Vec<_> = rivals.map(|k| time(k)).collect();
    over(smallest(&rivals), time(kind))
}

fn growths(at: &At<'_>, kind: &str) -> Option<f64> {
    spread(&[0, 1, 2, 3].map(|g| by_size(at, kind, g, [1024, 32])))
}

fn first<'k>(kinds: &[&'k str], time: impl Fn(&str) -> Option<f64>) -> Option<&'k str> {
    let times = kinds.iter().map(|kind| Some((*kind, time(kind)?)));
    let times: Vec<(&str, f64)> = times.collect::<Option<_>>()?;
    times
        .into_iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(kind, _)| kind)
}

/// The numbers of a claim, part by part.
pub(super) fn numbers(at: &At<'_>, id: &str) -> Vec<Found> {
    match id.as_bytes() {
        [_, _, b'C', ..] => counter(at, id),
        [_, _, b'H', ..] => hash_table(at, id),
        [_, _, b'K', ..] => coarse(at, id),
        _ => list(at, id),
    }
}

fn counter(at: &At<'_>, id: &str) -> Vec<Found> {
    let ticket = |g, b| at.counter(TICKET, g, b);
    let mcs = |g, b| at.counter(MCS, g, b);
    match id {
        "G-C1" => {
            let time = |b| over(at.counter(TAS, 0, b), at.counter(TAS, 0, 1));
            let small = sizes(at, (&[TAS], &[0]), |b| b <= 384, time);
            vec![small, one("1024 threads", time(1024))]
        }
        "G-C2" => {
            let time = |g| over(at.counter(TAS, g, 128), at.counter(TAS, 0, 1));
            vec![grids(at, MANY, time)]
        }
        "G-C3" => {
            let ratio = |b| over(at.counter(TTAS, 3, b), at.counter(TAS, 3, b));
            vec![sizes(at, (&[TAS, TTAS], &[3]), |b| b >= 128, ratio)]
        }
        "G-C4" => vec![wide_ratio(at, TAS, TTAS)],
        "G-C5" => vec![grids(at, ALL, |g| by_size(at, TTAS, g, [64, 32]))],
        "G-C6" => vec![grids(at, &[0, 1], |g| {
            let all: Vec<_> = at
                .sizes(&[TICKET], &[g])
                .iter()
                .map(|b| ticket(g, *b))
                .collect();
            spread(&all).filter(|_| all.len() >= 2)
        })],
        "G-C7" => {
            let ratio = |b| over(ticket(1, b), ticket(0, b));
            vec![sizes(at, (&[TICKET], &[0, 1]), |_| true, ratio)]
        }
        "G-C8" => vec![grids(at, &[2, 3], |g| by_size(at, TICKET, g, [1024, 256]))],
        "G-C9" => {
            let all = |b| [1, 2, 3].map(|g| ticket(g, b));
            let small =
                |of: &dyn Fn(u32) -> Option<f64>| sizes(at, (&[TICKET], ALL), |b| b < 256, of);
            vec![
                small(&|b| spread(&all(b))),
                small(&|b| over(largest(&all(b)), ticket(0, b))),
            ]
        }
        "G-C10" => vec![grids(at, ALL, |g| by_size(at, MCS, g, [1024, 32]))],
        "G-C11" => vec![
            one("largest s over smallest", growths(at, MCS)),
            one("the same of TAS", growths(at, TAS)),
        ],
        "G-C12" => {
            let ratio = |b| over(smallest(&[1, 2, 3].map(|g| mcs(g, b))), mcs(0, b));
            vec![sizes(at, (&[MCS], ALL), |b| b < 256, ratio)]
        }
        "G-C13" => vec![
            one("largest grid", lead(&LOCKS, TICKET, |kind| wide(at, kind))),
            one(
                "in the mean",
                lead(&LOCKS, TICKET, |kind| counter_mean(at, kind)),
            ),
        ],
        "G-C14" => vec![[wide_ratio(at, TICKET, TTAS), wide_ratio(at, TTAS, TAS)].concat()],
        "G-C15" => vec![wide_ratio(at, MCS, TAS)],
        "G-C16" => {
            let own = at.data.points(COUNTER).filter(|p| p.implementation == MCS);
            let ended: Vec<bool> = own.map(counts).collect();
            let (right, all) = (ended.iter().filter(|right| **right).count(), ended.len());
            let words = format!("{right} of {all} points ended with the right count");
            // A point without a time may have been left out for another reason.
            vec![one(words, (all > 0 && right == all).then_some(0.0))]
        }
        _ => Vec::new(),
    }
}

/// The mean time on the counter over the larger grids and all block sizes.
fn counter_mean(at: &At<'_>, kind: &str) -> Option<f64> {
    let sizes = at.sizes(&LOCKS, MANY);
    let places = MANY
        .iter()
        .flat_map(|g| sizes.iter().map(move |b| (*g, *b)));
    let times: Vec<_> = places.map(|(g, b)| at.counter(kind, g, b)).collect();
    mean(&times).filter(|_| sizes.len() >= 2)
}

fn table(at: &At<'_>, buckets: u64, slow: &str, quick: &str) -> Found {
    let ratio = over(at.table(slow, buckets), at.table(quick, buckets));
    one(format!("{} / {}", plain(slow), plain(quick)), ratio)
}

fn table_spread(at: &At<'_>, buckets: u64) -> Option<f64> {
    spread(&FIVE.map(|kind| at.table(kind, buckets)))
}

fn hash_table(at: &At<'_>, id: &str) -> Vec<Found> {
    let to_both = |slow| {
        [MCS, TICKET]
            .map(|quick| table(at, 32, slow, quick))
            .concat()
    };
    let ratio = |a, b| over(table_spread(at, a), table_spread(at, b));
    match id {
        "G-H1" => vec![one("largest / smallest", table_spread(at, 256))],
        "G-H2" => vec![table(at, 16, TAS, MCS)],
        "G-H3" => vec![table(at, 16, FREE, MCS)],
        "G-H4" => vec![table(at, 32, TICKET, MCS)],
        "G-H5" => vec![table(at, 32, TTAS, FREE)],
        "G-H6" => vec![[FREE, TTAS].map(to_both).concat()],
        "G-H7" => vec![to_both(TAS)],
        "G-H8" => {
            let others = [TTAS, TICKET, MCS, FREE].map(|kind| at.table(kind, 64));
            let slowest = over(at.table(TAS, 64), largest(&others));
            vec![
                one("the others", spread(&others)),
                one("TAS over the slowest of them", slowest),
            ]
        }
        "G-H9" => {
            let ratio = |kind| over(at.table(kind, 16), at.table(kind, 256));
            vec![
                FIVE.map(|kind| (plain(kind).to_owned(), ratio(kind)))
                    .into(),
            ]
        }
        "G-H10" => vec![vec![
            ("16 / 64".into(), ratio(16, 64)),
            ("64 / 256".into(), ratio(64, 256)),
        ]],
        "G-H11" => vec![
            one("in the table", lead(&LOCKS, MCS, |kind| at.table(kind, 16))),
            one("on the counter", lead(&LOCKS, MCS, |kind| wide(at, kind))),
        ],
        _ => Vec::new(),
    }
}

/// A number for each of some numbers of entry points.
fn entries(wanted: &[u64], of: impl Fn(u64) -> Option<f64>) -> Found {
    wanted
        .iter()
        .map(|n| (format!("{n} entry points"), of(*n)))
        .collect()
}

/// The ratio of the coupled time to the coarse-grained one, for both kinds.
fn coupled_to_coarse(at: &At<'_>, wanted: &[u64]) -> Found {
    let pairs = wanted.iter().flat_map(|n| BOTH.map(|kinds| (*n, kinds)));
    let ratio = |(n, (coupled, coarse)): (u64, (&str, &str))| {
        let ratio = over(at.list(coupled, n), at.list(coarse, n));
        (format!("{} at {n}", plain(coupled)), ratio)
    };
    pairs.map(ratio).collect()
}

/// The same, coarse-grained to coupled.
fn coarse_to_coupled(at: &At<'_>, wanted: &[u64]) -> Found {
    let all = coupled_to_coarse(at, wanted).into_iter();
    all.map(|(name, ratio)| (name, ratio.map(|r| 1.0 / r)))
        .collect()
}

fn coupled_spread(at: &At<'_>, n: u64) -> Option<f64> {
    spread(&COUPLED.map(|kind| at.list(kind, n)))
}

fn list(at: &At<'_>, id: &str) -> Vec<Found> {
    let [tas, _, _, mcs] = COUPLED;
    match id {
        "G-L1" => vec![each_step(at, |n| n / 2 * 3), each_step(at, |n| 2 * n)],
        "G-L2" => {
            let [few, many] = [16, 4096].map(|n| coupled_spread(at, n));
            vec![
                one("spread at 4,096", many),
                one("over that at 16", over(many, few)),
            ]
        }
        "G-L3" => vec![entries(&ENTRIES, |n| {
            let [tas, ttas, ticket, mcs] = COUPLED.map(|kind| at.list(kind, n));
            over(largest(&[tas, ttas]), smallest(&[ticket, mcs]))
        })],
        "G-L4" => {
            let leads = ENTRIES.map(|n| lead(&COUPLED, tas, |kind| at.list(kind, n)));
            let ahead = leads.iter().flatten().filter(|lead| **lead >= 0.95).count();
            let words = format!("TAS is the fastest at {ahead} of 9");
            vec![
                entries(&ENTRIES, |n| over(at.list(tas, n), at.list(mcs, n))),
                one(words, Some(f64::from(u8::from(2 * ahead >= leads.len())))),
            ]
        }
        "G-L5" => {
            let of = |kind: &str| {
                let ratio = |n: &u64| over(at.list(kind, 2 * n), at.list(kind, *n));
                let name = |n: &u64| (format!("{} at {n}", plain(kind)), ratio(n));
                ENTRIES[..8].iter().map(name).collect::<Found>()
            };
            vec![COUPLED.map(of).concat()]
        }
        "G-M1" => {
            let all = coarse_to_coupled(at, &[16, 32]);
            let ratios: Vec<_> = all.iter().map(|(_, ratio)| *ratio).collect();
            vec![all, one("the largest", largest(&ratios))]
        }
        "G-M2" => vec![coarse_to_coupled(at, &[64])],
        "G-M3" => vec![coupled_to_coarse(at, &[128, 256])],
        "G-M4" => vec![coupled_to_coarse(at, &ENTRIES[5..])],
        "G-M5" => vec![coarse_to_coupled(at, &[16]), coupled_to_coarse(at, &[256])],
        "G-S1" => {
            let all = [
                first(&LOCKS, |kind| wide(at, kind)),
                first(&LOCKS, |kind| at.table(kind, 16)),
                first(&COUPLED, |kind| at.list(kind, 16)),
            ];
            let all = all.map(|kind| kind.map(|k| plain(k).trim_end_matches('2')));
            let [Some(counter), Some(table), Some(list)] = all else {
                return vec![one("the four locks in all three", None)];
            };
            let words = format!("counter {counter}, table {table}, list {list}");
            let differ = counter != table || table != list;
            vec![one(words, Some(f64::from(u8::from(differ))))]
        }
        _ => Vec::new(),
    }
}

/// T of a kind at a number of entry points over that at the step before, for each kind.
fn each_step(at: &At<'_>, next: fn(u64) -> u64) -> Found {
    let of = |kind: &str| {
        let ratio = |n| over(at.list(kind, next(n)), at.list(kind, n));
        let name = |n| (format!("{} T({}) / T({n})", plain(kind), next(n)), ratio(n));
        [16, 32, 64].map(name)
    };
    COUPLED.map(of).concat()
}

/// The kinds that the thesis shows with so many entry points.
fn shown(entries: u64) -> &'static [&'static str] {
    &COARSE[..if entries < 64 { 3 } else { 4 }]
}

/// A number for each kind shown with each number of entry points.
fn each_shown(ratio: impl Fn(&str, u64) -> Option<f64>) -> Found {
    let pairs = FEW
        .iter()
        .flat_map(|n| shown(*n).iter().map(move |kind| (*n, *kind)));
    pairs
        .map(|(n, kind)| (format!("{} at {n}", plain(kind)), ratio(kind, n)))
        .collect()
}

/// The times of a kind over the block sizes, three at least, that all shown kinds have.
fn over_sizes(at: &At<'_>, kind: &str, n: u64) -> Option<Vec<(u32, f64)>> {
    let sizes = at.list_sizes(shown(n), n);
    let times = sizes
        .iter()
        .filter_map(|b| Some((*b, at.list_of(kind, n, *b)?)));
    Some(times.collect()).filter(|_| sizes.len() >= 3)
}

/// The smallest of those.
fn optimum(at: &At<'_>, kind: &str, n: u64) -> Option<f64> {
    over_sizes(at, kind, n)?
        .into_iter()
        .map(|(_, time)| time)
        .reduce(f64::min)
}

/// The smallest block size at which a kind is near its optimum.
fn best_size(at: &At<'_>, kind: &str, n: u64) -> Option<f64> {
    let least = optimum(at, kind, n)?;
    let mut times = over_sizes(at, kind, n)?.into_iter();
    times
        .find(|(_, time)| *time <= 1.05 * least)
        .map(|(b, _)| f64::from(b))
}

/// The largest spread of the three kinds over the block sizes, each scaled by its optimum.
fn scaled_spread(at: &At<'_>, n: u64) -> Option<f64> {
    let scaled = |kind, b| over(at.list_of(kind, n, b), optimum(at, kind, n));
    let sizes = at.list_sizes(shown(n), n);
    let spreads = sizes
        .iter()
        .map(|b| spread(&[0, 1, 2].map(|i| scaled(COARSE[i], *b))));
    spreads
        .collect::<Option<Vec<f64>>>()?
        .into_iter()
        .reduce(f64::max)
}

fn coarse(at: &At<'_>, id: &str) -> Vec<Found> {
    let [ttas, ticket, mcs, tas] = COARSE;
    let growth =
        |kind: &str, n, [a, b]: [u32; 2]| over(at.list_of(kind, n, a), at.list_of(kind, n, b));
    match id {
        "G-K1" => vec![each_shown(|kind, n| growth(kind, n, [128, 32]))],
        "G-K2" => vec![entries(FEW, |n| {
            let others: Vec<_> = shown(n)[1..].iter().map(|k| best_size(at, k, n)).collect();
            over(best_size(at, ttas, n), smallest(&others))
        })],
        "G-K3" => {
            vec![each_shown(|kind, n| {
                over(at.list_of(kind, n, 128), optimum(at, kind, n))
            })]
        }
        "G-K4" => vec![each_shown(|kind, n| growth(kind, n, [1024, 256]))],
        "G-K5" => {
            let of = |wanted: &[u64]| entries(wanted, |n| scaled_spread(at, n));
            vec![of(&[16, 32]), of(&[64, 128])]
        }
        "G-K6" => {
            let of = |b| {
                let others = |n| smallest(&[ticket, mcs].map(|kind| at.list_of(kind, n, b)));
                entries(FEW, |n| over(at.list_of(ttas, n, b), others(n)))
            };
            vec![[128, 256].map(of).concat()]
        }
        "G-K7" => {
            let places = [(64, 128), (64, 256), (128, 128), (128, 256)];
            let ratio = |(n, b)| {
                [ticket, mcs].map(|rival| over(at.list_of(tas, n, b), at.list_of(rival, n, b)))
            };
            let all: Option<Vec<f64>> = places.map(ratio).concat().into_iter().collect();
            let share = |all: Vec<f64>| all.iter().filter(|r| **r < 1.0).count() as f64 / 8.0;
            vec![one("TAS is ahead in", all.map(share))]
        }
        "G-K8" => {
            let wide = |kind, n| growth(kind, n, [1024, 128]);
            vec![entries(&[16, 32], |n| over(wide(tas, n), wide(ttas, n)))]
        }
        _ => Vec::new(),
    }
}
