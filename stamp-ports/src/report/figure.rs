//! A figure: panels with one legend, as part of the page or as a file.

use super::chart::{Drawn, WIDTH, marker};
use super::palette::{self, INK, Look, SURFACE};
use maud::{Markup, PreEscaped, html};
use serde::Deserialize;

/// Between the panels of a file, and around them; and the height of a row of its legend.
const GAP: f64 = 18.0;
const LEGEND_ROW: f64 = 20.0;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// Its name in the page and in the file's name.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) about: Vec<String>,
    pub(crate) legend: Vec<Key>,
    pub(crate) panels: Vec<Drawn>,
    /// Whether panels belong together two by two.
    pub(crate) pairs: bool,
}

/// An entry of a legend: the look of a line, with its marker, or of a bar.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) look: Look,
    pub(crate) line: bool,
}

impl Key {
    /// The sample and its width; it is 12 units high, and as the charts draw it.
    fn sample(&self) -> (Markup, f64) {
        let (look, shape) = self.look.of();
        let (hue, width) = (look.css(), if self.line { 34.0 } else { 14.0 });
        let sample = html! {
            @if self.line {
                path stroke=(hue) stroke-width="2" stroke-dasharray=[look.dash] d="M0,6H34" {}
                (marker(shape, look, (17.0, 6.0), ""))
            } @else {
                rect width=(width) height="12" fill=(hue) {}
            }
        };
        (sample, width)
    }
}

impl Figure {
    /// The figure in the page: a legend and a drawing a panel, which the page's own layout arranges.
    pub(crate) fn in_page(&self) -> Markup {
        let is_wide = self.pairs || self.panels.len() < 3;
        let layout = if is_wide { "panels wide" } else { "panels" };
        html! {
            figure aria-label=(self.title) {
                ul .legend {
                    @for key in &self.legend {
                        @let (sample, width) = key.sample();
                        li {
                            svg .fig width=(width) height="12" aria-hidden="true"
                                viewBox={ "0 0 " (width) " 12" } { (sample) }
                            (key.name)
                        }
                    }
                }
                div class=(layout) {
                    @for (i, panel) in (1..).zip(&self.panels) {
                        @let id = format!("{}-{i}", self.id);
                        svg .fig role="img" aria-labelledby={ (id) "-title " (id) "-about" }
                            viewBox={ "0 0 " (WIDTH) " " (panel.height) } {
                            title id={ (id) "-title" } { (self.title) ": " (panel.title) }
                            desc id={ (id) "-about" } { (panel.about) }
                            (panel.marks)
                        }
                    }
                }
            }
        }
    }

    pub(crate) fn file(&self) -> String {
        let columns = match self.panels.len() {
            0 | 1 => 1,
            2 | 4 => 2,
            _ if self.pairs => 2,
            _ => 3,
        };
        let width = columns as f64 * (WIDTH + GAP) + GAP;
        let (keys, mut y) = self.legend_of_file(width);
        let mut panels = Vec::new();
        for row in self.panels.chunks(columns) {
            for (column, panel) in (0..).zip(row) {
                let x = GAP + f64::from(column) * (WIDTH + GAP);
                panels.push(html! { svg x=(x) y=(y) { (panel.marks) } });
            }
            y += row.iter().map(|panel| panel.height).fold(0.0, f64::max) + GAP;
        }
        let about = Some(self.about.join(" ")).filter(|about| !about.is_empty());
        let root = html! {
            svg .fig xmlns="http://www.w3.org/2000/svg" role="img"
                aria-labelledby={ (self.id) "-title " (self.id) "-about" }
                viewBox={ "0 0 " (width) " " (y) } width=(width) height=(y) {
                title id={ (self.id) "-title" } { (self.title) }
                desc id={ (self.id) "-about" } { (about.as_ref().unwrap_or(&self.title)) }
                style { (PreEscaped(palette::rules())) }
                rect width=(width) height=(y) fill=(SURFACE.css()) {}
                text x=(GAP) y=(GAP + 12.0) font-size="16" font-weight="600" fill=(INK.css()) {
                    (self.title)
                }
                @for key in keys { (key) }
                @for panel in panels { (panel) }
            }
        };
        let root = root.into_string();
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{root}\n")
    }

    /// The entries of the legend in rows, and where the rows end.
    fn legend_of_file(&self, width: f64) -> (Vec<Markup>, f64) {
        let (mut x, mut y) = (GAP, GAP + 26.0);
        let mut keys = Vec::new();
        for key in &self.legend {
            let (sample, side) = key.sample();
            // A letter of this size is about 7 units wide.
            let wide = side + 22.0 + 7.0 * key.name.chars().count() as f64;
            if x > GAP && x + wide > width - GAP {
                (x, y) = (GAP, y + LEGEND_ROW);
            }
            keys.push(html! {
                svg x=(x) y=(y) { (sample) }
                text x=(x + side + 6.0) y=(y + 10.0) font-size="12" fill=(INK.css()) {
                    (key.name)
                }
            });
            x += wide;
        }
        (keys, y + LEGEND_ROW + 8.0)
    }
}
