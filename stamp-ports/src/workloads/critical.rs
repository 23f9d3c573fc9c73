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
use super::exclusion::{Excluded, Held, Joined};
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

/// Makes the contender that runs `K` on the data that `prepare` makes for another one.
pub fn critical_section<K, W, T>(
    operations: (&'static str, fn(&W) -> f64),
    prepare: fn(&W, &AnyDevice, u64, u64) -> Result<T>,
) -> Contender<W>
where
    W: 'static,
    T: ContenderData + 'static,
    K: Kernel<Params = Guarded<T::Params>>,
{
    Contender::new::<K, _>(
        ContenderKind::CriticalSection,
        CRITICAL_SECTION,
        operations,
        move |of, device, seed, transactions| {
            let data = prepare(of, device, seed, transactions)?;
            Ok(Excluded::<_, _, K::Params>::new(one_lock(device)?, data))
        },
    )
}

/// What makes a kernel's parameters of a workload's own data.
type ParamsOf<W, P> = fn(&W, &<W as Workload>::Data<AnyDevice>, u64) -> P;

/// A workload's own data, in the plain layout.
struct Own<W: Workload, P> {
    of: W,
    data: W::Data<AnyDevice>,
    params: ParamsOf<W, P>,
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

    fn fit(&mut self, device: &AnyDevice, lanes: u64) -> Result<()> {
        self.of.fit(device, &mut self.data, lanes)?;
        self.of.arrange(&mut self.data, Layout::Plain)
    }

    fn reset(&mut self) -> Result<()> {
        self.of.reset(&mut self.data)
    }

    fn params(&self, transactions: u64) -> P {
        (self.params)(&self.of, &self.data, transactions)
    }

    fn verify(&mut self, transactions: u64) -> Verdict {
        self.of.verify(&mut self.data, transactions)
    }
}

impl<W: Workload + Clone, P> Own<W, P> {
    fn prepare(
        of: &W,
        device: &AnyDevice,
        (seed, transactions): (u64, u64),
        params: ParamsOf<W, P>,
    ) -> Result<Self> {
        Ok(Self {
            data: of.prepare(device, seed, of.transactions().unwrap_or(transactions))?,
            of: of.clone(),
            params,
        })
    }
}

/// Makes the contender that runs `K` on the workload's own data, as critical sections.
pub fn critical_section_of<K, W, P>(
    operations: (&'static str, fn(&W) -> f64),
    params: ParamsOf<W, P>,
) -> Contender<W>
where
    W: Workload + Clone + 'static,
    P: Copy + Send + Sync + 'static,
    K: Kernel<Params = Guarded<P>>,
{
    Contender::new::<K, _>(
        ContenderKind::CriticalSection,
        CRITICAL_SECTION,
        operations,
        move |of: &W, device, seed, transactions| {
            let data = Own::prepare(of, device, (seed, transactions), params)?;
            Ok(Excluded::<_, _, Guarded<P>>::new(one_lock(device)?, data))
        },
    )
}

/// Makes the contender that runs `K` on the workload's own data, without synchronisation.
pub fn unsynchronised_of<K, W, P>(
    operations: (&'static str, fn(&W) -> f64),
    params: ParamsOf<W, P>,
) -> Contender<W>
where
    W: Workload + Clone + 'static,
    P: Copy + Send + Sync + 'static,
    K: Kernel<Params = P>,
{
    Contender::new::<K, _>(
        ContenderKind::Unsynchronised,
        "plain accesses",
        operations,
        move |of: &W, device, seed, transactions| {
            Own::prepare(of, device, (seed, transactions), params)
        },
    )
}
