//! Scores of pairs of letters, in the format in which substitution matrices are published: a line of column
//! letters, and a line for each letter of the first sequence with its scores; `#` begins a comment. A
//! letter's code, which kernels use, is its place in the alphabet. The score of an alignment is that of each
//! pair of letters, less the cost of gaps.

use crate::Pass;
use crate::fasta::lines;
use std::num::IntErrorKind;

/// The matrices of Henikoff and Henikoff 1992 and of Dayhoff, Schwartz and Orcutt 1978, and one for
/// nucleotides, as the NCBI publishes them, each below a line with `>` and its name.
const BUILT_IN: &str = include_str!("matrices.txt");

fn built_in() -> impl Iterator<Item = (&'static str, &'static str)> {
    let matrices = BUILT_IN.split('>');
    matrices.filter_map(|matrix| matrix.split_once('\n'))
}

/// The names of the matrices that the program carries.
pub fn names() -> impl Iterator<Item = &'static str> {
    built_in().map(|(name, _)| name)
}

/// Returns a built-in matrix other than `but` that has all letters of a sequence.
pub fn one_with(letters: &[u8], but: &str) -> Option<&'static str> {
    ["nuc.4.4", "blosum62"].into_iter().find(|&name| {
        let known = Matrix::named(name).and_then(Result::ok);
        name != but && known.is_some_and(|matrix| matrix.alphabet.has_all(letters))
    })
}

/// A square matrix of scores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// What it is called.
    pub name: String,
    /// The letters, in the order of rows and columns.
    pub alphabet: Alphabet,
    /// All scores, row by row.
    pub scores: Vec<i32>,
}

impl Matrix {
    /// Makes the matrix of letters that score `same` with themselves and `other` with others.
    pub fn of_match(letters: &[u8], same: i32, other: i32) -> Result<Self, String> {
        let alphabet = Alphabet::new(letters)?;
        let size = alphabet.size();
        let score = |i: usize| if i / size == i % size { same } else { other };
        Ok(Self {
            name: format!("match {same}, mismatch {other}"),
            alphabet,
            scores: (0..size * size).map(score).collect(),
        })
    }

    /// Returns the built-in matrix of a name, in any case, if there is one.
    pub fn named(name: &str) -> Option<Result<Self, String>> {
        let mut name = name.to_ascii_lowercase();
        if name == "ednafull" {
            // EMBOSS calls it so.
            name = "nuc.4.4".into();
        }
        let (name, text) = built_in().find(|(known, _)| *known == name)?;
        Some(Self::parse(name, text))
    }

    /// Reads a matrix, whose rows may come in any order. The error is one line: no columns, a row of another
    /// letter or length, a score that is no number or too large, rows that are missing or too many.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let lines = (1..).zip(lines(text.as_bytes()));
        let mut lines = lines.filter_map(|(number, line)| {
            // Cut at ends of lines, which are letters of ASCII.
            let line = std::str::from_utf8(line).unwrap_or_default().trim();
            (!line.is_empty() && !line.starts_with('#')).then_some((number, line))
        });
        let Some((number, columns)) = lines.next() else {
            return Err(format!("{name} is empty: its first line names the letters"));
        };
        let letter = |word: &str| match word.as_bytes() {
            &[letter] => Ok(letter.to_ascii_uppercase()),
            _ => Err(format!("{name}, line {number}: {word:?} is no letter")),
        };
        let letters = columns.split_whitespace().map(letter);
        let letters: Vec<u8> = letters.collect::<Result<_, _>>()?;
        let alphabet = Alphabet::new(&letters).map_err(|why| format!("{name}: {why}"))?;
        let mut rows: Vec<Option<Vec<i32>>> = vec![None; letters.len()];
        for (number, line) in lines {
            let wrong = |why| format!("{name}, line {number}: {why}");
            let (place, scores) = row(&letters, line).map_err(wrong)?;
            if rows[place].replace(scores).is_some() {
                let shown = char::from(letters[place]);
                return Err(wrong(format!("a second row of {shown:?}")));
            }
        }
        let rows = letters.iter().zip(rows).map(|(&letter, row)| {
            let shown = char::from(letter);
            row.ok_or_else(|| format!("{name} is not square: it has no row of {shown:?}"))
        });
        Ok(Self {
            name: name.to_owned(),
            alphabet,
            scores: rows.collect::<Result<Vec<_>, _>>()?.concat(),
        })
    }

    /// Returns the score of two letters by their codes, which are below the number of letters.
    pub fn score(&self, a: u8, b: u8) -> i32 {
        self.scores[usize::from(a) * self.alphabet.size() + usize::from(b)]
    }

    /// Returns the largest and the smallest score.
    pub fn range(&self) -> (i32, i32) {
        let scores = self.scores.iter().copied();
        (scores.clone().max().unwrap_or(0), scores.min().unwrap_or(0))
    }
}

