//! The history as a grid; on a narrow screen its boxes stand one below the other instead. Above it, when
//! memory held what was read: a bar for each read of the contradiction, so that one sees that no point of
//! the clock has them all.

use super::layout::{At, AttemptBox, Layout, Marks};
use crate::history::{Event, History, Outcome};
use crate::named::Names;
use crate::opacity::report::{Finding, Interval, ReadEvidence, Violation};
use maud::{Markup, html};

/// Events of an attempt that are shown at once; the others unfold.
const EVENTS_MAX: usize = 16;

fn id((attempt, event): At) -> String {
    format!("a{attempt}e{event}")
}

pub(super) fn grid(history: &History, names: &Names, layout: &Layout, marks: &Marks) -> Markup {
    let columns = layout.threads.len();
    let arrows = marks.arrows();
    let arrows = arrows.map(|(from, to, kind)| format!("{} {} {kind}", id(from), id(to)));
    let arrows: Vec<String> = arrows.collect();
    html! {
        div.scroll {
            div.grid style=(format!("--columns: {columns}")) data-arrows=(arrows.join(";")) {
                div.corner { "clock" }
                @for (column, thread) in layout.threads.iter().enumerate() {
                    div.thread style=(format!("grid-column: {}", column + 2)) { "thread " (thread) }
                }
                @for (clock, rows) in layout.bands() {
                    // The first row has the threads.
                    @let (from, to) = (rows.start + 2, rows.end + 2);
                    div.line style=(format!("grid-row: {from}; grid-column: 1 / {}", columns + 2)) {}
                    div.clock style=(format!("grid-row: {from} / {to}")) { span { (clock) } }
                    @for place in layout.boxes.iter().filter(|place| rows.contains(&place.rows.0)) {
                        (attempt(history, names, layout, marks, place))
                    }
                }
                svg.arrows aria-hidden="true" {
                    defs {
                        @for kind in ["made", "ends"] {
                            marker id=(kind) viewBox="0 0 8 8" refX="7" refY="4"
                                markerWidth="7" markerHeight="7" orient="auto" {
                                path class=(kind) d="M0,0 L8,4 L0,8 z" {}
                            }
                        }
                    }
                }
            }
        }
    }
}

fn attempt(
    history: &History,
    names: &Names,
    layout: &Layout,
    marks: &Marks,
    place: &AttemptBox,
) -> Markup {
    let i = place.attempt;
    let end = history.attempt(i).outcome;
    let is_wrong = marks.wrong == Some(i);
    let class = match end {
        Outcome::Committed { .. } | Outcome::CommittedReadOnly => "committed",
        Outcome::Aborted { .. } | Outcome::Running => "aborted",
    };
    let (column, from, to) = (place.column + 2, place.rows.0 + 2, place.rows.1 + 3);
    let style = format!("grid-column: {column}; grid-row: {from} / {to}");
    let events = (0..).zip(history.events(i));
    let events: Vec<(At, Event)> = events.map(|(k, event)| ((i, k), event)).collect();
    // Those that are marked are always shown.
    let is_marked = |(at, _): &(At, Event)| marks.roles(*at).next().is_some();
    let marked = events.iter().rposition(is_marked).map_or(0, |at| at + 1);
    let (first, rest) = events.split_at(EVENTS_MAX.max(marked).min(events.len()));
    html! {
        article id=(format!("a{i}")) class=(format!("{class}{}", if is_wrong { " wrong" } else { "" })) style=(style) {
            h3 {
                span.of { "thread " (layout.threads[place.column]) ": " }
                @if let Some(number) = history.transaction(i) {
                    "transaction " (number) small { " attempt " (i) }
                } @else {
                    "attempt " (i)
                }
            }
            (list(first, names, marks))
            @if !rest.is_empty() {
                details {
                    summary { "and " (rest.len()) " more" }
                    (list(rest, names, marks))
                }
            }
            p.end { (outcome(end)) @if is_wrong { strong { " – saw no state that existed" } } }
        }
    }
}

fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Committed { version } => format!("committed as version {version}"),
        Outcome::CommittedReadOnly => "committed without a write".into(),
        Outcome::Running => "had not ended".into(),
        aborted @ Outcome::Aborted { .. } => aborted.to_string(),
    }
}

fn list(events: &[(At, Event)], names: &Names, marks: &Marks) -> Markup {
    html! {
        ul {
            @for (at, event) in events {
                @let roles: Vec<_> = marks.roles(*at).collect();
                @let class = (!roles.is_empty()).then_some("marked");
                li id=[class.map(|_| id(*at))] class=[class] {
                    @let name = names.of(event.word());
                    @match event {
                        Event::Read { value, .. } => { "read " code { (name) } " = " code { (value) } }
                        Event::Write { value, .. } => { "write " code { (name) } " ← " code { (value) } }
                        Event::Add { delta, .. } => { "add " code { (name) } " + " code { (delta) } }
                        Event::AddFloat { .. } => { "add to " code { (name) } }
                    }
                    @for (number, about) in roles {
                        b.badge title=(about) { (number) }
                    }
                }
            }
        }
    }
}

/// Points of the clock where something begins or has ended, each as wide as any other.
struct Axis(Vec<u64>);

impl Axis {
    fn of(points: Interval, reads: &[ReadEvidence]) -> Self {
        let held = reads.iter();
        let held = held.flat_map(|read| read.holds.iter().chain(&read.elsewhere));
        let intervals = held.map(|held| held.points).chain([points]);
        let bounds = intervals.flat_map(|interval| {
            let end = interval.to.map(|to| to.saturating_add(1));
            [Some(interval.from), end].into_iter().flatten()
        });
        let mut bounds: Vec<u64> = bounds.collect();
        bounds.sort_unstable();
        bounds.dedup();
        // Whatever does not end goes one place beyond.
        let beyond = bounds.last().map_or(1, |last| last.saturating_add(1));
        bounds.push(beyond);
        Self(bounds)
    }

    /// Returns where an interval begins, and how long it is.
    fn style(&self, interval: Interval) -> String {
        let at = |clock: u64| self.0.partition_point(|&bound| bound < clock);
        let last = self.0.len() - 1;
        let end = interval.to.map(|to| at(to.saturating_add(1)));
        let to = end.map_or(last, |end| end.min(last));
        let [left, right] = [at(interval.from), to].map(|n| 100.0 * n as f64 / last as f64);
        format!("left: {left:.2}%; width: {:.2}%", right - left)
    }
}

pub(super) fn why(violation: &Violation, names: &Names) -> Markup {
    let Finding::NoCommonPoint { points, reads, .. } = &violation.finding else {
        return html! {};
    };
    let axis = Axis::of(*points, reads);
    let attempt = violation.attempt.attempt;
    let count = axis.0.len() - 1;
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
                    @for (k, clock) in axis.0.iter().take(count).enumerate() {
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
                                @let since = held.set_by.map(|by| format!("from version {}", by.version));
                                @let until = held.overwritten_by.map(|by| format!("until version {}", by.version));
                                div.held style=(axis.style(held.points)) title={
                                    (since.as_deref().unwrap_or("from the start")) " "
                                    (until.as_deref().unwrap_or("to the end"))
                                } {}
                            }
                        }
                    }
                }
                p.caption { "clock →" }
            }
        }
    }
}
