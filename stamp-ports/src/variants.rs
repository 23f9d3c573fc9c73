//! The variants' names, and from a name to an algorithm's type.

use crate::error::{Error, Result};

/// A variant, as named at the command line. All but `optimized` are an
/// algorithm; that one is chosen from two.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Variant {
    /// One coarse-grained lock.
    Cgl,
    /// One transaction a block, blocking locks.
    Egpgv,
    /// Value-based validation, one sequence lock.
    Vbv,
    /// Time-stamp validation, sorted locks.
    TbvSorting,
    /// Hierarchical validation, sorted locks.
    HvSorting,
    /// Hierarchical validation, locks as met with back-off.
    HvBackoff,
    /// Snapshots that are extended, versions beside the values.
    Fast,
    /// Snapshots that are extended, versions in the table of locks.
    FastTable,
    /// The better of two by the sizes.
    Optimized,
}

impl Variant {
    /// All of them, the baseline first.
    pub const ALL: [Self; 9] = [
        Self::Cgl,
        Self::Egpgv,
        Self::Vbv,
        Self::TbvSorting,
        Self::HvSorting,
        Self::HvBackoff,
        Self::Fast,
        Self::FastTable,
        Self::Optimized,
    ];

    /// Those of Xu et al. 2014.
    pub const PAPER: [Self; 7] = [
        Self::Cgl,
        Self::Egpgv,
        Self::Vbv,
        Self::TbvSorting,
        Self::HvSorting,
        Self::HvBackoff,
        Self::Optimized,
    ];

    /// Its name at the command line and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cgl => "cgl",
            Self::Egpgv => "egpgv",
            Self::Vbv => "vbv",
            Self::TbvSorting => "tbv-sorting",
            Self::HvSorting => "hv-sorting",
            Self::HvBackoff => "hv-backoff",
            Self::Fast => "fast",
            Self::FastTable => "fast-table",
            Self::Optimized => "optimized",
        }
    }

    /// One line about it.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Cgl => "one coarse-grained lock: the baseline",
            Self::Egpgv => "one transaction a block, waits for locks (Cederman 2010)",
            Self::Vbv => "validation by value, one sequence lock (NOrec)",
            Self::TbvSorting => "validation by time stamp, locks in order",
            Self::HvSorting => "by time stamp, then by value; locks in order: GPU-STM",
            Self::HvBackoff => "the same, locks as met, backing off",
            Self::Fast => "versions beside values, snapshots extended, one clock tick a warp",
            Self::FastTable => "the same with the lock table, for memory of any layout",
            Self::Optimized => "hv-sorting if stripes outnumber locks, else tbv-sorting",
        }
    }

    /// The algorithm to run: itself, or for `optimized` the one that the sizes
    /// call for. Where stripes share locks, time stamps alone report conflicts
    /// that are none, and comparing values pays (section 4.2).
    #[must_use]
    pub const fn resolve(self, stripes: u64, locks: u64) -> Self {
        match self {
            Self::Optimized if stripes > locks => Self::HvSorting,
            Self::Optimized => Self::TbvSorting,
            other => other,
        }
    }

    /// Whether it throttles a warp's lanes and queues transactions that conflict.
    pub const fn has_scheduler(self) -> bool {
        matches!(self, Self::Fast | Self::FastTable)
    }

    /// Whether the lock table matters to it.
    pub const fn uses_lock_table(self) -> bool {
        !matches!(self, Self::Cgl | Self::Vbv | Self::Fast)
    }
}

/// Reads `all` or names separated by commas.
///
/// # Errors
/// An unknown name, with the nearest known one.
pub fn parse_variants(text: &str) -> Result<Vec<Variant>> {
    if text == "all" {
        return Ok(Variant::ALL.to_vec());
    }
    let mut found = Vec::new();
    for name in text.split(',').map(str::trim) {
        let known = Variant::ALL.into_iter().find(|v| v.name() == name);
        let variant = known.ok_or_else(|| {
            let names = Variant::ALL.map(Variant::name);
            Error::Usage(format!(
                "unknown variant {name:?}: {}; `all` takes every one",
                suggestion(name, &names)
            ))
        })?;
        if !found.contains(&variant) {
            found.push(variant);
        }
    }
    Ok(found)
}

/// The known name that is near to a wrong one, if any is.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let lower = name.to_lowercase().replace('_', "-");
    known
        .iter()
        .map(|&k| (strsim::jaro_winkler(&lower, k), k))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|&(score, _)| score > 0.6)
        .map(|(_, k)| k)
}

/// `did you mean X?` if a name is near, else all the names.
pub fn suggestion(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(k) => format!("did you mean {k}?"),
        None => format!("known are {}", known.join(", ")),
    }
}

/// Says that there are no kernels with clocks for an algorithm.
pub fn no_clocks_for(variant: Variant) -> Error {
    Error::Usage(format!(
        "--profile has no kernels for {}: give --variant hv-sorting, or others of the paper's",
        variant.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optimized_looks_at_stripes_and_locks() {
        let resolve = |s, l| Variant::Optimized.resolve(s, l);
        assert_eq!(resolve(9, 8), Variant::HvSorting);
        assert_eq!(resolve(8, 8), Variant::TbvSorting);
        assert_eq!(Variant::Vbv.resolve(9, 8), Variant::Vbv);
    }

    #[test]
    fn a_list_keeps_its_order_and_drops_repetitions() {
        assert_eq!(
            parse_variants("vbv, cgl,vbv").unwrap(),
            [Variant::Vbv, Variant::Cgl]
        );
        assert_eq!(parse_variants("all").unwrap().len(), 9);
    }

    #[test]
    fn a_misspelt_variant_gets_the_nearest_name() {
        for (wrong, right) in [
            ("hv-sort", "hv-sorting"),
            ("TBV_sorting", "tbv-sorting"),
            ("optimised", "optimized"),
            ("egpv", "egpgv"),
        ] {
            let error = parse_variants(wrong).unwrap_err().to_string();
            assert!(error.contains(wrong), "{error}");
            assert!(error.contains(&format!("did you mean {right}?")), "{error}");
        }
        let error = parse_variants("xyz!").unwrap_err().to_string();
        assert!(error.contains("known are cgl, egpgv"), "{error}");
    }
}
