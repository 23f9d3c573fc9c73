//! Figures as a page's program states them: panels of lines over one field, or of bars at one place,
//! and a sentence about both ends of each.

use super::axis::Axis;
use super::chart::{self, Panel, Texts};
use super::claim::LEVEL;
use super::figure::{Figure, Key};
use super::palette::{self, Hue};
use crate::numbers::of;
use serde::Deserialize;
use serde_json::Value;
use std::cmp::Ordering;

mod bars;

use bars::{QUANTITIES, Quantity};

/// A line of a panel, or a bar of one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Line {
    name: String,
    /// The slot of its look, or its place among numbers of locks; without, the look is that of a
    /// variant, whose name is the line's if it has no other.
    slot: Option<usize>,
    lock: Option<usize>,
    variant: Option<String>,
    /// Whether it is a single point that stands for all of the abscissa.
    flat: bool,
    /// Its points; what to say of one under the pointer may be its `tooltip`.
    points: Vec<Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Stated {
    title: String,
    /// The line below it, if it is one of bars.
    below: String,
    /// The abscissa's name and field; a panel without is one of bars.
    x: Option<(String, String)>,
    /// The ordinate's field.
    y: String,
    lines: Vec<Line>,
    /// The bar that others are compared with.
    beside: String,
    /// The field with what stands at a bar's end.
    label: String,
    /// Whether large speed-ups share an axis that begins at 1.
    shared: bool,
    /// Whether a bar is of the phases of a thread's time.
    phases: bool,
    /// What is said of it, where that is not computed.
    said: Option<String>,
    /// Whether an ordinate is that of all panels where the abscissa is.
    same_y: bool,
    /// The highest that a linear ordinate shows.
    cap: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Drawing {
    /// Whether panels belong together two by two.
    pairs: bool,
    /// Whether every panel has an ordinate, and all the abscissa of these values, whose scale is
    /// named.
    apart: bool,
    span: Vec<f64>,
    panels: Vec<Stated>,
}

#[derive(Debug)]
struct Series<'b> {
    name: &'b str,
    look: (Hue, usize),
    points: Vec<(f64, &'b Value)>,
}

struct Shown<'b> {
    stated: &'b Stated,
    quantity: Quantity,
    series: Vec<Series<'b>>,
}

/// What is said of a panel of which there is nothing to say.
const NOTHING: &str = "Not measured.";

impl Drawing {
    /// Draws those panels that have a point, with one axis for each quantity and one legend, and
    /// says which have none; nothing if none has one.
    pub(crate) fn drawn(&self, id: &str, title: &str) -> Option<Figure> {
        let all = self.panels.iter().map(Stated::shown);
        let (shown, missing): (Vec<Shown<'_>>, Vec<Shown<'_>>) = all.partition(Shown::is_there);
        let mut missing: Vec<&str> = missing.iter().map(|s| s.stated.title.as_str()).collect();
        missing.dedup();
        let mut legend: Vec<Key> = Vec::new();
        for key in shown.iter().flat_map(Shown::keys) {
            if legend.iter().all(|known| known.name != key.name) {
                legend.push(key);
            }
        }
        let panels = shown.iter().map(|s| match &s.stated.x {
            Some((name, _)) => s.lines(name, &self.axes(s, &shown)),
            None if s.stated.phases => s.stacks(),
            None => s.bars(&shown),
        });
        let panels: Vec<Panel> = panels.collect();
        let computed = shown.iter().zip(&panels);
        let computed = computed.filter(|(s, p)| s.stated.said.is_none() && p.about != NOTHING);
        let mut about: Vec<String> = computed.map(|(_, panel)| panel.about.clone()).collect();
        if !missing.is_empty() {
            about.push(format!("Not measured: {}.", missing.join("; ")));
        }
        (!panels.is_empty()).then(|| Figure {
            id: id.to_owned(),
            title: title.to_owned(),
            about,
            legend,
            panels,
            pairs: self.pairs,
        })
    }

    fn axes(&self, panel: &Shown<'_>, all: &[Shown<'_>]) -> [Axis; 2] {
        let alone = self.apart && !panel.stated.same_y;
        let own = |other: &&Shown<'_>| {
            let same = other.quantity.name == panel.quantity.name;
            same && (!alone || std::ptr::eq(*other, panel))
        };
        let values = all.iter().filter(own).flat_map(Shown::values);
        let y = match panel.stated.cap {
            Some(cap) => Axis::linear(values.filter(|v| *v <= cap).chain([1.2])),
            None => Axis::decimal(values),
        };
        let x = if self.apart {
            Axis::binary(self.span.iter().copied())
        } else {
            Axis::binary(places(&panel.series))
        };
        [x, y]
    }
}

impl Stated {
    fn shown(&self) -> Shown<'_> {
        let quantity = QUANTITIES.iter().find(|q| q.field == self.y);
        let mut series: Vec<Series<'_>> = Vec::new();
        for line in &self.lines {
            let field = self.x.as_ref().filter(|_| !line.flat);
            let mut own = line.series(field.map(|(_, field)| field.as_str()));
            if let (true, Some((_, point))) = (line.flat, own.points.first()) {
                own.points = ends(&series).map(|x| (x, *point)).collect();
            }
            series.push(own);
        }
        Shown {
            stated: self,
            quantity: *quantity.expect("a quantity of a figure is one of those above"),
            series,
        }
    }
}

