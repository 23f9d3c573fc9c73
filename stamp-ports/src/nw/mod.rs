//! `stamp bench nw`: scores of alignments by every implementation, in one run that can be
//! interrupted and gone on with.
//!
//! | module | is |
//! | --- | --- |
//! | `plan` | the points of a device, in the order in which they are measured |
//! | `measure` | the ways of filling tables, a line each; one point, verified |
//! | `reduction` | the reduction by channels and by locks |
//!
//! [`NwBench`] is the document, `nw.json`. [`bench()`] is the whole measurement: the points that the
//! document lacks, one after the other, and the document written after each.

use crate::head::Head;
use crate::points::prelude::*;
use crate::points::{add_missing, parse_names};
use crate::store::{BenchSpec, Document, NameList, Store};
use crate::sync::Bench;
use crate::workloads::nw::{NUCLEOTIDES, linear_nucleotides, random_codes};
use clap::Args;
use measure::Measuring;
use plan::PARTS;
use serde::{Deserialize, Serialize};
use stm_align::Pass;
use stm_align::matrix::{Gap, Matrix, Scoring};

pub(crate) mod measure;
pub(crate) mod plan;
pub(crate) mod reduction;

/// What a point aligns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// Letters of each sequence.
    letters: u64,
    pairs: u64,
    affine: bool,
    /// Whether letters are those of proteins, and not of nucleotides.
    protein: bool,
}

impl Case {
    /// One pair of nucleotides with linear gaps.
    const fn nucleotides(letters: u64) -> Self {
        Self {
            letters,
            pairs: 1,
            affine: false,
            protein: false,
        }
    }

    const fn cells(&self) -> u64 {
        self.letters * self.letters * self.pairs
    }
}

/// A document of points, as that of `bench sync` is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct NwBench(pub Bench);

impl Document for NwBench {
    const FORMAT: &'static str = "stamp-nw/1";
    const WRITER: &'static str = "stamp bench nw";
    const FILE_NAME: &'static str = "nw.json";

    fn head(&mut self) -> &mut Head {
        &mut self.0.head
    }
}

/// Letters of proteins that sequences are drawn from: the amino acids, which published
/// matrices name first.
const AMINO_ACIDS: u32 = 20;

/// Pairs of sequences, and how they score.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    pairs: Vec<[Vec<u8>; 2]>,
    pub(crate) scoring: Scoring,
}

impl Inputs {
    /// Draws the sequences of a case from a seed: all letters alike, independent of each other.
    fn new(case: &Case, seed: u64) -> Result<Self> {
        let scoring = scoring(case)?;
        let letters = u32::try_from(case.letters).unwrap_or(u32::MAX);
        let length = letters as usize;
        scoring.check(length, length).map_err(Error::Usage)?;
        let alphabet = [NUCLEOTIDES, AMINO_ACIDS][usize::from(case.protein)];
        let drawn = |which| random_codes(seed, which, letters, alphabet);
        let pairs = (0..case.pairs).map(|i| [drawn(2 * i), drawn(2 * i + 1)]);
        let pairs = pairs.collect();
        Ok(Self { pairs, scoring })
    }

    pub(crate) fn passes(&self) -> Vec<Pass<'_>> {
        let pairs = self.pairs.iter();
        pairs.map(|[a, b]| self.scoring.pass(a, b)).collect()
    }
}

/// The scoring of a case. Nucleotides score 5 and -4, and proteins by BLOSUM62; a linear gap costs
/// 8 for each letter, and an affine one 10 and 1 for each letter, or with proteins 11 and 1.
fn scoring(case: &Case) -> Result<Scoring> {
    let mut scoring = linear_nucleotides();
    if let Some(matrix) = Matrix::named("blosum62").filter(|_| case.protein) {
        scoring.matrix = matrix.map_err(Error::Usage)?;
    }
    if case.affine {
        let open = if case.protein { 11 } else { 10 };
        scoring.gap = Gap { open, extend: 1 };
    }
    Ok(scoring)
}

#[derive(Args, Debug, Clone)]
pub(crate) struct NwSpec {
    #[command(flatten)]
    pub bench: BenchSpec,
    /// A part, several separated by commas, or all
    #[arg(long, value_name = "PART,...", default_value = "all",
          value_parser = |text: &str| parse_names(text, "part", &PARTS.map(|part| part.0)))]
    pub only: NameList,
}

/// Measures what the document lacks; `command` is how the program was called. What a single point
/// cannot do is written into the document and is no error.
pub(crate) fn bench(device: &AnyDevice, spec: &NwSpec, command: &str) -> Result<Store<NwBench>> {
    let mut head = spec.bench.head(NwBench::FORMAT, device, command)?;
    head.notes = vec![
        "Times are the device's, from the beginning of the first launch to the end of the last. A \
         point that takes more than 0.2 s is measured once, any other is the median of 5 after one \
         that does not count. A point of the reduction is one launch after one that does not count; \
         its cycles are the median of the launch's rounds. Operations are cells of the tables, and \
         hand-overs in the reduction."
            .to_owned(),
        "Sequences are random letters drawn from the seed. Of up to 1 G cells the last row of each \
         table is compared with the host's, of more with that of tiles of another size."
            .to_owned(),
    ];
    let mut store = Store::<NwBench>::open(&spec.bench, head)?;
    let everything = plan::points(device, spec.bench.quick);
    let mut measuring = Measuring::new(device, spec.bench.seed);
    store.document.0.head.complete = add_missing(
        &mut store,
        |document| &mut document.0.points,
        (&everything, &spec.only),
        |planned| measuring.measure(planned),
    )?;
    store.save()?;
    Ok(store)
}
