//! The registry of algorithms, a line for each: [`Variant`], the dispatch from a variant to a type
//! ([`with_algorithm!`](crate::with_algorithm)), and the entry points of every kernel
//! ([`for_each_algorithm!`](crate::for_each_algorithm)).
//!
//! | column | meaning |
//! | --- | --- |
//! | type | the algorithm's type, and the module from which [`crate::algorithm`] exports it |
//! | entry | the suffix of the names of its PTX entry points |
//! | name | its name at the command line and in results |
//! | origin | `paper` for the variants of Xu et al. 2014, which `bench paper` measures and `--profile` takes (their code has `mark!`); `own` for the others |
//! | teams | `teams` if a warp or a block can run one transaction together, else `alone` |
//! | sums | `sums` if additions to sums do not conflict, `words` if they are reads and writes |
//! | sentence | a description for lists |

macro_rules! algorithms {
    ($d:tt $(
        $type:ident in $($module:ident)::+, $entry:ident, $name:literal, $origin:ident, $teams:ident, $sums:ident, $about:literal;
    )*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $about, ".")]
            ///
            /// A kernel that names it runs under it, on arrays in its layout:
            ///
            /// ```
            #[doc = concat!("use stm_core::algorithm::", stringify!($type), ";")]
            /// use stm_core::prelude::*;
            ///
            #[doc = concat!("#[kernel(", stringify!($type), ")]")]
            #[doc = concat!("pub fn raise_", stringify!($entry), "(stm: &Stm, words: Cells<u32>) {")]
            ///     stm.each(0..100, |tx, i| {
            ///         let word = tx.read(words, i % 10)?;
            ///         tx.write(words, i % 10, word + 1)
            ///     });
            /// }
            ///
            /// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
            /// let mut stm = Stm::on(&Cpu::new())?; let mut words = stm.array("words", &[0u32; 10])?;
            #[doc = concat!("words.arrange::<", stringify!($type), ">()?;")]
            #[doc = concat!("raise_", stringify!($entry), "::launch(&mut stm, Launch::new(2, 4), &words)?;")]
            /// assert_eq!(words.download()?, [10; 10]);
            /// # Ok(()) }
            /// # #[cfg(not(feature = "host"))] fn main() {}
            /// ```
            pub use super::$($module)::+::$type;
        )*

        /// An algorithm as a value ([`with_algorithm!`](crate::with_algorithm) gives the type).
        ///
        /// ```
        /// use stm_core::algorithm::Variant;
        ///
        /// let named = Variant::from_name("fast-table");
        /// assert_eq!(named, Some(Variant::FastTable));
        /// let of_the_paper = Variant::ALL.iter().filter(|variant| variant.is_paper());
        /// assert_eq!(of_the_paper.count(), 6);
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Variant {
            $(
                #[doc = concat!("`", $name, "`: ", $about, ".")]
                $type,
            )*
        }

        impl Variant {
            /// All variants, the baseline first.
            pub const ALL: &[Self] = &[$(Self::$type,)*];

            const fn row(self) -> Row {
                match self {
                    $(Self::$type => Row {
                        name: $name,
                        about: $about,
                        is_paper: match stringify!($origin).as_bytes() {
                            b"paper" => true,
                            b"own" => false,
                            _ => panic!("`paper` or `own`"),
                        },
                        has_teams: match stringify!($teams).as_bytes() {
                            b"teams" => true,
                            b"alone" => false,
                            _ => panic!("`teams` or `alone`"),
                        },
                        has_sums: match stringify!($sums).as_bytes() {
                            b"sums" => true,
                            b"words" => false,
                            _ => panic!("`sums` or `words`"),
                        },
                    },)*
                }
            }
        }

        /// Evaluates an expression with a type name for the algorithm of a
        /// [`Variant`](crate::algorithm::Variant).
        ///
        /// ```
        /// use stm_core::algorithm::{Algorithm, Variant};
        ///
        /// let variant = Variant::from_name("fast").unwrap();
        /// let name = stm_core::with_algorithm!(variant, A => A::VARIANT.name());
        /// assert_eq!(name, "fast");
        /// ```
        #[macro_export]
        macro_rules! with_algorithm {
            ($d variant:expr, $d A:ident => $d body:expr) => {
                match $d variant {
                    $(
                        $d crate::algorithm::Variant::$type => {
                            type $d A = $d crate::algorithm::$type;
                            $d body
                        }
                    )*
                }
            };
        }

        /// Gathers the lines of the algorithms named, for the entry points of a kernel.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __algorithm_lines {
            $(
                ([$type $d($d rest:ident)*] {$d($d lines:tt)*} $d($d tokens:tt)*) => {
                    $d crate::__algorithm_lines! {
                        [$d($d rest)*]
                        {$d($d lines)* $type $entry $name $origin $teams $sums;}
                        $d($d tokens)*
                    }
                };
            )*
            ([] {$d($d lines:tt)*} $d($d tokens:tt)*) => {
                $d crate::__entries! { $d($d tokens)* $d($d lines)* }
            };
            ([$d other:ident $d($d rest:ident)*] $d($d tokens:tt)*) => {
                compile_error!(concat!(
                    "`", stringify!($d other), "` is no algorithm of stm-core; they are:",
                    $(" ", stringify!($type)),*
                ));
            };
        }

        /// Calls a macro with some tokens followed by a line `Type entry name
        /// origin teams sums;` for each algorithm of the registry.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! for_each_algorithm {
            ($d($d callback:ident)::+ ! { $d($d tokens:tt)* }) => {
                $d($d callback)::+! {
                    $d($d tokens)*
                    $($type $entry $name $origin $teams $sums;)*
                }
            };
        }
    };
}

