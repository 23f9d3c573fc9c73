//! What figures show.

use crate::report::records::number;

/// A quantity and how it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantity {
    /// Its field.
    pub(super) field: &'static str,
    /// Its name and unit, for the axis.
    pub(super) name: &'static str,
    /// Its form.
    form: &'static str,
    /// What stands behind a number.
    unit: &'static str,
    /// What the best is called, and the worst.
    pub(super) ends: [&'static str; 2],
    /// Whether the least is the best.
    pub(super) least: bool,
}

/// The quantities of figures.
#[rustfmt::skip]
pub(super) const QUANTITIES: [Quantity; 8] = [
    Quantity { field: "cost", name: "share of the time", form: "percent", unit: "", ends: ["the highest", "the lowest"], least: false },
    Quantity { field: "gain", name: "speed-up over cgl", form: "times", unit: "", ends: ["the highest", "the lowest"], least: false },
    Quantity { field: "cycles", name: "cycles", form: "whole", unit: "", ends: ["the fewest cycles", "the most"], least: true },
    Quantity { field: "ms", name: "kernel time in ms", form: "time", unit: "", ends: ["the shortest time", "the longest"], least: true },
    Quantity { field: "per_s", name: "operations a second", form: "short", unit: "/s", ends: ["the highest rate", "the lowest"], least: false },
    Quantity { field: "tx_per_s", name: "transactions a second", form: "short", unit: "/s", ends: ["the highest rate", "the lowest"], least: false },
    Quantity { field: "beside", name: "ratio of rates", form: "times", unit: "", ends: ["the highest ratio", "the lowest"], least: false },
    Quantity { field: "unfairness", name: "most / fewest sections of a block", form: "times", unit: "", ends: ["the smallest ratio", "the largest"], least: true },
];

impl Quantity {
    /// Writes a number of it.
    pub(super) fn show(&self, x: f64) -> String {
        number(x, None, self.form).unwrap_or_default() + self.unit
    }
}
