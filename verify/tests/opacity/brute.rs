//! The witness check against opacity by definition, on all histories of up to three attempts of certain shapes, and on
//! random ones of up to five. It accepts exactly the histories for which brute force finds an order by version and
//! samples; and what it accepts is opaque: brute force finds an order by real time alone.

use crate::common::{
    Rng, Values, aborted, header, random_history, read, read_only, update, word, write,
};
use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use verify::history::{Attempt, Event, History, InitialMemory, Outcome, Rest};
use verify::opacity::brute::{self, Orders};
use verify::opacity::check;

#[derive(Default, Debug)]
struct Tally {
    accepted: u64,
    rejected: u64,
    /// Opaque in another order than by version and samples.
    other_order: u64,
    outcomes: HashMap<Discriminant<Outcome>, u64>,
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
        for i in 0..history.len() {
            let outcome = discriminant(&history.attempt(i).outcome);
            *self.outcomes.entry(outcome).or_default() += 1;
        }
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
        let often = tally.outcomes.values().all(|&n| n > 7_500);
        assert!(tally.outcomes.len() == 4 && often, "{tally:?}");
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

/// The attempts with these events: as the update of `version`, or as none, with all samples up to `last`.
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

type Choices<'e> = Vec<(Attempt, &'e [Event])>;

fn histories<'e>(
    choices: &[Choices<'e>],
    chosen: &mut Choices<'e>,
    history: &mut History,
    tally: &mut Tally,
) {
    let Some((first, rest)) = choices.split_first() else {
        history.clear();
        for &(attempt, events) in &*chosen {
            history.push(attempt, events).unwrap();
        }
        return tally.compare(history);
    };
    for &(attempt, events) in first {
        let lane = chosen.len() as u32;
        chosen.push((Attempt { lane, ..attempt }, events));
        histories(rest, chosen, history, tally);
        chosen.pop();
    }
}

/// Compares all histories of attempts with events of these lists, the first `updates` of which are updates.
fn all(
    lists: &[&[Vec<Event>]],
    updates: usize,
    tally: &mut Tally,
    is_of: impl Fn(&Attempt, Option<u64>) -> bool,
) {
    let last = updates as u64;
    let choices = (1..).zip(lists).map(|(version, list)| {
        let version = (version <= last).then_some(version);
        let of = |events| {
            shapes(events, version, last)
                .into_iter()
                .map(move |a| (a, events))
        };
        let all = list.iter().flat_map(|events| of(&events[..]));
        all.filter(|(attempt, _)| is_of(attempt, version)).collect()
    });
    let choices: Vec<Choices<'_>> = choices.collect();
    let mut history = History::new(header(), InitialMemory::ZERO);
    histories(&choices, &mut Vec::new(), &mut history, tally);
}

#[test]
fn agrees_with_brute_force_on_all_short_transactions_and_all_pairs_of_them() {
    let (lists, longer) = (event_lists(2), event_lists(3));
    let mut tally = Tally::default();
    for updates in 0..=2 {
        all(&[&lists, &lists], updates, &mut tally, |_, _| true);
    }
    for updates in 0..=1 {
        all(&[&longer], updates, &mut tally, |_, _| true);
    }
    tally.finish("pairs", 30_000);
}

/// Two words, each not read or found 0 or 1; then the writes of one of these sets.
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

#[test]
fn agrees_with_brute_force_on_all_triples_with_values_0_and_1() {
    let sets: [&[(u32, u64)]; 4] = [&[(0, 0)], &[(0, 1)], &[(1, 1)], &[(0, 1), (1, 1)]];
    let update = read_write_lists(&sets);
    let other = read_write_lists(&[&[]]);
    let mut tally = Tally::default();
    for (lists, updates) in [
        ([&update[..], &update, &update], 3),
        ([&update, &update, &other], 2),
        ([&update, &other, &other], 1),
    ] {
        // An update's point is fixed: only how much real time orders it varies.
        all(&lists, updates, &mut tally, |attempt, version| {
            let samples = [attempt.begin, attempt.end];
            match version {
                Some(version) => {
                    samples == [version - 1, version] || samples == [0, updates as u64]
                }
                None => matches!(attempt.outcome, Outcome::Aborted { .. }),
            }
        });
    }
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
    // With only the reads of its explanation the attempt is in violation; without any one it is not.
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
