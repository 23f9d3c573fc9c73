//! The verdict of `stamp isolation` on a recorded run of a result.

use crate::numbers::count;
use serde::{Deserialize, Serialize};

/// A verdict on the isolation of the transactions of a recorded run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// Whether every attempt saw a state that existed, in one order; absent where the run could
    /// not be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<bool>,
    /// Transactions that committed in the records.
    pub transactions: u64,
    /// Attempts in the records.
    pub attempts: u64,
    /// Histories, one after the other, of which each was judged.
    pub histories: u64,
    /// Blocks of the recorded launch.
    pub blocks: u32,
    /// Threads of a block of it.
    pub threads: u32,
    /// The input, where it is not that of the result, as its records do not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// What was found, or why it could not be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Isolation {
    /// That of a run that could not be judged.
    pub const fn not_judged(why: String) -> Self {
        Self {
            opaque: None,
            transactions: 0,
            attempts: 0,
            histories: 0,
            blocks: 0,
            threads: 0,
            input: None,
            note: Some(why),
        }
    }

    /// The verdict in words: `opaque, 1M transactions`.
    pub fn told(&self) -> String {
        let verdict = match self.opaque {
            Some(true) => "opaque",
            Some(false) => "NOT opaque",
            None => "not judged",
        };
        let mut parts = vec![verdict.to_owned()];
        if self.transactions > 0 {
            let (n, blocks, threads) = (count(self.transactions), self.blocks, self.threads);
            parts.push(format!("{n} transactions at {blocks} x {threads}"));
        }
        parts.extend(self.input.iter().chain(&self.note).cloned());
        parts.join(", ")
    }
}
