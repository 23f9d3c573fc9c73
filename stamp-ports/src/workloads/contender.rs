//! Kernels without transactions that do a workload's work: what `bench floor` and `bench sync` measure
//! beside the transactional memory.

use super::compare::Verdict;
use crate::devices::AnyDevice;
use crate::error::Result;
use serde::Serialize;
use std::time::Duration;
use stm_core::host::Device;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContenderKind {
    /// The workload's accesses without synchronisation. They are no bound: a kernel that
    /// needs fewer accesses can be faster.
    Unsynchronised,
    /// A kernel written by hand for one workload.
    SpecialPurpose,
    /// The workload's transactions as critical sections of one lock, written by hand.
    CriticalSection,
    /// The workload's operations under locks, by combining, or by atomic operations:
    /// what `bench sync` measures.
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

    /// Checks what a launch of so many transactions left. What is wrong without synchronisation is
    /// told, and no error.
    fn verify(&mut self, transactions: u64) -> Verdict;

    /// What a reader of the figures has to know about the last launch, beside its verification.
    fn note(&self) -> Result<Option<String>>;
}

pub const fn lanes((blocks, threads): (u32, u32)) -> u64 {
    blocks as u64 * threads as u64
}

pub(super) type Prepare<'a, D> = dyn Fn(&D, u64, u64) -> Result<Box<dyn PreparedContender<D>>> + 'a;

pub(crate) const UNSYNCHRONISED: (ContenderKind, &str) =
    (ContenderKind::Unsynchronised, "plain accesses");

/// What is counted where a transaction is one operation.
pub const ONE_EACH: (&str, f64) = ("operations", 1.0);

/// A contender of a workload, which its parameters suit.
pub struct Contender<'a, D: Device = AnyDevice> {
    pub name: &'static str,
    pub kind: ContenderKind,
    pub entry: &'static str,
    /// What is counted as an operation, in the plural.
    pub operations: &'static str,
    /// Operations of a transaction, on average.
    pub operations_a_transaction: f64,
    pub(super) prepare: Box<Prepare<'a, D>>,
}

impl<D: Device> Contender<'_, D> {
    /// Gives it another name, where there are several of its kind or it does a part of the work.
    #[must_use]
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Allocates the data for so many transactions. The workload's parameters are checked.
    pub fn prepare(
        &self,
        device: &D,
        seed: u64,
        transactions: u64,
    ) -> Result<Box<dyn PreparedContender<D>>> {
        (self.prepare)(device, seed, transactions)
    }
}
