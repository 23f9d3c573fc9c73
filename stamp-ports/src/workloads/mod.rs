//! The workloads: a folder each, and one line each in the list of this file. The `mod.rs` of a workload has its
//! data on a device, and, if there are no files for these, its sizes with defaults and options (`input.rs`),
//! what must hold afterwards (`check.rs`), and its work without transactions (`floor.rs`).
//!
//! `map`, `ordered` and `list` are one workload with three containers, in `container`.

#![allow(
    missing_docs,
    reason = "the program alone calls this; what a name says needs no sentence"
)]

/// Ends a verification with the line of the first of these conditions that holds, as an error or its text.
macro_rules! wrong {
    ($($condition:expr => $line:literal $(, $value:expr)*;)+) => {
        $(
            if $condition {
                return Err(format!($line $(, $value)*).into());
            }
        )+
    };
}

/// Refuses what a caller asks for with the line of the first of these conditions that holds: it names the
/// option and the fix.
macro_rules! refuse {
    ($($condition:expr => $line:literal $(, $value:expr)*;)+) => {
        $(
            if $condition {
                return Err($crate::error::Error::Usage(format!($line $(, $value)*)));
            }
        )+
    };
}

pub mod bank;
pub mod container;
pub mod counter;
pub mod eigenbench;
pub mod genome;
pub mod ht;
pub mod kmeans;
pub mod labyrinth;
pub mod nw;
pub mod pool;
pub mod queue;
pub mod ra;
pub mod sorted;
pub mod vacation;

pub mod compare;
pub mod contender;
pub(crate) mod exclusion;
pub mod form;
pub mod input;
pub mod launcher;
pub mod options;
pub mod plain;
pub mod prepared;
pub mod workload;

mod prelude;

#[cfg(test)]
mod test_prelude {
    //! What the tests of the workloads have in common.

    pub(super) use super::launcher::tests::{change, left, ran, spoilt};
    pub(super) use crate::testing::{Spoils, refused, spoils};
    pub(super) use stm_core::algorithm::HvSorting;
    pub(super) use stm_core::host::Cpu;
}

use crate::devices::AnyDevice;
use crate::error::Result;
use crate::external_prelude::*;
use crate::variants::{parse_list, unknown_name};
use contender::Contender;
use input::{Input, Occasion, WorkloadArgs};
use prepared::{Prepared, prepare};
use workload::{MadeFor, Named, Sizes, Workload};

/// The options of a workload, and how it is made of them.
struct OptionsOf {
    name: &'static str,
    heading: &'static str,
    /// The shared options that it takes.
    takes: &'static [&'static str],
    /// Adds its own.
    add: fn(clap::Command) -> clap::Command,
    new: fn(&WorkloadArgs, Occasion) -> Result<AnyWorkload>,
}

