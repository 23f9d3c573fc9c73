//! Opacity, checked with a witness.
//!
//! A history is opaque if all its attempts, committed or not, can be put in one order that respects real
//! time and in which every read returns what the committed writes before it left. Finding such an order takes
//! a search over all orders. A memory with a clock knows its own order, which the history has as the witness.
//!
//! # The rule
//! Replay the committed updates by their versions. `state(p)` is memory after all commits with a
//! version of at most `p`; it is defined for every clock value, so versions may leave gaps. An
//! attempt with clock samples `begin` and `end` is right if some point `p` exists with
//!
//! 1. `begin <= p <= end`; for an update with version `v`, `p = v - 1` exactly;
//! 2. every read equals `state(p)`, or, after a write of the same word in the same attempt, equals that
//!    write. A read after the attempt's own additions returns them too.
//!
//! What words hold to which floats are added depends on the unknown order of the additions: their reads are
//! not judged. Nor are those of words that are added to and have no value before, by a write or at first.
//!
//! `begin <= v - 1`, `v <= end`, distinct versions and the like cannot fail in any run, however
//! wrong its reads; a history that breaks them is not judged but refused ([`ImpossibleHistory`]).
//!
//! # Why that is opacity
//! Order the attempts by their points: an update at its version, any other attempt at its `p`, after the
//! update with version `p` and before the next. The non-updates at one `p` change nothing: take them in their
//! real-time order. By rule 2 every read is legal in that order.
//!
//! It respects real time. Let A end before B begins, with B's thread aware of it: the same lane, or
//! any chain of synchronisation. Then A's end sample is coherence-ordered before B's begin sample,
//! and the clock only grows, so `end(A) <= begin(B)`. A's place, a `p` or a version, is at most
//! `end(A)`. B's is a `p` of at least `begin(B)`, or a version of at least `begin(B) + 1`. So A's
//! place is not after B's. They are equal only if B is no update: then B's `p` includes A if A is
//! one, and otherwise the two share a point and were taken in real-time order.
//!
//! # What the samples must be
//! The begin sample is loaded before the attempt's first read, the end sample after its last action, also
//! when it only reads or aborts. A begin sampled too early, or an end sampled too late, only widens the
//! interval: the check gets weaker and never accuses a right run. The other way round it would. An end is
//! late enough on weak memory as well: an attempt uses no value newer than a clock value that it has itself
//! read, so by coherence a later load of the clock returns at least that.
//!
//! The simulator gives both samples without a load: the oldest value that a load of this lane might return
//! there. By coherence it is at most what the attempt's own load of the clock returns, and at least what the
//! lane has loaded before or what happened before. So the argument about real time holds, and the interval
//! is no wider than it must be.
//!
//! # What it does not see
//! An opaque history whose recorded versions are not its order is rejected; for a protocol whose versions
//! are its order that is a bug as well. A running attempt's end is open; its commit, if it had one, is
//! unknown, and readers of its writes are then in violation. Initial values that are not recorded are
//! inferred (`index.rs`), which weakens the check for words that no attempt certainly read before their
//! first commit, and for no others.
//!
//! # Cost
//! Sorting is O(n log n); each read is a binary search in its word's commits. A finger walks over the states
//! that an attempt may see: a read that does not hold at the finger moves it to the next state in which it
//! does, and when all reads in a row hold at the finger, that is the point. So a wrong attempt over a long
//! interval of words that toggle is the slow case. Memory, beside the history's: 32 bytes for each word that
//! a commit wrote, and some 25 for each distinct word.

pub mod brute;
mod index;
pub mod report;

use crate::error::{Error, ImpossibleHistory};
use crate::history::{Attempt, Event, History, NumberMap, Outcome};
use index::{MemoryRead, Span, Splitter, Timeline};
use report::{
    AttemptRef, CommitRef, Counts, Finding, Held, Interval, ReadEvidence, Verdict, Violation,
};
use std::path::Path;

