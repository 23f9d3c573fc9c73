//! What a workload is to the program: sizes, data on a device, a kernel for each algorithm, and a result.

use super::contender::Contender;
pub use super::form::MadeFor;
use super::form::{Form, Memory};
use super::input::Input;
use super::launcher::Launcher;
pub use super::launcher::Run;
use crate::error::Result;
use crate::external_prelude::*;
use crate::numbers::of;
use std::fmt::Debug;
use std::iter::zip;
use stm_core::Layout;
use stm_core::algorithm::Variant::{
    self, Cgl, Egpgv, Fast, FastTable, HvBackoff, HvSorting, TbvSorting, Vbv,
};

/// What a result is verified for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covers {
    /// The final state alone: a transaction that saw a state which never was may go unnoticed.
    #[default]
    FinalState,
    /// What transactions have seen as well.
    Isolation,
}

impl Covers {
    pub const fn name(self) -> &'static str {
        match self {
            Self::FinalState => "final state",
            Self::Isolation => "final state and isolation",
        }
    }

    pub const fn that(self, what: &'static str) -> Verifies {
        Verifies { covers: self, what }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Verifies {
    pub covers: Covers,
    pub what: &'static str,
}

/// Makes the room of a transaction's sets; its actions are those that it defers until its end.
pub const fn sets(reads: u32, writes: u32, actions: u32) -> Capacity {
    Capacity {
        reads,
        writes,
        actions,
    }
}

/// The random accesses of a transaction, on average, to words of 32 bits that all share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Accesses {
    pub reads: f64,
    pub writes: f64,
    /// Words that it reads and does not write, if it writes any: those that are validated.
    pub validated: f64,
    pub words: u64,
}

impl Accesses {
    /// Makes those of a transaction that reads all words that it writes.
    pub(super) fn of(reads: f64, writes: f64, words: u32) -> Self {
        Self {
            reads,
            writes,
            validated: if writes > 0.0 { reads - writes } else { 0.0 },
            words: words.into(),
        }
    }
}

pub trait Named {
    /// Its name at the command line and in JSON.
    fn name(&self) -> &'static str;
}

