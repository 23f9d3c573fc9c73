//! A history as a page: one HTML file that needs no other and no network.
//!
//! Each thread is a column, and time goes down: a row is a value of the clock. An attempt is a box
//! from the row of its begin to that of its end, with what it read and wrote, in its order. If an
//! attempt saw no state that existed, the page says why: when memory held what it read, side by
//! side, with the writes that made these values and ended them marked in the history.

mod grid;
mod layout;

use crate::error::Error;
use crate::history::History;
use crate::named::{Explained, Names};
use crate::opacity::report::Verdict;
use crate::out_file::OutFile;
use layout::{Layout, Marks};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::path::Path;

/// What a page shows.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The history.
    pub history: &'a History,
    /// The names of its words.
    pub names: &'a Names,
    /// The verdict on it, if it could be judged.
    pub verdict: Option<&'a Verdict>,
    /// What was found, in words; otherwise the verdict says it.
    pub finding: Option<String>,
    /// The command that replays the run.
    pub replay: Option<String>,
}

impl<'a> Page<'a> {
    /// Returns a page of a history and the verdict on it.
    pub const fn of(history: &'a History, names: &'a Names, verdict: Option<&'a Verdict>) -> Self {
        Self {
            history,
            names,
            verdict,
            finding: None,
            replay: None,
        }
    }