/// Violations that a verdict explains; the others are only counted.
pub const EXPLAINED_MAX: usize = 16;

/// Judges a history, or returns [`Error::Impossible`] if no run of any transactional memory can have made it.
pub fn check(history: &History) -> Result<Verdict, Error> {
    check_with_states(history).map(|(verdict, _)| verdict)
}

/// Reads a history file and judges it; errors are those of [`History::load`] and of [`check`].
pub fn check_file(path: &Path) -> Result<Verdict, Error> {
    let mut checked = check(&History::load(path)?);
    if let Err(Error::Impossible { file, .. }) = &mut checked {
        *file = Some(path.to_owned());
    }
    checked
}

/// The states of memory that the attempts of a history saw.
#[doc(hidden)]
pub struct States<'h> {
    history: &'h History,
    timeline: Timeline,
    splitter: Splitter,
    /// The attempt that was looked at last, and the states between which it has its point, both included.
    attempt: usize,
    window: (u32, u32),
}

impl States<'_> {
    /// Returns what words held, as far as the history says it, at a point of attempt `i` at which all of its
    /// reads hold, or at its first if there is none.
    pub fn seen_by(&mut self, i: usize) -> impl Fn(u64) -> Option<u64> + '_ {
        self.look_at(i);
        let state = self.point(&self.splitter.memory).unwrap_or(self.window.0);
        move |word| {
            let word = self.history.number_of(word)?;
            self.timeline.value(word, state)
        }
    }

    /// Looks at attempt `i`, and returns the first read that missed an own write.
    fn look_at(&mut self, i: usize) -> Option<Finding> {
        self.attempt = i;
        self.window = self.timeline.window(self.history, i);
        self.splitter.split(self.history, i)
    }

    /// Returns the first state that the attempt may see in which all reads hold.
    fn point(&self, reads: &[MemoryRead]) -> Option<u32> {
        let (mut state, last) = self.window;
        let mut agreed = 0;
        let mut turn = reads.iter().cycle();
        while agreed < reads.len() {
            let read = turn.next()?;
            let next = self.timeline.first_holding(read.word, read.value, state)?;
            if next > last {
                return None;
            }
            agreed = if next == state { agreed + 1 } else { 1 };
            state = next;
        }
        Some(state)
    }
}

const HELD_MAX: usize = 4;
/// Distinct reads up to which the smallest conflict of two is looked for.
const PAIRS_MAX: usize = 256;

