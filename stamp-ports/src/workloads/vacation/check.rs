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
//! That the containers are whole, that no node was lost, and that a list has no
//! record twice, `download` checks.

use super::books::Books;
use std::collections::BTreeMap;
use stm_kernels::vacation::{
    FLIGHTS, Note, PLACES_AN_UPDATE, Price, Resource, TABLES, Task, VacationPlan,
    VacationTransaction, record_key, record_of, reservation_digest,
};

/// The names of the tables, by their numbers.
pub(super) const NAMES: [&str; TABLES as usize] = ["car", "flight", "room"];

/// What a launch left.
#[derive(Clone, Debug)]
pub(super) struct Left {
    /// The tasks.
    pub(super) plan: VacationPlan,
    /// What each task noted.
    pub(super) notes: Vec<u64>,
    /// The records, by their numbers.
    pub(super) tables: [BTreeMap<u32, u32>; TABLES as usize],
    /// The customers, each with one more than the number of the task that added it,
    /// or 0.
    pub(super) customers: BTreeMap<u32, u32>,
    /// The keys and prices of the reservations of each customer.
    pub(super) lists: Vec<Vec<(u32, u32)>>,
}

/// How much the tasks did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Found {
    /// Reservations that were made.
    pub(super) reserved: u64,
    /// Reservations that are there at the end.
    pub(super) held: u64,
    pub(super) customers_added: u64,
    pub(super) customers_deleted: u64,
    /// Updates that changed a record.
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
        let mut tables: [BTreeMap<u32, u32>; TABLES as usize + 1] = Default::default();
        for (key, value) in records {
            let (table, id) = record_of(key);
            // The upper two bits of a key, so one of four.
            tables[table as usize].insert(id, value);
        }
        let [cars, flights, rooms, customers] = tables;
        Self {
            plan,
            notes,
            tables: [cars, flights, rooms],
            customers,
            lists,
        }
    }

    /// Returns the counts, or what is wrong, on one line.
    pub(super) fn check(&self) -> Result<Found, String> {
        let mut books = Books::new(&self.plan);
        let mut found = Found::default();
        for (i, me, note) in self.tasks() {
            enter(&mut books, &mut found, &me, note).map_err(|what| format!("task {i} {what}"))?;
        }
        self.check_numbers(&books)?;
        self.check_prices(&books)?;
        found.held = self.check_lists(&mut books)?;
        self.check_customers(&books)?;
        self.check_tables(&books)?;
        Ok(found)
    }

    /// Returns the tasks with their numbers and their notes.
    fn tasks(&self) -> impl Iterator<Item = (u64, VacationTransaction, Note)> {
        let notes = (0..).zip(&self.notes);
        notes.map(|(i, &bits)| (i, self.plan.transaction(i), Note::from_bits(bits)))
    }

    /// Checks that there are no records and customers but those that there can be.
    fn check_numbers(&self, books: &Books) -> Result<(), String> {
        let mut customers = self.customers.keys();
        if let Some(&id) = customers.find(|&&id| !books.is_relation(id)) {
            return Err(format!("there is a customer {id}, whom nobody can add"));
        }
        for (number, table) in (0..).zip(&self.tables) {
            if let Some(&id) = table.keys().find(|&&id| !books.is_relation(id)) {
                return Err(format!(
                    "there is {}, which nobody can add",
                    name(number, id)
                ));
            }
        }
        Ok(())
    }

    /// Checks that what tasks paid was a price of the record.
    fn check_prices(&self, books: &Books) -> Result<(), String> {
        for (i, me, note) in self.tasks() {
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
    fn check_lists(&self, books: &mut Books) -> Result<u64, String> {
        let mut held = 0;
        for (customer, list) in (1..).zip(&self.lists) {
            wrong! {
                !list.is_empty() && !self.customers.contains_key(&customer) =>
                    "customer {customer} is not there and has {} reservations", list.len();
            }
            let (mut bill, mut digest) = (0, 0_u32);
            for &(key, amount) in list {
                let (table, id) = record_of(key);
                let record = self.tables.get(table as usize).and_then(|t| t.get(&id));
                wrong! {
                    record.is_none() =>
                        "customer {customer} has a reservation of {}, which is not there",
                        name(table, id);
                }
                let account = books.record_mut(table, id);
                account.held += 1;
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
            wrong! {
                account.bill != bill =>
                    "customer {customer} has reservations for {bill}, and those that were made and \
                     not cancelled are for {}", account.bill;
                (account.digest ^ digest) << 1 != 0 =>
                    "customer {customer} has other reservations than those that were made and not \
                     cancelled";
            }
        }
        Ok(held)
    }

    /// Compares the customers with what the tasks added and deleted.
    fn check_customers(&self, books: &Books) -> Result<(), String> {
        for customer in 1..=self.plan.relations() {
            let account = books.customer(customer);
            let there = self.customers.get(&customer);
            wrong! {
                account.there != i64::from(there.is_some()) =>
                    "customer {customer} was added {} times and deleted {} times, and is{} there",
                    account.added, account.deleted, if there.is_some() { "" } else { " not" };
            }
            let right = match there {
                None => true,
                Some(0) => account.deleted == 0,
                Some(&by) => self.adds(u64::from(by) - 1, customer),
            };
            wrong! {
                !right =>
                    "the record of customer {customer} is {}, and no such task added it",
                    there.copied().unwrap_or(0);
            }
        }
        Ok(())
    }

    /// Returns whether task `i` added a customer.
    fn adds(&self, i: u64, customer: u32) -> bool {
        let Some(&note) = self.notes.get(i as usize) else {
            return false;
        };
        let me = self.plan.transaction(i);
        me.task == Task::Reserve
            && me.customer == customer
            && Note::from_bits(note).customer_added()
    }

    /// Compares the records with what the tasks added, took away, and reserved.
    fn check_tables(&self, books: &Books) -> Result<(), String> {
        for (number, table) in (0..TABLES).zip(&self.tables) {
            for id in 1..=self.plan.relations() {
                let account = books.record(number, id);
                let of = name(number, id);
                let Some(record) = table.get(&id).copied().map(Resource::from_bits) else {
                    if account.places != 0 {
                        let places = account.places;
                        return Err(format!("{of} is not there and should have {places} places"));
                    }
                    continue;
                };
                wrong! {
                    account.places == 0 => "{of} is there and should have no places";
                    i64::from(record.total()) != account.places =>
                        "{of} has {} places, {} of them free, and not {}",
                        record.total(), record.free(), account.places;
                    record.used() != account.held =>
                        "{of} has {} reserved places, and customers have {} reservations of it",
                        record.used(), account.held;
                }
                if !account.had(record.price()) {
                    let amount = record.price().amount();
                    return Err(format!("{of} costs {amount}, which nobody made its price"));
                }
            }
        }
        Ok(())
    }
}

/// Names a record for a message.
fn name(table: u32, id: u32) -> String {
    match NAMES.get(table as usize) {
        Some(name) => format!("{name} {id}"),
        None => format!("record {id} of a table {table}"),
    }
}

/// Enters the note of a task into the books, or returns what is wrong with it.
fn enter(
    books: &mut Books,
    found: &mut Found,
    me: &VacationTransaction,
    note: Note,
) -> Result<(), String> {
    wrong! {
        note == Note::DISAGREEMENT =>
            "cancelled reservations of customer {}, and one was of no record that has reserved \
             places", me.customer;
    }
    let same = match me.task {
        Task::Reserve => enter_reservations(books, found, me, note),
        Task::Delete => {
            let Some((bill, digest)) = note.deleted() else {
                return of_nothing(note);
            };
            let account = books.customer_mut(me.customer);
            account.there -= 1;
            account.deleted += 1;
            account.bill -= i64::from(bill);
            account.digest = account.digest.wrapping_sub(digest);
            found.customers_deleted += 1;
            Some(Note::deletion(bill, digest))
        }
        Task::Update => enter_updates(books, found, me, note),
    };
    if same == Some(note) {
        return Ok(());
    }
    wrong_note(me, note)
}

/// Accepts the note of a deletion that found nobody.
fn of_nothing(note: Note) -> Result<(), String> {
    if note == Note::NOTHING {
        return Ok(());
    }
    Err(format!("deleted nobody and noted {:#x}", note.bits()))
}

fn wrong_note(me: &VacationTransaction, note: Note) -> Result<(), String> {
    Err(format!(
        "was to {} and noted {:#x}, which it cannot have done",
        match me.task {
            Task::Reserve => "reserve",
            Task::Delete => "delete",
            Task::Update => "update",
        },
        note.bits()
    ))
}

/// Enters what a task reserved, and returns its note as the task makes it; `None`
/// if it reserved what it was not to.
fn enter_reservations(
    books: &mut Books,
    found: &mut Found,
    me: &VacationTransaction,
    note: Note,
) -> Option<Note> {
    let mut same = Note::NOTHING.with_customer(note.customer_added());
    let account = books.customer_mut(me.customer);
    if note.customer_added() {
        account.there += 1;
        account.added += 1;
        found.customers_added += 1;
    }
    for table in 0..TABLES {
        let Some((query, price)) = note.reservation(table) else {
            continue;
        };
        let asked = (query < me.queries).then(|| me.query(query))?;
        if asked.table != table || price.number() >= Price::DIFFERENT {
            return None;
        }
        let key = record_key(table, asked.id);
        account.bill += i64::from(price.amount());
        account.digest = (account.digest).wrapping_add(reservation_digest(key, price.amount()));
        found.reserved += 1;
        same = same.with_reservation(table, query, price);
    }
    Some(same)
}

/// Enters what a task added and took away, and returns its note as the task makes
/// it; `None` if it changed a record by what no update does.
fn enter_updates(
    books: &mut Books,
    found: &mut Found,
    me: &VacationTransaction,
    note: Note,
) -> Option<Note> {
    let mut same = Note::NOTHING;
    for k in 0..me.queries {
        let places = note.updated(k);
        if places == 0 {
            continue;
        }
        let query = me.query(k);
        let of_a_flight = query.table == FLIGHTS && !query.adds;
        if places != PLACES_AN_UPDATE && !of_a_flight {
            return None;
        }
        let account = books.record_mut(query.table, query.id);
        if query.adds {
            account.places += i64::from(places);
            account.add_price(query.price);
        } else {
            account.places -= i64::from(places);
        }
        found.updates += 1;
        same = same.with_update(k, places);
    }
    Some(same)
}

#[cfg(test)]
mod tests;
