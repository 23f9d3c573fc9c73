//! Times of many implementations at one place, as bars.

use super::super::data::over;
use super::super::looks;
use super::time;
use crate::report::axis::Axis;
use crate::report::chart::{self, Bar, Panel, Texts};
use crate::report::figure::{Figure, Key, Sample};
use crate::report::view::times;
use crate::sync::document::Point;
use std::cmp::Ordering;

/// What excludes nothing: it is said apart from the locks.
const OPEN: [&str; 3] = ["none", "added", "lock-free"];

/// From this ratio of times on the axis is logarithmic.
const WIDE: f64 = 10.0;

/// A panel: implementations and their points at one place.
pub(super) struct Rows<'b> {
    /// Its heading.
    pub(super) title: String,
    /// The line below.
    pub(super) below: String,
    /// The implementations in their order; those without a point are said to be missing.
    pub(super) found: Vec<(&'static str, Option<&'b Point>)>,
    /// The implementation that others are compared with.
    pub(super) beside: &'static str,
}

/// Makes a figure of those panels that have a point, and says which have none.
pub(super) fn figure(id: &'static str, title: &str, rows: Vec<Rows<'_>>) -> Figure {
    let any = |rows: &Rows<'_>| rows.found.iter().any(|(_, point)| point.is_some());
    let (there, missing): (Vec<Rows<'_>>, Vec<Rows<'_>>) = rows.into_iter().partition(any);
    let missing: Vec<String> = missing.into_iter().map(|rows| rows.title).collect();
    let mut legend: Vec<Key> = Vec::new();
    let found = there.iter().flat_map(|rows| &rows.found);
    for (name, _) in found.filter(|(_, point)| point.is_some()) {
        if legend.iter().all(|key| key.name != *name) {
            legend.push(Key {
                name: (*name).to_owned(),
                sample: Sample::Fill(looks::of(name, false).0),
            });
        }
    }
    let (panels, about): (Vec<Panel>, Vec<String>) = there.iter().map(Rows::panel).unzip();
    super::with_missing(
        Figure {
            id,
            title: title.to_owned(),
            about,
            legend,
            panels,
            pairs: false,
        },
        &missing,
    )
}

impl Rows<'_> {
    /// Draws the panel, and says what it shows.
    fn panel(&self) -> (Panel, String) {
        let base = self.found.iter().find(|(kind, _)| *kind == self.beside);
        let base = base.and_then(|(_, point)| Some((*point)?.ms));
        let bars: Vec<Bar> = self
            .found
            .iter()
            .map(|(kind, point)| {
                let ms = point.map(|p| p.ms);
                let label = ms.map_or_else(|| "not measured".into(), time);
                let ratio = over(ms, base).filter(|_| *kind != self.beside);
                let ratio = ratio.map_or_else(String::new, |r| {
                    format!(" ({} that of {})", times(r), self.beside)
                });
                Bar {
                    name: (*kind).to_owned(),
                    hue: looks::of(kind, false).0,
                    value: ms,
                    range: point.map(|p| (p.ms_min, p.ms_max)),
                    told: format!("{kind}, {label}{ratio}"),
                    label,
                }
            })
            .collect();
        let about = self.sentence(&bars);
        let all = || self.found.iter().filter_map(|(_, point)| *point);
        let low = all()
            .map(|p| p.ms_min.min(p.ms))
            .fold(f64::INFINITY, f64::min);
        let high = all().map(|p| p.ms_max.max(p.ms)).fold(0.0, f64::max);
        let (axis, zero) = if high >= WIDE * low {
            // Bars begin at the power of ten below the shortest.
            let below = 10f64.powf(low.log10().floor());
            (Axis::decimal([below, high]), below)
        } else {
            (Axis::linear([high]), 0.0)
        };
        let texts = Texts {
            title: &self.title,
            below: &self.below,
            x: &format!("kernel time in ms ({})", axis.scale()),
            about: &about,
        };
        (chart::bars(&texts, &axis, zero, &bars), about)
    }

    /// Says what takes the shortest time and what the longest, and what excludes nothing.
    fn sentence(&self, bars: &[Bar]) -> String {
        let timed = |bar: &&Bar| bar.value.is_some();
        let open = |bar: &&Bar| OPEN.contains(&bar.name.as_str());
        let (open, locks): (Vec<&Bar>, Vec<&Bar>) = bars.iter().filter(timed).partition(open);
        let by_time =
            |a: &&&Bar, b: &&&Bar| a.value.partial_cmp(&b.value).unwrap_or(Ordering::Equal);
        let mut clauses = Vec::new();
        if let (Some(first), Some(last)) =
            (locks.iter().min_by(by_time), locks.iter().max_by(by_time))
        {
            clauses.push(format!(
                "the shortest time is that of {}, the longest that of {}",
                first.told, last.told
            ));
        }
        clauses.extend(
            open.iter()
                .map(|bar| format!("without a lock {}", bar.told)),
        );
        format!("{}: {}.", self.title, clauses.join("; "))
    }
}
