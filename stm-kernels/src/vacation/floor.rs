//! Vacation as critical sections; [`crate::vacation`] describes what a transaction does.
//!
//! All tables are in one [`Table`], by the same keys as there, and the lists are [`Chains`]. The first slots
//! of the first few records and of the customer are computed before the lock is taken.

use crate::floor::plain::chains::Chains;
use crate::floor::plain::table::{PROBES, Probed, Table};
use crate::floor::plain::{Structure, halves};
use crate::floor::{Guarded, for_each};
use crate::prelude::*;
use crate::vacation::{
    CUSTOMERS, Change, Note, Offer, Offers, Query, Resource, Task, VacationPlan,
    VacationTransaction, list_of, record_key, reservation_digest, update,
};

alone! {
    CriticalSection(Guarded<Params>) = critical_section
        ["critical_vacation", "vacation" / "critical-section"];
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The records and customers of all tables.
    pub tables: Table,
    /// The reservations of each customer.
    pub lists: Chains,
    pub notes: TArray<u64>,
    pub transactions: u64,
    pub plan: VacationPlan,
}

/// The queries whose records are loaded together.
const BATCH: usize = 4;

/// A query, the key of its record, and the slot where the search for that begins.
type Wanted = (Query, u32, u32);

/// The agency of a lane that holds the lock.
struct Agency<'a, L> {
    lane: &'a L,
    tables: Table,
    lists: Chains,
}

#[stm_core::inlined]
impl<L: Lane> Agency<'_, L> {
    /// Draws the queries from `k` on; past the last it repeats that one.
    fn draw(&self, me: &VacationTransaction, k: u32) -> [Wanted; BATCH] {
        core::array::from_fn(|j| {
            let query = me.query((k + j as u32).min(me.queries.saturating_sub(1)));
            let key = record_key(query.table, query.id);
            (query, key, self.tables.home(key))
        })
    }

    fn find(&self, key: u32) -> Probed {
        let home = self.tables.home(key);
        (self.tables).find(self.lane, key, (home, self.tables.probe(self.lane, home)))
    }

    /// Does a task, whose first queries and whose customer's first slot have been drawn.
    fn run(
        &self,
        i: u64,
        me: &VacationTransaction,
        (drawn, customer): ([Wanted; BATCH], (u32, u32)),
    ) -> Note {
        match me.task {
            Task::Reserve => self.reserve(i, me, drawn, customer),
            Task::Delete => self.delete(me, customer),
            Task::Update => self.update(me),
        }
    }

    /// Keeps the dearest record of each table, adds the customer, and reserves.
    fn reserve(
        &self,
        i: u64,
        me: &VacationTransaction,
        mut wanted: [Wanted; BATCH],
        (customer, home): (u32, u32),
    ) -> Note {
        let (lane, tables) = (self.lane, &self.tables);
        let mut offers = Offers::<u32>::NONE;
        let of_customer = tables.probe(lane, home);
        let mut k = 0;
        loop {
            let words: [[u64; PROBES]; BATCH] =
                core::array::from_fn(|j| tables.probe(lane, wanted[j].2));
            let mut j = 0;
            while j < BATCH && k + (j as u32) < me.queries {
                let (query, key, home) = wanted[j];
                let Probed { slot, word } = tables.find(lane, key, (home, words[j]));
                if word != 0 {
                    let offer = Offer {
                        query: k + j as u32,
                        record: Resource::from_bits(halves(word).1),
                        place: slot,
                    };
                    offers.consider(query.table, offer);
                }
                j += 1;
            }
            k += BATCH as u32;
            if k >= me.queries {
                break;
            }
            wanted = self.draw(me, k);
        }
        let mut left = offers.tables();
        if left == 0 {
            return Note::NOTHING;
        }
        let Probed { slot, word } = tables.find(lane, customer, (home, of_customer));
        if word == 0 {
            // The value names the transaction that added the customer.
            tables.set(lane, slot, customer, i as u32 + 1);
        }
        let mut note = Note::NOTHING.with_customer(word == 0);
        while left != 0 {
            let table = left.ilog2();
            left &= !(1 << table);
            let Some(offer) = offers.of(table) else {
                continue;
            };
            let Some(reserved) = offer.record.reserve() else {
                continue;
            };
            let (key, price) = (
                record_key(table, me.query(offer.query).id),
                offer.record.price(),
            );
            let list = list_of(me.customer) as u32;
            let place = self.lists.find(lane, list, key);
            let is_new = !place.is_there;
            if is_new && (self.lists).insert(lane, (list, &place), key, price.amount()) {
                tables.set(lane, offer.place, key, reserved.bits());
                note = note.with_reservation(table, offer.query, price);
            }
        }
        note
    }

    /// Cancels all reservations of a customer and removes it.
    fn delete(&self, me: &VacationTransaction, (customer, home): (u32, u32)) -> Note {
        let (lane, tables) = (self.lane, &self.tables);
        let words = tables.probe(lane, home);
        let found = tables.find(lane, customer, (home, words));
        if found.word == 0 {
            return Note::NOTHING;
        }
        let (mut bill, mut digest, mut agrees) = (0_u32, 0_u32, true);
        let list = list_of(me.customer) as u32;
        self.lists.drain(lane, list, |key, amount| {
            bill = bill.wrapping_add(amount);
            digest = digest.wrapping_add(reservation_digest(key, amount));
            let Probed { slot, word } = self.find(key);
            match Resource::from_bits(halves(word).1).cancel() {
                Some(cancelled) if word != 0 => {
                    tables.set(lane, slot, key, cancelled.bits());
                }
                _ => agrees = false,
            }
        });
        // Last, as it moves records.
        tables.remove(lane, found.slot);
        if agrees {
            Note::deletion(bill, digest)
        } else {
            Note::DISAGREEMENT
        }
    }

    /// Changes records, one after the other, as each may be the same as one before.
    fn update(&self, me: &VacationTransaction) -> Note {
        let (lane, tables) = (self.lane, &self.tables);
        let mut note = Note::NOTHING;
        let mut k = 0;
        while k < me.queries {
            let query = me.query(k);
            let key = record_key(query.table, query.id);
            let Probed { slot, word } = self.find(key);
            let record = (word != 0).then(|| Resource::from_bits(halves(word).1));
            let (places, change) = update(record, &query);
            note = note.with_update(k, places);
            match change {
                Change::Nothing => {}
                Change::Set(bits) | Change::Insert(bits) => tables.set(lane, slot, key, bits),
                Change::Remove => tables.remove(lane, slot),
            }
            k += 1;
        }
        note
    }
}

#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<Params>) {
    let p = &guarded.work;
    let (tables, lists) = (p.tables, p.lists);
    // The plan draws customers that there are lists for.
    let are_there = lists.heads.len() >= u64::from(p.plan.relations);
    if !(tables.is_whole() && lists.is_whole() && are_there) {
        return;
    }
    let agency = Agency {
        lane,
        tables,
        lists,
    };
    for_each(lane, p.transactions, |i| {
        let me = p.plan.transaction(i);
        let customer = record_key(CUSTOMERS, me.customer);
        let drawn = (agency.draw(&me, 0), (customer, tables.home(customer)));
        let note = guarded.lock.with(lane, 0, || agency.run(i, &me, drawn));
        // A fault has been recorded, and what was not done shows in the tables.
        if let Ok(note) = note {
            store_64(lane, &p.notes, i, note.bits());
        }
    });
}
