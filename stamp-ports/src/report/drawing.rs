//! Figures as a page's program states them, and `drawing.jq` makes them ready: panels of lines over
//! an abscissa, of bars, or of the phases of a thread's time.

use super::axis::Axis;
use super::chart::{self, Bar, Line, Panel, Stack, Texts};
use super::figure::{Figure, Key};
use super::palette;
use serde::Deserialize;

/// From this ratio of times on the axis of bars is logarithmic, and from this speed-up on that of
/// all such panels: below, a linear one shows more.
const WIDE: f64 = 10.0;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Marks {
    Lines(Vec<Line>),
    Bars(Vec<Bar>),
    Stacks(Vec<Stack>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    title: String,
    /// The line below it.
    below: String,
    /// The name of the abscissa; that of bars has their scale behind it.
    x: String,
    /// What is said of it, and whether the figure says that too.
    about: String,
    told: bool,
    /// What its ordinate is, or its bars are.
    quantity: String,
    /// Whether large speed-ups share an axis that begins at 1.
    shared: bool,
    /// Whether an ordinate is that of all panels where the abscissa is.
    same_y: bool,
    /// The highest that a linear ordinate shows.
    cap: Option<f64>,
    marks: Marks,
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

impl Drawing {
    /// Draws those panels that have a point, with one axis for each quantity and one legend, and
    /// says which have none; nothing if none has one.
    pub(crate) fn drawn(&self, id: &str, title: &str) -> Option<Figure> {
        let all = self.panels.iter();
        let (shown, missing): (Vec<&Stated>, Vec<&Stated>) =
            all.partition(|panel| panel.is_there());
        let mut missing: Vec<&str> = missing.iter().map(|panel| panel.title.as_str()).collect();
        missing.dedup();
        let mut legend: Vec<Key> = Vec::new();
        for key in shown.iter().flat_map(|panel| panel.keys()) {
            if legend.iter().all(|known| known.name != key.name) {
                legend.push(key);
            }
        }
        let panels: Vec<Panel> = shown
            .iter()
            .map(|panel| self.panel(panel, &shown))
            .collect();
        let told = shown.iter().filter(|panel| panel.told);
        let mut about: Vec<String> = told.map(|panel| panel.about.clone()).collect();
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

    fn panel(&self, panel: &Stated, all: &[&Stated]) -> Panel {
        let texts = Texts {
            title: &panel.title,
            below: &panel.below,
            x: &panel.x,
            about: &panel.about,
        };
        match &panel.marks {
            Marks::Lines(lines) => {
                let [x, y] = self.axes(panel, lines, all);
                chart::lines(&texts, &x, &y, lines)
            }
            Marks::Bars(bars) => {
                let (axis, zero) = panel.axis(all);
                let x = &format!("{} ({})", panel.x, axis.scale());
                chart::bars(&Texts { x, ..texts }, &axis, zero, bars)
            }
            Marks::Stacks(stacks) => chart::stacks(&texts, stacks),
        }
    }

    fn axes(&self, panel: &Stated, lines: &[Line], all: &[&Stated]) -> [Axis; 2] {
        let alone = self.apart && !panel.same_y;
        let own = |other: &&&Stated| {
            let same = other.quantity == panel.quantity;
            same && (!alone || std::ptr::eq(**other, panel))
        };
        let values = all.iter().filter(own).flat_map(|panel| panel.values());
        let y = match panel.cap {
            Some(cap) => Axis::linear(values.filter(|v| *v <= cap).chain([1.2])),
            None => Axis::decimal(values),
        };
        let x = if self.apart {
            Axis::binary(self.span.iter().copied())
        } else {
            let points = lines.iter().flat_map(|line| &line.points);
            Axis::binary(points.map(|(x, ..)| *x))
        };
        [x, y]
    }
}

impl Stated {
    /// Returns what its looks mean.
    fn keys(&self) -> Vec<Key> {
        match &self.marks {
            Marks::Lines(lines) => {
                let there = lines.iter().filter(|line| !line.points.is_empty());
                let key = |line: &Line| {
                    let (hue, marker) = line.look.of();
                    Key::new(&line.name, hue, Some(marker))
                };
                there.map(key).collect()
            }
            Marks::Bars(bars) => {
                let key = |bar: &Bar| Key::new(&bar.name, bar.look.of().0, None);
                bars.iter().map(key).collect()
            }
            Marks::Stacks(_) => palette::PHASES
                .map(|hue| Key::new(hue.name, hue, None))
                .into(),
        }
    }

    /// Returns the ordinates of its lines, or what is measured of its bars.
    fn values(&self) -> Vec<f64> {
        match &self.marks {
            Marks::Lines(lines) => {
                let points = lines.iter().flat_map(|line| &line.points);
                points.filter_map(|(_, y, _)| *y).collect()
            }
            Marks::Bars(bars) => bars.iter().filter_map(|bar| bar.ends).flatten().collect(),
            Marks::Stacks(_) => Vec::new(),
        }
    }

    fn is_there(&self) -> bool {
        match &self.marks {
            Marks::Lines(_) => !self.values().is_empty(),
            Marks::Bars(bars) => !bars.is_empty(),
            Marks::Stacks(stacks) => !stacks.is_empty(),
        }
    }

    fn is_large(&self) -> bool {
        self.values().iter().any(|value| *value >= WIDE)
    }

    /// Returns the axis of bars and where they begin.
    fn axis(&self, all: &[&Self]) -> (Axis, f64) {
        let ends = self.values();
        if self.shared && self.is_large() {
            let large = all.iter().filter(|panel| panel.is_large());
            let ends = large.flat_map(|panel| panel.values());
            return (Axis::decimal(ends.chain([0.5])), 1.0);
        }
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(0.0, f64::max);
        if self.shared {
            (Axis::linear(ends.into_iter().chain([1.0])), 0.0)
        } else if high >= WIDE * low {
            // Bars begin at the power of ten below the shortest.
            let below = 10f64.powf(low.log10().floor());
            (Axis::decimal([below, high]), below)
        } else {
            (Axis::linear([high]), 0.0)
        }
    }
}
