//! The witness check against opacity by definition: on all histories of up to
//! three attempts of certain shapes, and on random ones of up to five.
//!
//! Two statements are tested. The witness check accepts exactly the histories
//! for which brute force finds an order by version and samples. And what it
//! accepts is opaque: brute force finds an order by real time alone.

use crate::common::{
    Rng, Values, aborted, header, random_history, read, read_only, update, word, write,
};
use verify::history::{Attempt, Event, History, InitialMemory, Rest};
use verify::opacity::brute::{self, Orders};
use verify::opacity::check;

#[derive(Default, Debug)]
struct Tally {
    accepted: u64,
    rejected: u64,
    /// Opaque in another order than by version and samples.
    other_order: u64,
}

impl Tally {
    fn compare(&mut self, history: &History) {
        let witness = check(history).expect("a possible history").is_opaque();
        let by_witness = brute::is_opaque(history, Orders::Witness);
        assert_eq!(witness, by_witness, "against all orders: {history:?}");
        let by_definition = brute::is_opaque(history, Orders::RealTime);
        assert!(by_definition || !witness, "not opaque: {history:?}");
        self.accepted += u64::from(witness);
        self.rejected += u64::from(!witness);
        self.other_order += u64::from(by_definition && !witness);
    }

    /// Both verdicts must be common, or the comparison says little.
    fn finish(&self, what: &str, at_least: u64) {
        println!("{what}: {self:?}");
        let total = self.accepted + self.rejected;
        assert!(total >= at_least, "{total} histories");
        let both = self.accepted.min(self.rejected);
        assert!(both * 50 > total, "{self:?}");
        assert!(self.other_order > 0, "{self:?}");
    }
}

#[test]
fn agrees_with_brute_force_on_random_histories() {
    for values in [Values::Unique, Values::Binary, Values::Added] {
        let mut tally = Tally::default();
        for round in 0..150_000 {
            let words = 2 + round % 2;
            let history = random_history(&mut Rng::of_stream(0x0bac_1717, round), 5, words, values);
            tally.compare(&history);
        }
        tally.finish(&format!("random, {values:?}"), 150_000);
    }
}

/// All lists of up to `length` reads and writes of 0 and 1 on two words.
fn event_lists(length: usize) -> Vec<Vec<Event>> {
    let events = (0..8_u32).map(|kind| {
        let (word, value) = (word(kind & 1), u64::from(kind >> 1 & 1));
        let make = if kind < 4 { read } else { write };
        make(word, value)
    });
    let mut longest = vec![vec![]];
    let mut lists = longest.clone();
    for _ in 0..length {
        let longer = |list: &Vec<Event>| {
            let longer = |event| [&list[..], &[event]].concat();
            events.clone().map(longer).collect::<Vec<_>>()
        };
        longest = longest.iter().flat_map(longer).collect();
        lists.extend(longest.clone());
    }
    lists
}

/// The attempts, without lanes, that can have these events: as the update that produced `version`,
/// if one is given, or as one that is not an update, with all samples up to `last`.
fn shapes(events: &[Event], version: Option<u64>, last: u64) -> Vec<Attempt> {
    let writes = events.iter().any(Event::is_update);
    let mut shapes = Vec::new();
    if let Some(version) = version {
        for begin in (0..version).filter(|_| writes) {
            shapes.extend((version..=last).map(|end| update(0, begin, version, end)));
        }
        return shapes;
    }
    for begin in 0..=last {
        for end in begin..=last {
            shapes.push(aborted(0, begin, end));
            shapes.extend((!writes).then(|| read_only(0, begin, end)));
        }
    }
    shapes
}

#[test]
fn agrees_with_brute_force_on_all_short_transactions_and_all_pairs_of_them() {
    let lists = event_lists(2);
    let mut history = History::new(header(), InitialMemory::ZERO);
    let mut tally = Tally::default();
    // Which of the two are updates, and so the clock at the end.
    for versions in [[Some(1), Some(2)], [Some(1), None], [None, None]] {
        let last = versions.iter().flatten().count() as u64;
        for a_events in &lists {
            for b_events in &lists {
                for a in shapes(a_events, versions[0], last) {
                    for b in shapes(b_events, versions[1], last) {
                        history.clear();
                        history.push(a, a_events).unwrap();
                        history.push(Attempt { lane: 1, ..b }, b_events).unwrap();
                        tally.compare(&history);
                    }
                }
            }
        }
    }
    // And all single transactions of up to three events.
    for events in &event_lists(3) {
        for version in [None, Some(1)] {
            for attempt in shapes(events, version, 1) {
                tally.compare(&crate::common::history(&[(attempt, events)]));
            }
        }
    }
    tally.finish("pairs", 30_000);
}

/// The reads of two words, each not read or found 0 or 1; then the writes of a set of words, for
/// each of which the set gives the value.
fn read_write_lists(write_sets: &[&[(u32, u64)]]) -> Vec<Vec<Event>> {
    let mut lists = Vec::new();
    for x in [None, Some(0), Some(1)] {
        for y in [None, Some(0), Some(1)] {
            for set in write_sets {
                let reads = [x.map(|v| read(word(0), v)), y.map(|v| read(word(1), v))];
                let writes = set.iter().map(|&(w, v)| write(word(w), v));
                lists.push(reads.into_iter().flatten().chain(writes).collect());
            }
        }
    }
    lists
}

