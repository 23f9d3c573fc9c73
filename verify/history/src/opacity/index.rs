//! Memory over time: for each word, the commits that wrote it. And which reads of an attempt went to
//! memory, and which to its own writes; of those after own additions, what memory held.
//!
//! The commits are numbered by version from 0: their *ranks*. State `r` is memory after the first
//! `r` commits, so that commit `r` turns state `r` into state `r + 1`, and states are numbers
//! without gaps even where versions have some. State `r` is memory at the clock values from the
//! version of commit `r - 1` up to, and without, that of commit `r`.
//!
//! # What each word held before the first commit
//! A history may say it. For a word about which it does not, the value is inferred from the
//! attempts whose read of it was certainly a read of initial memory: those whose whole interval
//! lies before the word's first commit. The most trustworthy is believed, so that the others are
//! judged by it: a committed update before a read-only commit before an attempt that did not
//! commit, and among equals the one with the earliest interval.
//!
//! Failing that, a read whose interval reaches from before the first commit to
//! after it is one of initial memory if no commit in the interval wrote its
//! value. And failing that, the word has any value that a read asks for.

use super::report::{Finding, InitialUse};
use crate::history::{History, NumberMap, Outcome, Rest, kind, sum};

/// The commits and, by word, what they wrote; and what words held at first.
pub(crate) struct Timeline {
    versions: Vec<u64>,
    attempts: Vec<u32>,
    /// Where each word's entries start, and the number of all.
    first: Vec<usize>,
    /// The rank of each entry, ascending within a word.
    ranks: Vec<u32>,
    /// The value that the word had after that commit.
    values: Vec<u64>,
    /// The entries of each word, counted from its first, by value and then rank.
    by_value: Vec<u32>,
    /// Words whose values nobody knows, by number; empty if there are none.
    unknown: Vec<bool>,
    /// What each word held at first, by number, as far as it is known.
    pub(crate) initial: Vec<Option<u64>>,
}

impl Timeline {
    /// Makes the index of the updates in `order`: (version, attempt), by version; and takes the
    /// initial values that the history gives, or infers them if it says so.
    pub(crate) fn new(history: &History, order: Vec<(u64, u32)>) -> (Self, InitialUse) {
        let (versions, attempts): (Vec<u64>, Vec<u32>) = order.into_iter().unzip();
        let first = entry_starts(history, &attempts);
        let mut next = first.clone();
        let total = first[history.words_len()];
        let (mut ranks, mut values) = (vec![0; total], vec![0; total]);
        let initial = given(history);
        // What words hold while the commits are replayed, if anything is added to them.
        let mut memory = Vec::new();
        if history.has_additions() {
            memory.clone_from(&initial);
        }
        let mut unknown = vec![false; memory.len()];
        for (rank, &attempt) in (0_u32..).zip(&attempts) {
            for (word, kind, mut value) in updates(history, attempt) {
                if let Some(now) = memory.get_mut(word) {
                    let before = now.unwrap_or(0);
                    unknown[word] |= kind == kind::ADD_FLOAT || kind == kind::ADD && now.is_none();
                    value = match kind {
                        kind::WRITE => value,
                        kind::ADD => sum(history.words().word(word as u32), before, value),
                        _ => before,
                    };
                    *now = Some(value);
                }
                let at = &mut next[word];
                // The last of several writes by one commit counts.
                if *at > first[word] && ranks[*at - 1] == rank {
                    values[*at - 1] = value;
                } else {
                    ranks[*at] = rank;
                    values[*at] = value;
                    *at += 1;
                }
            }
        }
        let by_value = index_values(&first, &values);
        let mut timeline = Self {
            versions,
            attempts,
            first,
            ranks,
            values,
            by_value,
            unknown,
            initial,
        };
        let used = timeline.infer(history);
        (timeline, used)
    }

    /// Returns whether nobody knows the values of a word: floats were added to it, or it was added
    /// to before it was written and its initial value is not given.
    pub(crate) fn is_unknown(&self, word: u32) -> bool {
        self.unknown.get(word as usize) == Some(&true)
    }

    pub(crate) fn len(&self) -> u32 {
        self.versions.len() as u32
    }

    pub(crate) fn version(&self, rank: u32) -> u64 {
        self.versions[rank as usize]
    }

    pub(crate) fn attempt(&self, rank: u32) -> usize {
        self.attempts[rank as usize] as usize
    }

    /// Returns the state of memory when the clock reads `clock`.
    pub(crate) fn state_at(&self, clock: u64) -> u32 {
        self.versions.partition_point(|&version| version <= clock) as u32
    }

