//! Panels: one drawing of lines, of bars or of stacks, each 340 units wide so
//! that its text stays legible on a phone, where a figure is a column of them.
//!
//! `plotters` draws them. Two things are added to what it writes: an invisible
//! mark with a `title` over each mark, which browsers show under the pointer,
//! and, in [`figure`](super::figure), the texts that are read aloud.

use super::axis::Axis;
use super::palette::{self, GRID, Hue, INK, Look, MUTED, SURFACE, marker};
use maud::{Markup, PreEscaped, html};
use plotters::chart::{ChartBuilder, ChartContext, MeshStyle};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, EmptyElement, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontFamily, FontStyle, IntoFont, TextStyle};
use serde::Deserialize;

/// `plotters` places marks on whole units: so many make one of ours.
pub(crate) const FINE: i32 = 4;
pub(crate) const WIDTH: i32 = 340;
/// Room for the titles above a plot.
const TOP: i32 = 46;
/// Room for the ticks and the name of the abscissa.
const BOTTOM: i32 = 34;
/// Room for the letters that reach below their line.
const FOOT: i32 = 5;
/// Room for the ticks of the ordinate, and to the right of a plot of lines.
const SIDES: (i32, i32) = (46, 12);
const PLOT: i32 = 176;
/// The height of a row of bars, and of the bar in it.
const ROW: (i32, f64) = (24, 0.64);
const NAMES: i32 = 84;
const VALUES: i32 = 62;

#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// What it shows, for its heading and for readers of the screen.
    pub(crate) title: String,
    /// A sentence about it, for readers of the screen.
    pub(crate) about: String,
    pub(crate) height: i32,
    /// What is drawn: the inside of an `svg`.
    pub(crate) marks: Markup,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts<'a> {
    pub(crate) title: &'a str,
    /// A line below the heading: the ordinate's name, or what bars start from.
    pub(crate) below: &'a str,
    pub(crate) x: &'a str,
    pub(crate) about: &'a str,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) look: Look,
    /// Abscissa, and ordinate if it was measured, and what to say under the pointer.
    pub(crate) points: Vec<(f64, Option<f64>, String)>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) look: Look,
    /// Its length, and the lowest and the highest measured, if it was.
    pub(crate) ends: Option<[f64; 3]>,
    pub(crate) label: String,
    pub(crate) tooltip: String,
}

/// A bar of several segments: its name, and of each segment the phase, the share of the whole from
/// 0 to 1, and what to say under the pointer.
pub(crate) type Stack = (String, Vec<(String, f64, String)>);

type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;
type Chart<'a, 's> = ChartContext<'a, SVGBackend<'s>, Cartesian2d<Axis, Axis>>;
type Mesh<'a, 'b, 's> = MeshStyle<'a, 'b, Axis, Axis, SVGBackend<'s>>;

/// A drawing into a `String` has nothing that can fail.
const DRAWN: &str = "a String takes every mark";

/// A style of text: size, colour, the point's place in it.
fn style(size: f64, hue: Hue, at: HPos) -> TextStyle<'static> {
    written(size, hue, FontStyle::Normal, at)
}

fn bold(size: f64, at: HPos) -> TextStyle<'static> {
    written(size, INK, FontStyle::Bold, at)
}

fn written(size: f64, hue: Hue, font: FontStyle, at: HPos) -> TextStyle<'static> {
    // plotters takes a line's height and writes the letters'.
    let size = size * f64::from(FINE) * 1.24;
    let font = (FontFamily::SansSerif, size, font).into_font();
    font.color(&hue.rgb()).pos(Pos::new(at, VPos::Center))
}

/// What plotters says of every mark.
const OPAQUE: &str = " opacity=\"1\"";
/// What plotters says of every text.
const LETTERS: &str = " font-family=\"sans-serif\"";

/// A panel of some height, drawn by `draw`, which returns the invisible marks.
fn panel(texts: &Texts<'_>, height: i32, draw: impl FnOnce(&Area<'_>) -> String) -> Panel {
    let mut svg = String::new();
    let size = ((WIDTH * FINE) as u32, (height * FINE) as u32);
    let hits = {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        for (text, y, style) in [
            (texts.title, 11, bold(13.0, HPos::Left)),
            (texts.below, 29, style(11.0, MUTED, HPos::Left)),
        ] {
            let text = Text::new(text, (2 * FINE, y * FINE), style);
            area.draw(&text).expect(DRAWN);
        }
        let hits = draw(&area);
        area.present().expect(DRAWN);
        hits
    };
    // The figure has the outer element, with the texts read aloud in it.
    let (_, inside) = svg.split_once('>').unwrap_or_default();
    let (inside, _) = inside.rsplit_once("</svg>").unwrap_or_default();
    Panel {
        title: texts.title.to_owned(),
        about: texts.about.to_owned(),
        height,
        // Nothing is translucent, and the style sheet has the letters; saying so of each mark takes
        // an eighth of the page.
        marks: PreEscaped(inside.trim().replace(OPAQUE, "").replace(LETTERS, "") + &hits),
    }
}

