//! The paper's figures from the document.

use super::chart::{self, Bar, Line, Panel, Stack, Texts};
use super::figure::{Figure, Key, Sample};
use super::palette::{self, Hue, marker_of};
use super::scale::{Axis, Spread};
use super::sentences;
use super::view::{
    baseline, counts, distinct, heading, label, measured, over_cgl, percent, runs, times, total,
    variants, workloads,
};
use crate::numbers::{count, of, short};
use crate::paper::document::{Breakdown, EigenbenchPoint, Paper, Speedup, ThreadPoint};

/// Every figure, in the paper's order. What was not measured is an empty one
/// that says so.
pub fn all(paper: &Paper) -> [Figure; 4] {
    [speedups(paper), threads(paper), locks(paper), phases(paper)]
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

/// Figure 2.
fn speedups(paper: &Paper) -> Figure {
    let ratios = paper.speedups.iter().filter_map(|run| {
        let cgl = baseline(paper, &run.workload)?;
        let each = [run.tx_per_s, run.tx_per_s_min, run.tx_per_s_max];
        counts(run).then(|| each.map(|rate| rate / cgl.tx_per_s))
    });
    let axis = Axis::over(Spread::Decimal, ratios.flatten().chain([0.8, 1.25]));
    let panels = measured(paper)
        .into_iter()
        .map(|workload| {
            let bars: Vec<Bar> = runs(paper, workload)
                .into_iter()
                .map(|run| bar(paper, run))
                .collect();
            let below = match baseline(paper, workload) {
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
            let texts = Texts {
                title: &heading(workload),
                below: &below,
                x: "speed-up over cgl",
                about: &format!("Speed-up over cgl: {}.", spoken.join(", ")),
            };
            chart::bars(&texts, &axis, 1.0, &bars)
        })
        .collect();
    let names = variants(paper.speedups.iter().map(|run| run.variant.as_str()));
    Figure {
        id: "figure-2",
        title: "Figure 2: speed-up over coarse-grained locking".into(),
        about: sentences::speedups(paper),
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
        class: palette::variant(&run.variant).class,
        value: ratio,
        range: ratio.map(|_| (run.tx_per_s_min / scale, run.tx_per_s_max / scale)),
        told: format!(
            "{} {}{ran}: {label}, {} tx/s ({} to {}) at {} x {}",
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

/// Figure 3.
fn threads(paper: &Paper) -> Figure {
    let points = &paper.threads;
    let sum = |p: &ThreadPoint| total(p.blocks, p.threads);
    let x = Axis::over(Spread::Binary, points.iter().map(|p| sum(p) as f64));
    let panels = workloads(points.iter().map(|p| p.workload.as_str()))
        .into_iter()
        .map(|workload| {
            let here: Vec<_> = points.iter().filter(|p| p.workload == workload).collect();
            let y = Axis::over(Spread::Decimal, here.iter().map(|p| p.tx_per_s));
            let lines: Vec<Line> = variants(here.iter().map(|p| p.variant.as_str()))
                .into_iter()
                .map(|variant| {
                    let mut line: Vec<_> = here.iter().filter(|p| p.variant == variant).collect();
                    line.sort_by_key(|p| sum(p));
                    let points = line
                        .into_iter()
                        .map(|p| {
                            let told = format!(
                                "{variant}, {} ({} x {}): {} tx/s, {} of attempts aborted",
                                of(sum(p), "thread"),
                                p.blocks,
                                p.threads,
                                short(p.tx_per_s),
                                percent(p.abort_rate)
                            );
                            (sum(p) as f64, p.tx_per_s, told)
                        })
                        .collect();
                    Line {
                        hue: palette::variant(variant),
                        marker: marker_of(variant),
                        points,
                    }
                })
                .collect();
            let about =
                sentences::peak(paper, workload).unwrap_or_else(|| "No launch of it ran.".into());
            let texts = Texts {
                title: &heading(workload),
                below: "transactions a second",
                x: "threads of the launch",
                about: &about,
            };
            chart::lines(&texts, &x, &y, &lines)
        })
        .collect();
    Figure {
        id: "figure-3",
        title: "Figure 3: throughput and threads".into(),
        about: sentences::threads(paper),
        legend: lines_legend(points.iter().map(|p| p.variant.as_str())),
        panels: or_empty(panels, "Throughput and threads"),
        pairs: false,
    }
}

/// What Figure 4 shows of a point.
type Measure = fn(&EigenbenchPoint) -> f64;

/// Figure 4: two panels for each number of threads.
fn locks(paper: &Paper) -> Figure {
    let points = &paper.eigenbench;
    let all_locks = distinct(points.iter().map(|p| p.locks));
    let rate: Measure = |p| p.tx_per_s;
    let aborted: Measure = |p| p.abort_rate * 100.0;
    let ran = |p: &&EigenbenchPoint| p.tx_per_s > 0.0;
    let x = Axis::over(Spread::Binary, points.iter().map(|p| p.hot_words as f64));
    let axes = [
        Axis::over(Spread::Decimal, points.iter().map(rate)),
        // A hundredth at least: below, the shape of a line says nothing.
        Axis::over(
            Spread::Linear,
            points.iter().filter(ran).map(aborted).chain([1.0]),
        ),
    ];
    let mut panels = Vec::new();
    for threads in distinct(points.iter().map(|p| total(p.blocks, p.threads))) {
        let here: Vec<&EigenbenchPoint> = points
            .iter()
            .filter(|p| total(p.blocks, p.threads) == threads)
            .filter(ran)
            .collect();
        for (name, what, y, measure) in [
            ("throughput", "transactions a second", axes[0], rate),
            ("aborts", "attempts that aborted, %", axes[1], aborted),
        ] {
            let texts = Texts {
                title: &format!("{}: {name}", of(threads, "thread")),
                below: what,
                x: "words of shared data",
                about: &sentences::locks_at(paper, threads),
            };
            let lines = locks_lines(&here, &all_locks, measure);
            panels.push(chart::lines(&texts, &x, &y, &lines));
        }
    }
    let mut legend: Vec<Key> = variants(points.iter().map(|p| p.variant.as_str()))
        .into_iter()
        .map(|name| Key {
            name: name.into(),
            sample: Sample::Stroke(palette::variant(name)),
        })
        .collect();
    legend.extend(all_locks.iter().enumerate().map(|(i, locks)| Key {
        name: format!("{} locks", count(*locks)),
        sample: Sample::Marker(i),
    }));
    Figure {
        id: "figure-4",
        title: "Figure 4: shared data and version locks in EigenBench".into(),
        about: sentences::locks(paper),
        legend,
        panels: or_empty(panels, "Shared data and locks"),
        pairs: true,
    }
}

fn locks_lines(here: &[&EigenbenchPoint], all_locks: &[u64], measure: Measure) -> Vec<Line> {
    let mut lines = Vec::new();
    for variant in variants(here.iter().map(|p| p.variant.as_str())) {
        for (i, &locks) in all_locks.iter().enumerate() {
            let mut line: Vec<&&EigenbenchPoint> = here
                .iter()
                .filter(|p| p.variant == variant && p.locks == locks)
                .collect();
            line.sort_by_key(|p| p.hot_words);
            let points = line
                .into_iter()
                .map(|p| {
                    let told = format!(
                        "{variant}, {} locks, {} words: {} tx/s, {} of attempts aborted",
                        count(locks),
                        count(p.hot_words),
                        short(p.tx_per_s),
                        percent(p.abort_rate)
                    );
                    (p.hot_words as f64, measure(p), told)
                })
                .collect();
            lines.push(Line {
                hue: palette::variant(variant),
                marker: i,
                points,
            });
        }
    }
    lines
}

/// Figure 5: a panel for each variant, a bar for each workload.
fn phases(paper: &Paper) -> Figure {
    let panels = variants(paper.breakdown.iter().map(|b| b.variant.as_str()))
        .into_iter()
        .map(|variant| {
            let here = || paper.breakdown.iter().filter(move |b| b.variant == variant);
            let stacks: Vec<Stack> = workloads(here().map(|b| b.workload.as_str()))
                .into_iter()
                .filter_map(|workload| here().find(|b| b.workload == workload))
                .map(stack)
                .collect();
            let texts = Texts {
                title: variant,
                below: "one thread's time by phase",
                x: "% of the time",
                about: &sentences::phases_of(paper, variant),
            };
            chart::stacks(&texts, &stacks)
        })
        .collect();
    Figure {
        id: "figure-5",
        title: "Figure 5: where a thread's time goes".into(),
        about: sentences::phases(paper),
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
