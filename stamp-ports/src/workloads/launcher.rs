//! One run in progress: any number of launches, their times and statistics summed.
//!
//! Only kernels are timed; of launches in order ([`Launcher::in_order`]), which follow one another on the
//! device, each from the end of the one before to its own. The time limit holds for the run as a whole.

use crate::error::Result;
use crate::external_prelude::*;
use stm_core::StmRef;
use stm_core::host::{Error, InOrder};
use stm_core::internal::host::Laps;
use stm_kernels::rows::Transactional;

#[derive(Clone, Copy, Debug)]
pub struct Run<A: Algorithm> {
    pub stm: StmRef<A>,
    pub transactions: u64,
}

impl<A: Algorithm> Run<A> {
    pub const fn on<W>(self, work: W) -> Transactional<A, W> {
        let stm = self.stm;
        Transactional { stm, work }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Launched {
    /// The kernels' time, all launches together.
    pub time: Duration,
    pub statistics: Statistics,
    /// The same for each kernel, in the order of their first launches.
    pub kernels: Vec<KernelTime>,
    /// The launches that were enqueued without a wait for each.
    pub enqueued: u64,
    /// The host's time from before the first of these to after the last of a series, all together.
    pub enqueueing: Duration,
}

impl Launched {
    pub fn tx_per_s(&self) -> f64 {
        // A clock's tick at least, so that nothing is infinitely fast.
        self.statistics.commits as f64 / self.time.as_secs_f64().max(1e-9)
    }

    /// The host's time for each launch that it did not wait for, in microseconds, if there were any.
    pub fn us_enqueued(&self) -> Option<f64> {
        (self.enqueued != 0).then(|| self.enqueueing.as_secs_f64() * 1e6 / self.enqueued as f64)
    }
}

/// What the launches of one kernel did in a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KernelTime {
    pub kernel: &'static str,
    pub launches: u64,
    pub time_ms: f64,
    pub commits: u64,
    pub aborts: u64,
}

pub struct Launcher<'a, D: Device> {
    pub(super) device: &'a D,
    pub(super) stm: &'a mut Stm<D>,
    limit: Option<Duration>,
    pub(super) done: Launched,
    after_each: Option<&'a mut AfterLaunch<'a>>,
}

/// Called after each launch with transactions, with its time and statistics; an error of it ends the run.
pub type AfterLaunch<'a> = dyn FnMut(Duration, &Statistics) -> Result<(), Error> + 'a;

impl<'a, D: Device> Launcher<'a, D> {
    pub fn new(device: &'a D, stm: &'a mut Stm<D>) -> Self {
        Self {
            device,
            limit: stm.config().time_limit,
            stm,
            done: Launched::default(),
            after_each: None,
        }
    }

    #[must_use]
    pub fn followed_by(mut self, after_each: &'a mut AfterLaunch<'a>) -> Self {
        self.after_each = Some(after_each);
        self
    }

    pub fn run<A: Algorithm>(&self, transactions: u64) -> Run<A> {
        let stm = self.stm.handle::<A>();
        Run { stm, transactions }
    }

    /// Launches a kernel with transactions, waits for it, adds what it did and returns that alone.
    ///
    /// # Safety
    /// The caller promises what [`Stm::launch`] asks for.
    pub unsafe fn launch<K: Kernel>(
        &mut self,
        params: &K::Params,
    ) -> Result<Statistics, host::Error> {
        self.stm.set_time_limit(self.time_left());
        // SAFETY: the caller's promise.
        let launched = unsafe { self.stm.launch::<K>(params) };
        self.ended(K::ENTRY, launched)
    }

    /// Adds what a launch with transactions did. It is compiled once for all kernels.
    fn ended(
        &mut self,
        kernel: &'static str,
        launched: Result<(Duration, Statistics), host::Error>,
    ) -> Result<Statistics, host::Error> {
        let (time, statistics) = self.judged(launched)?;
        self.add(kernel, Some(time), statistics);
        if let Some(after_each) = &mut self.after_each {
            after_each(time, &statistics)?;
        }
        Ok(statistics)
    }

    fn time_left(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.saturating_sub(self.done.time))
    }

    /// Puts the time limit back after a launch; a timeout counts the launches before as well.
    fn judged<T>(&mut self, launched: Result<T, host::Error>) -> Result<T, host::Error> {
        self.stm.set_time_limit(self.limit);
        let done = &self.done.statistics;
        launched.map_err(|mut error| {
            if let host::Error::Timeout {
                limit,
                committed,
                aborted,
            } = &mut error
            {
                *limit = self.limit.unwrap_or(*limit);
                *committed += done.commits;
                *aborted += done.aborted();
            }
            error
        })
    }

    /// Adds what a kernel did, in a launch of its own if that has a time.
    fn add(&mut self, kernel: &'static str, time: Option<Duration>, statistics: Statistics) {
        let done = &mut self.done;
        let known = done.kernels.iter().position(|k| k.kernel == kernel);
        let at = known.unwrap_or(done.kernels.len());
        if known.is_none() {
            done.kernels.push(KernelTime {
                kernel,
                ..KernelTime::default()
            });
        }
        let sum = &mut done.kernels[at];
        sum.launches += u64::from(time.is_some());
        sum.time_ms += time.unwrap_or_default().as_secs_f64() * 1e3;
        sum.commits += statistics.commits;
        sum.aborts += statistics.aborted();
        done.time += time.unwrap_or_default();
        done.statistics += statistics;
    }

    /// Makes a series of launches, of which the kernel with this entry point has transactions; the host
    /// waits for each only if somebody follows them.
    pub fn in_order(
        &mut self,
        with_transactions: &'static str,
        launches: impl FnOnce(&mut Series<'_, 'a, '_, '_, D>) -> Result<(), Error>,
    ) -> Result<()> {
        if self.after_each.is_some() || self.stm.is_observed() {
            return Ok(launches(&mut Series::OneByOne(self))?);
        }
        let mut laps = self.device.laps(LAPS)?;
        let (shape, left) = (self.stm.shape(), self.time_left());
        self.stm.set_time_limit(left);
        let (mut entries, mut host) = (Vec::new(), Duration::ZERO);
        let ended = self.stm.in_order(|queue| {
            let start = Instant::now();
            laps.lap()?;
            let ended = launches(&mut Series::InOrder(queue, shape, &mut *laps, &mut entries));
            host = start.elapsed();
            ended
        });
        let ((), done) = self.judged(ended)?;
        for (entry, time) in entries.iter().zip(laps.read()?) {
            self.add(entry, Some(time), Statistics::default());
        }
        self.add(with_transactions, None, done.statistics);
        self.done.enqueued += entries.len() as u64;
        self.done.enqueueing += host;
        Ok(())
    }
}