/// Declares what is known of a workload without its data, by a row for each fact with its default.
macro_rules! facts {
    (of $parameters:ident; $($(#[$doc:meta])* $fact:ident: $type:ty = $default:expr;)*) => {
        /// What is known of a workload without its data, a device or an algorithm.
        #[derive(Clone, Debug)]
        pub struct Facts {
            $($(#[$doc])* pub $fact: $type,)*
        }

        impl Facts {
            pub fn of($parameters: Vec<(&'static str, Value)>) -> Self {
                Self { $($fact: $default,)* }
            }
        }

        /// A workload without its data.
        pub trait Sizes: Named + Debug {
            /// What is known of it; on the transactions of a launch the shared words alone depend.
            fn facts(&self, transactions: u64) -> Facts;

            /// Checks whether the parameters make sense together; an error names one, and the fix.
            fn check(&self, _transactions: u64) -> Result<()> {
                Ok(())
            }

            /// Blocks and threads of the best known launch on so many multiprocessors, where it is
            /// another than most workloads have with this algorithm.
            fn gpu_shape(&self, algorithm: Variant, processors: u32) -> Option<(u32, u32)> {
                gpu_shape(self.name(), self.form().is_static(), algorithm, processors)
            }

            /// Whether more threads than those of [`Self::gpu_shape`] are slower in any shape, so
            /// that the others of a launch get no transactions unless somebody asks for that.
            fn is_capped(&self, algorithm: Variant) -> bool {
                // `docs/lab-notes/2026-11-26-rounds.md`
                self.name() == "ra" && algorithm == Fast
            }

            /// Whether the threads of a block work together, and one of them runs the transactions.
            fn by_blocks(&self) -> bool {
                self.shared_bytes() != 0
            }

            $(
                $(#[$doc])*
                fn $fact(&self) -> $type {
                    self.facts(0).$fact
                }
            )*
        }
    };
}

facts! {
    of parameters;

    /// Its parameters, by their names in JSON.
    parameters: Vec<(&'static str, Value)> = parameters;
    /// The parameters for a person, as a phrase.
    summary: String = String::new();
    /// What a transaction reads and writes, at most.
    capacity: Capacity = sets(1, 1, 0);
    /// What every input with these parameters fits, where `capacity` is a guess.
    capacity_max: Option<Capacity> = None;
    /// The most transactions of a launch for which `capacity` is enough.
    transactions_max: u64 = u64::MAX;
    /// Transactions of a run where the input says how many; `None` where the caller does.
    transactions: Option<u64> = None;
    form: Form = Form::Dynamic;
    /// Whether a warp makes each transaction, with an algorithm that has teams.
    by_warps: bool = false;
    /// Dynamic shared memory that a block needs, in bytes.
    shared_bytes: u32 = 0;
    /// 32-bit words that transactions share.
    shared_words: u64 = 0;
    /// What [`Workload::verify`] covers.
    verifies: Verifies = Verifies::default();
    /// Where they follow from the parameters: what bounds are computed from.
    accesses: Option<Accesses> = None;
    /// Whether the data are made for so many blocks and lanes and for a layout, and anew for others.
    is_for_lanes: bool = false;
    /// Whether the host changes words between two launches of a run: each launch is then a history.
    is_reset_between_launches: bool = false;
}

/// Returns the parameters that are known, those that are not null.
pub(crate) fn known<const N: usize>(
    parameters: [(&'static str, Value); N],
) -> Vec<(&'static str, Value)> {
    let known = parameters.into_iter().filter(|(_, value)| !value.is_null());
    known.collect()
}

/// Returns sizes with their nouns: `8M words, 16 reads`.
pub(super) fn quantities<const N: usize>(sizes: [impl Into<u64>; N], nouns: [&str; N]) -> String {
    let all = zip(sizes, nouns).map(|(n, noun)| of(n.into(), noun));
    all.collect::<Vec<_>>().join(", ")
}

/// What a run found beside its verification, by its names in JSON.
pub type Observed = serde_json::Map<String, Value>;

pub(super) fn observed(found: &impl Serialize) -> Observed {
    let found = serde_json::to_value(found).unwrap_or_default();
    found.as_object().cloned().unwrap_or_default()
}

/// A workload with its parameters, and what it does on a device.
pub trait Workload: Sizes + Input {
    /// Its data on a device, and what the host needs to verify it.
    type Data<D: Device>: Memory<D, Self>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        Vec::new()
    }

    /// The same with transactions that add to sums unread, if there is such and this is another.
    fn with_adds(&self) -> Option<Self> {
        None
    }

    fn prepare<D: Device>(&self, device: &D, made_for: MadeFor) -> Result<Self::Data<D>> {
        Memory::make(self, device, made_for)
    }

    /// Lays out what transactions access, for a memory that has not used it yet.
    fn arrange<D: Device>(&self, data: &mut Self::Data<D>, layout: Layout) -> Result<()> {
        let mut all = data.accessed().into_iter();
        all.try_for_each(|accessed| accessed.arrange(layout))
    }

    /// Makes the data fit for a launch whose result nobody verifies, by what is cheapest.
    fn clear<D: Device>(&self, data: &mut Self::Data<D>) -> Result<()> {
        self.reset(data)
    }

    /// Puts the data into its state before a launch.
    fn reset<D: Device>(&self, data: &mut Self::Data<D>) -> Result<()> {
        data.clear()
    }

    /// How many transactions commit in a right run of so many, once it has run.
    fn commits_expected<D: Device>(&self, _: &Self::Data<D>, transactions: u64) -> Result<u64> {
        Ok(transactions)
    }

    /// What is known of the last run, verified or not.
    fn observed<D: Device>(&self, _data: &Self::Data<D>) -> Observed {
        Observed::new()
    }

    /// Checks what a launch left, and returns what it found beside;
    /// [`Error::Wrong`](crate::Error::Wrong) says what is wrong, on one line.
    fn verify<D: Device>(&self, data: &mut Self::Data<D>, transactions: u64) -> Result<Observed>;

    /// Remarks for a person about the last run, each with what it is of.
    fn remarks<D: Device>(&self, _data: &Self::Data<D>) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Compiles all kernels, and returns the time that took.
    fn compile<D: Device, A: Algorithm>(
        &self,
        device: &D,
        observation: Observation,
    ) -> Result<Duration>;

    /// Launches the kernel with transactions once (`kernels!`).
    fn launch<D: Device, A: Algorithm>(
        &self,
        data: &Self::Data<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<Statistics>;

    /// One run, of one launch or several; what is done between these is not timed.
    fn run<D: Device, A: Algorithm>(
        &self,
        data: &mut Self::Data<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        self.launch::<D, A>(data, launcher, transactions).map(drop)
    }
}

/// The most words that a transaction reads, or writes: what a set holds.
pub const SET_WORDS_MAX: u32 = 1 << 20;

/// Returns blocks and threads of the best known launch of a workload, whose transactions may be static updates,
/// on `p` multiprocessors, where it is another than most workloads have.
#[allow(clippy::match_same_arms, reason = "an arm is a row for its workloads")]
fn gpu_shape(workload: &str, is_static: bool, algorithm: Variant, p: u32) -> Option<(u32, u32)> {
    Some(match (workload, algorithm, is_static) {
        // An update owns its words for most of its time, so more lanes conflict more.
        ("ra", Fast, true) => (3 * p / 4, 64),
        // Two words each: all lanes that there are rarely meet.
        ("bank", Fast, true) => (2 * p, 512),
        // A static update waits for its swaps alone: fewer lanes wait less for each other's.
        ("ht", Fast, true) => (p, 96),
        // As many as its registers allow.
        ("eigenbench", Fast, true) => (p, 256),
        // More threads only stand in line for the sequence lock.
        ("ra" | "eigenbench", Vbv, _) => (16, 64),
        // Without values, every old stamp aborts: fewer transactions at a time.
        ("ra" | "eigenbench", TbvSorting, _) => (2 * p, 32),
        ("ra" | "eigenbench", HvSorting | HvBackoff, _) => (4 * p, 64),
        ("ra", Fast, _) => (p, 96),
        ("ht", Fast, _) => (p, 192),
        // Few transactions at a time, each short; or many that seldom write.
        ("bank", Fast | FastTable, _) => (2 * p, 128),
        ("bank", TbvSorting | HvSorting | HvBackoff, _) => (p, 256),
        ("genome", Cgl | Egpgv | Vbv, _) | ("kmeans", Cgl | Egpgv, _) => return None,
        // As in bank: many that seldom write.
        ("genome", ..) => (2 * p, 256),
        // Few rows, and every transaction writes all of one.
        ("kmeans", ..) => (p, 64),
        // A router a block, whose threads expand the grid together; the transactions are one
        // thread's, or with teams its warp's or the block's.
        ("labyrinth", ..) => (p, 256),
        // As many threads as its registers allow, in one block, as they go in step.
        ("vacation", Fast, _) | ("map" | "ordered" | "list", FastTable, _) => (p, 256),
        ("map" | "ordered" | "list", Fast, _) => (p, 384),
        _ => return None,
    })
}
