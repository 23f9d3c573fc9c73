//! The page: a head, a part for each document with its sections of figures, tables and claims;
//! and the tables.

use super::claim::{self, Claim};
use super::figure::Figure;
use super::{PAGE, palette};
use crate::devices::Description;
use crate::error::Result;
use crate::head::Head;
use crate::numbers::bytes;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

#[derive(Debug)]
pub(super) struct Section {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) markup: Markup,
}

/// What is reported about a document: a part of the page.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) head: Head,
    pub(crate) lead: Markup,
    pub(crate) warnings: Vec<String>,
    pub(crate) sections: Vec<Section>,
    /// The names of sections of which nothing was measured.
    pub(crate) lacking: Vec<String>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) targets: Vec<Claim>,
    pub(crate) claims: Vec<Claim>,
    pub(crate) footer: Vec<String>,
}

pub(crate) const CLAIMS: &str = "claims.json";

const TITLE: &str = "The measurements of GPU-STM";

/// Returns the files of the page by their names: the page, the figures of all reports, the claims.
/// `head` is of the command that measured all, if there was one.
pub(crate) fn files(
    head: Option<&Head>,
    reports: &[Report],
    title: Option<&str>,
) -> Result<Vec<(String, String)>> {
    let page = page(head, reports, title.unwrap_or(TITLE));
    let figures = reports.iter().flat_map(|report| &report.figures);
    let drawings = figures.map(|figure| (format!("{}.svg", figure.id), figure.file()));
    // JSON has a way to write every character, so the claims stay as they are.
    let claims = claims_json(head.unwrap_or(&reports[0].head), reports)?;
    let files = std::iter::once((PAGE.to_owned(), page)).chain(drawings);
    let files = files.map(|(name, text)| (name, printable(&text)));
    Ok(files.chain([(CLAIMS.to_owned(), claims)]).collect())
}

/// Returns the page as a file. Its head says what holds of all reports, and each part what differs.
fn page(head: Option<&Head>, reports: &[Report], title: &str) -> String {
    let each: Vec<Vec<Fact>> = reports.iter().map(|report| facts(&report.head)).collect();
    let mut of_all = head.map_or_else(|| each[0].clone(), facts);
    if head.is_none() {
        of_all.retain(|fact| each.iter().all(|own| own.contains(fact)));
    }
    let own = each.into_iter().map(|mut own| {
        own.retain(|fact| !of_all.contains(fact));
        own
    });
    let page = html! {
        (DOCTYPE)
        html lang="en" xmlns="http://www.w3.org/1999/xhtml" {
            (page_head(title))
            body {
                header {
                    h1 { (title) }
                    (list(&of_all))
                    nav aria-label="Parts" {
                        ol {
                            @for report in reports {
                                li { a href={ "#" (report.id) } { (report.title) } }
                            }
                        }
                    }
                }
                main { @for (report, own) in reports.iter().zip(own) { (report.part(&own)) } }
            }
        }
    };
    page.into_string() + "\n"
}

impl Report {
    /// Returns the part of the page, with the facts that are its own.
    fn part(&self, own: &[Fact]) -> Markup {
        let head = &self.head;
        html! {
            article id=(self.id) {
                h2 { (self.title) }
                (self.lead)
                @if head.quick {
                    p .warn {
                        "A quick run: small inputs and few points, to see that everything works. \
                         Its figures are not comparable with the paper\u{2019}s."
                    }
                }
                @if !head.complete {
                    p .warn { "The run was interrupted or is still going: points are missing." }
                }
                @for warning in &self.warnings { p .warn { (warning) } }
                (list(own))
                (settings(head))
                @if !head.notes.is_empty() {
                    ul .note { @for note in &head.notes { li { (note) } } }
                }
                @if self.sections.len() > 1 {
                    nav aria-label={ "Sections: " (self.title) } {
                        ul {
                            @for section in &self.sections {
                                li { a href={ "#" (section.id) } { (section.name) } }
                            }
                        }
                    }
                }
                @if !self.lacking.is_empty() {
                    p .lacking { "Not measured: " (self.lacking.join("; ")) "." }
                }
                @for section in &self.sections { (section.markup) }
                div .foot { @for text in &self.footer { p { (text) } } }
            }
        }
    }
}

/// The text without the characters that XML has no way to write, which `maud`
/// and `plotters` pass on.
fn printable(text: &str) -> String {
    let bad = |c: char| {
        (c.is_control() && c != '\n' && c != '\t') || ('\u{fffe}'..='\u{ffff}').contains(&c)
    };
    text.replace(bad, "\u{fffd}")
}

fn page_head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            // Nothing is loaded and nothing runs, whatever the document held.
            meta http-equiv="Content-Security-Policy"
                content="default-src 'none'; style-src 'unsafe-inline'";
            meta name="color-scheme" content="light dark";
            title { (title) }
            style { (PreEscaped(include_str!("page.css"))) (PreEscaped(palette::rules())) }
        }
    }
}

fn machine(device: &Description) -> String {
    let (name, id, processors) = (&device.name, &device.id, device.processors);
    let gpu = device.gpu.as_ref().map(|gpu| {
        let (memory, cache) = (bytes(gpu.memory_bytes), bytes(gpu.l2_bytes));
        format!(
            ", compute capability {}, {memory} of memory, {cache} of L2, driver for CUDA {}",
            gpu.compute_capability, gpu.driver_cuda_version
        )
    });
    let gpu = gpu.unwrap_or_default();
    format!("{name} ({id}), {processors} processors{gpu}")
}

