//! Why an attempt has no point, in as few reads as possible.

use super::States;
use super::index::{MemoryRead, Span};
use super::report::{AttemptRef, CommitRef, Finding, Held, Interval, ReadEvidence, Violation};
use crate::history::{Event, Outcome};

const HELD_MAX: usize = 4;
/// Distinct reads up to which the smallest conflict of two is looked for.
const PAIRS_MAX: usize = 256;

impl States<'_> {
    pub(super) fn explain(&mut self, i: usize) -> Violation {
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

    fn in_conflict(&self, reads: &[MemoryRead]) -> bool {
        self.point(reads).is_none()
    }

    /// Returns reads without a common point, none of them to spare; one or two if that suffices.
    fn smallest_conflict(&self, reads: &[MemoryRead]) -> Vec<MemoryRead> {
        if let Some(&alone) = reads.iter().find(|&&read| self.in_conflict(&[read])) {
            return vec![alone];
        }
        if reads.len() <= PAIRS_MAX {
            for (j, &second) in reads.iter().enumerate() {
                let conflict = |&&first: &&MemoryRead| self.in_conflict(&[first, second]);
                if let Some(&first) = reads[..j].iter().find(conflict) {
                    return vec![first, second];
                }
            }
        }
        // The read at which those before it have no point any more belongs to a conflict with some of
        // them. Keep it, and look again among those.
        let mut core = Vec::new();
        let mut rest = reads;
        while !self.in_conflict(&core) {
            let lengths: Vec<usize> = (0..rest.len()).collect();
            let holds = |&len: &usize| !self.in_conflict(&[&core[..], &rest[..=len]].concat());
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
        let is_inside = |span: &&Span| span.from() <= high && span.to() >= low;
        let inside = || spans.iter().filter(is_inside);
        let holds: Vec<Held> = inside().take(HELD_MAX).map(held).collect();
        let before = spans.iter().rev().find(|span| span.to() < low);
        let after = spans.iter().find(|span| span.from() > high);
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

    fn held(&self, word: u32, span: Span) -> Held {
        let commit_ref = |rank: u32| {
            let (version, attempt) = self.timeline.commit(rank);
            CommitRef {
                version,
                attempt,
                lane: self.history.attempt(attempt).lane,
                value: self.timeline.value(word, rank + 1).unwrap_or_default(),
            }
        };
        let (set_by, overwritten_by) = (span.since.map(commit_ref), span.until.map(commit_ref));
        let from = set_by.map_or(0, |by| by.version);
        let to = overwritten_by.map(|by| by.version - 1);
        Held {
            points: Interval { from, to },
            set_by,
            overwritten_by,
        }
    }
}
