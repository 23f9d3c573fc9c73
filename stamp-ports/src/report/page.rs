//! The page: head, headline, a section for each figure and table.

use super::figure::Figure;
use super::palette;
use super::published;
use super::remarks;
use super::tables;
use super::view::{self, headline, label, times};
use super::xml::Element;
use crate::numbers::{bytes, count};
use crate::paper::document::Paper;

/// The page's title unless another is given.
pub const TITLE: &str = "The evaluation of GPU-STM, measured again";

/// A section of the page.
struct Section {
    id: &'static str,
    name: String,
    shows: Vec<String>,
    /// What the paper says of the same.
    theirs: Option<String>,
    body: Vec<Element>,
    /// What `--only` of `bench paper` calls it.
    only: &'static str,
}

/// The whole page as a file.
pub fn page(paper: &Paper, figures: &[Figure], title: &str) -> String {
    let sections = sections(paper, figures);
    let links = sections.iter().map(|section| {
        Element::new("li").with(
            Element::new("a")
                .at("href", format!("#{}", section.id))
                .text(section.name.as_str()),
        )
    });
    let header = Element::new("header")
        .with(Element::new("h1").text(title))
        .all(opening(paper))
        .with(
            Element::new("nav")
                .at("aria-label", "Sections")
                .with(Element::new("ul").all(links)),
        );
    let main = Element::new("main").all(sections.into_iter().map(|s| section(paper, s)));
    let html = Element::new("html")
        .at("lang", "en")
        .at("xmlns", "http://www.w3.org/1999/xhtml")
        .with(head(title))
        .with(
            Element::new("body")
                .with(header)
                .with(main)
                .with(footer(paper)),
        );
    format!("<!DOCTYPE html>\n{html}\n")
}

fn head(title: &str) -> Element {
    let named =
        |name: &str, content: &str| Element::new("meta").at("name", name).at("content", content);
    Element::new("head")
        .with(Element::new("meta").at("charset", "utf-8"))
        .with(named("viewport", "width=device-width, initial-scale=1"))
        // Nothing is loaded and nothing runs, whatever the document held.
        .with(
            Element::new("meta")
                .at("http-equiv", "Content-Security-Policy")
                .at("content", "default-src 'none'; style-src 'unsafe-inline'"),
        )
        .with(named("color-scheme", "light dark"))
        .with(Element::new("title").text(title))
        .with(Element::style(include_str!("page.css")))
        .with(Element::style(palette::rules()))
}

fn opening(paper: &Paper) -> Vec<Element> {
    let mut parts = vec![big(paper)];
    if paper.quick {
        parts.push(warning(
            "A quick run: small inputs and few points, to see that everything works. \
             Its figures are not comparable with the paper's.",
        ));
    }
    if !paper.complete {
        parts.push(warning(
            "The run was interrupted or is still going: points are missing.",
        ));
    }
    let wrong: Vec<String> = paper
        .speedups
        .iter()
        .filter(|run| !run.verified)
        .map(|run| {
            let why = run.error.as_deref().unwrap_or("no reason given");
            format!("{} {}: {why}", label(&run.workload), run.variant)
        })
        .collect();
    if !wrong.is_empty() {
        parts.push(warning(&format!(
            "Not verified, {} of {}: {}. No sentence counts these.",
            wrong.len(),
            paper.speedups.len(),
            wrong.join("; ")
        )));
    }
    if !paper.notes.is_empty() {
        let notes = paper
            .notes
            .iter()
            .map(|note| Element::new("li").text(note.as_str()));
        parts.push(Element::new("ul").at("class", "note").all(notes));
    }
    parts.push(facts(paper));
    parts
}

fn warning(text: &str) -> Element {
    Element::new("p").at("class", "warn").text(text)
}

/// The headline.
fn big(paper: &Paper) -> Element {
    let part = |class: &str, number: &str, what: String| {
        Element::new("div")
            .with(Element::new("span").at("class", class).text(number))
            .with(Element::new("span").at("class", "what").text(what))
    };
    let ours = match headline(paper) {
        Some((run, ratio)) => part(
            "big",
            &times(ratio),
            format!(
                "the largest speed-up over coarse-grained locking in {}: {} in {}, on {}",
                if view::THEIRS.contains(&published::plain(&run.workload).as_str()) {
                    "the paper's workloads"
                } else {
                    "these workloads"
                },
                run.variant,
                label(&run.workload),
                paper.device.name
            ),
        ),
        None => part(
            "big",
            "\u{2013}",
            "speed-up over coarse-grained locking: not measured".into(),
        ),
    };
    Element::new("div")
        .at("class", "headline")
        .with(ours)
        .with(part(
            "second",
            &format!("up to {}", times_short(published::SPEEDUP_MAX)),
            format!("in the paper (2014), on {}", published::DEVICE),
        ))
}

