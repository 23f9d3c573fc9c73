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

use super::books::{Books, CustomerAccount};
use crate::workloads::compare::in_ranges;
use serde::Serialize;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use stm_kernels::vacation::{
    CUSTOMERS, FLIGHTS, Note, PLACES_AN_UPDATE, Price, Resource, TABLES, Task, VacationPlan,
    VacationTransaction, record_key, record_of, reservation_digest,
};

/// The names of the tables, by their numbers.
pub(super) const NAMES: [&str; TABLES as usize] = ["car", "flight", "room"];

#[derive(Clone, Debug)]
pub(super) struct Left {
    pub(super) plan: VacationPlan,
    pub(super) notes: Vec<u64>,
    /// The records that are there, by one less than their numbers.
    pub(super) tables: [Vec<Option<u32>>; TABLES as usize],
    /// The customers, each with one more than the number of the task that added it, or 0.
    pub(super) customers: Vec<Option<u32>>,
    /// The table and the number of a record or customer that there cannot be.
    pub(super) foreign: Option<(u32, u32)>,
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
        let none = || vec![None; plan.relations() as usize];
        let mut tables: [_; TABLES as usize + 1] = std::array::from_fn(|_| none());
        let mut foreign = None;
        for (key, value) in records {
            let (table, id) = record_of(key);
            // The upper two bits of a key, so one of four.
            match tables[table as usize].get_mut((id as usize).wrapping_sub(1)) {
                Some(there) => *there = Some(value),
                None => foreign = Some((table, id)),
            }
        }
        let [cars, flights, rooms, customers] = tables;
        Self {
            plan,
            notes,
            tables: [cars, flights, rooms],
            customers,
            foreign,
            lists,
        }
    }

    /// Returns the counts, or what is wrong, on one line.
    pub(super) fn check(&self) -> Result<Found, String> {
        let books = Books::new(&self.plan);
        let tasks = self.notes.len() as u64;
        let entered = all(tasks, |range| self.enter(&books, range))?.into_iter();
        let (reserved, updates): (Vec<u64>, Vec<u64>) = entered.unzip();
        self.check_numbers()?;
        all(tasks, |range| self.check_prices(&books, range))?;
        // From here on ranges are of the numbers of records and customers, less one.
        let relations = u64::from(self.plan.relations());
        let held = all(relations, |range| self.check_lists(&books, range))?;
        let (reserved, held) = (reserved.iter().sum::<u64>(), held.iter().sum());
        all(relations, |range| self.check_customers(&books, range))?;
        all(relations, |range| self.check_tables(&books, range))?;
        let customers = |number: fn(&CustomerAccount) -> &AtomicU32| {
            let numbers = books.customers.iter().map(number);
            numbers.map(|n| u64::from(n.load(Relaxed))).sum()
        };
        Ok(Found {
            reserved,
            held,
            cancelled: reserved - held,
            customers_added: customers(|account| &account.added),
            customers_deleted: customers(|account| &account.deleted),
            updates: updates.iter().sum(),
        })
    }

    fn tasks(&self, range: Range<u64>) -> impl Iterator<Item = (u64, VacationTransaction, Note)> {
        range.map(|i| {
            let note = Note::from_bits(self.notes[i as usize]);
            (i, self.plan.transaction(i), note)
        })
    }

    /// Enters the notes of some tasks into the books. Returns how many reservations and updates
    /// they made.
    fn enter(&self, books: &Books, range: Range<u64>) -> Result<(u64, u64), String> {
        let mut counts = (0, 0);
        for (i, me, note) in self.tasks(range) {
            enter(books, &mut counts, &me, note).map_err(|what| format!("task {i} {what}"))?;
        }
        Ok(counts)
    }

    /// Checks that there are no records and customers but those that there can be.
    fn check_numbers(&self) -> Result<(), String> {
        match self.foreign {
            None => Ok(()),
            Some((CUSTOMERS, id)) => Err(format!("there is a customer {id}, whom nobody can add")),
            Some((table, id)) => Err(format!(
                "there is {}, which nobody can add",
                name(table, id)
            )),
        }
    }

    /// Checks that what tasks paid was a price of the record.
    fn check_prices(&self, books: &Books, range: Range<u64>) -> Result<(), String> {
        for (i, me, note) in self.tasks(range) {
            if me.task != Task::Reserve {
                continue;
            }
            for table in 0..TABLES {
                let Some((query, price)) = note.reservation(table) else {
                    continue;
                };
                let id = me.query(query).id;
                wrong! {
                    !books.record(table, id).had(price) =>
                        "task {i} reserved {} {id} for {}, which was never its price",
                        NAMES[table as usize], price.amount();
                }
            }
        }
        Ok(())
    }

    /// Compares the lists with what the tasks made and cancelled, counts the
    /// reservations of each record, and returns the number of all.
    fn check_lists(&self, books: &Books, range: Range<u64>) -> Result<u64, String> {
        let mut held = 0;
        for i in range {
            let (customer, list) = (i as u32 + 1, &self.lists[i as usize]);
            wrong! {
                !list.is_empty() && self.customers[i as usize].is_none() =>
                    "customer {customer} is not there and has {} reservations", list.len();
            }
            let (mut bill, mut digest) = (0, 0_u32);
            for &(key, amount) in list {
                let (table, id) = record_of(key);
                let table_of = self.tables.get(table as usize);
                let record = table_of.and_then(|t| t.get((id as usize).wrapping_sub(1)));
                wrong! {
                    record.copied().flatten().is_none() =>
                        "customer {customer} has a reservation of {}, which is not there",
                        name(table, id);
                }
                let account = books.record(table, id);
                account.held.fetch_add(1, Relaxed);
                wrong! {
                    !Price::of_amount(amount).is_some_and(|price| account.had(price)) =>
                        "customer {customer} has {} for {amount}, which was never its price",
                        name(table, id);
                }
                bill += i64::from(amount);
                digest = digest.wrapping_add(reservation_digest(key, amount));
                held += 1;
            }
            let account = books.customer(customer);
            let expected = account.bill.load(Relaxed);
            wrong! {
                expected != bill =>
                    "customer {customer} has reservations for {bill}, and those that were made and \
                     not cancelled are for {expected}";
                (account.digest.load(Relaxed) ^ digest) << 1 != 0 =>
                    "customer {customer} has other reservations than those that were made and not \
                     cancelled";
            }
        }
        Ok(held)
    }

    /// Compares the customers with what the tasks added and deleted.
    fn check_customers(&self, books: &Books, range: Range<u64>) -> Result<(), String> {
        for i in range {
            let (customer, there) = (i as u32 + 1, self.customers[i as usize]);
            let account = books.customer(customer);
            let (added, deleted) = (account.added.load(Relaxed), account.deleted.load(Relaxed));
            wrong! {
                1 + i64::from(added) - i64::from(deleted) != i64::from(there.is_some()) =>
                    "customer {customer} was added {added} times and deleted {deleted} times, and \
                     is{} there", if there.is_some() { "" } else { " not" };
            }
            let by = there.unwrap_or(0);
            let right = if by == 0 {
                there.is_none() || deleted == 0
            } else {
                self.adds(by - 1, customer)
            };
            wrong! {
                !right => "the record of customer {customer} is {by}, and no such task added it";
            }
        }
        Ok(())
    }

    /// Returns whether task `i` added a customer.
    fn adds(&self, i: u32, customer: u32) -> bool {
        let me = self.plan.transaction(i.into());
        let note = self.notes.get(i as usize).copied().map(Note::from_bits);
        me.task == Task::Reserve
            && me.customer == customer
            && note.is_some_and(Note::customer_added)
    }

    /// Compares the records with what the tasks added, took away, and reserved.
    fn check_tables(&self, books: &Books, range: Range<u64>) -> Result<(), String> {
        for (number, table) in (0..TABLES).zip(&self.tables) {
            for i in range.clone() {
                let id = i as u32 + 1;
                let account = books.record(number, id);
                let (places, held) = (account.places.load(Relaxed), account.held.load(Relaxed));
                let of = || name(number, id);
                let Some(record) = table[i as usize].map(Resource::from_bits) else {
                    wrong! {
                        places != 0 => "{} is not there and should have {places} places", of();
                    }
                    continue;
                };
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
        }
        Ok(())
    }
}

