//! What a workload is compared with: its work under locks of a kind, by combining, in critical
//! sections of one lock, and without synchronisation.
//!
//! | workload | its critical section |
//! | --- | --- |
//! | ra, ht, bank, eigenbench, kmeans, labyrinth, vacation, queue, map, ordered, list, pool | all of its transactions |
//! | genome | those of GN-1, and the links of GN-2 |
//! | counter, sorted, nw | none: `bench sync` measures them under locks of each kind |
//!
//! The data are those of another contender, of the workload itself, or a structure without
//! versions ([`plain`](super::plain)); what they leave is verified as what transactions leave.

use super::contender::{
    CRITICAL_SECTION, Contender, ContenderData, ContenderKind, PreparedContender, fitting, lanes,
};
use super::workload::{Verdict, Workload};
use crate::error::Result;
use std::marker::PhantomData;
use std::time::Duration;
use stm_core::host::{Device, Error};
use stm_core::{Kernel, Layout};
use stm_kernels::floor::{Guarded, Lock};
use stm_sync::host::{Combiners, Locks};
use stm_sync::{LockKind, TCombiners, TLocks, TasBackoff};

/// Something that excludes threads from each other's sections.
pub trait Exclusion: Sized {
    /// The device.
    type Device: Device;

    /// What a kernel gets.
    type View: Copy;

    /// Makes `count` of them, for so many threads.
    fn make(device: &Self::Device, count: u64, users: u64, what: &'static str) -> Result<Self>;

    /// Returns what a kernel gets.
    fn view(&self) -> Self::View;

    /// Returns the number of bytes of shared memory that a block needs.
    fn shared_bytes(&self) -> u32 {
        0
    }

    /// Reports the first fault since it was made.
    fn check(&self) -> Result<(), Error>;
}

/// What an owner of locks or of combiners does itself.
macro_rules! owned {
    ($View:ty) => {
        type Device = D;
        type View = $View;

        fn make(device: &D, count: u64, users: u64, what: &'static str) -> Result<Self> {
            Ok(Self::new(device, count, users, what)?)
        }

        fn view(&self) -> $View {
            self.view()
        }

        fn check(&self) -> Result<(), Error> {
            self.check()
        }
    };
}

impl<D: Device, K: LockKind> Exclusion for Locks<D, K> {
    owned!(TLocks<K>);

    fn shared_bytes(&self) -> u32 {
        u32::try_from(self.shared_bytes()).unwrap_or(u32::MAX)
    }
}

impl<D: Device> Exclusion for Combiners<D, 1> {
    owned!(TCombiners<1>);
}

/// Nothing excludes anybody.
pub struct Open<D>(PhantomData<D>);

impl<D: Device> Exclusion for Open<D> {
    type Device = D;
    type View = ();

    fn make(_: &D, _: u64, _: u64, _: &'static str) -> Result<Self> {
        Ok(Self(PhantomData))
    }

    fn view(&self) {}

