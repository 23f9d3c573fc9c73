//! The agency's tables and lists on a device, and what the transactions noted.

use super::check::{Found, Left};
use super::input::Vacation;
use crate::error::Result;
use crate::workloads::memory::check_memory;
use serde_json::Value;
use stm_core::array::Layout;
use stm_core::collections::{Lists, Map};
use stm_core::host::{Buffer, Device, Error, Stm};
use stm_core::memory::WordAddress;
use stm_kernels::vacation::{TABLES, VacationPlan};

/// Bytes of a node: a key, a link and a value, and two bits of the pool.
const NODE_BYTES: u64 = 13;

/// Chains of a table for each record.
const CHAINS: u64 = 2;

/// Of a table's nodes, the part that nothing takes for long, so that an allocation
/// finds a free one soon: one in so many.
const SPARE: u64 = 4;

/// The names of the tables, by their numbers.
pub(super) const NAMES: [&str; TABLES as usize] = ["car", "flight", "room"];

/// What errors call the pools of the tables, by their numbers.
const TABLE_NAMES: [&str; TABLES as usize] = [
    "the cars of vacation",
    "the flights of vacation",
    "the rooms of vacation",
];

/// The tables, the customers and their lists.
struct Agency<D: Device> {
    tables: [Map<D, u32, u32>; TABLES as usize],
    customers: Map<D, u32, u32>,
    lists: Lists<D, u32, u32>,
}

/// The agency, and what the tasks noted.
pub struct VacationData<D: Device> {
    pub(super) plan: VacationPlan,
    pub(super) notes: Buffer<D, u64>,
    agency: Agency<D>,
    layout: Layout,
    /// The nodes of a table, and of the lists, without those that attempts hold.
    table_nodes: u64,
    list_nodes: u64,
    /// The lanes that there are nodes for.
    lanes: u64,
    /// The most nodes of a table that a lane holds beside those of the data.
    nodes_a_lane: u64,
    /// What the last run left.
    found: Option<Found>,
}

impl<D: Device> std::fmt::Debug for VacationData<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VacationData").finish_non_exhaustive()
    }
}

impl<D: Device> Agency<D> {
    /// Makes empty tables and lists.
    fn new(
        device: &D,
        layout: Layout,
        relations: u32,
        table_nodes: u64,
        list_nodes: u64,
    ) -> Result<Self> {
        let chains = (CHAINS * u64::from(relations)) as usize;
        let table = |what| Map::with_buckets(device, layout, table_nodes, chains, what);
        let [cars, flights, rooms] = TABLE_NAMES.map(table);
        let lists = "the reservations of vacation";
        Ok(Self {
            tables: [cars?, flights?, rooms?],
            customers: table("the customers of vacation")?,
            lists: Lists::new(device, layout, relations as usize, list_nodes, lists)?,
        })
    }

    /// Fills the tables as they are before the first task.
    fn fill(&mut self, plan: &VacationPlan) -> Result<()> {
        let ids = 1..=plan.relations();
        for (number, table) in (0..).zip(&mut self.tables) {
            let ids = ids.clone();
            table.upload(ids.map(|id| (id, plan.initial(number, id).bits())))?;
        }
        self.customers.upload(ids.map(|id| (id, 0)))?;
        Ok(self.lists.clear()?)
    }
}

impl<D: Device> VacationData<D> {
    /// Allocates the agency for up to `transactions_max` tasks.
    pub(super) fn new(device: &D, of: &Vacation, seed: u64, transactions_max: u64) -> Result<Self> {
        let list_nodes = of.list_nodes(transactions_max);
        let relations = u64::from(of.relations);
        let tables = u64::from(TABLES) + 1;
        let table_nodes = relations + relations / SPARE;
        let bytes = tables * (table_nodes * NODE_BYTES + relations * 4 * CHAINS)
            + list_nodes * NODE_BYTES
            + relations * 4
            + transactions_max * 8;
        // The check holds all of it once more, as maps and lists of the host, and
        // what it expects of each record and customer.
        let host_bytes = bytes + tables * relations * 64 + list_nodes * 16 + relations * 48;
        let fix = "use fewer --relations or --transactions";
        check_memory(device, "vacation", bytes, host_bytes, fix)?;
        let layout = Layout::Plain;
        Ok(Self {
            plan: of.plan(seed),
            notes: Buffer::zeroed(device, transactions_max as usize, "the notes of vacation")?,
            agency: Agency::new(device, layout, of.relations, table_nodes, list_nodes)?,
            table_nodes,
            layout,
            list_nodes,
            lanes: 0,
            nodes_a_lane: 2 * u64::from(of.queries),
            found: None,
        })
    }

