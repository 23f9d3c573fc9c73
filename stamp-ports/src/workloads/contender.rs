//! Kernels without transactions that do a workload's work, measured by `bench floor` and `bench sync`.

use super::compare::Verdict;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::external_prelude::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContenderKind {
    /// The workload's accesses without synchronisation: no bound, as fewer accesses can be faster.
    Unsynchronised,
    /// A kernel written by hand for one workload.
    SpecialPurpose,
    /// The workload's transactions as critical sections of one lock, written by hand.
    CriticalSection,
    /// The workload's operations under locks, by combining, or by atomic operations (`bench sync`).
    Excluding,
}

/// The name of critical sections, as a kind and as a contender.
pub const CRITICAL_SECTION: &str = "critical-section";

impl ContenderKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unsynchronised => "unsynchronised",
            Self::SpecialPurpose => "special-purpose",
            Self::CriticalSection => CRITICAL_SECTION,
            Self::Excluding => "excluding",
        }
    }
}

/// A contender's data, whatever their type, and how its kernel is launched.
pub trait PreparedContender<D: Device = AnyDevice> {
    /// Returns the transactions of a launch, of which so many were asked for.
    fn transactions(&self, asked: u64) -> u64;

    /// Puts the data back and launches.
    fn launch(&mut self, device: &D, shape: (u32, u32), transactions: u64) -> Result<Duration>;

    /// Returns how many of so many transactions a launch of a search has, at most.
    fn tried(&self, transactions: u64) -> u64;

    /// Returns how many transactions the last launch has made, which was asked for so many.
    fn made(&self, transactions: u64) -> u64;

    /// Checks what a launch of so many transactions left. A wrong result is no error.
    fn verify(&mut self, transactions: u64) -> Verdict;

    /// A remark about the last launch for a reader of the figures.
    fn note(&self) -> Result<Option<String>>;
}

pub const fn lanes((blocks, threads): (u32, u32)) -> u64 {
    blocks as u64 * threads as u64
}

/// Allocates the data of a workload whose parameters are checked, from a seed for so many transactions.
pub type Prepare<'a, D> = dyn Fn(&D, u64, u64) -> Result<Box<dyn PreparedContender<D>>> + 'a;

pub(crate) const UNSYNCHRONISED: (ContenderKind, &str) =
    (ContenderKind::Unsynchronised, "plain accesses");

/// What is counted where a transaction is one operation.
pub const ONE_EACH: (&str, f64) = ("operations", 1.0);

/// A contender of a workload, which its parameters suit.
pub struct Contender<'a, D: Device = AnyDevice> {
    pub name: &'static str,
    pub kind: ContenderKind,
    pub entry: &'static str,
    /// What is counted as an operation, in the plural, and how many a transaction has on average.
    pub operations: (&'static str, f64),
    pub prepare: Box<Prepare<'a, D>>,
}
