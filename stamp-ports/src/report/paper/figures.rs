//! The paper's figures from the document.

use super::claims::Asked;
use super::view::{
    apart, baseline, counts, distinct, heading, label, measured, over_cgl, over_critical_section,
    runs, total, variants, workloads,
};
use crate::numbers::{self, count, of, short};
use crate::paper::document::{Breakdown, EigenbenchPoint, Paper, Speedup, ThreadPoint};
use crate::report::axis::Axis;
use crate::report::chart::{self, Bar, Line, Panel, Stack, Texts};
use crate::report::figure::{Figure, Key, Sample};
use crate::report::palette::{self, Hue, marker_of};
use crate::report::stated::{From, Part};
use crate::report::words::{percent, times};

/// Every figure, in the paper's order. What was not measured is an empty one
/// that says so.
pub(super) fn all(paper: &Paper, from: &From<'_, Asked>, parts: &[Part]) -> [Figure; 4] {
    let said = |i: usize| Said {
        from,
        part: &parts[i],
    };
    [
        speedups(paper, &said(0)),
        threads(paper, &said(1)),
        locks(paper, &said(2)),
        phases(paper, &said(3)),
    ]
}

/// What is said of a figure.
struct Said<'a> {
    from: &'a From<'a, Asked>,
    part: &'a Part,
}

impl Said<'_> {
    fn whole(&self) -> Vec<String> {
        self.part.said(self.from)
    }

    fn panel(&self, name: &str, about: &[(&str, &str)]) -> String {
        self.part.said_of(self.from, name, about)
    }
}

/// In the place of panels that there are no data for.
fn or_empty(panels: Vec<Panel>, title: &str) -> Vec<Panel> {
    if !panels.is_empty() {
        return panels;
    }
    vec![chart::nothing(title)]
}

fn lines_legend<'p>(names: impl IntoIterator<Item = &'p str>) -> Vec<Key> {
    variants(names)
        .into_iter()
        .map(|name| Key {
            name: name.into(),
            sample: Sample::Line(palette::variant(name), marker_of(name)),
        })
        .collect()
}

/// From this speed-up on a workload's axis is logarithmic and that of all such
/// workloads: below, a linear one shows more.
const LARGE: f64 = 10.0;

/// Figure 2, with the kernels of a workload apart.
fn speedups(paper: &Paper, said: &Said<'_>) -> Figure {
    let apart = &apart(paper);
    let ratios_of = |workload: &str| -> Vec<f64> {
        let counted = runs(apart, workload).into_iter().filter(|run| counts(run));
        counted
            .filter_map(|run| {
                let cgl = baseline(apart, workload)?;
                Some([run.tx_per_s, run.tx_per_s_min, run.tx_per_s_max].map(|r| r / cgl.tx_per_s))
            })
            .flatten()
            .collect()
    };
    let all = measured(apart);
    let large = |workload: &&str| ratios_of(workload).iter().any(|ratio| *ratio >= LARGE);
    let shared = Axis::decimal(
        all.iter()
            .filter(|workload| large(workload))
            .flat_map(|workload| ratios_of(workload))
            .chain([0.5]),
    );
    let panels = all
        .iter()
        .map(|workload| {
            let bars: Vec<Bar> = runs(apart, workload)
                .into_iter()
                .map(|run| bar(apart, run))
                .collect();
            let below = match baseline(apart, workload) {
                Some(cgl) => format!(
                    "1\u{d7} is cgl: {} tx/s at {} x {}",
                    short(cgl.tx_per_s),
                    cgl.blocks,
                    cgl.threads
                ),
                None => "no verified cgl to compare with".into(),
            };
            let spoken: Vec<String> = bars
                .iter()
                .map(|bar| format!("{} {}", bar.name, bar.label))
                .collect();
            let own = Axis::linear(ratios_of(workload).into_iter().chain([1.0]));
            let (axis, base) = if large(workload) {
                (&shared, 1.0)
            } else {
                (&own, 0.0)
            };
            let texts = Texts {
                title: &heading(workload),
                below: &below,
                x: &format!("speed-up over cgl ({})", axis.scale()),
                about: &format!("Speed-up over cgl: {}.", spoken.join(", ")),
            };
            chart::bars(&texts, axis, base, &bars)
        })
        .collect();
    let names = variants(apart.speedups.iter().map(|run| run.variant.as_str()));
    Figure {
        id: "figure-2",
        title: "Figure 2: speed-up over coarse-grained locking".into(),
        about: said.whole(),
        legend: names
            .into_iter()
            .map(|name| Key {
                name: name.into(),
                sample: Sample::Fill(palette::variant(name)),
            })
            .collect(),
        panels: or_empty(panels, "Speed-up over cgl"),
        pairs: false,
    }
}

