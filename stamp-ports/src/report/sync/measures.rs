//! What the calls in the rows of the three papers and of the targets stand for.
//!
//! Grote's lanes ask for the lock each by itself: the kinds with `/lane`. His MCS2 with one lock
//! for each entry point is `mcs` here, as one lock is held at a time.
//!
//! "All" locks of Gattani and Anickode are the spin lock, measured twice as their mutex is the
//! same code, ticket, MCS and Anderson's, and the spin spin lock where it was measured. In the
//! source that the slides seem to come from, the kernel with Anderson's lock prints "MCS" and the
//! other way round, so two claims are judged in both readings.
//!
//! `Asked` has the records of the document, and answers the formulas of `page.json`.

use super::choice;
use super::data::{At, COUNTER, Data, MUTEX, Shape, blocks, counts, over, smallest, spread};
use crate::measure::machine::abstraction::Abstraction;
use crate::points::Point;
use crate::report::claim::{Found, one};
use crate::report::formula::{Answer, Source};
use crate::report::palette::plain;
use crate::report::records::{Record, Sets, record};
use crate::sync::Bench;

/// Gattani and Anickode's locks by our names, but for the spin spin lock.
const LOCKS: [&str; 5] = ["tas", "ticket", "tas-again", "mcs", "anderson"];
const RANKED: [&str; 4] = ["tas", "ticket", "anderson", "mcs"];

/// The kinds of coarse locking that Grote shows, TAS from 64 entry points on.
const COARSE: [&str; 4] = [
    "coarse:ttas/lane",
    "coarse:ticket",
    "coarse:mcs/lane",
    "coarse:tas/lane",
];

fn shown(entries: u64) -> &'static [&'static str] {
    &COARSE[..if entries < 64 { 3 } else { 4 }]
}

/// Reads a number of a row; those of the rows can be read.
fn n<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

impl Source for At<'_> {
    const CALLS: &'static [&'static str] = &[
        // Numbers.
        "counter",
        "table",
        "list",
        "sections",
        "optimum",
        "best_size",
        "scaled_spread",
        "growth",
        "rate",
        "unfairness",
        "memory",
        // Words.
        "sizes",
        "locks",
        "slides",
        "full",
        "axis",
        "fastest",
        "default_of",
        "memory_blocks",
        "other_barriers",
        // Numbers with names.
        "ended",
        "leads",
        "differ",
        "sums",
        "right",
        "chosen",
        "predicted",
        "against_peer",
        "places",
    ];

    fn number(&self, name: &str, arguments: &[&str]) -> Option<f64> {
        match (name, arguments) {
            ("counter", [kind, grid, threads]) => self.counter(kind, n(grid)?, n(threads)?),
            ("table", [kind, buckets]) => self.table(kind, n(buckets)?),
            ("list", [kind, entries]) => self.list(kind, n(entries)?),
            ("list", [kind, entries, threads]) => self.list_of(kind, n(entries)?, n(threads)?),
            ("sections", [kind, rounds]) => self.sections(kind, n(rounds)?),
            ("optimum", [kind, entries]) => optimum(self, kind, n(entries)?),
            ("best_size", [kind, entries]) => best_size(self, kind, n(entries)?),
            ("scaled_spread", [entries]) => scaled_spread(self, n(entries)?),
            ("growth", [kind]) => {
                let rate = |n| self.rate(MUTEX, kind, n, None);
                over(rate(most(self)), rate(8))
            }
            ("rate", [part, kind, blocks]) => self.rate(part, kind, n(blocks)?, None),
            ("rate", [part, kind, blocks, count]) => {
                self.rate(part, kind, n(blocks)?, Some(n(count)?))
            }
            ("unfairness", [kind, blocks]) => self.data.unfairness(kind, n(blocks)?),
            ("memory", [kind, ratio]) => choice::memory(self, kind, ratio),
            _ => None,
        }
    }

    fn whole(&self, name: &str, arguments: &[&str]) -> Option<Answer> {
        let words = words(self, name, arguments).map(Answer::Words);
        words.or_else(|| named(self, name, arguments).map(Answer::Named))
    }

    fn shown(&self, name: &str, value: &str) -> String {
        match (name, n::<u32>(value)) {
            ("blocks", Some(n)) => blocks(n),
            ("g", Some(grid)) => {
                let grid = self.shape.counter.get(grid as usize);
                grid.map_or_else(|| value.to_owned(), |grid| blocks(*grid))
            }
            _ => plain(value).to_owned(),
        }
    }
}

