//! The paper's figures from the document.

use super::axis::Axis;
use super::chart::{self, Bar, Line, Panel, Stack, Texts};
use super::figure::{Figure, Key, Sample};
use super::palette::{self, Hue, marker_of};
use super::sentences;
use super::view::{
    apart, baseline, counts, distinct, heading, label, measured, over_cgl, over_critical_section,
    percent, runs, times, total, variants, workloads,
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

/// From this speed-up on a workload's axis is logarithmic and that of all such
/// workloads: below, a linear one shows more.
const LARGE: f64 = 10.0;

/// Figure 2, with the kernels of a workload apart.
fn speedups(paper: &Paper) -> Figure {
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
fn threads(paper: &Paper) -> Figure {
    let points = &paper.threads;
    let x = Axis::binary(points.iter().map(|p| sum(p) as f64));
    let mut panels = Vec::new();
    for workload in workloads(points.iter().map(|p| p.workload.as_str())) {
        let here: Vec<&ThreadPoint> = points.iter().filter(|p| p.workload == workload).collect();
        let y = Axis::decimal(here.iter().map(|p| p.tx_per_s));
        let about = sentences::peak(paper, workload)
            .map_or_else(|| "No launch of it ran.".into(), |peak| peak + ".");
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
        about: sentences::threads(paper),
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

/// What Figure 4 shows of a point.
type Measure = fn(&EigenbenchPoint) -> f64;

/// Figure 4: two panels for each number of threads.
fn locks(paper: &Paper) -> Figure {
    let points = &paper.eigenbench;
    let all_locks = distinct(points.iter().map(|p| p.locks));
    let rate: Measure = |p| p.tx_per_s;
    let aborted: Measure = |p| p.abort_rate * 100.0;
    let ran = |p: &&EigenbenchPoint| p.tx_per_s > 0.0;
    // With room for the points beside each other.
    let x = Axis::binary(
        points
            .iter()
            .flat_map(|p| [0.85, 1.18].map(|beside| p.hot_words as f64 * beside)),
    );
    let axes = [
        Axis::decimal(points.iter().map(rate)),
        // A hundredth at least: below, the shape of a line says nothing.
        Axis::linear(points.iter().filter(ran).map(aborted).chain([1.0])),
    ];
    let mut panels = Vec::new();
    for threads in distinct(points.iter().map(|p| total(p.blocks, p.threads))) {
        let here: Vec<&EigenbenchPoint> = points
            .iter()
            .filter(|p| total(p.blocks, p.threads) == threads)
            .filter(ran)
            .collect();
        for (name, what, y, measure) in [
            ("throughput", "transactions a second", &axes[0], rate),
            ("aborts", "attempts that aborted, %", &axes[1], aborted),
        ] {
            let texts = Texts {
                title: &format!("{}: {name}", of(threads, "thread")),
                below: &format!("{what} ({})", y.scale()),
                x: &format!("words of shared data ({})", x.scale()),
                about: &sentences::locks_at(paper, threads),
            };
            let lines = locks_lines(&here, &all_locks, measure);
            panels.push(chart::lines(&texts, &x, y, &lines));
        }
    }
    let mut legend = Vec::new();
    for name in variants(points.iter().map(|p| p.variant.as_str())) {
        legend.extend(all_locks.iter().enumerate().map(|(i, locks)| Key {
            name: format!("{name}, {} locks", count(*locks)),
            sample: Sample::Line(palette::shade(name, i), i),
        }));
    }
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
    let names = variants(here.iter().map(|p| p.variant.as_str()));
    let middle = (names.len() * all_locks.len()) as f64 / 2.0;
    for variant in names {
        for (i, &locks) in all_locks.iter().enumerate() {
            // Points of one abscissa stand side by side: many have one rate.
            let beside = (0.06 * (lines.len() as f64 + 0.5 - middle)).exp2();
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
                    (p.hot_words as f64 * beside, measure(p), told)
                })
                .collect();
            lines.push(Line {
                hue: palette::shade(variant, i),
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
