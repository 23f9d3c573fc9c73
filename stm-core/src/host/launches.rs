//! Launches without `unsafe`, one or several in order without waits: what `#[kernel]` functions are built on.

use crate::host::arranged::TxArray;
use crate::host::config::StmConfig;
use crate::host::prelude::*;
use crate::host::stm::{Statistics, Stm};
use core::cell::{RefCell, RefMut};
use core::ops::Deref;
use std::time::Instant;
use stm_machine::host::Holds;

/// A launch that has ended: its time, and the statistics, to which it dereferences.
///
/// ```
/// use stm_core::prelude::*;
///
/// #[kernel]
/// pub fn fill(stm: &Stm, words: Cells<u32>) {
///     stm.each(0..words.len(), |tx, i| tx.write(words, i, 1));
/// }
///
/// # fn main() -> Result<(), stm_core::host::Error> {
/// let mut stm = Stm::on(&Cpu::new())?;
/// let words = stm.array("words", &[0u32; 50])?;
/// let done = fill::launch(&mut stm, Launch::new(1, 4), &words)?;
/// println!("{:?}: {} attempts", done.time, done.attempts);
/// assert_eq!((done.commits, done.aborted()), (50, 0));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The time that the kernel ran, by the device's own clock where it has one.
    pub time: Duration,
    /// The statistics of its transactions.
    pub statistics: Statistics,
}

impl Deref for Done {
    type Target = Statistics;

    fn deref(&self) -> &Statistics {
        &self.statistics
    }
}

impl From<(Duration, Statistics)> for Done {
    fn from((time, statistics): (Duration, Statistics)) -> Self {
        Self { time, statistics }
    }
}

/// The launches of one [`Stm`] that [`Stm::in_order`] makes: each begins after the one before has ended, and
/// the host does not wait in between, if the device can do that. The functions `enqueue` and `enqueue_with`
/// of a [`#[kernel]`](macro@crate::kernel) add one.
///
/// ```
/// use stm_core::prelude::*;
///
/// #[kernel]
/// pub fn double(stm: &Stm, words: Cells<u64>) {
///     stm.update_each(0..words.len(), words, |i| [i], |_, [word]| Some([2 * word]));
/// }
///
/// # fn main() -> Result<(), stm_core::host::Error> {
/// use stm_core::host::{Error, InOrder};
///
/// /// Doubles all words ten times.
/// fn enqueue<'env>(
///     queue: &InOrder<'_, 'env, Cpu>, words: &'env TxArray<Cpu, u64>,
/// ) -> Result<(), Error> {
///     (0..10).try_for_each(|_| double::enqueue(queue, Launch::new(1, 4), words))
/// }
///
/// let mut stm = Stm::on(&Cpu::new())?;
/// let words = stm.array("words", &[1u64; 20])?;
/// let (_, done) = stm.in_order(|queue| enqueue(queue, &words))?;
/// assert_eq!(done.commits, 200);
/// assert_eq!(words.download()?, [1 << 10; 20]);
/// # Ok(()) }
/// ```
pub struct InOrder<'scope, 'env, D: Device> {
    stm: RefCell<&'scope mut Stm<D>>,
    /// What the launches have in use until all have ended.
    holds: &'scope RefCell<Holds>,
    env: PhantomData<&'env mut &'env ()>,
}

stm_machine::shown!([D: Device] InOrder<'_, '_, D>: holds; ..);

/// Waits when it is dropped, whatever ends the closure that launches.
struct Waiting<'a, D: Device>(&'a D);

impl<D: Device> Drop for Waiting<'_, D> {
    fn drop(&mut self) {
        // It matters if the closure panics, when nobody is there for an error. A lost device runs nothing.
        let _ = self.0.wait(None);
    }
}

impl<D: Device> Stm<D> {
    /// Makes a memory of the usual sizes ([`StmConfig::default`]), whose sets grow with the launches.
    pub fn on(device: &D) -> Result<Self> {
        Self::with(device, StmConfig::default())
    }

    /// Makes a memory of other sizes and limits, whose sets grow with the launches, with the errors of
    /// [`Self::new`].
    pub fn with(device: &D, config: StmConfig) -> Result<Self> {
        Self::new(device, Launch::new(1, 1), config)
    }