/// Returns the words between bars.
fn list(words: &str) -> Vec<&str> {
    words.split('|').collect()
}

/// Returns the words that a call stands for, or what is missing.
fn words(at: &At<'_>, name: &str, arguments: &[&str]) -> Option<Result<Vec<String>, String>> {
    let number = |blocks: u32| Ok(vec![blocks.to_string()]);
    Some(match (name, arguments) {
        ("sizes", [from, below, grids, kinds]) => {
            let grids: Vec<usize> = grids.split('|').filter_map(n).collect();
            let sizes = at.sizes(&list(kinds), &grids);
            let wanted = n::<u32>(from)?..n::<u32>(below)?;
            let own = sizes.iter().filter(|size| wanted.contains(size));
            let own = Some(own.map(u32::to_string).collect()).filter(|_| sizes.len() >= 2);
            own.ok_or_else(|| "two block sizes of all kinds and grids".into())
        }
        ("locks", [but, rounds]) => {
            let own = locks(at, n(rounds)?).into_iter();
            let own = own.filter(|kind| kind != but);
            Ok(own.map(str::to_owned).collect())
        }
        ("slides", []) => number(most(at)),
        ("full", [then, part, kinds]) => number(at.full(then, part, &list(kinds), None)),
        ("full", [then, part, kinds, count]) => {
            number(at.full(then, part, &list(kinds), Some(n(count)?)))
        }
        ("axis", [part, kinds, from, least, rest @ ..]) => {
            let count = rest.first().and_then(|count| n(count));
            let axis = at.axis(part, &list(kinds), n(from)?, count);
            let enough = axis.len() >= n(least)?;
            let axis = Some(axis.iter().map(u32::to_string).collect());
            axis.filter(|_| enough).ok_or_else(|| "more blocks".into())
        }
        ("fastest", [part, kinds, number, count]) => {
            let rate = |kind: &str| at.rate(part, kind, n(number)?, Some(n(count)?));
            let found = first(&list(kinds), |kind| Some(1.0 / rate(kind)?));
            let all = list(kinds).join(" / ");
            let missing = format!("count {count}, {all} at {}", blocks(n(number)?));
            found.map(|kind| vec![kind.to_owned()]).ok_or(missing)
        }
        ("default_of", [part, peer, blocks, count]) => {
            let rate = |kind: &str| at.rate(part, kind, n(blocks)?, Some(n(count)?));
            let ours = choice::default_of(&at.data, part, peer, rate);
            Ok(vec![ours.map_or("default", |(kind, _)| kind).to_owned()])
        }
        ("memory_blocks", []) => choice::blocks_of_memory(at),
        ("other_barriers", []) => Ok(choice::other_barriers()),
        _ => return None,
    })
}

/// Returns the numbers with names that a call stands for.
fn named(at: &At<'_>, name: &str, arguments: &[&str]) -> Option<Found> {
    Some(match (name, arguments) {
        ("chosen", [barriers, mutexes, choices @ ..]) => {
            let choices: Vec<Vec<&str>> = choices.iter().map(|choice| list(choice)).collect();
            let choices: Vec<&[&str]> = choices.iter().map(Vec::as_slice).collect();
            choice::chosen(at, &list(barriers), &list(mutexes), &choices)
        }
        ("predicted", [mutexes]) => choice::predicted(at, &list(mutexes)),
        ("against_peer", [blocks]) => choice::barrier(at, n(blocks)?),
        ("places", [part, threads, parameter, value, a, b]) => {
            let parameter = Some((*parameter, n(value)?));
            choice::places(&at.data, (part, n(threads)?, parameter), [a, b])
        }
        ("ended", [kind]) => ended(at, kind),
        ("leads", [kinds, entries]) => leads(at, &list(kinds), entries.split('|').filter_map(n)),
        ("differ", [locks, coupled]) => differ(at, &list(locks), &list(coupled)),
        ("sums", [rounds]) => sums(at, n(rounds)?),
        ("right", [rounds]) => right(at, n(rounds)?),
        _ => return None,
    })
}