fn took(seconds: f64) -> String {
    match seconds / 60.0 {
        minutes @ 1.0.. => format!("{minutes:.1} minutes"),
        _ => format!("{seconds:.0} seconds"),
    }
}

/// What a document says of where and how it was measured: a name and a value.
type Fact = (String, String);

const COMMAND: &str = "Command";

fn facts(head: &Head) -> Vec<Fact> {
    let commit = head.commit.as_deref().unwrap_or("not recorded");
    let (version, seed) = (&head.version, head.seed);
    let program = format!("stamp {version}, commit {commit}, seed {seed}");
    let kernels = head.ptx.as_ref().zip(head.compiler.as_ref());
    let kernels = kernels.map(|(ptx, compiler)| format!("PTX {ptx}, by {compiler}"));
    let rows = [
        ("Machine", Some(machine(&head.device))),
        ("Driver", head.driver.clone()),
        ("Begun", Some(head.started.clone())),
        ("Took", Some(took(head.seconds))),
        (COMMAND, Some(head.command.clone())),
        ("Program", Some(program)),
        ("Kernels", kernels),
    ];
    let rows = rows.into_iter();
    rows.filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

/// Settings that other facts say.
const SAID: [&str; 3] = ["--quick", "--seed", "program"];

/// What was set, to be opened on demand: it may be long.
fn settings(head: &Head) -> Markup {
    let mut rows: Vec<Fact> = head.settings.clone().into_iter().collect();
    rows.retain(|(name, _)| !SAID.contains(&name.as_str()));
    html! {
        @if !rows.is_empty() {
            details { summary { "Inputs and settings" } (list(&rows)) }
        }
    }
}

fn list(facts: &[Fact]) -> Markup {
    html! {
        @if !facts.is_empty() {
            dl {
                @for (name, value) in facts {
                    dt { (name) }
                    dd { @if name == COMMAND { code { (value) } } @else { (value) } }
                }
            }
        }
    }
}

/// What stands where nothing is known.
pub(crate) const NONE: &str = "\u{2013}";

/// A table that scrolls within itself; its first column stays. The first
/// `left` columns are words, the others numbers. Where several rows begin with
/// the same word, rows that begin with another are set apart.
pub(crate) fn table(name: &str, head: &[String], rows: &[Vec<String>], left: usize) -> Markup {
    let word = |i: usize| (i < left).then_some("word");
    let of = |i: usize| rows[i][0].split(' ').next().unwrap_or_default();
    let first = |i: usize| i > 0 && of(i) != of(i - 1);
    let groups = (0..rows.len()).filter(|&i| first(i)).count() + 1;
    html! {
        div .scroll role="region" tabindex="0" aria-label=(name) {
            table {
                caption { (name) }
                thead {
                    tr {
                        @for (i, text) in head.iter().enumerate() {
                            th scope="col" class=[word(i)] { (text) }
                        }
                    }
                }
                tbody {
                    @for (i, row) in rows.iter().enumerate() {
                        tr .first[first(i) && groups < rows.len()] {
                            th scope="row" { (row[0]) }
                            @for (i, cell) in row.iter().enumerate().skip(1) {
                                td class=[word(i)] { (cell) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The judged claims of all reports as JSON, each with the part of the page that it is of.
fn claims_json(head: &Head, reports: &[Report]) -> Result<String> {
    #[derive(Serialize)]
    struct Judged<'d> {
        format: &'static str,
        /// The device and the time of the measurements, which identify them.
        device: &'d str,
        started: &'d str,
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<&'d str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        ptx: Option<&'d str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        targets: Vec<&'d Claim>,
        claims: Vec<&'d Claim>,
    }
    let judged = Judged {
        format: claim::FORMAT,
        device: &head.device.name,
        started: &head.started,
        commit: head.commit.as_deref(),
        ptx: head.ptx.as_deref(),
        targets: reports.iter().flat_map(|report| &report.targets).collect(),
        claims: reports.iter().flat_map(|report| &report.claims).collect(),
    };
    Ok(serde_json::to_string_pretty(&judged).map_err(std::io::Error::from)? + "\n")
}

/// Claims with their rules, figures and verdicts; columns that no claim fills are left out.
/// `part` is that of the page.
pub(crate) fn claims_table(caption: &str, part: &str, claims: &[&Claim]) -> Markup {
    let theirs = claims.iter().any(|claim| claim.theirs.is_some());
    let here = claims.iter().any(|claim| claim.here().is_some());
    let measured = ["Measured", "Measured at the paper\u{2019}s sizes"][usize::from(here)];
    let head = [
        ("Claim", true),
        ("The paper\u{2019}s figures", theirs),
        (measured, true),
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
                    @let own = claim.here();
                    tr id={ (part) "-" (claim.id) } {
                        th scope="row" .word {
                            (claim.id) ": " (claim.text)
                            @if let Some(section) = &claim.section { " (" (section) ")" }
                            p .rule { "It holds if: " (claim.rule) "." }
                        }
                        @if theirs { td .word .quoted { (claim.theirs.as_deref().unwrap_or_default()) } }
                        td .word .measured { (claim.figures) }
                        @if here { td .word .here { (claim.figures_here.as_deref().filter(|_| own.is_some()).unwrap_or(NONE)) } }
                        td .word .verdict {
                            strong class=[claim::class(&claim.verdict)] { (claim.verdict) }
                            @if let Some(own) = own {
                                p .rule { "here: " (own) }
                            }
                        }
                    }
                }
            }
        }
    }
}