/// An invisible mark that tells about the visible one below it.
fn hit(hits: &mut String, tooltip: &str, [left, top, right, bottom]: [i32; 4]) {
    if tooltip.is_empty() {
        return;
    }
    let (width, height) = ((right - left).max(1), (bottom - top).max(1));
    let mark = html! {
        rect fill="none" pointer-events="all" x=(left) y=(top) width=(width) height=(height) {
            title { (tooltip) }
        }
    };
    *hits += &mark.0;
}

/// A chart over two axes, without them, and with so much room on both sides.
fn framed<'a, 's>(
    area: &'a Area<'s>,
    (x, y): (&Axis, &Axis),
    (left, right): (i32, i32),
) -> Chart<'a, 's> {
    ChartBuilder::on(area)
        .margin_top(TOP * FINE)
        .margin_bottom(FOOT * FINE)
        .margin_right(right * FINE)
        .x_label_area_size(BOTTOM * FINE)
        .y_label_area_size(left * FINE)
        .build_cartesian_2d(x.clone(), y.clone())
        .expect(DRAWN)
}

/// Draws axes in a colour, with ticks of a size, and the lines of the grid.
fn of_axes(mesh: &mut Mesh<'_, '_, '_>, texts: &Texts<'_>, (hue, tick): (Hue, i32)) {
    mesh.light_line_style(GRID.rgb().mix(0.0))
        .bold_line_style(GRID.rgb().stroke_width(4))
        .axis_style(hue.rgb().stroke_width(4))
        .x_desc(texts.x)
        .axis_desc_style(style(11.0, MUTED, HPos::Center))
        .label_style(style(11.0, MUTED, HPos::Center))
        .set_all_tick_mark_size(tick)
        .draw()
        .expect(DRAWN);
}

pub(crate) fn lines(texts: &Texts<'_>, x: &Axis, y: &Axis, lines: &[Line]) -> Panel {
    panel(texts, TOP + PLOT + BOTTOM + FOOT, |area| {
        let mut chart = framed(area, (x, y), SIDES);
        let mut mesh = chart.configure_mesh();
        of_axes(mesh.disable_x_mesh(), texts, (MUTED, 4 * FINE));
        let mut hits = String::new();
        let lines = lines.iter().map(|line| {
            let points = line.points.iter();
            let points = points.filter_map(|(x, y, tooltip)| Some(((*x, (*y)?), tooltip)));
            let points = points.filter(|((at, value), _)| x.shows(*at) && y.shows(*value));
            (line.look.of(), points.collect::<Vec<_>>())
        });
        let lines: Vec<_> = lines.collect();
        for ((hue, _), points) in &lines {
            let points: Vec<(f64, f64)> = points.iter().map(|(at, _)| *at).collect();
            let path = PathElement::new(points, hue.rgb().stroke_width(8));
            chart.draw_series([path]).expect(DRAWN);
        }
        // All markers above all lines.
        for ((hue, shape), points) in &lines {
            for (at, tooltip) in points {
                mark(&mut chart, *at, *shape, *hue);
                let ((x, y), r) = (chart.backend_coord(at), 5 * FINE);
                hit(&mut hits, tooltip, [x - r, y - r, x + r, y + r]);
            }
        }
        if hits.is_empty() {
            let middle = [(SIDES.0 + WIDTH - SIDES.1) / 2, TOP + PLOT / 2].map(|at| at * FINE);
            let text = style(12.0, MUTED, HPos::Center);
            let text = Text::new("not measured", middle.into(), text);
            area.draw(&text).expect(DRAWN);
        }
        hits
    })
}

/// A marker with a rim of the background's colour.
fn mark(chart: &mut Chart<'_, '_>, at: (f64, f64), shape: usize, hue: Hue) {
    if shape == 0 {
        let dot = |radius, hue: Hue| Circle::new(at, radius, hue.rgb().filled());
        let dots = [dot(18, SURFACE), dot(14, hue)];
        chart.draw_series(dots).expect(DRAWN);
        return;
    }
    let corners = marker(shape);
    let rim = corners.iter().map(|(x, y)| (x * 13 / 10, y * 13 / 10));
    let rim = Polygon::new(rim.collect::<Vec<_>>(), SURFACE.rgb().filled());
    let mark = EmptyElement::at(at) + rim + Polygon::new(corners, hue.rgb().filled());
    chart.draw_series([mark]).expect(DRAWN);
}

