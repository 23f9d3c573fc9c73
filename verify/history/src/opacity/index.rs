//! Memory over time: for each word, the commits that wrote it. And which reads of an attempt went to
//! memory, and which to its own writes; of those after own additions, what memory held.
//!
//! The commits are numbered by version from 0: their *ranks*. State `r` is memory after the first `r`
//! commits, so states are numbers without gaps even where versions have some. State `r` is memory at the
//! clock values from the version of commit `r - 1` up to, and without, that of commit `r`.
//!
//! # What each word held before the first commit
//! A history may say it. Otherwise it is inferred from the attempts whose read of the word was certainly one
//! of initial memory: those whose whole interval lies before the word's first commit. The most trustworthy is
//! believed, so that the others are judged by it: a committed update before a read-only commit before an
//! attempt that did not commit, and among equals the one with the earliest interval.
//!
//! Failing that, a read whose interval reaches from before the first commit to after it is one of initial
//! memory if no commit in the interval wrote its value. And failing that, the word has any value that a read
//! asks for.

use super::report::{Finding, InitialUse};
use crate::history::{History, NumberMap, Outcome, Rest, kind, sum};

/// The commits and, by word, what they wrote; and what words held at first.
pub(crate) struct Timeline {
    /// The versions of the commits, by rank: alone, as each attempt searches them; and their attempts.
    versions: Vec<u64>,
    attempts: Vec<u32>,
    /// Where each word's entries start, and the number of all.
    first: Vec<usize>,
    /// The ranks of the commits that wrote a word, ascending for each word: alone, as each read searches them.
    ranks: Vec<u32>,
    /// The value of the word after that commit.
    values: Vec<u64>,
    /// Value and rank of each entry, sorted for each word.
    by_value: Vec<(u64, u32)>,
    /// Words whose values nobody knows, by number; empty if there are none.
    unknown: Vec<bool>,
    /// What each word held at first, by number, as far as it is known.
    pub(crate) initial: Vec<Option<u64>>,
}

/// The first and the last state of a stretch in which a word holds a value; the last is `u32::MAX` if no commit
/// overwrote it.
pub(crate) type Span = (u32, u32);

impl Timeline {
    /// Makes the index of `commits`: (version, attempt), by version; and takes the initial values that the
    /// history gives, or infers them if it says so.
    pub(crate) fn new(history: &History, commits: Vec<(u64, u32)>) -> (Self, InitialUse) {
        let initial = given(history);
        // What words hold while the commits are replayed, if anything is added to them.
        let mut memory = Vec::new();
        if history.additions {
            memory.clone_from(&initial);
        }
        let mut unknown = vec![false; memory.len()];
        let mut entries = Vec::new();
        let (versions, attempts): (Vec<u64>, Vec<u32>) = commits.into_iter().unzip();
        for (rank, &attempt) in (0_u32..).zip(&attempts) {
            let (keys, values) = history.columns(attempt as usize);
            for (&key, &(mut value)) in keys.iter().zip(values) {
                let (word, kind) = (key >> kind::BITS, key & kind::MASK);
                if kind == kind::READ {
                    continue;
                }
                if let Some(now) = memory.get_mut(word as usize) {
                    let before = now.unwrap_or(0);
                    unknown[word as usize] |=
                        kind == kind::ADD_FLOAT || kind == kind::ADD && now.is_none();
                    value = match kind {
                        kind::WRITE => value,
                        kind::ADD => sum(history.word(word), before, value),
                        _ => before,
                    };
                    *now = Some(value);
                }
                entries.push((word, rank, value));
            }
        }
        // They come by rank, and stay so within a word.
        entries.sort_by_key(|entry| entry.0);
        // The last of several writes by one commit counts.
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            kept.2 = if same { next.2 } else { kept.2 };
            same
        });
        let starts = 0..=history.words_len() as u32;
        let starts = starts.map(|word| entries.partition_point(|entry| entry.0 < word));
        let first: Vec<usize> = starts.collect();
        let mut by_value: Vec<_> = entries.iter().map(|entry| (entry.2, entry.1)).collect();
        for bounds in first.windows(2) {
            by_value[bounds[0]..bounds[1]].sort_unstable();
        }
        let mut timeline = Self {
            versions,
            attempts,
            first,
            ranks: entries.iter().map(|entry| entry.1).collect(),
            values: entries.iter().map(|entry| entry.2).collect(),
            by_value,
            unknown,
            initial,
        };
        let used = timeline.infer(history);
        (timeline, used)
    }

    /// Returns whether nobody knows the values of a word: floats were added to it, or it was added
    /// to before it was written and its initial value is not given.
    fn is_unknown(&self, word: u32) -> bool {
        self.unknown.get(word as usize) == Some(&true)
    }

    pub(crate) fn commit(&self, rank: u32) -> (u64, usize) {
        let rank = rank as usize;
        (self.versions[rank], self.attempts[rank] as usize)
    }

    /// Returns the states between which attempt `i` has its point, both included.
    pub(crate) fn window(&self, history: &History, i: usize) -> (u32, u32) {
        let (from, to) = history.attempt(i).points();
        let state_at = |clock| self.versions.partition_point(|&version| version <= clock);
        (state_at(from) as u32, state_at(to) as u32)
    }

    fn of_word<'t, T>(&self, all: &'t [T], word: u32) -> &'t [T] {
        &all[self.first[word as usize]..self.first[word as usize + 1]]
    }

    /// Returns the first commit, from rank `from` on, that left `value` in a word.
    fn commit_of(&self, word: u32, value: u64, from: u32) -> Option<u32> {
        let of_word = self.of_word(&self.by_value, word);
        let place = of_word.partition_point(|entry| *entry < (value, from));
        let found = of_word.get(place).filter(|entry| entry.0 == value);
        found.map(|entry| entry.1)
    }

    /// Returns what a word holds in a state, if that is known.
    pub(crate) fn value(&self, word: u32, state: u32) -> Option<u64> {
        let before = self
            .of_word(&self.ranks, word)
            .partition_point(|&rank| rank < state);
        let newest = before
            .checked_sub(1)
            .map(|at| self.of_word(&self.values, word)[at]);
        newest.or(self.initial[word as usize])
    }

    /// Returns the first state, from `state` on, in which a word holds `value`.
    pub(crate) fn first_holding(&self, word: u32, value: u64, state: u32) -> Option<u32> {
        let holds = |now| now == value;
        if self.is_unknown(word) || self.value(word, state).is_none_or(holds) {
            return Some(state);
        }
        self.commit_of(word, value, state).map(|rank| rank + 1)
    }

    /// Returns all stretches in which a word holds `value`, by a walk over all of its commits.
    pub(crate) fn spans(&self, word: u32, value: u64) -> Vec<Span> {
        let ranks = self.of_word(&self.ranks, word).iter();
        let entries = ranks.zip(self.of_word(&self.values, word));
        let entries = entries.filter(|_| !self.is_unknown(word));
        // From which state on it holds the value, or does not.
        let initial = self.initial[word as usize].is_none_or(|known| known == value);
        let mut changes = vec![(0, initial)];
        changes.extend(entries.map(|(&rank, &written)| (rank + 1, written == value)));
        changes.dedup_by_key(|(_, holds)| *holds);
        let ends = changes[1..].iter().map(|&(state, _)| state - 1);
        let spans = changes.iter().zip(ends.chain([u32::MAX]));
        let spans = spans.filter(|((_, holds), _)| *holds);
        spans.map(|(&(from, _), to)| (from, to)).collect()
    }
}