/// Reads a row: the place of its letter, and a score for each letter.
fn row(letters: &[u8], line: &str) -> Result<(usize, Vec<i32>), String> {
    let mut words = line.split_whitespace();
    let named = words.next().unwrap_or_default();
    let is_named = |letter: &u8| named.to_ascii_uppercase().as_bytes() == [*letter];
    let place = letters.iter().position(is_named);
    let lacks = || format!("a row of {named:?}, which is no column: a matrix is square");
    let place = place.ok_or_else(lacks)?;
    let shown = char::from(letters[place]);
    let scores = words.map(|word| {
        word.parse::<i32>().map_err(|error| match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                format!("{word:?} is too large: a score has 32 bits")
            }
            _ => format!("{word:?} is no whole number"),
        })
    });
    let scores = scores.collect::<Result<Vec<i32>, String>>()?;
    let (found, wanted) = (scores.len(), letters.len());
    if found == wanted {
        return Ok((place, scores));
    }
    let scores = if found == 1 { "score" } else { "scores" };
    let row = format!("the row of {shown:?} has {found} {scores}");
    Err(format!("{row}, and there are {wanted} columns"))
}

/// The letters that a scoring knows, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alphabet {
    letters: Vec<u8>,
    /// The code of each byte, or [`NONE`].
    codes: [u8; 256],
}

const NONE: u8 = u8::MAX;

impl Alphabet {
    /// Makes an alphabet of letters in upper case, which have the same codes in lower case. Where they are
    /// those of nucleotides with one of T and U, the other is read as it.
    pub fn new(letters: &[u8]) -> Result<Self, String> {
        let mut codes = [NONE; 256];
        let twin = thymine_and_uracil(letters);
        for (code, &letter) in (0..).zip(letters) {
            if codes[usize::from(letter)] != NONE {
                let shown = char::from(letter);
                return Err(format!("the letter {shown:?} is there twice"));
            }
            let other = twin.filter(|(known, _)| *known == letter);
            for letter in [letter].into_iter().chain(other.map(|(_, other)| other)) {
                codes[usize::from(letter)] = code;
                codes[usize::from(letter.to_ascii_lowercase())] = code;
            }
        }
        let letters = letters.to_vec();
        Ok(Self { letters, codes })
    }

    /// Returns the number of letters.
    pub fn size(&self) -> usize {
        self.letters.len()
    }

    /// Returns whether it has all letters of a sequence.
    pub fn has_all(&self, letters: &[u8]) -> bool {
        let is_known = |&letter: &u8| self.codes[usize::from(letter)] != NONE;
        letters.iter().all(is_known)
    }

    /// Returns the codes of a sequence.
    pub fn codes(&self, name: &str, letters: &[u8]) -> Result<Vec<u8>, String> {
        let code = |(place, &letter): (usize, &u8)| match self.codes[usize::from(letter)] {
            NONE => Err(format!(
                "letter {place} of {name} is {:?}, which is none of {}",
                char::from(letter),
                String::from_utf8_lossy(&self.letters)
            )),
            code => Ok(code),
        };
        (1..).zip(letters).map(code).collect()
    }
}

/// The letters of the IUPAC for nucleotides and for sets of them, and X, which is N.
const NUCLEOTIDES: &[u8] = b"ACGTUSWRYKMBVHDNX";

/// Returns which of T and U an alphabet of nucleotides has, and the other, if it has one.
fn thymine_and_uracil(letters: &[u8]) -> Option<(u8, u8)> {
    let has = |letter: &u8| letters.contains(letter);
    let is_of_nucleotides =
        b"ACG".iter().all(has) && letters.iter().all(|letter| NUCLEOTIDES.contains(letter));
    match (has(&b'T'), has(&b'U')) {
        (true, false) if is_of_nucleotides => Some((b'T', b'U')),
        (false, true) if is_of_nucleotides => Some((b'U', b'T')),
        _ => None,
    }
}

