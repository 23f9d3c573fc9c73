//! A page: a head, sections with figures, tables and claims, a footer; and the tables.

use super::claim::{self, Claim, tally};
use super::figure::Figure;
use super::{PAGE, palette};
use crate::devices::Description;
use crate::error::Result;
use crate::head::Head;
use crate::numbers::bytes;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A section of a page.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its name in links.
    pub id: &'static str,
    /// Its heading.
    pub name: String,
    /// What it shows, in sentences.
    pub shows: Vec<String>,
    /// What the paper says of the same.
    pub theirs: Option<String>,
    /// Its figures and tables.
    pub body: Vec<Markup>,
    /// What `--only` of the command calls it, if it is one of its parts.
    pub only: Option<&'static str>,
}

impl Section {
    /// Returns the section of a figure, what the paper says of the same, and the tables that
    /// open on demand.
    pub fn of_figure(figure: &Figure, theirs: &str, tables: Vec<Markup>) -> Self {
        let figure_and_tables = std::iter::once(figure.in_page()).chain(or_details(tables));
        Self {
            id: figure.id,
            name: figure.title.clone(),
            shows: figure.about.clone(),
            theirs: Some(theirs.into()),
            body: figure_and_tables.collect(),
            only: None,
        }
    }

    /// Returns the section of some claims: how many hold, what all rules have in common, and
    /// the table.
    pub fn of_claims(id: &'static str, name: &str, claims: &[Claim], about: &str) -> Self {
        let what = if id == "targets" { "targets" } else { "claims" };
        Self {
            id,
            name: name.into(),
            shows: vec![format!("{} {about}", tally(claims, what))],
            body: vec![claims_table(&format!("{name}, judged by rules"), claims)],
            ..Self::default()
        }
    }
}

/// What a report is made of.
#[derive(Debug)]
pub struct Report<'d> {
    /// The title of the page unless another is given.
    pub title: &'static str,
    /// Where and how the document was measured.
    pub head: &'d Head,
    /// What stands first on the page.
    pub lead: Markup,
    /// What a reader has to know before any figure.
    pub warnings: Vec<String>,
    /// The sections.
    pub sections: Vec<Section>,
    /// The figures, which are files too.
    pub figures: Vec<Figure>,
    /// What the library is to reach.
    pub targets: Vec<Claim>,
    /// What the papers claim.
    pub claims: Vec<Claim>,
    /// The name of the file with targets and claims.
    pub claims_file: &'static str,
    /// The paragraphs of the page's end.
    pub footer: Vec<String>,
}

impl Report<'_> {
    /// Returns the files of the report by their names: the page, the figures, the claims.
    ///
    /// # Errors
    /// None that is known: every field of the claims has a form in JSON.
    pub fn files(&self, title: Option<&str>) -> Result<Vec<(String, String)>> {
        let page = self.page(title.unwrap_or(self.title));
        let figures = self.figures.iter();
        let drawings = figures.map(|figure| (format!("{}.svg", figure.id), figure.file()));
        // JSON has a way to write every character, so the claims stay as they are.
        let claims = claim::to_json(self.head, &self.targets, &self.claims)?;
        Ok(std::iter::once((PAGE.into(), page))
            .chain(drawings)
            .map(|(name, text)| (name, printable(&text)))
            .chain([(self.claims_file.to_owned(), claims)])
            .collect())
    }

    /// Returns the page as a file.
    fn page(&self, title: &str) -> String {
        let head_of_run = self.head;
        let page = html! {
            (DOCTYPE)
            html lang="en" xmlns="http://www.w3.org/1999/xhtml" {
                (head(title))
                body {
                    header {
                        h1 { (title) }
                        (self.lead)
                        @if head_of_run.quick {
                            p .warn {
                                "A quick run: small inputs and few points, to see that everything works. \
                                 Its figures are not comparable with the paper\u{2019}s."
                            }
                        }
                        @if !head_of_run.complete {
                            p .warn { "The run was interrupted or is still going: points are missing." }
                        }
                        @for warning in &self.warnings { p .warn { (warning) } }
                        (facts(head_of_run))
                        @if !head_of_run.notes.is_empty() {
                            ul .note { @for note in &head_of_run.notes { li { (note) } } }
                        }
                        nav aria-label="Sections" {
                            ul {
                                @for section in &self.sections {
                                    li { a href={ "#" (section.id) } { (section.name) } }
                                }
                            }
                        }
                    }
                    main { @for s in &self.sections { (section(&head_of_run.command, s)) } }
                    footer { @for text in &self.footer { p { (text) } } }
                }
            }
        };
        page.into_string() + "\n"
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

fn head(title: &str) -> Markup {
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

/// A device in one line.
fn machine(device: &Description) -> String {
    let mut machine = format!(
        "{} ({}), {} processors",
        device.name, device.id, device.processors
    );
    if let Some(gpu) = &device.gpu {
        machine = format!(
            "{machine}, compute capability {}, {} of memory, {} of L2, driver for CUDA {}",
            gpu.compute_capability,
            bytes(gpu.memory_bytes),
            bytes(gpu.l2_bytes),
            gpu.driver_cuda_version
        );
    }
    machine
}

/// The time that a run took, in words.
fn took(seconds: f64) -> String {
    let minutes = seconds / 60.0;
    if minutes >= 1.0 {
        format!("{minutes:.1} minutes")
    } else {
        format!("{seconds:.0} seconds")
    }
}

/// Where and how a document was measured.
fn facts(head: &Head) -> Markup {
    let commit = head.commit.as_deref().unwrap_or("not recorded");
    let kernels = match (&head.ptx, &head.compiler) {
        (Some(ptx), Some(compiler)) => Some(format!("PTX {ptx}, by {compiler}")),
        _ => None,
    };
    html! {
        dl {
            dt { "Machine" } dd { (machine(&head.device)) }
            @if let Some(driver) = &head.driver { dt { "Driver" } dd { (driver) } }
            dt { "Begun" } dd { (head.started) }
            dt { "Took" } dd { (took(head.seconds)) }
            dt { "Command" } dd { code { (head.command) } }
            dt { "Program" } dd { "stamp " (head.version) ", commit " (commit) ", seed " (head.seed) }
            @if let Some(kernels) = kernels { dt { "Kernels" } dd { (kernels) } }
            @for (name, value) in &head.settings {
                dt { (name) } dd { (value) }
            }
        }
    }
}

fn section(command: &str, section: &Section) -> Markup {
    html! {
        section id=(section.id) {
            h2 { (section.name) }
            @if let [sentence] = section.shows.as_slice() {
                p { (sentence) }
            } @else {
                ul .shows {
                    @for sentence in &section.shows { li { (sentence) } }
                }
            }
            @if let Some(theirs) = &section.theirs { p .theirs { (theirs) } }
            @for part in &section.body { (part) }
            @if let Some(only) = section.only {
                p .by {
                    "Measured by " code { (command) } "; this part alone: the same with "
                    code { "--only " (only) } "."
                }
            }
        }
    }
}

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
pub fn claims_table(caption: &str, claims: &[Claim]) -> Markup {
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
