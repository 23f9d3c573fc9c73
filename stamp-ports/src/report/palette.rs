//! What a variant and a phase look like, the same in every figure.
//!
//! The drawings hold the colours of the light theme, by which style rules select marks to exchange each in
//! the dark theme; so every light colour is used for one thing only. The variants' colours were searched for:
//! for each theme the set whose closest pair is farthest apart in `OKLab`, to the common eye and to the three
//! kinds of colour blindness, among colours with a contrast of 3 : 1 or more to the background. Nothing
//! depends on them alone.

use crate::external_prelude::*;

/// The colour of one thing in both themes, as `0xRRGGBB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hue {
    /// The name in the document, if it has one.
    pub(crate) name: &'static str,
    pub(crate) light: u32,
    pub(crate) dark: u32,
    /// The dash of its line, if that is not solid.
    pub(crate) dash: Option<&'static str>,
}

const fn hue(name: &'static str, light: u32, dark: u32, dash: Option<&'static str>) -> Hue {
    Hue {
        name,
        light,
        dark,
        dash,
    }
}

impl Hue {
    pub(crate) fn css(self) -> String {
        css(self.light)
    }
}

fn css(colour: u32) -> String {
    format!("#{colour:06X}")
}

/// Text, axes and whiskers.
pub(crate) const INK: Hue = hue("", 0x1d_2129, 0xe6_edf3, None);
/// Text that stands back.
pub(crate) const MUTED: Hue = hue("", 0x57_606a, 0x9d_a7b3, None);
pub(crate) const GRID: Hue = hue("", 0xd8_dee4, 0x30_363d, None);
/// The background, and text on segments.
pub(crate) const SURFACE: Hue = hue("", 0xff_ffff, 0x15_181c, None);

pub(crate) const VARIANTS: [Hue; 9] = [
    hue("cgl", 0x6f_6f6f, 0x9a_9a9a, Some("2 3")),
    hue("egpgv", 0xac_1a18, 0xe6_2e51, Some("7 3 2 3")),
    hue("vbv", 0x04_a87a, 0x62_e9a6, Some("8 4")),
    hue("tbv-sorting", 0xda_720b, 0xf1_9d51, Some("4 3")),
    hue("hv-sorting", 0x1a_41ac, 0x57_87ff, None),
    hue("hv-backoff", 0xce_6aec, 0xd2_a4ef, Some("10 3")),
    hue("fast", 0x00_7f9c, 0x4f_d8f0, Some("16 3")),
    hue("fast-table", 0x7a_6a00, 0xe0_d060, Some("5 2 5 2 1.5 2")),
    hue("optimized", 0x69_1459, 0xc0_45b6, Some("12 3 2 3 2 3")),
];

/// Looks of lines beside those of variants; Figure 4 has some for its numbers of locks.
const SHADES: [Hue; 8] = [
    hue("", 0xe0_7b00, 0xff_d08a, Some("2 2.5")),
    hue("", 0xc2_410c, 0xff_9f50, Some("4.5 2.5")),
    hue("", 0x99_1b1b, 0xf2_6d6d, Some("7.5 3 2 3")),
    hue("", 0x6b_3f00, 0xc9_9a4a, Some("11 3")),
    hue("", 0x08_91b2, 0x67_d9f0, None),
    hue("", 0x25_63eb, 0x7f_a8ff, Some("15 2")),
    hue("", 0x4f_3fc4, 0xa5_94ff, Some("15 2 2 2")),
    hue("", 0x0c_1c50, 0x4f_74e0, Some("15 2 2 2 2 2")),
];

/// A line that none of these colours is near to.
const TEAL: Hue = hue("", 0x0e_7c86, 0x4c_c9d1, Some("3 1.5 1 1.5"));

/// Looks of lines that are no variants of the paper's: those of the variants, and some shades.
const LINES: [Hue; 12] = {
    let [cgl, egpgv, vbv, tbv, hv, backoff, _, _, optimized] = VARIANTS;
    let [_, rust, _, brown, _, _, _, navy] = SHADES;
    [
        egpgv, vbv, tbv, hv, backoff, optimized, cgl, OTHER, TEAL, brown, navy, rust,
    ]
};

/// The phases of a thread's time, in the order of the stack. Shares are written on them.
pub(crate) const PHASES: [Hue; 8] = [
    hue("native", 0x6a_737d, 0x8b_949e, None),
    hue("initialisation", 0x3f_2a6b, 0x8d_78c9, None),
    hue("buffering", 0x2f_5f9e, 0x5b_8fd6, None),
    hue("consistency", 0x1a_7779, 0x4f_b8b6, None),
    hue("locks", 0x4a_7a2e, 0x8f_ce6b, None),
    hue("commit", 0x80_6800, 0xe0_cf5c, None),
    hue("aborted", 0xb3_261e, 0xf2_705f, None),
    hue("warp", 0x8a_5a2b, 0xc9_9a6b, None),
];

const OTHER: Hue = hue("", 0x24_292f, 0xe1_e4e8, Some("1 3"));

/// The look of a line or a bar as a program states it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Look {
    /// One of 12.
    Slot(usize),
    /// That of one of several numbers of locks.
    Lock(usize),
    /// That of a variant; an unknown one has a plain one.
    Variant(String),
    Phase(String),
}