    /// Returns the ranks of the commits that wrote a word, and the values that it had after them.
    pub(crate) fn entries(&self, word: u32) -> (&[u32], &[u64]) {
        let range = self.first[word as usize]..self.first[word as usize + 1];
        (&self.ranks[range.clone()], &self.values[range])
    }

    /// Returns the first entry of a word, from entry `from` on, that wrote `value`.
    pub(crate) fn entry_with(&self, word: u32, value: u64, from: usize) -> Option<usize> {
        let (_, values) = self.entries(word);
        let index = &self.by_value[self.first[word as usize]..][..values.len()];
        let place = index.partition_point(|&e| (values[e as usize], e as usize) < (value, from));
        let entry = *index.get(place)? as usize;
        (values[entry] == value).then_some(entry)
    }
}

/// Returns the updates of an attempt in order: word number, kind, and value or what is added.
fn updates(history: &History, attempt: u32) -> impl Iterator<Item = (usize, u32, u64)> + '_ {
    let (keys, values) = history.columns(attempt as usize);
    let of_key = |(&key, &value): (&u32, &u64)| {
        let kind = key & kind::MASK;
        (kind != kind::READ).then_some(((key >> kind::BITS) as usize, kind, value))
    };
    keys.iter().zip(values).filter_map(of_key)
}

/// Returns where each word's entries start: one entry for each commit that wrote it.
fn entry_starts(history: &History, attempts: &[u32]) -> Vec<usize> {
    let words = history.words_len();
    let mut starts = vec![0_usize; words + 1];
    let mut last = vec![u32::MAX; words];
    for (rank, &attempt) in (0_u32..).zip(attempts) {
        for (word, ..) in updates(history, attempt) {
            if last[word] != rank {
                last[word] = rank;
                starts[word + 1] += 1;
            }
        }
    }
    for word in 0..words {
        starts[word + 1] += starts[word];
    }
    starts
}

/// Returns the entries of each word, sorted by value and then rank.
fn index_values(first: &[usize], values: &[u64]) -> Vec<u32> {
    let mut by_value = Vec::with_capacity(values.len());
    for bounds in first.windows(2) {
        let values = &values[bounds[0]..bounds[1]];
        by_value.extend(0..values.len() as u32);
        by_value[bounds[0]..].sort_unstable_by_key(|&entry| (values[entry as usize], entry));
    }
    by_value
}

/// A stretch of states in which a word holds a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) from: u32,
    /// The last state; `u32::MAX` if the value was never overwritten.
    pub(crate) to: u32,
    /// The commit that wrote the value, if it is not initial.
    pub(crate) set_by: Option<u32>,
    pub(crate) overwritten_by: Option<u32>,
}

impl Timeline {
    fn may_be_initial(&self, word: u32, value: u64) -> bool {
        self.initial[word as usize].is_none_or(|known| known == value)
    }

    /// Returns what a word holds in a state, if that is known.
    pub(crate) fn value(&self, word: u32, state: u32) -> Option<u64> {
        let (ranks, values) = self.entries(word);
        let before = ranks.partition_point(|&rank| rank < state);
        match before.checked_sub(1) {
            Some(newest) => Some(values[newest]),
            None => self.initial[word as usize],
        }
    }

    /// Returns the first state, from `state` on, in which a word holds `value`.
    pub(crate) fn first_holding(&self, word: u32, value: u64, state: u32) -> Option<u32> {
        if self.is_unknown(word) {
            return Some(state);
        }
        let (ranks, values) = self.entries(word);
        let from = ranks.partition_point(|&rank| rank < state);
        let holds = match from.checked_sub(1) {
            Some(current) => values[current] == value,
            None => self.may_be_initial(word, value),
        };
        if holds {
            return Some(state);
        }
        let entry = self.entry_with(word, value, from);
        entry.map(|entry| ranks[entry] + 1)
    }

    /// Returns all stretches in which a word holds `value`, by a walk over all of its commits.
    pub(crate) fn spans(&self, word: u32, value: u64) -> Vec<Span> {
        let span = |from, set_by, overwritten_by: Option<u32>| Span {
            from,
            to: overwritten_by.unwrap_or(u32::MAX),
            set_by,
            overwritten_by,
        };
        if self.is_unknown(word) {
            return vec![span(0, None, None)];
        }
        let (ranks, values) = self.entries(word);
        let mut spans = Vec::new();
        let mut open = self.may_be_initial(word, value).then_some((0, None));
        for (&rank, &written) in ranks.iter().zip(values) {
            match open {
                Some((from, set_by)) if written != value => {
                    spans.push(span(from, set_by, Some(rank)));
                    open = None;
                }
                None if written == value => open = Some((rank + 1, Some(rank))),
                _ => {}
            }
        }
        if let Some((from, set_by)) = open {
            spans.push(span(from, set_by, None));
        }
        spans
    }
}

