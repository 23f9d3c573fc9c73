//! The history: a grid with a column for each thread and a row for each value of
//! the clock. On a narrow screen its boxes stand one below the other instead.

use super::layout::{Band, Layout, Place};
use super::marks::{At, Marks};
use crate::explained::{outcome, transaction};
use crate::history::{Event, History, Outcome};
use crate::named::Names;
use maud::{Markup, html};

/// Events of an attempt that are shown at once; the others unfold.
const EVENTS_MAX: usize = 16;

/// Returns the identity of an event in the page.
pub(super) fn id((attempt, event): At) -> String {
    format!("a{attempt}e{event}")
}

/// Draws the history.
pub(super) fn grid(history: &History, names: &Names, layout: &Layout, marks: &Marks) -> Markup {
    let columns = layout.threads.len();
    let arrows: Vec<String> = marks
        .arrows
        .iter()
        .map(|a| {
            let kind = if a.ends { "ends" } else { "made" };
            format!("{} {} {kind}", id(a.from), id(a.to))
        })
        .collect();
    html! {
        div.scroll {
            div.grid style=(format!("--columns: {columns}")) data-arrows=(arrows.join(";")) {
                div.corner { "clock" }
                @for (column, thread) in layout.threads.iter().enumerate() {
                    div.thread style=(format!("grid-column: {}", column + 2)) { "thread " (thread) }
                }
                @for (number, band) in layout.bands.iter().enumerate() {
                    (clock(band, columns))
                    @for place in layout.boxes.iter().filter(|place| place.band == number) {
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

/// Draws the row of a value of the clock.
fn clock(band: &Band, columns: usize) -> Markup {
    // The first row has the threads.
    let (from, to) = (band.row + 2, band.row + band.rows + 2);
    html! {
        div.line style=(format!("grid-row: {from}; grid-column: 1 / {}", columns + 2)) {}
        div.clock style=(format!("grid-row: {from} / {to}")) { span { (band.clock) } }
    }
}

fn attempt(
    history: &History,
    names: &Names,
    layout: &Layout,
    marks: &Marks,
    place: &Place,
) -> Markup {
    let i = place.attempt;
    let end = history.attempt(i).outcome;
    let is_wrong = marks.wrong() == Some(i);
    let class = match end {
        Outcome::Committed { .. } | Outcome::CommittedReadOnly => "committed",
        Outcome::Aborted { .. } | Outcome::Running => "aborted",
    };
    let style = format!(
        "grid-column: {}; grid-row: {} / {}",
        place.column + 2,
        place.rows.0 + 2,
        place.rows.1 + 3
    );
    let events: Vec<(At, Event)> = (0..)
        .zip(history.events(i))
        .map(|(k, event)| ((i, k), event))
        .collect();
    // Those that are marked are always shown.
    let last_marked = events
        .iter()
        .rposition(|(at, _)| marks.roles(*at).next().is_some());
    let shown = EVENTS_MAX
        .max(last_marked.map_or(0, |at| at + 1))
        .min(events.len());
    let (first, rest) = events.split_at(shown);
    let what = transaction(history, i);
    html! {
        article id=(format!("a{i}")) class=(format!("{class}{}", if is_wrong { " wrong" } else { "" })) style=(style) {
            h3 {
                span.of { "thread " (layout.threads[place.column]) ": " }
                (what)
                @if history.transaction(i).is_some() { small { " attempt " (i) } }
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

fn list(events: &[(At, Event)], names: &Names, marks: &Marks) -> Markup {
    html! {
        ul {
            @for (at, event) in events {
                @let roles: Vec<_> = marks.roles(*at).collect();
                @let class = if roles.is_empty() { None } else { Some("marked") };
                li id=[class.map(|_| id(*at))] class=[class] {
                    (text(event, names))
                    @for role in roles {
                        b.badge title=(role.about()) { (role.number()) }
                    }
                }
            }
        }
    }
}

fn text(event: &Event, names: &Names) -> Markup {
    let name = names.of(event.word());
    match event {
        Event::Read { value, .. } => html! { "read " code { (name) } " = " code { (value) } },
        Event::Write { value, .. } => html! { "write " code { (name) } " ← " code { (value) } },
        Event::Add { delta, .. } => html! { "add " code { (name) } " + " code { (delta) } },
        Event::AddFloat { .. } => html! { "add to " code { (name) } },
    }
}