impl Look {
    /// Returns its colour, and the shape of its markers.
    pub(crate) fn of(&self) -> (Hue, usize) {
        match self {
            Self::Slot(slot) => {
                // Lines with a shade have other markers than those of a like colour.
                let marker = if *slot < 8 { *slot } else { slot + 4 };
                (LINES[slot % LINES.len()], marker % 8)
            }
            Self::Lock(i) => {
                let looks = [SHADES[0], SHADES[4], SHADES[6], SHADES[3]];
                (looks[i % looks.len()], i % 8)
            }
            Self::Variant(name) => {
                let known = VARIANTS.iter().chain([&OTHER]).nth(rank(name));
                (*known.unwrap_or(&OTHER), OF_RANKS[rank(name)])
            }
            Self::Phase(name) => {
                let known = PHASES.into_iter().find(|hue| hue.name == name);
                (known.unwrap_or(OTHER), 0)
            }
        }
    }
}

/// A variant's place in the legends; unknown ones come last.
pub(crate) fn rank(name: &str) -> usize {
    let known = VARIANTS.iter().position(|hue| hue.name == name);
    known.unwrap_or(VARIANTS.len())
}

/// The shapes of markers around their point. Slots and numbers of locks have the first eight.
pub(crate) const MARKERS: [&str; 9] = [
    "M3.5,0A3.5,3.5 0 1 1-3.5,0A3.5,3.5 0 1 1 3.5,0Z",
    "M-3.25-3.25H3.25V3.25H-3.25Z",
    "M0-4.25L4,3H-4Z",
    "M0-4.5L4.5,0L0,4.5L-4.5,0Z",
    "M0,4.25L4-3H-4Z",
    "M-1.5-4.25h3v2.75h2.75v3h-2.75v2.75h-3v-2.75h-2.75v-3h2.75Z",
    "M-4.25,0L3-4V4Z",
    "M4.25,0L-3-4V4Z",
    // The plus, turned by an eighth.
    "M1.9-4L4-1.9L2.1,0L4,1.9L1.9,4L0,2.1L-1.9,4L-4,1.9L-2.1,0L-4-1.9L-1.9-4L0-2.1Z",
];

/// The markers of the variants by their rank, and that of names that are not known.
const OF_RANKS: [usize; 10] = [5, 4, 2, 1, 0, 3, 7, 8, 6, 7];

/// Everything that a drawing may be coloured with.
fn all() -> impl Iterator<Item = Hue> {
    let others = [INK, MUTED, GRID, SURFACE, OTHER, TEAL].into_iter();
    others.chain(VARIANTS).chain(SHADES).chain(PHASES)
}

const TEXT_AND_LINES: &str = "\
.fig text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"DejaVu Sans\",\
     sans-serif;font-variant-numeric:tabular-nums}
.fig polyline{stroke-linejoin:round}
";

/// The style rules of the figures, for the page and for each file alike.
pub(crate) fn rules() -> String {
    let dark = all().map(|hue| {
        let (light, dark) = (hue.css(), css(hue.dark));
        let fill = format!(".fig [fill=\"{light}\"]{{fill:{dark}}}");
        format!("{fill}.fig [stroke=\"{light}\"]{{stroke:{dark}}}\n")
    });
    let mut rules = String::from(TEXT_AND_LINES);
    // A page in the dark theme is printed in the light one.
    rules += "@media screen and (prefers-color-scheme:dark){\n";
    rules.extend(dark);
    rules + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants::AskedVariant;
    use std::fmt::Debug;
    use std::hash::Hash;

    /// The contrast of two colours as WCAG has it, from 1 to 21.
    fn contrast(a: u32, b: u32) -> f64 {
        let luminance = |colour: u32| -> f64 {
            let channel = |byte: u8| {
                let c = f64::from(byte) / 255.0;
                let large = ((c + 0.055) / 1.055).powf(2.4);
                if c <= 0.040_45 { c / 12.92 } else { large }
            };
            let [_, r, g, b] = colour.to_be_bytes();
            0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_variant_and_phase_has_a_look_of_its_own() {
        let names = AskedVariant::all().into_iter().map(AskedVariant::name);
        assert!(names.eq(VARIANTS.map(|hue| hue.name)));
        assert_eq!(PHASES.map(|hue| hue.name), Phase::ALL.map(Phase::name));
        unlike(VARIANTS.iter().map(|hue| hue.dash));
        unlike(VARIANTS.iter().map(|hue| hue.dark));
        let marker = |hue: &Hue| Look::Variant(hue.name.into()).of().1;
        unlike(VARIANTS.iter().map(marker));
        unlike(SHADES.iter().map(|hue| hue.dash));
        unlike(SHADES.iter().map(|hue| hue.dark));
    }

    fn unlike<T: Debug + Eq + Hash>(all: impl Iterator<Item = T>) {
        let all: Vec<T> = all.collect();
        let distinct: HashSet<&T> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "{all:?}");
    }

    #[test]
    fn every_line_has_a_look_of_its_own_and_a_light_colour_names_one_thing_only() {
        unlike(LINES.iter().map(|hue| hue.light));
        unlike(LINES.iter().map(|hue| hue.dash));
        let lines = (0..LINES.len()).map(|i| Look::Slot(i).of());
        unlike(lines.map(|(hue, marker)| (hue.dark, marker)));
        unlike(all().map(|hue| hue.light));
    }

    #[test]
    fn colours_stand_out_from_both_backgrounds() {
        assert!((contrast(0xff_ffff, 0) - 21.0).abs() < 1e-9);
        for hue in all().filter(|hue| ![GRID, SURFACE].contains(hue)) {
            let least = if PHASES.contains(&hue) { 4.5 } else { 2.85 };
            for (colour, surface) in [(hue.light, SURFACE.light), (hue.dark, SURFACE.dark)] {
                let found = contrast(colour, surface);
                assert!(found >= least, "{} {colour:06x}: {found}", hue.name);
            }
        }
    }
}