/// Why an attempt has no point, in as few reads as possible.
impl States<'_> {
    fn explain(&mut self, i: usize) -> Violation {
        let lost = self.look_at(i);
        let attempt = self.history.attempt(i);
        Violation {
            attempt: self.attempt_ref(i),
            begin: attempt.begin,
            end: (attempt.outcome != Outcome::Running).then_some(attempt.end),
            finding: lost.unwrap_or_else(|| self.no_common_point(&self.splitter.memory)),
        }
    }

    fn attempt_ref(&self, i: usize) -> AttemptRef {
        let attempt = self.history.attempt(i);
        AttemptRef {
            attempt: i,
            lane: attempt.lane,
            number_in_lane: self.history.number_in_lane(i),
            outcome: attempt.outcome,
        }
    }

    fn no_common_point(&self, reads: &[MemoryRead]) -> Finding {
        let mut seen = std::collections::HashSet::new();
        let new = |read: &&MemoryRead| seen.insert((read.word, read.value));
        let distinct: Vec<MemoryRead> = reads.iter().filter(new).copied().collect();
        let attempt = self.history.attempt(self.attempt);
        let (from, to) = attempt.points();
        let to = (attempt.outcome != Outcome::Running).then_some(to);
        let core = self.smallest_conflict(&distinct).into_iter();
        Finding::NoCommonPoint {
            points: Interval { from, to },
            reads_total: reads.len(),
            reads: core.map(|read| self.evidence(read)).collect(),
        }
    }

    /// Returns reads without a common point, none of them to spare; one or two if that suffices.
    fn smallest_conflict(&self, reads: &[MemoryRead]) -> Vec<MemoryRead> {
        if let Some(&alone) = reads.iter().find(|&&read| self.point(&[read]).is_none()) {
            return vec![alone];
        }
        if reads.len() <= PAIRS_MAX {
            for (j, &second) in reads.iter().enumerate() {
                let conflict = |&&first: &&MemoryRead| self.point(&[first, second]).is_none();
                if let Some(&first) = reads[..j].iter().find(conflict) {
                    return vec![first, second];
                }
            }
        }
        // The read at which those before it have no point any more belongs to a conflict with some of
        // them. Keep it, and look again among those.
        let mut core = Vec::new();
        let mut rest = reads;
        while self.point(&core).is_some() {
            let lengths: Vec<usize> = (0..rest.len()).collect();
            let holds = |&len: &usize| self.point(&[&core[..], &rest[..=len]].concat()).is_some();
            let last = lengths.partition_point(holds);
            core.push(rest[last]);
            rest = &rest[..last];
        }
        core.reverse();
        core
    }

    fn evidence(&self, read: MemoryRead) -> ReadEvidence {
        let word = self.history.word(read.word);
        let spans = self.timeline.spans(read.word, read.value);
        let held = |span: &Span| self.held(read.word, *span);
        // Those in which are states that the attempt may see.
        let (low, high) = self.window;
        let is_inside = |&&(from, to): &&Span| from <= high && to >= low;
        let inside = || spans.iter().filter(is_inside);
        let holds: Vec<Held> = inside().take(HELD_MAX).map(held).collect();
        let before = spans.iter().rev().find(|span| span.1 < low);
        let after = spans.iter().find(|span| span.0 > high);
        let outside = before.into_iter().chain(after);
        let never_held = spans.is_empty();
        let writer = never_held.then(|| self.writer(word, read.value)).flatten();
        ReadEvidence {
            event: read.event,
            word,
            value: read.value,
            holds_left_out: inside().skip(HELD_MAX).count(),
            elsewhere: outside.filter(|_| holds.is_empty()).map(held).collect(),
            holds,
            initial_unknown: self.timeline.initial[read.word as usize].is_none(),
            never_visible_write_by: writer.map(|writer| self.attempt_ref(writer)),
        }
    }

    /// Returns another attempt that wrote a value which memory never held.
    fn writer(&self, word: u64, value: u64) -> Option<usize> {
        let wanted = Event::Write { word, value };
        let wrote = |i: usize| self.history.events(i).any(|event| event == wanted);
        (0..self.history.len()).find(|&i| i != self.attempt && wrote(i))
    }

    fn held(&self, word: u32, (first, last): Span) -> Held {
        let commit_ref = |rank: u32| {
            let (version, attempt) = self.timeline.commit(rank);
            CommitRef {
                version,
                attempt,
                lane: self.history.attempt(attempt).lane,
                value: self.timeline.value(word, rank + 1).unwrap_or_default(),
            }
        };
        let set_by = first.checked_sub(1).map(commit_ref);
        let overwritten_by = (last != u32::MAX).then(|| commit_ref(last));
        let from = set_by.map_or(0, |by| by.version);
        let to = overwritten_by.map(|by| by.version - 1);
        Held {
            points: Interval { from, to },
            set_by,
            overwritten_by,
        }
    }
}