/// Returns the initial values that the history gives, by word number.
fn given(history: &History) -> Vec<Option<u64>> {
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

impl Timeline {
    /// Returns the states between which attempt `i` has its point, both included.
    pub(crate) fn window(&self, history: &History, i: usize) -> (u32, u32) {
        let (from, to) = history.attempt(i).points();
        (self.state_at(from), self.state_at(to))
    }

    /// Infers the initial values that the history does not give: first from certain reads, then by
    /// elimination.
    fn infer(&mut self, history: &History) -> InitialUse {
        let words = history.words_len() as u64;
        let known = |initial: &[Option<u64>]| initial.iter().flatten().count() as u64;
        let given = known(&self.initial);
        let mut splitter = Splitter::default();
        // How far an inferred value is to be trusted: lower is better.
        let mut trust = vec![(u8::MAX, u32::MAX); self.initial.len()];
        for certain in [true, false] {
            let attempts = if known(&self.initial) < words {
                history.len()
            } else {
                0
            };
            for i in 0..attempts {
                let (low, high) = self.window(history, i);
                let class = match history.attempt(i).outcome {
                    Outcome::Committed { .. } => 0,
                    Outcome::CommittedReadOnly => 1,
                    Outcome::Aborted { .. } | Outcome::Running => 2,
                };
                splitter.split(history, i);
                for read in &splitter.memory {
                    let word = read.word as usize;
                    let (ranks, _) = self.entries(read.word);
                    // The first state that a commit to the word has changed.
                    let change = ranks.first().map_or(u32::MAX, |&rank| rank + 1);
                    let is_new = self.initial[word].is_none();
                    let infers = if certain {
                        let inferable = is_new || trust[word].0 != u8::MAX;
                        inferable && (class, low) < trust[word] && high < change
                    } else {
                        let entry = || self.entry_with(read.word, read.value, 0);
                        is_new && low < change && entry().is_none_or(|entry| ranks[entry] >= high)
                    };
                    if infers {
                        trust[word] = (class, low);
                        self.initial[word] = Some(read.value);
                    }
                }
            }
        }
        let known = known(&self.initial);
        InitialUse {
            given,
            inferred: known - given,
            unknown: words - known,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryRead {
    pub(crate) word: u32,
    pub(crate) value: u64,
    /// Index among the attempt's events.
    pub(crate) event: u32,
}

#[derive(Clone, Copy)]
enum Own {
    /// Its value is this.
    Value(u64),
    /// Its value is what memory holds and this.
    More(u64),
    /// Floats were added.
    Unknown,
}

/// Own writes for which there is room from attempt to attempt.
const OWN_KEPT: usize = 64;

/// Splits attempts, one after the other, with the same scratch space.
#[derive(Default)]
pub(crate) struct Splitter {
    /// Reads from memory of the attempt split last, in program order.
    pub(crate) memory: Vec<MemoryRead>,
    /// What each word written or added to so far is.
    own: NumberMap<u32, Own>,
}

impl Splitter {
    /// Splits the events of attempt `i`; returns the first read that missed an own write.
    pub(crate) fn split(&mut self, history: &History, i: usize) -> Option<Finding> {
        let (words, (keys, values)) = (history.words(), history.columns(i));
        self.memory.clear();
        self.own.clear();
        self.own.shrink_to(OWN_KEPT);
        let mut lost = None;
        for (event, (&key, &value)) in (0_u32..).zip(keys.iter().zip(values)) {
            let word = key >> kind::BITS;
            let own = self.own.get(&word).copied().unwrap_or(Own::More(0));
            let plus = |a, b| sum(words.word(word), a, b);
            let own = match (key & kind::MASK, own) {
                (kind::READ, Own::Value(wrote)) => {
                    if wrote != value && lost.is_none() {
                        lost = Some(Finding::OwnWriteLost {
                            event,
                            word: words.word(word),
                            wrote,
                            read: value,
                        });
                    }
                    continue;
                }
                (kind::READ, Own::More(more)) => {
                    // Without additions the value is taken as it stands.
                    let before = plus(value, more.wrapping_neg());
                    let value = if more == 0 { value } else { before };
                    self.memory.push(MemoryRead { word, value, event });
                    continue;
                }
                (kind::READ, Own::Unknown) => continue,
                (kind::WRITE, _) => Own::Value(value),
                (kind::ADD, Own::Value(wrote)) => Own::Value(plus(wrote, value)),
                (kind::ADD, Own::More(more)) => Own::More(plus(more, value)),
                _ => Own::Unknown,
            };
            self.own.insert(word, own);
        }
        lost
    }
}
