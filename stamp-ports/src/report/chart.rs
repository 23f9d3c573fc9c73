//! Panels: one drawing of lines, of bars or of stacks, each 340 units wide so
//! that its text stays legible on a phone, where a figure is a column of them.
//!
//! Every mark has a `title`, which browsers show under the pointer.

use super::palette::{Hue, marker};
use super::scale::Axis;
use super::xml::Element;
use std::fmt::Write as _;

/// The width of a panel.
pub const WIDTH: f64 = 340.0;
/// Room for what stands to the left of a plot of lines, and to its right.
const SIDES: (f64, f64) = (46.0, 14.0);
/// Room for the titles above a plot.
const TOP: f64 = 46.0;
/// Room for the ticks and the name of the abscissa.
const BOTTOM: f64 = 38.0;
/// The height of a plot of lines.
const PLOT: f64 = 170.0;
/// The height of a row of bars, and of the bar in it.
const ROW: (f64, f64) = (23.0, 15.0);
/// Room for the names of bars.
const NAMES: f64 = 84.0;
/// Room for the values of bars.
const VALUES: f64 = 58.0;

/// A drawing.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it shows, for its heading and for readers of the screen.
    pub title: String,
    /// A sentence about it, for readers of the screen.
    pub about: String,
    /// Its height.
    pub height: f64,
    /// What is drawn.
    pub marks: Vec<Element>,
}

/// The texts of a panel.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// Its heading.
    pub title: &'a str,
    /// A line below the heading: the ordinate's name, or what bars start from.
    pub below: &'a str,
    /// The abscissa's name.
    pub x: &'a str,
    /// For readers of the screen.
    pub about: &'a str,
}

/// A line with its markers.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its look.
    pub hue: Hue,
    /// The shape of its markers.
    pub marker: usize,
    /// Abscissa, ordinate, what to say under the pointer.
    pub points: Vec<(f64, f64, String)>,
}

/// A bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: &'static str,
    /// Its length, if it was measured.
    pub value: Option<f64>,
    /// The lowest and the highest measured.
    pub range: Option<(f64, f64)>,
    /// What to write at its end.
    pub label: String,
    /// What to say under the pointer.
    pub told: String,
}

/// A bar of several segments.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Its name.
    pub name: String,
    /// Look, share of the whole from 0 to 1, what to say under the pointer.
    pub segments: Vec<(Hue, f64, String)>,
}

fn text(x: f64, y: f64, class: &str, words: impl Into<String>) -> Element {
    Element::new("text")
        .num("x", x)
        .num("y", y)
        .at("class", class)
        .text(words)
}

fn rule(class: &str, from: (f64, f64), to: (f64, f64)) -> Element {
    Element::new("line")
        .num("x1", from.0)
        .num("y1", from.1)
        .num("x2", to.0)
        .num("y2", to.1)
        .at("class", class)
}

fn told(mark: Element, words: &str) -> Element {
    if words.is_empty() {
        return mark;
    }
    mark.with(Element::new("title").text(words))
}

fn heading(texts: &Texts<'_>) -> Vec<Element> {
    vec![
        text(2.0, 15.0, "head", texts.title),
        text(2.0, 32.0, "muted small", texts.below),
    ]
}

/// In the place of a panel that there are no data for.
pub fn nothing(title: &str) -> Panel {
    let texts = Texts {
        title,
        below: "not measured",
        x: "",
        about: "not measured",
    };
    panel(&texts, TOP, heading(&texts))
}

