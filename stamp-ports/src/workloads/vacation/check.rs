//! What the tasks must have left.
//!
//! Each task notes what it did ([`Note`]); what it was to do follows from the plan. From both the host
//! tells, whatever the order of the tasks:
//!
//! 1. The places of each record are those that it had at first, more those that updates added, less those
//!    that updates took away. A record without places is not there.
//! 2. The reserved places of each record are as many as the lists have reservations of it. So no record is
//!    oversold: a count of free places below zero would be no such sum.
//! 3. A customer was deleted as often as it was there and added, and is there if it was not deleted since,
//!    added by the task that its record names. Nobody else has reservations.
//! 4. The reservations of each customer that were made are those that were cancelled and those in its list,
//!    each once: the sums of their prices agree, and the sums of their digests.
//! 5. Every price is one that the record had.
//!
//! All cores work on that, as the books only add up. That the containers are whole, that no node was lost,
//! and that a list has no record twice, `download` checks.

use crate::workloads::prelude::*;
use std::array::from_fn;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use stm_kernels::vacation::{
    CUSTOMERS, FLIGHTS, Note, PLACES_AN_UPDATE, Price, Resource, TABLES, Task, VacationPlan,
    VacationTransaction, record_key, record_of, reservation_digest,
};

#[derive(Clone, Debug)]
pub(super) struct FinalTables {
    pub(super) plan: VacationPlan,
    pub(super) notes: Vec<u64>,
    /// The records that are there, by one less than their numbers; and the customers, each with one more than
    /// the number of the task that added it, or 0.
    pub(super) tables: [Vec<Option<u32>>; TABLES as usize + 1],
    /// A record or customer that cannot be.
    pub(super) foreign: Option<String>,
    /// The keys and prices of the reservations of each customer.
    pub(super) lists: Vec<Vec<(u32, u32)>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub(super) struct Totals {
    pub(super) reserved: u64,
    pub(super) held: u64,
    pub(super) cancelled: u64,
    pub(super) customers_added: u64,
    pub(super) customers_deleted: u64,
    pub(super) updates: u64,
}

impl FinalTables {
    pub(super) fn new(
        plan: VacationPlan,
        records: impl IntoIterator<Item = (u32, u32)>,
        lists: Vec<Vec<(u32, u32)>>,
        notes: Vec<u64>,
    ) -> Self {
        let mut tables = from_fn(|_| vec![None; plan.relations as usize]);
        let mut foreign = None;
        for (key, value) in records {
            let (table, id) = record_of(key);
            // The upper two bits of a key, so one of four.
            if let Some(there) = tables[table as usize].get_mut((id as usize).wrapping_sub(1)) {
                *there = Some(value);
            } else {
                let who = match table {
                    CUSTOMERS => format!("a customer {id}, whom"),
                    _ => format!("{}, which", name(table, id)),
                };
                foreign = Some(format!("there is {who} nobody can add"));
            }
        }
        Self {
            plan,
            notes,
            tables,
            foreign,
            lists,
        }
    }

    pub(super) fn check(&self) -> Result<Totals, String> {
        let books = Books::new(&self.plan);
        let tasks = self.notes.len() as u64;
        let ids = self.plan.relations;
        each(tasks, |task| self.enter(&books, task))?;
        self.foreign.clone().map_or(Ok(()), Err)?;
        each(tasks, |task| self.check_prices(&books, task))?;
        each(ids.into(), |i| self.check_customer(&books, i as u32 + 1))?;
        each(ids.into(), |i| {
            (0..TABLES).try_for_each(|table| self.check_record(&books, table, i as u32 + 1))
        })?;
        Ok(books.found())
    }

    fn task(&self, i: u64) -> (VacationTransaction, Note) {
        let note = Note::from_bits(self.notes[i as usize]);
        (self.plan.transaction(i), note)
    }

    fn enter(&self, books: &Books, i: u64) -> Result<(), String> {
        let (me, note) = self.task(i);
        wrong! {
            note == Note::DISAGREEMENT =>
                "task {i} cancelled reservations of customer {}, and one was of no record that has \
                 reserved places", me.customer;
            me.task == Task::Delete && note.deleted().is_none() && note != Note::NOTHING =>
                "task {i} deleted nobody and noted {:#x}", note.bits();
        }
        let (verb, same) = match me.task {
            Task::Reserve => ("reserve", books.reserve(&me, note)),
            Task::Update => ("update", books.update(&me, note)),
            Task::Delete => ("delete", Some(books.delete(me.customer, note))),
        };
        wrong! {
            same != Some(note) =>
                "task {i} was to {verb} and noted {:#x}, which it cannot have done", note.bits();
        }
        Ok(())
    }

