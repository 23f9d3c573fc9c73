//! A workload's transactions as critical sections of one lock: the host's side.
//!
//! | workload | its critical section |
//! | --- | --- |
//! | ra, ht, bank, eigenbench, kmeans, labyrinth, vacation, queue, map, ordered, list, pool | all of its transactions |
//! | genome | those of GN-1, and the links of GN-2 |
//! | counter, sorted, nw | none: `bench sync` measures them under locks of each kind |
//!
//! The data are those of another contender, of the workload itself, or a structure without
//! versions ([`plain`](super::plain)); what they leave is verified as what transactions leave.

use super::contender::{CRITICAL_SECTION, Contender, ContenderData, ContenderKind};
use super::exclusion::{Held, Joined, excluded};
use super::workload::{Verdict, Workload};
use crate::devices::AnyDevice;
use crate::error::Result;
use stm_core::Kernel;
use stm_core::array::Layout;
use stm_kernels::floor::{Guarded, Lock};
use stm_sync::TasBackoff;
use stm_sync::host::Locks;

/// The lock on a device.
pub type OneLock = Locks<AnyDevice, TasBackoff>;

/// What messages call the lock.
const LOCK: &str = "the lock of the critical sections";

impl<P> Joined<Lock, P> for Guarded<P> {
    fn join(lock: Lock, work: P) -> Self {
        Self { lock, work }
    }
}

/// Makes the lock on a device.
///
/// # Errors
/// Too little memory, or an error of the device.
pub fn one_lock(device: &AnyDevice) -> Result<Held<OneLock>> {
    Held::new(device, 1, LOCK)
}

/// Makes the contender that runs `K` on the data that `prepare` makes, as critical sections.
pub fn critical_section<K, W, T>(
    operations: (&'static str, fn(&W) -> f64),
    prepare: impl Fn(&W, &AnyDevice, u64, u64) -> Result<T> + 'static,
) -> Contender<W>
where
    W: 'static,
    T: ContenderData + 'static,
    K: Kernel<Params = Guarded<T::Params>>,
{
    excluded::<K, OneLock, W, T>(
        (ContenderKind::CriticalSection, CRITICAL_SECTION),
        operations,
        (LOCK, |_| 1),
        prepare,
    )
}

/// Makes the contender that runs `K` on the data that `prepare` makes, without
/// synchronisation.
pub fn unsynchronised<K, W, T>(
    operations: (&'static str, fn(&W) -> f64),
    prepare: impl Fn(&W, &AnyDevice, u64, u64) -> Result<T> + 'static,
) -> Contender<W>
where
    T: ContenderData + 'static,
    K: Kernel<Params = T::Params>,
{
    Contender::new::<K, T>(
        ContenderKind::Unsynchronised,
        "plain accesses",
        operations,
        prepare,
    )
}

/// What a contender does with the data of the workload `W`; `P` are its kernel's parameters.
pub struct Uses<W: Workload, P> {
    /// Makes the parameters for a launch of so many transactions.
    pub params: fn(&W, &W::Data<AnyDevice>, u64) -> P,
    /// Verifies what it left.
    pub verify: fn(&W, &mut W::Data<AnyDevice>, u64) -> Verdict,
    /// What a reader of the figures has to know.
    pub note: fn(&W, &W::Data<AnyDevice>) -> Result<Option<String>>,
}

impl<W: Workload, P> Uses<W, P> {
    /// Uses of data that are verified as after transactions.
    pub const fn new(params: fn(&W, &W::Data<AnyDevice>, u64) -> P) -> Self {
        Self {
            params,
            verify: W::verify,
            note: |_, _| Ok(None),
        }
    }
}

/// A workload's own data, in the plain layout.
pub struct Own<W: Workload, P> {
    of: W,
    data: W::Data<AnyDevice>,
    uses: Uses<W, P>,
}

impl<W, P> ContenderData for Own<W, P>
where
    W: Workload,
    P: Copy + Send + Sync + 'static,
{
    type Params = P;

    fn transactions(&self, asked: u64) -> u64 {
        self.of.transactions().unwrap_or(asked)
    }

    fn fit(&mut self, device: &AnyDevice, _blocks: u32, lanes: u64) -> Result<()> {
        self.of.fit(device, &mut self.data, lanes)?;
        self.of.arrange(&mut self.data, Layout::Plain)
    }

    fn reset(&mut self) -> Result<()> {
        self.of.reset(&mut self.data)
    }

    fn params(&self, transactions: u64) -> P {
        (self.uses.params)(&self.of, &self.data, transactions)
    }

    fn verify(&mut self, transactions: u64) -> Verdict {
        (self.uses.verify)(&self.of, &mut self.data, transactions)
    }

    fn note(&self) -> Result<Option<String>> {
        (self.uses.note)(&self.of, &self.data)
    }
}

/// Returns what makes a contender's data of the workload's own.
pub fn own<W: Workload + Clone, P>(
    uses: fn() -> Uses<W, P>,
) -> impl Fn(&W, &AnyDevice, u64, u64) -> Result<Own<W, P>> {
    move |of, device, seed, transactions| {
        Ok(Own {
            data: of.prepare(device, seed, of.transactions().unwrap_or(transactions))?,
            of: of.clone(),
            uses: uses(),
        })
    }
}
