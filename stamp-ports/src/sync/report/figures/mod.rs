//! The papers' figures from the document, and the same with what they did not have.
//!
//! | file | has |
//! | --- | --- |
//! | `bars` | times of many implementations at one place |
//! | `counter` | Grote's figures 5.1 to 5.4 |
//! | `tables` | his figure 5.5, and 5.6 to 5.13 of the list |
//! | `operations` | Stuart and Owens' figures 1 to 3, and the sections of Gattani and Anickode |

mod bars;
mod counter;
mod operations;
mod tables;

use super::claims::cases::LEVEL;
use super::data::{Data, counts};
use super::looks;
use crate::numbers::{digits3, short};
use crate::report::axis::Axis;
use crate::report::chart::{self, Line, Panel, Texts};
use crate::report::figure::{Figure, Key, Sample};
use crate::report::palette::Hue;
use crate::report::view::times;
use crate::sync::document::Point;

/// A figure and the part whose points it shows.
#[derive(Debug)]
pub struct Drawn {
    /// The part.
    pub part: &'static str,
    /// The figure.
    pub figure: Figure,
    /// What the paper says of the same.
    pub theirs: &'static str,
}

/// Draws every figure, in the order of the page. What was not measured is an empty panel that
/// says so.
pub fn all(data: &Data<'_>) -> Vec<Drawn> {
    let mut all = counter::all(data);
    all.extend(tables::all(data));
    all.extend(operations::all(data));
    for drawn in &mut all {
        let elsewhere = data.points(drawn.part).any(counts);
        if drawn.figure.about == [NOT_MEASURED] && elsewhere {
            drawn.figure.about = vec![
                "Not measured with these launches; the table of all points has what was.".into(),
            ];
        }
    }
    all
}

/// What stands where a figure has no point.
const NOT_MEASURED: &str = "Not measured.";

/// A quantity and how it is written.
#[derive(Clone, Copy)]
pub(crate) struct Quantity {
    of: fn(&Point) -> Option<f64>,
    /// Its name and unit, for the axis.
    name: &'static str,
    show: fn(f64) -> String,
    /// What the best is called, and the worst.
    ends: [&'static str; 2],
    /// Whether the least is the best.
    least: bool,
}

/// The cycles of a round.
pub(crate) const CYCLES: Quantity = Quantity {
    of: |point| point.cycles.map(|cycles| cycles as f64),
    name: "cycles",
    show: |cycles| format!("{cycles:.0}"),
    ends: ["the fewest cycles", "the most"],
    least: true,
};

/// The time of a launch.
pub(crate) const TIME: Quantity = Quantity {
    of: |point| Some(point.ms),
    name: "kernel time in ms",
    show: time,
    ends: ["the shortest time", "the longest"],
    least: true,
};

/// The operations a second.
pub(crate) const RATE: Quantity = Quantity {
    of: |point| Some(point.per_s),
    name: "operations a second",
    show: |rate| short(rate) + "/s",
    ends: ["the highest rate", "the lowest"],
    least: false,
};

/// The most operations of a block over the fewest.
const UNFAIRNESS: Quantity = Quantity {
    of: |point| {
        let (most, fewest) = (point.most?, point.fewest?);
        (fewest > 0).then(|| most as f64 / fewest as f64)
    },
    name: "most / fewest sections of a block",
    show: times,
    ends: ["the smallest ratio", "the largest"],
    least: true,
};

/// Returns a time in words, given in milliseconds.
pub fn time(ms: f64) -> String {
    if ms >= 1e3 {
        format!("{} s", digits3(ms / 1e3))
    } else if ms >= 1.0 {
        format!("{} ms", digits3(ms))
    } else {
        format!("{} \u{b5}s", digits3(ms * 1e3))
    }
}

/// Returns a place on the abscissa in words: `16 entry points`, `1 block`.
fn place(x: f64, name: &str) -> String {
    let one = x.total_cmp(&1.0).is_eq();
    let name = name.strip_suffix('s').filter(|_| one).unwrap_or(name);
    format!("{x} {name}")
}

/// A series: its name in the legend and where its points are.
pub(crate) struct Series<'b> {
    pub(crate) name: String,
    pub(crate) look: (Hue, usize),
    /// Abscissa and point.
    pub(crate) points: Vec<(f64, &'b Point)>,
}

/// Returns the points of an implementation that `place` puts on the abscissa.
fn series<'b>(
    data: &Data<'b>,
    part: &'static str,
    name: &str,
    place: impl Fn(&Point) -> Option<f64>,
) -> Series<'b> {
    let here = data
        .points(part)
        .filter(|p| counts(p) && p.implementation == name);
    let mut points: Vec<(f64, &Point)> = here.filter_map(|p| Some((place(p)?, p))).collect();
    // Of two points at one place the one with more operations, as for the claims.
    points.sort_by(|a, b| (a.0.total_cmp(&b.0)).then(b.1.operations.cmp(&a.1.operations)));
    points.dedup_by(|later, earlier| later.0.total_cmp(&earlier.0).is_eq());
    Series {
        name: name.to_owned(),
        look: looks::of(name, false),
        points,
    }
}

