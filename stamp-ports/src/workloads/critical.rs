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
use super::exclusion::{Held, Joined};
use super::workload::Workload;
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

/// Data, and the lock that guards all of it.
struct Section<T> {
    lock: Held<OneLock>,
    data: T,
}

impl<T: ContenderData> ContenderData for Section<T> {
    type Params = Guarded<T::Params>;

    fn transactions(&self, asked: u64) -> u64 {
        self.data.transactions(asked)
    }

    fn fit(&mut self, device: &AnyDevice, lanes: u64) -> Result<()> {
        self.lock.fit(device, lanes)?;
        self.data.fit(device, lanes)
    }

    fn shared_bytes(&self) -> u32 {
        self.data.shared_bytes()
    }

    fn reset(&mut self) -> Result<()> {
        self.data.reset()
    }

    fn params(&self, transactions: u64) -> Self::Params {
        Guarded::join(self.lock.view(), self.data.params(transactions))
    }

    fn verify(&mut self, transactions: u64) -> Result<Option<String>> {
        match self.lock.wrong()? {
            Some(wrong) => Ok(Some(wrong)),
            None => self.data.verify(transactions),
        }
    }

    fn note(&self) -> Result<Option<String>> {
        self.data.note()
    }
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
    Contender::with_data::<K, _>(
        ContenderKind::CriticalSection,
        CRITICAL_SECTION,
        operations,
        move |of, device, seed, transactions| {
            Ok(Section {
                lock: one_lock(device)?,
                data: prepare(of, device, seed, transactions)?,
            })
        },
    )
}

/// A workload's own data, in the plain layout.
struct Own<W: Workload, P> {
    of: W,
    data: W::Data<AnyDevice>,
    params: fn(&W, &W::Data<AnyDevice>, u64) -> P,
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

    fn verify(&mut self, transactions: u64) -> Result<Option<String>> {
        self.of.verify(&mut self.data, transactions)
    }
}

/// Makes the contender that runs `K` on the workload's own data.
pub fn critical_section_of<K, W, P>(
    operations: (&'static str, fn(&W) -> f64),
    params: fn(&W, &W::Data<AnyDevice>, u64) -> P,
) -> Contender<W>
where
    W: Workload + Clone + 'static,
    P: Copy + Send + Sync + 'static,
    K: Kernel<Params = Guarded<P>>,
{
    Contender::with_data::<K, _>(
        ContenderKind::CriticalSection,
        CRITICAL_SECTION,
        operations,
        move |of: &W, device, seed, transactions| {
            let of = of.clone();
            Ok(Section {
                lock: one_lock(device)?,
                data: Own {
                    data: of.prepare(device, seed, of.transactions().unwrap_or(transactions))?,
                    of,
                    params,
                },
            })
        },
    )
}
