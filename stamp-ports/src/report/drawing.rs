//! Figures as a page's program states them, and `drawing.jq` makes them ready: panels of lines over
//! an abscissa, of bars, or of the phases of a thread's time.

use super::axis::Axis;
use super::chart::{self, Drawn, Kind, Panel};
use super::figure::{Figure, Key};
use serde::Deserialize;

/// From this ratio of times on the axis of bars is logarithmic, and from this speed-up on that of
/// all such panels: below, a linear one shows more.
const WIDE: f64 = 10.0;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Drawing {
    /// Whether panels belong together two by two.
    pairs: bool,
    /// Whether every panel has an ordinate, and all the abscissa of these values, whose scale is
    /// named.
    apart: bool,
    span: Vec<f64>,
    panels: Vec<Panel>,
}

impl Drawing {
    /// Draws those panels that have a point, with one axis for each quantity and one legend, and
    /// says which have none; nothing if none has one.
    pub(crate) fn drawn(&self, id: &str, title: &str) -> Option<Figure> {
        let all = self.panels.iter();
        let (shown, missing): (Vec<&Panel>, Vec<&Panel>) = all.partition(|panel| is_there(panel));
        let mut missing: Vec<&str> = missing.iter().map(|panel| panel.title.as_str()).collect();
        missing.dedup();
        let mut legend: Vec<Key> = Vec::new();
        for panel in &shown {
            let there = panel.series.iter().filter(|one| !one.points.is_empty());
            for series in there {
                if legend.iter().all(|known| known.name != series.name) {
                    let (hue, marker) = series.look.of();
                    legend.push(Key {
                        name: series.name.clone(),
                        hue,
                        marker: (panel.kind == Kind::Lines).then_some(marker),
                    });
                }
            }
        }
        let told = shown.iter().filter(|panel| panel.told);
        let mut about: Vec<String> = told.map(|panel| panel.about.clone()).collect();
        if !missing.is_empty() {
            about.push(format!("Not measured: {}.", missing.join("; ")));
        }
        (!shown.is_empty()).then(|| Figure {
            id: id.to_owned(),
            title: title.to_owned(),
            about,
            legend,
            panels: shown.iter().map(|one| self.panel(one, &shown)).collect(),
            pairs: self.pairs,
        })
    }

    fn panel(&self, panel: &Panel, all: &[&Panel]) -> Drawn {
        match panel.kind {
            Kind::Lines => {
                let [x, y] = self.axes(panel, all);
                chart::lines(panel, &x, &y)
            }
            Kind::Bars => {
                let (axis, zero) = axis(panel, all);
                chart::bars(panel, &axis, zero)
            }
            Kind::Stacks => chart::stacks(panel),
        }
    }

    /// Returns the axes of lines.
    fn axes(&self, panel: &Panel, all: &[&Panel]) -> [Axis; 2] {
        let alone = self.apart && !panel.same_y;
        let own = |other: &&&Panel| {
            let same = other.quantity == panel.quantity;
            same && (!alone || std::ptr::eq(**other, panel))
        };
        let values = all.iter().filter(own).flat_map(|panel| values(panel));
        let y = match panel.cap {
            Some(cap) => Axis::linear(values.filter(|v| *v <= cap).chain([1.2])),
            None => Axis::decimal(values),
        };
        let x = if self.apart {
            Axis::binary(self.span.iter().copied())
        } else {
            let points = panel.series.iter().flat_map(|line| &line.points);
            Axis::binary(points.map(|point| point.x))
        };
        [x, y]
    }
}

/// Returns the ordinates of lines, or what is measured of bars.
fn values(panel: &Panel) -> impl Iterator<Item = f64> {
    let points = panel.series.iter().flat_map(|series| &series.points);
    points.flat_map(|point| point.y.into_iter().chain(point.range.into_iter().flatten()))
}

/// Returns whether it has any point: of lines, one that was measured.
fn is_there(panel: &Panel) -> bool {
    let mut points = panel.series.iter().flat_map(|series| &series.points);
    points.any(|point| point.y.is_some() || panel.kind != Kind::Lines)
}

fn is_large(panel: &Panel) -> bool {
    values(panel).any(|value| value >= WIDE)
}

/// Returns the axis of bars and where they begin.
fn axis(panel: &Panel, all: &[&Panel]) -> (Axis, f64) {
    if panel.shared && is_large(panel) {
        let large = all.iter().filter(|panel| is_large(panel));
        let ends = large.flat_map(|panel| values(panel));
        return (Axis::decimal(ends.chain([0.5])), 1.0);
    }
    let low = values(panel).fold(f64::INFINITY, f64::min);
    let high = values(panel).fold(0.0, f64::max);
    if panel.shared {
        (Axis::linear([high, 1.0]), 0.0)
    } else if high >= WIDE * low {
        // Bars begin at the power of ten below the shortest.
        let below = 10f64.powf(low.log10().floor());
        (Axis::decimal([below, high]), below)
    } else {
        (Axis::linear([high]), 0.0)
    }
}