/// All triples of an attempt from each list, the first `updates` of them
/// updates with versions in that order.
fn triples(lists: [&[Vec<Event>]; 3], updates: usize, tally: &mut Tally) {
    let last = updates as u64;
    let mut history = History::new(header(), InitialMemory::ZERO);
    // An update's point is fixed: only how much real time orders it varies.
    let samples = |i: usize| -> Vec<Attempt> {
        let (lane, version) = (i as u32, i as u64 + 1);
        if i < updates {
            return vec![
                update(lane, version - 1, version, version),
                update(lane, 0, version, last),
            ];
        }
        (0..=last)
            .flat_map(|begin| (begin..=last).map(move |end| aborted(lane, begin, end)))
            .collect()
    };
    // What each of the three attempts can be.
    let [first, second, third] = [0, 1, 2].map(|i| {
        let of = |events| samples(i).into_iter().map(move |attempt| (attempt, events));
        lists[i].iter().flat_map(of).collect::<Vec<_>>()
    });
    for &(a, a_events) in &first {
        for &(b, b_events) in &second {
            for &(c, c_events) in &third {
                history.clear();
                history.push(a, a_events).unwrap();
                history.push(b, b_events).unwrap();
                history.push(c, c_events).unwrap();
                tally.compare(&history);
            }
        }
    }
}

#[test]
fn agrees_with_brute_force_on_all_triples_with_values_0_and_1() {
    let sets: [&[(u32, u64)]; 4] = [&[(0, 0)], &[(0, 1)], &[(1, 1)], &[(0, 1), (1, 1)]];
    let update = read_write_lists(&sets);
    let other = read_write_lists(&[&[]]);
    let mut tally = Tally::default();
    triples([&update, &update, &update], 3, &mut tally);
    triples([&update, &update, &other], 2, &mut tally);
    triples([&update, &other, &other], 1, &mut tally);
    tally.finish("triples", 300_000);
}

#[test]
fn inferred_initial_memory_rejects_only_what_no_initial_memory_explains() {
    let (mut unknown, mut rejected) = (0, 0);
    for round in 0..60_000 {
        let mut history = random_history(&mut Rng::of_stream(0x1f0e, round), 5, 2, Values::Binary);
        history.initial = InitialMemory::INFERRED;
        let verdict = check(&history).expect("a possible history");
        let explained = (0..4).any(|bits| {
            let words = [(word(0), bits & 1), (word(1), bits >> 1)];
            history.initial = InitialMemory::of(words, Rest::Value(0));
            brute::is_opaque(&history, Orders::Witness)
        });
        assert!(verdict.is_opaque() || !explained, "{history:?}");
        if verdict.initial.unknown == 0 {
            assert_eq!(verdict.is_opaque(), explained, "{history:?}");
        }
        unknown += u64::from(verdict.initial.unknown > 0);
        rejected += u64::from(!verdict.is_opaque());
    }
    assert!(unknown > 1_000 && rejected > 1_000, "{unknown} {rejected}");
}

#[test]
fn every_explanation_is_a_smallest_contradiction() {
    // Rebuilt with only the reads of its explanation the attempt is still in
    // violation, and with any one of them left out it is not.
    let mut rng = Rng::of_stream(0xe91a, 0);
    let mut sizes = [0_u64; 6];
    for _ in 0..40_000 {
        let history = random_history(&mut rng, 5, 3, Values::Binary);
        for violation in check(&history).unwrap().violations {
            let verify::opacity::report::Finding::NoCommonPoint { reads, .. } = &violation.finding
            else {
                continue;
            };
            let core: Vec<u32> = reads.iter().map(|read| read.event).collect();
            sizes[core.len()] += 1;
            let at_fault = violation.attempt.attempt;
            let in_violation = |spare: Option<u32>| {
                let kept = |event| core.contains(&event) && Some(event) != spare;
                let verdict = check(&keep_reads(&history, at_fault, &kept)).unwrap();
                let mut violations = verdict.violations.iter();
                violations.any(|other| other.attempt.attempt == at_fault)
            };
            assert!(in_violation(None), "{violation}");
            let spare = core.iter().any(|&spare| in_violation(Some(spare)));
            assert!(!spare, "{violation}");
        }
    }
    println!("explanations by number of reads: {sizes:?}");
    assert!(sizes[1] > 0 && sizes[2] > 0, "{sizes:?}");
}

fn keep_reads(history: &History, at_fault: usize, kept: &dyn Fn(u32) -> bool) -> History {
    let mut reduced = History::new(header(), InitialMemory::ZERO);
    for i in 0..history.len() {
        let stays = |(at, event): &(u32, Event)| i != at_fault || event.is_update() || kept(*at);
        let events = (0..).zip(history.events(i)).filter(stays);
        let events: Vec<Event> = events.map(|(_, event)| event).collect();
        reduced.push(history.attempt(i), &events).unwrap();
    }
    reduced
}

#[test]
fn random_histories_have_every_outcome() {
    let mut rng = Rng::of_stream(1, 0);
    let mut seen = std::collections::HashMap::new();
    for _ in 0..1_000 {
        let history = random_history(&mut rng, 5, 2, Values::Unique);
        for i in 0..history.len() {
            let outcome = std::mem::discriminant(&history.attempt(i).outcome);
            *seen.entry(outcome).or_insert(0) += 1;
        }
    }
    let often = seen.values().all(|&n| n > 50);
    assert!(seen.len() == 4 && often, "{seen:?}");
}
