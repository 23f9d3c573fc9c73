//! Histories: what the transactions of a run read, wrote and came to.
//!
//! A history lists *attempts*: a transaction that aborts twice and then commits is three of them.
//! Each has two samples of the clock, its outcome, and its reads and writes in program order.
//! Attempts of one lane stand in program order; between lanes the order means nothing.
//!
//! The columns are made for tens of millions of attempts: an attempt costs 48 bytes, 8 more if its
//! transaction's number is known, and an event 12, with each distinct word kept once. They are recorded into
//! buffers of lanes ([`layout`], [`records`]), and kept in [files](mod@file); [`left`] is what they leave.

pub mod file;
/// The layout of a lane's recording buffer, which the kernels' probe fills.
pub use stm_core::internal::observe::history_layout as layout;
pub mod left;
pub mod records;

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;
use stm_core::Abort;

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// An update committed and moved the clock to `version`.
    Committed {
        /// The clock that the commit produced. No two commits share one; they may leave gaps.
        version: u64,
    },
    /// A transaction without writes committed.
    CommittedReadOnly,
    /// The attempt was given up; its writes took no effect.
    Aborted {
        /// The number of an `stm_core::Abort`.
        reason: u8,
    },
    /// The launch stopped before the attempt's end. Only a lane's last attempt can be running.
    Running,
}

/// The same in a file, which has a number for each kind.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Outcome")]
enum InFile {
    Committed { version: u64 },
    CommittedReadOnly,
    Aborted { reason: u8 },
    Running,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Committed { version } => write!(f, "committed version {version}"),
            Self::CommittedReadOnly => write!(f, "committed read-only"),
            Self::Aborted { reason } => match Abort::NAMES.get(usize::from(reason)) {
                Some(name) => write!(f, "aborted: {name}"),
                None => write!(f, "aborted: reason {reason}"),
            },
            Self::Running => write!(f, "still running"),
        }
    }
}

/// A read, a write or an addition. A word is an opaque number; recorders take its address with the width in
/// bit 0, which says where additions wrap: at 32 bits if it is 0, else at 64. Words do not overlap. Values
/// and what is added are zero-extended.
#[allow(missing_docs)] // of the fields
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A read that returned `value`. After a write of the same word in the same attempt it is a
    /// read of that write; the attempt's own additions since are in the value.
    Read { word: u64, value: u64 },
    /// A write.
    Write { word: u64, value: u64 },
    /// An addition, which takes effect with the commit.
    Add { word: u64, delta: u64 },
    /// An addition of floats. What it leaves depends on the order of the
    /// additions, which nobody knows: reads of such a word are not judged.
    AddFloat { word: u64 },
}

impl Event {
    /// Returns the word.
    pub const fn word(&self) -> u64 {
        self.parts().0
    }

    /// Returns its word, what is read, written or added, 0 for floats, and the kind ([`kind`]).
    pub(crate) const fn parts(&self) -> (u64, u64, u32) {
        match *self {
            Self::Read { word, value } => (word, value, kind::READ),
            Self::Write { word, value } => (word, value, kind::WRITE),
            Self::Add { word, delta } => (word, delta, kind::ADD),
            Self::AddFloat { word } => (word, 0, kind::ADD_FLOAT),
        }
    }

    /// Returns whether it changes the word.
    pub const fn is_update(&self) -> bool {
        !matches!(self, Self::Read { .. })
    }
}

/// Returns what a word with the value `a` holds after an addition of `b`.
pub const fn sum(word: u64, a: u64, b: u64) -> u64 {
    let sum = a.wrapping_add(b);
    if word & 1 == 0 {
        sum & 0xFFFF_FFFF
    } else {
        sum
    }
}

/// The kind of an event, in the lower bits of its key.
pub(crate) mod kind {
    pub(crate) const READ: u32 = 0;
    pub(crate) const WRITE: u32 = 1;
    pub(crate) const ADD: u32 = 2;
    pub(crate) const ADD_FLOAT: u32 = 3;
    pub(crate) const BITS: u32 = 2;
    pub(crate) const MASK: u32 = 3;
}

