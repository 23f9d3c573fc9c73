//! Panels: one drawing of lines, of bars or of stacks, each 340 units wide so that its text stays legible on a
//! phone, where a figure is a column of them. A mark has a `title`, which browsers show under the pointer.

use super::axis::{Axis, tenths};
use super::palette::{GRID, Hue, INK, Look, MARKERS, MUTED, SURFACE};
use crate::external_prelude::*;
use maud::{Markup, html};

pub(crate) const WIDTH: f64 = 340.0;
/// Room for the titles above a plot, and for the ticks and the name of the abscissa below.
const TOP: f64 = 46.0;
const BOTTOM: f64 = 39.0;
/// The ends of a plot of lines, of one of bars and of one of stacks.
const OF_LINES: [f64; 2] = [46.0, WIDTH - 12.0];
const OF_BARS: [f64; 2] = [84.0, WIDTH - 62.0];
const OF_STACKS: [f64; 2] = [84.0, WIDTH - 12.0];
const FLOOR: f64 = TOP + 176.0;
/// The height of a row, and from the middle of a bar in it to the bar's edge.
const ROW: f64 = 24.0;
const HALF: f64 = 7.5;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Panel {
    title: String,
    /// The line below it: the ordinate's name, or what bars start from.
    below: String,
    /// The name of the abscissa; that of bars has their scale behind it.
    x: String,
    about: String,
    series: Vec<Series>,
    /// The abscissa and the ordinate of lines; the axis of bars, and where they begin if not at its end.
    #[serde(default)]
    axes: Vec<Axis>,
    base: Option<f64>,
}

/// A line, a bar, which is one point, or a phase with its segments of all bars.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Series {
    name: String,
    look: Look,
    points: Vec<Point>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Point {
    x: f64,
    /// What was measured, if it was, and of a bar the lowest and the highest. A segment is a share
    /// of the whole, from 0 to 1.
    y: Option<f64>,
    range: Option<[f64; 2]>,
    /// What stands behind a bar, or before a row of segments.
    label: String,
    tooltip: String,
}

/// A panel as it is drawn, with its title and a sentence about it for readers of the screen.
#[derive(Debug, Deserialize)]
#[serde(from = "Panel")]
pub(crate) struct Drawn {
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) height: f64,
    /// What is drawn: the inside of an `svg`.
    pub(crate) marks: Markup,
}

impl From<Panel> for Drawn {
    fn from(panel: Panel) -> Self {
        match panel.axes.as_slice() {
            [x, y] => lines(&panel, x, y),
            [axis] => bars(&panel, axis, panel.base.unwrap_or(axis.range[0])),
            _ => stacks(&panel),
        }
    }
}

/// Draws the titles of a panel, its marks, and below them the abscissa with a name.
fn drawn(panel: &Panel, x: (&Axis, [f64; 2], &str), floor: f64, marks: &Markup) -> Drawn {
    let (axis, ends, name) = x;
    let marks = html! {
        text x="2" y="16" font-size="13" font-weight="bold" fill=(INK.css()) { (panel.title) }
        g font-size="11" {
            g fill=(MUTED.css()) {
                text x="2" y="33" { (panel.below) }
                g text-anchor="middle" {
                    @for (x, number) in axis.ticks(ends) {
                        text x=(x) y=(floor + 15.0) { (number) }
                    }
                    text x=(f64::midpoint(ends[0], ends[1])) y=(floor + 31.5) { (name) }
                }
            }
            (marks)
        }
    };
    Drawn {
        title: panel.title.clone(),
        about: panel.about.clone(),
        height: floor + BOTTOM,
        marks,
    }
}

/// Draws lines from mark to mark, and all markers above all lines.
fn lines(panel: &Panel, x: &Axis, y: &Axis) -> Drawn {
    let [left, right] = OF_LINES;
    let place = |point: &Point| {
        let value = point.y.filter(|value| y.shows(*value))?;
        let at = x.shows(point.x).then(|| x.place(point.x, OF_LINES))?;
        Some((at, y.place(value, [FLOOR, TOP])))
    };
    let lines = panel.series.iter().map(|line| {
        let points = line.points.iter();
        let points = points.filter_map(|point| Some((place(point)?, &*point.tooltip)));
        (line.look.of(), points.collect::<Vec<_>>())
    });
    let lines: Vec<_> = lines.collect();
    let marks = html! {
        g fill=(MUTED.css()) text-anchor="end" {
            @for (y, number) in y.ticks([FLOOR, TOP]) {
                path stroke=(GRID.css()) d={ "M" (left) "," (y) "H" (right) } {}
                path stroke=(MUTED.css()) d={ "M" (left) "," (y) "h-4" } {}
                text x=(left - 8.0) y=(y + 4.0) { (number) }
            }
        }
        g stroke=(MUTED.css()) fill="none" {
            path d={ "M" (left) "," (TOP) "V" (FLOOR) "H" (right) } {}
            @for (x, _) in x.ticks(OF_LINES) { path d={ "M" (x) "," (FLOOR) "v4" } {} }
        }
        @for ((hue, _), points) in &lines {
            @let corners: Vec<_> = points.iter().map(|((x, y), _)| format!("{x},{y}")).collect();
            polyline fill="none" stroke=(hue.css()) stroke-width="2" stroke-dasharray=[hue.dash]
                points=(corners.join(" ")) {}
        }
        @for ((hue, shape), points) in &lines {
            @for (at, tooltip) in points { (marker(*shape, *hue, *at, tooltip)) }
        }
        @if lines.iter().all(|(_, points)| points.is_empty()) {
            text x=(f64::midpoint(left, right)) y=(f64::midpoint(TOP, FLOOR)) text-anchor="middle" font-size="12"
                fill=(MUTED.css()) { "not measured" }
        }
    };
    drawn(panel, (x, OF_LINES, &panel.x), FLOOR, &marks)
}

