//! Vacation, STAMP's travel agency (Minh et al. 2008): cars, flights, rooms, customers, reservations.
//!
//! Each transaction is one of three tasks, which follow from the seed and its number:
//!
//! - A **reservation** looks up some records, keeps the dearest one of each table, adds the customer
//!   if there is no such one, and reserves a place of each record that it has kept and that has one
//!   free, unless the customer has that record already.
//! - A **deletion** cancels all reservations of a customer, sums up their prices, and removes the customer.
//! - An **update** adds places to some records, or takes some away. A record that is not there is
//!   made, and one without places is removed; a flight goes as a whole, if nobody has reserved it.
//!
//! As in STAMP, the dearest record can be without free places, and nothing of its table is reserved.
//!
//! What a transaction finds depends on the order of all, so each stores a [`Note`] of what it did, by which
//! the host accounts for every place and reservation. A record is one word ([`Resource`]), so a query mostly
//! reads three: the head of a chain, a key and the record. Its places are limited in return ([`PLACES_MAX`]).

use crate::prelude::*;
use stm_core::collections::{ListPlace, TLists, TMap};
use stm_core::kernel;

pub mod floor;
mod note;
mod plan;
mod resource;

pub use note::{Note, reservation_digest};
pub use plan::{
    CUSTOMERS, FLIGHTS, QUERIES_MAX, Query, RELATIONS_MAX, TABLES, Task, VacationPlan,
    VacationTransaction, record_key, record_of,
};
pub use resource::{PLACES_AN_UPDATE, PLACES_MAX, Price, Resource};
pub use travel::{Kernel as Vacation, Params as VacationParams};

/// The tables and lists of the agency. All tables are in one map, whose keys begin with the number
/// of the table: a kernel that chooses among maps would hold all of them in registers.
#[derive(Clone, Copy)]
struct Agency<A: Algorithm> {
    tables: TMap<A, u32, u32>,
    lists: TLists<A, u32, u32>,
}

/// A record that a reservation has kept, with its place in a table.
#[derive(Clone, Copy)]
pub(crate) struct Offer<P> {
    /// The number of the query that found it.
    pub(crate) query: u32,
    pub(crate) record: Resource,
    pub(crate) place: P,
}

/// The dearest record of each table. The tables are apart, because an array that is
/// indexed by a number from a draw is on the stack.
#[derive(Clone, Copy)]
pub(crate) struct Offers<P> {
    car: Option<Offer<P>>,
    flight: Option<Offer<P>>,
    room: Option<Offer<P>>,
}

#[stm_core::inlined]
impl<P: Copy> Offers<P> {
    pub(crate) const NONE: Self = Self {
        car: None,
        flight: None,
        room: None,
    };

    pub(crate) fn of(&self, table: u32) -> Option<Offer<P>> {
        match table {
            0 => self.car,
            FLIGHTS => self.flight,
            _ => self.room,
        }
    }

    /// Keeps an offer if it is dearer than that of its table.
    pub(crate) fn consider(&mut self, table: u32, new: Offer<P>) {
        let dearer = match self.of(table) {
            Some(kept) => new.record.price() > kept.record.price(),
            None => true,
        };
        if dearer && table == 0 {
            self.car = Some(new);
        }
        if dearer && table == FLIGHTS {
            self.flight = Some(new);
        }
        if dearer && table > FLIGHTS {
            self.room = Some(new);
        }
    }

    /// Returns a bit for each table that has an offer.
    pub(crate) fn tables(&self) -> u32 {
        u32::from(self.car.is_some())
            | u32::from(self.flight.is_some()) << FLIGHTS
            | u32::from(self.room.is_some()) << (TABLES - 1)
    }
}

