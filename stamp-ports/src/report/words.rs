//! Ratios, shares, times and lists in words.

use crate::numbers::digits3;

/// `413×`; a ratio to nothing is infinite.
pub fn times(ratio: f64) -> String {
    if ratio.is_infinite() {
        return "\u{221e}".into();
    }
    digits3(ratio) + "\u{d7}"
}

/// A share from 0 to 1 in per cent: `31 %`, `0.4 %`, with a space that does
/// not break.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value > 0.0 && value < 0.005 {
        "< 0.01\u{a0}%".into()
    } else if value > 0.0 && value < 0.095 {
        format!("{value:.2}\u{a0}%")
    } else if value > 0.0 && value < 9.95 {
        format!("{value:.1}\u{a0}%")
    } else if (99.95..100.0).contains(&value) {
        "> 99.9\u{a0}%".into()
    } else if value > 99.0 && value < 100.0 {
        format!("{value:.1}\u{a0}%")
    } else {
        format!("{value:.0}\u{a0}%")
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns a time in words, given in milliseconds.
pub fn time(ms: f64) -> String {
    if ms >= 1e3 {
        format!("{} s", digits3(ms / 1e3))
    } else if ms >= 1.0 {
        format!("{} ms", digits3(ms))
    } else {
        format!("{} \u{b5}s", digits3(ms * 1e3))
    }
}