/// A panel of rows below each other. `draw` draws a row between two ordinates, the upper one first,
/// and adds its invisible marks.
fn rows(
    (texts, x, right): (&Texts<'_>, &Axis, i32),
    names: &[&str],
    mut draw: impl FnMut(&mut Chart<'_, '_>, &mut String, usize, [f64; 2]),
) -> Panel {
    let n = names.len();
    panel(texts, TOP + ROW.0 * n as i32 + BOTTOM + FOOT, |area| {
        let mut chart = framed(area, (x, &Axis::rows(n)), (NAMES, right));
        let mut mesh = chart.configure_mesh();
        of_axes(mesh.disable_y_mesh().disable_y_axis(), texts, (GRID, 0));
        for (i, name) in names.iter().enumerate() {
            let y = TOP * FINE + ROW.0 * FINE * i as i32 + ROW.0 * FINE / 2;
            let at = ((NAMES - 6) * FINE, y);
            let text = Text::new(*name, at, style(11.0, INK, HPos::Right));
            area.draw(&text).expect(DRAWN);
        }
        let mut hits = String::new();
        for i in 0..n {
            let middle = (n - i) as f64 - 0.5;
            draw(
                &mut chart,
                &mut hits,
                i,
                [middle + ROW.1 / 2.0, middle - ROW.1 / 2.0],
            );
        }
        hits
    })
}

/// Bars to the right and to the left of `base`, a row each. A dot at the end
/// shows also the bar that is too short to be seen.
pub(crate) fn bars(texts: &Texts<'_>, axis: &Axis, base: f64, bars: &[Bar]) -> Panel {
    let names: Vec<&str> = bars.iter().map(|bar| bar.name.as_str()).collect();
    rows(
        (texts, axis, VALUES),
        &names,
        |chart, hits, i, [top, bottom]| {
            let bar = &bars[i];
            let (hue, _) = bar.look.of();
            let middle = f64::midpoint(top, bottom);
            let value = bar.ends.map(|[value, ..]| value);
            let value = value.filter(|value| axis.shows(*value));
            let end = value.unwrap_or(base);
            let drawn = Rectangle::new([(base, top), (end, bottom)], hue.rgb().filled());
            chart.draw_series([drawn]).expect(DRAWN);
            let mut far = end.max(base);
            if value.is_some() {
                mark(chart, (end, middle), 0, hue);
                let shown = |[_, low, high]: &[f64; 3]| axis.shows(*low) && axis.shows(*high);
                if let Some([_, low, high]) = bar.ends.filter(shown) {
                    whisker(chart, (low, high), middle);
                    far = far.max(high);
                }
            }
            let text = match value {
                Some(_) => bold(11.0, HPos::Left),
                None => style(11.0, MUTED, HPos::Left),
            };
            let text = Text::new(bar.label.clone(), (7 * FINE, 0), text);
            let text = EmptyElement::at((far, middle)) + text;
            chart.draw_series([text]).expect(DRAWN);
            let (_, y) = chart.backend_coord(&(base, middle));
            let half = ROW.0 * FINE / 2;
            hit(
                hits,
                &bar.tooltip,
                [NAMES * FINE, y - half, WIDTH * FINE, y + half],
            );
            // Above the last bar, and so above all.
            if i + 1 == bars.len() {
                let zero = vec![(base, 0.0), (base, bars.len() as f64)];
                let zero = PathElement::new(zero, MUTED.rgb().stroke_width(4));
                chart.draw_series([zero]).expect(DRAWN);
            }
        },
    )
}

/// The lowest and the highest measured, where they are apart to be seen.
fn whisker(chart: &mut Chart<'_, '_>, (low, high): (f64, f64), y: f64) {
    let place = |v| chart.backend_coord(&(v, y)).0;
    if place(high) - place(low) <= 4 * FINE {
        return;
    }
    let wide = SURFACE.rgb().stroke_width(12);
    let thin = INK.rgb().stroke_width(5);
    let line = |from, to, style| PathElement::new(vec![from, to], style);
    let end = |v: f64| line((v, y - 0.18), (v, y + 0.18), thin);
    let across = |style| line((low, y), (high, y), style);
    let lines = [across(wide), across(thin), end(low), end(high)];
    chart.draw_series(lines).expect(DRAWN);
}

/// Bars of segments that sum up to one, a row each. A segment wide enough
/// has its share written in it.
pub(crate) fn stacks(texts: &Texts<'_>, stacks: &[Stack]) -> Panel {
    let names: Vec<&str> = stacks.iter().map(|(name, _)| name.as_str()).collect();
    let place = (texts, &Axis::percent(), SIDES.1);
    rows(place, &names, |chart, hits, i, [top, bottom]| {
        let mut x = 0.0;
        for (phase, share, tooltip) in &stacks[i].1 {
            let width = (share.clamp(0.0, 1.0) * 100.0).min(100.0 - x);
            if width <= 0.0 {
                continue;
            }
            // A gap keeps neighbours apart, where there is room.
            let end = x + (width - 0.4).max(width.min(0.2));
            let hue = palette::phase(phase);
            let drawn = Rectangle::new([(x, top), (end, bottom)], hue.rgb().filled());
            chart.draw_series([drawn]).expect(DRAWN);
            let corner = |v, y| chart.backend_coord(&(v, y));
            let ((left, high), (right, low)) = (corner(x, top), corner(x + width, bottom));
            hit(hits, tooltip, [left, high, right, low]);
            if width >= 7.5 {
                let at = (x + width / 2.0, f64::midpoint(top, bottom));
                let text = format!("{:.0}", share * 100.0);
                let text = Text::new(text, (0, 0), style(11.0, SURFACE, HPos::Center));
                chart
                    .draw_series([EmptyElement::at(at) + text])
                    .expect(DRAWN);
            }
            x += width;
        }
    })
}

#[cfg(test)]
mod tests;