    /// Makes an array with a copy of `data` for transactions of [`Fast`](crate::algorithm::Fast), in the
    /// memory of this device, and [watches](Self::watch) it. For other algorithms call [`TxArray::arrange`].
    pub fn array<T: Pod + Element>(
        &mut self,
        name: &'static str,
        data: &[T],
    ) -> Result<TxArray<D, T>> {
        let array = TxArray::from_slice(self.device(), Layout::Cells, data, name)?;
        self.watch(&array);
        Ok(array)
    }

    /// Prepares a launch of this shape under algorithm `A`, with the errors of [`Self::reshape`], and
    /// [`Error::OtherAlgorithm`] if launches of another algorithm were set up before.
    pub fn set_up<A: Algorithm>(&mut self, shape: Launch) -> Result {
        let (first, asked) = (*self.algorithm.get_or_insert(A::NAME), A::NAME);
        if first != asked {
            return Err(Error::OtherAlgorithm { first, asked });
        }
        self.reshape(shape)
    }

    /// Makes several launches in order. Returns what the closure returns, the time from its beginning to the
    /// end of the last launch by the host's clock, and the statistics of all of them together.
    ///
    /// Statistics, fault and checks are made once, after the last launch. The time limit counts for all
    /// together, from the return of the closure; on a device that waits for each launch, such as the CPU, for
    /// each. After a fault the launches that follow end as soon as they ask whether to stop. They borrow
    /// until all have ended. [`InOrder`] has an example.
    ///
    /// # Errors
    /// The error that the closure returns, a fault of a transaction, or a timeout.
    pub fn in_order<'env, R, F>(&mut self, launches: F) -> Result<(R, Done)>
    where
        F: for<'scope> FnOnce(&InOrder<'scope, 'env, D>) -> Result<R>,
        D: 'env,
    {
        self.begin()?;
        let start = Instant::now();
        let device = self.device().clone();
        // Dropped behind `waiting`, when all launches have ended, also after a panic.
        let holds = RefCell::new(Holds::new());
        let waiting = Waiting(&device);
        let (stm, holds, env) = (RefCell::new(&mut *self), &holds, PhantomData);
        let ended = launches(&InOrder { stm, holds, env });
        let waited = device.wait(Some(self.stop_at()));
        core::mem::forget(waiting);
        let time = start.elapsed();
        let value = ended.map_err(|error| self.after_error(error))?;
        waited.map_err(|error| self.after_error(error))?;
        let statistics = self.conclude()?;
        Ok((value, Done { time, statistics }))
    }
}

impl<D: Device> InOrder<'_, '_, D> {
    /// Returns the stop flag of the launches, as [`Stm::stop`] does.
    pub fn stop(&self) -> Stop {
        self.stm.borrow().stop()
    }

    /// Returns what the launches have in use, to which a launch adds its arguments.
    #[doc(hidden)]
    pub fn holds(&self) -> RefMut<'_, Holds> {
        self.holds.borrow_mut()
    }

    /// Adds a launch, with parameters that the closure makes of the handle. Its errors are those of
    /// [`Stm::set_up`] and of the closure.
    ///
    /// # Safety
    /// The obligations are those of [`Stm::launch`], until [`Stm::in_order`] returns.
    pub unsafe fn enqueue<A: Algorithm, K: Kernel>(
        &self,
        shape: Launch,
        params: impl FnOnce(&D, StmRef<A>) -> Result<K::Params>,
    ) -> Result {
        let mut stm = self.stm.borrow_mut();
        if !stm.has_shape(shape) {
            // The sets of the lanes move, and those that run use them.
            stm.device().wait(Some(stm.stop_at()))?;
        }
        stm.set_up::<A>(shape)?;
        let params = params(stm.device(), stm.handle::<A>())?;
        // SAFETY: the caller promises it.
        unsafe { stm.device().enqueue::<K>(&stm.present_launch(), &params) }
    }

    /// Adds a launch of a kernel without transactions. No time limit holds for it.
    ///
    /// # Safety
    /// The obligations are those of [`Device::launch`], until [`Stm::in_order`] returns.
    pub unsafe fn enqueue_plain<K: Kernel>(&self, launch: &Launch, params: &K::Params) -> Result {
        let stm = self.stm.borrow();
        // SAFETY: the caller promises it.
        unsafe { stm.device().enqueue::<K>(launch, params) }
    }
}
