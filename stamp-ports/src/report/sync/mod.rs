//! The report of `stamp bench sync`: the benchmarks of three papers about synchronisation, and
//! what the library is to reach.
//!
//! Figures, tables and what was done otherwise than in the papers are in `page.jq`; what it and the
//! claims and targets call is in `calls.jq`. `choice` has what suits a machine by ratios of memory
//! accesses.
//!
//! A claim is judged at the papers' grids and once more at this machine's, by the same rule. A
//! CPU is not judged: claims and targets are about GPUs.
//!
//! Grote's lanes ask for the lock each by itself: the kinds with `/lane`. His MCS2 with one lock
//! for each entry point is `mcs` here, as one lock is held at a time. "All" locks of Gattani and
//! Anickode are the spin lock, measured twice as their mutex is the same code, ticket, MCS and
//! Anderson's, and the spin spin lock where it was measured. In the source that the slides seem to
//! come from, the kernel with Anderson's lock prints "MCS" and the other way round, so two claims
//! are judged in both readings.

use super::claim::Claim;
use super::jq::Sets;
use super::page::Report;
use super::palette::plain;
use super::records::{POINTS, Record, judged, record, whole, with};
use super::stated::Page;
use crate::measure::machine::abstraction::Benchmarks;
use crate::points::Point;
use crate::sync::Bench;
use serde_json::{Value, json};
use stm_sync::barrier::Kind;

mod choice;

pub(crate) fn report(bench: &Bench) -> Report {
    let sets = sets(bench, true);
    let claims = all(bench);
    let mut judged = vec![("sync-targets", all_targets(bench))];
    for (id, paper, _) in PAPERS {
        let own = claims.iter().filter(|claim| claim.paper == paper);
        judged.push((id, own.cloned().collect()));
    }
    Page::report(&bench.head, (&sets, PAGE), &judged)
}

const CALLS: &str = include_str!("calls.jq");
const PAGE: &[&str] = &[POINTS, CALLS, include_str!("page.jq")];

/// The papers in the order of the page: what links call each, its authors and year, and its claims.
const PAPERS: [(&str, &str, &str); 3] = [
    ("claims-grote", "Grote 2020", include_str!("grote.jq")),
    (
        "claims-stuart",
        "Stuart and Owens 2011",
        include_str!("stuart.jq"),
    ),
    (
        "claims-gattani",
        "Gattani and Anickode 2024",
        include_str!("gattani.jq"),
    ),
];

/// Judges all claims, at the papers' grids and at this machine's.
pub(crate) fn all(bench: &Bench) -> Vec<Claim> {
    let of_both = [true, false].map(|of_paper| sets(bench, of_paper));
    let of = |(_, paper, rows)| {
        let [theirs, ours] = of_both
            .each_ref()
            .map(|sets| judged(bench, sets, &[CALLS, rows]));
        let both = theirs.into_iter().zip(ours);
        both.map(move |(claim, ours)| Claim {
            paper,
            here: Some(ours.verdict),
            figures_here: Some(ours.figures),
            ..claim
        })
    };
    PAPERS.into_iter().flat_map(of).collect()
}

/// Judges the targets, which name their sizes.
pub(crate) fn all_targets(bench: &Bench) -> Vec<Claim> {
    judged(
        bench,
        &sets(bench, true),
        &[CALLS, include_str!("targets.jq")],
    )
}

/// Returns the four grids of the counter, and the other grids of one judgement: those of the
/// papers (Grote 2020, sections 5.2 and 5.3; Gattani and Anickode 2024; Stuart and Owens 2011,
/// whose GTX 295 has 30 multiprocessors of 8 blocks, and whose GTX 580 has 16), or those for a
/// device of so many multiprocessors, where the most blocks that were measured are the full load.
fn shape(p: u32, of_paper: bool) -> ([u32; 4], Record) {
    if of_paper {
        let grids = json!({
            "table": 30, "walk": 30, "sections": 512, "axis": 240, "slides": 512, "tesla": 240,
            "fermi": 128, "sixty": 64, "with": " with 128 blocks",
        });
        return ([1, 8, 16, 32], grids);
    }
    let grids = json!({"table": p, "walk": p, "sections": p, "axis": u32::MAX, "with": ""});
    ([1, p.div_ceil(2), p, 2 * p], grids)
}

