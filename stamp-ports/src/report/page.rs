//! The page: a head, and a part for each document with its sections of figures, tables and claims.

use super::palette;
use super::stated::{CLAIMS_FORMAT, Claim, Report};
use crate::devices::Description;
use crate::prelude::*;
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub(super) const PAGE: &str = "report.html";
pub(crate) const CLAIMS: &str = "claims.json";

const TITLE: &str = "The measurements of GPU-STM";

/// Returns the files with their names; `head` is of the command that measured all, if there was one.
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
                                li { a href={ "#" (report.page.id) } { (report.page.title) } }
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
    fn part(&self, own: &[Fact]) -> Markup {
        let (head, page) = (&self.head, &self.page);
        html! {
            article id=(page.id) {
                h2 { (page.title) }
                @if !page.headline.is_empty() {
                    div .headline {
                        @for (class, [big, what]) in ["big", "second"].into_iter().zip(&page.headline) {
                            div { span class=(class) { (big) } span .what { (what) } }
                        }
                    }
                }
                @if !page.lead.is_empty() { p .lead { (page.lead) } }
                (list(&page.terms))
                @if let Some(text) = &page.note { p .note { (text) } }
                @if head.quick {
                    p .warn {
                        "A quick run: small inputs and few points, to see that everything works. \
                         Its figures are not comparable with the paper\u{2019}s."
                    }
                }
                @if !head.complete {
                    p .warn { "The run was interrupted or is still going: points are missing." }
                }
                @for warning in &page.warnings { p .warn { (warning) } }
                (list(own))
                (settings(head))
                @if !head.notes.is_empty() {
                    ul .note { @for note in &head.notes { li { (note) } } }
                }
                @if self.sections.len() > 1 {
                    nav aria-label={ "Sections: " (page.title) } {
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
                @for section in &self.sections {
                    (section.made(&page.id, self.figures.iter().find(|own| own.id == section.id)))
                }
                div .foot {
                    @for text in &page.footer { p { (text.replace("{format}", &head.format)) } }
                }
            }
        }
    }
}

/// The text without the characters that XML has no way to write, which `maud` passes on.
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

/// A name and a value.
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
    let all = reports.iter();
    let of = |targets| {
        let all = all.clone().flat_map(|report| report.judged(targets));
        all.collect()
    };
    let judged = Judged {
        format: CLAIMS_FORMAT,
        device: &head.device.name,
        started: &head.started,
        commit: head.commit.as_deref(),
        ptx: head.ptx.as_deref(),
        targets: of(true),
        claims: of(false),
    };
    Ok(serde_json::to_string_pretty(&judged).map_err(std::io::Error::from)? + "\n")
}
