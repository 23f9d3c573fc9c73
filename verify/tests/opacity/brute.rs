//! The witness check against opacity by definition, on all histories of up to three attempts of certain shapes, and on
//! random ones of up to five. It accepts exactly the histories for which brute force finds an order by version and
//! samples; and what it accepts is opaque: brute force finds an order by real time alone.

use crate::common::{
    Rng, Values, aborted, history, random_history, read, read_only, update, word, write,
};
use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use verify::history::{Event, History, InitialMemory, Outcome, Rest};
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

/// Returns a number below the one given, in another run another one.
type Choose<'c> = &'c mut dyn FnMut(u32) -> u32;

/// Runs `make` with all sequences of choices that it asks for.
fn with_all_choices(mut make: impl FnMut(Choose<'_>)) {
    // Each choice, and the number below which it is.
    let mut chosen: Vec<(u32, u32)> = Vec::new();
    loop {
        let mut made = 0;
        make(&mut |below| {
            if made == chosen.len() {
                chosen.push((0, below));
            }
            made += 1;
            chosen[made - 1].0
        });
        while chosen
            .pop_if(|(choice, below)| *choice + 1 == *below)
            .is_some()
        {}
        match chosen.last_mut() {
            Some((choice, _)) => *choice += 1,
            None => return,
        }
    }
}

/// A number from `low` to `high`, both included.
fn between(choose: Choose<'_>, low: u64, high: u64) -> u64 {
    low + u64::from(choose((high - low) as u32 + 1))
}

/// Compares all histories of attempts with these events, which are chosen for an update or for another one. The first
/// `updates` attempts are updates, and of these the samples are the narrowest and the widest if they are `few`; all
/// samples are those of the others, which abort, and unless they are `few` commit if they only read.
fn all(
    (attempts, updates): (u64, u64),
    few: bool,
    tally: &mut Tally,
    events: impl Fn(Choose<'_>, bool) -> Vec<Event>,
) {
    with_all_choices(|choose| {
        let mut history = history(&[]);
        for (lane, k) in (0..).zip(1..=attempts) {
            let events = events(choose, k <= updates);
            let writes = events.iter().any(Event::is_update);
            let attempt = if k > updates {
                let begin = between(choose, 0, updates);
                let end = between(choose, begin, updates);
                let reads_only = !few && !writes && choose(2) == 0;
                [aborted, read_only][usize::from(reads_only)](lane, begin, end)
            } else if !writes {
                return;
            } else if few {
                let [begin, end] = [[k - 1, k], [0, updates]][choose(2) as usize];
                update(lane, begin, k, end)
            } else {
                let begin = between(choose, 0, k - 1);
                update(lane, begin, k, between(choose, k, updates))
            };
            history.push(attempt, &events).unwrap();
        }
        tally.compare(&history);
    });
}

#[test]
fn agrees_with_brute_force_on_all_short_transactions_and_all_pairs_of_them() {
    // Reads and writes of 0 and 1 on two words.
    let event = |choose: Choose<'_>| {
        let make = [read, write][choose(2) as usize];
        make(word(choose(2)), choose(2).into())
    };
    let mut tally = Tally::default();
    for (attempts, updates, most) in [(2, 0, 2), (2, 1, 2), (2, 2, 2), (1, 0, 3), (1, 1, 3)] {
        all((attempts, updates), false, &mut tally, |choose, _| {
            (0..choose(most + 1)).map(|_| event(choose)).collect()
        });
    }
    tally.finish("pairs", 30_000);
}

#[test]
fn agrees_with_brute_force_on_all_triples_with_values_0_and_1() {
    let sets: [&[(u32, u64)]; 4] = [&[(0, 0)], &[(0, 1)], &[(1, 1)], &[(0, 1), (1, 1)]];
    let mut tally = Tally::default();
    for updates in 1..=3 {
        // Two words, each not read or found 0 or 1; then the writes of one of the sets.
        all((3, updates), true, &mut tally, |choose, is_update| {
            let found = [0, 1].map(|at| (at, choose(3)));
            let found = found.into_iter().filter(|(_, value)| *value < 2);
            let mut events: Vec<Event> = found.map(|(at, v)| read(word(at), v.into())).collect();
            if is_update {
                let set = sets[choose(4) as usize].iter();
                events.extend(set.map(|&(at, value)| write(word(at), value)));
            }
            events
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
    let mut reduced = crate::common::history(&[]);
    for i in 0..history.len() {
        let stays = |(at, event): &(u32, Event)| i != at_fault || event.is_update() || kept(*at);
        let events = (0..).zip(history.events(i)).filter(stays);
        let events: Vec<Event> = events.map(|(_, event)| event).collect();
        reduced.push(history.attempt(i), &events).unwrap();
    }
    reduced
}