fn times_short(ratio: f64) -> String {
    format!("{ratio:.0}\u{d7}")
}

fn facts(paper: &Paper) -> Element {
    let device = &paper.device;
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
    let minutes = paper.seconds / 60.0;
    let took = if minutes >= 1.0 {
        format!("{minutes:.1} minutes")
    } else {
        format!("{:.0} seconds", paper.seconds)
    };
    let row = |name: &str, content: Element| {
        [
            Element::new("dt").text(name),
            Element::new("dd").with(content),
        ]
    };
    let plain = |text: String| Element::new("span").text(text);
    Element::new("dl")
        .all(row("Machine", plain(machine)))
        .all(row("Begun", plain(paper.started.clone())))
        .all(row("Took", plain(took)))
        .all(row(
            "Command",
            Element::new("code").text(paper.command.as_str()),
        ))
        .all(row(
            "Program",
            plain(format!("stamp {}, seed {}", paper.version, paper.seed)),
        ))
}

fn sections(paper: &Paper, figures: &[Figure]) -> Vec<Section> {
    let mut sections = Vec::new();
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
        let drawing = Element::new("figure")
            .at("aria-label", &figure.title)
            .with(figure.in_page());
        sections.push(Section {
            id: figure.id,
            name: figure.title.clone(),
            shows: figure.about.clone(),
            theirs: Some(theirs.into()),
            body: std::iter::once(drawing).chain(body).collect(),
            only,
        });
    }
    sections.extend(table_sections(paper));
    sections
}

/// The tables behind a figure, which open on demand, if there are any.
fn or_details(tables: Vec<Element>) -> Vec<Element> {
    if tables.is_empty() {
        return Vec::new();
    }
    vec![
        Element::new("details")
            .with(Element::new("summary").text("The same in numbers"))
            .all(tables),
    ]
}

fn table_sections(paper: &Paper) -> Vec<Section> {
    let section = |id, name: &str, shows, theirs: Option<&str>, body, only| Section {
        id,
        name: name.into(),
        shows,
        theirs: theirs.map(String::from),
        body: vec![body],
        only,
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

fn section(paper: &Paper, section: Section) -> Element {
    let mut shows: Vec<Element> = section
        .shows
        .iter()
        .map(|sentence| Element::new("li").text(sentence.as_str()))
        .collect();
    let shows = if shows.len() == 1 {
        Element::new("p").text(section.shows[0].as_str())
    } else {
        Element::new("ul").at("class", "shows").all(shows.drain(..))
    };
    let theirs = section
        .theirs
        .map(|text| Element::new("p").at("class", "theirs").text(text));
    Element::new("section")
        .at("id", section.id)
        .with(Element::new("h2").text(section.name))
        .with(shows)
        .all(theirs)
        .all(section.body)
        .with(
            Element::new("p")
                .at("class", "by")
                .text("Measured by ")
                .with(Element::new("code").text(paper.command.as_str()))
                .text("; this part alone: the same with ")
                .with(Element::new("code").text(format!("--only {}", section.only)))
                .text("."),
        )
}

fn footer(paper: &Paper) -> Element {
    Element::new("footer")
        .with(Element::new("p").text(format!(
            "Rates are of committed transactions, by the kernel's own time; K, M and G of rates \
             are powers of 1000, of sizes and threads powers of 1024 (8M words are {}). A \
             speed-up is the median rate over the median rate of cgl with the same workload, \
             each at its best launch. Slow variants run fewer transactions; rates compare all \
             the same.",
            8u64 << 20
        )))
        .with(Element::new("p").text(format!(
            "The paper is {}; it used {} locks on an {}. Its Figures 2 to 5 print no numbers, so \
             only what its text and tables give is quoted.",
            published::SOURCE,
            count(published::LOCKS),
            published::DEVICE
        )))
        .with(Element::new("p").text(format!(
            "Made by stamp report from paper.json (format {}).",
            paper.format
        )))
}
