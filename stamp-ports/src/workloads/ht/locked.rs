//! The hash table with one key a transaction under locks, one for each bucket, by
//! combining, and without locks: the hash table of Grote 2020.

use super::floor::{Chains, KEYS};
use super::input::Ht;
use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::workloads::contender::{Contender, ContenderData};
use crate::workloads::exclusion::{Exclusion, Joined, Open, excluding};
use stm_core::Kernel;
use stm_core::host::{Combiners, Locks};
use stm_core::sync::{LockKind, TCombiners, TLocks};
use stm_kernels::locked::table::{
    CombinedTable, CombinedTableParams, LockFreeTable, LockedTableParams, Table, TableAnderson,
    TableBackoff, TableFetchAdd, TableHandoff, TableMcs, TableMcsLane, TableTas, TableTasLane,
    TableTicket, TableTtas, TableTtasLane,
};

impl<K: LockKind> Joined<TLocks<K>, Table> for LockedTableParams<K> {
    fn join(locks: TLocks<K>, table: Table) -> Self {
        Self { locks, table }
    }
}

impl Joined<TCombiners<1>, Table> for CombinedTableParams {
    fn join(combiners: TCombiners<1>, table: Table) -> Self {
        Self { combiners, table }
    }
}

impl Joined<(), Table> for Table {
    fn join((): (), table: Table) -> Self {
        table
    }
}

/// The table, into which each section inserts a key.
struct OneKey(Chains);

impl OneKey {
    fn prepare(of: &Ht, device: &AnyDevice, seed: u64, transactions: u64) -> Result<Self> {
        if of.keys_per_tx != 1 {
            return Err(Error::Usage(format!(
                "--keys-per-tx {} does not suit a table under locks, which inserts each key by \
                 itself: give 1",
                of.keys_per_tx
            )));
        }
        Ok(Self(Chains::prepare(of, device, seed, transactions)?))
    }
}

impl ContenderData for OneKey {
    type Params = Table;

    fn reset(&mut self) -> Result<()> {
        self.0.reset()
    }

    fn params(&self, transactions: u64) -> Table {
        let of_chains = self.0.params(transactions);
        Table {
            heads: of_chains.heads,
            nexts: of_chains.nexts,
            keys: of_chains.keys,
            transactions,
        }
    }

    fn verify(&mut self, transactions: u64) -> Result<Option<String>> {
        self.0.verify(transactions)
    }
}

/// The contender in which `X` excludes threads from a bucket.
fn under<X: Exclusion + 'static, K>(name: &'static str) -> Contender<Ht>
where
    K: Kernel<Params: Joined<X::View, Table>>,
{
    let locks: (_, fn(&Ht) -> u64) = ("the buckets' locks", |of| of.buckets.into());
    excluding::<K, X, _, _>(name, KEYS, locks, OneKey::prepare)
}

/// The contender with locks of kind `L`.
fn locked<L: LockKind, K>(name: &'static str) -> Contender<Ht>
where
    K: Kernel<Params = LockedTableParams<L>>,
{
    under::<Locks<AnyDevice, L>, K>(name)
}

/// The contenders under locks.
pub(super) fn contenders() -> Vec<Contender<Ht>> {
    vec![
        locked::<_, TableTasLane>("tas/lane"),
        locked::<_, TableTtasLane>("ttas/lane"),
        locked::<_, TableMcsLane>("mcs/lane"),
        locked::<_, TableTas>("tas"),
        locked::<_, TableTtas>("ttas"),
        locked::<_, TableBackoff>("tas-backoff"),
        locked::<_, TableTicket>("ticket"),
        locked::<_, TableHandoff>("ticket-handoff"),
        locked::<_, TableFetchAdd>("fetch-add"),
        locked::<_, TableAnderson>("anderson"),
        locked::<_, TableMcs>("mcs"),
        under::<Combiners<AnyDevice, 1>, CombinedTable>("combining"),
        under::<Open, LockFreeTable>("lock-free"),
    ]
}