/// A fact as a number.
fn fact(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// Whether a kind has a point on the counter that did not end with the right count.
fn ended(at: &At<'_>, kind: &str) -> Found {
    let own = at.data.points(COUNTER).filter(|p| p.implementation == kind);
    let ended: Vec<bool> = own.map(counts).collect();
    let (right, all) = (ended.iter().filter(|right| **right).count(), ended.len());
    let words = format!("{right} of {all} points ended with the right count");
    // A point without a time may have been left out for another reason.
    one(words, (all > 0 && right == all).then_some(0.0))
}

/// Whether the first kind of coupling, TAS, is the fastest at half of these entry points or more.
fn leads(at: &At<'_>, kinds: &[&str], entries: impl Iterator<Item = u64>) -> Found {
    let entries: Vec<u64> = entries.collect();
    let is_ahead = |n: &&u64| {
        let times: Vec<_> = kinds.iter().map(|kind| at.list(kind, **n)).collect();
        over(smallest(&times[1..]), times[0]).is_some_and(|lead| lead >= 0.95)
    };
    let ahead = entries.iter().filter(is_ahead).count();
    let words = format!("TAS is the fastest at {ahead} of {}", entries.len());
    one(words, Some(fact(2 * ahead >= entries.len())))
}

/// The fastest of some kinds, if all have a time.
fn first<'k>(kinds: &[&'k str], time: impl Fn(&str) -> Option<f64>) -> Option<&'k str> {
    let times = kinds.iter().map(|kind| Some((*kind, time(kind)?)));
    let times: Vec<(&str, f64)> = times.collect::<Option<_>>()?;
    let first = times.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
    first.map(|(kind, _)| plain(kind).trim_end_matches('2'))
}

/// Whether the fastest lock is not the same on the counter, in the table and in the list.
fn differ(at: &At<'_>, locks: &[&str], coupled: &[&str]) -> Found {
    let all = [
        first(locks, |kind| at.counter(kind, 3, 1024)),
        first(locks, |kind| at.table(kind, 16)),
        first(coupled, |kind| at.list(kind, 16)),
    ];
    let [Some(counter), Some(table), Some(list)] = all else {
        return one("the four locks in all three", None);
    };
    let words = format!("counter {counter}, table {table}, list {list}");
    one(words, Some(fact(counter != table || table != list)))
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
    let times = over_sizes(at, kind, n)?.into_iter();
    times.map(|(_, time)| time).reduce(f64::min)
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
    let spreads = spreads.collect::<Option<Vec<f64>>>()?;
    spreads.into_iter().reduce(f64::max)
}

