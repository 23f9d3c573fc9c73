//! The report of `stamp bench sync`: the benchmarks of three papers about synchronisation, and what the
//! library is to reach. `calls.jq` has what page, claims and targets call, and `choice.jq` what suits a
//! machine by ratios of memory accesses. A claim is judged at the papers' grids and once more at this
//! machine's, by the same rule.
//!
//! Grote's lanes ask for the lock each by itself: the kinds with `/lane`. His MCS2 with one lock for each
//! entry point is `mcs` here, as one lock is held at a time. "All" locks of Gattani and Anickode are the spin
//! lock, measured twice as their mutex is the same code, ticket, MCS and Anderson's, and the spin spin lock
//! where it was measured. In the source that the slides seem to come from, the kernel with Anderson's lock
//! prints "MCS" and the other way round, so two claims are judged in both readings.

use super::source::{PAGE, Source};
use super::stated::Report;
use crate::sync::Bench;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use stm_sync::barrier::Kind;

#[rustfmt::skip]
const SOURCE: Source = Source {
    shared: include_str!("../points.jq"),
    sets: concat!(include_str!("choice.jq"), include_str!("sets.jq")),
    calls: include_str!("calls.jq"),
    page: include_str!("page.jq"),
    view: PAGE,
    judged: &[
        ("sync-targets", "", include_str!("targets.jq")),
        ("claims-grote", "Grote 2020", include_str!("grote.jq")),
        ("claims-stuart", "Stuart and Owens 2011", include_str!("stuart.jq")),
        ("claims-gattani", "Gattani and Anickode 2024", include_str!("gattani.jq")),
    ],
};

pub(crate) fn report(bench: &Bench) -> Report {
    SOURCE.report(&bench.head, &facts(bench))
}

