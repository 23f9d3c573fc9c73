//! Axes: from a value to a place, and the values worth a tick.

use crate::numbers::{count, digits3, short};
use std::ops::RangeInclusive;

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Evenly, from zero.
    Linear,
    /// By their logarithm; ticks at 1, 2 and 5 times powers of ten.
    Decimal,
    /// By their logarithm; ticks at powers of two, for sizes.
    Binary,
}

/// What an axis stretches for. No measurement is beyond, and a document may
/// hold anything.
const SHOWN: RangeInclusive<f64> = 1e-12..=1e18;

/// A range of values along an axis, never empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    spread: Spread,
    low: f64,
    high: f64,
}

/// A value on an axis and what to write beside it.
pub type Tick = (f64, String);

impl Axis {
    /// An axis that shows all the values that it can: on a logarithmic one,
    /// those above zero. With a little room at the ends if logarithmic.
    pub fn over(spread: Spread, values: impl IntoIterator<Item = f64>) -> Self {
        let usable = values
            .into_iter()
            .filter(|v| SHOWN.contains(v) || (spread == Spread::Linear && *v == 0.0));
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in usable {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 1.0);
        }
        match spread {
            Spread::Linear => {
                high = nice_above(high);
                low = 0.0;
            }
            Spread::Decimal | Spread::Binary if low >= high => {
                low /= 2.0;
                high *= 2.0;
            }
            Spread::Decimal | Spread::Binary => {
                let room = (high / low).powf(0.06);
                low /= room;
                high *= room;
            }
        }
        Self { spread, low, high }
    }

    /// Where a value is, from 0 at the low end to 1; `None` for what the axis
    /// cannot show.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        let place = match self.spread {
            Spread::Linear => (value - self.low) / (self.high - self.low),
            _ if value <= 0.0 => return None,
            _ => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        Some(place.clamp(0.0, 1.0))
    }

    /// Ticks from low to high, at most about so many.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        match self.spread {
            Spread::Linear => self.linear_ticks(most),
            Spread::Decimal => self.decimal_ticks(most),
            Spread::Binary => self.binary_ticks(most),
        }
    }

    fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    fn linear_ticks(&self, most: usize) -> Vec<Tick> {
        let steps = most.clamp(2, 5);
        let step = nice_above(self.high / steps as f64);
        (0..=steps)
            .map(|i| i as f64 * step)
            .take_while(|v| *v <= self.high * 1.0001)
            .map(|v| (v, digits_of_tick(v)))
            .collect()
    }

    fn decimal_ticks(&self, most: usize) -> Vec<Tick> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let at = |factors: &[f64]| -> Vec<f64> {
            decades
                .clone()
                .flat_map(|d| factors.iter().map(move |f| f * 10f64.powi(d)))
                .filter(|v| self.holds(*v))
                .collect()
        };
        let fine = [
            &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0][..],
            &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            &[1.0, 2.0, 5.0],
            &[1.0, 3.0],
            &[1.0],
        ]
        .into_iter()
        .map(at)
        .find(|ticks| ticks.len() <= most);
        let ticks = fine.unwrap_or_else(|| {
            let all = at(&[1.0]);
            let every = all.len().div_ceil(most.max(1));
            all.into_iter().step_by(every.max(1)).collect()
        });
        ticks.into_iter().map(|v| (v, digits_of_tick(v))).collect()
    }

    fn binary_ticks(&self, most: usize) -> Vec<Tick> {
        let (first, last) = (
            self.low.log2().ceil() as i32,
            self.high.log2().floor() as i32,
        );
        let number = (last - first + 1).max(1) as usize;
        let every = number.div_ceil(most.max(1)).max(1);
        (first..=last)
            .step_by(every)
            .map(|e| 2f64.powi(e))
            .map(|v| {
                let text = if v >= 1.0 {
                    count(v as u64)
                } else {
                    digits_of_tick(v)
                };
                (v, text)
            })
            .collect()
    }
}

/// 1, 2, 2.5 or 5 times a power of ten: the next at or above.
fn nice_above(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let scale = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    let step = steps.into_iter().find(|s| s * scale >= value * 0.9999);
    step.unwrap_or(10.0) * scale
}

/// Without the zeros that three digits would add: `5`, `0.5`, `20K`.
fn digits_of_tick(value: f64) -> String {
    if value != 0.0 && value < 0.01 {
        return format!("{value:e}");
    }
    let text = if value >= 1e3 {
        short(value)
    } else {
        digits3(value)
    };
    let (number, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text.as_str(), ""),
    };
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    };
    format!("{number}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: Axis, most: usize) -> Vec<String> {
        axis.ticks(most).into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn a_logarithmic_axis_spaces_equal_ratios_equally() {
        let axis = Axis::over(Spread::Decimal, [1.0, 100.0]);
        let at = |v| axis.place(v).unwrap();
        assert!((at(10.0) - f64::midpoint(at(1.0), at(100.0))).abs() < 1e-12);
        assert_eq!(axis.place(0.0), None);
        assert_eq!(axis.place(-1.0), None);
        assert_eq!(texts(axis, 4), ["1", "10", "100"]);
    }

    #[test]
    fn ticks_are_few_and_round() {
        let sizes = Axis::over(Spread::Binary, [32.0, 262_144.0]);
        assert_eq!(texts(sizes, 5), ["32", "256", "2K", "16K", "128K"]);
        let rates = Axis::over(Spread::Decimal, [2e5, 9e8]);
        assert_eq!(texts(rates, 5), ["1M", "10M", "100M", "1G"]);
        let shares = Axis::over(Spread::Linear, [0.0, 83.0]);
        assert_eq!(texts(shares, 5), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(texts(Axis::over(Spread::Linear, [0.0]), 5)[0], "0");
    }

    #[test]
    fn no_value_or_one_value_still_makes_an_axis() {
        for spread in [Spread::Linear, Spread::Decimal, Spread::Binary] {
            for values in [
                &[][..],
                &[7.0],
                &[f64::NAN, f64::INFINITY],
                &[0.0, 0.0],
                &[f64::MIN_POSITIVE, f64::MAX],
            ] {
                let axis = Axis::over(spread, values.iter().copied());
                assert!(!axis.ticks(5).is_empty(), "{spread:?} {values:?}");
                assert!(axis.place(1.0).is_some_and(f64::is_finite));
            }
        }
    }
}