pub(crate) fn marker(shape: usize, hue: Hue, (x, y): (f64, f64), tooltip: &str) -> Markup {
    html! {
        path fill=(hue.css()) stroke=(SURFACE.css()) stroke-width="2" paint-order="stroke"
            transform={ "translate(" (x) " " (y) ")" } d=(MARKERS[shape]) {
            @if !tooltip.is_empty() { title { (tooltip) } }
        }
    }
}

/// Draws rows below each other, each with a name and what `draw` draws around its middle.
fn rows<'n>(
    panel: &Panel,
    x: (&Axis, [f64; 2], &str),
    names: impl Iterator<Item = &'n String>,
    draw: impl Fn(usize, f64) -> Markup,
) -> Drawn {
    let rows = (0..).map(|i| (i, TOP + (f64::from(i) + 0.5) * ROW));
    let rows: Vec<_> = rows.zip(names).collect();
    let (axis, ends @ [left, right], _) = x;
    let floor = TOP + ROW * rows.len() as f64;
    let marks = html! {
        g stroke=(GRID.css()) {
            @for (x, _) in axis.ticks(ends) { path d={ "M" (x) "," (TOP) "V" (floor) } {} }
            path d={ "M" (left) "," (floor) "H" (right) } {}
        }
        @for ((i, middle), name) in rows {
            text x=(left - 6.0) y=(middle + 4.0) text-anchor="end" fill=(INK.css()) { (name) }
            (draw(i as usize, middle))
        }
    };
    drawn(panel, x, floor, &marks)
}

/// Draws bars to both sides of `base`, a row each, with a dot at the end, as one may be too short to be seen.
fn bars(panel: &Panel, axis: &Axis, base: f64) -> Drawn {
    let place = |value| axis.place(value, OF_BARS);
    let zero = place(base);
    let bar = |i: usize, middle: f64| {
        let bar = &panel.series[i];
        let (point, (hue, _)) = (&bar.points[0], bar.look.of());
        let end = point.y.filter(|value| axis.shows(*value)).map(place);
        let shown = |range: &[f64; 2]| end.is_some() && range.iter().all(|end| axis.shows(*end));
        let ends = point.range.filter(shown).map(|range| range.map(place));
        let far = ends.map_or(zero, |ends| ends[1]);
        let far = end.unwrap_or(zero).max(zero).max(far);
        let (weight, ink) = [("normal", MUTED), ("bold", INK)][usize::from(end.is_some())];
        html! {
            g {
                title { (point.tooltip) }
                rect fill="none" pointer-events="all" x=(OF_BARS[0]) y=(middle - ROW / 2.0)
                    width=(WIDTH - OF_BARS[0]) height=(ROW) {}
                @if let Some(end) = end {
                    (rectangle([zero.min(end), zero.max(end)], middle, hue))
                    (marker(0, hue, (end, middle), ""))
                    // The lowest and the highest measured, where they are apart to be seen.
                    @if let Some([low, high]) = ends.filter(|[low, high]| high - low > 4.0) {
                        path stroke=(SURFACE.css()) stroke-width="3"
                            d={ "M" (low) "," (middle) "H" (high) } {}
                        path stroke=(INK.css()) stroke-width="1.25" fill="none"
                            d={ "M" (low) "," (middle) "H" (high) "m0-4v8M" (low) "," (middle) "m0-4v8" } {}
                    }
                }
                text x=(far + 7.0) y=(middle + 4.0) font-weight=(weight) fill=(ink.css()) {
                    (point.label)
                }
            }
        }
    };
    let x = format!("{} ({})", panel.x, axis.scale());
    let names = panel.series.iter().map(|bar| &bar.name);
    let mut drawn = rows(panel, (axis, OF_BARS, &x), names, bar);
    let line = html! {
        path stroke=(MUTED.css()) d={ "M" (zero) "," (TOP) "V" (drawn.height - BOTTOM) } {}
    };
    drawn.marks.0 += &line.0;
    drawn
}

