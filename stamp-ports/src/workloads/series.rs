//! A series of launches of which the host needs no result in between: they are
//! enqueued without a wait for each, unless somebody wants to know what each did.

use super::launcher::Launcher;
use crate::error::Result;
use std::marker::PhantomData;
use std::time::{Duration, Instant};
use stm_core::Kernel;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Device, Error, InOrder, Launch, Statistics};
use stm_core::internal::host::Laps;

/// The launches whose times are prepared for; more are taken as they come.
const LAPS: usize = 256;

/// The launches of one series. One kernel has transactions, `K` under the
/// algorithm `A`, so that the statistics of the series are its own.
pub struct Series<'s, 'a, 'scope, 'env, D: Device, A, K> {
    way: Way<'s, 'a, 'scope, 'env, D>,
    transactions: PhantomData<(A, K)>,
}

/// How the launches of a series are made.
enum Way<'s, 'a, 'scope, 'env, D: Device> {
    OneByOne(&'s mut Launcher<'a, D>),
    InOrder {
        queue: &'s InOrder<'scope, 'env, D>,
        /// The shape of the launches with transactions.
        shape: Launch,
        laps: &'s mut dyn Laps,
        /// The kernels launched so far.
        entries: &'s mut Vec<&'static str>,
    },
}

impl<D: Device, A: Algorithm, K: Kernel> Series<'_, '_, '_, '_, D, A, K> {
    /// Launches the kernel with transactions, after the launches before.
    ///
    /// # Safety
    /// The caller promises what [`Stm::launch`](stm_core::host::Stm::launch)
    /// asks for, until the series has ended.
    pub unsafe fn launch(&mut self, params: &K::Params) -> Result<(), Error> {
        match &mut self.way {
            // SAFETY: the caller's promise.
            Way::OneByOne(launcher) => unsafe { launcher.launch::<K>(params) }.map(|_| ()),
            Way::InOrder {
                queue,
                shape,
                laps,
                entries,
            } => {
                // SAFETY: as above.
                unsafe { queue.enqueue::<A, K>(*shape, |_, _| Ok(*params)) }?;
                entries.push(K::ENTRY);
                laps.lap()
            }
        }
    }

    /// Launches a kernel without transactions, after the launches before, in a
    /// shape of its own.
    ///
    /// # Safety
    /// The caller promises what [`Device::launch`] asks for, until the series
    /// has ended.
    pub unsafe fn launch_plain<P: Kernel>(
        &mut self,
        launch: &Launch,
        params: &P::Params,
    ) -> Result<(), Error> {
        match &mut self.way {
            // SAFETY: the caller's promise.
            Way::OneByOne(launcher) => unsafe { launcher.launch_plain::<P>(launch, params) },
            Way::InOrder {
                queue,
                laps,
                entries,
                ..
            } => {
                // SAFETY: as above.
                unsafe { queue.enqueue_plain::<P>(launch, params) }?;
                entries.push(P::ENTRY);
                laps.lap()
            }
        }
    }
}

impl<'a, D: Device> Launcher<'a, D> {
    /// Makes a series of launches, of which the kernel `K` under the algorithm
    /// `A` has transactions. The closure makes the launches and waits for none.
    /// If nobody follows the run's launches, the host does not wait either, and
    /// reads the statistics at the end.
    pub fn in_order<A: Algorithm, K: Kernel>(
        &mut self,
        launches: impl FnOnce(&mut Series<'_, 'a, '_, '_, D, A, K>) -> Result<(), Error>,
    ) -> Result<()> {
        if self.is_followed() {
            return Ok(launches(&mut Series {
                way: Way::OneByOne(self),
                transactions: PhantomData,
            })?);
        }
        let mut laps = self.device.laps(LAPS)?;
        let (shape, left) = (self.stm.shape(), self.time_left());
        self.stm.set_time_limit(left);
        let (mut entries, mut host) = (Vec::new(), Duration::ZERO);
        let ended = self.stm.in_order(|queue| {
            let start = Instant::now();
            laps.lap()?;
            let ended = launches(&mut Series {
                way: Way::InOrder {
                    queue,
                    shape,
                    laps: &mut *laps,
                    entries: &mut entries,
                },
                transactions: PhantomData,
            });
            host = start.elapsed();
            ended
        });
        let ((), done) = self.judged(ended)?;
        for (entry, time) in entries.iter().zip(laps.read()?) {
            self.add(entry, time, Statistics::default());
        }
        self.add_statistics(K::ENTRY, done.statistics);
        self.done.enqueued.launches += entries.len() as u64;
        self.done.enqueued.host += host;
        Ok(())
    }
}
