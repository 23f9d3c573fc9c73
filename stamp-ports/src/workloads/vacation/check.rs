//! What the tasks must have left.
//!
//! Each task notes what it did ([`Note`]). What it was to do, and on which records,
//! follows from the plan. From both the host tells, whatever the order of the tasks:
//!
//! 1. The places of each record are those that it had at first, more those that
//!    updates added, less those that updates took away. A record without places is
//!    not there.
//! 2. The reserved places of each record are as many as the lists have reservations
//!    of it. So no record is oversold: the free places are those that remain, and a
//!    count below zero would be no such sum.
//! 3. A customer was deleted as often as it was there and added, and is there if it
//!    was not deleted since, added by the task that its record names. Nobody else
//!    has reservations.
//! 4. The reservations of each customer that were made are those that were
//!    cancelled and those in its list, each once: the sums of their prices agree,
//!    and the sums of their digests.
//! 5. Every price is one that the record had.
//!
//! All cores work on that, each on some of the tasks, and then of the records and customers: the
//! books only add up, in any order.
//!
//! That the containers are whole, that no node was lost, and that a list has no
//! record twice, `download` checks.

use crate::workloads::compare::in_ranges;
use serde::Serialize;
use std::array::from_fn;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32};
use stm_kernels::vacation::{
    CUSTOMERS, FLIGHTS, Note, PLACES_AN_UPDATE, Price, Resource, TABLES, Task, VacationPlan,
    VacationTransaction, record_key, record_of, reservation_digest,
};