/// Lines over two axes.
pub fn lines(texts: &Texts<'_>, x: &Axis, y: &Axis, lines: &[Line]) -> Panel {
    let (left, right) = (SIDES.0, WIDTH - SIDES.1);
    let (top, bottom) = (TOP, TOP + PLOT);
    let at_x = |v: f64| x.place(v).map(|p| left + p * (right - left));
    let at_y = |v: f64| y.place(v).map(|p| bottom - p * (bottom - top));
    let mut marks = heading(texts);
    for (value, label) in y.ticks(5) {
        if let Some(at) = at_y(value) {
            marks.push(rule("grid", (left, at), (right, at)));
            marks.push(text(left - 6.0, at + 4.0, "muted small end", label));
        }
    }
    for (value, label) in x.ticks(6) {
        if let Some(at) = at_x(value) {
            marks.push(rule("axis", (at, bottom), (at, bottom + 4.0)));
            marks.push(text(at, bottom + 17.0, "muted small mid", label));
        }
    }
    marks.push(rule("axis", (left, bottom), (right, bottom)));
    marks.push(text(
        f64::midpoint(left, right),
        bottom + 34.0,
        "muted small mid",
        texts.x,
    ));
    let mut empty = true;
    let mut points = Vec::new();
    for line in lines {
        let mut path = String::new();
        for (vx, vy, words) in &line.points {
            let (Some(px), Some(py)) = (at_x(*vx), at_y(*vy)) else {
                continue;
            };
            let letter = if path.is_empty() { 'M' } else { 'L' };
            // Writing to a String cannot fail.
            let _ = write!(path, "{letter}{px:.1} {py:.1}");
            let mark = marker(line.marker, px, py);
            let group = Element::new("g").at("class", line.hue.class).with(mark);
            points.push(told(group, words));
        }
        if !path.is_empty() {
            empty = false;
            let drawn = Element::new("path")
                .at("d", path)
                .at("class", format!("{} line", line.hue.class));
            marks.push(dashed(drawn, line.hue.dash));
        }
    }
    if empty {
        let middle = f64::midpoint(left, right);
        marks.push(text(middle, top + PLOT / 2.0, "muted mid", "not measured"));
    }
    marks.append(&mut points);
    panel(texts, bottom + BOTTOM + 2.0, marks)
}

fn dashed(line: Element, dash: &str) -> Element {
    if dash.is_empty() {
        line
    } else {
        line.at("stroke-dasharray", dash)
    }
}

fn panel(texts: &Texts<'_>, height: f64, marks: Vec<Element>) -> Panel {
    Panel {
        title: texts.title.to_owned(),
        about: texts.about.to_owned(),
        height,
        marks,
    }
}

/// Bars to the right and to the left of `base`, a row each.
pub fn bars(texts: &Texts<'_>, axis: &Axis, base: f64, bars: &[Bar]) -> Panel {
    let (left, right) = (NAMES, WIDTH - VALUES);
    let bottom = TOP + ROW.0 * bars.len() as f64;
    let at = |v: f64| axis.place(v).map(|p| left + p * (right - left));
    let mut marks = heading(texts);
    for (value, label) in axis.ticks(5) {
        if let Some(x) = at(value) {
            marks.push(rule("grid", (x, TOP - 4.0), (x, bottom)));
            marks.push(text(x, bottom + 15.0, "muted small mid", label));
        }
    }
    marks.push(text(
        f64::midpoint(left, right),
        bottom + 31.0,
        "muted small mid",
        texts.x,
    ));
    let from = at(base).unwrap_or(left);
    for (i, bar) in bars.iter().enumerate() {
        let top = TOP + ROW.0 * i as f64 + (ROW.0 - ROW.1) / 2.0;
        let baseline = top + ROW.1 - 3.5;
        marks.push(text(left - 6.0, baseline, "small end", bar.name.as_str()));
        let Some(to) = bar.value.and_then(at) else {
            marks.push(text(
                from + 6.0,
                baseline,
                "muted small",
                bar.label.as_str(),
            ));
            continue;
        };
        let drawn = Element::new("rect")
            .num("x", from.min(to))
            .num("y", top)
            .num("width", (to - from).abs().max(1.0))
            .num("height", ROW.1)
            .num("rx", 2.0)
            .at("class", format!("{} bar", bar.class));
        marks.push(told(drawn, &bar.told));
        let mut end = from.max(to);
        if let Some((Some(low), Some(high))) = bar.range.map(|(l, h)| (at(l), at(h)))
            && high - low > 2.0
        {
            let middle = top + ROW.1 / 2.0;
            marks.push(rule("halo ink", (low, middle), (high, middle)));
            for x in [low, high] {
                marks.push(rule("ink", (x, middle - 4.0), (x, middle + 4.0)));
            }
            marks.push(rule("ink", (low, middle), (high, middle)));
            end = end.max(high);
        }
        marks.push(text(end + 5.0, baseline, "small value", bar.label.as_str()));
    }
    marks.push(rule("axis", (from, TOP - 4.0), (from, bottom)));
    panel(texts, bottom + BOTTOM, marks)
}

