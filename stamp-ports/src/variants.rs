//! Variants as they are asked for: the algorithms, and `optimized`, which is one of two of them.

use crate::error::{Error, Result, refuse};
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::with_algorithm;

/// A variant, as named at the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct AskedVariant(Option<Variant>);

impl From<Variant> for AskedVariant {
    fn from(algorithm: Variant) -> Self {
        Self(Some(algorithm))
    }
}

impl AskedVariant {
    /// The better of two by the sizes (section 4.2 of Xu et al. 2014).
    pub const OPTIMIZED: Self = Self(None);

    /// All of them, the baseline first.
    pub fn all() -> Vec<Self> {
        let algorithms = Variant::ALL.iter().map(|&algorithm| algorithm.into());
        algorithms.chain([Self::OPTIMIZED]).collect()
    }

    /// The variants of Xu et al. 2014; `optimized` is last, as it reuses the search of what it stands for.
    pub fn of_paper() -> Vec<Self> {
        let mut all = Self::all();
        all.retain(|variant| variant.is_paper());
        all
    }

    /// Its name at the command line and in JSON.
    pub const fn name(self) -> &'static str {
        match self.0 {
            Some(algorithm) => algorithm.name(),
            None => "optimized",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        let optimized = "hv-sorting if stripes outnumber locks, else tbv-sorting";
        self.0.map_or(optimized, Variant::about)
    }

    pub(crate) fn is_paper(self) -> bool {
        self.0.is_none_or(Variant::is_paper)
    }

    /// Whether the time of its phases can be taken.
    pub(crate) fn has_profile(self) -> bool {
        self.0.is_none_or(Variant::has_profile)
    }

    /// Whether it narrows a warp under contention and has the gate.
    pub(crate) fn has_scheduler(self) -> bool {
        (self.0).is_some_and(|this| with_algorithm!(this, A => A::SCHEDULED))
    }

    /// The algorithm to run: for `optimized` the one that the sizes call for. Where stripes share locks, time
    /// stamps alone report conflicts that are none, and comparing values pays (section 4.2).
    pub(crate) fn resolve(self, stripes: u64, locks: u64) -> Variant {
        let share = usize::from(stripes > locks);
        (self.0).unwrap_or([Variant::TbvSorting, Variant::HvSorting][share])
    }

    pub(crate) fn uses_lock_table(self) -> bool {
        let of = |this| with_algorithm!(this, A => <A as Algorithm>::USES_LOCK_TABLE);
        self.0.is_none_or(of)
    }
}

/// Reads `all` or names separated by commas; `unknown` says what is wrong with a name that is none of these.
pub(crate) fn parse_list<T: Copy + PartialEq>(
    text: &str,
    known: &[T],
    name: impl Fn(T) -> &'static str,
    unknown: impl FnOnce(&str, &[&str]) -> String,
) -> Result<Vec<T>> {
    let mut found = Vec::new();
    for asked in text.split(',').map(str::trim) {
        let is_named = |one: &T| asked == "all" || name(*one) == asked;
        let mut named = known.iter().copied().filter(is_named).peekable();
        if named.peek().is_none() {
            let names: Vec<&str> = known.iter().map(|one| name(*one)).collect();
            return refuse(unknown(asked, &names));
        }
        let new: Vec<T> = named.filter(|one| !found.contains(one)).collect();
        found.extend(new);
    }
    Ok(found)
}

pub(crate) fn parse_variants(text: &str) -> Result<Vec<AskedVariant>> {
    let unknown = |name: &str, names: &[&str]| {
        let more = "`all` takes every one";
        unknown_name("variant", name, names, more)
    };
    parse_list(text, &AskedVariant::all(), AskedVariant::name, unknown)
}

/// Reads names of algorithms, which `optimized` is none of.
pub(crate) fn parse_algorithms(text: &str) -> Result<Vec<Variant>> {
    if text == "all" {
        return Ok(Variant::ALL.to_vec());
    }
    let optimized = "optimized is hv-sorting or tbv-sorting: give one of them";
    let algorithm = |asked: AskedVariant| asked.0.map_or_else(|| refuse(optimized), Ok);
    parse_variants(text)?.into_iter().map(algorithm).collect()
}

pub(crate) fn no_profile_of(variant: AskedVariant) -> Error {
    Error::Usage(format!(
        "--profile has no kernels for {}: give --variant hv-sorting, or others of the paper's",
        variant.name()
    ))
}

/// The known name that is near to a wrong one, if any is.
pub(crate) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let lower = name.to_lowercase().replace('_', "-");
    known
        .iter()
        .map(|&k| (strsim::jaro_winkler(&lower, k), k))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        // Of short words, few letters in common are many.
        .filter(|&(score, k)| {
            score > 0.8 || score > 0.6 && lower.starts_with(|first: char| k.starts_with(first))
        })
        .map(|(_, k)| k)
}

/// What is wrong with a name of a `what`, which it may have been meant for, and `more`.
pub(crate) fn unknown_name(what: &str, name: &str, known: &[&str], more: &str) -> String {
    let suggestion = suggestion(name, known);
    let stop = if suggestion.ends_with('?') { "" } else { ";" };
    format!("unknown {what} {name:?}: {suggestion}{stop} {more}")
}

/// `did you mean X?` if a name is near, else all the names.
pub(crate) fn suggestion(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(k) => format!("did you mean {k}?"),
        None => format!("known are {}", known.join(", ")),
    }
}
