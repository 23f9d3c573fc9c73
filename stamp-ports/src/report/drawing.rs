//! Figures as a page's JSON states them, drawn from the records of a document: panels of lines
//! over one field, or of bars at one place, and a sentence about both ends of each.

use super::axis::Axis;
use super::chart::{self, Line, Panel, Texts};
use super::claim::LEVEL;
use super::figure::{Figure, Key};
use super::formula::{Each, Sets, Variables, filled};
use super::palette::{self, Hue};
use super::records::{Record, Sentence};
use crate::numbers::of;
use serde::Deserialize;
use std::cmp::Ordering;

mod bars;

use bars::{QUANTITIES, Quantity};

/// Lines of a panel, or the bars of one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Lines {
    /// Variables; there is a line for each choice of their values.
    each: Vec<Each>,
    /// Values of the variable `$k`.
    kinds: Vec<&'static str>,
    name: &'static str,
    /// The conditions of its points beside those of the panel.
    those: Vec<&'static str>,
    /// The slots of the lines' looks; without, these are those of the variants `$k`.
    slots: Vec<usize>,
    /// Whether they are those of numbers of locks.
    locks: bool,
    /// Whether it is a single point that stands for all of the abscissa.
    flat: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Stated {
    /// Variables; there is a panel for each choice of their values.
    each: Vec<Each>,
    title: &'static str,
    /// The template of the line below it, if it is one of bars.
    below: &'static str,
    /// The abscissa's name and field; a panel without is one of bars.
    x: Option<(&'static str, &'static str)>,
    /// The ordinate's field.
    y: &'static str,
    of: &'static str,
    those: Vec<&'static str>,
    lines: Vec<Lines>,
    /// The bar that others are compared with.
    beside: &'static str,
    /// The template of what stands at a bar's end.
    label: &'static str,
    /// Whether large speed-ups share an axis that begins at 1.
    shared: bool,
    /// Whether a bar is of the phases of a thread's time.
    phases: bool,
    /// What to say of a point under the pointer.
    tooltip: &'static str,
    /// What is said of it, where that is not computed.
    said: Option<Sentence>,
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
    /// Whether every panel has an ordinate, and all the abscissa of the whole set, whose scale is
    /// named.
    apart: bool,
    /// Variables of panels that stand side by side.
    #[serde(borrow)]
    each: Vec<(&'static str, &'static str)>,
    panels: Vec<Stated>,
}

#[derive(Debug)]
struct Series<'b> {
    name: String,
    look: (Hue, usize),
    points: Vec<(f64, &'b Record)>,
}

struct Shown<'b> {
    stated: &'b Stated,
    variables: Variables,
    title: String,
    quantity: Quantity,
    series: Vec<Series<'b>>,
}

/// What is said of a panel of which there is nothing to say.
const NOTHING: &str = "Not measured.";

impl Drawing {
    /// Draws those panels that have a point, with one axis for each quantity and one legend, and
    /// says which have none; nothing if none has one.
    pub(crate) fn drawn(&self, sets: &Sets, id: &'static str, title: &str) -> Option<Figure> {
        let groups = sets.choices(&self.each, &Variables::new());
        let all = groups.iter().flat_map(|group| {
            let panels = self.panels.iter();
            panels.flat_map(|panel| panel.shown(sets, group))
        });
        let (shown, missing): (Vec<Shown<'_>>, Vec<Shown<'_>>) = all.partition(Shown::is_there);
        let mut missing: Vec<String> = missing.into_iter().map(|shown| shown.title).collect();
        missing.dedup();
        let mut legend: Vec<Key> = Vec::new();
        for key in shown.iter().flat_map(Shown::keys) {
            if legend.iter().all(|known| known.name != key.name) {
                legend.push(key);
            }
        }
        let panels = shown.iter().map(|s| match s.stated.x {
            Some(x) => s.lines(sets, x, &self.axes(sets, s, &shown, x)),
            None if s.stated.phases => s.stacks(sets),
            None => s.bars(sets, &shown),
        });
        let panels: Vec<Panel> = panels.collect();
        let computed = shown.iter().zip(&panels);
        let computed = computed.filter(|(s, p)| s.stated.said.is_none() && p.about != NOTHING);
        let mut about: Vec<String> = computed.map(|(_, panel)| panel.about.clone()).collect();
        if !missing.is_empty() {
            about.push(format!("Not measured: {}.", missing.join("; ")));
        }
        (!panels.is_empty()).then(|| Figure {
            id,
            title: title.to_owned(),
            about,
            legend,
            panels,
            pairs: self.pairs,
        })
    }

    fn axes(
        &self,
        sets: &Sets,
        panel: &Shown<'_>,
        all: &[Shown<'_>],
        (_, field): (&str, &str),
    ) -> [Axis; 2] {
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
            let all = sets.of(panel.stated.of, &[]).into_iter();
            Axis::binary(all.filter_map(|record| record[field].as_f64()))
        } else {
            Axis::binary(places(&panel.series))
        };
        [x, y]
    }
}

impl Stated {
    fn shown<'b>(&'b self, sets: &'b Sets, group: &Variables) -> Vec<Shown<'b>> {
        let quantity = QUANTITIES.iter().find(|q| q.field == self.y);
        let quantity = *quantity.expect("a quantity of a figure is one of those above");
        let all = sets.choices(&self.each, group);
        let panel = |variables: Variables| {
            let title = sets.filled(self.title, None, &variables);
            Shown {
                stated: self,
                title: title.unwrap_or_default(),
                quantity,
                series: self.series(sets, &variables),
                variables,
            }
        };
        all.into_iter().map(panel).collect()
    }