/// Returns the document, the names of our barriers, and the grids of the memory benchmarks, each
/// with how many groups a barrier has there, and with its ratios if its times are times.
fn facts(bench: &Bench) -> Value {
    let kinds = Kind::ALL.iter();
    let grids = bench.machine.iter().flat_map(|machine| &machine.grids);
    let grids = grids.map(|grid| {
        let times = &grid.times_ns;
        let ratios = times.abstraction().map(|of| {
            json!({"blocks": of.blocks, "reads": of.reads.ratios(), "writes": of.writes.ratios()})
        });
        let groups = kinds
            .clone()
            .map(|kind| (kind.name(), kind.groups(times.blocks)));
        let groups: BTreeMap<&str, u32> = groups.collect();
        json!({"blocks": times.blocks, "times": times, "groups": groups, "ratios": ratios})
    });
    let barriers = kinds.clone().map(|kind| kind.name());
    json!({
        "document": bench, "barriers": barriers.collect::<Vec<_>>(),
        "grids": grids.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    //! The whole report, from documents that are made up: what must be in it, and that it makes
    //! nothing up.

    use super::{SOURCE, facts, report};
    use crate::measure::machine::abstraction::tests::{FERMI, TESLA};
    use crate::measure::machine::abstraction::{Benchmarks, Pair};
    use crate::points::{Asked, Point};
    use crate::report::PAGE;
    use crate::report::claim::Claim;
    use crate::report::tests::{HOSTILE, changed, file, judged, parse, words};
    use crate::sync::Bench;
    use crate::testing::has;
    use sample::{empty, full};
    use serde_json::{Value, json};

    mod rows;
    pub(in crate::report) mod sample;

    fn all(bench: &Bench) -> Vec<Claim> {
        judged(&SOURCE, &facts(bench), "claims")
    }

    fn all_targets(bench: &Bench) -> Vec<Claim> {
        judged(&SOURCE, &facts(bench), "sync-targets")
    }

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
        assert_eq!(changed(&bench, "."), bench);
    }

    #[test]
    fn every_series_of_a_panel_has_a_look_of_its_own() {
        for figure in report(&full()).figures {
            // Bars have their names beside them.
            let lines = figure.legend.iter().filter(|key| key.line);
            let looks = lines.map(|key| key.look.of());
            let mut looks: Vec<_> = looks.map(|(hue, marker)| (hue.light, marker)).collect();
            let n = looks.len();
            looks.sort_unstable();
            looks.dedup();
            assert_eq!(looks.len(), n, "{}", figure.id);
            for panel in &figure.panels {
                let drawn_in = |slot: &usize| {
                    let colour = crate::report::palette::Look::Slot(*slot).of().0.css();
                    panel.marks.0.contains(&format!("stroke=\"{colour}\""))
                };
                let lines = (0..12).filter(drawn_in).count();
                assert!(lines <= 8, "{}: {lines}", figure.id);
            }
        }
    }

    #[test]
    fn what_does_not_count_is_not_judged_and_the_page_says_why() {
        for (change, is_drawn, but, figures, said) in [
            (
                ". + {points: [], machine: null}",
                false,
                "",
                "",
                "Not measured: Grote\u{2019}s figures 5.1 to 5.4",
            ),
            (
                r#". + {machine: null} | change("points"; true; {verified: false, note: "the count is 5, not 6 <&>"})"#,
                false,
                "A-N1",
                "",
                "the count is 5, not 6 <&> | With a wrong result",
            ),
            ("of_a_cpu", true, "", "CPU", "Measured on a CPU"),
        ] {
            let bench = changed(&full(), change);
            for claim in all(&bench).iter().filter(|claim| claim.id != but) {
                let is_judged = claim.is_judged() || claim.verdict_here.is_none();
                assert!(!is_judged, "{claim:?}");
                has(&claim.figures, figures);
            }
            let mut figures = report(&bench).figures.into_iter();
            assert_eq!(figures.any(|figure| !figure.legend.is_empty()), is_drawn);
            has(&words(parse(&page_of(&bench)).root()), said);
        }
        let [claims, targets] = [all(&empty()), all_targets(&empty())];
        assert!(claims.iter().all(|claim| !claim.figures.contains('\u{d7}')));
        assert!(!targets.iter().any(Claim::is_judged));
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
        let own = sections.find(|s| s.shows.concat().contains("with these launches"));
        assert_eq!(own.unwrap().id, "counter-beside");
        assert!(sections.all(|s| !s.shows.concat().contains("with these launches")));
    }

    /// What `choice.jq` chooses by these times.
    fn chosen(times: Benchmarks) -> Value {
        let mut bench = full();
        bench.points.clear();
        bench.machine.as_mut().unwrap().grids[1].times_ns = times;
        let sets = SOURCE.sets(&facts(&bench), "here");
        sets.run(&["$choice"])
    }

    #[test]
    fn the_choices_for_tesla_and_fermi_are_those_of_the_papers_table_5() {
        for (times, mutex, low) in [
            (TESLA, "fetch-add", "sleeping"),
            (FERMI, "tas-backoff", "spin-backoff"),
        ] {
            let expected = json!({
                "barrier": "xiao-feng", "mutex": mutex, "low": low, "high": "sleeping",
            });
            assert_eq!(chosen(times), expected);
        }
    }

    #[test]
    fn the_choice_depends_on_ratios_alone_and_follows_them() {
        for times in [TESLA, FERMI] {
            let mut scaled = times;
            for column in [&mut scaled.reads, &mut scaled.writes] {
                for pair in [
                    &mut column.volatile,
                    &mut column.atomic,
                    &mut column.after_atomic,
                ] {
                    pair.contended *= 1e3;
                    pair.uncontended *= 1e3;
                }
            }
            assert_eq!(chosen(times), chosen(scaled));
        }
        // A Tesla whose atomics were as fast as its loads would better spin.
        let mut fast = TESLA;
        fast.reads.atomic = fast.reads.after_atomic;
        assert_eq!(chosen(fast)["mutex"], "tas-backoff");
        // A machine with free atomics and slow stores would better count.
        let mut counts = FERMI;
        let pair = |ns| Pair {
            contended: ns,
            uncontended: ns,
        };
        (counts.writes.volatile, counts.writes.atomic) = (pair(9.0), pair(0.01));
        counts.reads.after_atomic = counts.reads.volatile;
        let barrier = chosen(counts)["barrier"].take();
        assert!(["counted", "grouped"].map(Value::from).contains(&barrier));
    }
}