/// Bars of segments that sum up to one, a row each. A segment wide enough
/// has its share written in it.
pub fn stacks(texts: &Texts<'_>, stacks: &[Stack]) -> Panel {
    let (left, right) = (NAMES, WIDTH - SIDES.1);
    let bottom = TOP + ROW.0 * stacks.len() as f64;
    let mut marks = heading(texts);
    for (i, label) in ["0", "25", "50", "75", "100"].into_iter().enumerate() {
        let x = left + (right - left) * i as f64 / 4.0;
        marks.push(rule("grid", (x, TOP - 2.0), (x, bottom)));
        marks.push(text(x, bottom + 15.0, "muted small mid", label));
    }
    marks.push(text(
        f64::midpoint(left, right),
        bottom + 31.0,
        "muted small mid",
        texts.x,
    ));
    for (i, stack) in stacks.iter().enumerate() {
        let top = TOP + ROW.0 * i as f64 + (ROW.0 - ROW.1) / 2.0;
        let baseline = top + ROW.1 - 3.5;
        marks.push(text(left - 6.0, baseline, "small end", stack.name.as_str()));
        let mut x = left;
        for (hue, share, words) in &stack.segments {
            let width = share.clamp(0.0, 1.0) * (right - left);
            let width = width.min(right - x);
            if width <= 0.0 {
                continue;
            }
            // A gap of a unit keeps neighbours apart, where there is room.
            let drawn = Element::new("rect")
                .num("x", x)
                .num("y", top)
                .num("width", (width - 1.0).max(width.min(0.5)))
                .num("height", ROW.1)
                .at("class", format!("{} bar", hue.class));
            marks.push(told(drawn, words));
            if width >= 19.0 {
                let class = format!("small mid on-{}", hue.class);
                let label = format!("{:.0}", share * 100.0);
                marks.push(text(x + width / 2.0 - 0.5, baseline, &class, label));
            }
            x += width;
        }
    }
    panel(texts, bottom + BOTTOM, marks)
}

#[cfg(test)]
mod tests {
    use super::super::palette::variant;
    use super::super::scale::Spread;
    use super::*;

    const TEXTS: Texts<'_> = Texts {
        title: "RA",
        below: "b",
        x: "x",
        about: "a",
    };

    fn written(panel: &Panel) -> String {
        panel.marks.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_bar_starts_at_the_base_on_either_side() {
        let axis = Axis::over(Spread::Decimal, [0.1, 10.0]);
        let bar = |value| Bar {
            name: "b".into(),
            class: "v1",
            value,
            range: None,
            label: "L".into(),
            told: String::new(),
        };
        let drawn = written(&bars(
            &TEXTS,
            &axis,
            1.0,
            &[bar(Some(10.0)), bar(Some(0.1)), bar(None)],
        ));
        let text = format!("<g>{drawn}</g>");
        let parsed = roxmltree::Document::parse(&text).unwrap();
        let number = |node: roxmltree::Node<'_, '_>, name| -> f64 {
            node.attribute(name).unwrap().parse().unwrap()
        };
        let rects: Vec<_> = parsed
            .descendants()
            .filter(|n| n.has_tag_name("rect"))
            .collect();
        let [right, left] = rects[..] else {
            panic!("{drawn}")
        };
        let start = number(right, "x");
        assert!((number(left, "x") + number(left, "width") - start).abs() < 0.02);
        assert!((number(left, "width") - number(right, "width")).abs() < 0.02);
    }

    #[test]
    fn points_that_an_axis_cannot_show_are_left_out_and_none_is_said() {
        let axis = Axis::over(Spread::Decimal, [1.0, 10.0]);
        let line = |y| Line {
            hue: variant("cgl"),
            marker: 0,
            points: vec![(1.0, y, String::new())],
        };
        assert!(written(&lines(&TEXTS, &axis, &axis, &[line(0.0)])).contains("not measured"));
        let drawn = written(&lines(&TEXTS, &axis, &axis, &[line(2.0)]));
        assert!(drawn.contains("<path") && !drawn.contains("not measured"));
    }

    #[test]
    fn segments_stay_in_their_bar_whatever_their_sum() {
        let stack = Stack {
            name: "s".into(),
            segments: vec![(variant("cgl"), 0.8, String::new()); 3],
        };
        let panel = stacks(&TEXTS, &[stack]);
        let text = format!("<g>{}</g>", written(&panel));
        let parsed = roxmltree::Document::parse(&text).unwrap();
        for rect in parsed.descendants().filter(|n| n.has_tag_name("rect")) {
            let number = |name| rect.attribute(name).unwrap().parse::<f64>().unwrap();
            assert!(number("x") + number("width") <= WIDTH);
        }
    }
}
