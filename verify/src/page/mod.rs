//! A history as a page: one HTML file that needs no other and no network.
//!
//! Each thread is a column, and time goes down: a row is a value of the clock.
//! An attempt is a box from the row of its begin to that of its end, with what it
//! read and wrote, in its order. If an attempt saw no state that existed, the page
//! says why: when memory held what it read, side by side, with the writes that
//! made these values and ended them marked in the history.
//!
//! | file | is |
//! | --- | --- |
//! | `layout.rs` | which attempts are shown, and where |
//! | `marks.rs` | which events explain the finding, and the arrows between them |
//! | `grid.rs` | the history |
//! | `why.rs` | when memory held what was read |

mod grid;
mod layout;
mod marks;
mod why;

use crate::error::Error;
use crate::explained::Explained;
use crate::history::{Header, History};
use crate::named::Names;
use crate::opacity::report::Verdict;
use layout::Layout;
use marks::Marks;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::fs;
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

impl Page<'_> {
    /// Writes the page to a file, which is there whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = file.with_file_name(name);
        let written = fs::write(&partial, self.html()).and_then(|()| fs::rename(&partial, file));
        written.map_err(|source| {
            // Nothing can be done about a partial file that will not go.
            let _ = fs::remove_file(&partial);
            Error::Io {
                path: file.to_owned(),
                source,
            }
        })
    }

    /// Returns the page.
    pub fn html(&self) -> String {
        let violation = self.verdict.and_then(|verdict| verdict.violations.first());
        let marks = Marks::of(self.history, violation);
        let layout = Layout::of(self.history, &marks);
        let (title, details) = self.finding();
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
                        (self.head())
                    }
                    main {
                        @if !details.is_empty() {
                            section.finding.right[self.is_right()] { pre { (details) } }
                        }
                        @if let Some(violation) = violation {
                            (why::why(violation, self.names))
                        }
                        section.history {
                            h2 { "The history" }
                            (self.left_out(&layout))
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

    /// Returns whether nothing was found.
    fn is_right(&self) -> bool {
        self.finding.is_none() && self.verdict.is_some_and(Verdict::is_opaque)
    }

    /// Returns the heading and what follows it.
    fn finding(&self) -> (String, String) {
        let explained = self.verdict.and_then(|verdict| {
            let violation = verdict.violations.first()?;
            let explained = Explained {
                violation,
                history: self.history,
                names: self.names,
            };
            let more = match verdict.violations_total {
                1 => String::new(),
                n => format!("and {} attempts more", n - 1),
            };
            Some(format!("{explained}{more}"))
        });
        let text = match (&self.finding, explained) {
            (Some(text), _) => text.clone(),
            (None, Some(text)) => format!("not opaque: {text}"),
            (None, None) if self.verdict.is_some() => {
                "opaque: every attempt saw a state that existed while it ran".into()
            }
            (None, None) => "a history without a verdict".into(),
        };
        let (title, details) = text.split_once(": ").unwrap_or((&text, ""));
        (sentence(title), sentence(details.trim_end()))
    }

    /// Returns what was run, and the command that runs it again.
    fn head(&self) -> Markup {
        let Header {
            variant,
            workload,
            device,
            ..
        } = &self.history.header;
        let what = [workload, device].map(String::as_str);
        let what: Vec<&str> = what.into_iter().filter(|text| !text.is_empty()).collect();
        html! {
            p {
                @if !variant.is_empty() { "Algorithm " strong { (variant) } "; " }
                (what.join(", "))
            }
            @if let Some(replay) = &self.replay {
                p.replay { "Replay: " code { (replay) } }
            }
        }
    }

    /// Returns a sentence about the attempts that are not shown.
    fn left_out(&self, layout: &Layout) -> Markup {
        let (all, shown) = (self.history.len(), layout.boxes.len());
        html! {
            @if all == 0 {
                p { "No transaction was attempted." }
            } @else if all != shown {
                p { "Shown are " (shown) " of " (all) " attempts: those that explain the finding, and others at the same time." }
            }
        }
    }
}

/// Returns a text with a capital at its front.
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
mod tests;