/// The launches whose times are prepared for; more are taken as they come.
const LAPS: usize = 256;

/// The launches of one series, of which one kernel has transactions.
pub enum Series<'s, 'a, 'scope, 'env, D: Device> {
    OneByOne(&'s mut Launcher<'a, D>),
    /// The queue, the shape of the launches with transactions, and the kernels launched so far.
    InOrder(
        &'s InOrder<'scope, 'env, D>,
        Launch,
        &'s mut dyn Laps,
        &'s mut Vec<&'static str>,
    ),
}

impl<D: Device> Series<'_, '_, '_, '_, D> {
    /// Launches the kernel with transactions after the launches before; or one without, which has a shape
    /// of its own and no time limit.
    ///
    /// # Safety
    /// The caller promises what [`Stm::launch`](stm_core::host::Stm::launch), or
    /// [`Device::launch`], asks for, until the series has ended.
    pub unsafe fn launch<A: Algorithm, K: Kernel>(
        &mut self,
        plain: Option<&Launch>,
        params: &K::Params,
    ) -> Result<(), Error> {
        // SAFETY: here and below, the caller's promise.
        unsafe {
            match (self, plain) {
                (Self::OneByOne(launcher), None) => launcher.launch::<K>(params).map(|_| ()),
                (Self::OneByOne(launcher), Some(shape)) => {
                    let time = launcher.device.launch::<K>(shape, params)?;
                    launcher.add(K::ENTRY, Some(time), Statistics::default());
                    Ok(())
                }
                (Self::InOrder(queue, shape, laps, entries), plain) => {
                    match plain {
                        Some(plain) => queue.enqueue_plain::<K>(plain, params)?,
                        None => queue.enqueue::<A, K>(*shape, |_, _| Ok(*params))?,
                    }
                    entries.push(K::ENTRY);
                    laps.lap()
                }
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::testing::{Spoils, refused};
    use crate::workloads::prelude::*;
    use stm_core::algorithm::HvSorting;
    use stm_core::host::Cpu;

    /// Makes one run of a workload on the CPU with the algorithm `A`, in a shape and of so many
    /// transactions.
    pub(in crate::workloads) fn ran<A: Algorithm, W: Workload>(
        of: &W,
        cpu: &Cpu,
        data: &mut W::Data<Cpu>,
        ((blocks, threads), transactions): ((u32, u32), u64),
    ) -> Launched {
        let launch = Launch {
            shared_bytes: of.shared_bytes(),
            ..Launch::new(blocks, threads)
        };
        let config = StmConfig {
            capacity: of.capacity(),
            ..StmConfig::default()
        };
        let mut stm = Stm::new(cpu, launch, config).unwrap();
        let mut launcher = Launcher::new(cpu, &mut stm);
        of.run::<_, A>(data, &mut launcher, transactions).unwrap();
        launcher.done
    }

    /// Returns what a run on the CPU left, in a shape and of so many transactions.
    pub(in crate::workloads) fn left<W: Workload>(
        of: &W,
        seed: u64,
        (shape, transactions): ((u32, u32), u64),
    ) -> W::Data<Cpu> {
        let cpu = Cpu::new();
        let made_for = MadeFor::new(seed, transactions);
        let made_for = made_for.launched(shape.0, lanes(shape), Layout::Plain);
        let mut data = of.prepare(&cpu, made_for).unwrap();
        of.reset(&mut data).unwrap();
        ran::<HvSorting, _>(of, &cpu, &mut data, (shape, transactions));
        data
    }

    /// Checks that what a run left is accepted, and that it is refused, with what is said of it, when
    /// it is spoilt.
    #[track_caller]
    pub(in crate::workloads) fn spoilt<W: Workload, const N: usize>(
        of: &W,
        seed: u64,
        run: ((u32, u32), u64),
        spoils: Spoils<W::Data<Cpu>, N>,
    ) {
        let right = || left(of, seed, run);
        of.verify(&mut right(), run.1).unwrap();
        let wrong = |mut data| verdict(of.verify(&mut data, run.1).map(drop)).unwrap();
        refused(spoils, right, wrong);
    }

    /// Changes the words of an array, in a test.
    macro_rules! change {
        ($array:expr, |$words:ident| $change:expr) => {{
            let mut $words = $array.download().unwrap();
            $change;
            $array.upload(&$words).unwrap();
        }};
    }
    pub(in crate::workloads) use change;
}