fn given(history: &History) -> Vec<Option<u64>> {
    let fill = match history.initial.rest {
        Rest::Value(value) => Some(value),
        Rest::Inferred => None,
    };
    let mut values = vec![fill; history.words_len()];
    for &(word, value) in &history.initial.words {
        if let Some(number) = history.number_of(word) {
            values[number as usize] = Some(value);
        }
    }
    values
}

impl Timeline {
    /// Infers initial values: first from certain reads, then by elimination.
    fn infer(&mut self, history: &History) -> InitialUse {
        let words = history.words_len() as u64;
        let known = |initial: &[Option<u64>]| initial.iter().flatten().count() as u64;
        let given = known(&self.initial);
        let mut splitter = Splitter::default();
        // How far an inferred value is to be trusted: lower is better.
        let mut trust = vec![(u8::MAX, u32::MAX); self.initial.len()];
        for certain in [true, false] {
            if known(&self.initial) == words {
                break;
            }
            for i in 0..history.len() {
                let (low, high) = self.window(history, i);
                let class = match history.attempt(i).outcome {
                    Outcome::Committed { .. } => 0,
                    Outcome::CommittedReadOnly => 1,
                    Outcome::Aborted { .. } | Outcome::Running => 2,
                };
                splitter.split(history, i);
                for read in &splitter.memory {
                    let word = read.word as usize;
                    // The first state that a commit to the word has changed.
                    let first = self.of_word(&self.ranks, read.word).first();
                    let change = first.map_or(u32::MAX, |rank| rank + 1);
                    let is_new = self.initial[word].is_none();
                    let infers = if certain {
                        let inferable = is_new || trust[word].0 != u8::MAX;
                        inferable && (class, low) < trust[word] && high < change
                    } else {
                        let commit = || self.commit_of(read.word, read.value, 0);
                        is_new && low < change && commit().is_none_or(|rank| rank >= high)
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
    pub(crate) event: u32,
}

/// Whether an attempt has written a word, and its value; else what it has added to what memory holds. None if
/// nobody knows it.
type Own = Option<(bool, u64)>;

/// Own writes for which room is kept from attempt to attempt.
const OWN_KEPT: usize = 64;

/// Splits attempts, one after the other, with the same scratch space.
#[derive(Default)]
pub(crate) struct Splitter {
    /// Reads from memory of the attempt split last, in program order.
    pub(crate) memory: Vec<MemoryRead>,
    own: NumberMap<u32, Own>,
}

impl Splitter {
    /// Splits the events of attempt `i`; returns the first read that missed an own write.
    pub(crate) fn split(&mut self, history: &History, i: usize) -> Option<Finding> {
        let (keys, values) = history.columns(i);
        self.memory.clear();
        self.own.clear();
        self.own.shrink_to(OWN_KEPT);
        let mut lost = None;
        for (event, (&key, &value)) in (0_u32..).zip(keys.iter().zip(values)) {
            let word = key >> kind::BITS;
            let own = self.own.get(&word).copied().unwrap_or(Some((false, 0)));
            let plus = |a, b| sum(history.word(word), a, b);
            let own = match (key & kind::MASK, own) {
                (kind::READ, Some((true, wrote))) => {
                    if wrote != value && lost.is_none() {
                        lost = Some(Finding::OwnWriteLost {
                            event,
                            word: history.word(word),
                            wrote,
                            read: value,
                        });
                    }
                    continue;
                }
                (kind::READ, Some((false, more))) => {
                    // Without additions the value is taken as it stands.
                    let before = plus(value, more.wrapping_neg());
                    let value = if more == 0 { value } else { before };
                    self.memory.push(MemoryRead { word, value, event });
                    continue;
                }
                (kind::READ, None) => continue,
                (kind::WRITE, _) => Some((true, value)),
                (kind::ADD, Some((wrote, before))) => Some((wrote, plus(before, value))),
                _ => None,
            };
            self.own.insert(word, own);
        }
        lost
    }
}