/// Returns the records of a document at the papers' grids, or at this machine's.
///
/// | set | holds |
/// | --- | --- |
/// | `points` | all points |
/// | `cells` | those that count |
/// | `counters`, `tables`, `walks`, `sections` | those of Grote's counter, table and list and of the slides' sections, at the grids |
/// | `sections_at` | all points of those sections |
/// | `shape`, `here` | the grids, and those of this machine |
/// | `grids`, `memory`, `machine` | the grids of the memory benchmarks, their ratios, and those that decide |
/// | `choice`, `barriers` | what suits this machine by them, and our barriers |
/// | `peers` | what there is to say of peers |
/// | `document` | what is so of the whole document |
fn sets(bench: &Bench, of_paper: bool) -> Sets {
    let p = bench.head.device.processors.max(1);
    let (counter, shape) = shape(p, of_paper);
    let points: Vec<Record> = bench.points.iter().map(of).collect();
    let those = |is: &dyn Fn(&Record) -> bool| -> Vec<Record> {
        points.iter().filter(|point| is(point)).cloned().collect()
    };
    let counting = |part: &str, blocks: &Value, threads: Option<u32>| {
        those(&|point| {
            let own = point["counts"] == 1 && point["part"] == part && point["blocks"] == *blocks;
            own && threads.is_none_or(|threads| point["threads"] == threads)
        })
    };
    let of_counter = |(grid, blocks): (usize, &u32)| {
        let own = counting("counter", &json!(blocks), None).into_iter();
        own.map(move |record| with(record, json!({"grid": grid})))
    };
    let counters = counter.iter().enumerate().flat_map(of_counter);
    let sections = those(&|point| {
        let own = point["part"] == "sections" && point["blocks"] == shape["sections"];
        own && point["threads"] == 1024
    });
    let grids = bench.machine.iter().flat_map(|machine| &machine.grids);
    let mut grids = grids.map(|grid| &grid.times_ns);
    let memory = grids.clone().filter_map(Benchmarks::abstraction);
    let memory = memory.flat_map(|ratios| choice::ratios(&ratios));
    let blocks = grids.clone().map(|times| json!({"blocks": times.blocks}));
    let own = if of_paper {
        grids.find(|times| times.blocks == 128)
    } else {
        grids.next_back()
    };
    let machine = own.and_then(Benchmarks::abstraction);
    let barriers = Kind::ALL.iter().map(|kind| json!({"name": kind.name()}));
    let here = json!({"half": p.div_ceil(2), "p": p, "twice": 2 * p, "eight": 8 * p});
    Sets::new([
        ("counters", counters.collect()),
        ("tables", counting("table", &shape["table"], Some(256))),
        ("walks", counting("list", &shape["walk"], None)),
        (
            "sections",
            counting("sections", &shape["sections"], Some(1024)),
        ),
        ("sections_at", sections),
        ("here", vec![here]),
        ("grids", blocks.collect()),
        ("memory", memory.collect()),
        ("machine", machine.iter().flat_map(choice::ratios).collect()),
        ("choice", own.and_then(choice::choose).into_iter().collect()),
        ("barriers", barriers.collect()),
        ("peers", peers(bench)),
        ("shape", vec![with(shape, json!({"counter": counter}))]),
        ("cells", those(&|point| point["counts"] == 1)),
        ("document", vec![whole(bench)]),
        ("points", points),
    ])
}