    fn check(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// The parameters of a kernel, made of what excludes and of what there is to do.
pub trait Joined<V, W> {
    /// Joins both.
    fn join(view: V, work: W) -> Self;
}

impl<W> Joined<(), W> for W {
    fn join((): (), work: W) -> W {
        work
    }
}

/// Says of parameters of kernels what they join: what excludes, in one field, and the work, in
/// another.
macro_rules! joins {
    ($([$($k:ident)?] $params:ty: $exclusion:ident: $view:ty, $work:ident: $of:ty;)*) => {
        $(
            impl $(<$k: stm_sync::LockKind>)? $crate::workloads::exclusion::Joined<$view, $of>
                for $params
            {
                fn join($exclusion: $view, $work: $of) -> Self {
                    Self { $exclusion, $work }
                }
            }
        )*
    };
}
pub(super) use joins;

/// Something that excludes, made anew when the number of threads changes.
pub struct Held<X> {
    made: X,
    count: u64,
    users: u64,
    what: &'static str,
}

impl<X: Exclusion> Held<X> {
    /// Makes `count` of them, for one thread.
    pub fn new(device: &X::Device, count: u64, what: &'static str) -> Result<Self> {
        Ok(Self {
            made: X::make(device, count, 1, what)?,
            count,
            users: 1,
            what,
        })
    }

    /// Makes them fit for so many threads.
    pub fn fit(&mut self, device: &X::Device, users: u64) -> Result<()> {
        if self.users != users {
            self.made = X::make(device, self.count, users, self.what)?;
            self.users = users;
        }
        Ok(())
    }

    /// Returns what a kernel gets.
    pub fn view(&self) -> X::View {
        self.made.view()
    }

    /// Returns the number of bytes of shared memory that a block needs.
    pub fn shared_bytes(&self) -> u32 {
        self.made.shared_bytes()
    }

    /// Returns what is wrong, if a thread was refused.
    pub fn wrong(&self) -> Verdict {
        match self.made.check() {
            Ok(()) => Ok(None),
            Err(fault @ (Error::LockMisused { .. } | Error::LockTimeout { .. })) => {
                Ok(Some(fault.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns what is wrong: first if a thread was refused, then as `work` verifies it.
    pub fn verify(&self, work: impl FnOnce() -> Verdict) -> Verdict {
        match self.wrong()? {
            Some(wrong) => Ok(Some(wrong)),
            None => work(),
        }
    }
}

/// Data, what excludes threads from each other's sections on it, and the kernel `K`.
struct Excluded<K, X, T> {
    exclusion: Held<X>,
    data: T,
    kernel: PhantomData<K>,
}

impl<K, X, T> PreparedContender<T::Device> for Excluded<K, X, T>
where
    X: Exclusion<Device = T::Device>,
    T: ContenderData,
    K: Kernel<Params: Joined<X::View, T::Params>>,
{
    fn transactions(&self, asked: u64) -> u64 {
        self.data.transactions(asked)
    }

    fn launch(
        &mut self,
        device: &T::Device,
        shape: (u32, u32),
        transactions: u64,
    ) -> Result<Duration> {
        self.exclusion.fit(device, lanes(shape))?;
        self.data.fit(device, shape.0, lanes(shape))?;
        self.data.reset()?;
        let work = self.data.params(transactions);
        let params = K::Params::join(self.exclusion.view(), work);
        let shared_bytes = self.exclusion.shared_bytes() + self.data.shared_bytes();
        let launch = fitting::<K>(device, shape, shared_bytes)?;
        // SAFETY: the parameters are views of buffers that `data` and `exclusion` keep, made
        // for this kernel, and nothing else uses them meanwhile.
        let time = unsafe { device.launch::<K>(&launch, &params)? };
        self.data.launched(time);
        Ok(time)
    }

    fn verify(&mut self, transactions: u64) -> Verdict {
        self.exclusion.verify(|| self.data.verify(transactions))
    }

    fn note(&self) -> Result<Option<String>> {
        self.data.note()
    }
}

/// Makes the contender of this kind and name that runs `K` on the data that `prepare` makes, on
/// which `X` excludes threads from each other; errors call it `what`, and `count` says how many
/// there are.
pub fn excluded<K, X, W, T>(
    (kind, name): (ContenderKind, &'static str),
    operations: (&'static str, fn(&W) -> f64),
    (what, count): (&'static str, fn(&W) -> u64),
    prepare: impl Fn(&W, &T::Device, u64, u64) -> Result<T> + 'static,
) -> Contender<W, T::Device>
where
    X: Exclusion<Device = T::Device> + 'static,
    W: 'static,
    T: ContenderData<Device: 'static> + 'static,
    K: Kernel<Params: Joined<X::View, T::Params>>,
{
    let with = move |of: &W, device: &T::Device, seed, transactions| {
        Ok(Excluded::<K, X, T> {
            exclusion: Held::new(device, count(of), what)?,
            data: prepare(of, device, seed, transactions)?,
            kernel: PhantomData,
        })
    };
    Contender::of_launches(kind, name, K::ENTRY, operations, with)
}

/// Makes the contender of this kind and name that runs `K` on the data that `prepare` makes, whose
/// threads nothing excludes.
pub fn open<K, W, T>(
    kind_and_name: (ContenderKind, &'static str),
    operations: (&'static str, fn(&W) -> f64),
    prepare: impl Fn(&W, &T::Device, u64, u64) -> Result<T> + 'static,
) -> Contender<W, T::Device>
where
    W: 'static,
    T: ContenderData<Device: 'static> + 'static,
    K: Kernel<Params = T::Params>,
{
    excluded::<K, Open<_>, W, T>(kind_and_name, operations, ("nothing", |_| 0), prepare)
}

/// The lock on a device.
pub type OneLock<D> = Locks<D, TasBackoff>;

/// What messages call the lock.
const LOCK: &str = "the lock of the critical sections";

impl<P> Joined<Lock, P> for Guarded<P> {
    fn join(lock: Lock, work: P) -> Self {
        Self { lock, work }
    }
}

/// Makes the lock on a device.
pub fn one_lock<D: Device>(device: &D) -> Result<Held<OneLock<D>>> {
    Held::new(device, 1, LOCK)
}

/// Makes the contender that runs `K` on the data that `prepare` makes, as critical sections.
pub fn critical_section<K, W, T>(
    operations: (&'static str, fn(&W) -> f64),
    prepare: impl Fn(&W, &T::Device, u64, u64) -> Result<T> + 'static,
) -> Contender<W, T::Device>
where
    W: 'static,
    T: ContenderData<Device: 'static> + 'static,
    K: Kernel<Params = Guarded<T::Params>>,
{
    excluded::<K, OneLock<_>, W, T>(
        (ContenderKind::CriticalSection, CRITICAL_SECTION),
        operations,
        (LOCK, |_| 1),
        prepare,
    )
}

/// The kind and the name of a contender without synchronisation.
pub const UNSYNCHRONISED: (ContenderKind, &str) = (ContenderKind::Unsynchronised, "plain accesses");

/// Makes data of a workload fit for so many blocks and lanes.
pub type Fit<W, D, T> = fn(&W, &D, &mut T, (u32, u64)) -> Result<()>;

/// What a contender does with the data of the workload `W`; `P` are its kernel's parameters.
pub struct Uses<W: Workload, P, D: Device> {
    /// Returns the workload whose data it uses.
    pub of: fn(&W) -> W,
    /// Makes the parameters for a launch of so many transactions.
    pub params: fn(&W, &W::Data<D>, u64) -> P,
    /// Returns the transactions of a launch, of which so many were asked for.
    pub transactions: fn(&W, &W::Data<D>, u64) -> u64,
    /// Makes the data fit for so many blocks and lanes.
    pub fit: Fit<W, D, W::Data<D>>,
    /// Puts the data into its state before a launch.
    pub reset: fn(&W, &mut W::Data<D>) -> Result<()>,
    /// Notes the time of a launch.
    pub launched: fn(&mut W::Data<D>, Duration),
    /// Verifies what it left.
    pub verify: fn(&W, &mut W::Data<D>, u64) -> Verdict,
    /// What a reader of the figures has to know.
    pub note: fn(&W, &W::Data<D>) -> Result<Option<String>>,
}

impl<W: Workload + Clone, P, D: Device> Uses<W, P, D> {
    /// Uses of data that are verified as after transactions.
    pub const fn new(params: fn(&W, &W::Data<D>, u64) -> P) -> Self {
        Self {
            of: W::clone,
            params,
            transactions: |of, _, asked| of.transactions().unwrap_or(asked),
            fit: |of, device, data, (_, lanes)| {
                of.fit(device, data, lanes)?;
                of.arrange(data, Layout::Plain)
            },
            reset: W::reset,
            launched: |_, _| {},
            verify: W::verify,
            note: |_, _| Ok(None),
        }
    }
}

/// A workload's own data, in the plain layout.
pub struct Own<W: Workload, P, D: Device> {
    of: W,
    pub(super) data: W::Data<D>,
    uses: Uses<W, P, D>,
}

impl<W, P, D> ContenderData for Own<W, P, D>
where
    W: Workload,
    P: Copy + 'static,
    D: Device,
{
    type Device = D;
    type Params = P;

    fn transactions(&self, asked: u64) -> u64 {
        (self.uses.transactions)(&self.of, &self.data, asked)
    }

    fn fit(&mut self, device: &D, blocks: u32, lanes: u64) -> Result<()> {
        (self.uses.fit)(&self.of, device, &mut self.data, (blocks, lanes))
    }

    fn shared_bytes(&self) -> u32 {
        self.of.shared_bytes()
    }

    fn reset(&mut self) -> Result<()> {
        (self.uses.reset)(&self.of, &mut self.data)
    }

    fn launched(&mut self, time: Duration) {
        (self.uses.launched)(&mut self.data, time);
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
pub fn own<W: Workload + Clone, P, D: Device>(
    uses: fn() -> Uses<W, P, D>,
) -> impl Fn(&W, &D, u64, u64) -> Result<Own<W, P, D>> {
    move |of, device, seed, transactions| {
        let uses = uses();
        let of = (uses.of)(of);
        let data = of.prepare(device, seed, of.transactions().unwrap_or(transactions))?;
        Ok(Own { of, data, uses })
    }
}
