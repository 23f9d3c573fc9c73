//! What keeps threads out of each other's way in place of transactions, as contenders
//! hold it: locks of a kind, combiners, or nothing.

use super::contender::{Contender, ContenderData, ContenderKind};
use super::workload::Verdict;
use crate::devices::AnyDevice;
use crate::error::Result;
use std::marker::PhantomData;
use stm_core::Kernel;
use stm_core::host::Error;
use stm_sync::host::{Combiners, Locks};
use stm_sync::{LockKind, TCombiners, TLocks};

/// Something that excludes threads from each other's sections.
pub trait Exclusion: Sized {
    /// What a kernel gets.
    type View: Copy;

    /// Makes `count` of them, for so many threads.
    ///
    /// # Errors
    /// Too little memory, or an error of the device.
    fn make(device: &AnyDevice, count: u64, users: u64, what: &'static str) -> Result<Self>;

    /// Returns what a kernel gets.
    fn view(&self) -> Self::View;

    /// Returns the number of bytes of shared memory that a block needs.
    fn shared_bytes(&self) -> u32 {
        0
    }

    /// Reports the first fault since it was made.
    ///
    /// # Errors
    /// The fault, or an error of the device.
    fn check(&self) -> Result<(), Error>;
}

impl<K: LockKind> Exclusion for Locks<AnyDevice, K> {
    type View = TLocks<K>;

    fn make(device: &AnyDevice, count: u64, users: u64, what: &'static str) -> Result<Self> {
        Ok(Self::new(device, count, users, what)?)
    }

    fn view(&self) -> TLocks<K> {
        self.view()
    }

    fn shared_bytes(&self) -> u32 {
        u32::try_from(self.shared_bytes()).unwrap_or(u32::MAX)
    }

    fn check(&self) -> Result<(), Error> {
        self.check()
    }
}

impl Exclusion for Combiners<AnyDevice, 1> {
    type View = TCombiners<1>;

    fn make(device: &AnyDevice, count: u64, users: u64, what: &'static str) -> Result<Self> {
        Ok(Self::new(device, count, users, what)?)
    }

    fn view(&self) -> TCombiners<1> {
        self.view()
    }

    fn check(&self) -> Result<(), Error> {
        self.check()
    }
}

/// Nothing excludes anybody.
#[derive(Clone, Copy, Debug)]
pub struct Open;

impl Exclusion for Open {
    type View = ();

    fn make(_: &AnyDevice, _: u64, _: u64, _: &'static str) -> Result<Self> {
        Ok(Self)
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

/// Something that excludes, made anew when the number of threads changes.
pub struct Held<X> {
    made: X,
    count: u64,
    users: u64,
    what: &'static str,
}

impl<X: Exclusion> Held<X> {
    /// Makes `count` of them, for one thread.
    ///
    /// # Errors
    /// Too little memory, or an error of the device.
    pub fn new(device: &AnyDevice, count: u64, what: &'static str) -> Result<Self> {
        Ok(Self {
            made: X::make(device, count, 1, what)?,
            count,
            users: 1,
            what,
        })
    }

    /// Makes them fit for so many threads.
    ///
    /// # Errors
    /// Too little memory, or an error of the device.
    pub fn fit(&mut self, device: &AnyDevice, users: u64) -> Result<()> {
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
    ///
    /// # Errors
    /// An error of the device.
    pub fn wrong(&self) -> Verdict {
        match self.made.check() {
            Ok(()) => Ok(None),
            Err(fault @ (Error::LockMisused { .. } | Error::LockTimeout { .. })) => {
                Ok(Some(fault.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Data, and what excludes threads from each other's sections on it; `P` are the parameters
/// of the kernel.
pub struct Excluded<X, T, P> {
    exclusion: Held<X>,
    data: T,
    parameters: PhantomData<P>,
}

impl<X, T, P> Excluded<X, T, P> {
    /// Puts both together.
    pub const fn new(exclusion: Held<X>, data: T) -> Self {
        Self {
            exclusion,
            data,
            parameters: PhantomData,
        }
    }
}

impl<X, T, P> ContenderData for Excluded<X, T, P>
where
    X: Exclusion,
    T: ContenderData,
    P: Joined<X::View, T::Params> + Copy + Send + Sync + 'static,
{
    type Params = P;

    fn transactions(&self, asked: u64) -> u64 {
        self.data.transactions(asked)
    }

    fn fit(&mut self, device: &AnyDevice, lanes: u64) -> Result<()> {
        self.exclusion.fit(device, lanes)?;
        self.data.fit(device, lanes)
    }

    fn shared_bytes(&self) -> u32 {
        self.exclusion.shared_bytes() + self.data.shared_bytes()
    }

    fn reset(&mut self) -> Result<()> {
        self.data.reset()
    }

    fn params(&self, transactions: u64) -> P {
        P::join(self.exclusion.view(), self.data.params(transactions))
    }

    fn verify(&mut self, transactions: u64) -> Verdict {
        match self.exclusion.wrong()? {
            Some(wrong) => Ok(Some(wrong)),
            None => self.data.verify(transactions),
        }
    }

    fn note(&self) -> Result<Option<String>> {
        self.data.note()
    }
}

/// Makes the contender that runs `K` on the data that `prepare` makes, on which `X` excludes
/// threads from each other; errors call it `what`, and `count` says how many there are.
pub fn excluding<K, X, W, T>(
    name: &'static str,
    operations: (&'static str, fn(&W) -> f64),
    (what, count): (&'static str, fn(&W) -> u64),
    prepare: fn(&W, &AnyDevice, u64, u64) -> Result<T>,
) -> Contender<W>
where
    X: Exclusion + 'static,
    W: 'static,
    T: ContenderData + 'static,
    K: Kernel<Params: Joined<X::View, T::Params>>,
{
    Contender::new::<K, Excluded<X, T, K::Params>>(
        ContenderKind::Excluding,
        name,
        operations,
        move |of, device, seed, transactions| {
            let exclusion = Held::new(device, count(of), what)?;
            Ok(Excluded::new(
                exclusion,
                prepare(of, device, seed, transactions)?,
            ))
        },
    )
}
