//! Axes: what range they show, and which values are worth a tick.

use crate::numbers::{count, digits3, short};
use serde::Deserialize;
use std::ops::RangeInclusive;

/// What an axis stretches for. No measurement is beyond, and a document may hold anything.
const SHOWN: RangeInclusive<f64> = 1e-12..=1e18;

/// A range of values along an axis, never empty.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Scale")]
pub(crate) struct Axis {
    pub(super) range: [f64; 2],
    logarithmic: bool,
    ticks: Vec<f64>,
    label: fn(f64) -> String,
}

/// An axis as a program states it: its kind, and what it shows.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scale {
    Decimal(Vec<f64>),
    /// A decimal axis that begins at the power of ten below all.
    Tens(Vec<f64>),
    Binary(Vec<f64>),
    Linear(Vec<f64>),
}

impl From<Scale> for Axis {
    fn from(scale: Scale) -> Self {
        match scale {
            Scale::Decimal(values) => Self::decimal(values),
            Scale::Tens(mut values) => {
                let (low, _) = bounds(values.iter().copied());
                values.push(10f64.powf(low.log10().floor()));
                Self::decimal(values)
            }
            Scale::Binary(values) => Self::binary(values),
            Scale::Linear(values) => Self::linear(values),
        }
    }
}

/// The lowest and the highest that a logarithmic axis can show of some values.
fn bounds(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let usable = values.into_iter().filter(|v| SHOWN.contains(v));
    let (low, high) = usable.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), v| {
        (low.min(v), high.max(v))
    });
    if low > high { (1.0, 1.0) } else { (low, high) }
}

/// Every so many of the ticks that at most `most` are left.
fn thinned(ticks: Vec<f64>, most: usize) -> Vec<f64> {
    let every = ticks.len().div_ceil(most).max(1);
    ticks.into_iter().step_by(every).collect()
}

impl Axis {
    fn new(range: [f64; 2], logarithmic: bool, ticks: Vec<f64>) -> Self {
        Self {
            range,
            logarithmic,
            ticks,
            label: digits_of_tick,
        }
    }

    /// A logarithmic axis that ends at 1 or 3 times powers of ten.
    pub(crate) fn decimal(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = bounds(values);
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let steps = decades.flat_map(|d| [1.0, 3.0].map(|f| f * 10f64.powi(d)));
        let steps: Vec<f64> = steps.collect();
        let below = steps.iter().rposition(|s| *s <= low).unwrap_or(0);
        let above = steps.iter().position(|s| *s >= high);
        let above = above.unwrap_or(steps.len() - 1).max(below + 1);
        let steps = &steps[below..=above.min(steps.len() - 1)];
        let round = |s: &f64| (s.log10() - s.log10().round()).abs() < 1e-6;
        let ticks = if steps.len() <= 6 {
            steps.to_vec()
        } else {
            thinned(steps.iter().copied().filter(round).collect(), 6)
        };
        Self::new([steps[0], steps[steps.len() - 1]], true, ticks)
    }

    /// A logarithmic axis for sizes, with ticks at powers of two.
    pub(crate) fn binary(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = bounds(values);
        let (low, high) = (low / 1.3, high * 1.3);
        let exponents = low.log2().ceil() as i32..=high.log2().floor() as i32;
        let ticks = exponents.map(|e| 2f64.powi(e)).collect();
        Self {
            label: |v| match v {
                1.0.. => count(v as u64),
                _ => digits_of_tick(v),
            },
            ..Self::new([low, high], true, thinned(ticks, 6))
        }
    }

