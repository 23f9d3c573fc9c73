//! The counter under locks of every kind, by combining, and by additions alone.

use super::Counter;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::{Contender, ContenderData, one_each};
use crate::workloads::exclusion::{Exclusion, Joined, Open, excluding};
use crate::workloads::workload::Verdict;
use stm_core::Kernel;
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

/// The counters; sections `EXCLUDE` each other, or not.
struct Counters<const EXCLUDE: bool> {
    of: Counter,
    words: Buffer<AnyDevice, u32>,
    items: Buffer<AnyDevice, u32>,
}

impl<const EXCLUDE: bool> Counters<EXCLUDE> {
    fn prepare(of: &Counter, device: &AnyDevice, _: u64, _: u64) -> Result<Self> {
        Ok(Self {
            of: *of,
            words: Buffer::zeroed(device, of.words(), "the counters")?,
            items: Buffer::from_slice(device, &of.items(), "the items")?,
        })
    }
}

impl<const EXCLUDE: bool> ContenderData for Counters<EXCLUDE> {
    type Params = Work;

    fn transactions(&self, _asked: u64) -> u64 {
        self.of.items.into()
    }

    fn reset(&mut self) -> Result<()> {
        Ok(self.words.clear()?)
    }

    fn params(&self, transactions: u64) -> Work {
        Work {
            words: self.words.tarray(),
            items: self.items.tarray(),
            sections: transactions,
            plan: self.of.plan(),
            first_only: self.of.first_only.into(),
        }
    }

    fn verify(&mut self, _: u64) -> Verdict {
        Ok(self.of.wrong(&self.words.download()?, EXCLUDE))
    }

    fn note(&self) -> Result<Option<String>> {
        if !self.of.sums {
            return Ok(None);
        }
        Ok(Some(format!("the sum is {}", self.words.download()?[1])))
    }
}

/// The contender in which `X` excludes threads from a counter, with so many of it for each.
fn under<X: Exclusion + 'static, K>(
    name: &'static str,
    each: fn(&Counter) -> u64,
) -> Contender<Counter>
where
    K: Kernel<Params: Joined<X::View, Work>>,
{
    excluding::<K, X, _, _>(
        name,
        one_each(),
        ("the counters' locks", each),
        Counters::<true>::prepare,
    )
}

/// The contender with locks of kind `L`.
fn locked<L: LockKind, K>(name: &'static str) -> Contender<Counter>
where
    K: Kernel<Params = LockedCounterParams<L>>,
{
    under::<Locks<AnyDevice, L>, K>(name, |of| of.counters.into())
}

/// The contenders of the counter.
pub(super) fn contenders() -> Vec<Contender<Counter>> {
    vec![
        locked::<_, CounterTasLane>("tas/lane"),
        locked::<_, CounterTtasLane>("ttas/lane"),
        locked::<_, CounterMcsLane>("mcs/lane"),
        locked::<_, CounterTas>("tas"),
        locked::<_, CounterTtas>("ttas"),
        locked::<_, CounterBackoff>("tas-backoff"),
        locked::<_, CounterTicket>("ticket"),
        locked::<_, CounterHandoff>("ticket-handoff"),
        locked::<_, CounterFetchAdd>("fetch-add"),
        locked::<_, CounterRing>("ring"),
        locked::<_, CounterAnderson>("anderson"),
        locked::<_, CounterMcs>("mcs"),
        locked::<_, CounterCohort>("cohort"),
        under::<Locks<AnyDevice, Tas>, TwiceLockedCounter>("spin-spin", |of| {
            2 * u64::from(of.counters)
        }),
        under::<Combiners<AnyDevice, 1>, CombinedCounter>("combining", |of| of.counters.into()),
        // Additions alone exclude nobody between the counter and the sum.
        excluding::<AddedCounter, Open, _, _>(
            "added",
            one_each(),
            ("nothing", |_| 0),
            Counters::<false>::prepare,
        ),
    ]
}