    fn check_prices(&self, books: &Books, i: u64) -> Result<(), String> {
        let (me, note) = self.task(i);
        for (table, query, price) in reservations(note).filter(|_| me.task == Task::Reserve) {
            let id = me.query(query).id;
            wrong! {
                !books.had(table, id, price) =>
                    "task {i} reserved {} for {}, which was never its price",
                    name(table, id), price.amount();
            }
        }
        Ok(())
    }

    /// Compares a customer and its list with what the tasks did, and counts the reservations of each record.
    fn check_customer(&self, books: &Books, customer: u32) -> Result<(), String> {
        let at = customer as usize - 1;
        let [added, deleted, _, expected, expected_digest] = books.customers.of(customer);
        let (there, list) = (self.tables[CUSTOMERS as usize][at], &self.lists[at]);
        wrong! {
            !list.is_empty() && there.is_none() =>
                "customer {customer} is not there and has {} reservations", list.len();
        }
        let (mut bill, mut digest) = (0_u32, 0_u32);
        for &(key, amount) in list {
            let (table, id) = record_of(key);
            let record = self.tables[table as usize].get((id as usize).wrapping_sub(1));
            let of = || name(table, id);
            wrong! {
                table == CUSTOMERS || record.copied().flatten().is_none() =>
                    "customer {customer} has a reservation of {}, which is not there", of();
                !Price::of_amount(amount).is_some_and(|p| books.had(table, id, p)) =>
                    "customer {customer} has {} for {amount}, which was never its price", of();
            }
            books.tables[table as usize].add(id, HELD, 1);
            bill = bill.wrapping_add(amount);
            digest = digest.wrapping_add(reservation_digest(key, amount));
        }
        let by = there.unwrap_or(0);
        let right = match by.checked_sub(1) {
            None => there.is_none() || deleted == 0,
            Some(task) => self.adds(task, customer),
        };
        wrong! {
            expected != bill =>
                "customer {customer} has reservations for {bill}, and those that were made and not \
                 cancelled are for {}", expected as i32;
            (expected_digest ^ digest) << 1 != 0 =>
                "customer {customer} has other reservations than those that were made and not \
                 cancelled";
            1 + i64::from(added) - i64::from(deleted) != i64::from(there.is_some()) =>
                "customer {customer} was added {added} times and deleted {deleted} times, and is{} \
                 there", if there.is_some() { "" } else { " not" };
            !right => "the record of customer {customer} is {by}, and no such task added it";
        }
        Ok(())
    }

    fn adds(&self, i: u32, customer: u32) -> bool {
        let me = self.plan.transaction(i.into());
        let note = self.notes.get(i as usize).copied().map(Note::from_bits);
        me.task == Task::Reserve
            && me.customer == customer
            && note.is_some_and(Note::customer_added)
    }

    fn check_record(&self, books: &Books, table: u32, id: u32) -> Result<(), String> {
        let [places, _, held, _] = books.tables[table as usize].of(id);
        let of = || name(table, id);
        let record = self.tables[table as usize][id as usize - 1];
        let there = Resource::from_bits(record.unwrap_or_default());
        wrong! {
            record.is_none() && places != 0 =>
                "{} is not there and should have {} places", of(), places as i32;
            record.is_some() && places == 0 => "{} is there and should have no places", of();
            there.total() != places =>
                "{} has {} places, {} of them free, and not {}",
                of(), there.total(), there.free(), places as i32;
            there.used() != held =>
                "{} has {} reserved places, and customers have {held} reservations of it",
                of(), there.used();
            record.is_some() && !books.had(table, id, there.price()) =>
                "{} costs {}, which nobody made its price", of(), there.price().amount();
        }
        Ok(())
    }
}

/// Works on the numbers below `count` on all cores, and returns the error of the lowest that has one.
fn each(count: u64, work: impl Fn(u64) -> Result<(), String> + Sync) -> Result<(), String> {
    let ranges = in_ranges(count, |mut range| range.try_for_each(&work));
    ranges.into_iter().collect()
}

fn name(table: u32, id: u32) -> String {
    match ["car", "flight", "room"].get(table as usize) {
        Some(name) => format!("{name} {id}"),
        None => format!("record {id} of a table {table}"),
    }
}

/// The table, the query and the price of each reservation that a task noted.
fn reservations(note: Note) -> impl Iterator<Item = (u32, u32, Price)> {
    (0..TABLES).filter_map(move |table| {
        let (query, price) = note.reservation(table)?;
        Some((table, query, price))
    })
}

/// Numbers that all cores add up, `N` for each record or customer; they wrap around.
struct Accounts<const N: usize>(Vec<[AtomicU32; N]>);

impl<const N: usize> Accounts<N> {
    fn new(rows: impl Iterator<Item = [u32; N]>) -> Self {
        Self(rows.map(|row| row.map(AtomicU32::new)).collect())
    }