/// Does the same as [`check`], and returns the states that the attempts saw.
#[doc(hidden)]
pub fn check_with_states(history: &History) -> Result<(Verdict, States<'_>), Error> {
    let commits = version_order(history).map_err(Box::new);
    let commits = commits.map_err(|what| Error::Impossible { file: None, what })?;
    let (timeline, initial) = Timeline::new(history, commits);
    let mut states = States {
        history,
        timeline,
        splitter: Splitter::default(),
        attempt: 0,
        window: (0, 0),
    };
    let is_wrong = |&i: &usize| {
        let lost = states.look_at(i);
        lost.is_some() || states.point(&states.splitter.memory).is_none()
    };
    let wrong: Vec<usize> = (0..history.len()).filter(is_wrong).collect();
    let explained = wrong.iter().take(EXPLAINED_MAX);
    let verdict = Verdict {
        history: history.header.clone(),
        counts: counts(history),
        initial,
        violations_total: wrong.len() as u64,
        violations: explained.map(|&i| states.explain(i)).collect(),
    };
    Ok((verdict, states))
}

fn counts(history: &History) -> Counts {
    let mut counts = Counts {
        attempts: history.len() as u64,
        events: history.events_len() as u64,
        words: history.words_len() as u64,
        ..Counts::default()
    };
    for i in 0..history.len() {
        *match history.attempt(i).outcome {
            Outcome::Committed { .. } => &mut counts.updates,
            Outcome::CommittedReadOnly => &mut counts.read_only,
            Outcome::Aborted { .. } => &mut counts.aborted,
            Outcome::Running => &mut counts.running,
        } += 1;
    }
    counts
}

/// Returns the committed updates as (version, attempt), by version, or the first contradiction: of one
/// attempt, of a lane, then of two commits.
fn version_order(history: &History) -> Result<Vec<(u64, u32)>, ImpossibleHistory> {
    let impossible = |attempt: usize, why| {
        let lane = history.attempt(attempt).lane;
        ImpossibleHistory { attempt, lane, why }
    };
    let mut order = Vec::new();
    // The last attempt of each lane.
    let mut lanes: NumberMap<u32, usize> = NumberMap::default();
    for i in 0..history.len() {
        let attempt = history.attempt(i);
        alone(history, i, attempt).map_err(|why| impossible(i, why))?;
        if let Some(before) = lanes.insert(attempt.lane, i) {
            let Attempt { end, outcome, .. } = history.attempt(before);
            let of_lane = || format!("the thread's attempt before it, attempt {before}");
            if outcome == Outcome::Running {
                return Err(impossible(i, format!("{}, never ended", of_lane())));
            }
            if attempt.begin < end {
                let (begin, end) = (attempt.begin, format!("{end} at the end of {}", of_lane()));
                let why = format!("the clock was {begin} at its begin, but {end}");
                return Err(impossible(i, why));
            }
        }
        if let Outcome::Committed { version } = attempt.outcome {
            order.push((version, i as u32));
        }
    }
    order.sort_unstable();
    for pair in order.windows(2) {
        let ((version, other), (next, i)) = (pair[0], pair[1]);
        if version == next {
            let thread = history.attempt(other as usize).lane;
            let by = format!("attempt {other} (thread {thread})");
            let why = format!("commit version {version} was already produced by {by}");
            return Err(impossible(i as usize, why));
        }
    }
    Ok(order)
}

fn alone(history: &History, i: usize, attempt: Attempt) -> Result<(), String> {
    let (begin, end) = (attempt.begin, attempt.end);
    let written = || history.events(i).find(Event::is_update);
    Err(match attempt.outcome {
        _ if end < begin => format!("the clock was {begin} at its begin and {end} at its end"),
        Outcome::Committed { version: 0 } => "commit version 0: versions start at 1".to_owned(),
        Outcome::Committed { version } if version > end => {
            format!("commit version {version} is beyond the clock at the attempt's end, {end}")
        }
        Outcome::Committed { version } if version <= begin => {
            let above = format!("not above the clock at the attempt's begin, {begin}");
            format!("commit version {version} is {above}")
        }
        Outcome::Committed { version } if written().is_none() => {
            format!("committed with version {version} without a write")
        }
        Outcome::CommittedReadOnly if let Some(event) = written() => {
            format!("committed as read-only after writing 0x{:x}", event.word())
        }
        _ => return Ok(()),
    })
}