/// Returns the record of a point with what is asked of it here.
fn of(point: &Point) -> Record {
    // The sum that a note gives as `the sum is 138999`.
    let sum = point.note.as_deref().and_then(|note| {
        let (_, rest) = note.split_once("the sum is ")?;
        let end = rest.find(|c: char| !c.is_ascii_digit());
        rest[..end.unwrap_or(rest.len())].parse::<u64>().ok()
    });
    let blocks = u64::from(point.blocks);
    let record = record(point);
    let sound = record["sound"].as_u64();
    // One thread of a block asks for a mutex or a semaphore, and 128 wait at a barrier (Stuart
    // and Owens, section 6).
    let rated = point.part != "barrier" || point.threads == 128;
    let more = json!({
        "state": sound.map(|sound| [" wrong", " right"][sound as usize]), "sum": sum,
        "right_sum": blocks * (blocks + 1) / 2, "rated": u64::from(rated),
        "lock": plain(&point.implementation).trim_end_matches('2'),
    });
    with(record, more)
}

fn peers(bench: &Bench) -> Vec<Record> {
    let peer = |name: &str| name.starts_with("cuda::") || name == "grid.sync";
    let all = || bench.points.iter().filter(|p| peer(&p.implementation));
    let missing = all().filter(|p| p.repeat == 0);
    let missing =
        missing.filter_map(|p| Some(format!("{}: {}", p.implementation, p.note.as_ref()?)));
    let mut said: Vec<String> = missing.collect();
    said.sort();
    said.dedup();
    if !all().any(|p| p.repeat > 0) {
        said.insert(0, "No peer was measured in this run.".into());
    }
    said.into_iter().map(|said| json!({"said": said})).collect()
}

#[cfg(test)]
pub(super) mod tests {
    //! The whole report, from documents that are made up: what must be in it, and that it makes
    //! nothing up.

    use super::{all, all_targets, report};
    use crate::points::{Asked, Point};
    use crate::report::PAGE;
    use crate::report::claim::Verdict;
    use crate::report::tests::{HOSTILE, changed, file, parse, words};
    use crate::sync::Bench;
    use crate::testing::has;
    use sample::{empty, full};

    mod rows;
    pub(in crate::report) mod sample;

    fn page_of(bench: &Bench) -> String {
        file(report(bench), PAGE)
    }

    #[test]
    fn a_full_document_has_a_point_in_every_panel_and_is_read_as_it_was_written() {
        let bench = full();
        for figure in report(&bench).figures {
            for panel in &figure.panels {
                let empty = panel.marks.0.contains("not measured");
                assert!(!empty, "{}: {}", figure.id, panel.title);
            }
        }
        assert_eq!(changed(&bench, ""), bench);
    }

    #[test]
    fn every_series_of_a_panel_has_a_look_of_its_own() {
        for figure in report(&full()).figures {
            // Bars have their names beside them.
            let lines = figure.legend.iter().filter(|key| key.marker.is_some());
            let mut looks: Vec<_> = lines.map(|key| (key.hue.light, key.marker)).collect();
            let n = looks.len();
            looks.sort_unstable();
            looks.dedup();
            assert_eq!(looks.len(), n, "{}", figure.id);
            for panel in &figure.panels {
                let drawn_in = |slot: &usize| {
                    let colour = crate::report::palette::line(*slot).0.css();
                    panel.marks.0.contains(&format!("stroke=\"{colour}\""))
                };
                let lines = (0..12).filter(drawn_in).count();
                assert!(lines <= 8, "{}: {lines}", figure.id);
            }
        }
    }

    /// Checks that none can be judged, but for one.
    fn unknown(bench: &Bench, but: &str, figures: &str) {
        for claim in all(bench).iter().filter(|claim| claim.id != but) {
            let here = claim.here.unwrap();
            assert_eq!([claim.verdict, here], [Verdict::Unknown; 2], "{}", claim.id);
            has(&claim.figures, figures);
        }
    }

