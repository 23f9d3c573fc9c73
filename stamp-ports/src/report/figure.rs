//! A figure: panels with one legend, as part of the page or as a file.
//!
//! Why not `plotters`: its SVG has fixed colours on every element, no `title`
//! or `desc`, no classes and no `role`, so that one drawing could neither
//! follow the reader's theme nor be read aloud, and its text is laid out for
//! one width. What is needed here of drawing is small.

use super::chart::{Panel, WIDTH};
use super::palette::{self, Hue, marker};
use super::xml::Element;

/// Between the panels of a file, and around them.
const GAP: f64 = 18.0;
/// The height of a row of a file's legend.
const LEGEND_ROW: f64 = 20.0;
/// A letter's width, more or less, in the legend's size.
const LETTER: f64 = 6.9;

/// A figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name in the page and in the file's name.
    pub id: &'static str,
    /// Its heading.
    pub title: String,
    /// The sentences about it.
    pub about: Vec<String>,
    /// What its colours, dashes and markers mean.
    pub legend: Vec<Key>,
    /// Its panels.
    pub panels: Vec<Panel>,
    /// Whether panels belong together two by two.
    pub pairs: bool,
}

/// An entry of a legend.
#[derive(Clone, Debug)]
pub struct Key {
    /// What it is.
    pub name: String,
    /// How it looks.
    pub sample: Sample,
}

/// A look.
#[derive(Clone, Copy, Debug)]
pub enum Sample {
    /// Of a bar.
    Fill(Hue),
    /// Of a line with markers.
    Line(Hue, usize),
    /// Of a line whatever its markers.
    Stroke(Hue),
    /// Of a marker whatever its colour.
    Marker(usize),
}

impl Sample {
    /// Its width, with the gap to its name.
    const fn width(self) -> f64 {
        match self {
            Self::Fill(_) | Self::Marker(_) => 20.0,
            Self::Line(..) | Self::Stroke(_) => 36.0,
        }
    }

    /// The sample at a place, 12 units high.
    fn draw(self, x: f64, y: f64) -> Element {
        let (left, right, middle) = (x + 1.0, x + self.width() - 7.0, y + 6.0);
        let stroke = |hue: Hue| {
            let line = Element::new("line")
                .num("x1", left)
                .num("y1", middle)
                .num("x2", right)
                .num("y2", middle)
                .at("class", format!("{} line", hue.class));
            if hue.dash.is_empty() {
                line
            } else {
                line.at("stroke-dasharray", hue.dash)
            }
        };
        let mark = |class, shape| {
            Element::new("g").at("class", class).with(marker(
                shape,
                f64::midpoint(left, right),
                middle,
            ))
        };
        match self {
            Self::Fill(hue) => Element::new("rect")
                .num("x", x)
                .num("y", y)
                .num("width", 14.0)
                .num("height", 12.0)
                .num("rx", 2.0)
                .at("class", format!("{} bar", hue.class)),
            Self::Line(hue, shape) => Element::new("g")
                .with(stroke(hue))
                .with(mark(hue.class, shape)),
            Self::Stroke(hue) => stroke(hue),
            Self::Marker(shape) => mark("v0", shape),
        }
    }
}

impl Figure {
    /// The figure in the page: a legend and a drawing a panel, so that the
    /// page's own layout puts them side by side or one below the other.
    pub fn in_page(&self) -> Element {
        let keys = self.legend.iter().map(|key| {
            let sample = Element::new("svg")
                .at("class", "fig")
                .num("width", key.sample.width())
                .at("height", "12")
                .at("aria-hidden", "true")
                .with(key.sample.draw(0.0, 0.0));
            Element::new("li").with(sample).text(key.name.as_str())
        });
        let panels = self.panels.iter().enumerate().map(|(i, panel)| {
            let id = format!("{}-{}", self.id, i + 1);
            drawing(
                &id,
                &format!("{}: {}", self.title, panel.title),
                &panel.about,
            )
            .at("viewBox", format!("0 0 {WIDTH} {}", panel.height))
            .all(panel.marks.iter().cloned())
        });
        let layout = if self.pairs || self.panels.len() < 3 {
            "panels wide"
        } else {
            "panels"
        };
        Element::new("div")
            .at("class", "figure")
            .with(Element::new("ul").at("class", "legend").all(keys))
            .with(Element::new("div").at("class", layout).all(panels))
    }

    /// The figure as a file, with all that it needs.
    pub fn file(&self) -> String {
        let columns = match self.panels.len() {
            0 | 1 => 1,
            2 | 4 => 2,
            _ if self.pairs => 2,
            _ => 3,
        };
        let width = columns as f64 * (WIDTH + GAP) + GAP;
        let mut marks = vec![
            Element::new("text")
                .num("x", GAP)
                .num("y", GAP + 12.0)
                .at("class", "title")
                .text(self.title.as_str()),
        ];
        let (mut x, mut y) = (GAP, GAP + 26.0);
        for key in &self.legend {
            let wide = key.sample.width() + LETTER * key.name.chars().count() as f64 + 14.0;
            if x > GAP && x + wide > width - GAP {
                (x, y) = (GAP, y + LEGEND_ROW);
            }
            marks.push(key.sample.draw(x, y));
            marks.push(
                Element::new("text")
                    .num("x", x + key.sample.width())
                    .num("y", y + 10.0)
                    .text(key.name.as_str()),
            );
            x += wide;
        }
        y += LEGEND_ROW + 6.0;
        for row in self.panels.chunks(columns) {
            for (column, panel) in row.iter().enumerate() {
                let left = GAP + column as f64 * (WIDTH + GAP);
                marks.push(
                    Element::new("g")
                        .at("transform", format!("translate({left} {y})"))
                        .all(panel.marks.iter().cloned()),
                );
            }
            y += row.iter().map(|p| p.height).fold(0.0, f64::max) + GAP;
        }
        let root = drawing(self.id, &self.title, &self.about.join(" "))
            .at("xmlns", "http://www.w3.org/2000/svg")
            .at("viewBox", format!("0 0 {width} {y}"))
            .at("width", width)
            .at("height", y)
            .with(Element::style(palette::rules()))
            .with(
                Element::new("rect")
                    .at("width", width)
                    .at("height", y)
                    .at("class", "paper"),
            )
            .all(marks);
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{root}")
    }
}

/// A drawing with the texts that are read aloud in its place.
fn drawing(id: &str, title: &str, about: &str) -> Element {
    let (title_id, about_id) = (format!("{id}-title"), format!("{id}-about"));
    Element::new("svg")
        .at("class", "fig")
        .at("role", "img")
        .at("aria-labelledby", format!("{title_id} {about_id}"))
        .with(Element::new("title").at("id", title_id).text(title))
        .with(Element::new("desc").at("id", about_id).text(about))
}
