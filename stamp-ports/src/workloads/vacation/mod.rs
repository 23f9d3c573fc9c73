//! Vacation, STAMP's travel agency: the host's side.
//!
//! Every result is checked without a replay, from the note that each transaction stores (`check.rs`).
//! Critical sections work on a table and chains without versions.

use super::plain::{Entries, PlainChains, PlainTable, Room, filled};
use crate::workloads::prelude::*;
use check::FinalTables;
use stm_core::collections::{Lists, Map};
use stm_kernels::vacation::floor::{CriticalSection, Params};
use stm_kernels::vacation::{
    CUSTOMERS, QUERIES_MAX, RELATIONS_MAX, TABLES, Vacation as VacationKernel, VacationParams,
    VacationPlan, record_key,
};

mod check;
#[cfg(test)]
mod tests;

sizes! {
    /// Vacation's parameters, with STAMP's letters; by default STAMP's `vacation-low++`:
    /// `-n2 -q90 -u98 -r1048576 -t4194304`. Its `-t` is `--transactions`.
    Vacation, options of "vacation" {
        relations: u32 = 1 << 20, json "r", option
            /// Cars, flights, rooms and customers, so many of each [default: 1M]
            #[arg(short, long, value_name = "N", value_parser = parse_count_32)]
            relations,
            // STAMP's size for simulators, and its default. The buffers of a recording
            // have room for the longest lists, so these are to be short.
            when Occasion::Quick | Occasion::Recording(_) => 16 << 10,
            Occasion::Demonstration(_) | Occasion::Floor(DeviceKind::Cpu) => 64 << 10;
        queries: u32 = 2, json "n", by |_, shared| shared.n;
        range_percent: u32 = 90, json "q", option
            /// Share of them that tasks choose among, in per cent [default: 90]
            #[arg(short = 'q', long, value_name = "PERCENT", value_parser = parse_percent::<1>)]
            range_percent;
        users_percent: u32 = 98, json "u", option
            /// Share of tasks that make reservations, in per cent; the others delete
            /// customers and change tables [default: 98]
            #[arg(short = 'u', long, value_name = "PERCENT", value_parser = parse_percent::<0>)]
            users_percent;
        /// The most transactions of a launch, from which follows how long the lists of
        /// customers become; the caller says how many a launch has.
        transactions_max: u64 = 4 << 20, by |_, shared| shared.transactions,
            when Occasion::Quick | Occasion::Recording(_) => 128 << 10,
            Occasion::Demonstration(_) | Occasion::Floor(DeviceKind::Cpu) => 1 << 20;
    } takes [n, transactions]
}

/// Nodes of a chain that a search has room for: of two chains for each record, one in 10^12 is longer.
const NODES_READ: u32 = 12;

/// Words that an insertion writes, and that a removal does.
const INSERTION: u32 = 4;

/// Words of a search: the head of a chain, and three of each node.
const SEARCH: u32 = 1 + 3 * NODES_READ;

impl Vacation {
    fn plan(&self, seed: u64) -> VacationPlan {
        let (range, users) = (self.range_percent, self.users_percent);
        VacationPlan::new(seed, self.relations, self.queries, range, users)
    }

    /// The records that tasks choose among.
    fn range(&self) -> u64 {
        let range = u64::from(self.relations) * u64::from(self.range_percent) + 50;
        (range / 100).max(1)
    }

    fn reservations_a_task(&self) -> u64 {
        self.queries.min(TABLES).into()
    }

    /// The most reservations of a customer: one of each record.
    fn list_most(&self) -> u64 {
        u64::from(TABLES) * self.range()
    }

    /// The reservations of a customer that no run will see exceeded: those of the busiest one's tasks, if
    /// nobody is deleted. Their number has the distribution of Poisson; six deviations and eight more are
    /// exceeded by one customer in 10^9 or fewer.
    fn list_likely(&self) -> u64 {
        let tasks = self.transactions_max as f64 * f64::from(self.users_percent) / 100.0;
        let mean = tasks / self.range() as f64;
        let tasks = (mean + 6.0 * mean.sqrt() + 8.0).ceil() as u64;
        let tasks = tasks.min(self.transactions_max);
        (tasks.saturating_mul(self.reservations_a_task())).min(self.list_most())
    }

