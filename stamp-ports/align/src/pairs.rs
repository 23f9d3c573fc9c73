//! Pairs of sequences to align: read from two FASTA files, and checked.

use super::fasta::{Record, is_input, read, shown};
use super::matrix::one_with;
use crate::matrix::Scoring;
use crate::{Error, Result};
use std::path::Path;

/// A sequence, and its letters as codes of the scoring's alphabet.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// Its name and its letters.
    pub record: Record,
    /// Its codes.
    pub codes: Vec<u8>,
}

/// Two sequences to align.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The one whose letters are rows.
    pub a: Sequence,
    /// The one whose letters are columns.
    pub b: Sequence,
}

impl Pair {
    /// Returns the codes of both.
    pub fn codes(&self) -> (&[u8], &[u8]) {
        (&self.a.codes, &self.b.codes)
    }
}

/// Reads two files and pairs their records in order.
///
/// # Errors
/// Files that cannot be read or are not FASTA, different numbers of records, letters that
/// the alphabet lacks, lengths whose scores are too large.
pub fn read_pairs(a: &Path, b: &Path, scoring: &Scoring) -> Result<Vec<Pair>> {
    if is_input(a) && is_input(b) {
        return Err(Error::Usage(
            "both files are `-`: standard input can be one of them".to_owned(),
        ));
    }
    let (of_a, of_b) = (read(a)?, read(b)?);
    if of_a.len() != of_b.len() {
        return Err(Error::Usage(format!(
            "{} has {} and {} has {}: the i-th sequence of one is aligned with the i-th of the \
             other, so give files with as many",
            shown(a),
            sequences(of_a.len()),
            shown(b),
            sequences(of_b.len())
        )));
    }
    let sequence = |record: Record, path: &Path| {
        let alphabet = &scoring.matrix.alphabet;
        match alphabet.codes(&record.name, &record.letters) {
            Ok(codes) => Ok(Sequence { record, codes }),
            Err(wrong) => {
                let fix = match one_with(&record.letters, &scoring.matrix.name) {
                    Some(other) => format!("give --matrix {other}, which has all of its letters"),
                    None => "no built-in matrix has all of its letters: give --matrix a FILE that \
                             has"
                    .to_owned(),
                };
                let path = shown(path);
                Err(Error::Usage(format!("{path}: {wrong}: {fix}")))
            }
        }
    };
    let mut pairs = Vec::with_capacity(of_a.len());
    for (of_a, of_b) in of_a.into_iter().zip(of_b) {
        let pair = Pair {
            a: sequence(of_a, a)?,
            b: sequence(of_b, b)?,
        };
        let (rows, columns) = (pair.a.codes.len(), pair.b.codes.len());
        scoring.check(rows, columns).map_err(|wrong| {
            let (a, b) = (&pair.a.record.name, &pair.b.record.name);
            Error::Usage(format!("{a} and {b}: {wrong}"))
        })?;
        pairs.push(pair);
    }
    Ok(pairs)
}

fn sequences(count: usize) -> String {
    match count {
        1 => "1 sequence".to_owned(),
        count => format!("{count} sequences"),
    }
}

/// Letters of B in a group of pairs, unless one pair has more: what a group's rows need of
/// the memory is in proportion to them.
const GROUP_COLUMNS: usize = 16 << 20;

/// Divides pairs into groups that are aligned together.
pub fn groups(mut pairs: &[Pair]) -> impl Iterator<Item = &[Pair]> {
    std::iter::from_fn(move || {
        let mut columns = 0;
        let fit = pairs.iter().take_while(|pair| {
            columns += pair.b.codes.len();
            columns <= GROUP_COLUMNS
        });
        let count = fit.count().max(1).min(pairs.len());
        let (group, left) = pairs.split_at(count);
        pairs = left;
        (!group.is_empty()).then_some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(columns: usize) -> Pair {
        let sequence = |len| Sequence {
            record: Record {
                name: "a".to_owned(),
                letters: Vec::new(),
            },
            codes: vec![0; len],
        };
        Pair {
            a: sequence(1),
            b: sequence(columns),
        }
    }

    #[test]
    fn groups_are_all_pairs_in_order_and_none_is_large_unless_of_one() {
        let lengths = [1, GROUP_COLUMNS - 1, 1, GROUP_COLUMNS + 1, 5, 6];
        let pairs: Vec<Pair> = lengths.into_iter().map(pair).collect();
        let groups: Vec<Vec<usize>> = groups(&pairs)
            .map(|group| group.iter().map(|pair| pair.b.codes.len()).collect())
            .collect();
        assert_eq!(groups.concat(), lengths);
        let counts: Vec<usize> = groups.iter().map(Vec::len).collect();
        assert_eq!(counts, [2, 1, 1, 2]);
    }
}