fn bar(paper: &Paper, run: &Speedup) -> Bar {
    let ratio = over_cgl(paper, run);
    let scale = baseline(paper, &run.workload).map_or(1.0, |cgl| cgl.tx_per_s);
    let over_section = over_critical_section(paper, run).map_or_else(String::new, |ratio| {
        format!(" over cgl, {} over the critical section", times(ratio))
    });
    let label = match ratio {
        Some(ratio) => times(ratio),
        None if !run.verified => "not verified".into(),
        None => format!("{} tx/s", short(run.tx_per_s)),
    };
    let ran = if run.resolved == run.variant {
        String::new()
    } else {
        format!(", as {}", run.resolved)
    };
    Bar {
        name: run.variant.clone(),
        hue: palette::variant(&run.variant),
        value: ratio,
        range: ratio
            .map(|_| (run.tx_per_s_min / scale, run.tx_per_s_max / scale))
            .filter(|(low, high)| low < high),
        told: format!(
            "{} {}{ran}: {label}{over_section}, {} tx/s ({} to {}) at {} x {}",
            run.workload,
            run.variant,
            short(run.tx_per_s),
            short(run.tx_per_s_min),
            short(run.tx_per_s_max),
            run.blocks,
            run.threads
        ),
        label,
    }
}

/// The variant that the second panel of Figure 3 compares with.
const REFERENCE: &str = "hv-sorting";
/// The highest ratio that the second panel shows.
const RATIO_MAX: f64 = 1.5;

/// Figure 3: for each workload the rates and, because lines of like rates hide
/// each other over several powers of ten, their ratios to one variant.
fn threads(paper: &Paper, said: &Said<'_>) -> Figure {
    let points = &paper.threads;
    let x = Axis::binary(points.iter().map(|p| sum(p) as f64));
    let mut panels = Vec::new();
    for workload in workloads(points.iter().map(|p| p.workload.as_str())) {
        let here: Vec<&ThreadPoint> = points.iter().filter(|p| p.workload == workload).collect();
        let y = Axis::decimal(here.iter().map(|p| p.tx_per_s));
        let about = said.panel("peak", &[("w", workload)]);
        let texts = Texts {
            title: &heading(workload),
            below: &format!("transactions a second ({})", y.scale()),
            x: &format!("threads of the launch ({})", x.scale()),
            about: &about,
        };
        let rates = thread_lines(&here, |p| Some(p.tx_per_s));
        panels.push(chart::lines(&texts, &x, &y, &rates));
        let ratios = thread_lines(&here, |p| {
            let same = |q: &&&ThreadPoint| {
                q.variant == REFERENCE && (q.blocks, q.threads) == (p.blocks, p.threads)
            };
            let reference = here.iter().find(same)?.tx_per_s;
            (reference > 0.0).then(|| p.tx_per_s / reference)
        });
        let all = ratios.iter().flat_map(|line| &line.points).map(|p| p.1);
        let (low, hidden): (Vec<f64>, Vec<f64>) = all.partition(|ratio| *ratio <= RATIO_MAX);
        let y = Axis::linear(low.into_iter().chain([1.2]));
        let above = match hidden.len() as u64 {
            0 => String::new(),
            1 => "; 1 point is above".into(),
            n => format!("; {} are above", of(n, "point")),
        };
        let texts = Texts {
            title: &format!("{}: beside {REFERENCE}", label(workload)),
            below: &format!("ratio of rates ({}{above})", y.scale()),
            ..texts
        };
        panels.push(chart::lines(&texts, &x, &y, &ratios));
    }
    Figure {
        id: "figure-3",
        title: "Figure 3: throughput and threads".into(),
        about: said.whole(),
        legend: lines_legend(points.iter().map(|p| p.variant.as_str())),
        panels: or_empty(panels, "Throughput and threads"),
        pairs: true,
    }
}

fn sum(p: &ThreadPoint) -> u64 {
    total(p.blocks, p.threads)
}

/// A line of each variant; `None` is no point.
fn thread_lines(here: &[&ThreadPoint], measure: impl Fn(&ThreadPoint) -> Option<f64>) -> Vec<Line> {
    variants(here.iter().map(|p| p.variant.as_str()))
        .into_iter()
        .map(|variant| {
            let mut line: Vec<_> = here.iter().filter(|p| p.variant == variant).collect();
            line.sort_by_key(|p| sum(p));
            let points = line
                .into_iter()
                .filter_map(|p| {
                    let told = format!(
                        "{variant}, {} ({} x {}): {} tx/s, {} of attempts aborted",
                        of(sum(p), "thread"),
                        p.blocks,
                        p.threads,
                        short(p.tx_per_s),
                        percent(p.abort_rate)
                    );
                    Some((sum(p) as f64, measure(p)?, told))
                })
                .collect();
            Line {
                hue: palette::variant(variant),
                marker: marker_of(variant),
                points,
            }
        })
        .collect()
}

/// The threads of a point's launch.
fn threads_of(p: &EigenbenchPoint) -> u64 {
    total(p.blocks, p.threads)
}

/// A line of Figure 4 through the points of one variant.
fn eigenbench_line((hue, marker): (Hue, usize), mut of: Vec<&EigenbenchPoint>) -> Line {
    of.sort_by_key(|p| threads_of(p));
    let point = |p: &&EigenbenchPoint| {
        let told = format!(
            "{}, {} locks, {} words, {}: {} tx/s, {} of attempts aborted",
            p.variant,
            count(p.locks),
            count(p.hot_words),
            numbers::of(threads_of(p), "thread"),
            short(p.tx_per_s),
            percent(p.abort_rate)
        );
        (threads_of(p) as f64, p.tx_per_s, told)
    };
    let points = of.iter().map(point).collect();
    Line {
        hue,
        marker,
        points,
    }
}

