//! Tables of the pages.

use super::claim::Claim;
use maud::{Markup, html};

/// What stands where nothing is known.
pub const NONE: &str = "\u{2013}";

/// A value in words, if it is known.
pub fn known<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| NONE.into(), text)
}

/// A table that scrolls within itself; its first column stays. The first
/// `left` columns are words, the others numbers. Where several rows begin with
/// the same word, rows that begin with another are set apart.
pub fn table(name: &str, head: &[&str], rows: &[Vec<String>], left: usize) -> Markup {
    let class = |i: usize| if i < left { "word" } else { "number" };
    let word = |i: usize| rows[i][0].split(' ').next().unwrap_or_default();
    let first = |i: usize| i > 0 && word(i) != word(i - 1);
    let groups = (0..rows.len()).filter(|&i| first(i)).count() + 1;
    html! {
        div .scroll role="region" tabindex="0" aria-label=(name) {
            table {
                caption { (name) }
                thead {
                    tr {
                        @for (i, text) in head.iter().enumerate() {
                            th scope="col" class=(class(i)) { (text) }
                        }
                    }
                }
                tbody {
                    @for (i, row) in rows.iter().enumerate() {
                        tr .first[first(i) && groups < rows.len()] {
                            th scope="row" class=(class(0)) { (row[0]) }
                            @for (i, cell) in row.iter().enumerate().skip(1) {
                                td class=(class(i)) { (cell) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The tables behind a figure, which open on demand, if there are any.
pub fn or_details(tables: Vec<Markup>) -> Vec<Markup> {
    if tables.is_empty() {
        return Vec::new();
    }
    vec![html! {
        details {
            summary { "The same in numbers" }
            @for table in tables { (table) }
        }
    }]
}

/// Claims with their rules, figures and verdicts; columns that no claim fills are left out.
pub fn claims(caption: &str, claims: &[Claim]) -> Markup {
    let theirs = claims.iter().any(|claim| !claim.theirs.is_empty());
    let here = claims.iter().any(|claim| claim.here.is_some());
    let head = [
        ("Claim", true),
        ("The paper\u{2019}s figures", theirs),
        (
            if here {
                "Measured at the paper\u{2019}s sizes"
            } else {
                "Measured"
            },
            true,
        ),
        ("At this machine\u{2019}s", here),
        ("Verdict", true),
    ];
    html! {
        table .claims {
            caption { (caption) }
            thead {
                tr { @for (name, _) in head.iter().filter(|(_, there)| *there) {
                    th scope="col" .word { (name) }
                } }
            }
            tbody {
                @for claim in claims {
                    tr id=[Some(claim.id).filter(|id| !id.is_empty())] {
                        th scope="row" .word {
                            @if !claim.id.is_empty() { (claim.id) ": " }
                            (claim.text)
                            @if !claim.section.is_empty() { " (" (claim.section) ")" }
                            p .rule { "It holds if: " (claim.rule) "." }
                        }
                        @if theirs { td .word .quoted { (claim.theirs) } }
                        td .word .measured { (claim.figures) }
                        @if here { td .word .here { (known(claim.here.as_ref(), |h| h.figures.clone())) } }
                        td .word .verdict {
                            strong class=(claim.verdict.class()) { (claim.verdict.name()) }
                            @if let Some(here) = &claim.here {
                                p .rule { "here: " (here.verdict.name()) }
                            }
                        }
                    }
                }
            }
        }
    }
}
