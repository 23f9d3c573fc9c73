//! What plain accesses may do before, beside and after transactions, the rules of `docs/architecture.md`: `plain.txt`
//! has each under every algorithm that it holds, and what breaks it.

use crate::each_part;
use crate::litmus::{At, digits, holds};
use crate::prelude::*;

const SEEDS: u64 = 400;

const WORDS: &str = "lde";

struct World<A: Algorithm> {
    stm: StmRef<A>,
    words: A::Array<u32>,
}

impl<A: Algorithm> World<A> {
    /// Returns whether a transaction has met no word that is not as it wants it.
    fn transaction(&self, at: &At<'_>, texts: &[&str]) -> bool {
        let end = self.stm.atomically(at.lane, |tx| {
            for text in texts {
                let Some(word) = WORDS.find(&text[..1]) else {
                    at.execute(text);
                    continue;
                };
                let (operator, number) = digits(text);
                match operator {
                    "=" => tx.write(&self.words, word as u64, number.unwrap() as u32)?,
                    operator => {
                        let found = tx.read(&self.words, word as u64)?.into();
                        if operator == ":" && Some(found) != number {
                            return Ok(false);
                        }
                        at.note(number.filter(|_| operator == "?"), found);
                    }
                }
            }
            Ok(true)
        });
        end.unwrap()
    }

    fn execute(&self, at: &At<'_>, thread: &str) {
        let mut texts = thread.split(' ');
        while let Some(text) = texts.next() {
            if text.ends_with('{') {
                let inside: Vec<&str> = texts.by_ref().take_while(|&text| text != "}").collect();
                while !self.transaction(at, &inside) && text == "until{" {
                    at.lane.pause(1);
                }
            } else if let ("!", number) = digits(text) {
                let word = WORDS.find(&text[..1]).unwrap();
                let found = self.words.peek(at.lane, word as u64);
                at.note(number, found.unwrap().into());
            } else {
                at.execute(text);
            }
        }
    }
}

/// What a run leaves: its results, the transactional words, and the plain ones.
struct Left {
    results: [u64; 8],
    words: Vec<u32>,
    plain: Vec<u64>,
}

impl Left {
    fn value(&self, text: &str) -> u64 {
        match (text, digits(text)) {
            ("x", _) => self.plain[0],
            ("y", _) => self.plain[2],
            (_, ("", Some(i))) if text.starts_with('r') => self.results[i as usize],
            _ => match WORDS.find(text) {
                Some(word) => self.words[word].into(),
                None => text.parse().unwrap(),
            },
        }
    }
}

fn run<A: Algorithm>(launches: &str, seed: u64) -> Left {
    let schedule = match seed % 3 {
        0 => Schedule::starve(16),
        _ => Schedule::Random,
    };
    let sim = Sim::new(SimConfig::of(1, schedule).with_stale(50).with_seed(seed));
    let words = array::<A, u32, _>(&sim, &[0; WORDS.len()], "words");
    let plain = Buffer::<_, u64>::from_slice(&sim, &[5, 0, 6, 0], "plain").unwrap();
    let results = [const { Cell::new(0) }; 8];
    let mut sizes = small(8, 8);
    (sizes.locks, sizes.stripe_bytes) = (64, 4);
    let shape = Launch::new(
        launches.split(';').next().unwrap().split('|').count() as u32,
        1,
    );
    let stm = Stm::new(&sim, shape, sizes).unwrap();
    let world = World {
        stm: stm.handle::<A>(),
        words: words.view::<A>(),
    };
    for launch in launches.split(" ; ") {
        let threads: Vec<&str> = launch.split(" | ").collect();
        let ran = sim.run(&shape, |lane| {
            let at = At::new(lane, plain.as_mut_ptr(), false, &results);
            world.execute(&at, threads[at.thread]);
        });
        ran.unwrap_or_else(|error| panic!("{} on {}: {error}", A::NAME, sim.config()));
    }
    Left {
        results: results.map(Cell::into_inner),
        words: words.download().unwrap(),
        plain: plain.download().unwrap(),
    }
}

#[test]
fn every_rule_holds_and_what_breaks_it_is_seen() {
    each_part(include_str!("plain.txt"), 6, |name, rows| {
        let mut runs: Vec<(Variant, Vec<Left>)> = Vec::new();
        for row in rows.into_iter().filter(|row| !row.starts_with(' ')) {
            let (sign, rest) = row.split_once(' ').unwrap();
            if sign == ">" {
                let (variants, launches) = rest.split_once(" : ").unwrap();
                let variants = match variants {
                    "*" => Variant::ALL.to_vec(),
                    some => some.split(' ').filter_map(Variant::from_name).collect(),
                };
                let all = |variant| with_algorithm!(variant, A => (0..SEEDS).map(|seed| run::<A>(launches, seed)).collect());
                runs = variants.into_iter().map(|v| (v, all(v))).collect();
                continue;
            }
            for (variant, runs) in &runs {
                let found = runs
                    .iter()
                    .filter(|left| holds(rest, |text| left.value(text)))
                    .count();
                let right = match sign {
                    "always" => found == runs.len(),
                    "never" => found == 0,
                    "often" => found > runs.len() / 20,
                    _ => found > 0,
                };
                assert!(right, "{name}: {variant}: {row}: {found} of {SEEDS}");
            }
        }
        assert!(!runs.is_empty(), "{name}");
    });
}