/// What a panel shows.
pub(crate) struct Shown<'b> {
    pub(crate) title: String,
    /// The abscissa's name.
    pub(crate) x: &'static str,
    pub(crate) quantity: Quantity,
    pub(crate) series: Vec<Series<'b>>,
}

impl Shown<'_> {
    /// Returns the values of all points.
    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let points = self.series.iter().flat_map(|s| &s.points);
        points.filter_map(|(_, point)| (self.quantity.of)(point))
    }

    /// Says what is best and worst at an abscissa where more than one series has a point.
    fn clause(&self, x: f64) -> Option<String> {
        let at = |s: &Series<'_>| {
            let point = s.points.iter().find(|(px, _)| px.total_cmp(&x).is_eq())?;
            Some((s.name.clone(), (self.quantity.of)(point.1)?))
        };
        let mut found: Vec<(String, f64)> = self.series.iter().filter_map(at).collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        if !self.quantity.least {
            found.reverse();
        }
        let [(best, good), .., (worst, bad)] = found.as_slice() else {
            return None;
        };
        let (show, [first, last]) = (self.quantity.show, self.quantity.ends);
        let (good_text, bad_text) = (show(*good), show(*bad));
        let place = place(x, self.x);
        Some(if (good / bad).max(bad / good) <= 1.0 + LEVEL {
            format!(
                "at {place} all {} are within 5 %, {good_text} to {bad_text}",
                found.len()
            )
        } else {
            format!(
                "at {place} {first} is that of {best}, {good_text}, {last} that of {worst}, {bad_text}"
            )
        })
    }

    /// Says so of both ends of the abscissa.
    fn sentence(&self) -> Option<String> {
        let xs = || {
            self.series
                .iter()
                .flat_map(|s| s.points.iter().map(|p| p.0))
        };
        let ends = [xs().reduce(f64::min), xs().reduce(f64::max)];
        let clauses = ends.into_iter().flatten();
        let mut clauses: Vec<String> = clauses.filter_map(|x| self.clause(x)).collect();
        clauses.dedup();
        (!clauses.is_empty()).then(|| format!("{}: {}.", self.title, clauses.join("; ")))
    }

    fn panel(&self, y: &Axis) -> Panel {
        let xs = self
            .series
            .iter()
            .flat_map(|s| s.points.iter().map(|p| p.0));
        let x = Axis::binary(xs);
        let show = self.quantity.show;
        let lines: Vec<Line> = self
            .series
            .iter()
            .map(|s| Line {
                hue: s.look.0,
                marker: s.look.1,
                points: s
                    .points
                    .iter()
                    .filter_map(|(x, point)| {
                        let y = (self.quantity.of)(point)?;
                        let told = format!("{}, {}: {}", s.name, place(*x, self.x), show(y));
                        Some((*x, y, told))
                    })
                    .collect(),
            })
            .collect();
        let about = self.sentence();
        let texts = Texts {
            title: &self.title,
            below: &format!("{} ({})", self.quantity.name, y.scale()),
            x: self.x,
            about: about.as_deref().unwrap_or(NOT_MEASURED),
        };
        chart::lines(&texts, &x, y, &lines)
    }
}

/// Makes a figure of those panels that have a point, with one axis for each quantity and one
/// legend, and says which have none.
pub(crate) fn figure(id: &'static str, title: &str, shown: Vec<Shown<'_>>, pairs: bool) -> Figure {
    let any = |shown: &Shown<'_>| shown.values().next().is_some();
    let (shown, missing): (Vec<Shown<'_>>, Vec<Shown<'_>>) = shown.into_iter().partition(any);
    let missing: Vec<String> = missing.into_iter().map(|shown| shown.title).collect();
    let axis = |name: &str| {
        let same = shown.iter().filter(|s| s.quantity.name == name);
        Axis::decimal(same.flat_map(Shown::values))
    };
    let mut legend: Vec<Key> = Vec::new();
    for series in shown.iter().flat_map(|s| &s.series) {
        if !series.points.is_empty() && legend.iter().all(|key| key.name != series.name) {
            legend.push(Key {
                name: series.name.clone(),
                sample: Sample::Line(series.look.0, series.look.1),
            });
        }
    }
    let panels = shown.iter().map(|s| s.panel(&axis(s.quantity.name)));
    let figure = Figure {
        id,
        title: title.to_owned(),
        about: shown.iter().filter_map(Shown::sentence).collect(),
        legend,
        panels: panels.collect(),
        pairs,
    };
    with_missing(figure, &missing)
}

/// Returns the figure with a sentence about the panels that have no point, or, if none has
/// one, with a panel that says so.
fn with_missing(mut figure: Figure, missing: &[String]) -> Figure {
    if figure.panels.is_empty() {
        figure.panels.push(chart::nothing(&figure.title));
        figure.about = vec![NOT_MEASURED.into()];
    } else if !missing.is_empty() {
        figure
            .about
            .push(format!("Not measured: {}.", missing.join("; ")));
    }
    figure
}