/// Works on ranges of the numbers below `count` at the same time. Of several things that are wrong,
/// that of the lowest range is returned.
fn all<R: Send>(
    count: u64,
    work: impl Fn(Range<u64>) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    in_ranges(count, work).into_iter().collect()
}

fn name(table: u32, id: u32) -> String {
    match NAMES.get(table as usize) {
        Some(name) => format!("{name} {id}"),
        None => format!("record {id} of a table {table}"),
    }
}

/// Enters the note of a task into the books, or returns what is wrong with it.
fn enter(
    books: &Books,
    counts: &mut (u64, u64),
    me: &VacationTransaction,
    note: Note,
) -> Result<(), String> {
    wrong! {
        note == Note::DISAGREEMENT =>
            "cancelled reservations of customer {}, and one was of no record that has reserved \
             places", me.customer;
    }
    let (told, same) = match me.task {
        Task::Reserve => (
            "reserve",
            enter_reservations(books, &mut counts.0, me, note),
        ),
        Task::Update => ("update", enter_updates(books, &mut counts.1, me, note)),
        Task::Delete => {
            wrong! {
                note.deleted().is_none() && note != Note::NOTHING =>
                    "deleted nobody and noted {:#x}", note.bits();
            }
            let deletion = note.deleted().map(|(bill, digest)| {
                let account = books.customer(me.customer);
                account.deleted.fetch_add(1, Relaxed);
                account.bill.fetch_sub(i64::from(bill), Relaxed);
                account.digest.fetch_sub(digest, Relaxed);
                Note::deletion(bill, digest)
            });
            ("delete", deletion.or(Some(note)))
        }
    };
    wrong! {
        same != Some(note) =>
            "was to {told} and noted {:#x}, which it cannot have done", note.bits();
    }
    Ok(())
}

