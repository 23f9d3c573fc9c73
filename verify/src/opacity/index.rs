//! Memory over time: for each word, the commits that wrote it.
//!
//! The commits are numbered by version from 0: their *ranks*. State `r` is
//! memory after the first `r` commits, so that commit `r` turns state `r` into
//! state `r + 1`, and states are numbers without gaps even where versions have
//! some. State `r` is memory at the clock values from the version of commit
//! `r - 1` up to, and without, that of commit `r`.

use super::initial::Initial;
use crate::history::History;
use crate::history::words::NumberMap;

/// Entries of a word that are looked through one after the other for a value
/// before its value index is asked, and the fewest for which there is one.
const LINEAR_MAX: usize = 32;

/// The commits and, by word, what they wrote.
pub(crate) struct Commits {
    /// Versions by rank.
    versions: Vec<u64>,
    /// Attempts by rank.
    attempts: Vec<u32>,
    /// Where each word's entries start, and the number of all.
    first: Vec<usize>,
    /// The rank of each entry, ascending within a word.
    ranks: Vec<u32>,
    /// The value that the word had after that commit.
    values: Vec<u64>,
    /// For words with many entries, the start of their part of `by_value`.
    value_index: NumberMap<u32, usize>,
    /// Entries of such a word, counted from its first, by value and then rank.
    by_value: Vec<u32>,
}

/// The entries of one word.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'a> {
    pub(crate) ranks: &'a [u32],
    pub(crate) values: &'a [u64],
}

impl Commits {
    /// The index of the updates in `order`: (version, attempt), by version.
    pub(crate) fn new(history: &History, order: Vec<(u64, u32)>) -> Self {
        let (versions, attempts): (Vec<u64>, Vec<u32>) = order.into_iter().unzip();
        let mut first = entry_starts(history, &attempts);
        let total = first.last().copied().unwrap_or(0);
        let mut ranks = vec![0; total];
        let mut values = vec![0; total];
        // `first[w + 1]` walks from the start of word w's entries to their end,
        // and so becomes the start of the next word's.
        for (rank, &attempt) in (0_u32..).zip(&attempts) {
            let (keys, written) = history.columns(attempt as usize);
            for (&key, &value) in keys.iter().zip(written).filter(|(key, _)| *key & 1 == 1) {
                let word = (key >> 1) as usize;
                let next = &mut first[word + 1];
                // The last of several writes by one commit counts. The entry
                // before may be another word's, but then it is its last, or 0
                // and not yet filled; `written_by` tells.
                let again = *next > 0 && written_by(&ranks, *next, rank, word, history, attempt, key, keys);
                if again {
                    values[*next - 1] = value;
                } else {
                    ranks[*next] = rank;
                    values[*next] = value;
                    *next += 1;
                }
            }
        }
        let (value_index, by_value) = index_values(&first, &values);
        Self { versions, attempts, first, ranks, values, value_index, by_value }
    }
}