/// What was run, an algorithm and a workload on a machine, and what replays it, as free text.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Header {
    /// The algorithm.
    pub variant: String,
    /// The workload.
    pub workload: String,
    /// The machine.
    pub device: String,
    /// What replays the run.
    pub seed: String,
}

impl Header {
    /// Returns a header that says nothing about a replay.
    pub fn new(
        variant: impl Into<String>,
        workload: impl Into<String>,
        device: impl Into<String>,
    ) -> Self {
        Self {
            variant: variant.into(),
            workload: workload.into(),
            device: device.into(),
            seed: String::new(),
        }
    }
}

/// What words held before the first commit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InitialMemory {
    /// Words whose value is known. If one is listed twice, the later counts.
    pub words: Vec<(u64, u64)>,
    /// The others.
    pub rest: Rest,
}

/// What the words held that [`InitialMemory::words`] does not list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Rest {
    /// All the same value.
    Value(u64),
    /// Unknown: the checker takes it from the first reads in version order.
    Inferred,
}

impl InitialMemory {
    /// Returns memory in which these words are known.
    pub fn of(words: impl IntoIterator<Item = (u64, u64)>, rest: Rest) -> Self {
        let words = words.into_iter().collect();
        Self { words, rest }
    }

    /// Zero everywhere.
    pub const ZERO: Self = Self {
        words: Vec::new(),
        rest: Rest::Value(0),
    };
    /// Unknown everywhere.
    pub const INFERRED: Self = Self {
        words: Vec::new(),
        rest: Rest::Inferred,
    };
}

/// The begin and end samples, lane and outcome of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attempt {
    /// The lane that made it, numbered through the launch.
    pub lane: u32,
    /// The clock, sampled before the attempt's first action.
    pub begin: u64,
    /// The clock, sampled after it committed or aborted; `u64::MAX` while running.
    pub end: u64,
    /// How the attempt ended.
    #[serde(with = "InFile")]
    pub outcome: Outcome,
}

impl Attempt {
    /// Returns an attempt with these samples and this outcome.
    pub const fn new(lane: u32, begin: u64, end: u64, outcome: Outcome) -> Self {
        Self {
            lane,
            begin,
            end,
            outcome,
        }
    }

    /// Returns the first and the last point at which it may stand: for an update the one before its version.
    pub(crate) const fn points(&self) -> (u64, u64) {
        match self.outcome {
            Outcome::Committed { version } => (version - 1, version - 1),
            _ => (self.begin, self.end),
        }
    }
}

/// A history, in columns. A [file](mod@file) has the fields in this order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct History {
    /// What was run.
    pub header: Header,
    /// Memory before the first commit.
    pub initial: InitialMemory,
    attempts: Vec<Attempt>,
    /// The numbers of the attempts' transactions in records; past the end they are not known.
    numbers: Vec<u64>,
    /// Where each attempt's events start, and the number of all.
    first_event: Vec<u64>,
    /// A word's number, shifted, and the kind ([`kind`]).
    keys: Vec<u32>,
    values: Vec<u64>,
    /// The distinct words, in the order of their first use.
    words: Vec<u64>,
    #[serde(skip)]
    word_numbers: NumberMap<u64, u32>,
    /// Whether anything is added to a word.
    #[serde(skip)]
    pub(crate) additions: bool,
}

/// The most attempts in a history.
pub const ATTEMPTS_MAX: u64 = u32::MAX as u64 - 1;

impl History {
    /// Returns a history without attempts.
    pub fn new(header: Header, initial: InitialMemory) -> Self {
        Self {
            header,
            initial,
            attempts: Vec::new(),
            numbers: Vec::new(),
            first_event: vec![0],
            keys: Vec::new(),
            values: Vec::new(),
            words: Vec::new(),
            word_numbers: NumberMap::default(),
            additions: false,
        }
    }

