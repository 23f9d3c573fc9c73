//! Figures and tables of points: what `bench sync` and `bench nw` draw by lines over one
//! parameter, or by bars at one place, and say of both ends in a sentence.

use super::axis::Axis;
use super::chart::{self, Bar, Line, Panel, Texts};
use super::claim::LEVEL;
use super::figure::{Figure, Key, Sample};
use super::palette::{self, Hue};
use super::table::{NONE, known, table};
use super::words::times;
use crate::numbers::{digits3, short};
use crate::sync::document::Point;
use maud::Markup;
use std::cmp::Ordering;

/// A figure, the parts whose points it shows, and what the paper says of the same.
#[derive(Debug)]
pub struct Drawn {
    /// The parts.
    pub parts: &'static [&'static str],
    /// The figure.
    pub figure: Figure,
    /// What the paper says of the same.
    pub theirs: &'static str,
}

/// Returns whether a point has a time that counts: nothing rests on a wrong result.
pub fn counts(point: &Point) -> bool {
    let positive = |x: f64| x.is_finite() && x > 0.0;
    point.verified && positive(point.ms) && positive(point.per_s)
}

/// Returns a sentence about points with a wrong result, if there are any.
pub fn wrong(points: &[Point]) -> Option<String> {
    let wrong = points.iter().filter(|p| p.repeat > 0 && !p.verified);
    let wrong = wrong.map(|p| {
        let why = p.note.as_deref().unwrap_or("no reason given");
        format!(
            "{} {} {} x {}: {why}",
            p.part, p.implementation, p.blocks, p.threads
        )
    });
    let wrong: Vec<String> = wrong.collect();
    (!wrong.is_empty()).then(|| {
        format!(
            "With a wrong result, {} of {} points: {}. No figure, claim or sentence counts these.",
            wrong.len(),
            points.len(),
            wrong.join("; ")
        )
    })
}

/// What stands where a figure has no point.
pub const NOT_MEASURED: &str = "Not measured.";

/// A quantity and how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
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
pub const CYCLES: Quantity = Quantity {
    of: |point| point.cycles.map(|cycles| cycles as f64),
    name: "cycles",
    show: |cycles| format!("{cycles:.0}"),
    ends: ["the fewest cycles", "the most"],
    least: true,
};

/// The time of a launch.
pub const TIME: Quantity = Quantity {
    of: |point| Some(point.ms),
    name: "kernel time in ms",
    show: time,
    ends: ["the shortest time", "the longest"],
    least: true,
};

/// The operations a second.
pub const RATE: Quantity = Quantity {
    of: |point| Some(point.per_s),
    name: "operations a second",
    show: |rate| short(rate) + "/s",
    ends: ["the highest rate", "the lowest"],
    least: false,
};

/// The most operations of a block over the fewest.
pub const UNFAIRNESS: Quantity = Quantity {
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

/// A line: its name in the legend and where its points are.
#[derive(Debug)]
pub struct Series<'b> {
    /// Its name.
    pub name: String,
    /// Its look and its marker.
    pub look: (Hue, usize),
    /// Abscissa and point.
    pub points: Vec<(f64, &'b Point)>,
}

/// Returns the points of a part and an implementation that `place` puts on the abscissa. Of
/// several at one place it is the one with the most operations, and of those the fastest.
pub fn series<'b>(
    points: &'b [Point],
    (part, name): (&str, &str),
    look: (Hue, usize),
    place: impl Fn(&Point) -> Option<f64>,
) -> Series<'b> {
    let own = points
        .iter()
        .filter(|p| p.part == part && p.implementation == name && counts(p));
    let mut points: Vec<(f64, &Point)> = own.filter_map(|p| Some((place(p)?, p))).collect();
    points.sort_by(|(ax, a), (bx, b)| {
        let by_time = || a.ms.total_cmp(&b.ms);
        ax.total_cmp(bx)
            .then(b.operations.cmp(&a.operations))
            .then_with(by_time)
    });
    points.dedup_by(|later, earlier| later.0.total_cmp(&earlier.0).is_eq());
    Series {
        name: name.to_owned(),
        look,
        points,
    }
}

/// What a panel shows.
#[derive(Debug)]
pub struct Shown<'b> {
    /// Its heading.
    pub title: String,
    /// The abscissa's name.
    pub x: &'static str,
    /// What the ordinate is.
    pub quantity: Quantity,
    /// Its lines.
    pub series: Vec<Series<'b>>,
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
pub fn figure(id: &'static str, title: &str, shown: Vec<Shown<'_>>, pairs: bool) -> Figure {
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

/// What excludes nothing: it is said apart from the locks.
const OPEN: [&str; 3] = ["none", "added", "lock-free"];

/// From this ratio of times on the axis is logarithmic.
const WIDE: f64 = 10.0;

/// A panel of bars: implementations and their points at one place.
#[derive(Debug)]
pub struct Rows<'b> {
    /// Its heading.
    pub title: String,
    /// The line below.
    pub below: String,
    /// The implementations in their order; those without a point are said to be missing.
    pub found: Vec<(&'static str, Option<&'b Point>)>,
    /// The implementation that others are compared with.
    pub beside: &'static str,
}