    fn add(&self, id: u32, number: usize, amount: u32) {
        self.0[id as usize - 1][number].fetch_add(amount, Relaxed);
    }

    fn of(&self, id: u32) -> [u32; N] {
        from_fn(|number| self.0[id as usize - 1][number].load(Relaxed))
    }

    fn sum(&self, number: usize) -> u64 {
        let all = self.0.iter().map(|row| row[number].load(Relaxed));
        all.map(u64::from).sum()
    }
}

// The numbers of a record: its places after all updates, the updates, the reservations of it that the
// lists have, and a bit for each price that it had at some time.
const PLACES: usize = 0;
const UPDATES: usize = 1;
const HELD: usize = 2;
const PRICES: usize = 3;

// The numbers of a customer: how often it was added and deleted, its reservations, the sum of their
// prices, and that of their digests, of which 31 bits count.
const ADDED: usize = 0;
const DELETED: usize = 1;
const RESERVED: usize = 2;
const BILL: usize = 3;
const DIGEST: usize = 4;

/// What records and customers must have, as it follows from the tasks.
struct Books {
    tables: [Accounts<4>; TABLES as usize],
    customers: Accounts<5>,
}

impl Books {
    fn new(plan: &VacationPlan) -> Self {
        let ids = || 1..=plan.relations;
        let tables = from_fn(|table| {
            let records = ids().map(|id| plan.initial(table as u32, id));
            Accounts::new(records.map(|it| [it.total(), 0, 0, 1 << it.price().number()]))
        });
        let customers = Accounts::new(ids().map(|_| [0; 5]));
        Self { tables, customers }
    }

    fn had(&self, table: u32, id: u32, price: Price) -> bool {
        let prices = self.tables[table as usize].of(id)[PRICES];
        price.number() < Price::DIFFERENT && prices >> price.number() & 1 != 0
    }

    /// Enters what a task reserved, and returns its note as the task makes it; `None` if it was not to.
    fn reserve(&self, me: &VacationTransaction, note: Note) -> Option<Note> {
        let (customers, added) = (&self.customers, note.customer_added());
        customers.add(me.customer, ADDED, added.into());
        let mut same = Note::NOTHING.with_customer(added);
        for (table, query, price) in reservations(note) {
            let asked = (query < me.queries).then(|| me.query(query))?;
            if asked.table != table || price.number() >= Price::DIFFERENT {
                return None;
            }
            let digest = reservation_digest(record_key(table, asked.id), price.amount());
            for (number, amount) in [(RESERVED, 1), (BILL, price.amount()), (DIGEST, digest)] {
                customers.add(me.customer, number, amount);
            }
            same = same.with_reservation(table, query, price);
        }
        Some(same)
    }

    /// The same for a task that deleted a customer, or found none.
    fn delete(&self, customer: u32, note: Note) -> Note {
        let Some((bill, digest)) = note.deleted() else {
            return note;
        };
        let (bill_less, digest_less) = (bill.wrapping_neg(), digest.wrapping_neg());
        for (number, amount) in [(DELETED, 1), (BILL, bill_less), (DIGEST, digest_less)] {
            self.customers.add(customer, number, amount);
        }
        Note::deletion(bill, digest)
    }

    /// The same for what a task added and took away.
    fn update(&self, me: &VacationTransaction, note: Note) -> Option<Note> {
        let mut same = Note::NOTHING;
        for k in (0..me.queries).filter(|&k| note.updated(k) != 0) {
            let (query, places) = (me.query(k), note.updated(k));
            let of_a_flight = query.table == FLIGHTS && !query.adds;
            if places != PLACES_AN_UPDATE && !of_a_flight {
                return None;
            }
            let records = &self.tables[query.table as usize];
            records.add(query.id, UPDATES, 1);
            if query.adds {
                records.add(query.id, PLACES, places);
                let prices = &records.0[query.id as usize - 1][PRICES];
                prices.fetch_or(1 << query.price.number(), Relaxed);
            } else {
                records.add(query.id, PLACES, places.wrapping_neg());
            }
            same = same.with_update(k, places);
        }
        Some(same)
    }

    fn found(&self) -> Totals {
        let of_records = |number| self.tables.iter().map(|table| table.sum(number)).sum();
        let (reserved, held) = (self.customers.sum(RESERVED), of_records(HELD));
        Totals {
            reserved,
            held,
            cancelled: reserved - held,
            customers_added: self.customers.sum(ADDED),
            customers_deleted: self.customers.sum(DELETED),
            updates: of_records(UPDATES),
        }
    }
}