/// What a gap costs, from 0 on: `k` letters cost `open + k * extend`. A linear gap costs nothing to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// What a gap costs whatever its length.
    pub open: i32,
    /// What each letter of it costs.
    pub extend: i32,
}

impl Gap {
    /// Returns the cost of a gap of so many letters.
    pub fn cost(self, letters: usize) -> i64 {
        let each = i64::from(self.extend).saturating_mul(letters as i64);
        each.saturating_add(if letters == 0 { 0 } else { self.open.into() })
    }

    /// Returns whether the cost is in proportion to the length.
    pub const fn is_linear(self) -> bool {
        self.open == 0
    }
}

/// A matrix and the cost of gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scoring {
    /// The scores of pairs.
    pub matrix: Matrix,
    /// The cost of gaps.
    pub gap: Gap,
}

/// All scores are less than this and more than its negative, also with the costs of both sequences in gaps
/// added, as kernels compute them. So there is room in 32 bits for one that is less than all others.
pub const SCORE_LIMIT: i64 = 1 << 29;

impl Scoring {
    /// Returns the table of all of two sequences.
    pub const fn pass<'s>(&self, a: &'s [u8], b: &'s [u8]) -> Pass<'s> {
        Pass {
            a,
            b,
            backward: false,
            first: self.gap.open,
        }
    }

    /// Refuses costs that are negative, and lengths whose scores do not stay below [`SCORE_LIMIT`].
    pub fn check(&self, a: usize, b: usize) -> Result<(), String> {
        let Gap { open, extend } = self.gap;
        if open < 0 || extend < 0 {
            let costs = format!("a gap costs {open} to open and {extend} for each letter");
            return Err(costs + ": give 0 or more");
        }
        let (most, least) = self.matrix.range();
        let pairs = a.min(b) as i64;
        let highest = pairs.saturating_mul(i64::from(most.max(0)));
        let mismatches = pairs.saturating_mul(-i64::from(least.min(0)));
        // One gap more is opened and extended before it is found to be worse.
        let gaps = [self.gap.cost(a), self.gap.cost(b), self.gap.cost(1)];
        let lowest = gaps.into_iter().fold(mismatches, i64::saturating_add);
        if highest.saturating_add(lowest) >= SCORE_LIMIT {
            return Err(format!(
                "the score of sequences of {a} and {b} letters may exceed 2^29, which is the \
                 limit of its type: give shorter sequences, smaller scores or smaller costs"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use stm_kernels::draw::{below, draw};

    /// Nucleotides that score 5 and -4, and a gap that costs so much.
    pub(crate) fn scoring(open: i32, extend: i32) -> Scoring {
        let matrix = Matrix::of_match(b"ACGT", 5, -4).expect("four letters");
        let gap = Gap { open, extend };
        Scoring { matrix, gap }
    }

    /// Draws the codes of a sequence of nucleotides.
    pub(crate) fn drawn(seed: u64, len: usize) -> Vec<u8> {
        let letter = |i| below(draw(seed, i, 0), 4) as u8;
        (0..len as u64).map(letter).collect()
    }

    #[test]
    fn built_in_matrices_are_square_and_symmetric() {
        assert_eq!(names().count(), 9);
        for name in names() {
            let matrix = Matrix::named(&name.to_uppercase()).unwrap().unwrap();
            let size = matrix.alphabet.size() as u8;
            assert!(size >= 15);
            for (a, b) in (0..size).flat_map(|a| (0..size).map(move |b| (a, b))) {
                assert_eq!(matrix.score(a, b), matrix.score(b, a), "{name} {a} {b}");
            }
        }
        let blosum = Matrix::named("blosum62").unwrap().unwrap();
        let code = |letter: &[u8]| blosum.alphabet.codes("a", letter).unwrap()[0];
        assert_eq!(blosum.score(code(b"W"), code(b"W")), 11);
        assert!(Matrix::named("blosum61").is_none());
    }

    #[test]
    fn costs_and_lengths_are_checked() {
        scoring(10, 1).check(100_000, 100_000).unwrap();
        let error = scoring(-1, 1).check(1, 1).unwrap_err();
        assert!(error.contains("-1 to open"), "{error}");
        let error = scoring(0, 8).check(400_000_000, 1).unwrap_err();
        assert!(error.contains("400000000"), "{error}");
        assert_eq!(scoring(10, 2).gap.cost(3), 16);
        assert_eq!(scoring(10, 2).gap.cost(0), 0);
    }
}