    /// Writes the page to a file, which is there whole or not at all.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        let out = OutFile::at(file).map_err(Error::io(file))?;
        out.write(self.html())
    }

    /// Returns the page.
    pub fn html(&self) -> String {
        let violation = self.verdict.and_then(|verdict| verdict.violations.first());
        let marks = Marks::of(self.history, violation);
        let layout = Layout::of(self.history, &marks);
        let (title, details) = self.finding();
        let is_right = self.finding.is_none() && self.verdict.is_some_and(Verdict::is_opaque);
        let run = &self.history.header;
        let what = [&run.workload, &run.device].map(String::as_str);
        let what: Vec<&str> = what.into_iter().filter(|text| !text.is_empty()).collect();
        let (all, shown) = (self.history.len(), layout.boxes.len());
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (title) " – verify" }
                    style { (PreEscaped(include_str!("page.css"))) }
                }
                body {
                    header {
                        h1 { (title) }
                        p {
                            @if !run.variant.is_empty() { "Algorithm " strong { (run.variant) } "; " }
                            (what.join(", "))
                        }
                        @if let Some(replay) = &self.replay {
                            p.replay { "Replay: " code { (replay) } }
                        }
                    }
                    main {
                        @if !details.is_empty() {
                            section.finding.right[is_right] { pre { (details) } }
                        }
                        @if let Some(violation) = violation {
                            (grid::why(violation, self.names))
                        }
                        section.history {
                            h2 { "The history" }
                            @if all == 0 {
                                p { "No transaction was attempted." }
                            } @else if all != shown {
                                p { "Shown are " (shown) " of " (all) " attempts: those that explain the finding, and others at the same time." }
                            }
                            (grid::grid(self.history, self.names, &layout, &marks))
                            (legend(violation.is_some()))
                        }
                    }
                    script { (PreEscaped(include_str!("page.js"))) }
                }
            }
        };
        page.into_string()
    }

    /// Returns the heading and what follows it.
    fn finding(&self) -> (String, String) {
        let violation = self.verdict.and_then(|verdict| verdict.violations.first());
        let text = match (&self.finding, self.verdict, violation) {
            (Some(text), ..) => text.clone(),
            (None, Some(verdict), Some(violation)) => {
                let explained = Explained::of(violation, self.history, self.names);
                let more = match verdict.violations_total {
                    1 => String::new(),
                    n => format!("and {} attempts more", n - 1),
                };
                format!("not opaque: {explained}{more}")
            }
            (None, Some(_), None) => {
                "opaque: every attempt saw a state that existed while it ran".into()
            }
            (None, None, _) => "a history without a verdict".into(),
        };
        let (title, details) = text.split_once(": ").unwrap_or((&text, ""));
        (sentence(title), sentence(details.trim_end()))
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

fn legend(marked: bool) -> Markup {
    html! {
        dl.legend {
            div { dt { span.key.committed {} } dd { "committed" } }
            div { dt { span.key.aborted {} } dd { "aborted or running: no effect" } }
            @if marked {
                div { dt { span.key.wrong {} } dd { "saw no state that existed" } }
                div { dt { b.badge { "1" } } dd { "a read in contradiction, and the writes that made and ended its value" } }
                div.arrow { dt { span.key.made {} } dd { "read what was written there" } }
                div.arrow { dt { span.key.ends {} } dd { "was overwritten there" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    // The structure of a page: what it has, and that it needs nothing else.
    use super::*;
    use crate::history::{Attempt, Event, Header, InitialMemory, Outcome, Rest};
    use crate::named::{NamedArray, Shape};
    use crate::opacity;
    use std::collections::BTreeSet;
    use stm_core::Layout;

    const X: u64 = 0x1000;
    const Y: u64 = 0x1004;

    fn names() -> Names {
        let what = ("<pair> & \"more\"", Shape::Elements, Layout::Plain);
        let mut names = Names::default();
        names.add(NamedArray::of(what, vec![0_u32; 2], |i| [X, Y][i]));
        names
    }

    /// Two updates of a pair, and a reader of a torn one among right readers.
    fn torn() -> History {
        let initial = InitialMemory::of([(X, 0), (Y, 0)], Rest::Value(0));
        let header = Header::new("fast", "pairs", "a <device>");
        let mut history = History::new(header, initial);
        let mut add = |lane, begin, end, outcome, events: &[Event], number| {
            let attempt = Attempt::new(lane, begin, end, outcome);
            history.push(attempt, events).unwrap();
            history.number_last(number);
        };
        let write = |value| [X, Y].map(|word| Event::Write { word, value });
        let read = |x, y| [(X, x), (Y, y)].map(|(word, value)| Event::Read { word, value });
        for version in 1..=2 {
            let outcome = Outcome::Committed { version };
            add(0, version - 1, version, outcome, &write(version), version);
        }
        let torn = read(2, 1);
        add(7, 0, 2, Outcome::Aborted { reason: 1 }, &torn, 12);
        add(7, 2, 2, Outcome::CommittedReadOnly, &read(2, 2), 12);
        add(9, 2, u64::MAX, Outcome::Running, &read(2, 2), 0);
        history
    }

    fn page(history: &History) -> String {
        let names = names();
        let verdict = opacity::check(history).unwrap();
        let mut page = Page::of(history, &names, Some(&verdict));
        page.replay = Some("run 'it' <again>".into());
        page.html()
    }

    /// Returns what stands between `from` and `to`, each time.
    fn between<'a>(page: &'a str, from: &str, to: &str) -> Vec<&'a str> {
        let parts = page.split(from).skip(1);
        parts.map(|rest| rest.split(to).next().unwrap()).collect()
    }

    fn threads(page: &str) -> Vec<&str> {
        let all = between(page, "<div class=\"thread\"", "</div>").into_iter();
        all.map(|text| text.split_once('>').unwrap().1).collect()
    }

    #[test]
    fn every_thread_is_a_column_and_every_attempt_a_box() {
        let page = page(&torn());
        assert_eq!(threads(&page), ["thread 0", "thread 7", "thread 9"]);
        let boxes = between(&page, "<article id=\"", "</article>");
        assert_eq!(boxes.len(), 5);
        for row in [
            "a0\"|committed as version 1",
            "a2\"|transaction 11|aborted wrong|grid-column: 3; grid-row: 2 / 6",
            "a3\"|grid-column: 3; grid-row: 6 / 7",
            "a4\"|had not ended",
        ] {
            let (id, parts) = row.split_once('|').unwrap();
            let shown = boxes.iter().find(|text| text.starts_with(id)).unwrap();
            assert!(parts.split('|').all(|part| shown.contains(part)), "{shown}");
        }
        assert_eq!(between(&page, "<div class=\"clock\"", "</div>").len(), 3);
    }

    #[test]
    fn the_reads_in_contradiction_and_the_writes_that_made_and_ended_their_values_are_marked() {
        let page = page(&torn());
        let marked = between(&page, "<li id=\"", "\"");
        // The writes of X and Y by both updates, as both values of Y matter.
        assert_eq!(marked, ["a0e1", "a2e0", "a2e1", "a1e0", "a1e1"]);
        let arrows = between(&page, "data-arrows=\"", "\"")[0];
        assert_eq!(arrows, "a1e0 a2e0 made;a0e1 a2e1 made;a2e1 a1e1 ends");
        // A bar for each read, and the frame of the attempt's place in each.
        assert_eq!(between(&page, "<div class=\"frame\"", ">").len(), 2);
        let left = between(&page, "<div class=\"held\" style=\"left: ", "\"");
        assert_eq!(left, ["50.00%; width: 50.00%", "25.00%; width: 25.00%"]);
    }

    #[test]
    fn a_page_needs_no_other_file_leads_nowhere_else_and_its_text_is_text() {
        let page = page(&torn());
        let own = page.replace("http://www.w3.org/2000/svg", "");
        for foreign in "http:|https:|src=|@import|<link|url(h|fetch(|<pair>|<again>".split('|') {
            assert!(!own.contains(foreign), "{foreign}");
        }
        let texts =
            "&lt;pair&gt; &amp; &quot;more&quot;[0]|a &lt;device&gt;|run 'it' &lt;again&gt;";
        assert!(texts.split('|').all(|text| page.contains(text)), "{page}");
        let ids: BTreeSet<&str> = between(&page, " id=\"", "\"").into_iter().collect();
        let arrows = between(&page, "data-arrows=\"", "\"")[0].split(';');
        let ends = arrows.flat_map(|arrow| arrow.split(' ').take(2));
        for target in between(&page, "href=\"#", "\"").into_iter().chain(ends) {
            assert!(ids.contains(target), "{target}");
        }
        // Every element that is opened is closed, but for those that have no end.
        for element in "article div section ul li pre svg code p".split(' ') {
            let count = |text: String| page.matches(&text).count();
            let opened = count(format!("<{element} ")) + count(format!("<{element}>"));
            assert_eq!(opened, count(format!("</{element}>")), "{element}");
        }
    }

    #[test]
    fn of_many_threads_those_that_explain_the_finding_come_first() {
        let mut history = torn();
        for lane in 1..=5 {
            let attempt = Attempt::new(lane, 2, 2, Outcome::CommittedReadOnly);
            history.push(attempt, &[]).unwrap();
        }
        let page = page(&history);
        let order = threads(&page).join("").replace("thread ", "");
        assert_eq!(order, "07123459");
        let wrong = between(&page, "<article id=\"a2\"", ">")[0];
        assert!(wrong.contains("grid-column: 3;"), "{wrong}");
    }

    #[test]
    fn an_empty_history_is_shown_without_a_contradiction() {
        let empty = page(&History::new(Header::default(), InitialMemory::ZERO));
        let texts =
            "<h1>Opaque</h1>|No transaction was attempted|<section class=\"finding right\">";
        assert!(texts.split('|').all(|text| empty.contains(text)), "{empty}");
        assert!(!empty.contains("<section class=\"why\">"));
    }

    #[test]
    fn long_attempts_unfold_and_what_is_marked_is_always_seen() {
        let mut history = torn();
        let read = |k: u64| Event::Read {
            word: 0x9000 + 8 * k,
            value: 0,
        };
        let attempt = Attempt::new(20, 2, 2, Outcome::CommittedReadOnly);
        let many: Vec<Event> = (0..100).map(read).collect();
        history.push(attempt, &many).unwrap();
        let page = page(&history);
        assert_eq!(between(&page, "<summary>", "</summary>"), ["and 84 more"]);
    }
}
