//! The page: head, headline, the claims, a section for each figure and table.

use super::claims::{
    self,
    Verdict::{Fails, Holds, Partly, Unknown, WithoutLock},
};
use super::critical;
use super::figure::Figure;
use super::palette;
use super::published;
use super::remarks;
use super::sentences;
use super::tables;
use super::view::{apart, headline, label, over_critical_section, theirs, times};
use crate::devices::Description;
use crate::head::Head;
use crate::numbers::{bytes, count};
use crate::paper::document::Paper;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The page's title unless another is given.
pub const TITLE: &str = "The evaluation of GPU-STM, measured again";

/// A section of a page.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    /// Its name in links.
    pub(crate) id: &'static str,
    /// Its heading.
    pub(crate) name: String,
    /// What it shows, in sentences.
    pub(crate) shows: Vec<String>,
    /// What the paper says of the same.
    pub(crate) theirs: Option<String>,
    /// Its figures and tables.
    pub(crate) body: Vec<Markup>,
    /// What `--only` of the command calls it, if it is one of its parts.
    pub(crate) only: Option<&'static str>,
}

/// What a page is made of.
#[derive(Debug)]
pub(crate) struct Parts<'p> {
    /// Its title.
    pub(crate) title: &'p str,
    /// What stands before the links to the sections.
    pub(crate) opening: Markup,
    /// The sections.
    pub(crate) sections: Vec<Section>,
    /// The command that measured.
    pub(crate) command: &'p str,
    /// The end.
    pub(crate) footer: Markup,
}

impl Parts<'_> {
    /// Returns the page as a file.
    pub(crate) fn page(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" xmlns="http://www.w3.org/1999/xhtml" {
                (head(self.title))
                body {
                    header {
                        h1 { (self.title) }
                        (self.opening)
                        nav aria-label="Sections" {
                            ul {
                                @for section in &self.sections {
                                    li { a href={ "#" (section.id) } { (section.name) } }
                                }
                            }
                        }
                    }
                    main {
                        @for s in &self.sections { (section(self.command, s)) }
                    }
                    (self.footer)
                }
            }
        };
        page.into_string() + "\n"
    }
}

