//! A program for every known hole of these protocols.
//!
//! Each is the smallest that we know to show what goes wrong, with the wrong
//! outcome named. The right algorithms pass all of them under every simulation;
//! each seeded defect fails one of them in some. Those of [`ALL`] are recorded,
//! and those of [`SILENT`] check an invariant themselves.

mod programs;
mod silent;

pub use programs::ALL;
pub use silent::SILENT;

use super::case::{Case, Loop, Op, Program, Widths, update};
use super::generate::simulation;
use super::invariant::Invariant;
use super::line;
use crate::rng::Rng;
use crate::sim::Schedule;
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::observe::Mutant;

/// A program with a purpose.
#[derive(Clone, Copy, Debug)]
pub struct Directed {
    /// Its name.
    pub name: &'static str,
    /// What it can show.
    pub about: &'static str,
    /// The transactions of each lane, as in a replay line.
    lanes: &'static [&'static str],
    initial: &'static [u64],
    sums: &'static [u64],
    row: u32,
    stripe_words: u32,
    locks: u64,
    sets: (u32, u32),
    /// Whether the lanes are one warp in lockstep, each in its own loop, where
    /// the variant promises progress there.
    lockstep: bool,
    /// Lanes of each team, where the variant has them: then each of `lanes` is
    /// a team. 0 for no teams.
    team: u32,
    /// Whether the teams are blocks, of warps of any width.
    of_block: bool,
    /// Lanes of each warp, if the lanes are warps that run one loop under contention:
    /// conflicts are met often enough, and tickets drawn soon enough, that the gate opens
    /// a period. 0 for warps of any width.
    warp: u32,
    /// The bits of a version, in words that are packed; 0 for words and versions
    /// of any kind.
    circle: u32,
    /// What the transactions check themselves, if no recorder is to run.
    silent: Option<Invariant>,
    /// Whether transactions that have the form are static updates.
    updates: bool,
    /// Launches that the transactions of each lane are divided among.
    launches: u32,
}

impl Directed {
    const fn new(
        name: &'static str,
        about: &'static str,
        lanes: &'static [&'static str],
        initial: &'static [u64],
    ) -> Self {
        Self {
            name,
            about,
            lanes,
            initial,
            sums: &[],
            row: 1,
            stripe_words: 1,
            locks: 8,
            sets: (8, 8),
            lockstep: false,
            team: 0,
            of_block: false,
            warp: 0,
            circle: 0,
            silent: None,
            updates: false,
            launches: 1,
        }
    }

    const fn updates(mut self) -> Self {
        self.updates = true;
        self
    }

    const fn circle(mut self, bits: u32) -> Self {
        self.circle = bits;
        self
    }

    const fn silent(mut self, invariant: Invariant) -> Self {
        self.silent = Some(invariant);
        self
    }

    const fn launches(mut self, launches: u32) -> Self {
        self.launches = launches;
        self
    }

    const fn lockstep(mut self) -> Self {
        self.lockstep = true;
        self
    }

    const fn teams(mut self, lanes: u32) -> Self {
        self.team = lanes;
        self
    }

    const fn warps(mut self, lanes: u32) -> Self {
        self.warp = lanes;
        self
    }

    const fn blocks(mut self, threads: u32) -> Self {
        self.team = threads;
        self.of_block = true;
        self
    }

    const fn stripes(mut self, stripe_words: u32, locks: u64) -> Self {
        self.stripe_words = stripe_words;
        self.locks = locks;
        self
    }

    const fn sums(mut self, sums: &'static [u64], row: u32) -> Self {
        self.sums = sums;
        self.row = row;
        self
    }

    const fn sets(mut self, reads: u32, writes: u32) -> Self {
        self.sets = (reads, writes);
        self
    }

    /// Returns the program of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().chain(SILENT).find(|d| d.name == name)
    }

    /// Returns the transactions in the order of their numbers: those of a lane
    /// are `lanes` apart.
    fn transactions(&self) -> Vec<Vec<Op>> {
        let lanes: Vec<Vec<Vec<Op>>> = self
            .lanes
            .iter()
            .map(|text| line::transactions(text).unwrap_or_default())
            .collect();
        let rows = lanes.iter().map(Vec::len).max().unwrap_or(0);
        let mut all: Vec<Vec<Op>> = (0..rows)
            .flat_map(|k| {
                lanes
                    .iter()
                    .map(move |lane| lane.get(k).cloned().unwrap_or_default())
            })
            .collect();
        while all.last().is_some_and(Vec::is_empty) {
            all.pop();
        }
        all
    }

    /// Returns the case of a seed: mostly one lane a warp, as lanes of one warp
    /// begin together.
    pub fn case(&self, variant: Variant, mutant: Option<Mutant>, seed: u64) -> Case {
        let mut rng = Rng::of_stream(seed, 2);
        let lanes = self.lanes.len() as u32;
        let lockstep = self.lockstep && stm_core::with_algorithm!(variant, A => A::SCHEDULED);
        let teams = self.team != 0 && variant.has_teams();
        let (blocks, threads, width) = match rng.below(8) {
            _ if lockstep => (1, lanes, lanes),
            // One warp, several, or the last of them short.
            _ if teams && self.of_block => (lanes, self.team, rng.pick(&[1, 2, 4])),
            _ if teams => (lanes, self.team, self.team),
            // One transaction a block: each lane needs its own.
            _ if variant == Variant::Egpgv => (lanes, 1, 1),
            _ if self.warp != 0 => (lanes / self.warp, self.warp, self.warp),
            0 => (1, lanes, lanes),
            1 => (1, lanes, 1),
            _ => (lanes, 1, 1),
        };
        let mut transactions = self.transactions();
        if self.updates {
            transactions.sort_by_key(|ops| update(ops).is_none());
        }
        let program = Program {
            blocks,
            threads,
            calls: if self.updates {
                Loop::Update
            } else if teams && self.of_block {
                Loop::Block
            } else if teams {
                Loop::Team
            } else if self.warp != 0 || rng.chance(50) && !lockstep {
                Loop::Each
            } else {
                Loop::Own
            },
            launches: self.launches,
            silent: self.silent,
            widths: match rng.pick(&[Widths::Narrow, Widths::Wide, Widths::Mixed]) {
                _ if self.circle != 0 => Widths::Narrow,
                Widths::Mixed if self.updates => Widths::Wide,
                widths => widths,
            },
            stripe_words: self.stripe_words,
            locks: self.locks,
            sets: self.sets,
            retry_limits: (
                rng.pick(&[2, 8, 32]),
                // Where a circle of versions matters, one attempt lasts for many commits of
                // others, who must not wait for its lane at the gate.
                rng.pick(match (self.warp, self.circle) {
                    (1.., _) => &[1, 2, 8],
                    (0, 1..) => &[64, 64, 64],
                    (0, 0) => &[2, 8, 64],
                }),
            ),
            initial: self.initial.to_vec(),
            sums: self.sums.to_vec(),
            row: self.row,
            transactions,
        };
        let mut sim = simulation(&mut rng, &program, width);
        if lockstep {
            sim.schedule = Schedule::Lockstep;
        }
        if self.circle != 0 {
            sim.version_bits = self.circle;
        }
        Case {
            variant,
            mutant,
            program,
            sim,
        }
    }
}
