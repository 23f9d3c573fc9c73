//! What a workload is compared with: its work under locks of a kind, by combining, in critical sections of
//! one lock, and without synchronisation. The data are the workload's own or a structure without versions
//! ([`plain`](super::plain)); what they leave is verified as what transactions leave.
//!
//! Most workloads have critical sections of all transactions, genome those of GN-1 and the links of GN-2;
//! counter and sorted have locks of each kind, and what aligns without transactions `bench nw` measures.

use super::compare::{Verdict, verdict, whole};
use super::contender::{CRITICAL_SECTION, Contender, ContenderKind, PreparedContender};
use super::form::Memory;
use super::workload::{MadeFor, Workload};
use crate::prelude::*;
use stm_core::{Kernel, Layout};
use stm_kernels::floor::Guarded;
use stm_kernels::locked::{Params, Under};
use stm_sync::host::{Combiners, Locks};
use stm_sync::{LockKind, TCombiners, TLocks};

/// What excludes threads from each other's sections: as a kernel gets it, with the shared memory of a block
/// in bytes, and what reports the first fault since it was made.
pub(crate) struct Exclusion<V> {
    pub(crate) view: V,
    shared_bytes: u32,
    pub(crate) check: Box<dyn Fn() -> Result<(), host::Error>>,
}

/// How many locks, or others, for how many threads, and what errors call them.
type Asked = (u64, u64, &'static str);

pub(crate) trait Excludes: Copy + 'static {
    fn make<D: Device + 'static>(device: &D, asked: Asked) -> Result<Exclusion<Self>>;
}

impl<K: LockKind> Excludes for TLocks<K> {
    fn make<D: Device + 'static>(device: &D, asked: Asked) -> Result<Exclusion<Self>> {
        let (count, users, what) = asked;
        let locks = Locks::<D, K>::new(device, count, users, what)?;
        Ok(Exclusion {
            view: locks.view(),
            shared_bytes: u32::try_from(locks.shared_bytes()).unwrap_or(u32::MAX),
            check: Box::new(move || locks.check()),
        })
    }
}

impl Excludes for TCombiners<1> {
    fn make<D: Device + 'static>(device: &D, asked: Asked) -> Result<Exclusion<Self>> {
        let (count, users, what) = asked;
        let combiners = Combiners::<D, 1>::new(device, count, users, what)?;
        Ok(Exclusion {
            view: combiners.view(),
            shared_bytes: 0,
            check: Box::new(move || combiners.check()),
        })
    }
}

impl Excludes for () {
    fn make<D: Device>(_: &D, _: Asked) -> Result<Exclusion<()>> {
        Ok(Exclusion {
            view: (),
            shared_bytes: 0,
            check: Box::new(|| Ok(())),
        })
    }
}

pub(crate) type Launch<'a, P> = dyn FnMut(P) -> Result<Duration> + 'a;

/// Returns what a launch of so many transactions works on.
pub(crate) type ParametersOf<W, T, P> = fn(&W, &T, u64) -> P;

