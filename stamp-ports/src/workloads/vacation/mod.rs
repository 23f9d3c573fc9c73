//! Vacation, STAMP's travel agency: the host's side.
//!
//! Every result is checked without a replay, from the note that each transaction stores (`check.rs`).
//! Critical sections work on a table and chains without versions.

use super::plain::{Entries, Plain, PlainChains, PlainTable};
use crate::workloads::prelude::*;
use check::Left;
pub use input::{Options, Vacation};
use stm_core::collections::{Lists, Map};
use stm_kernels::floor::plain::table::filled;
use stm_kernels::floor::vacation::{CriticalSection, Params};
use stm_kernels::vacation::{
    CUSTOMERS, TABLES, Vacation as VacationKernel, VacationParams, VacationPlan, record_key,
};

mod check;
mod input;
#[cfg(test)]
mod tests;

/// Bytes of a node: a key, a link and a value, and two bits of the pool.
const NODE_BYTES: u64 = 13;

/// The tables with that of the customers.
const ALL_TABLES: u64 = TABLES as u64 + 1;

const CHAINS: u64 = 2;

/// One in so many of the tables' nodes is taken by nothing for long, so that an allocation finds it soon.
const SPARE: u64 = 4;

const RESERVATIONS: &str = "the reservations of vacation";

pub struct Data<D: Device> {
    device: D,
    plan: VacationPlan,
    notes: Buffer<D, u64>,
    tables: Tables<D>,
    lists: Lists<D, u32, u32>,
    /// The layout of both, if they have nodes enough for the lanes.
    layout: Option<Layout>,
    /// The nodes of the lists, without those that attempts hold.
    list_nodes: u64,
    /// The lanes that there are nodes for.
    lanes: u64,
}

/// The tables of records and of customers.
type Tables<D> = Map<D, u32, u32>;

fn initial(plan: &VacationPlan) -> impl Iterator<Item = (u32, u32)> {
    let ids = || 1..=plan.relations();
    let records = (0..TABLES).flat_map(move |table| {
        ids().map(move |id| (record_key(table, id), plan.initial(table, id).bits()))
    });
    records.chain(ids().map(|id| (record_key(CUSTOMERS, id), 0)))
}

impl<D: Device> Data<D> {
    /// Copies what the tasks left, which checks that the containers are whole and that no node has leaked.
    fn left(&self, transactions: u64) -> Result<Left> {
        let mut notes = self.notes.download()?;
        notes.truncate(transactions as usize);
        let (records, lists) = (whole(self.tables.entries())?, whole(self.lists.download())?);
        Ok(Left::new(self.plan, records, lists, notes))
    }
}

impl Vacation {
    fn records(&self) -> u64 {
        ALL_TABLES * u64::from(self.relations)
    }

    /// Nodes of the tables, without those that attempts hold.
    fn table_nodes(&self) -> u64 {
        self.records() + self.records() / SPARE
    }

    /// Makes the tables. Lanes hold nodes in attempts beside: an update of each query takes and frees one.
    fn tables<D: Device>(&self, device: &D, layout: Layout, lanes: u64) -> Result<Tables<D>> {
        let nodes = self.table_nodes() + u64::from(2 * self.queries) * lanes;
        let (chains, what) = (CHAINS * self.records(), "the tables of vacation");
        let tables = Map::with_buckets(device, layout, nodes, chains as usize, what);
        Ok(tables?)
    }

    /// Makes lists of so many nodes, and those of attempts: every reservation has one of its own.
    fn lists<D: Device>(
        &self,
        device: &D,
        layout: Layout,
        (nodes, lanes): (u64, u64),
    ) -> Result<Lists<D, u32, u32>> {
        let (customers, nodes) = (self.relations as usize, nodes + u64::from(TABLES) * lanes);
        let lists = Lists::new(device, layout, customers, nodes, RESERVATIONS);
        Ok(lists?)
    }
}

