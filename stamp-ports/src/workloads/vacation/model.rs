//! A travel agency without transactions, for tests: the tasks one after the other,
//! on maps of the host.

use super::check::Left;
use super::input::Vacation;
use std::collections::BTreeMap;
use stm_kernels::vacation::{
    FLIGHTS, Note, PLACES_MAX, Price, Query, Resource, Task, VacationPlan, VacationTransaction,
    record_key, record_of, reservation_digest,
};

/// A record.
#[derive(Clone, Copy, Debug)]
struct Record {
    free: u32,
    used: u32,
    price: Price,
}

/// The agency.
struct Agency {
    tables: [BTreeMap<u32, Record>; 3],
    customers: BTreeMap<u32, u32>,
    lists: Vec<BTreeMap<u32, u32>>,
}

/// Makes an agency of so many records a table.
pub(super) fn agency(relations: u32, queries: u32, users_percent: u32, tasks: u64) -> Vacation {
    Vacation {
        relations,
        queries,
        users_percent,
        transactions_max: tasks,
        ..Vacation::default()
    }
}

/// Checks for several agencies that so many tasks, of seed 7, left what they leave here.
pub(super) fn agrees(tasks: u64, mut left: impl FnMut(&Vacation) -> Left) {
    for (relations, queries, users) in [(1, 1, 50), (20, 4, 60), (300, 10, 90), (40, 2, 0)] {
        let of = agency(relations, queries, users, tasks);
        let (found, expected) = (left(&of), run(of.plan(7), tasks));
        let wrong = (0..).zip(found.notes.iter().zip(&expected.notes));
        let wrong = wrong.into_iter().find(|(_, (a, b))| a != b);
        assert_eq!(wrong, None, "{of:?}");
        assert_eq!(found.notes.len(), expected.notes.len());
        assert_eq!(found.tables, expected.tables, "{of:?}");
        assert_eq!(found.customers, expected.customers, "{of:?}");
        assert_eq!(found.lists, expected.lists, "{of:?}");
    }
}

/// Does the first `transactions` tasks of a plan in their order.
pub(super) fn run(plan: VacationPlan, transactions: u64) -> Left {
    let ids = 1..=plan.relations();
    let table = |number| {
        let record = |id| {
            let initial = plan.initial(number, id);
            Record {
                free: initial.free(),
                used: 0,
                price: initial.price(),
            }
        };
        ids.clone().map(|id| (id, record(id))).collect()
    };
    let mut agency = Agency {
        tables: [table(0), table(1), table(2)],
        customers: ids.clone().map(|id| (id, 0)).collect(),
        lists: vec![BTreeMap::new(); plan.relations() as usize],
    };
    let notes = (0..transactions)
        .map(|i| agency.task(i, &plan.transaction(i)).bits())
        .collect();
    Left {
        plan,
        notes,
        tables: agency.tables.map(|table: BTreeMap<u32, Record>| {
            let bits = |record: Record| {
                let mut word = Resource::new(record.free + record.used, record.price);
                for _ in 0..record.used {
                    word = word.reserve().expect("a free place");
                }
                word.bits()
            };
            let record = |id| table.get(&id).copied().map(bits);
            ids.clone().map(record).collect()
        }),
        customers: ids.map(|id| agency.customers.get(&id).copied()).collect(),
        foreign: None,
        lists: agency
            .lists
            .into_iter()
            .map(|list| list.into_iter().collect())
            .collect(),
    }
}

impl Agency {
    fn task(&mut self, i: u64, me: &VacationTransaction) -> Note {
        let queries = (0..me.queries).map(|k| (k, me.query(k)));
        match me.task {
            Task::Reserve => self.reserve(i, me.customer, queries.collect()),
            Task::Delete => self.delete(me.customer),
            Task::Update => queries.fold(Note::NOTHING, |note, (k, query)| {
                note.with_update(k, self.update(&query))
            }),
        }
    }

    fn reserve(&mut self, i: u64, customer: u32, queries: Vec<(u32, Query)>) -> Note {
        let mut best: [Option<(u32, u32, Price)>; 3] = [None; 3];
        for (k, query) in queries {
            let Some(record) = self.tables[query.table as usize].get(&query.id) else {
                continue;
            };
            let kept = &mut best[query.table as usize];
            if kept.is_none_or(|(_, _, price)| record.price > price) {
                *kept = Some((k, query.id, record.price));
            }
        }
        if best.iter().all(Option::is_none) {
            return Note::NOTHING;
        }
        let mut note = Note::NOTHING;
        self.customers.entry(customer).or_insert_with(|| {
            note = note.with_customer(true);
            i as u32 + 1
        });
        let list = &mut self.lists[customer as usize - 1];
        for (table, kept) in (0..).zip(best) {
            let Some((k, id, price)) = kept else {
                continue;
            };
            let record = self.tables[table as usize]
                .get_mut(&id)
                .expect("it was found");
            let key = record_key(table, id);
            if record.free > 0 && !list.contains_key(&key) {
                record.free -= 1;
                record.used += 1;
                list.insert(key, price.amount());
                note = note.with_reservation(table, k, price);
            }
        }
        note
    }

    fn delete(&mut self, customer: u32) -> Note {
        if self.customers.remove(&customer).is_none() {
            return Note::NOTHING;
        }
        let (mut bill, mut digest) = (0, 0_u32);
        for (key, amount) in std::mem::take(&mut self.lists[customer as usize - 1]) {
            let (table, id) = record_of(key);
            let record = self.tables[table as usize]
                .get_mut(&id)
                .expect("somebody reserved it");
            record.free += 1;
            record.used -= 1;
            bill += amount;
            digest = digest.wrapping_add(reservation_digest(key, amount));
        }
        Note::deletion(bill, digest)
    }

    /// Returns by how many places the record changed.
    fn update(&mut self, query: &Query) -> u32 {
        let table = &mut self.tables[query.table as usize];
        if query.adds {
            let record = table.entry(query.id).or_insert(Record {
                free: 0,
                used: 0,
                price: query.price,
            });
            if record.free + record.used + 100 > PLACES_MAX {
                return 0;
            }
            record.free += 100;
            record.price = query.price;
            return 100;
        }
        let Some(record) = table.get_mut(&query.id) else {
            return 0;
        };
        let places = if query.table == FLIGHTS {
            record.free + record.used
        } else {
            100
        };
        if record.free < places {
            return 0;
        }
        record.free -= places;
        if record.free + record.used == 0 {
            table.remove(&query.id);
        }
        places
    }
}