/// The whole page as a file.
pub fn page(paper: &Paper, figures: &[Figure], title: &str) -> String {
    let parts = Parts {
        title,
        opening: opening(paper),
        sections: sections(paper, figures),
        command: &paper.head.command,
        footer: footer(paper),
    };
    parts.page()
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

fn opening(paper: &Paper) -> Markup {
    let wrong: Vec<String> = paper
        .speedups
        .iter()
        .filter(|run| !run.verified)
        .map(|run| {
            let why = run.error.as_deref().unwrap_or("no reason given");
            format!("{} {}: {why}", label(&run.workload), run.variant)
        })
        .collect();
    html! {
        (big(paper))
        p .note { (sentences::caution(paper)) }
        @if paper.head.quick {
            p .warn {
                "A quick run: small inputs and few points, to see that everything works. \
                 Its figures are not comparable with the paper's."
            }
        }
        @if !paper.head.complete {
            p .warn { "The run was interrupted or is still going: points are missing." }
        }
        @if !wrong.is_empty() {
            p .warn {
                "Not verified, " (wrong.len()) " of " (paper.speedups.len()) ": "
                (wrong.join("; ")) ". No sentence counts these."
            }
        }
        (facts(&paper.head))
        @if !paper.head.notes.is_empty() {
            ul .note {
                @for note in &paper.head.notes { li { (note) } }
            }
        }
    }
}

/// The headline.
fn big(paper: &Paper) -> Markup {
    let apart = apart(&theirs(paper));
    let found = headline(&apart);
    let same = found.is_some_and(|(run, _)| published::plain(&run.workload) == "gn2");
    html! {
        div .headline {
            div {
                @if let Some((run, ratio)) = found {
                    @let section = over_critical_section(&apart, run);
                    span .big { (times(section.unwrap_or(ratio))) }
                    span .what {
                        "the largest speed-up of the paper\u{2019}s variants over "
                        @if section.is_some() { "a hand-written critical section" } @else {
                            "coarse-grained locking (cgl)"
                        }
                        " in " (label(&run.workload)) ": " (run.variant) ", on "
                        (paper.head.device.name)
                        @if section.is_some() { "; " (times(ratio)) " over cgl" }
                    }
                } @else {
                    span .big { "\u{2013}" }
                    span .what { "speed-up over coarse-grained locking: not measured" }
                }
            }
            div {
                span .second {
                    (if same { "about" } else { "up to" }) " " (times_short(published::SPEEDUP_MAX))
                }
                span .what {
                    "in the paper (2014)" (if same { " in the same" } else { "" }) ", on "
                    (published::DEVICE)
                }
            }
        }
    }
}

fn times_short(ratio: f64) -> String {
    format!("{ratio:.0}\u{d7}")
}

/// A device in one line.
pub(crate) fn machine(device: &Description) -> String {
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
pub(crate) fn took(seconds: f64) -> String {
    let minutes = seconds / 60.0;
    if minutes >= 1.0 {
        format!("{minutes:.1} minutes")
    } else {
        format!("{seconds:.0} seconds")
    }
}

/// Where and how a document was measured.
pub(crate) fn facts(head: &Head) -> Markup {
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

fn sections(paper: &Paper, figures: &[Figure]) -> Vec<Section> {
    let mut sections = vec![claims_section(paper)];
    for figure in figures {
        let (theirs, body, only) = match figure.id {
            "figure-2" => (
                "The paper: up to 20\u{d7} over coarse-grained locking; its optimized variant is \
                 the fastest or level with it in all five workloads; hv-sorting is ahead of \
                 tbv-sorting in RA and LB, whose data outnumber the 1M locks; KM gains nothing \
                 (section 4.2). About 20\u{d7} for GN-2 (section 4.4).",
                or_details(
                    std::iter::once(tables::speedups(paper))
                        .chain(tables::kernels(paper))
                        .chain(critical::table_of(paper))
                        .filter(|_| !paper.speedups.is_empty())
                        .collect(),
                ),
                "fig2",
            ),
            "figure-3" => (
                "The paper: vbv does not scale, because of its one lock; egpgv ends at few \
                 threads; the others scale until the hardware is full, and more threads bring \
                 more conflicts. cgl was not shown (section 4.2).",
                or_details(tables::threads(paper)),
                "fig3",
            ),
            "figure-4" => (
                "The paper, 1M to 64M words and locks: hv and tbv are level below 1K threads and \
                 with 1M words; with more data tbv gains much from more locks, and hv is near \
                 its best with 4M; hv aborts less, which here gains little time (section 4.3).",
                or_details(
                    std::iter::once(tables::locks(paper))
                        .filter(|_| !paper.eigenbench.is_empty())
                        .collect(),
                ),
                "fig4",
            ),
            _ => (
                "The paper: GN-2 pays most, for beginning transactions above all; LB and KM, \
                 whose sets are large, pay for buffering; most of KM's attempts abort \
                 (section 4.4). It leaves out RA, HT and EB, which do nothing else.",
                std::iter::once(tables::phases(paper))
                    .filter(|_| !paper.breakdown.is_empty())
                    .collect(),
                "fig5",
            ),
        };
        sections.push(Section {
            id: figure.id,
            name: figure.title.clone(),
            shows: figure.about.clone(),
            theirs: Some(theirs.into()),
            body: std::iter::once(figure.in_page()).chain(body).collect(),
            only: Some(only),
        });
    }
    sections.extend(table_sections(paper));
    sections
}

/// The tables behind a figure, which open on demand, if there are any.
pub(crate) fn or_details(tables: Vec<Markup>) -> Vec<Markup> {
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

/// The paper's claims, judged.
fn claims_section(paper: &Paper) -> Section {
    let claims = claims::all(paper);
    let count = |verdict| claims.iter().filter(|c| c.verdict == verdict).count();
    Section {
        id: "claims",
        name: "The paper\u{2019}s claims".into(),
        shows: vec![format!(
            "Of {} claims, {} hold, {} hold in part, {} do not hold, and {} cannot be judged by \
             this document, {} of them because it has no critical section written by hand. Each \
             verdict follows from the data by the rule beside it. A gain over coarse-grained \
             locking is judged against such a section of the same run, not against cgl.",
            claims.len(),
            count(Holds),
            count(Partly),
            count(Fails),
            count(Unknown) + count(WithoutLock),
            count(WithoutLock)
        )],
        theirs: None,
        body: vec![tables::claims(&claims)],
        only: None,
    }
}

fn table_sections(paper: &Paper) -> Vec<Section> {
    let section = |id, name: &str, shows, theirs: Option<&str>, body, only| Section {
        id,
        name: name.into(),
        shows,
        theirs: theirs.map(String::from),
        body: vec![body],
        only: Some(only),
    };
    let mut lanes = remarks::aborts(paper);
    lanes.extend(remarks::lanes(paper));
    vec![
        section(
            "table-1",
            "Table 1: characteristics of the workloads",
            remarks::characteristics(paper),
            Some(
                "The paper gives the last two columns in words. Conflicts here are attempts that \
                 aborted, at the best launch.",
            ),
            tables::characteristics(paper),
            "table1",
        ),
        section(
            "table-2",
            "Table 2: best launches",
            remarks::launches(paper),
            None,
            tables::launches(paper),
            "fig2",
        ),
        section(
            "aborts",
            "Aborts and active lanes",
            lanes,
            None,
            tables::aborts(paper),
            "fig2",
        ),
        section(
            "costs",
            "Memory, compilation, launches",
            remarks::costs(paper),
            None,
            tables::costs(paper),
            "fig2",
        ),
    ]
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

fn footer(paper: &Paper) -> Markup {
    html! {
        footer {
            p {
                "Rates are of committed transactions, by the kernel's own time; K, M and G of \
                 rates are powers of 1000, of sizes and threads powers of 1024 (8M words are "
                (8u64 << 20) "). A speed-up is the median rate over the median rate of cgl with \
                 the same workload, each at its best launch; of a kernel of a program, it is by \
                 the kernel's time in the program's median run. Slow variants run fewer \
                 transactions; rates compare all the same."
            }
            p {
                "The paper is " (published::SOURCE) "; it used " (count(published::LOCKS))
                " locks on an " (published::DEVICE) ". Its Figures 2 to 5 print no numbers, so \
                 only what its text and tables give is quoted."
            }
            p { "Made by stamp report from paper.json (format " (paper.head.format) ")." }
        }
    }
}