impl Workload for Vacation {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        vec![sections().critical_section::<CriticalSection>(self, ("tasks", 1.0))]
    }

    fn prepare<D: Device>(&self, device: &D, seed: u64, transactions_max: u64) -> Result<Data<D>> {
        let list_nodes = self.list_nodes(transactions_max);
        let (relations, records) = (u64::from(self.relations), self.records());
        let bytes = self.table_nodes() * NODE_BYTES
            + records * 4 * CHAINS
            + list_nodes * NODE_BYTES
            + relations * 4
            + transactions_max * 8;
        // The check holds all of it once more, and what it expects of each record and customer.
        let host_bytes = bytes + records * 64 + list_nodes * 16 + relations * 48;
        let fix = "use fewer --relations or --transactions";
        check_memory(device, "vacation", bytes, host_bytes, fix)?;
        let tables = self.tables(device, Layout::Plain, 0)?;
        let lists = self.lists(device, Layout::Plain, (list_nodes, 0))?;
        Ok(Data {
            device: device.clone(),
            plan: self.plan(seed),
            notes: Buffer::zeroed(device, transactions_max as usize, "the notes of vacation")?,
            tables,
            lists,
            layout: None,
            list_nodes,
            lanes: 0,
        })
    }

    fn fit<D: Device>(&self, _device: &D, data: &mut Data<D>, lanes: u64) -> Result<()> {
        if data.lanes != lanes {
            (data.lanes, data.layout) = (lanes, None);
        }
        Ok(())
    }

    /// Makes the agency anew where its layout or its nodes change: a reset fills it, so there is nothing to
    /// copy, and the versions of an earlier memory are gone.
    fn arrange<D: Device>(&self, data: &mut Data<D>, layout: Layout) -> Result<()> {
        if data.layout == Some(layout) {
            return Ok(());
        }
        // One after the other, so that never both are there twice.
        data.tables = self.tables(&data.device, layout, data.lanes)?;
        data.lists = self.lists(&data.device, layout, (data.list_nodes, data.lanes))?;
        data.layout = Some(layout);
        Ok(())
    }

    accessed!(data => vec![&mut data.lists, &mut data.tables]);

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.tables.upload(initial(&data.plan))?;
        data.lists.clear()?;
        Ok(data.notes.clear()?)
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<Observed> {
        Ok(observed(&data.left(transactions)?.check()?))
    }

    kernels! {
        _, data, run => VacationKernel<A>, views! { data => VacationParams {
            tables by A, lists by A, notes;
            stm: run.stm, transactions: run.transactions, plan: data.plan
        } }
    }
}

struct Sections<D: Device> {
    plan: VacationPlan,
    tables: PlainTable<D>,
    /// The slots of the tables before the first task.
    initial: Vec<u64>,
    lists: PlainChains<D>,
    notes: Buffer<D, u64>,
}

impl<D: Device> Sections<D> {
    fn prepare(of: &Vacation, device: &D, seed: u64, transactions: u64) -> Result<Self> {
        let relations = u64::from(of.relations);
        let records = of.records();
        let list_nodes = of.list_nodes(transactions);
        let bytes = records * <PlainTable<D> as Entries<D>>::KEY_BYTES[0]
            + list_nodes * <PlainChains<D> as Entries<D>>::KEY_BYTES[0]
            + relations * 4
            + transactions * 8;
        let host_bytes = bytes + records * 96 + list_nodes * 16 + relations * 48;
        let fix = "use fewer --relations or --transactions";
        check_memory(device, "vacation", bytes, host_bytes, fix)?;
        let plan = of.plan(seed);
        Ok(Self {
            tables: PlainTable::make(device, records, 0, "the tables of vacation")?,
            initial: filled(records, initial(&plan)),
            lists: PlainChains::make(device, list_nodes, of.relations, RESERVATIONS)?,
            notes: Buffer::zeroed(device, transactions as usize, "the notes of vacation")?,
            plan,
        })
    }

    fn left(&self, transactions: u64) -> Result<Left> {
        let mut notes = self.notes.download()?;
        notes.truncate(transactions as usize);
        let (records, lists) = (self.tables.entries()?, self.lists.lists()?);
        Ok(Left::new(self.plan, records, lists, notes))
    }
}

fn sections<D: Device + 'static>() -> Uses<Vacation, Sections<D>, Params, D> {
    Uses::of(
        Sections::prepare,
        |_, _, data, transactions, launch| {
            let (tables, lists, plan) = (data.tables.view(), data.lists.view(), data.plan);
            launch(views! { data => Params { notes; tables, lists, transactions, plan } })
        },
        |_, data| {
            data.tables.upload(&data.initial)?;
            data.lists.clear()?;
            Ok(data.notes.clear()?)
        },
        |_, data, transactions| Ok(data.left(transactions)?.check().map(drop)?),
    )
}
