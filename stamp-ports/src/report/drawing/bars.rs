//! Panels of bars: each a point at one place, or the phases of a thread's time.

use super::{Series, Shown};
use crate::numbers::{percent, time, times};
use crate::report::axis::Axis;
use crate::report::chart::{self, Bar, Panel, Stack, Texts};
use crate::report::jq::shown;
use crate::report::palette::{self, Hue};
use crate::report::stated;
use serde::Deserialize;
use serde_json::Value;
use std::cmp::Ordering;
use std::sync::LazyLock;

/// What excludes nothing: it is said apart from the locks.
const OPEN: [&str; 3] = ["none", "added", "lock-free"];

/// From this ratio of times on the axis is logarithmic, and from this speed-up on that of all
/// such panels: below, a linear one shows more.
const WIDE: f64 = 10.0;

fn point<'b>(bar: &Series<'b>) -> Option<&'b Value> {
    bar.points.first().map(|(_, point)| *point)
}

impl Shown<'_> {
    /// Returns a bar's value, and the lowest and the highest measured.
    fn ends(&self, bar: &Series<'_>) -> Option<[f64; 3]> {
        let point = point(bar)?;
        let field = self.quantity.field;
        let [low, high] = ["min", "max"].map(|end| point[format!("{field}_{end}")].as_f64());
        Some([point[field].as_f64()?, low?, high?])
    }

    fn all_ends(&self) -> Vec<f64> {
        let ends = self.series.iter().filter_map(|bar| self.ends(bar));
        ends.flatten().collect()
    }

    fn is_large(&self) -> bool {
        self.all_ends().iter().any(|value| *value >= WIDE)
    }

    /// Returns the axis and where bars begin.
    fn axis(&self, all: &[Shown<'_>]) -> (Axis, f64) {
        let ends = self.all_ends();
        if self.stated.shared && self.is_large() {
            let large = all.iter().filter(|shown| shown.is_large());
            let ends = large.flat_map(Shown::all_ends);
            return (Axis::decimal(ends.chain([0.5])), 1.0);
        }
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(0.0, f64::max);
        if self.stated.shared {
            (Axis::linear(ends.into_iter().chain([1.0])), 0.0)
        } else if high >= WIDE * low {
            // Bars begin at the power of ten below the shortest.
            let below = 10f64.powf(low.log10().floor());
            (Axis::decimal([below, high]), below)
        } else {
            (Axis::linear([high]), 0.0)
        }
    }

    /// Draws bars, and says what they show.
    pub(super) fn bars(&self, all: &[Shown<'_>]) -> Panel {
        let beside = &*self.stated.beside;
        let value = |bar: &Series<'_>| self.ends(bar).map(|[value, ..]| value);
        let base = self.series.iter().find(|bar| bar.name == beside);
        let base = base.and_then(value);
        let bar = |bar: &Series<'_>| {
            let text = |field: &str| Some(point(bar)?[field].as_str()?.to_owned());
            let label = match &*self.stated.label {
                "" => value(bar).map(time),
                field => text(field),
            };
            let label = label.unwrap_or_else(|| "not measured".into());
            let ratio = value(bar).zip(base).map(|(value, base)| value / base);
            let ratio = ratio.filter(|_| bar.name != beside);
            let ratio = ratio.map(|ratio| format!(" ({} that of {beside})", times(ratio)));
            let computed = || format!("{}, {label}{}", bar.name, ratio.unwrap_or_default());
            Bar {
                name: bar.name.to_owned(),
                hue: bar.look.0,
                value: value(bar),
                range: self.ends(bar).map(|[_, low, high]| (low, high)),
                tooltip: text("tooltip").unwrap_or_else(computed),
                label,
            }
        };
        // Where there is no point, none was asked for.
        let there = self.series.iter().filter(|bar| point(bar).is_some());
        let bars: Vec<Bar> = there.map(bar).collect();
        let about = self.stated.said.clone();
        let (axis, zero) = self.axis(all);
        let texts = Texts {
            title: &self.stated.title,
            below: &self.stated.below,
            x: &format!("{} ({})", self.quantity.name, axis.scale()),
            about: &about.unwrap_or_else(|| self.sentence_of_bars(&bars)),
        };
        chart::bars(&texts, &axis, zero, &bars)
    }

    /// Says what takes the shortest time and what the longest, and what excludes nothing.
    fn sentence_of_bars(&self, bars: &[Bar]) -> String {
        let timed = |bar: &&Bar| bar.value.is_some();
        let open = |bar: &&Bar| OPEN.contains(&bar.name.as_str());
        let (open, mut locks): (Vec<&Bar>, Vec<&Bar>) = bars.iter().filter(timed).partition(open);
        locks.sort_by(|a, b| a.value.partial_cmp(&b.value).unwrap_or(Ordering::Equal));
        let mut clauses = Vec::new();
        if let Some((first, last)) = locks.first().zip(locks.last()) {
            let (first, last) = (&first.tooltip, &last.tooltip);
            clauses.push(format!(
                "the shortest time is that of {first}, the longest that of {last}"
            ));
        }
        let open = open.iter();
        clauses.extend(open.map(|bar| format!("without a lock {}", bar.tooltip)));
        format!("{}: {}.", self.stated.title, clauses.join("; "))
    }

    pub(super) fn stacks(&self) -> Panel {
        let stack = |bar: &Series<'_>| {
            let segment = |hue: Hue| {
                let share = point(bar).and_then(|point| point[hue.name].as_f64());
                let share = share.unwrap_or(0.0);
                let tooltip = format!("{}, {}: {}", bar.name, hue.name, percent(share));
                (hue, share, tooltip)
            };
            (bar.name.to_owned(), palette::PHASES.map(segment).into())
        };
        let stacks: Vec<Stack> = self.series.iter().map(stack).collect();
        let texts = Texts {
            title: &self.stated.title,
            below: &self.stated.below,
            x: "% of the time (linear)",
            about: self.stated.said.as_deref().unwrap_or_default(),
        };
        chart::stacks(&texts, &stacks)
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Quantity {
    pub(super) field: &'static str,
    /// Its name and unit, for the axis.
    pub(super) name: &'static str,
    form: &'static str,
    /// What stands behind a number.
    unit: &'static str,
    /// What the best is called, and the worst.
    pub(super) ends: [&'static str; 2],
    /// Whether the least is the best.
    pub(super) least: bool,
}

pub(super) static QUANTITIES: LazyLock<Vec<Quantity>> =
    LazyLock::new(|| stated(include_str!("quantities.json")));

impl Quantity {
    pub(super) fn show(&self, x: f64) -> String {
        shown(x, self.form) + self.unit
    }
}
