//! The hash table with one key a transaction under locks, one for each bucket, by
//! combining, and without locks: the hash table of Grote 2020.

use super::check::{difference, keys};
use super::input::Ht;
use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::workloads::contender::ContenderKind::Excluding;
use crate::workloads::contender::{Contender, ContenderData};
use crate::workloads::exclusion::{Exclusion, Held, Joined, Open};
use crate::workloads::memory::check_memory;
use stm_core::host::Buffer;
use stm_kernels::locked::table::{
    CombinedTable, CombinedTableParams, LockFreeTable, LockedTableParams, Table, TableAnderson,
    TableBackoff, TableFetchAdd, TableHandoff, TableMcs, TableMcsLane, TableTas, TableTasLane,
    TableTicket, TableTtas, TableTtasLane,
};
use stm_sync::host::{Combiners, Locks};
use stm_sync::{LockKind, TCombiners, TLocks};

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

/// The table, and what excludes threads from a bucket; `P` are the parameters of the
/// kernel.
struct Excluded<X, P> {
    exclusion: Held<X>,
    heads: Buffer<AnyDevice, u32>,
    nexts: Buffer<AnyDevice, u32>,
    keys: Buffer<AnyDevice, u32>,
    keys_host: Vec<u32>,
    parameters: std::marker::PhantomData<P>,
}

impl<X: Exclusion, P> Excluded<X, P> {
    fn prepare(of: &Ht, device: &AnyDevice, seed: u64, transactions: u64) -> Result<Self> {
        if of.keys_per_tx != 1 {
            return Err(Error::Usage(format!(
                "--keys-per-tx {} does not suit a table under locks, which inserts each key by \
                 itself: give 1",
                of.keys_per_tx
            )));
        }
        let bytes = transactions * 8 + u64::from(of.buckets) * 4;
        let fix = "use fewer --transactions or --buckets";
        check_memory(device, "ht", bytes, bytes + transactions / 8, fix)?;
        let keys_host = keys(seed, transactions);
        Ok(Self {
            exclusion: Held::new(device, of.buckets.into(), "the buckets' locks")?,
            heads: Buffer::zeroed(device, of.buckets as usize, "the buckets of ht")?,
            nexts: Buffer::zeroed(device, transactions as usize, "the nodes of ht")?,
            keys: Buffer::from_slice(device, &keys_host, "the keys of ht")?,
            keys_host,
            parameters: std::marker::PhantomData,
        })
    }
}

impl<X: Exclusion, P> ContenderData for Excluded<X, P>
where
    P: Joined<X::View, Table> + Copy + Send + Sync + 'static,
{
    type Params = P;

    fn fit(&mut self, device: &AnyDevice, lanes: u64) -> Result<()> {
        self.exclusion.fit(device, lanes)
    }

    fn shared_bytes(&self) -> u32 {
        self.exclusion.shared_bytes()
    }

    fn reset(&mut self) -> Result<()> {
        self.nexts.clear()?;
        Ok(self.heads.clear()?)
    }

    fn params(&self, transactions: u64) -> P {
        let table = Table {
            heads: self.heads.tarray(),
            nexts: self.nexts.tarray(),
            keys: self.keys.tarray(),
            transactions,
        };
        P::join(self.exclusion.view(), table)
    }

    fn verify(&mut self, transactions: u64) -> Result<Option<String>> {
        if let Some(wrong) = self.exclusion.wrong()? {
            return Ok(Some(wrong));
        }
        let (heads, nexts) = (self.heads.download()?, self.nexts.download()?);
        let there = transactions as usize;
        Ok(difference(
            &heads,
            &nexts[..there],
            &self.keys_host[..there],
            1,
        ))
    }
}

/// The contender with locks of kind `K`.
fn of_kind<K: LockKind, Kernel>(name: &'static str) -> Contender<Ht>
where
    Kernel: stm_core::Kernel<Params = LockedTableParams<K>>,
{
    let prepare = Excluded::<Locks<AnyDevice, K>, LockedTableParams<K>>::prepare;
    Contender::new::<Kernel, _>(Excluding, name, super::floor::KEYS, prepare)
}

/// The contenders under locks.
pub(super) fn contenders() -> Vec<Contender<Ht>> {
    vec![
        of_kind::<_, TableTasLane>("tas/lane"),
        of_kind::<_, TableTtasLane>("ttas/lane"),
        of_kind::<_, TableMcsLane>("mcs/lane"),
        of_kind::<_, TableTas>("tas"),
        of_kind::<_, TableTtas>("ttas"),
        of_kind::<_, TableBackoff>("tas-backoff"),
        of_kind::<_, TableTicket>("ticket"),
        of_kind::<_, TableHandoff>("ticket-handoff"),
        of_kind::<_, TableFetchAdd>("fetch-add"),
        of_kind::<_, TableAnderson>("anderson"),
        of_kind::<_, TableMcs>("mcs"),
        Contender::new::<CombinedTable, _>(
            Excluding,
            "combining",
            super::floor::KEYS,
            Excluded::<Combiners<AnyDevice, 1>, CombinedTableParams>::prepare,
        ),
        Contender::new::<LockFreeTable, _>(
            Excluding,
            "lock-free",
            super::floor::KEYS,
            Excluded::<Open, Table>::prepare,
        ),
    ]
}