    /// Makes room for the nodes that attempts hold beside those of the data: those
    /// that they have allocated, and those that they are about to free.
    pub(super) fn fit(&mut self, device: &D, lanes: u64) -> Result<()> {
        if self.lanes != lanes {
            self.agency = Agency::new(
                device,
                self.layout,
                self.plan.relations(),
                self.table_nodes + self.nodes_a_lane * lanes,
                // Every reservation has a node of its own.
                self.list_nodes + u64::from(TABLES) * lanes,
            )?;
            self.lanes = lanes;
        }
        Ok(())
    }

    pub(super) fn arrange(&mut self, layout: Layout) -> Result<()> {
        for table in &mut self.agency.tables {
            table.arrange_as(layout)?;
        }
        self.agency.customers.arrange_as(layout)?;
        self.agency.lists.arrange_as(layout)?;
        self.layout = layout;
        Ok(())
    }

    pub(super) fn watch(&self, stm: &mut Stm<D>) {
        for table in self.tables() {
            table.watch(stm);
        }
        self.customers().watch(stm);
        self.lists().watch(stm);
    }

    /// The words that transactions access, with what they hold.
    pub(super) fn words(&self) -> Result<Vec<(WordAddress, u64)>> {
        let mut words = self.lists().words()?;
        words.extend(self.customers().words()?);
        for table in self.tables() {
            words.extend(table.words()?);
        }
        Ok(words)
    }

    pub(super) fn reset(&mut self) -> Result<()> {
        self.agency.fill(&self.plan)?;
        Ok(self.notes.clear()?)
    }

    /// The tables of records, by their numbers.
    pub(super) const fn tables(&self) -> &[Map<D, u32, u32>; TABLES as usize] {
        &self.agency.tables
    }

    pub(super) const fn customers(&self) -> &Map<D, u32, u32> {
        &self.agency.customers
    }

    pub(super) const fn lists(&self) -> &Lists<D, u32, u32> {
        &self.agency.lists
    }

    /// Copies what the tasks left to the host. The copies check that the containers
    /// are whole and that no node has leaked.
    pub(super) fn left(&self, transactions: u64) -> Result<Left, Error> {
        let [cars, flights, rooms] = self.tables();
        let mut notes = self.notes.download()?;
        notes.truncate(transactions as usize);
        Ok(Left {
            plan: self.plan,
            notes,
            tables: [cars.download()?, flights.download()?, rooms.download()?],
            customers: self.customers().download()?,
            lists: self.lists().download()?,
        })
    }

    /// Returns what is wrong, if anything.
    pub(super) fn verify(&mut self, transactions: u64) -> Result<Option<String>> {
        let left = match self.left(transactions) {
            Ok(left) => left,
            Err(Error::Corrupt { what }) => return Ok(Some(what)),
            Err(error) => return Err(error.into()),
        };
        let checked = left.check();
        self.found = checked.as_ref().ok().copied();
        Ok(checked.err())
    }

    /// Returns what the last run left, by its names in JSON.
    pub(super) fn observed(&self) -> Vec<(&'static str, Value)> {
        self.found.map_or_else(Vec::new, |found| {
            vec![
                ("reserved", found.reserved.into()),
                ("held", found.held.into()),
                ("cancelled", (found.reserved - found.held).into()),
                ("customers_added", found.customers_added.into()),
                ("customers_deleted", found.customers_deleted.into()),
                ("updates", found.updates.into()),
            ]
        })
    }
}