/// A line of the registry, without what names types and entry points.
struct Row {
    name: &'static str,
    about: &'static str,
    is_paper: bool,
    has_teams: bool,
    has_sums: bool,
}

algorithms! { $
    Cgl in paper::cgl, cgl, "cgl", paper, alone, words,
        "one coarse-grained lock: the baseline";
    Egpgv in paper::version_locks, egpgv, "egpgv", paper, alone, words,
        "one transaction a block, waits for locks (Cederman 2010)";
    Vbv in paper::vbv, vbv, "vbv", paper, alone, words,
        "validation by value, one sequence lock (NOrec)";
    TbvSorting in paper::version_locks, tbv_sorting, "tbv-sorting", paper, alone, words,
        "validation by time stamp, locks in order";
    HvSorting in paper::version_locks, hv_sorting, "hv-sorting", paper, alone, words,
        "by time stamp, then by value; locks in order: GPU-STM";
    HvBackoff in paper::version_locks, hv_backoff, "hv-backoff", paper, alone, words,
        "the same, locks as met, backing off";
    Fast in fast::protocol, fast, "fast", own, teams, sums,
        "versions beside values, snapshots extended, one clock tick a warp";
    FastTable in fast::protocol, fast_table, "fast-table", own, teams, sums,
        "the same with the lock table, for memory of any layout";
}

impl Variant {
    /// Returns the name at the command line and in results.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns a description in one sentence.
    pub const fn about(self) -> &'static str {
        self.row().about
    }

    /// Returns whether it is one of the variants of Xu et al. 2014.
    pub const fn is_paper(self) -> bool {
        self.row().is_paper
    }

    /// Returns whether the lanes of a warp, or the threads of a block, can run one
    /// transaction together ([`StmRef::team`](crate::StmRef::team)).
    pub const fn has_teams(self) -> bool {
        self.row().has_teams
    }

    /// Returns whether additions to sums do not conflict with one another.
    pub const fn has_sums(self) -> bool {
        self.row().has_sums
    }

    /// Returns the variant with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|v| v.name() == name)
    }

    /// Returns whether its kernels can be built to measure their phases. The breakdown is that of
    /// the paper's Figure 5, whose phases are those of the paper's variants.
    pub const fn has_profile(self) -> bool {
        self.is_paper()
    }
}

impl core::fmt::Display for Variant {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}