impl Line {
    /// Returns it over a field, or at one place. Of several points at one place it has the one
    /// with the most operations, and of those the fastest.
    fn series(&self, field: Option<&str>) -> Series<'_> {
        let place = |record: &Value| field.map_or(Some(0.0), |field| record[field].as_f64());
        let points = self.points.iter().filter_map(|r| Some((place(r)?, r)));
        let mut points: Vec<(f64, &Value)> = points.collect();
        points.sort_by(|(ax, a), (bx, b)| {
            let order = |field: &str| a[field].as_f64().partial_cmp(&b[field].as_f64());
            let more = order("operations").map_or(Ordering::Equal, Ordering::reverse);
            let by_time = order("ms").unwrap_or(Ordering::Equal);
            ax.total_cmp(bx).then(more).then(by_time)
        });
        points.dedup_by(|later, earlier| later.0.total_cmp(&earlier.0).is_eq());
        let variant = self.variant.as_ref().unwrap_or(&self.name);
        let look = match (self.slot, self.lock) {
            (Some(slot), _) => palette::line(slot),
            (_, Some(i)) => palette::locks(i),
            _ => (palette::variant(variant), palette::marker_of(variant)),
        };
        let name = &self.name;
        Series { name, look, points }
    }
}

fn places(all: &[Series<'_>]) -> impl Iterator<Item = f64> {
    all.iter().flat_map(|s| s.points.iter().map(|p| p.0))
}

/// Returns the lowest of them and the highest, if there is any.
fn ends(all: &[Series<'_>]) -> impl Iterator<Item = f64> {
    let ends = [places(all).reduce(f64::min), places(all).reduce(f64::max)];
    ends.into_iter().flatten()
}

/// Returns a place on the abscissa in words: `16 entry points`, `1 block`.
fn place(x: f64, name: &str) -> String {
    let one = x.total_cmp(&1.0).is_eq();
    let name = name.strip_suffix('s').filter(|_| one).unwrap_or(name);
    format!("{x} {name}")
}

impl Shown<'_> {
    /// Returns what its looks mean.
    fn keys(&self) -> Vec<Key> {
        if self.stated.phases {
            let key = |hue: Hue| Key {
                name: hue.name.into(),
                hue,
                marker: None,
            };
            return palette::PHASES.map(key).into();
        }
        let there = self.series.iter().filter(|line| !line.points.is_empty());
        let key = |line: &Series<'_>| Key {
            name: line.name.to_owned(),
            hue: line.look.0,
            marker: self.stated.x.as_ref().map(|_| line.look.1),
        };
        there.map(key).collect()
    }

    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let points = self.series.iter().flat_map(|s| &s.points);
        points.filter_map(|(_, point)| self.of(point))
    }

    fn of(&self, point: &Value) -> Option<f64> {
        point[self.quantity.field].as_f64()
    }

    fn is_there(&self) -> bool {
        let mut series = self.series.iter();
        let bars = self.stated.x.is_none() && series.any(|line| !line.points.is_empty());
        bars || self.values().next().is_some()
    }

    /// Says what is best and worst at an abscissa where more than one series has a point.
    fn clause(&self, x: f64, name: &str) -> Option<String> {
        let found = self.series.iter().filter_map(|s| {
            let point = s.points.iter().find(|(px, _)| px.total_cmp(&x).is_eq())?;
            Some((s.name, self.of(point.1)?))
        });
        let mut found: Vec<(&str, f64)> = found.collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        if !self.quantity.least {
            found.reverse();
        }
        let [(best, good), .., (worst, bad)] = found.as_slice() else {
            return None;
        };
        let ([first, last], place, n) = (self.quantity.ends, place(x, name), found.len());
        let ratio = (good / bad).max(bad / good);
        let [good, bad] = [good, bad].map(|end| self.quantity.show(*end));
        Some(if ratio <= 1.0 + LEVEL {
            format!("at {place} all {n} are within 5 %, {good} to {bad}")
        } else {
            format!("at {place} {first} is that of {best}, {good}, {last} that of {worst}, {bad}")
        })
    }

    /// Says so of both ends of the abscissa.
    fn sentence(&self, name: &str) -> Option<String> {
        let clauses = ends(&self.series).filter_map(|x| self.clause(x, name));
        let mut clauses: Vec<String> = clauses.collect();
        clauses.dedup();
        (!clauses.is_empty()).then(|| format!("{}: {}.", self.stated.title, clauses.join("; ")))
    }

    fn lines(&self, name: &str, [x, y]: &[Axis; 2]) -> Panel {
        let line = |s: &Series<'_>| {
            let points = s.points.iter().filter_map(|(x, point)| {
                let y = self.of(point)?;
                let computed = || {
                    let value = self.quantity.show(y);
                    format!("{}, {}: {value}", s.name, place(*x, name))
                };
                let tooltip = point.get("tooltip").map(|own| own.as_str().unwrap_or(""));
                Some(((*x, y), tooltip.map_or_else(computed, str::to_owned)))
            });
            chart::Line {
                look: s.look,
                points: points.collect(),
            }
        };
        let lines: Vec<chart::Line> = self.series.iter().map(line).collect();
        let is_above = |value: &f64| self.stated.cap.is_some_and(|cap| *value > cap);
        let above = match self.values().filter(is_above).count() as u64 {
            0 => String::new(),
            1 => "; 1 point is above".into(),
            n => format!("; {} are above", of(n, "point")),
        };
        let said = self.stated.said.clone();
        let scale = said.as_ref().map(|_| format!(" ({})", x.scale()));
        let about = said.or_else(|| self.sentence(name));
        let texts = Texts {
            title: &self.stated.title,
            below: &format!("{} ({}{above})", self.quantity.name, y.scale()),
            x: &(name.to_owned() + &scale.unwrap_or_default()),
            about: about.as_deref().unwrap_or(NOTHING),
        };
        chart::lines(&texts, x, y, &lines)
    }
}