/// Makes the enum of all workloads, and what is made of it, of a line for each: the name, the variant of the enum,
/// the type, and a sentence for a person.
macro_rules! registry {
    ($($name:ident: $Variant:ident($module:ident::$Workload:ident), $about:literal;)*) => {
        pub const WORKLOADS: &[(&str, &str)] = &[$((stringify!($name), $about)),*];

        /// Their options at the command line.
        const OPTIONS: &[OptionsOf] = &[$(OptionsOf {
            name: stringify!($name),
            heading: concat!("Workload ", stringify!($name)),
            takes: $module::$Workload::TAKES,
            add: <$module::$Workload as Input>::Options::augment_args,
            new: |args, of| Ok(args.made::<$module::$Workload>(of)?.into()),
        }),*];

        #[derive(Debug)]
        pub enum AnyWorkload {
            $($Variant($module::$Workload),)*
        }

        $(
            impl Named for $module::$Workload {
                fn name(&self) -> &'static str {
                    stringify!($name)
                }
            }

            impl From<$module::$Workload> for AnyWorkload {
                fn from(workload: $module::$Workload) -> Self {
                    Self::$Variant(workload)
                }
            }
        )*

        /// Evaluates `$body` with `$w` bound to the workload inside an [`AnyWorkload`].
        macro_rules! on_workload {
            ($any:expr, $w:ident => $body:expr) => {
                match $any {
                    $(AnyWorkload::$Variant($w) => $body,)*
                }
            };
        }
    };
}
registry! {
    ra: Ra(ra::Ra), "random array: each transaction reads and changes random words";
    ht: Ht(ht::Ht), "hash table: each transaction inserts several keys, all or none";
    bank: Bank(bank::Bank), "transfers between accounts, audits that sum up a range of them";
    eigenbench: Eigenbench(eigenbench::Eigenbench), "every characteristic of a transaction, each set alone";
    genome: Genome(genome::Genome), "puts a gene together: drops duplicate segments, links the others";
    labyrinth: Labyrinth(labyrinth::Labyrinth), "routes paths through a grid: each transaction claims one path";
    kmeans: Kmeans(kmeans::Kmeans), "k-means: each transaction adds a point to its nearest centre";
    vacation: Vacation(vacation::Vacation), "travel agency: reservations, customers deleted, tables changed";
    queue: Queue(queue::Queue), "bounded queue: producers and consumers try, first in, first out";
    map: Map(container::Map), "map: keys inserted, removed and looked up, nodes from a pool";
    ordered: Ordered(container::Ordered), "ordered map: keys inserted, removed and looked up";
    list: List(container::List), "one sorted list, nodes from a pool";
    pool: Pool(pool::Pool), "nodes allocated and freed, and nothing else";
    counter: Counter(counter::Counter), "counters that all threads increment";
    sorted: Sorted(sorted::Sorted), "one sorted list with entry points, keys inserted";
    nw: Nw(nw::Nw), "alignment of sequences: each transaction computes a cell";
}

impl AnyWorkload {
    /// Draws it anew from a seed, if it is drawn.
    pub fn redrawn(&self, seed: u64) -> Result<Self> {
        on_workload!(self, w => w.redrawn(seed).map(Self::from))
    }

    pub fn sizes(&self) -> &dyn Sizes {
        on_workload!(self, w => w)
    }

    /// Allocates its data, for up to `transactions_max` transactions. The parameters have been checked.
    pub fn prepare<'a, D: Device>(
        &'a self,
        device: &'a D,
        seed: u64,
        transactions_max: u64,
    ) -> Result<Box<dyn Prepared<D> + 'a>> {
        on_workload!(self, w => prepare(w, device, MadeFor::new(seed, transactions_max), None))
    }

    pub fn compile(&self, device: &AnyDevice, algorithm: Variant) -> Result<Duration> {
        on_workload!(self, w => {
            with_algorithm!(algorithm, A => w.compile::<AnyDevice, A>(device, Observation::Silent))
        })
    }

    pub fn with_adds(&self) -> Option<Self> {
        on_workload!(self, w => w.with_adds().map(Self::from))
    }

    pub fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        on_workload!(self, w => w.contenders())
    }
}

/// Reads `all`, or names of workloads separated by commas.
pub fn parse_names(text: &str) -> Result<Vec<&'static str>> {
    let known: Vec<&'static str> = WORKLOADS.iter().map(|(name, _)| *name).collect();
    let unknown = |name: &str, known: &[&str]| {
        let more = "`all` takes every one, `stamp list` describes them";
        unknown_name("workload", name, known, more)
    };
    parse_list(text, &known, |name| name, unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::DeviceKind;

    #[test]
    fn every_workload_has_its_name_and_can_run_on_each_occasion() {
        for occasion in [
            Occasion::Quick,
            Occasion::Recording(DeviceKind::Cpu),
            Occasion::Demonstration(DeviceKind::Cpu),
        ] {
            for &(name, about) in WORKLOADS {
                let workload = AnyWorkload::sized(name, occasion, 1).expect("a workload");
                let sizes = workload.sizes();
                assert_eq!(sizes.name(), name);
                assert!(!about.is_empty() && !sizes.summary().is_empty());
                sizes.check(sizes.transactions().unwrap_or(1000)).unwrap();
            }
        }
        assert!(AnyWorkload::sized("rx", Occasion::Quick, 1).is_err());
    }
}