/// Figure 4: a row of panels for each amount of data, with one for each variant that has version
/// locks, so that few lines share one; all have the same axes.
fn locks(paper: &Paper, said: &Said<'_>) -> Figure {
    let points = &paper.eigenbench;
    let all_locks = distinct(points.iter().map(|p| p.locks));
    let (without, names): (Vec<&str>, Vec<&str>) =
        variants(points.iter().map(|p| p.variant.as_str()))
            .into_iter()
            .partition(|name| *name == WITHOUT_LOCKS);
    let ran = |p: &&EigenbenchPoint| p.tx_per_s > 0.0;
    let x = Axis::binary(points.iter().map(|p| threads_of(p) as f64));
    let y = Axis::decimal(points.iter().filter(ran).map(|p| p.tx_per_s));
    let mut panels = Vec::new();
    for words in distinct(points.iter().map(|p| p.hot_words)) {
        for name in &names {
            let here = |variant: &str| -> Vec<&EigenbenchPoint> {
                let here = points.iter().filter(ran);
                here.filter(|p| p.hot_words == words && p.variant == variant)
                    .collect()
            };
            let all = here(name);
            let mut lines: Vec<Line> = (all_locks.iter().enumerate())
                .map(|(i, locks)| {
                    let some = all.iter().filter(|p| p.locks == *locks);
                    eigenbench_line(palette::locks(i), some.copied().collect())
                })
                .collect();
            let beside = without.iter();
            lines.extend(beside.map(|name| {
                eigenbench_line((palette::variant(name), marker_of(name)), here(name))
            }));
            let texts = Texts {
                title: &format!("{} words: {name}", count(words)),
                below: &format!("transactions a second ({})", y.scale()),
                x: &format!("threads of the launch ({})", x.scale()),
                about: &said.panel("locks", &[("h", &words.to_string()), ("v", name)]),
            };
            panels.push(chart::lines(&texts, &x, &y, &lines));
        }
    }
    let by_locks = all_locks.iter().enumerate().map(|(i, locks)| {
        let (hue, marker) = palette::locks(i);
        Key {
            name: numbers::of(*locks, "lock"),
            sample: Sample::Line(hue, marker),
        }
    });
    let mut legend: Vec<Key> = by_locks.collect();
    legend.extend(lines_legend(without.iter().copied()));
    Figure {
        id: "figure-4",
        title: "Figure 4: shared data and version locks in EigenBench".into(),
        about: said.whole(),
        legend,
        panels: or_empty(panels, "Shared data and locks"),
        pairs: names.len() == 2,
    }
}

/// The variant of Figure 4 that has no version locks, and stands in every panel.
const WITHOUT_LOCKS: &str = "fast";

/// Figure 5: a panel for each variant of one thread alone, and one of a full launch, with a bar
/// for each workload.
fn phases(paper: &Paper, said: &Said<'_>) -> Figure {
    let mut panels = Vec::new();
    for variant in variants(paper.breakdown.iter().map(|b| b.variant.as_str())) {
        for (one, what) in [("1", "one thread alone"), ("0", "a full launch")] {
            let bars = paper.breakdown.iter();
            let here: Vec<&Breakdown> = bars
                .filter(|b| b.variant == variant && b.is_alone() == (one == "1"))
                .collect();
            let stacks: Vec<Stack> = workloads(here.iter().map(|b| b.workload.as_str()))
                .into_iter()
                .filter_map(|workload| here.iter().find(|b| b.workload == workload))
                .map(|bar| stack(bar))
                .collect();
            if stacks.is_empty() {
                continue;
            }
            let texts = Texts {
                title: &format!("{variant}: {what}"),
                below: "a thread's time by phase",
                x: "% of the time (linear)",
                about: &said.panel("phases", &[("v", variant), ("alone", one)]),
            };
            panels.push(chart::stacks(&texts, &stacks));
        }
    }
    Figure {
        id: "figure-5",
        title: "Figure 5: where a thread's time goes".into(),
        about: said.whole(),
        legend: palette::PHASES
            .iter()
            .filter(|_| !paper.breakdown.is_empty())
            .map(|hue| Key {
                name: hue.name.into(),
                sample: Sample::Fill(*hue),
            })
            .collect(),
        panels: or_empty(panels, "Time by phase"),
        pairs: false,
    }
}

fn stack(of: &Breakdown) -> Stack {
    let segment = |hue: &Hue| {
        let share = of.shares.get(hue.name).copied().unwrap_or(0.0);
        let told = format!("{}, {}: {}", label(&of.workload), hue.name, percent(share));
        (*hue, share, told)
    };
    Stack {
        name: label(&of.workload),
        segments: palette::PHASES.iter().map(segment).collect(),
    }
}