    fn series<'b>(&'b self, sets: &'b Sets, panel: &Variables) -> Vec<Series<'b>> {
        let mut all: Vec<Series<'b>> = Vec::new();
        for lines in &self.lines {
            let of_kind = |kind: &&str| [&panel[..], &[("k".into(), (*kind).into())]].concat();
            let mut starts: Vec<Variables> = lines.kinds.iter().map(of_kind).collect();
            if starts.is_empty() {
                starts.push(panel.clone());
            }
            let of = |start| sets.choices(&lines.each, start);
            for (i, variables) in starts.iter().flat_map(of).enumerate() {
                let mut line = self.line(sets, lines, (i, &variables));
                if let (true, Some((_, point))) = (lines.flat, line.points.first()) {
                    line.points = ends(&all).map(|x| (x, *point)).collect();
                }
                all.push(line);
            }
        }
        all
    }

    /// Returns a line. Of several points at one place it has the one with the most operations,
    /// and of those the fastest.
    fn line<'b>(
        &'b self,
        sets: &'b Sets,
        lines: &Lines,
        (i, variables): (usize, &Variables),
    ) -> Series<'b> {
        let conditions = self.those.iter().chain(&lines.those);
        let conditions: Vec<_> = conditions.map(|c| filled(c, variables)).collect();
        let conditions: Vec<&str> = conditions.iter().map(|c| &**c).collect();
        let own = sets.of(self.of, &conditions).into_iter();
        let place = |record: &Record| match self.x.filter(|_| !lines.flat) {
            Some((_, field)) => record[field].as_f64(),
            None => Some(0.0),
        };
        let mut points: Vec<(f64, &Record)> = own.filter_map(|r| Some((place(r)?, r))).collect();
        points.sort_by(|(ax, a), (bx, b)| {
            let order = |field: &str| a[field].as_f64().partial_cmp(&b[field].as_f64());
            let more = order("operations").map_or(Ordering::Equal, Ordering::reverse);
            let by_time = order("ms").unwrap_or(Ordering::Equal);
            ax.total_cmp(bx).then(more).then(by_time)
        });
        points.dedup_by(|later, earlier| later.0.total_cmp(&earlier.0).is_eq());
        let kind = variables.iter().rev().find(|(name, _)| name == "k");
        let kind = kind.map_or("", |(_, kind)| kind.as_str());
        let look = match lines.slots.get(i) {
            Some(slot) => palette::line(*slot),
            None if lines.locks => palette::locks(i),
            None => (palette::variant(kind), palette::marker_of(kind)),
        };
        let name = match lines.name {
            "" => Some(kind.to_owned()),
            name => sets.filled(name, None, variables),
        };
        let name = name.unwrap_or_default();
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
            name: line.name.clone(),
            hue: line.look.0,
            marker: self.stated.x.map(|_| line.look.1),
        };
        there.map(key).collect()
    }

    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let points = self.series.iter().flat_map(|s| &s.points);
        points.filter_map(|(_, point)| self.of(point))
    }

    fn of(&self, point: &Record) -> Option<f64> {
        point[self.quantity.field].as_f64()
    }

    fn is_there(&self) -> bool {
        let mut series = self.series.iter();
        let bars = self.stated.x.is_none() && series.any(|line| !line.points.is_empty());
        bars || self.values().next().is_some()
    }

    /// Returns what is said of it, if that is not computed.
    fn said(&self, sets: &Sets) -> Option<String> {
        let said = self.stated.said.as_ref()?;
        Some(said.said(sets, &self.variables).join(" "))
    }

    /// Says what is best and worst at an abscissa where more than one series has a point.
    fn clause(&self, x: f64, name: &str) -> Option<String> {
        let at = |s: &Series<'_>| {
            let point = s.points.iter().find(|(px, _)| px.total_cmp(&x).is_eq())?;
            Some((s.name.clone(), self.of(point.1)?))
        };
        let mut found: Vec<(String, f64)> = self.series.iter().filter_map(at).collect();
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
        (!clauses.is_empty()).then(|| format!("{}: {}.", self.title, clauses.join("; ")))
    }

    fn lines(&self, sets: &Sets, (name, _): (&str, &str), [x, y]: &[Axis; 2]) -> Panel {
        let line = |s: &Series<'_>| {
            let points = s.points.iter().filter_map(|(x, point)| {
                let y = self.of(point)?;
                let tooltip = match self.stated.tooltip {
                    "" => {
                        let value = self.quantity.show(y);
                        Some(format!("{}, {}: {value}", s.name, place(*x, name)))
                    }
                    tooltip => sets.filled(tooltip, Some(point), &self.variables),
                };
                Some(((*x, y), tooltip.unwrap_or_default()))
            });
            Line {
                look: s.look,
                points: points.collect(),
            }
        };
        let lines: Vec<Line> = self.series.iter().map(line).collect();
        let is_above = |value: &f64| self.stated.cap.is_some_and(|cap| *value > cap);
        let above = match self.values().filter(is_above).count() as u64 {
            0 => String::new(),
            1 => "; 1 point is above".into(),
            n => format!("; {} are above", of(n, "point")),
        };
        let said = self.said(sets);
        let scale = said.as_ref().map(|_| format!(" ({})", x.scale()));
        let about = said.or_else(|| self.sentence(name));
        let texts = Texts {
            title: &self.title,
            below: &format!("{} ({}{above})", self.quantity.name, y.scale()),
            x: &(name.to_owned() + &scale.unwrap_or_default()),
            about: about.as_deref().unwrap_or(NOTHING),
        };
        chart::lines(&texts, x, y, &lines)
    }
}