/// Enters what a task reserved, and returns its note as the task makes it; `None`
/// if it reserved what it was not to.
fn enter_reservations(
    books: &Books,
    reserved: &mut u64,
    me: &VacationTransaction,
    note: Note,
) -> Option<Note> {
    let added = note.customer_added();
    let account = books.customer(me.customer);
    account.added.fetch_add(added.into(), Relaxed);
    let mut same = Note::NOTHING.with_customer(added);
    for table in 0..TABLES {
        let Some((query, price)) = note.reservation(table) else {
            continue;
        };
        let asked = (query < me.queries).then(|| me.query(query))?;
        if asked.table != table || price.number() >= Price::DIFFERENT {
            return None;
        }
        let digest = reservation_digest(record_key(table, asked.id), price.amount());
        account.bill.fetch_add(price.amount().into(), Relaxed);
        account.digest.fetch_add(digest, Relaxed);
        *reserved += 1;
        same = same.with_reservation(table, query, price);
    }
    Some(same)
}

/// Enters what a task added and took away, and returns its note as the task makes
/// it; `None` if it changed a record by what no update does.
fn enter_updates(
    books: &Books,
    updates: &mut u64,
    me: &VacationTransaction,
    note: Note,
) -> Option<Note> {
    let mut same = Note::NOTHING;
    for k in (0..me.queries).filter(|&k| note.updated(k) != 0) {
        let (query, places) = (me.query(k), note.updated(k));
        let of_a_flight = query.table == FLIGHTS && !query.adds;
        if places != PLACES_AN_UPDATE && !of_a_flight {
            return None;
        }
        let account = books.record(query.table, query.id);
        if query.adds {
            account.places.fetch_add(places.into(), Relaxed);
            account.add_price(query.price);
        } else {
            account.places.fetch_sub(places.into(), Relaxed);
        }
        *updates += 1;
        same = same.with_update(k, places);
    }
    Some(same)
}

#[cfg(test)]
pub(super) mod tests;
