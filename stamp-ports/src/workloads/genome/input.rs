//! The sizes of genome; a random gene and its segments.
//!
//! Genes are as STAMP makes them: segments begin at random places; then holes are filled, so that the gene's
//! start, its end and everything between is covered. STAMP leaves neighbours that overlap in a single base,
//! and such a match is a guess. Here the assembly must be right, so holes are filled until neighbours overlap
//! in more bases than any part of the gene that occurs twice has. Then two segments that overlap in so many
//! bases do overlap in the gene, the longest overlap of each is with its neighbour, and the assembly has one
//! result.

use crate::workloads::prelude::*;
use stm_kernels::genome::{BASES_A_WORD, words_of};

/// The least slots of the set for each different segment: few that an insertion looks at are taken.
const SLOTS_A_SEGMENT: u64 = 4;

/// The most slots that an insertion looks at. With a quarter of them taken, the longest run grows with the
/// logarithm of their number, to some 30 of a gene of [`GENE_MAX`] bases.
const LOOKS_MAX: u32 = 64;

/// Words that a link reads, and that it writes.
const LINK_WORDS: u32 = 4;

sizes! {
    /// By default as in the paper's Table 1: 16 K shared words, STAMP's `-g16384`; STAMP's `-s64`; GN-1's 4 M
    /// transactions.
    Genome, options of "genome" {
        bases: u32 = 16 << 10, json "g", option
            /// Bases of the gene [default: 16K]
            #[arg(short, value_name = "N", value_parser = parse_count_32)]
            g,
            when Occasion::Quick => 512, Occasion::Recording(DeviceKind::Cpu) => 2 << 10,
            // A million different segments, so that GN-2 has as many transactions.
            Occasion::Paper => 1 << 20;
        segment: u32 = 64, json "s", option
            /// Bases of a segment [default: 64]
            #[arg(short, value_name = "N", value_parser = parse_count_32)]
            s,
            when Occasion::Quick => 16, Occasion::Recording(DeviceKind::Cpu) => 32;
        segments: u32 = 4 << 20, json "n", by |_, shared| shared.n,
            when Occasion::Quick | Occasion::Recording(DeviceKind::Cpu) => 16 << 10,
            Occasion::Recording(DeviceKind::Cuda) => 64 << 10,
            Occasion::Demonstration(_) | Occasion::Floor(DeviceKind::Cpu) => 256 << 10;
    } takes [n]
}

impl Genome {
    pub(super) fn slots(&self) -> u64 {
        let places = u64::from(self.bases.saturating_sub(self.segment)) + 1;
        (places * SLOTS_A_SEGMENT).next_power_of_two()
    }
}

impl Sizes for Genome {
    fn facts(&self, _: u64) -> Facts {
        let sizes = [self.bases, self.segments, self.segment];
        Facts {
            summary: quantities(sizes, ["base", "segment", "base"]) + " a segment",
            capacity: sets(LOOKS_MAX, LINK_WORDS, 0),
            transactions: Some(self.segments.into()),
            // The set, and the chains: a successor is two words.
            shared_words: self.slots() * 5,
            verifies: Covers::FinalState
                .that("each segment is once in the set, and the chain of all of them is the gene"),
            ..Facts::of(self.named())
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let (bases, segment, segments) = (self.bases, self.segment, self.segments);
        refuse! {
            segment < 2 => "-s {segment} leaves segments nothing to overlap in: give 2 or more";
            bases < segment =>
                "-g {bases} is shorter than -s {segment}: a segment is a part of the gene";
            bases > GENE_MAX => "-g {bases} is too long: give at most {GENE_MAX}";
            segments == 0 => "-n 0 leaves nothing to put together: give 1 or more";
            segments > u32::MAX - GENE_MAX - 1 =>
                "-n {segments} is too many: give at most {}", u32::MAX - GENE_MAX - 1;
        }
        Ok(())
    }
}

/// The most bases of a gene: 32 bits number the four slots that the set of its segments has for each.
pub(super) const GENE_MAX: u32 = 1 << 28;

/// The longest part that is looked for twice, in bases.
const REPEAT_MAX: u32 = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gene {
    /// 0 to 3 each.
    pub(super) bases: Vec<u8>,
    pub(super) segment: u32,
    pub(super) starts: Vec<u32>,
    pub(super) distinct: u32,
}

/// A number drawn for each base and each segment: the series are far apart.
fn series(seed: u64, number: u64) -> u64 {
    draw(seed, number, u32::MAX)
}

pub(super) fn letters(bases: &[u8]) -> String {
    let letter = |&base: &u8| char::from(b"ACGT"[usize::from(base & 3)]);
    bases.iter().map(letter).collect()
}

/// The shortest length, up to [`REPEAT_MAX`], at which no part of the gene occurs twice.
fn distinct_at(bases: &[u8]) -> Option<u32> {
    // What begins at each base, as far as it fits, and how long that is; the last one first.
    let mut window = 0u128;
    let parts = zip(bases.iter().rev(), 1..).map(|(&base, len)| {
        window = window >> 2 | u128::from(base) << 126;
        (window, REPEAT_MAX.min(len))
    });
    let mut parts: Vec<_> = parts.collect();
    parts.sort_unstable();
    // In this order the longest part that occurs twice begins two neighbours.
    let common = parts.windows(2).map(|two| {
        let ((a, len), (b, other)) = (two[0], two[1]);
        ((a ^ b).leading_zeros() / 2).min(len).min(other)
    });
    let longest = common.max().unwrap_or(0);
    (longest < REPEAT_MAX).then_some(longest + 1)
}

impl Gene {
    /// Draws a gene of `len` bases and `n` segments of `segment` bases, and adds what fills the holes; refuses
    /// segments too short to tell where they belong.
    pub(super) fn generate(seed: u64, len: u32, segment: u32, n: u32) -> Result<Self> {
        let [of_bases, of_starts] = [0, 1].map(|s| series(seed, s));
        let base = |i| (draw(of_bases, i, 0) >> 62) as u8;
        let bases: Vec<u8> = (0..u64::from(len)).map(base).collect();
        // A gene of one segment has nothing to tell apart.
        let alone = (segment == len).then_some(0);
        let distinct = alone.or_else(|| distinct_at(&bases));
        let overlap = distinct.unwrap_or(REPEAT_MAX.max(segment));
        refuse! {
            overlap >= segment =>
                "-s {segment} is too short for this gene of {len} bases, in which shorter parts \
                 occur twice: give {} or more", distinct.unwrap_or(REPEAT_MAX) + 1;
        }
        let places = len - segment + 1;
        let start = |i| below(draw(of_starts, i, 0), places);
        let mut starts: Vec<u32> = (0..u64::from(n)).map(start).collect();
        let mut distinct: BTreeSet<u32> = starts.iter().copied().collect();
        let holes = holes(&distinct, places - 1, segment - overlap);
        starts.extend(&holes);
        distinct.extend(&holes);
        Ok(Self {
            bases,
            segment,
            starts,
            distinct: distinct.len() as u32,
        })
    }

