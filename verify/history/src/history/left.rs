//! What the commits of a history leave in memory.

use super::{Event, History, NumberMap, Outcome, Rest, sum};
use crate::named::{NamedWord, Names};

/// The values that a history's commits leave, in the order of their versions.
#[derive(Clone, Debug)]
pub struct Left {
    /// The last value of each word that a commit changed; none if nobody knows it.
    values: NumberMap<u64, Option<u64>>,
    initial: NumberMap<u64, u64>,
    rest: Rest,
}

impl Left {
    /// Replays the commits of a history.
    pub fn by(history: &History) -> Self {
        let mut left = Self {
            values: NumberMap::default(),
            initial: history.initial.words.iter().copied().collect(),
            rest: history.initial.rest,
        };
        let mut commits: Vec<(u64, usize)> = (0..history.len())
            .filter_map(|i| match history.attempt(i).outcome {
                Outcome::Committed { version } => Some((version, i)),
                _ => None,
            })
            .collect();
        commits.sort_unstable();
        for (_, i) in commits {
            for event in history.events(i) {
                let value = match event {
                    Event::Read { .. } => continue,
                    Event::Write { value, .. } => Some(value),
                    Event::Add { word, delta } => left.value(word).map(|v| sum(word, v, delta)),
                    Event::AddFloat { .. } => None,
                };
                left.values.insert(event.word(), value);
            }
        }
        left
    }

    /// Returns whether a commit changed a word.
    pub fn is_written(&self, word: u64) -> bool {
        self.values.contains_key(&word)
    }

    /// Returns what a word holds after all commits, or `None` if the history does not say it.
    pub fn value(&self, word: u64) -> Option<u64> {
        if let Some(&value) = self.values.get(&word) {
            return value;
        }
        self.initial.get(&word).copied().or(match self.rest {
            Rest::Value(value) => Some(value),
            Rest::Inferred => None,
        })
    }

    /// Returns the first difference, in words, between what the transactional arrays hold now and what the
    /// commits have left there, as far as either is known.
    pub fn difference(
        &self,
        names: &Names,
        now: impl Fn(&NamedWord) -> Option<u64>,
    ) -> Option<String> {
        let arrays = names.arrays().iter().filter(|array| array.transactional);
        arrays.flat_map(|array| &array.words).find_map(|word| {
            let (is, expected) = (now(word)?, self.value(word.word)?);
            if is == expected {
                return None;
            }
            let what = if self.is_written(word.word) {
                "the commits leave"
            } else {
                "no commit changed"
            };
            let name = names.of(word.word);
            Some(format!(
                "after the launch {name} holds {is}, where {what} {expected}: does a plain \
                 access store to it?"
            ))
        })
    }
}
