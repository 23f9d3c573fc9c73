//! Numbers as people write them, and as people read them; ratios, shares and times in words.

use std::time::Duration;

/// Reads a count: digits with underscores, then perhaps K, M, G or T (powers of 1024); or `2^n`.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let bad = || {
        format!("{text:?} is no count: write a whole number such as 1048576, 1_048_576, 1M or 2^20")
    };
    let large = || format!("{text:?} is too large: counts end below 2^64");
    let digits = |s: &str| -> Result<u64, String> {
        let plain: String = s.chars().filter(|&c| c != '_').collect();
        if plain.is_empty() || !plain.bytes().all(|b| b.is_ascii_digit()) || s.starts_with('_') {
            return Err(bad());
        }
        plain.parse().map_err(|_| large())
    };
    if let Some((base, exponent)) = text.split_once('^') {
        let (base, exponent) = (digits(base)?, digits(exponent)?);
        let exponent = u32::try_from(exponent).map_err(|_| large())?;
        return base.checked_pow(exponent).ok_or_else(large);
    }
    let mut units = [("kK", 10), ("mM", 20), ("gG", 30), ("tT", 40)].into_iter();
    let known = units.find_map(|(unit, shift)| {
        let number = text.strip_suffix(|end| unit.contains(end))?;
        Some((number, shift))
    });
    let (number, shift) = known.unwrap_or((text, 0));
    digits(number)?.checked_mul(1 << shift).ok_or_else(large)
}

pub(crate) fn parse_count_32(text: &str) -> Result<u32, String> {
    u32::try_from(parse_count(text)?)
        .map_err(|_| format!("{text:?} is too large: at most {}", u32::MAX))
}

pub(crate) fn parse_counts(text: &str) -> Result<Vec<u64>, String> {
    let parts = text.split(',').map(str::trim);
    parts.map(parse_count).collect()
}

/// Reads a time in seconds, above 0.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|&seconds| seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| format!("{text:?} is no time: give seconds above 0, such as 2.5"))
}

/// A count in the units that [`parse_count`] reads, if it is a whole number of them: `8M`, `1000`.
pub(crate) fn count(n: u64) -> String {
    for (shift, unit) in [(30, "G"), (20, "M"), (10, "K")] {
        if n != 0 && n.is_multiple_of(1 << shift) {
            return format!("{}{unit}", n >> shift);
        }
    }
    n.to_string()
}

/// Three digits in the first of these units of which there is at least this share.
fn in_units(x: f64, share: f64, units: &[(f64, &str)]) -> Option<String> {
    let (scale, unit) = units.iter().find(|(scale, _)| x >= scale * share)?;
    Some(digits3(x / scale) + unit)
}

/// Three digits and a decimal unit: `18.2M`, `570K`, `12`.
pub(crate) fn short(x: f64) -> String {
    // 999.5 of a smaller unit would print as 1000.
    let shown = in_units(x, 0.9995, &[(1e9, "G"), (1e6, "M"), (1e3, "K")]);
    let whole = || (x.fract() == 0.0).then(|| format!("{x:.0}"));
    shown.or_else(whole).unwrap_or_else(|| digits3(x))
}

/// Three significant digits, no exponent.
pub(crate) fn digits3(x: f64) -> String {
    if x >= 99.95 {
        format!("{x:.0}")
    } else if x >= 9.995 {
        format!("{x:.1}")
    } else {
        format!("{x:.2}")
    }
}

/// Bytes with a binary unit: `80.0 GiB`.
pub(crate) fn bytes(n: u64) -> String {
    let units = [(40, " TiB"), (30, " GiB"), (20, " MiB"), (10, " KiB")];
    let units = units.map(|(shift, unit)| ((1u64 << shift) as f64, unit));
    in_units(n as f64, 1.0, &units).unwrap_or_else(|| format!("{n} bytes"))
}

/// A plural: `1 lock`, `2 locks`.
pub(crate) fn of(n: u64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// `413×`; a ratio to nothing is infinite.
pub(crate) fn times(ratio: f64) -> String {
    if ratio.is_infinite() {
        return "\u{221e}".into();
    }
    digits3(ratio) + "\u{d7}"
}

/// A share from 0 to 1 in per cent: `31 %`, `0.4 %`, with a space that does not break.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    let digits = match value {
        ..=0.0 => format!("{value:.0}"),
        ..0.005 => "< 0.01".into(),
        ..0.095 => format!("{value:.2}"),
        ..9.95 => format!("{value:.1}"),
        99.95..100.0 => "> 99.9".into(),
        99.0..100.0 if value > 99.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    };
    digits + "\u{a0}%"
}

/// Returns a time in words, given in milliseconds.
pub(crate) fn time(ms: f64) -> String {
    let shown = in_units(ms, 1.0, &[(1e3, " s"), (1.0, " ms")]);
    shown.unwrap_or_else(|| digits3(ms * 1e3) + " \u{b5}s")
}
