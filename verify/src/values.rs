//! The values of options, as they are written on a command line.

use std::ops::RangeInclusive;
use std::time::Duration;
use stm_core::algorithm::Variant;
use stm_core::internal::observe::Mutant;

/// Digits, with underscores, then optionally K, M or G (powers of 1024); or
/// `0x` and hexadecimal digits; or `2^n`.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let parse = || {
        if let Some(hex) = text.strip_prefix("0x") {
            return u64::from_str_radix(hex, 16).ok();
        }
        if let Some(exponent) = text.strip_prefix("2^") {
            return 1u64.checked_shl(exponent.parse().ok()?);
        }
        let (digits, shift) = match text.strip_suffix(|c: char| c.is_ascii_alphabetic()) {
            Some(digits) => (digits, 10 * (1 + "kmg".find(text.to_lowercase().pop()?)?)),
            None => (text, 0),
        };
        let number: u64 = digits.replace('_', "").parse().ok()?;
        number.checked_mul(1 << shift)
    };
    parse().ok_or_else(|| format!("{text:?} is no count: write 100_000, 100K, 10M, 2^20 or 0x2a"))
}

pub(crate) fn parse_threads(text: &str) -> Result<usize, String> {
    match parse_count(text)? {
        n @ 1..=1024 => Ok(n as usize),
        n if n > u64::from(u32::MAX) => Err(format!("{text:?} is too large: at most {}", u32::MAX)),
        _ => Err(format!("{text:?} threads: give 1 to 1024")),
    }
}

/// `5`, or `3..8` for 3 to 8.
pub(crate) fn parse_version_bits(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if 3 <= from && from <= to && to <= 31 => Ok(from..=to),
        _ => Err(format!(
            "{text:?} are no bits of a version: give 5 or 3..8, from 3 to 31"
        )),
    }
}

pub(crate) fn parse_minutes(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|&minutes: &f64| minutes > 0.0)
        .and_then(|minutes| Duration::try_from_secs_f64(60.0 * minutes).ok())
        .ok_or_else(|| format!("{text:?} is no time: give minutes above 0, such as 2.5"))
}

/// Reads `all`, or names of variants separated by commas.
pub(crate) fn parse_variants(text: &str) -> Result<Vec<Variant>, String> {
    if text == "all" {
        return Ok(Variant::ALL.to_vec());
    }
    let known = || Variant::ALL.iter().map(|v| v.name()).collect::<Vec<_>>();
    let of = |name: &str| {
        Variant::from_name(name.trim()).ok_or_else(|| {
            let known = known().join(", ");
            format!("unknown variant {name:?}: known are {known}; `all` takes every one")
        })
    };
    text.split(',').map(of).collect()
}

pub(crate) fn parse_mutant(text: &str) -> Result<Mutant, String> {
    Mutant::from_name(text)
        .ok_or_else(|| format!("unknown mutant {text:?}: `verify mutants --list` names them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_all_or_named() {
        let all = parse_variants("all").unwrap();
        assert_eq!(all, Variant::ALL);
        let two = parse_variants("vbv, cgl").unwrap();
        assert_eq!(two, [Variant::Vbv, Variant::Cgl]);
        let error = parse_variants("vbw").unwrap_err();
        assert!(error.contains("\"vbw\": known are cgl, "), "{error}");
    }

    #[test]
    fn counts_are_read_in_every_documented_form() {
        for (text, n) in [
            ("100_000", 100_000),
            ("1K", 1024),
            ("3m", 3 << 20),
            ("2^20", 1 << 20),
            ("0x2a", 42),
        ] {
            assert_eq!(parse_count(text), Ok(n));
        }
        for text in ["", "K", "-1", "1.5M", "2^64", "x", "18446744073709551615K"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }
}