    /// The segments' contents: two bits a base, each from a word of its own on.
    pub(super) fn packed(&self) -> Vec<u64> {
        let words = words_of(self.segment) as usize;
        let mut packed = vec![0; self.starts.len() * words];
        for (segment, &start) in packed.chunks_exact_mut(words).zip(&self.starts) {
            let bases = &self.bases[start as usize..][..self.segment as usize];
            for (word, bases) in segment.iter_mut().zip(bases.chunks(BASES_A_WORD as usize)) {
                for (i, &base) in bases.iter().enumerate() {
                    *word |= u64::from(base) << (2 * i);
                }
            }
        }
        packed
    }
}

/// The places to add so that the first and the last are there and no two neighbours are further apart than
/// `step`: each as far on as may be.
fn holes(starts: &BTreeSet<u32>, last: u32, step: u32) -> Vec<u32> {
    let mut added = Vec::new();
    let mut at = 0;
    if !starts.contains(&0) {
        added.push(0);
    }
    while at < last {
        let limit = at.saturating_add(step).min(last);
        let there = starts.range(at + 1..=limit).next_back();
        if there.is_none() {
            added.push(limit);
        }
        at = *there.unwrap_or(&limit);
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gene_of_a_seed_is_covered_and_neighbours_overlap_in_what_occurs_once() {
        for (len, segment, n) in [(300, 20, 1), (300, 20, 40), (300, 16, 5000), (40, 40, 3)] {
            let gene = Gene::generate(5, len, segment, n).unwrap();
            assert_eq!(gene.bases.len(), len as usize);
            assert!(gene.starts.len() >= n as usize);
            let distinct: BTreeSet<u32> = gene.starts.iter().copied().collect();
            assert_eq!(distinct.len(), gene.distinct as usize);
            assert_eq!(distinct.first(), Some(&0));
            assert_eq!(distinct.last(), Some(&(len - segment)));
            let once = distinct_at(&gene.bases).unwrap();
            for (a, b) in distinct.iter().zip(distinct.iter().skip(1)) {
                assert!(a + segment >= b + once, "{a} and {b} of {segment}");
            }
            let again = |seed| Gene::generate(seed, len, segment, n).unwrap();
            assert!(gene == again(5) && gene.bases != again(6).bases);
            let is = |base: u8| move |&b: &u8| u32::from(b == base);
            let count = |base| gene.bases.iter().map(is(base)).sum::<u32>();
            assert!((0..4).all(|base| (len / 8..len / 2).contains(&count(base))));
        }
    }

    #[test]
    fn the_length_at_which_parts_are_distinct_is_the_least() {
        let bases = |text: &str| -> Vec<u8> {
            let of = |c| "ACGT".find(c).unwrap() as u8;
            text.chars().map(of).collect()
        };
        assert_eq!(distinct_at(&bases("ACGT")), Some(1));
        assert_eq!(distinct_at(&bases("ACGAC")), Some(3));
        assert_eq!(distinct_at(&bases("AAAA")), Some(4));
        assert_eq!(distinct_at(&bases(&"A".repeat(200))), None);
        assert_eq!(letters(&bases("GATTACA")), "GATTACA");
    }
}