/// Makes the launches of a run of so many transactions by the last argument, and returns their time.
type Launches<W, T, P, D> =
    fn(ParametersOf<W, T, P>, &W, &D, &mut T, u64, &mut Launch<'_, P>) -> Result<Duration>;

/// What a contender of the workload `W` does with data of the type `T`, as [`PreparedContender`] says;
/// `P` are its kernel's parameters.
pub(crate) struct Uses<W, T, P, D: Device> {
    /// Returns the workload whose data it uses.
    pub(crate) of: fn(&W) -> W,
    pub(crate) prepare: fn(&W, &D, MadeFor) -> Result<T>,
    /// Whether the data are made anew for other blocks and lanes.
    pub(crate) is_for_lanes: fn(&W) -> bool,
    pub(crate) work: ParametersOf<W, T, P>,
    pub(crate) launches: Launches<W, T, P, D>,
    pub(crate) transactions: fn(&W, &T, u64) -> u64,
    /// Fewer, if the host does much between the launches of all.
    pub(crate) tried: fn(u64) -> u64,
    /// More, if a run makes several passes over them.
    pub(crate) made: fn(&T, u64) -> u64,
    pub(crate) shared_bytes: fn(&W) -> u32,
    pub(crate) reset: fn(&W, &mut T) -> Result<()>,
    pub(crate) verify: fn(&W, &mut T, u64) -> Result<()>,
    pub(crate) note: fn(&W, &T) -> Result<Option<String>>,
}

impl<W, T, P, D: Device> Clone for Uses<W, T, P, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W, T, P, D: Device> Copy for Uses<W, T, P, D> {}

impl<W: Sizes + Clone, T: Memory<D, W>, P, D: Device> Uses<W, T, P, D> {
    /// Uses of data without versions.
    pub(crate) fn plain(
        work: ParametersOf<W, T, P>,
        verify: fn(&W, &mut T, u64) -> Result<()>,
    ) -> Self {
        Self {
            of: W::clone,
            prepare: T::make,
            is_for_lanes: |_| false,
            work,
            launches: |work, of, _, data, n, launch| launch(work(of, data, n)),
            transactions: |of, _, asked| of.transactions().unwrap_or(asked),
            tried: |transactions| transactions,
            made: |_, transactions| transactions,
            shared_bytes: |of| of.shared_bytes(),
            reset: |_, data| data.clear(),
            verify,
            note: |_, _| Ok(None),
        }
    }
}

impl<W: Workload + Clone, P, D: Device> Uses<W, W::Data<D>, P, D> {
    /// Uses of the workload's own data in the plain layout, verified as after transactions.
    pub(crate) fn own(work: ParametersOf<W, W::Data<D>, P>) -> Self {
        Self {
            is_for_lanes: |of| of.is_for_lanes(),
            prepare: |of, device, mut made_for| {
                made_for.transactions = of.transactions().unwrap_or(made_for.transactions);
                of.prepare(device, made_for)
            },
            reset: W::reset,
            ..Self::plain(work, |of, data, n| of.verify(data, n).map(drop))
        }
    }
}

impl<W, T, P, D> Uses<W, T, P, D>
where
    W: Sizes + 'static,
    T: 'static,
    P: Copy + 'static,
    D: Device + 'static,
{
    /// Makes the contender that runs `K` on the data; errors call the `count` that exclude its threads
    /// `what`.
    fn excluded<'a, K: Kernel, B: Excludes>(
        self,
        of: &'a W,
        (kind, name): (ContenderKind, &'static str),
        operations: (&'static str, f64),
        (what, count): (&'static str, u64),
        join: fn(B, P) -> K::Params,
    ) -> Contender<'a, D> {
        Contender {
            kind,
            name,
            entry: K::ENTRY,
            operations,
            prepare: Box::new(move |device, seed, n| {
                let (of, made_for) = ((self.of)(of), MadeFor::new(seed, n));
                let locks = (count, what);
                Ok(Box::new(Excluded::<K, B, W, T, P, D> {
                    exclusion: B::make(device, (count, 1, what))?,
                    locks,
                    data: (self.prepare)(&of, device, made_for)?,
                    made_for,
                    of,
                    uses: self,
                    join,
                }))
            }),
        }
    }

    pub(crate) fn open<'a, K: Kernel<Params = P>>(
        self,
        of: &'a W,
        kind_and_name: (ContenderKind, &'static str),
        operations: (&'static str, f64),
    ) -> Contender<'a, D> {
        let join = |(), work| work;
        self.excluded::<K, ()>(of, kind_and_name, operations, ("nothing", 0), join)
    }

    pub(crate) fn critical_section<'a, K: Kernel<Params = Guarded<P>>>(
        self,
        of: &'a W,
        operations: (&'static str, f64),
    ) -> Contender<'a, D> {
        let kind_and_name = (ContenderKind::CriticalSection, CRITICAL_SECTION);
        let locks = ("the lock of the critical sections", 1);
        let join = |lock, work| Guarded { lock, work };
        self.excluded::<K, _>(of, kind_and_name, operations, locks, join)
    }

    /// Makes the contender that does its work on the data under locks, or others, in the way `H`.
    pub(crate) fn under<'a, B: Excludes, H: 'static>(
        self,
        of: &'a W,
        name: &'static str,
        operations: (&'static str, f64),
        locks: (&'static str, u64),
    ) -> Contender<'a, D>
    where
        Under<B, P, H>: Kernel<Params = Params<B, P>>,
    {
        let kind_and_name = (ContenderKind::Excluding, name);
        let join = |by, work| Params { by, work };
        self.excluded::<Under<B, P, H>, B>(of, kind_and_name, operations, locks, join)
    }
}

/// Data, what excludes threads from each other's sections on it, and the kernel `K`.
struct Excluded<K: Kernel, B, W, T, P, D: Device> {
    exclusion: Exclusion<B>,
    locks: (u64, &'static str),
    of: W,
    data: T,
    made_for: MadeFor,
    uses: Uses<W, T, P, D>,
    join: fn(B, P) -> K::Params,
}

impl<K: Kernel, B: Excludes, W: Sizes, T, P, D: Device + 'static> PreparedContender<D>
    for Excluded<K, B, W, T, P, D>
{
    fn transactions(&self, asked: u64) -> u64 {
        (self.uses.transactions)(&self.of, &self.data, asked)
    }

    fn launch(&mut self, device: &D, shape: (u32, u32), transactions: u64) -> Result<Duration> {
        let (of, uses, lanes) = (&self.of, &self.uses, lanes(shape));
        let made_for = self.made_for.launched(shape.0, lanes, Layout::Plain);
        if self.made_for != made_for {
            let (count, what) = self.locks;
            self.exclusion = B::make(device, (count, lanes, what))?;
            if (uses.is_for_lanes)(of) {
                self.data = (uses.prepare)(of, device, made_for)?;
            }
            self.made_for = made_for;
        }
        let data = &mut self.data;
        (uses.reset)(of, data)?;
        let launch = host::Launch {
            shared_bytes: self.exclusion.shared_bytes + (uses.shared_bytes)(of),
            ..host::Launch::new(shape.0, shape.1)
        };
        refuse! {
            device.resident_blocks::<K>(&launch)? == 0 =>
                "a block of {} threads does not fit the device with what {} needs: use fewer",
                shape.1, K::ENTRY;
        }
        let (by, join) = (self.exclusion.view, self.join);
        (uses.launches)(uses.work, of, device, data, transactions, &mut |work| {
            let params = join(by, work);
            // SAFETY: the parameters are views of buffers that `data` and `exclusion` keep, made
            // for this kernel, and nothing else uses them meanwhile.
            Ok(unsafe { device.launch::<K>(&launch, &params)? })
        })
    }

    fn tried(&self, transactions: u64) -> u64 {
        (self.uses.tried)(transactions)
    }

    fn made(&self, transactions: u64) -> u64 {
        (self.uses.made)(&self.data, transactions)
    }

    fn verify(&mut self, transactions: u64) -> Verdict {
        let excluded = whole((self.exclusion.check)());
        verdict(excluded.and_then(|()| (self.uses.verify)(&self.of, &mut self.data, transactions)))
    }

    fn note(&self) -> Result<Option<String>> {
        (self.uses.note)(&self.of, &self.data)
    }
}
