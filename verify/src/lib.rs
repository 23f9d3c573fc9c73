//! Checks of transactional memories: a simulator that is worse than any GPU, recorded histories, an opacity
//! checker, and programs that put them to work.
//!
//! # Check your own kernel
//!
//! [`Check`] is for the `#[test]` of a crate with kernels of its own. It runs what a closure launches in
//! hundreds of simulations, judges every attempt, and prints a line that replays what it finds:
//!
//! ```
//! use stm_core::prelude::*;
//! use verify::Check;
//!
//! /// Payments between accounts, one transaction each.
//! #[kernel]
//! pub fn pay<L: Lane, A: Algorithm>(
//!     lane: &L, stm: &StmRef<A>, accounts: &A::Array<u32>, payments: u64,
//! ) {
//!     stm.for_each(lane, 0..payments, |tx, i| {
//!         let (from, to) = (i % 3, 3 + i % 2);
//!         let [a, b] = tx.read_many(accounts, [from, to])?;
//!         if a == 0 { return tx.cancel(); }
//!         tx.write(accounts, from, a - 1)?;
//!         tx.write(accounts, to, b + 1)
//!     });
//! }
//!
//! # fn main() {
//! // In a crate of one's own: #[test] fn payments_keep_the_total() { … }
//! Check::new(|sim, run| {
//!     let accounts = TxArray::from_slice(sim, run.layout(), &[2_u32; 5], "accounts")?;
//!     run.name(&accounts)?;
//!     let mut stm = run.stm(sim)?;
//!     pay::launch(&mut stm, run.shape(), &accounts, run.transactions())?;
//!     run.holds("the total stays", accounts.download()?.iter().sum::<u32>() == 10)
//! })
//! .cases(64)
//! .run();
//! # }
//! ```
//!
//! Another crate depends on this one without its program:
//!
//! ```toml
//! [dev-dependencies]
//! verify = { version = "0.2", default-features = false }
//!
//! [profile.dev]
//! opt-level = 1 # a simulation is much faster
//! ```
//!
//! # The modules
//!
//! | module | is |
//! | --- | --- |
//! | [`check`] | checks of a user's kernels |
//! | [`recording`] | a user's kernel recorded on a GPU (feature `cuda`) or any other device |
//! | [`sim`] | a SIMT machine in one thread, with weak memory |
//! | [`history`], [`opacity`] | what transactions did, and whether it was right |
//! | [`failure`] | what a run can find |
//! | [`named`], [`page`] | findings in the words of the program, and as a page |
//! | [`rng`] | the source of chance, whose values stay the same |

/// What most modules name.
mod prelude {
    pub(crate) use crate::failure::{Failure, FailureKind};
    pub(crate) use crate::rng::Rng;
    pub(crate) use crate::sim::{MemoryModel, Schedule, Sim, SimConfig, SimErrorKind};
    pub(crate) use stm_core::algorithm::{Algorithm, Variant};
    pub(crate) use stm_core::internal::observe::Mutant;
    pub(crate) use stm_history::error::Error;
    pub(crate) use stm_history::history::left::Left;
    pub(crate) use stm_history::history::records::Records;
    pub(crate) use stm_history::history::{Header, History, InitialMemory, Rest};
    pub(crate) use stm_history::named::{Explained, Named, NamedWord, Names};
    pub(crate) use stm_history::opacity::report::Verdict;
    pub(crate) use stm_history::opacity::{self, States};
    pub(crate) use stm_history::page::Page;
}

/// Writes methods of a builder, each of which sets a field.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($value:ident: $of:ty): $($field:ident).+ = $new:expr;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub const fn $name(mut self, $value: $of) -> Self {
            self.$($field).+ = $new;
            self
        }
    )*};
}

pub mod check;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod commands;
pub mod failure;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod fuzz;
mod judged;
mod line;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod mutants;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod program;
pub mod recording;
pub mod rng;
pub mod sim;

pub use check::Check;
pub use stm_history::{error, history, named, opacity, page};