#[derive(Clone, Debug)]
pub(super) struct Left {
    pub(super) plan: VacationPlan,
    pub(super) notes: Vec<u64>,
    /// The records that are there, by one less than their numbers; and the customers, each with one
    /// more than the number of the task that added it, or 0.
    pub(super) tables: [Vec<Option<u32>>; TABLES as usize + 1],
    /// A record or customer that there cannot be.
    pub(super) foreign: Option<String>,
    /// The keys and prices of the reservations of each customer.
    pub(super) lists: Vec<Vec<(u32, u32)>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub(super) struct Found {
    pub(super) reserved: u64,
    /// Reservations that are there at the end.
    pub(super) held: u64,
    /// Those that are not.
    pub(super) cancelled: u64,
    pub(super) customers_added: u64,
    pub(super) customers_deleted: u64,
    pub(super) updates: u64,
}

impl Left {
    /// Makes it of the records of all tables, the reservations and what the tasks noted.
    pub(super) fn new(
        plan: VacationPlan,
        records: impl IntoIterator<Item = (u32, u32)>,
        lists: Vec<Vec<(u32, u32)>>,
        notes: Vec<u64>,
    ) -> Self {
        let mut tables = from_fn(|_| vec![None; plan.relations() as usize]);
        let mut foreign = None;
        for (key, value) in records {
            let (table, id) = record_of(key);
            // The upper two bits of a key, so one of four.
            match tables[table as usize].get_mut((id as usize).wrapping_sub(1)) {
                Some(there) => *there = Some(value),
                None if table == CUSTOMERS => {
                    foreign = Some(format!("there is a customer {id}, whom nobody can add"));
                }
                None => {
                    foreign = Some(format!(
                        "there is {}, which nobody can add",
                        name(table, id)
                    ));
                }
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

    /// Returns the counts, or what is wrong, on one line.
    pub(super) fn check(&self) -> Result<Found, String> {
        let books = Books::new(&self.plan);
        let tasks = self.notes.len() as u64;
        let relations = u64::from(self.plan.relations());
        all(tasks, |tasks| self.enter(&books, tasks))?;
        if let Some(foreign) = &self.foreign {
            return Err(foreign.clone());
        }
        all(tasks, |tasks| self.check_prices(&books, tasks))?;
        // Ranges of the numbers of customers and of records, less one.
        all(relations, |ids| self.check_customers(&books, ids))?;
        all(relations, |ids| self.check_records(&books, ids))?;
        Ok(books.found())
    }

    fn tasks(&self, range: Range<u64>) -> impl Iterator<Item = (u64, VacationTransaction, Note)> {
        range.map(|i| {
            let note = Note::from_bits(self.notes[i as usize]);
            (i, self.plan.transaction(i), note)
        })
    }

    fn enter(&self, books: &Books, tasks: Range<u64>) -> Result<(), String> {
        for (i, me, note) in self.tasks(tasks) {
            wrong! {
                note == Note::DISAGREEMENT =>
                    "task {i} cancelled reservations of customer {}, and one was of no record that \
                     has reserved places", me.customer;
                me.task == Task::Delete && note.deleted().is_none() && note != Note::NOTHING =>
                    "task {i} deleted nobody and noted {:#x}", note.bits();
            }
            let (told, same) = match me.task {
                Task::Reserve => ("reserve", books.reserve(&me, note)),
                Task::Update => ("update", books.update(&me, note)),
                Task::Delete => ("delete", Some(books.delete(me.customer, note))),
            };
            wrong! {
                same != Some(note) =>
                    "task {i} was to {told} and noted {:#x}, which it cannot have done",
                    note.bits();
            }
        }
        Ok(())
    }

    /// Checks that what tasks paid was a price of the record.
    fn check_prices(&self, books: &Books, tasks: Range<u64>) -> Result<(), String> {
        let users = self
            .tasks(tasks)
            .filter(|(_, me, _)| me.task == Task::Reserve);
        for (i, me, note) in users {
            for (table, query, price) in reservations(note) {
                let id = me.query(query).id;
                wrong! {
                    !books.record(table, id).had(price) =>
                        "task {i} reserved {} for {}, which was never its price",
                        name(table, id), price.amount();
                }
            }
        }
        Ok(())
    }

    /// Compares the customers and their lists with what the tasks added, deleted, made and cancelled,
    /// and counts the reservations of each record.
    fn check_customers(&self, books: &Books, ids: Range<u64>) -> Result<(), String> {
        for i in ids {
            let (customer, account) = (i as u32 + 1, &books.customers[i as usize]);
            let there = self.tables[CUSTOMERS as usize][i as usize];
            let list = &self.lists[i as usize];
            wrong! {
                !list.is_empty() && there.is_none() =>
                    "customer {customer} is not there and has {} reservations", list.len();
            }
            let (mut bill, mut digest) = (0, 0_u32);
            for &(key, amount) in list {
                let (table, id) = record_of(key);
                let record = self.tables[table as usize].get((id as usize).wrapping_sub(1));
                let of = || name(table, id);
                wrong! {
                    table == CUSTOMERS || record.copied().flatten().is_none() =>
                        "customer {customer} has a reservation of {}, which is not there", of();
                    !Price::of_amount(amount).is_some_and(|p| books.record(table, id).had(p)) =>
                        "customer {customer} has {} for {amount}, which was never its price", of();
                }
                books.record(table, id).held.fetch_add(1, Relaxed);
                bill += i64::from(amount);
                digest = digest.wrapping_add(reservation_digest(key, amount));
            }
            let expected = account.bill.load(Relaxed);
            let (added, deleted) = (account.added.load(Relaxed), account.deleted.load(Relaxed));
            let by = there.unwrap_or(0);
            let right = match by.checked_sub(1) {
                None => there.is_none() || deleted == 0,
                Some(task) => self.adds(task, customer),
            };
            wrong! {
                expected != bill =>
                    "customer {customer} has reservations for {bill}, and those that were made and \
                     not cancelled are for {expected}";
                (account.digest.load(Relaxed) ^ digest) << 1 != 0 =>
                    "customer {customer} has other reservations than those that were made and not \
                     cancelled";
                1 + i64::from(added) - i64::from(deleted) != i64::from(there.is_some()) =>
                    "customer {customer} was added {added} times and deleted {deleted} times, and \
                     is{} there", if there.is_some() { "" } else { " not" };
                !right => "the record of customer {customer} is {by}, and no such task added it";
            }
        }
        Ok(())
    }

    /// Whether task `i` added a customer.
    fn adds(&self, i: u32, customer: u32) -> bool {
        let me = self.plan.transaction(i.into());
        let note = self.notes.get(i as usize).copied().map(Note::from_bits);
        me.task == Task::Reserve
            && me.customer == customer
            && note.is_some_and(Note::customer_added)
    }

    /// Compares the records with what the tasks added, took away, and reserved.
    fn check_records(&self, books: &Books, ids: Range<u64>) -> Result<(), String> {
        for (table, i) in (0..TABLES).flat_map(|table| ids.clone().map(move |i| (table, i))) {
            let (id, account) = (i as u32 + 1, &books.tables[table as usize][i as usize]);
            let (places, held) = (account.places.load(Relaxed), account.held.load(Relaxed));
            let of = || name(table, id);
            let Some(record) = self.tables[table as usize][i as usize] else {
                wrong! {
                    places != 0 => "{} is not there and should have {places} places", of();
                }
                continue;
            };
            let record = Resource::from_bits(record);
            wrong! {
                places == 0 => "{} is there and should have no places", of();
                i64::from(record.total()) != places =>
                    "{} has {} places, {} of them free, and not {places}",
                    of(), record.total(), record.free();
                record.used() != held =>
                    "{} has {} reserved places, and customers have {held} reservations of it",
                    of(), record.used();
                !account.had(record.price()) =>
                    "{} costs {}, which nobody made its price", of(), record.price().amount();
            }
        }
        Ok(())
    }
}

/// Works on ranges of the numbers below `count` at the same time. Of several things that are wrong,
/// that of the lowest range is returned.
fn all(count: u64, work: impl Fn(Range<u64>) -> Result<(), String> + Sync) -> Result<(), String> {
    in_ranges(count, work).into_iter().collect()
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

/// What records and customers must have, as it follows from the tasks.
#[derive(Debug)]
struct Books {
    tables: [Vec<RecordAccount>; TABLES as usize],
    customers: Vec<CustomerAccount>,
}

#[derive(Debug)]
struct RecordAccount {
    /// Its places after all updates.
    places: AtomicI64,
    updates: AtomicU32,
    /// The reservations of it that the lists have.
    held: AtomicU32,
    /// A bit for each price that it had at some time.
    prices: AtomicU8,
}

impl RecordAccount {
    fn had(&self, price: Price) -> bool {
        price.number() < Price::DIFFERENT && self.prices.load(Relaxed) >> price.number() & 1 != 0
    }
}

#[derive(Debug, Default)]
struct CustomerAccount {
    added: AtomicU32,
    deleted: AtomicU32,
    reserved: AtomicU32,
    /// The sum of the prices of its reservations.
    bill: AtomicI64,
    /// The sum of their digests, of which 31 bits count.
    digest: AtomicU32,
}

impl Books {
    fn new(plan: &VacationPlan) -> Self {
        let ids = || 1..=plan.relations();
        let account = |initial: Resource| RecordAccount {
            places: AtomicI64::new(initial.total().into()),
            updates: AtomicU32::new(0),
            held: AtomicU32::new(0),
            prices: AtomicU8::new(1 << initial.price().number()),
        };
        Self {
            tables: from_fn(|table| {
                let records = ids().map(|id| plan.initial(table as u32, id));
                records.map(account).collect()
            }),
            customers: ids().map(|_| CustomerAccount::default()).collect(),
        }
    }

    fn record(&self, table: u32, id: u32) -> &RecordAccount {
        &self.tables[table as usize][id as usize - 1]
    }

    fn customer(&self, id: u32) -> &CustomerAccount {
        &self.customers[id as usize - 1]
    }

    /// Enters what a task reserved, and returns its note as the task makes it; `None`
    /// if it reserved what it was not to.
    fn reserve(&self, me: &VacationTransaction, note: Note) -> Option<Note> {
        let added = note.customer_added();
        let account = self.customer(me.customer);
        account.added.fetch_add(added.into(), Relaxed);
        let mut same = Note::NOTHING.with_customer(added);
        for (table, query, price) in reservations(note) {
            let asked = (query < me.queries).then(|| me.query(query))?;
            if asked.table != table || price.number() >= Price::DIFFERENT {
                return None;
            }
            let digest = reservation_digest(record_key(table, asked.id), price.amount());
            account.bill.fetch_add(price.amount().into(), Relaxed);
            account.digest.fetch_add(digest, Relaxed);
            account.reserved.fetch_add(1, Relaxed);
            same = same.with_reservation(table, query, price);
        }
        Some(same)
    }

    /// The same for a task that deleted a customer, or found none.
    fn delete(&self, customer: u32, note: Note) -> Note {
        let Some((bill, digest)) = note.deleted() else {
            return note;
        };
        let account = self.customer(customer);
        account.deleted.fetch_add(1, Relaxed);
        account.bill.fetch_sub(bill.into(), Relaxed);
        account.digest.fetch_sub(digest, Relaxed);
        Note::deletion(bill, digest)
    }

    /// The same for what a task added and took away; `None` if it changed a record by what no update
    /// does.
    fn update(&self, me: &VacationTransaction, note: Note) -> Option<Note> {
        let mut same = Note::NOTHING;
        for k in (0..me.queries).filter(|&k| note.updated(k) != 0) {
            let (query, places) = (me.query(k), note.updated(k));
            let of_a_flight = query.table == FLIGHTS && !query.adds;
            if places != PLACES_AN_UPDATE && !of_a_flight {
                return None;
            }
            let account = self.record(query.table, query.id);
            let change = i64::from(places) * if query.adds { 1 } else { -1 };
            account.places.fetch_add(change, Relaxed);
            account.updates.fetch_add(1, Relaxed);
            if query.adds {
                (account.prices).fetch_or(1 << query.price.number(), Relaxed);
            }
            same = same.with_update(k, places);
        }
        Some(same)
    }

    fn found(&self) -> Found {
        let sum_of = |number: fn(&CustomerAccount) -> &AtomicU32| {
            let numbers = self.customers.iter().map(number);
            numbers.map(|n| u64::from(n.load(Relaxed))).sum::<u64>()
        };
        let sum = |number: fn(&RecordAccount) -> &AtomicU32| {
            let numbers = self.tables.iter().flatten().map(number);
            numbers.map(|n| u64::from(n.load(Relaxed))).sum::<u64>()
        };
        let (reserved, held) = (sum_of(|c| &c.reserved), sum(|record| &record.held));
        Found {
            reserved,
            held,
            cancelled: reserved - held,
            customers_added: sum_of(|c| &c.added),
            customers_deleted: sum_of(|c| &c.deleted),
            updates: sum(|record| &record.updates),
        }
    }
}