fn rectangle([left, right]: [f64; 2], middle: f64, hue: Hue) -> Markup {
    html! {
        rect x=(left) y=(middle - HALF) width=(tenths(right - left)) height=(2.0 * HALF)
            fill=(hue.css()) {}
    }
}

/// Draws bars of segments that sum up to one, a row each: a series has a segment of each bar.
fn stacks(panel: &Panel) -> Drawn {
    let axis = Axis::percent();
    let stack = |i: usize, middle: f64| {
        let mut x = 0.0;
        let segments = panel.series.iter().map(|series| {
            let (point, (hue, _)) = (&series.points[i], series.look.of());
            let share = point.y.unwrap_or(0.0);
            let width = (share.clamp(0.0, 1.0) * 100.0).min(100.0 - x);
            // A gap keeps neighbours apart, where there is room.
            let end = x + (width - 0.4).max(width.min(0.2));
            let [left, right] = [x, end].map(|at| axis.place(at, OF_STACKS));
            x += width;
            html! {
                @if width > 0.0 {
                    g {
                        title { (point.tooltip) }
                        (rectangle([left, right], middle, hue))
                        @if width >= 7.5 {
                            text x=(tenths(f64::midpoint(left, right))) y=(middle + 4.0)
                                text-anchor="middle" fill=(SURFACE.css()) {
                                (format!("{:.0}", share * 100.0))
                            }
                        }
                    }
                }
            }
        });
        html! { @for segment in segments { (segment) } }
    };
    let bars = panel.series.first().into_iter();
    let bars = bars.flat_map(|series| &series.points);
    let names = bars.map(|point| &point.label);
    rows(panel, (&axis, OF_STACKS, &panel.x), names, stack)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A panel of series of `cgl` with these points.
    fn panel(values: &[&[Option<f64>]]) -> Panel {
        let point = |y: &Option<f64>| json!({"x": 1.0, "y": y, "tooltip": "tooltip"});
        let series = values.iter().map(|points| {
            let points: Vec<Value> = points.iter().map(point).collect();
            json!({"name": "s", "look": {"variant": "cgl"}, "points": points})
        });
        let panel = json!({
            "title": "RA", "below": "b", "x": "x", "about": "a",
            "series": series.collect::<Vec<_>>(),
        });
        serde_json::from_value(panel).unwrap()
    }

    /// The marks of one tag in the colour of `cgl`: attributes of them.
    fn marks<const N: usize>(drawn: &Drawn, tag: &str, names: [&str; N]) -> Vec<[String; N]> {
        let text = format!("<g>{}</g>", drawn.marks.0);
        let parsed = roxmltree::Document::parse(&text).unwrap();
        let colour = Look::Variant("cgl".into()).of().0.css();
        let is_of = |node: &roxmltree::Node<'_, '_>| {
            node.has_tag_name(tag) && node.attribute("fill") == Some(&colour)
        };
        let all = parsed.descendants().filter(is_of);
        all.map(|node| names.map(|name| node.attribute(name).unwrap().to_owned()))
            .collect()
    }

    /// Where rectangles begin and how wide they are.
    fn rectangles(drawn: &Drawn) -> Vec<[f64; 2]> {
        let all = marks(drawn, "rect", ["x", "width"]).into_iter();
        all.map(|texts| texts.map(|text| text.parse().unwrap()))
            .collect()
    }

    #[test]
    fn a_bar_starts_at_the_base_on_either_side_and_a_short_one_has_a_dot_that_can_be_seen() {
        let all = panel(&[&[Some(10.0)], &[Some(0.1)], &[None]]);
        let drawn = bars(&all, &Axis::decimal([0.1, 10.0]), 1.0);
        let [right, left] = rectangles(&drawn).try_into().unwrap();
        let apart = [left[0] + left[1] - right[0], left[1] - right[1]];
        assert!(apart.iter().all(|d| d.abs() < 0.2), "{left:?} {right:?}");
        let short = panel(&[&[Some(0.99)]]);
        let drawn = bars(&short, &Axis::decimal([0.5, 1e4]), 1.0);
        assert_eq!(marks(&drawn, "path", ["d"]), [[MARKERS[0]]]);
    }

    #[test]
    fn points_that_an_axis_cannot_show_are_left_out_and_none_is_said() {
        let axis = Axis::decimal([1.0, 10.0]);
        let drawn = |y| lines(&panel(&[&[Some(y)]]), &axis, &axis);
        let (empty, drawn) = (drawn(0.0).marks.0, drawn(2.0).marks.0);
        assert!(empty.contains("not measured") && !empty.contains("tooltip"));
        assert!(drawn.contains("<title>tooltip</title>") && !drawn.contains("not measured"));
    }

    #[test]
    fn segments_stay_in_their_bar_whatever_their_sum() {
        let rectangles = rectangles(&stacks(&panel(&[&[Some(0.8)][..]; 3])));
        assert_eq!(rectangles.len(), 2);
        let right = OF_STACKS[1];
        assert!(rectangles.iter().all(|[x, width]| x + width <= right));
    }
}
