//! The counter under locks of every kind, by combining, and by additions alone.

use super::{Counter, CounterData};
use crate::workloads::exclusion::{Exclusion, Joined, Open, excluding, joins};
use crate::workloads::prelude::*;
use stm_kernels::locked::counter::{
    AddedCounter, CombinedCounter, CombinedCounterParams, CounterAnderson, CounterBackoff,
    CounterCohort, CounterFetchAdd, CounterHandoff, CounterMcs, CounterMcsLane, CounterRing,
    CounterTas, CounterTasLane, CounterTicket, CounterTtas, CounterTtasLane, LockedCounterParams,
    TwiceLockedCounter, TwiceLockedCounterParams, Work,
};
use stm_sync::host::{Combiners, Locks};
use stm_sync::{LockKind, TCombiners, TLocks, Tas};

joins! {
    [K] LockedCounterParams<K>: locks: TLocks<K>, work: Work;
    [] TwiceLockedCounterParams: locks: TLocks<Tas>, work: Work;
    [] CombinedCounterParams: combiners: TCombiners<1>, work: Work;
}

/// The workload's own data; sections `EXCLUDE` each other, or not.
fn counters<const EXCLUDE: bool>() -> Uses<Counter, Work> {
    Uses {
        verify: |of, data, _| Ok(of.wrong(&data.words.download()?, EXCLUDE)),
        note: |of, data| {
            let sum = of.sums.then(|| data.words.download()).transpose()?;
            Ok(sum.map(|words| format!("the sum is {}", words[1])))
        },
        ..Uses::new(|of: &Counter, data: &CounterData<_>, transactions| Work {
            words: data.words.view::<Cgl>(),
            items: data.items.tarray(),
            sections: transactions,
            plan: of.plan(),
            first_only: of.first_only.into(),
        })
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
        own(counters::<true>),
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
            own(counters::<false>),
        ),
    ]
}