    #[test]
    fn without_points_nothing_is_judged_drawn_or_said() {
        let bench = empty();
        unknown(&bench, "", "");
        let [claims, targets] = [all(&bench), all_targets(&bench)];
        assert!(claims.iter().all(|claim| !claim.figures.contains('\u{d7}')));
        let mut targets = targets.iter().map(|target| target.verdict);
        assert!(targets.all(|verdict| verdict == Verdict::Unknown));
        assert!(report(&bench).figures.is_empty());
        let page = page_of(&bench);
        has(&page, "Not measured: Grote\u{2019}s figures 5.1 to 5.4");
    }

    #[test]
    fn points_with_a_wrong_result_count_no_more_than_missing_ones() {
        let mut bench = full();
        for point in &mut bench.points {
            point.verified = false;
            point.note = Some("the count is 5, not 6 <&>".into());
        }
        bench.machine = None;
        unknown(&bench, "A-N1", "");
        assert!(report(&bench).figures.is_empty());
        let shown = words(parse(&page_of(&bench)).root());
        has(&shown, "the count is 5, not 6 <&> | With a wrong result");
    }

    #[test]
    fn points_without_a_time_say_why() {
        let mut bench = empty();
        let asked = Asked::new("barrier", "grid.sync", (132, 128), &[]);
        let why = "nvcc was not found";
        bench.points.push(Point::without_time(&asked, why.into()));
        let shown = words(parse(&page_of(&bench)).root());
        has(&shown, "1 of 1 points have no time | No peer was measured");
        // In the table and among the peers.
        assert_eq!(shown.matches(why).count(), 2);
    }

    #[test]
    fn all_points_stand_in_the_tables() {
        let bench = full();
        let text = page_of(&bench);
        let page = parse(&text);
        for part in "counter table list barrier mutex semaphore sections".split(' ') {
            let caption = format!("All points of the part {part}");
            let mut captions = page.descendants().filter(|n| n.has_tag_name("caption"));
            let own = captions.find(|n| words(*n) == caption).unwrap();
            let rows = own.parent().unwrap().descendants();
            let rows = rows.filter(|n| n.has_tag_name("tr")).count();
            let points = bench.points.iter().filter(|p| p.part == part).count();
            assert_eq!(rows, points + 1, "{part}");
        }
    }

    #[test]
    fn a_cpu_is_drawn_and_not_judged() {
        let mut bench = full();
        bench.head.device.gpu = None;
        unknown(&bench, "", "CPU");
        assert!(!report(&bench).figures[0].legend.is_empty());
        has(&page_of(&bench), "Measured on a CPU");
    }

    /// The sample with texts and numbers that could break a page.
    pub(in crate::report) fn hostile() -> Bench {
        let hostile = HOSTILE;
        let mut bench = full();
        bench.head.command = hostile.into();
        bench.head.notes = vec![hostile.into()];
        bench.head.settings.insert(hostile.into(), hostile.into());
        for (i, point) in bench.points.iter_mut().enumerate() {
            match i % 9 {
                0 => point.asked.implementation = hostile.into(),
                1 => point.ms = f64::MAX,
                2 => point.ms = f64::MIN_POSITIVE,
                3 => point.ms = -1.0,
                4 => point.per_s = 1e300,
                5 => (point.asked.blocks, point.asked.threads) = (u32::MAX, 0),
                6 => point.note = Some(hostile.into()),
                7 => (point.most, point.fewest) = (Some(u64::MAX), Some(0)),
                _ => drop(point.asked.parameters.insert(hostile.into(), u64::MAX)),
            }
        }
        bench
    }

    #[test]
    fn points_of_other_launches_are_not_called_missing() {
        let mut bench = empty();
        let other = sample::point("counter", "ticket", (2, 2), None, 1.0);
        bench.points.push(other);
        let report = report(&bench);
        assert!(report.figures.is_empty());
        let mut sections = report.sections.into_iter();
        let own = sections.find(|s| s.markup.0.contains("with these launches"));
        assert_eq!(own.unwrap().id, "counter-beside");
        assert!(sections.all(|s| !s.markup.0.contains("with these launches")));
    }
}
