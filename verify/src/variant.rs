//! The variants by name, and from a name to a type that records.

use crate::error::Error;
use std::fmt;

/// An algorithm, by its name at the command line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Variant {
    /// One coarse-grained lock.
    Cgl,
    /// One transaction a block, blocking locks.
    Egpgv,
    /// Validation by value behind one sequence lock.
    Vbv,
    /// Validation by time stamp, sorted locks.
    TbvSorting,
    /// Hierarchical validation, sorted locks.
    HvSorting,
    /// Hierarchical validation, locks as met with back-off.
    HvBackoff,
    /// Snapshots that are extended, versions beside the values.
    Fast,
    /// Snapshots that are extended, versions in the table of locks.
    FastTable,
}

impl Variant {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Cgl,
        Self::Egpgv,
        Self::Vbv,
        Self::TbvSorting,
        Self::HvSorting,
        Self::HvBackoff,
        Self::Fast,
        Self::FastTable,
    ];

    /// Whether a warp can run one transaction together, `Algorithm::TEAMS`.
    pub const fn has_teams(self) -> bool {
        matches!(self, Self::Fast | Self::FastTable)
    }

    /// The name at the command line.
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
        }
    }

    /// Whether additions to sums are no reads and writes.
    pub const fn adds(self) -> bool {
        matches!(self, Self::Fast | Self::FastTable)
    }

    /// The variant of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name)
    }

    /// Reads `all`, or names separated by commas.
    ///
    /// # Errors
    /// [`Error::Usage`], for a name that is none.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, Error> {
        if text == "all" {
            return Ok(Self::ALL.to_vec());
        }
        text.split(',')
            .map(|name| {
                Self::from_name(name.trim()).ok_or_else(|| {
                    let known = Self::ALL.map(Self::name).join(", ");
                    Error::Usage(format!(
                        "unknown variant {name:?}: known are {known}; `all` takes every one"
                    ))
                })
            })
            .collect()
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Evaluates `$body` with the type `$A` standing for the variant's algorithm,
/// recorded.
macro_rules! with_recorded {
    ($variant:expr, $A:ident => $body:expr) => {
        match $variant {
            $crate::variant::Variant::Cgl => {
                type $A = stm_core::algorithm::Cgl<stm_core::probe::Recorder>;
                $body
            }
            $crate::variant::Variant::Egpgv => {
                type $A = stm_core::algorithm::Egpgv<stm_core::probe::Recorder>;
                $body
            }
            $crate::variant::Variant::Vbv => {
                type $A = stm_core::algorithm::Vbv<stm_core::probe::Recorder>;
                $body
            }
            $crate::variant::Variant::TbvSorting => {
                type $A = stm_core::algorithm::TbvSorting<stm_core::probe::Recorder>;
                $body
            }
            $crate::variant::Variant::HvSorting => {
                type $A = stm_core::algorithm::HvSorting<stm_core::probe::Recorder>;
                $body
            }
            $crate::variant::Variant::HvBackoff => {
                type $A = stm_core::algorithm::HvBackoff<stm_core::probe::Recorder>;
                $body
            }
            $crate::variant::Variant::Fast => {
                type $A = stm_core::algorithm::Fast<stm_core::probe::Recorder>;
                $body
            }
            $crate::variant::Variant::FastTable => {
                type $A = stm_core::algorithm::FastTable<stm_core::probe::Recorder>;
                $body
            }
        }
    };
}
pub(crate) use with_recorded;

#[cfg(test)]
mod tests {
    use super::*;
    use stm_core::algorithm::Algorithm;

    #[test]
    fn names_are_those_of_the_algorithms() {
        for variant in Variant::ALL {
            assert_eq!(with_recorded!(variant, A => A::NAME), variant.name());
            assert_eq!(Variant::from_name(variant.name()), Some(variant));
            assert_eq!(with_recorded!(variant, A => A::TEAMS), variant.has_teams());
        }
        assert_eq!(Variant::parse_list("vbv, cgl").unwrap().len(), 2);
        assert!(Variant::parse_list("vbw").is_err());
    }
}