/// Gattani and Anickode's locks, the spin spin lock among them where it was measured.
fn locks(at: &At<'_>, rounds: u64) -> Vec<&'static str> {
    let twice = at.sections("spin-spin", rounds).map(|_| "spin-spin");
    LOCKS.into_iter().chain(twice).collect()
}

/// The sum that a note gives as `the sum is 138999`.
fn sum_of(point: &Point) -> Option<u64> {
    let (_, rest) = point.note.as_deref()?.split_once("the sum is ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Whether the sum without a lock is wrong.
fn sums(at: &At<'_>, rounds: u64) -> Found {
    let blocks = f64::from(at.shape.sections);
    let right = blocks * (blocks + 1.0) / 2.0;
    let sum = at.data.find(&at.section("none", rounds)).and_then(sum_of);
    let wrong = sum.map(|n| fact((n as f64 - right).abs() > 0.5));
    let sum = sum.map_or_else(|| "the sum".to_owned(), |n| n.to_string());
    one(format!("{sum} without a lock at {rounds} rounds"), wrong)
}

/// Whether the result of each lock is right.
fn right(at: &At<'_>, rounds: u64) -> Found {
    let of = |kind: &str| {
        let cell = at.section(kind, rounds);
        let (word, value) = match at.data.find(&cell) {
            Some(_) => (" right", Some(1.0)),
            None if at.data.is_wrong(&cell) => (" wrong", Some(0.0)),
            None => ("", None),
        };
        (format!("{kind}{word} at {rounds}"), value)
    };
    locks(at, rounds).into_iter().map(of).collect()
}

/// The blocks of the slides, or the most that were measured.
fn most(at: &At<'_>) -> u32 {
    if at.shape.of_paper {
        512
    } else {
        at.full("fermi", MUTEX, &RANKED, None)
    }
}

/// A document as its page asks it.
#[derive(Debug)]
pub(super) struct Asked<'b> {
    data: Data<'b>,
    pub(super) sets: Sets,
}

impl<'b> Asked<'b> {
    /// Makes the records of a document: its points, the grids of the memory benchmarks, and what
    /// there is to say of peers.
    pub(super) fn new(bench: &'b Bench) -> Self {
        let grids = bench.machine.iter().flat_map(|machine| &machine.grids);
        let grids = grids.map(|grid| Record::default().with("blocks", grid.times_ns.blocks));
        let sets = [
            ("points", bench.points.iter().map(record).collect()),
            ("grids", grids.collect()),
            ("peers", peers(bench)),
        ];
        Self {
            data: Data::new(bench),
            sets: Sets(sets.into()),
        }
    }

    /// Returns a ratio of memory accesses at a grid.
    fn memory(&self, blocks: &str, kind: &str, ratio: &str) -> Option<f64> {
        let mut grids = self.data.bench().machine.as_ref()?.grids.iter();
        let grid = grids.find(|grid| grid.times_ns.blocks.to_string() == blocks)?;
        super::choice::ratio(&Abstraction::of(&grid.times_ns)?, kind, ratio)
    }
}

fn peers(bench: &Bench) -> Vec<Record> {
    let peer = |name: &str| name.starts_with("cuda::") || name == "grid.sync";
    let all = || bench.points.iter().filter(|p| peer(&p.implementation));
    let missing = all().filter(|p| p.repeat == 0);
    let missing =
        missing.filter_map(|p| Some(format!("{}: {}", p.implementation, p.note.as_ref()?)));
    let mut said: Vec<String> = missing.collect();
    said.sort();
    said.dedup();
    if !all().any(|p| p.repeat > 0) {
        said.insert(0, "No peer was measured in this run.".into());
    }
    said.into_iter()
        .map(|said| Record::default().with("said", said))
        .collect()
}

impl Source for Asked<'_> {
    const CALLS: &'static [&'static str] = &["values", "grids", "sections", "memory_at"];

    fn number(&self, name: &str, arguments: &[&str]) -> Option<f64> {
        match (name, arguments) {
            ("sections", [kind, rounds]) => {
                At::new(self.data, Shape::PAPER).sections(kind, rounds.parse().ok()?)
            }
            ("memory_at", [blocks, kind, ratio]) => self.memory(blocks, kind, ratio),
            _ => None,
        }
    }

    /// `grids` are numbers of blocks; `p` stands for the device's multiprocessors.
    fn whole(&self, name: &str, arguments: &[&str]) -> Option<Answer> {
        let p = self.data.processors();
        let blocks = |grid: &&str| match grid.split_once('p') {
            Some(("", "/2")) => p.div_ceil(2).to_string(),
            Some(("", _)) => p.to_string(),
            Some((times, _)) => (times.parse().unwrap_or(1) * p).to_string(),
            None => (*grid).to_owned(),
        };
        if name == "grids" {
            return Some(Answer::Words(Ok(arguments.iter().map(blocks).collect())));
        }
        self.sets.answer(name, arguments)
    }

    fn shown(&self, name: &str, value: &str) -> String {
        let grid = value.parse().ok().filter(|_| name == "blocks");
        grid.map_or_else(|| value.to_owned(), super::data::blocks)
    }
}
