//! A program for every known hole.
//!
//! Each is the smallest that we know to show what goes wrong, with the wrong outcome named. The right
//! algorithms pass all of them under every simulation; each seeded defect fails one of them in some.
//!
//! They stand in `programs.txt`: a name with what a line of a case says about a program (`init=0,0`), what
//! the program can show, and the transactions of each lane. Besides,
//!
//! | word | means |
//! | --- | --- |
//! | `lockstep` | the lanes are one warp in lockstep, each in its own loop, where the variant promises progress there |
//! | `team=2` | each of the lanes is a team of a warp of so many, where the variant has teams |
//! | `block=3` | the same, of a block of so many threads in warps of any width |
//! | `warp=2` | the lanes are warps of so many that run one loop under contention: conflicts are met often enough, and tickets drawn soon enough, that the gate opens a period |
//! | `circle=4` | versions have so many bits, in words that are packed |

use super::case::{Case, Loop, Op, Program, Widths, update};
use super::generate::simulation;
use super::line;
use crate::prelude::*;
use std::sync::LazyLock;

const WORDS: [&str; 5] = ["lockstep", "team", "block", "warp", "circle"];

#[derive(Clone, Debug, Default)]
pub struct Directed {
    pub name: &'static str,
    lanes: u32,
    program: Program,
    /// The numbers of the words of the table above, 0 for those that it has not.
    words: [u32; WORDS.len()],
}

/// All programs: those that are recorded, and then the silent ones.
pub static ALL: LazyLock<Vec<Directed>> = LazyLock::new(|| {
    let all = include_str!("directed/programs.txt").split("\n\n");
    all.map(Directed::parse).collect()
});

impl Directed {
    /// Reads a program of the text, which a test does with all of them.
    fn parse(text: &'static str) -> Self {
        let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
        let (name, parts) = head.split_once(' ').unwrap_or((head, ""));
        let mut directed = Self {
            name,
            program: Program {
                locks: 8,
                ..Program::default()
            },
            ..Self::default()
        };
        for part in parts.split(' ') {
            let (key, number) = part.split_once('=').unwrap_or((part, "1"));
            if let Some(at) = WORDS.iter().position(|word| *word == key) {
                directed.words[at] = number.parse().unwrap_or(0);
            } else if let Err(error) = directed.program.set(part) {
                unreachable!("{name}: {error}");
            }
        }
        // The other lines say what it shows.
        let lanes = rest.lines().filter_map(|line| line.strip_prefix("- "));
        let lanes: Vec<_> = lanes.map(|lane| transactions(name, lane)).collect();
        // In the order of their numbers, those of a lane are `lanes` apart.
        let rows = lanes.iter().map(Vec::len).max().unwrap_or(0);
        let row = |k| lanes.iter().map(move |lane| lane.get(k).cloned());
        let all = &mut directed.program.transactions;
        all.extend((0..rows).flat_map(row).map(Option::unwrap_or_default));
        while all.pop_if(|ops| ops.is_empty()).is_some() {}
        directed.lanes = lanes.len() as u32;
        directed
    }

    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|d| d.name == name)
    }

    /// Returns the case of a seed: mostly one lane a warp, as lanes of one warp begin together.
    pub fn case(&self, variant: Variant, mutant: Option<Mutant>, seed: u64) -> Case {
        let mut rng = Rng::of_stream(seed, 2);
        let lanes = self.lanes;
        let [lockstep, team, block, warp, circle] = self.words;
        let lockstep = lockstep != 0 && stm_core::with_algorithm!(variant, A => A::SCHEDULED);
        let teams = (team, block) != (0, 0) && variant.has_teams();
        let (blocks, threads, width) = match rng.below(8) {
            _ if lockstep => (1, lanes, lanes),
            // One warp, several, or the last of them short.
            _ if teams && block != 0 => (lanes, block, rng.pick(&[1, 2, 4])),
            _ if teams => (lanes, team, team),
            // One transaction a block: each lane needs its own.
            _ if variant == Variant::Egpgv => (lanes, 1, 1),
            _ if warp != 0 => (lanes / warp, warp, warp),
            0 => (1, lanes, lanes),
            1 => (1, lanes, 1),
            _ => (lanes, 1, 1),
        };
        let updates = self.program.calls == Loop::Update;
        let mut program = self.program.clone();
        (program.blocks, program.threads) = (blocks, threads);
        program.calls = match program.calls {
            Loop::Update => Loop::Update,
            _ if teams && block != 0 => Loop::Block,
            _ if teams => Loop::Team,
            _ if warp != 0 || rng.chance(50) && !lockstep => Loop::Each,
            _ => Loop::Own,
        };
        program.widths = match rng.pick(&[Widths::Narrow, Widths::Wide, Widths::Mixed]) {
            _ if circle != 0 => Widths::Narrow,
            Widths::Mixed if updates => Widths::Wide,
            widths => widths,
        };
        // In a circle of versions one attempt lasts for many commits of others, who must not wait for its
        // lane at the gate.
        let tries: &[u32] = match (warp, circle) {
            (1.., _) => &[1, 2, 8],
            (0, 1..) => &[64],
            (0, 0) => &[2, 8, 64],
        };
        program.retry_limits = (rng.pick(&[2, 8, 32]), rng.pick(tries));
        if updates {
            let transactions = &mut program.transactions;
            transactions.sort_by_key(|ops| update(ops).is_none());
        }
        let mut sim = simulation(&mut rng, &program, width);
        if lockstep {
            sim.schedule = Schedule::Lockstep;
        }
        if circle != 0 {
            sim.version_bits = circle;
        }
        Case {
            variant,
            mutant,
            program,
            sim,
        }
    }
}

/// Reads the transactions of a lane: `a / b`, or 16 of the same in `16 x a`.
fn transactions(name: &str, lane: &str) -> Vec<Vec<Op>> {
    let (times, lane) = match lane.split_once(" x ") {
        Some((times, lane)) => (times.parse().unwrap_or(0), lane),
        None => (1, lane),
    };
    match line::transactions(lane) {
        Ok(once) => vec![once; times].concat(),
        Err(error) => unreachable!("{name}: {error}"),
    }
}