    /// A linear axis from 0 to a little more than the largest value.
    pub(crate) fn linear(values: impl IntoIterator<Item = f64>) -> Self {
        let usable = values.into_iter().filter(|v| SHOWN.contains(v));
        let high = usable.fold(0.0, f64::max);
        let high = if high > 0.0 { high * 1.05 } else { 1.0 };
        let ten = 10f64.powf(high.log10().floor());
        let steps = [0.1, 0.2, 0.5, 1.0].map(|step| step * ten);
        let step = steps.into_iter().find(|step| high / step < 6.0);
        let step = step.unwrap_or(2.0 * ten);
        let ticks = (0..).map(|i| f64::from(i) * step);
        let ticks = ticks.take_while(|tick| *tick <= high);
        Self::new([0.0, high], false, ticks.collect())
    }

    pub(crate) fn percent() -> Self {
        Self::new([0.0, 100.0], false, vec![0.0, 25.0, 50.0, 75.0, 100.0])
    }

    /// How its values are spread, for its name.
    pub(crate) fn scale(&self) -> &'static str {
        ["linear scale", "log scale"][usize::from(self.logarithmic)]
    }

    pub(crate) fn shows(&self, value: f64) -> bool {
        (self.range[0]..=self.range[1]).contains(&value)
    }

    /// Returns where a value is between the ends of a plot.
    pub(crate) fn place(&self, value: f64, [from, to]: [f64; 2]) -> f64 {
        let [low, high] = self.range;
        let share = if self.logarithmic {
            (value / low).ln() / (high / low).ln()
        } else {
            (value - low) / (high - low)
        };
        tenths(from + (to - from) * share)
    }

    pub(crate) fn ticks(&self, ends: [f64; 2]) -> impl Iterator<Item = (f64, String)> {
        let ticks = self.ticks.iter();
        ticks.map(move |tick| (self.place(*tick, ends), (self.label)(*tick)))
    }
}

/// Returns a length as a drawing has it.
pub(crate) fn tenths(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

fn digits_of_tick(value: f64) -> String {
    if value != 0.0 && value < 0.01 {
        return format!("{value:e}");
    }
    let text = match value {
        1e3.. => short(value),
        _ => digits3(value),
    };
    let number = text.trim_end_matches(['K', 'M', 'G']);
    let digits = match number.split_once('.') {
        Some(_) => number.trim_end_matches('0').trim_end_matches('.'),
        None => number,
    };
    format!("{digits}{}", &text[number.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<String> {
        axis.ticks([0.0, 1.0]).map(|(_, text)| text).collect()
    }

    #[test]
    fn a_logarithmic_axis_spaces_equal_ratios_equally() {
        let axis = Axis::decimal([1.0, 100.0]);
        let places = [1.0, 10.0, 100.0].map(|value| axis.place(value, [0.0, 1e3]) as i32);
        assert_eq!(places, [0, 500, 1000]);
        assert!(!axis.shows(0.0) && !axis.shows(-1.0) && !axis.shows(f64::NAN));
        assert_eq!(texts(&axis), ["1", "3", "10", "30", "100"]);
    }

    #[test]
    fn ticks_are_few_and_round() {
        let sizes = Axis::binary([32.0, 262_144.0]);
        assert_eq!(texts(&sizes), ["32", "256", "2K", "16K", "128K"]);
        let rates = Axis::decimal([2e5, 9e8]);
        assert_eq!(texts(&rates), ["100K", "1M", "10M", "100M", "1G"]);
        let shares = Axis::linear([0.0, 83.0]);
        assert_eq!(texts(&shares), ["0", "20", "40", "60", "80"]);
        assert_eq!(texts(&Axis::linear([0.0]))[0], "0");
    }

    #[test]
    fn no_value_or_one_value_still_makes_an_axis() {
        for values in [
            &[][..],
            &[7.0],
            &[f64::NAN, f64::INFINITY],
            &[0.0, 0.0],
            &[f64::MIN_POSITIVE, f64::MAX],
            &[1e-12, 1e18],
        ] {
            for make in [Axis::decimal, Axis::binary, Axis::linear] {
                let axis = make(values.to_vec());
                assert!((1..=11).contains(&axis.ticks.len()), "{values:?}");
                assert!(axis.range[0] < axis.range[1], "{values:?}");
            }
        }
    }
}
