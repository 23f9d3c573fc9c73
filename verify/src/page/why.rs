//! When memory held what was read: a bar for each read of the contradiction, above
//! each other, so that one sees that no point of the clock has them all.

use super::grid::id;
use crate::named::Names;
use crate::opacity::report::{Finding, Held, Interval, ReadEvidence, Violation};
use maud::{Markup, html};

/// Points of the clock that matter, of which each takes as much room as any other.
struct Axis {
    /// Where something begins or has ended.
    bounds: Vec<u64>,
}

impl Axis {
    fn of(points: Interval, reads: &[ReadEvidence]) -> Self {
        let held = |read: &ReadEvidence| -> Vec<Interval> {
            let all = read.holds.iter().chain(&read.elsewhere);
            all.map(|held| held.points).collect()
        };
        let mut intervals: Vec<Interval> = reads.iter().flat_map(held).collect();
        intervals.push(points);
        let mut bounds: Vec<u64> = Vec::new();
        for interval in intervals {
            bounds.push(interval.from);
            bounds.extend(interval.to.map(|to| to.saturating_add(1)));
        }
        bounds.sort_unstable();
        bounds.dedup();
        // Whatever does not end goes one place beyond.
        let beyond = bounds.last().map_or(1, |last| last.saturating_add(1));
        bounds.push(beyond);
        Self { bounds }
    }

    /// Returns where an interval begins, and how long it is, in percent.
    fn place(&self, interval: Interval) -> (f64, f64) {
        let at = |clock: u64| self.bounds.partition_point(|&bound| bound < clock);
        let last = self.bounds.len() - 1;
        let to = interval
            .to
            .map_or(last, |to| at(to.saturating_add(1)).min(last));
        let percent = |n: usize| 100.0 * n as f64 / last as f64;
        (
            percent(at(interval.from)),
            percent(to) - percent(at(interval.from)),
        )
    }

    fn style(&self, interval: Interval) -> String {
        let (left, width) = self.place(interval);
        format!("left: {left:.2}%; width: {width:.2}%")
    }
}

/// Draws why a violation is one.
pub(super) fn why(violation: &Violation, names: &Names) -> Markup {
    let Finding::NoCommonPoint { points, reads, .. } = &violation.finding else {
        return html! {};
    };
    let axis = Axis::of(*points, reads);
    let attempt = violation.attempt.attempt;
    let count = axis.bounds.len() - 1;
    html! {
        section.why {
            h2 { "Why" }
            p {
                "The bars show when memory held what the attempt read, and the frame where in the order of "
                "commits the attempt must have its place. "
                @if reads.len() == 1 {
                    "No bar meets the frame."
                } @else {
                    "No point of the clock inside the frame has a bar in every row."
                }
            }
            div.bars {
                div.axis {
                    @for (k, clock) in axis.bounds.iter().take(count).enumerate() {
                        span style=(format!("left: {:.2}%", 100.0 * k as f64 / count as f64)) { (clock) }
                    }
                }
                @for (number, read) in (1..).zip(reads) {
                    div.bar {
                        p.label {
                            b.badge { (number) }
                            " "
                            a href=(format!("#{}", id((attempt, read.event)))) {
                                "read " code { (names.of(read.word)) } " = " code { (read.value) }
                            }
                            @if read.holds.is_empty() && read.elsewhere.is_empty() { ": memory never held that" }
                        }
                        div.track {
                            div.frame style=(axis.style(*points)) {}
                            @for held in read.holds.iter().chain(&read.elsewhere) {
                                (span(&axis, held))
                            }
                        }
                    }
                }
                p.caption { "clock →" }
            }
        }
    }
}

fn span(axis: &Axis, held: &Held) -> Markup {
    let since = held.set_by.map_or_else(
        || "from the start".to_owned(),
        |by| format!("from version {}", by.version),
    );
    let until = held.overwritten_by.map_or_else(
        || " to the end".to_owned(),
        |by| format!(" until version {}", by.version),
    );
    html! {
        div.held style=(axis.style(held.points)) title=(format!("{since}{until}")) {}
    }
}
