//! The sizes of the alignment, and what it must come to.

use crate::error::{Error, Result};
use crate::numbers::parse_count_32;
use crate::nw::matrix::Matrix;
use crate::nw::scoring::{Gap, Scoring};
use crate::workloads::input::{Input, Occasion};
use crate::workloads::shared_options::{SharedOption, SharedOptions};
use crate::workloads::workload::{Sizes, Verifies};
use clap::Args;
use serde_json::Value;
use stm_core::Capacity;
use stm_kernels::draw::{below, draw};

/// The alignment's parameters: two random sequences of nucleotides, which are aligned with
/// linear gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nw {
    /// Letters of each sequence.
    pub letters: u32,
}

impl Default for Nw {
    /// A size of Li et al. 2015 (Table 3) with 246,016 cells.
    fn default() -> Self {
        Self { letters: 496 }
    }
}

/// The most letters: 64 M cells.
const LETTERS_MAX: u32 = 8192;

/// Letters of a nucleotide.
const NUCLEOTIDES: u32 = 4;

/// Returns a random sequence of codes of an alphabet, number `which` of a seed.
pub fn random_codes(seed: u64, which: u64, letters: u32, alphabet: u32) -> Vec<u8> {
    let code = |i| below(draw(seed, i, which as u32), alphabet) as u8;
    (0..u64::from(letters)).map(code).collect()
}

/// Returns the scoring of nucleotides with linear gaps: 5 for equal letters, -4 for others,
/// and 8 for each letter of a gap.
pub fn linear_nucleotides() -> Scoring {
    let letters = b"ACGT";
    let scores = |same: i32, other: i32| Matrix::of_match(letters, same, other);
    let matrix = match scores(5, -4) {
        Ok(matrix) => matrix,
        Err(never) => unreachable!("four letters: {never}"),
    };
    let gap = Gap { open: 0, extend: 8 };
    Scoring { matrix, gap }
}

impl Nw {
    /// Returns both sequences.
    pub fn sequences(&self, seed: u64) -> [Vec<u8>; 2] {
        [0, 1].map(|which| random_codes(seed, which, self.letters, NUCLEOTIDES))
    }

    /// Returns the letters of a side of the matrix of cells, with the border.
    pub(super) const fn side(&self) -> usize {
        self.letters as usize + 1
    }
}

/// The options of `nw`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Letters of each of the two sequences [default: 496]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    letters: Option<u32>,
}

impl Input for Nw {
    type Workload = Self;
    type Options = Options;

    const TAKES: &'static [SharedOption] = &[];

    fn sized(occasion: Occasion) -> Self {
        match occasion {
            Occasion::Quick | Occasion::Recording(_) => Self { letters: 62 },
            _ => Self::default(),
        }
    }

    fn with(self, options: &Self::Options, _shared: &SharedOptions) -> Result<Self> {
        Ok(Nw {
            letters: options.letters.unwrap_or(self.letters),
        })
    }

    fn make(&self, _seed: u64) -> Result<Self> {
        Ok(*self)
    }
}

impl Sizes for Nw {
    fn name(&self) -> &'static str {
        "nw"
    }

    fn parameters(&self) -> Vec<(&'static str, Value)> {
        vec![("letters", self.letters.into())]
    }

    fn summary(&self) -> String {
        format!("{0} x {0} letters", self.letters)
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            reads: 3,
            writes: 1,
            actions: 0,
        }
    }

    fn transactions(&self) -> Option<u64> {
        Some(u64::from(self.letters).pow(2))
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        (self.side() as u64).pow(2)
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state("the whole table is equal, so each cell saw its neighbours")
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        if !(1..=LETTERS_MAX).contains(&self.letters) {
            return Err(Error::Usage(format!(
                "--letters {} does not suit an alignment by transactions: give from 1 to \
                 {LETTERS_MAX}",
                self.letters
            )));
        }
        Ok(())
    }
}