    /// Adds an attempt, after all others of its lane. Past 2^32 - 2 of them or 2^30 distinct words that is
    /// [`Error::TooLarge`].
    pub fn push(&mut self, attempt: Attempt, events: &[Event]) -> Result<(), Error> {
        let too_large = |what, limit| Err(Error::TooLarge { what, limit });
        if self.len() as u64 >= ATTEMPTS_MAX {
            return too_large("attempts", ATTEMPTS_MAX);
        }
        for &event in events {
            let (word, value, kind) = event.parts();
            self.additions |= kind >= kind::ADD;
            let next = self.words.len() as u32;
            let number = self.number_of(word).unwrap_or(next);
            if u64::from(number) == WORDS_MAX {
                self.keys.truncate(self.first_event[self.len()] as usize);
                self.values.truncate(self.keys.len());
                return too_large("distinct words", WORDS_MAX);
            }
            if number == next {
                self.word_numbers.insert(word, next);
                self.words.push(word);
            }
            self.keys.push(number << kind::BITS | kind);
            self.values.push(value);
        }
        self.attempts.push(attempt);
        self.first_event.push(self.keys.len() as u64);
        Ok(())
    }

    /// Says which transaction the last attempt belongs to, as its record does ([`layout::number`]).
    pub(crate) fn number_last(&mut self, number: u64) {
        if number != 0 {
            self.numbers.resize(self.len() - 1, 0);
            self.numbers.push(number);
        }
    }

    /// Returns the number of the transaction that attempt `i` belongs to: the index in its loop
    /// (`StmRef::for_each`), or the number of the thread for a transaction outside of loops. Attempts that
    /// never ended have none.
    pub fn transaction(&self, i: usize) -> Option<u64> {
        layout::transaction(self.number(i))
    }

    /// Returns that number as records have it, 0 if it is not known.
    pub(crate) fn number(&self, i: usize) -> u64 {
        self.numbers.get(i).copied().unwrap_or(0)
    }

    /// Takes all attempts out.
    pub fn clear(&mut self) {
        let initial = std::mem::replace(&mut self.initial, InitialMemory::ZERO);
        *self = Self::new(std::mem::take(&mut self.header), initial);
    }

    /// Returns the number of attempts.
    pub fn len(&self) -> usize {
        self.attempts.len()
    }

    /// Returns whether there are no attempts.
    pub fn is_empty(&self) -> bool {
        self.attempts.is_empty()
    }

    /// Returns the number of reads and writes.
    pub fn events_len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the number of distinct words.
    pub fn words_len(&self) -> usize {
        self.words.len()
    }

    /// Returns attempt `i`; it panics if `i` is not below [`Self::len`].
    #[inline]
    pub fn attempt(&self, i: usize) -> Attempt {
        self.attempts[i]
    }

    /// Returns the reads and writes of attempt `i` in program order; it panics if there is no such attempt.
    pub fn events(&self, i: usize) -> impl ExactSizeIterator<Item = Event> + '_ {
        let (keys, values) = self.columns(i);
        keys.iter().zip(values).map(|(&key, &value)| {
            let word = self.word(key >> kind::BITS);
            match key & kind::MASK {
                kind::READ => Event::Read { word, value },
                kind::WRITE => Event::Write { word, value },
                kind::ADD => Event::Add { word, delta: value },
                _ => Event::AddFloat { word },
            }
        })
    }

    /// Returns the events of attempt `i` as keys (word number and kind) and values.
    #[inline]
    pub(crate) fn columns(&self, i: usize) -> (&[u32], &[u64]) {
        let range = self.first_event[i] as usize..self.first_event[i + 1] as usize;
        (&self.keys[range.clone()], &self.values[range])
    }

    pub(crate) fn number_of(&self, word: u64) -> Option<u32> {
        self.word_numbers.get(&word).copied()
    }

    pub(crate) fn word(&self, number: u32) -> u64 {
        self.words[number as usize]
    }

    /// Returns how many attempts of its lane came before attempt `i`.
    pub fn number_in_lane(&self, i: usize) -> usize {
        let lane = self.attempts[i].lane;
        let before = self.attempts[..i].iter();
        before.filter(|attempt| attempt.lane == lane).count()
    }
}

/// A map from numbers. A file whose keys are made to collide is slow to read.
#[doc(hidden)]
pub type NumberMap<K, V> = rustc_hash::FxHashMap<K, V>;

const WORDS_MAX: u64 = 1 << 30;
