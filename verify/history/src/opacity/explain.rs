//! Why an attempt has no point, in as few reads as possible.

use super::index::{MemoryRead, Span, Splitter, Timeline};
use super::report::{AttemptRef, CommitRef, Finding, Held, Interval, ReadEvidence, Violation};
use crate::history::{Event, History, Outcome};

const HELD_MAX: usize = 4;
/// Distinct reads up to which the smallest conflict of two is looked for.
const PAIRS_MAX: usize = 256;

struct Wrong<'a> {
    history: &'a History,
    timeline: &'a Timeline,
    attempt: usize,
    low: u32,
    high: u32,
}

pub(crate) fn explain(history: &History, timeline: &Timeline, i: usize) -> Violation {
    let attempt = history.attempt(i);
    let (low, high) = timeline.window(history, i);
    let wrong = Wrong {
        history,
        timeline,
        attempt: i,
        low,
        high,
    };
    let mut splitter = Splitter::default();
    let lost = splitter.split(history, i);
    Violation {
        attempt: wrong.attempt_ref(i),
        begin: attempt.begin,
        end: (attempt.outcome != Outcome::Running).then_some(attempt.end),
        finding: lost.unwrap_or_else(|| wrong.no_common_point(&splitter.memory)),
    }
}

impl Wrong<'_> {
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
        let with_spans = |read: &MemoryRead| (*read, self.timeline.spans(read.word, read.value));
        let distinct: Vec<_> = reads.iter().filter(new).map(with_spans).collect();
        let clipped = |span: &Span| (span.from.max(self.low), span.to.min(self.high));
        let sets = distinct
            .iter()
            .map(|(_, spans)| self.inside(spans).map(clipped).collect());
        let core = smallest_conflict(&sets.collect::<Vec<_>>());
        let attempt = self.history.attempt(self.attempt);
        let (from, to) = attempt.points();
        let to = (attempt.outcome != Outcome::Running).then_some(to);
        let evidence = |&k: &usize| self.evidence(distinct[k].0, &distinct[k].1);
        Finding::NoCommonPoint {
            points: Interval { from, to },
            reads_total: reads.len(),
            reads: core.iter().map(evidence).collect(),
        }
    }

    /// Returns the spans in which are states that the attempt may see.
    fn inside<'s>(&self, spans: &'s [Span]) -> impl Iterator<Item = &'s Span> + use<'s> {
        let (low, high) = (self.low, self.high);
        let is_inside = move |span: &&Span| span.from <= high && span.to >= low;
        spans.iter().filter(is_inside)
    }

    fn evidence(&self, read: MemoryRead, spans: &[Span]) -> ReadEvidence {
        let word = self.history.words().word(read.word);
        let held = |span: &Span| self.held(read.word, span);
        let holds: Vec<Held> = self.inside(spans).take(HELD_MAX).map(held).collect();
        let before = spans.iter().rev().find(|span| span.to < self.low);
        let after = spans.iter().find(|span| span.from > self.high);
        let outside = before.into_iter().chain(after);
        let never_held = spans.is_empty();
        let writer = never_held.then(|| self.writer(word, read.value)).flatten();
        ReadEvidence {
            event: read.event,
            word,
            value: read.value,
            holds_left_out: self.inside(spans).skip(HELD_MAX).count(),
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

    fn held(&self, word: u32, span: &Span) -> Held {
        let commits = self.timeline;
        let commit_ref = |rank: u32| {
            let attempt = commits.attempt(rank);
            let (ranks, values) = commits.entries(word);
            let entry = ranks.partition_point(|&other| other < rank);
            CommitRef {
                version: commits.version(rank),
                attempt,
                lane: self.history.attempt(attempt).lane,
                value: values[entry],
            }
        };
        let before = span.from.checked_sub(1);
        let from = before.map_or(0, |rank| commits.version(rank));
        let to = (span.to < commits.len()).then(|| commits.version(span.to) - 1);
        Held {
            points: Interval { from, to },
            set_by: span.set_by.map(commit_ref),
            overwritten_by: span.overwritten_by.map(commit_ref),
        }
    }
}

/// Returns where two ascending lists of stretches overlap.
fn intersection(a: &[(u32, u32)], b: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let (mut i, mut j) = (0, 0);
    let mut common = Vec::new();
    while let (Some(&(a_from, a_to)), Some(&(b_from, b_to))) = (a.get(i), b.get(j)) {
        let (from, to) = (a_from.max(b_from), a_to.min(b_to));
        if from <= to {
            common.push((from, to));
        }
        if a_to <= b_to { i += 1 } else { j += 1 }
    }
    common
}

/// Returns the indices of sets without a common point, none of them to spare; two if that suffices.
fn smallest_conflict(sets: &[Vec<(u32, u32)>]) -> Vec<usize> {
    if let Some(empty) = sets.iter().position(Vec::is_empty) {
        return vec![empty];
    }
    if sets.len() <= PAIRS_MAX {
        for j in 1..sets.len() {
            if let Some(i) = (0..j).find(|&i| intersection(&sets[i], &sets[j]).is_empty()) {
                return vec![i, j];
            }
        }
    }
    // The set at which the intersection becomes empty belongs to a conflict
    // with sets before it. Keep it, and look again among those before.
    let mut core = Vec::new();
    let mut common = vec![(0, u32::MAX)];
    let mut limit = sets.len();
    while !common.is_empty() {
        let mut rest = common.clone();
        let Some(last) = (0..limit).find(|&k| {
            rest = intersection(&rest, &sets[k]);
            rest.is_empty()
        }) else {
            break;
        };
        core.push(last);
        common = intersection(&common, &sets[last]);
        limit = last;
    }
    core.reverse();
    core
}

#[cfg(test)]
mod tests {
    use super::smallest_conflict;

    /// Smaller conflicts are those that `tests/opacity` finds to be smallest.
    #[test]
    fn a_conflict_among_many_sets_has_none_to_spare() {
        // Set k misses point k only: all are needed. More sets than pairs are
        // tried for, and sets that exclude nothing in between.
        let mut sets = Vec::new();
        for k in 0..300_u32 {
            sets.push(vec![(0, 299)]);
            let around = [(0, k.wrapping_sub(1)), (k + 1, 299)];
            let inside = |&(from, to): &(u32, u32)| from <= to && to < 300;
            sets.push(around.into_iter().filter(inside).collect());
        }
        let core = smallest_conflict(&sets);
        assert_eq!(core, (0..300).map(|k| 2 * k + 1).collect::<Vec<_>>());
    }
}