    /// The nodes of all lists, at most.
    fn list_nodes(&self, transactions: u64) -> u64 {
        let all = self.range().saturating_mul(self.list_most());
        all.min(transactions.saturating_mul(self.reservations_a_task()))
    }

    fn capacity_with(&self, list: u64) -> Capacity {
        let most = u64::from(SET_WORDS_MAX);
        let words = |n: u64| n.min(most) as u32;
        let search = u64::from(SEARCH);
        let (queries, reserved) = (u64::from(self.queries), self.reservations_a_task());
        // Of each reservation the key, the link and the price, and the head and two
        // nodes of its record's chain, or more of some.
        let cancelled = list * 10 + 4 * search;
        let searched = (queries + 1) * search + 1 + 2 * list;
        let written = u64::from(INSERTION) * (queries.max(reserved) + 1) + reserved;
        sets(
            words(searched.max(search + 1 + cancelled)),
            words(written.max(u64::from(INSERTION) + 1 + list)),
            words((queries + 2).max(list + 2)),
        )
    }

    /// The records of all tables, and the customers.
    fn records(&self) -> u64 {
        (u64::from(TABLES) + 1) * u64::from(self.relations)
    }
}

impl Sizes for Vacation {
    fn facts(&self, transactions: u64) -> Facts {
        let relations = u64::from(self.relations);
        let mut parameters = self.named();
        parameters.sort_by_key(|&(letter, _)| letter);
        Facts {
            summary: format!(
                "{} a table, {} % of them in use, {} a task, {} % reservations",
                of(relations, "record"),
                self.range_percent,
                match self.queries {
                    1 => "1 query".to_owned(),
                    n => format!("1 to {n} queries"),
                },
                self.users_percent
            ),
            capacity: self.capacity_with(self.list_likely()),
            capacity_max: Some(self.capacity_with(self.list_most())),
            transactions_max: self.transactions_max,
            is_for_lanes: true,
            // A node has three words, and there are two chains for each record.
            shared_words: 5 * self.records() + relations + 3 * self.list_nodes(transactions),
            verifies: Covers::FinalState.that(
                "places, reservations and customers are what the tasks noted, in any order of \
                 them",
            ),
            ..Facts::of(parameters)
        }
    }

    fn check(&self, transactions: u64) -> Result<()> {
        refuse! {
            self.relations == 0 => "--relations 0 leaves nothing to reserve: give 1 or more";
            self.relations > RELATIONS_MAX =>
                "--relations {} is too many: give at most {RELATIONS_MAX}", self.relations;
            self.queries == 0 => "-n 0 leaves a task nothing to do: give 1 or more queries";
            self.queries > QUERIES_MAX =>
                "-n {} is too many queries for a task: give at most {QUERIES_MAX}", self.queries;
            transactions > u64::from(u32::MAX - 1) =>
                "{transactions} tasks are too many: values of 32 bits tell {} apart, so use fewer \
                 --transactions", u32::MAX - 1;
            // A pool has 2^31 nodes at most.
            self.list_nodes(transactions) > 1 << 30 =>
                "{transactions} tasks may make {} reservations, more than the {} that lists have \
                 nodes for: use fewer --transactions", self.list_nodes(transactions), 1 << 30;
        }
        Ok(())
    }
}

/// Bytes of a node: a key, a link and a value, and two bits of the pool.
const NODE_BYTES: u64 = 13;

const CHAINS: u64 = 2;

/// One in so many of the tables' nodes is taken by nothing for long, so that an allocation finds it soon.
const SPARE: u64 = 4;

const FIX: &str = "use fewer --relations or --transactions";

// What errors call the parts.
const RECORDS: &str = "the tables of vacation";
const RESERVATIONS: &str = "the reservations of vacation";
const NOTES: &str = "the notes of vacation";

