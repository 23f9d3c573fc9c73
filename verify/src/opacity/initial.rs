//! What each word held before the first commit, as far as it is known; `infer` says where it
//! comes from.

use crate::history::{History, Rest};

/// Initial memory, by word number.
pub(crate) struct Initial {
    pub(super) values: Vec<u64>,
    pub(super) known: Vec<bool>,
}

impl Initial {
    /// Returns whether a word may have held `value` at first.
    pub(crate) fn may_be(&self, word: u32, value: u64) -> bool {
        self.values[word as usize] == value || !self.known[word as usize]
    }

    /// Returns whether a word's initial value is known.
    pub(crate) fn is_known(&self, word: u32) -> bool {
        self.known[word as usize]
    }
}

/// Returns the initial values that the history gives, by word number.
pub(crate) fn given(history: &History) -> Vec<Option<u64>> {
    let fill = match history.initial.rest {
        Rest::Value(value) => Some(value),
        Rest::Inferred => None,
    };
    let mut values = vec![fill; history.words_len()];
    for &(word, value) in &history.initial.words {
        if let Some(number) = history.words().number(word) {
            values[number as usize] = Some(value);
        }
    }
    values
}
