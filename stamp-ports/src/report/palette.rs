//! What a variant and a phase look like, the same in every figure.
//!
//! The colours were searched for: for each theme the set whose closest pair is
//! farthest apart in `OKLab`, to the common eye and to the three kinds of
//! colour blindness, among colours with a contrast of 3 : 1 or more to the
//! background. Nothing depends on them alone: a variant has a marker and a
//! dash of its own, a bar its name, a segment its share.

use super::xml::Element;
use std::fmt::Write as _;

/// The background of the figures: light, dark.
pub const SURFACE: [&str; 2] = ["#ffffff", "#15181c"];

/// The colour of one thing in both themes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hue {
    /// The name in the document.
    pub name: &'static str,
    /// The class in the style rules.
    pub class: &'static str,
    /// Light, dark.
    pub colours: [&'static str; 2],
    /// The dash of its line; empty is solid.
    pub dash: &'static str,
}

const fn hue(
    name: &'static str,
    class: &'static str,
    colours: [&'static str; 2],
    dash: &'static str,
) -> Hue {
    Hue {
        name,
        class,
        colours,
        dash,
    }
}

/// The variants, in the order of every legend.
pub const VARIANTS: [Hue; 7] = [
    hue("cgl", "v0", ["#6f6f6f", "#9a9a9a"], "2 3"),
    hue("egpgv", "v1", ["#ac1a18", "#e62e51"], "7 3 2 3"),
    hue("vbv", "v2", ["#04a87a", "#62e9a6"], "8 4"),
    hue("tbv-sorting", "v3", ["#da720b", "#f19d51"], "4 3"),
    hue("hv-sorting", "v4", ["#1a41ac", "#5787ff"], ""),
    hue("hv-backoff", "v5", ["#ce6aec", "#d2a4ef"], "10 3"),
    hue("optimized", "v6", ["#691459", "#c045b6"], "12 3 2 3 2 3"),
];

/// The phases of a thread's time, in the order of the stack.
pub const PHASES: [Hue; 8] = [
    hue("native", "p0", ["#8c959f", "#7d8590"], ""),
    hue("initialisation", "p1", ["#3f2a6b", "#8d78c9"], ""),
    hue("buffering", "p2", ["#2f5f9e", "#5b8fd6"], ""),
    hue("consistency", "p3", ["#1f8a8c", "#4fb8b6"], ""),
    hue("locks", "p4", ["#5f9a3c", "#8fce6b"], ""),
    hue("commit", "p5", ["#a88a00", "#e0cf5c"], ""),
    hue("aborted", "p6", ["#b3261e", "#f2705f"], ""),
    hue("warp", "p7", ["#8a5a2b", "#c99a6b"], ""),
];

/// For names that are none of the known ones.
const OTHER: Hue = hue("", "vx", ["#24292f", "#e6edf3"], "1 3");

/// A variant's look; an unknown one has a plain one.
pub fn variant(name: &str) -> Hue {
    VARIANTS
        .into_iter()
        .find(|hue| hue.name == name)
        .unwrap_or(OTHER)
}

/// A variant's place in the legends; unknown ones come last.
pub fn rank(name: &str) -> usize {
    let known = VARIANTS.iter().position(|hue| hue.name == name);
    known.unwrap_or(VARIANTS.len())
}

/// The shapes of markers.
pub const MARKERS: usize = 8;

/// A marker around a point, about 8 units wide.
pub fn marker(shape: usize, x: f64, y: f64) -> Element {
    let polygon = |corners: &[(f64, f64)]| {
        let mut points = String::new();
        for (dx, dy) in corners {
            // Writing to a String cannot fail.
            let _ = write!(points, "{:.1},{:.1} ", x + dx, y + dy);
        }
        Element::new("polygon").at("points", points.trim_end())
    };
    match shape % MARKERS {
        0 => Element::new("circle")
            .num("cx", x)
            .num("cy", y)
            .num("r", 3.4),
        1 => polygon(&[(-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)]),
        2 => polygon(&[(0.0, -4.3), (4.1, 3.1), (-4.1, 3.1)]),
        3 => polygon(&[(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)]),
        4 => polygon(&[(0.0, 4.3), (4.1, -3.1), (-4.1, -3.1)]),
        5 => polygon(&[
            (-1.4, -4.2),
            (1.4, -4.2),
            (1.4, -1.4),
            (4.2, -1.4),
            (4.2, 1.4),
            (1.4, 1.4),
            (1.4, 4.2),
            (-1.4, 4.2),
            (-1.4, 1.4),
            (-4.2, 1.4),
            (-4.2, -1.4),
            (-1.4, -1.4),
        ]),
        6 => polygon(&[(-4.3, 0.0), (3.1, -4.1), (3.1, 4.1)]),
        _ => polygon(&[(4.3, 0.0), (-3.1, -4.1), (-3.1, 4.1)]),
    }
    .at("class", "mark")
}

/// The marker of a variant.
pub fn marker_of(variant: &str) -> usize {
    // hv-sorting and tbv-sorting, compared most often, get the plainest two.
    match rank(variant) {
        4 => 0,
        3 => 1,
        0 => 5,
        1 => 4,
        2 => 2,
        5 => 3,
        6 => 6,
        _ => 7,
    }
}

/// The style rules of the figures, for the page and for each file alike.
pub fn rules() -> String {
    let mut css = String::from(include_str!("figure.css"));
    css += &theme(0);
    // A page in the dark theme is printed in the light one.
    css += "@media screen and (prefers-color-scheme:dark){\n";
    css += &theme(1);
    css += "}\n";
    css
}

fn theme(i: usize) -> String {
    let [ink, muted, line, surface] = [
        ["#1d2129", "#57606a", "#d8dee4", SURFACE[0]],
        ["#e6edf3", "#9da7b3", "#30363d", SURFACE[1]],
    ][i];
    let mut css = format!(
        ".fig text{{fill:{ink}}}\n.fig .muted{{fill:{muted}}}\n.fig .grid{{stroke:{line}}}\n\
         .fig .axis{{stroke:{muted}}}\n.fig .paper{{fill:{surface}}}\n\
         .fig .ink{{stroke:{ink}}}\n.fig .halo{{stroke:{surface}}}\n"
    );
    for hue in VARIANTS.iter().chain([&OTHER]).chain(&PHASES) {
        let (class, colour) = (hue.class, hue.colours[i]);
        // Writing to a String cannot fail.
        let _ = writeln!(css, ".fig .{class}{{fill:{colour};stroke:{colour}}}");
    }
    for hue in &PHASES {
        let text = if contrast(hue.colours[i], "#ffffff") > contrast(hue.colours[i], "#0d1117") {
            "#ffffff"
        } else {
            "#0d1117"
        };
        let _ = writeln!(css, ".fig text.on-{}{{fill:{text}}}", hue.class);
    }
    // After the colours: what is only a line has no fill, and so on.
    let _ = write!(
        css,
        ".fig .line{{fill:none}}\n.fig .bar{{stroke:none}}\n.fig .mark{{stroke:{surface}}}\n"
    );
    css
}

/// The contrast of two colours as WCAG has it, from 1 to 21.
fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |colour: &str| -> f64 {
        let channel = |i: usize| {
            let digits = colour.get(i..i + 2).unwrap_or("00");
            let c = f64::from(u8::from_str_radix(digits, 16).unwrap_or(0)) / 255.0;
            if c <= 0.040_45 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants::AskedVariant;

    #[test]
    fn every_variant_and_phase_has_a_look_of_its_own() {
        let names = VARIANTS.map(|hue| hue.name).to_vec();
        assert_eq!(
            names,
            AskedVariant::of_paper()
                .into_iter()
                .map(AskedVariant::name)
                .collect::<Vec<_>>()
        );
        assert_eq!(PHASES.map(|hue| hue.name), crate::paper::document::PHASES);
        for (i, a) in VARIANTS.iter().enumerate() {
            for b in &VARIANTS[..i] {
                assert_ne!(a.class, b.class);
                assert_ne!(a.dash, b.dash, "{} and {}", a.name, b.name);
                assert_ne!(a.colours[0], b.colours[0]);
                assert_ne!(a.colours[1], b.colours[1]);
                assert_ne!(marker_of(a.name), marker_of(b.name));
            }
        }
    }

    #[test]
    fn colours_stand_out_from_both_backgrounds() {
        assert!((contrast("#ffffff", "#000000") - 21.0).abs() < 1e-9);
        for hue in VARIANTS.iter().chain(&PHASES).chain([&OTHER]) {
            for (colour, surface) in hue.colours.into_iter().zip(SURFACE) {
                let found = contrast(colour, surface);
                assert!(found >= 2.95, "{} {colour}: {found}", hue.name);
            }
        }
    }
}