data! {
    pub Data of Vacation: |of, device, MadeFor { seed, transactions, lanes, layout, .. }| {
        let (relations, records) = (u64::from(of.relations), of.records());
        // Without those that attempts hold.
        let (of_tables, of_lists) = (records + records / SPARE, of.list_nodes(transactions));
        let bytes = (of_tables + of_lists) * NODE_BYTES
            + records * 4 * CHAINS
            + relations * 4
            + transactions * 8;
        // The check holds all of it once more, and what it expects of each record and customer.
        let host_bytes = bytes + records * 64 + of_lists * 16 + relations * 48;
        check_memory(device, "vacation", bytes, host_bytes, FIX)?;
        // Lanes hold nodes in attempts beside: an update of each query takes and frees one, and every
        // reservation has one of its own.
        let nodes = of_tables + u64::from(2 * of.queries) * lanes;
        let of_lists = of_lists + u64::from(TABLES) * lanes;
        let (chains, customers) = ((CHAINS * records) as usize, of.relations as usize);
    }
    plan: VacationPlan = of.plan(seed);
    notes: Buffer<D, u64> = Buffer::zeroed(device, transactions as usize, NOTES)?, cleared;
    lists: Lists<D, u32, u32> =
        Lists::new(device, layout, customers, of_lists, RESERVATIONS)?, accessed, cleared;
    /// Those of records and of customers.
    tables: Map<D, u32, u32> =
        Map::with_buckets(device, layout, nodes, chains, RECORDS)?, accessed;
}

fn initial(plan: &VacationPlan) -> impl Iterator<Item = (u32, u32)> {
    let ids = || 1..=plan.relations;
    let records = (0..TABLES).flat_map(move |table| {
        ids().map(move |id| (record_key(table, id), plan.initial(table, id).bits()))
    });
    records.chain(ids().map(|id| (record_key(CUSTOMERS, id), 0)))
}

impl<D: Device> Data<D> {
    /// Copies what the tasks left, which checks that the containers are whole and that no node has leaked.
    fn left(&self, transactions: u64) -> Result<FinalTables> {
        let mut notes = self.notes.download()?;
        notes.truncate(transactions as usize);
        let (records, lists) = (whole(self.tables.entries())?, whole(self.lists.download())?);
        Ok(FinalTables::new(self.plan, records, lists, notes))
    }
}

impl Workload for Vacation {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        vec![sections().critical_section::<CriticalSection>(self, ("tasks", 1.0))]
    }

    fn arrange<D: Device>(&self, _data: &mut Data<D>, _layout: Layout) -> Result<()> {
        // It was made so, and a reset fills it: there is nothing to copy.
        Ok(())
    }

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.tables.upload(initial(&data.plan))?;
        data.clear()
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

data! {
    Sections of Vacation: |of, device, made_for @ MadeFor { seed, transactions, .. }| {
        let (relations, records) = (u64::from(of.relations), of.records());
        let of_lists = of.list_nodes(transactions);
        let bytes = records * <PlainTable<D> as Entries<D>>::KEY_BYTES[0]
            + of_lists * <PlainChains<D> as Entries<D>>::KEY_BYTES[0]
            + relations * 4
            + transactions * 8;
        let host_bytes = bytes + records * 96 + of_lists * 16 + relations * 48;
        check_memory(device, "vacation", bytes, host_bytes, FIX)?;
        let tables = Room { nodes: records, chains: 0, what: RECORDS };
        let lists = Room { nodes: of_lists, chains: of.relations, what: RESERVATIONS };
    }
    plan: VacationPlan = of.plan(seed);
    tables: PlainTable<D> = PlainTable::make(&tables, device, made_for)?;
    /// The slots of the tables before the first task.
    initial: Vec<u64> = filled(records, initial(&plan));
    lists: PlainChains<D> = PlainChains::make(&lists, device, made_for)?, cleared;
    notes: Buffer<D, u64> = Buffer::zeroed(device, transactions as usize, NOTES)?, cleared;
}

impl<D: Device> Sections<D> {
    fn left(&self, transactions: u64) -> Result<FinalTables> {
        let mut notes = self.notes.download()?;
        notes.truncate(transactions as usize);
        let (records, lists) = (self.tables.entries()?, self.lists.lists()?);
        Ok(FinalTables::new(self.plan, records, lists, notes))
    }
}

fn sections<D: Device + 'static>() -> Uses<Vacation, Sections<D>, Params, D> {
    Uses {
        reset: |_, data| {
            data.tables.upload(&data.initial)?;
            data.clear()
        },
        ..Uses::plain(
            |_: &Vacation, data: &Sections<_>, transactions| {
                let (tables, lists, plan) = (data.tables.view(), data.lists.view(), data.plan);
                views! { data => Params { notes; tables, lists, transactions, plan } }
            },
            |_, data, transactions| Ok(data.left(transactions)?.check().map(drop)?),
        )
    }
}
