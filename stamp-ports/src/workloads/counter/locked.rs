//! The counter under locks of every kind, by combining, and by additions alone.

use super::input::Counter;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::ContenderKind::Excluding;
use crate::workloads::contender::{Contender, ContenderData, one_each};
use crate::workloads::exclusion::{Exclusion, Held, Joined, Open};
use stm_core::host::Buffer;
use stm_kernels::locked::counter::{
    AddedCounter, CombinedCounter, CombinedCounterParams, CounterAnderson, CounterBackoff,
    CounterCohort, CounterFetchAdd, CounterHandoff, CounterMcs, CounterMcsLane, CounterRing,
    CounterTas, CounterTasLane, CounterTicket, CounterTtas, CounterTtasLane, LockedCounterParams,
    TwiceLockedCounter, TwiceLockedCounterParams, Work,
};
use stm_sync::host::{Combiners, Locks};
use stm_sync::{LockKind, TCombiners, TLocks, Tas};

impl<K: LockKind> Joined<TLocks<K>, Work> for LockedCounterParams<K> {
    fn join(locks: TLocks<K>, work: Work) -> Self {
        Self { locks, work }
    }
}

impl Joined<TLocks<Tas>, Work> for TwiceLockedCounterParams {
    fn join(locks: TLocks<Tas>, work: Work) -> Self {
        Self { locks, work }
    }
}

impl Joined<TCombiners<1>, Work> for CombinedCounterParams {
    fn join(combiners: TCombiners<1>, work: Work) -> Self {
        Self { combiners, work }
    }
}

impl Joined<(), Work> for Work {
    fn join((): (), work: Work) -> Self {
        work
    }
}

/// The counters, and what excludes threads from each other; `P` are the parameters of
/// the kernel.
struct Excluded<X, P> {
    of: Counter,
    exclusion: Held<X>,
    words: Buffer<AnyDevice, u32>,
    items: Buffer<AnyDevice, u32>,
    parameters: std::marker::PhantomData<P>,
}

impl<X: Exclusion, P> Excluded<X, P> {
    fn prepare(of: &Counter, device: &AnyDevice, _seed: u64, _transactions: u64) -> Result<Self> {
        Self::with(of, device, of.counters.into())
    }

    /// Makes the counters with two locks each.
    fn twice(of: &Counter, device: &AnyDevice, _seed: u64, _transactions: u64) -> Result<Self> {
        Self::with(of, device, 2 * u64::from(of.counters))
    }

    fn with(of: &Counter, device: &AnyDevice, locks: u64) -> Result<Self> {
        Ok(Self {
            of: *of,
            exclusion: Held::new(device, locks, "the counters' locks")?,
            words: Buffer::zeroed(device, of.words(), "the counters")?,
            items: Buffer::from_slice(device, &of.items(), "the items")?,
            parameters: std::marker::PhantomData,
        })
    }
}

impl<X: Exclusion, P> ContenderData for Excluded<X, P>
where
    P: Joined<X::View, Work> + Copy + Send + Sync + 'static,
{
    type Params = P;

    fn transactions(&self, _asked: u64) -> u64 {
        self.of.items.into()
    }

    fn fit(&mut self, device: &AnyDevice, lanes: u64) -> Result<()> {
        self.exclusion.fit(device, lanes)
    }

    fn shared_bytes(&self) -> u32 {
        self.exclusion.shared_bytes()
    }

    fn reset(&mut self) -> Result<()> {
        Ok(self.words.clear()?)
    }

    fn params(&self, transactions: u64) -> P {
        let work = Work {
            words: self.words.tarray(),
            items: self.items.tarray(),
            sections: transactions,
            plan: self.of.plan(),
            first_only: self.of.first_only.into(),
        };
        P::join(self.exclusion.view(), work)
    }

    fn verify(&mut self, _transactions: u64) -> Result<Option<String>> {
        if let Some(wrong) = self.exclusion.wrong()? {
            return Ok(Some(wrong));
        }
        // Additions alone exclude nobody between the counter and the sum.
        let exclude = size_of::<X::View>() > 0;
        Ok(self.of.wrong(&self.words.download()?, exclude))
    }

    fn note(&self) -> Result<Option<String>> {
        if !self.of.sums {
            return Ok(None);
        }
        Ok(Some(format!("the sum is {}", self.words.download()?[1])))
    }
}

/// The contenders of the counter.
pub(super) fn contenders() -> Vec<Contender<Counter>> {
    macro_rules! locked {
        ($($name:literal: $kernel:ty;)*) => {
            vec![
                $(of_kind::<_, $kernel>($name),)*
                Contender::new::<TwiceLockedCounter, _>(
                    Excluding,
                    "spin-spin",
                    one_each(),
                    Excluded::<Locks<AnyDevice, Tas>, TwiceLockedCounterParams>::twice,
                ),
                Contender::new::<CombinedCounter, _>(
                    Excluding,
                    "combining",
                    one_each(),
                    Excluded::<Combiners<AnyDevice, 1>, CombinedCounterParams>::prepare,
                ),
                Contender::new::<AddedCounter, _>(
                    Excluding,
                    "added",
                    one_each(),
                    Excluded::<Open, Work>::prepare,
                ),
            ]
        };
    }
    locked! {
        "tas/lane": CounterTasLane;
        "ttas/lane": CounterTtasLane;
        "mcs/lane": CounterMcsLane;
        "tas": CounterTas;
        "ttas": CounterTtas;
        "tas-backoff": CounterBackoff;
        "ticket": CounterTicket;
        "ticket-handoff": CounterHandoff;
        "fetch-add": CounterFetchAdd;
        "ring": CounterRing;
        "anderson": CounterAnderson;
        "mcs": CounterMcs;
        "cohort": CounterCohort;
    }
}

/// The contender with locks of kind `K`.
fn of_kind<K: LockKind, Kernel>(name: &'static str) -> Contender<Counter>
where
    Kernel: stm_core::Kernel<Params = LockedCounterParams<K>>,
{
    Contender::new::<Kernel, _>(
        Excluding,
        name,
        one_each(),
        Excluded::<Locks<AnyDevice, K>, LockedCounterParams<K>>::prepare,
    )
}
