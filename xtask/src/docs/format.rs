//! How values are written: numbers with their units, and tables.

use std::fmt::Write as _;

/// The median of sorted numbers, of which there is one.
pub(super) fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        f64::midpoint(sorted[half - 1], sorted[half])
    }
}

/// A number as a document shows it. `FORMAT` is a unit and, but for `n` and `si`,
/// a number of decimals: `n` a whole number, `si` three digits and K, M or G,
/// `x1` a ratio, `%0` a share in percent, `d2` decimals, `M1` millions.
pub(super) fn show(value: f64, format: &str) -> Result<String, String> {
    let split = format.find(|c: char| c.is_ascii_digit());
    let (unit, decimals) = format.split_at(split.unwrap_or(format.len()));
    let decimals: usize = decimals.parse().unwrap_or(0);
    Ok(match unit {
        "n" => whole(value),
        "si" => si(value),
        "x" => format!("{}x", thousands(&format!("{value:.decimals$}"))),
        "%" => format!("{:.decimals$} %", value * 100.0),
        "d" => format!("{value:.decimals$}"),
        "M" => format!("{:.decimals$} M", value / 1e6),
        _ => return Err(format!("`{format}` is not a format")),
    })
}

/// A ratio with three significant digits, or all digits before the point; small
/// ones with one significant digit at least.
pub(super) fn ratio(value: f64) -> String {
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.095 => 2,
        v if v >= 0.0095 => 3,
        _ => 4,
    };
    format!("{}x", thousands(&format!("{value:.decimals$}")))
}

/// Three significant digits, and K, M or G.
pub(super) fn si(value: f64) -> String {
    let (scaled, suffix) = match value.abs() {
        v if v >= 999.5e6 => (value / 1e9, " G"),
        v if v >= 999.5e3 => (value / 1e6, " M"),
        v if v >= 999.5 => (value / 1e3, " K"),
        _ => (value, ""),
    };
    let decimals = match scaled.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$}{suffix}")
}

/// A Markdown table of these columns and rows.
pub(super) fn markdown<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let mut text = format!("| {} |\n|{}\n", header.join(" | "), " --- |".repeat(N));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

/// A whole number with commas.
fn whole(value: f64) -> String {
    thousands(&format!("{value:.0}"))
}

/// Puts commas into the whole part of a decimal number.
fn thousands(number: &str) -> String {
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut grouped = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}