/// Makes a figure of those panels that have a point, and says which have none.
pub fn bar_figure(id: &'static str, title: &str, rows: Vec<Rows<'_>>) -> Figure {
    let any = |rows: &Rows<'_>| rows.found.iter().any(|(_, point)| point.is_some());
    let (there, missing): (Vec<Rows<'_>>, Vec<Rows<'_>>) = rows.into_iter().partition(any);
    let missing: Vec<String> = missing.into_iter().map(|rows| rows.title).collect();
    let mut legend: Vec<Key> = Vec::new();
    let found = there.iter().flat_map(|rows| &rows.found);
    for (name, _) in found.filter(|(_, point)| point.is_some()) {
        if legend.iter().all(|key| key.name != *name) {
            legend.push(Key {
                name: (*name).to_owned(),
                sample: Sample::Fill(palette::implementation(name, false).0),
            });
        }
    }
    let (panels, about): (Vec<Panel>, Vec<String>) = there.iter().map(Rows::panel).unzip();
    with_missing(
        Figure {
            id,
            title: title.to_owned(),
            about,
            legend,
            panels,
            pairs: false,
        },
        &missing,
    )
}

impl Rows<'_> {
    /// Draws the panel, and says what it shows.
    fn panel(&self) -> (Panel, String) {
        let base = self.found.iter().find(|(kind, _)| *kind == self.beside);
        let base = base.and_then(|(_, point)| Some((*point)?.ms));
        let bars: Vec<Bar> = self
            .found
            .iter()
            .map(|(kind, point)| {
                let ms = point.map(|p| p.ms);
                let label = ms.map_or_else(|| "not measured".into(), time);
                let ratio = ms
                    .zip(base)
                    .map(|(ms, base)| ms / base)
                    .filter(|_| *kind != self.beside);
                let ratio = ratio.map_or_else(String::new, |r| {
                    format!(" ({} that of {})", times(r), self.beside)
                });
                Bar {
                    name: (*kind).to_owned(),
                    hue: palette::implementation(kind, false).0,
                    value: ms,
                    range: point.map(|p| (p.ms_min, p.ms_max)),
                    told: format!("{kind}, {label}{ratio}"),
                    label,
                }
            })
            .collect();
        let about = self.sentence(&bars);
        let all = || self.found.iter().filter_map(|(_, point)| *point);
        let low = all()
            .map(|p| p.ms_min.min(p.ms))
            .fold(f64::INFINITY, f64::min);
        let high = all().map(|p| p.ms_max.max(p.ms)).fold(0.0, f64::max);
        let (axis, zero) = if high >= WIDE * low {
            // Bars begin at the power of ten below the shortest.
            let below = 10f64.powf(low.log10().floor());
            (Axis::decimal([below, high]), below)
        } else {
            (Axis::linear([high]), 0.0)
        };
        let texts = Texts {
            title: &self.title,
            below: &self.below,
            x: &format!("kernel time in ms ({})", axis.scale()),
            about: &about,
        };
        (chart::bars(&texts, &axis, zero, &bars), about)
    }

    /// Says what takes the shortest time and what the longest, and what excludes nothing.
    fn sentence(&self, bars: &[Bar]) -> String {
        let timed = |bar: &&Bar| bar.value.is_some();
        let open = |bar: &&Bar| OPEN.contains(&bar.name.as_str());
        let (open, locks): (Vec<&Bar>, Vec<&Bar>) = bars.iter().filter(timed).partition(open);
        let by_time =
            |a: &&&Bar, b: &&&Bar| a.value.partial_cmp(&b.value).unwrap_or(Ordering::Equal);
        let mut clauses = Vec::new();
        if let (Some(first), Some(last)) =
            (locks.iter().min_by(by_time), locks.iter().max_by(by_time))
        {
            clauses.push(format!(
                "the shortest time is that of {}, the longest that of {}",
                first.told, last.told
            ));
        }
        clauses.extend(
            open.iter()
                .map(|bar| format!("without a lock {}", bar.told)),
        );
        format!("{}: {}.", self.title, clauses.join("; "))
    }
}

/// The parameters of a point: `buckets 16, pairs 26214400`.
fn parameters(point: &Point) -> String {
    let all = point.parameters.iter();
    let all: Vec<String> = all.map(|(name, n)| format!("{name} {n}")).collect();
    if all.is_empty() {
        NONE.into()
    } else {
        all.join(", ")
    }
}

/// All points of a part, those without a time too.
pub fn points_table(points: &[Point], part: &str) -> Vec<Markup> {
    let row = |p: &Point| {
        let measured = p.repeat > 0;
        let if_measured = |text: String| if measured { text } else { NONE.into() };
        let fairness = p.most.zip(p.fewest);
        vec![
            p.implementation.clone(),
            match p.blocks {
                // The program chose, and said how many in the note.
                0 => format!("as noted x {}", p.threads),
                blocks => format!("{blocks} x {}", p.threads),
            },
            parameters(p),
            if_measured(time(p.ms)),
            if_measured(format!("{} to {}", time(p.ms_min), time(p.ms_max))),
            if_measured(p.repeat.to_string()),
            if_measured(short(p.per_s)),
            known(fairness, |(most, fewest)| format!("{fewest} to {most}")),
            if !measured {
                NONE.into()
            } else if p.verified {
                "yes".into()
            } else {
                "NO".into()
            },
            known(p.note.as_ref(), Clone::clone),
        ]
    };
    let rows: Vec<Vec<String>> = points.iter().filter(|p| p.part == part).map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let head = [
        "Implementation",
        "Launch",
        "Parameters",
        "Time",
        "Range",
        "Runs",
        "Operations/s",
        "Of a block",
        "Right",
        "Note",
    ];
    let name = format!("All points of the part {part}");
    vec![table(&name, &head, &rows, 1)]
}
