//! One timed run: any number of launches, their times and statistics summed.
//!
//! What is timed is the kernels; the host's work between two launches is not.
//! The time limit holds for the run as a whole.

use crate::error::Result;
use serde::Serialize;
use std::time::Duration;
use stm_core::algorithm::Algorithm;
use stm_core::host::{self, Device, Launch, Statistics, Stm};
use stm_core::probe::{Probe, Silent};
use stm_core::{Kernel, StmRef};

/// What one run did.
#[derive(Clone, Debug, Default)]
pub struct Launched {
    /// The kernels' time, all launches together.
    pub time: Duration,
    /// Their statistics, summed.
    pub statistics: Statistics,
    /// The same for each kernel, in the order of their first launches.
    pub kernels: Vec<KernelTime>,
}

impl Launched {
    /// Transactions a second.
    pub fn tx_per_s(&self) -> f64 {
        // A clock's tick at least, so that nothing is infinitely fast.
        self.statistics.commits as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// What the launches of one kernel did in a run.
#[derive(Clone, Debug, Serialize)]
pub struct KernelTime {
    /// The kernel's entry point.
    pub kernel: &'static str,
    /// Its launches.
    pub launches: u64,
    /// Their time together, in milliseconds.
    pub time_ms: f64,
    /// Transactions that committed.
    pub commits: u64,
    /// Attempts that did not.
    pub aborts: u64,
}

/// A run in progress: what a workload launches its kernels through.
pub struct Timed<'a, D: Device, P: Probe = Silent> {
    device: &'a D,
    stm: &'a mut Stm<D>,
    probe: P,
    limit: Option<Duration>,
    done: Launched,
    observer: Option<&'a mut Observer<'a>>,
}

/// Told of each launch with transactions: its time and its statistics.
pub type Observer<'a> = dyn FnMut(Duration, &Statistics) + 'a;

impl<D: Device, P: Probe> std::fmt::Debug for Timed<'_, D, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timed")
            .field("limit", &self.limit)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

impl<'a, D: Device, P: Probe> Timed<'a, D, P> {
    /// Nothing launched so far. The probe observes all transactions.
    pub fn new(device: &'a D, stm: &'a mut Stm<D>, probe: P, limit: Option<Duration>) -> Self {
        Self {
            device,
            stm,
            probe,
            limit,
            done: Launched::default(),
            observer: None,
        }
    }

    /// Tells the observer of each launch with transactions, before the host
    /// does anything else.
    #[must_use]
    pub fn observed_by(mut self, observer: &'a mut Observer<'a>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The device.
    pub const fn device(&self) -> &'a D {
        self.device
    }

    /// The transactional memory.
    pub const fn stm(&self) -> &Stm<D> {
        self.stm
    }

    /// The time of the launches so far.
    pub const fn time(&self) -> Duration {
        self.done.time
    }

    /// The handle for a kernel's parameters.
    pub fn handle<A: Algorithm<Probe = P>>(&self) -> StmRef<A> {
        self.stm.observed_handle::<A>(self.probe)
    }

    /// Launches a kernel with transactions, waits for it and adds what it did.
    /// Returns its statistics alone.
    ///
    /// # Errors
    /// As [`Stm::launch`]; a timeout counts the launches before as well.
    ///
    /// # Safety
    /// As for [`Stm::launch`].
    pub unsafe fn launch<K: Kernel>(&mut self, params: &K::Params) -> Result<Statistics> {
        self.stm
            .set_time_limit(self.limit.map(|limit| limit.saturating_sub(self.done.time)));
        // SAFETY: the caller's promise.
        let (time, statistics) =
            unsafe { self.stm.launch::<K>(params) }.map_err(|error| match (error, self.limit) {
                (
                    host::Error::Timeout {
                        committed, aborted, ..
                    },
                    Some(limit),
                ) => host::Error::Timeout {
                    limit,
                    committed: committed + self.done.statistics.commits,
                    aborted: aborted + self.done.statistics.aborted(),
                },
                (other, _) => other,
            })?;
        self.add(K::ENTRY, time, statistics);
        if let Some(observer) = &mut self.observer {
            observer(time, &statistics);
        }
        Ok(statistics)
    }

    /// Launches a kernel without transactions, in a shape of its own. There is
    /// no time limit to it.
    ///
    /// # Errors
    /// Of the device.
    ///
    /// # Safety
    /// As for [`Device::launch`].
    pub unsafe fn launch_plain<K: Kernel>(
        &mut self,
        launch: &Launch,
        params: &K::Params,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        let time = unsafe { self.device.launch::<K>(launch, params)? };
        self.add(K::ENTRY, time, Statistics::default());
        Ok(())
    }

    fn add(&mut self, kernel: &'static str, time: Duration, statistics: Statistics) {
        self.done.time += time;
        self.done.statistics += statistics;
        let kernels = &mut self.done.kernels;
        let at = kernels.iter().position(|k| k.kernel == kernel);
        let at = at.unwrap_or_else(|| {
            kernels.push(KernelTime {
                kernel,
                launches: 0,
                time_ms: 0.0,
                commits: 0,
                aborts: 0,
            });
            kernels.len() - 1
        });
        let sum = &mut kernels[at];
        sum.launches += 1;
        sum.time_ms += time.as_secs_f64() * 1e3;
        sum.commits += statistics.commits;
        sum.aborts += statistics.aborted();
    }

    /// What all launches did.
    pub fn finish(self) -> Launched {
        self.done
    }
}