#[stm_core::inlined]
impl<A: Algorithm> Agency<A> {
    /// Does a task and returns the note of it. Lanes of a warp that have different tasks search the tables
    /// together, that of the customers last, and the code that inserts and removes records is there once.
    fn run<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        i: u64,
        me: &VacationTransaction,
    ) -> TxResult<Note> {
        let mut offers = Offers::NONE;
        let mut note = Note::NOTHING;
        let mut customer_found = false;
        let mut k = 0;
        while k <= me.queries {
            let query = me.query(k);
            let of_customer = k == me.queries;
            if of_customer && !me.has_customer(offers.tables() != 0) {
                return Ok(note);
            }
            let key = if of_customer {
                record_key(CUSTOMERS, me.customer)
            } else {
                record_key(query.table, query.id)
            };
            let found = self.tables.locate(tx, key)?;
            let mut change = Change::Nothing;
            if of_customer {
                customer_found = found.is_some();
                change = match me.task {
                    // The value names the transaction that added the customer.
                    Task::Reserve if !customer_found => Change::Insert(i as u32 + 1),
                    Task::Delete if customer_found => Change::Remove,
                    _ => Change::Nothing,
                };
            } else if me.task == Task::Update {
                let record = found.map(|(_, bits)| Resource::from_bits(bits));
                let (places, of_record) = update(record, &query);
                note = note.with_update(k, places);
                change = of_record;
            } else if let Some((place, bits)) = found {
                let offer = Offer {
                    query: k,
                    record: Resource::from_bits(bits),
                    place,
                };
                offers.consider(query.table, offer);
            }
            match (change, found) {
                (Change::Nothing, _) | (Change::Set(_), None) => {}
                (Change::Set(bits), Some((place, _))) => self.tables.set_at(tx, place, bits)?,
                (Change::Insert(_) | Change::Remove, _) => self.change(tx, key, change)?,
            }
            k += 1;
        }
        match me.task {
            Task::Reserve => {
                let note = Note::NOTHING.with_customer(!customer_found);
                self.reserve(tx, me, &offers, note)
            }
            Task::Delete if customer_found => self.cancel_all(tx, me.customer),
            _ => Ok(Note::NOTHING),
        }
    }

    /// Inserts or removes a record. It is not `inline(always)`: the compiler shall find out that an
    /// entry is no state of the loops around it before it inlines this.
    #[inline]
    fn change<L: Lane>(&self, tx: &mut Tx<'_, L, A>, key: u32, change: Change) -> TxResult<()> {
        let entry = self.tables.entry(tx, key)?;
        if let Change::Insert(bits) = change {
            entry.insert_new(bits)?;
        } else {
            entry.remove()?;
        }
        Ok(())
    }

    /// Adds a reservation to a customer's list, unless it is there, and returns whether it was added.
    #[inline]
    fn note<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        customer: u32,
        key: u32,
        amount: u32,
    ) -> TxResult<bool> {
        self.lists
            .entry(tx, list_of(customer), key)?
            .insert_new(amount)
    }

    /// Reserves a place of each offer that has one free.
    fn reserve<'a, L: Lane>(
        &self,
        tx: &mut Tx<'a, L, A>,
        me: &VacationTransaction,
        offers: &Offers<ListPlace<'a, u32, u32>>,
        mut note: Note,
    ) -> TxResult<Note> {
        // From the largest key to the smallest, so that no walk meets a node that this
        // transaction has inserted.
        let mut tables = offers.tables();
        while tables != 0 {
            let table = tables.ilog2();
            tables &= !(1 << table);
            let Some(offer) = offers.of(table) else {
                continue;
            };
            let Some(reserved) = offer.record.reserve() else {
                continue;
            };
            let key = record_key(table, me.query(offer.query).id);
            let price = offer.record.price();
            if self.note(tx, me.customer, key, price.amount())? {
                self.tables.set_at(tx, offer.place, reserved.bits())?;
                note = note.with_reservation(table, offer.query, price);
            }
        }
        Ok(note)
    }

    fn cancel_all<L: Lane>(&self, tx: &mut Tx<'_, L, A>, customer: u32) -> TxResult<Note> {
        let (mut bill, mut digest, mut agrees) = (0_u32, 0_u32, true);
        self.lists.drain(tx, list_of(customer), |tx, key, amount| {
            bill = bill.wrapping_add(amount);
            digest = digest.wrapping_add(reservation_digest(key, amount));
            if let Some((place, bits)) = self.tables.locate(tx, key)?
                && let Some(cancelled) = Resource::from_bits(bits).cancel()
            {
                return self.tables.set_at(tx, place, cancelled.bits());
            }
            agrees = false;
            Ok(())
        })?;
        Ok(if agrees {
            Note::deletion(bill, digest)
        } else {
            Note::DISAGREEMENT
        })
    }
}

#[inline(always)]
pub(crate) const fn list_of(customer: u32) -> u64 {
    (customer - 1) as u64
}

/// What a task does with a record that it has looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Nothing,
    Set(u32),
    Insert(u32),
    Remove,
}

/// Returns by how many places an update changes a record, and what it does with it.
#[inline(always)]
pub(crate) fn update(record: Option<Resource>, query: &Query) -> (u32, Change) {
    let Some(record) = record else {
        if !query.adds {
            return (0, Change::Nothing);
        }
        let record = Resource::new(PLACES_AN_UPDATE, query.price);
        return (PLACES_AN_UPDATE, Change::Insert(record.bits()));
    };
    // A flight goes as a whole, and only if nobody has reserved it.
    let places = if query.table == FLIGHTS && !query.adds {
        record.total()
    } else {
        PLACES_AN_UPDATE
    };
    let changed = if query.adds {
        record.extend(query.price)
    } else {
        record.reduce(places)
    };
    match changed {
        None => (0, Change::Nothing),
        Some(changed) if changed.total() == 0 => (places, Change::Remove),
        Some(changed) => (places, Change::Set(changed.bits())),
    }
}

/// The kernel of vacation: `transactions` tasks of a plan, on tables and lists that
/// agree at first. Task `i` stores its [`Note`] in element `i` of `notes`.
#[kernel(all, name = "vacation")]
pub fn travel<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    tables: &TMap<A, u32, u32>,
    lists: &TLists<A, u32, u32>,
    notes: &TArray<u64>,
    transactions: u64,
    plan: VacationPlan,
) {
    let agency = Agency {
        tables: *tables,
        lists: *lists,
    };
    // What the lane's last attempt did; its transaction, once that has ended.
    let note = Cell::new(Note::NOTHING);
    stm.loops(lane)
        .in_step()
        .then(|i| store_64(lane, notes, i, note.get().bits()))
        .each(0..transactions, |tx, i| {
            note.set(agency.run(tx, i, &plan.transaction(i))?);
            Ok(())
        });
}
