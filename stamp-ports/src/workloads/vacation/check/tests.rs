//! Each rule refuses a run that breaks it; and a travel agency without transactions, on maps of the
//! host, which runs the tasks one after the other.

use super::*;
use crate::workloads::vacation::input::Vacation;
use std::collections::BTreeMap;
use stm_kernels::vacation::{
    FLIGHTS, Note, PLACES_MAX, Price, Query, Resource, Task, VacationPlan, VacationTransaction,
    record_key, record_of, reservation_digest,
};

/// What some 2,000 tasks leave on few records.
fn right() -> Left {
    run(VacationPlan::new(5, 25, 4, 100, 70), 2_000)
}

/// Checks that a run is refused after `change`, with these words.
fn refused(with: &str, change: impl FnOnce(&mut Left)) {
    let mut left = right();
    change(&mut left);
    let what = left.check().expect_err(with);
    assert!(what.contains(with), "{what}");
}

impl Left {
    /// The first task of a kind whose note fits.
    fn task(&self, kind: Task, fits: impl Fn(&VacationTransaction, Note) -> bool) -> usize {
        let found = self
            .tasks(0..self.notes.len() as u64)
            .find(|(_, me, note)| me.task == kind && fits(me, *note));
        found.expect("such a task").0 as usize
    }

    fn change(&mut self, table: usize, id: u32, by: impl FnOnce(Resource) -> Option<Resource>) {
        let word = self.tables[table][id as usize - 1].as_mut();
        let word = word.expect("a record");
        *word = by(Resource::from_bits(*word)).expect("possible").bits();
    }

    /// A record that customers have reserved, and one of them.
    fn reserved_record(&self) -> (usize, u32, usize) {
        let of_list = |(i, list): (usize, &Vec<(u32, u32)>)| {
            let &(key, _) = list.first()?;
            let (table, id) = record_of(key);
            Some((table as usize, id, i))
        };
        (self.lists.iter().enumerate().find_map(of_list)).expect("a reservation")
    }
}

/// Checks that a run is refused after a change of a record that customers have reserved.
fn refused_record(with: &str, by: impl FnOnce(Resource) -> Option<Resource>) {
    refused(with, |left| {
        let (table, id, _) = left.reserved_record();
        left.change(table, id, by);
    });
}

/// The same after a change of a customer's reservations.
fn refused_list(with: &str, by: impl FnOnce(&mut Vec<(u32, u32)>)) {
    refused(with, |left| {
        let (_, _, customer) = left.reserved_record();
        by(&mut left.lists[customer]);
    });
}

fn reserves_something(_: &VacationTransaction, note: Note) -> bool {
    (0..TABLES).any(|table| note.reservation(table).is_some())
}

#[test]
fn right_runs_are_accepted_and_counted() {
    for transactions in [0, 1, 50, 2_000] {
        let plan = VacationPlan::new(5, 25, 4, 100, 70);
        let left = run(plan, transactions);
        let found = left.check().unwrap();
        let held = left.lists.iter().map(Vec::len).sum::<usize>();
        assert_eq!(found.held, held as u64);
        assert!(found.reserved >= found.held);
        if transactions == 2_000 {
            assert!(found.reserved > 500 && found.reserved > found.held + 100);
            assert!(found.customers_deleted > 100 && found.customers_added > 100);
            assert!(found.updates > 100);
        }
    }
    // Updates remove records, and make some anew.
    let left = run(VacationPlan::new(5, 25, 4, 100, 0), 2_000);
    assert!(
        left.tables
            .iter()
            .all(|table| (1..25).contains(&table.iter().flatten().count()))
    );
    left.check().unwrap();
}

#[test]
fn oversold_records_are_refused() {
    // Two customers got the same place: it is reserved once.
    refused_record("reserved places, and customers have", Resource::cancel);
    refused_record("reserved places, and customers have", Resource::reserve);
    // A place was reserved and is free all the same, or is lost.
    refused_record("places, ", |r| Some(Resource::from_bits(r.bits() + 1)));
    refused_record("places, ", |r| r.reduce(1));
    // A count of free places went below zero, which takes one from the next count.
    refused_record("places, ", |r| {
        let word = r.bits() - r.free() - 1;
        Some(Resource::from_bits(word))
    });
}

#[test]
fn lost_and_foreign_records_are_refused() {
    refused("which is not there", |left| {
        let (table, id, _) = left.reserved_record();
        left.tables[table][id as usize - 1] = None;
    });
    refused("is not there and should have", |left| {
        let plan = VacationPlan::new(5, 25, 4, 100, 0);
        *left = run(plan, 100);
        *left.tables[0].iter_mut().find(|r| r.is_some()).unwrap() = None;
    });
    refused("which nobody can add", |left| {
        left.foreign = Some((2, 26));
    });
    refused("should have no places", |left| {
        *left = run(VacationPlan::new(5, 25, 4, 100, 0), 2_000);
        let gone = left.tables[0].iter_mut().find(|r| r.is_none());
        *gone.unwrap() = Some(Resource::new(100, Price::numbered(0)).bits());
    });
    refused("which nobody made its price", |left| {
        *left = run(VacationPlan::new(5, 25, 4, 100, 0), 0);
        left.change(0, 1, |r| {
            let other = Price::numbered((r.price().number() + 1) % Price::DIFFERENT);
            Some(Resource::new(r.total(), other))
        });
    });
}

#[test]
fn lost_and_foreign_reservations_are_refused() {
    refused_list("has reservations for", |list| {
        list.remove(0);
    });
    refused_list("of a table 3", |list| list.push((3 << 30 | 1, 50)));
    refused_list("never its price", |list| list[0].1 += 5);
    // Two customers have changed reservations of one price.
    refused("has other reservations than", |left| {
        let lists = (0..).zip(&left.lists);
        let all: Vec<(usize, usize, (u32, u32))> = lists
            .flat_map(|(l, list)| (0..).zip(list).map(move |(i, &entry)| (l, i, entry)))
            .collect();
        let pair = all.iter().find_map(|&(a, i, (key, price))| {
            let mut others = all
                .iter()
                .filter(|(b, _, (k, p))| *b != a && *k != key && *p == price);
            others
                .next()
                .map(|&(b, j, entry)| ((a, i), (b, j), (key, price), entry))
        });
        let ((a, i), (b, j), mine, other) = pair.expect("two reservations of one price");
        (left.lists[a][i], left.lists[b][j]) = (other, mine);
    });
    // A task made a reservation that is nowhere.
    refused("has reservations for", |left| {
        let task = left.task(Task::Reserve, |me, note| {
            me.queries > 0 && note == Note::NOTHING.with_customer(note.customer_added())
        });
        let me = left.plan.transaction(task as u64);
        let query = me.query(0);
        let price = left.plan.initial(query.table, query.id).price();
        let note = Note::from_bits(left.notes[task]);
        left.notes[task] = note.with_reservation(query.table, 0, price).bits();
    });
    // One that was made is not noted.
    refused("has reservations for", |left| {
        let task = left.task(Task::Reserve, reserves_something);
        left.notes[task] &= 1 << 24;
    });
}

#[test]
fn lost_and_foreign_customers_are_refused() {
    refused("and has", |left| {
        let (_, _, customer) = left.reserved_record();
        left.customers[customer] = None;
    });
    let without = |left: &Left| {
        let none = left.lists.iter().position(Vec::is_empty);
        none.expect("a customer without reservations")
    };
    refused("was added", |left| {
        let customer = without(left);
        let there = &mut left.customers[customer];
        *there = there.is_none().then_some(0);
    });
    // Another task, none though one did, and one that there is not.
    let others: [fn(&u32) -> Option<u32>; 3] = [
        |by| Some(by + 1),
        |by| (*by != 0).then_some(0),
        |_| Some(1 << 30),
    ];
    for other in others {
        refused("no such task added it", |left| {
            let mut all = left.customers.iter_mut().flatten();
            let (by, other) = all
                .find_map(|by| other(by).map(|other| (by, other)))
                .unwrap();
            *by = other;
        });
    }
    for foreign in [0, 26] {
        refused("whom nobody can add", |left| {
            let records = [(record_key(CUSTOMERS, foreign), 0)];
            left.foreign = Left::new(left.plan, records, Vec::new(), Vec::new()).foreign;
        });
    }
}

#[test]
fn notes_of_what_no_task_does_are_refused() {
    let impossible: [fn(&mut Left); 4] = [
        |left| {
            let task = left.task(Task::Reserve, reserves_something);
            left.notes[task] |= 1 << 40;
        },
        // A query that the task did not make.
        |left| {
            let of_one =
                |me: &VacationTransaction, note| me.queries == 1 && reserves_something(me, note);
            let task = left.task(Task::Reserve, of_one);
            left.notes[task] += 0x01_01_01;
        },
        |left| {
            let adds =
                |me: &VacationTransaction, note: Note| me.query(0).adds && note.updated(0) == 100;
            let task = left.task(Task::Update, adds);
            left.notes[task] += 1;
        },
        |left| {
            let task = left.task(Task::Update, |me, _| me.queries == 1);
            left.notes[task] |= 1 << 6;
        },
    ];
    for spoil in impossible {
        refused("cannot have done", spoil);
    }
    refused("deleted nobody and noted", |left| {
        let task = left.task(Task::Delete, |_, note| note == Note::NOTHING);
        left.notes[task] = 60;
    });
    refused("was of no record", |left| {
        let task = left.task(Task::Delete, |_, _| true);
        left.notes[task] = Note::DISAGREEMENT.bits();
    });
    refused("was never its price", |left| {
        // Paid is a price that the record never had.
        *left = run(VacationPlan::new(5, 2_000, 4, 100, 100), 2_000);
        let is_dear = |note: Note| {
            note.reservation(0)
                .is_some_and(|(_, price)| price.number() > 0)
        };
        let task = left.task(Task::Reserve, |_, note| is_dear(note));
        left.notes[task] -= 1 << 4;
    });
}

#[derive(Clone, Copy, Debug)]
struct Record {
    free: u32,
    used: u32,
    price: Price,
}

struct Agency {
    tables: [BTreeMap<u32, Record>; 3],
    customers: BTreeMap<u32, u32>,
    lists: Vec<BTreeMap<u32, u32>>,
}

/// Makes an agency of so many records a table.
pub(in crate::workloads::vacation) fn agency(
    relations: u32,
    queries: u32,
    users_percent: u32,
    tasks: u64,
) -> Vacation {
    Vacation {
        relations,
        queries,
        users_percent,
        transactions_max: tasks,
        ..Vacation::default()
    }
}

/// Checks for several agencies that so many tasks, of seed 7, left what they leave here.
pub(in crate::workloads::vacation) fn agrees(tasks: u64, mut left: impl FnMut(&Vacation) -> Left) {
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
pub(in crate::workloads::vacation) fn run(plan: VacationPlan, transactions: u64) -> Left {
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
    let word = |record: Record| {
        let new = Resource::new(record.free + record.used, record.price);
        let used = (0..record.used).try_fold(new, |word, _| word.reserve());
        used.expect("a free place").bits()
    };
    let tables = (0..).zip(agency.tables).flat_map(|(number, table)| {
        let records = table.into_iter();
        records.map(move |(id, record)| (record_key(number, id), word(record)))
    });
    let customers = agency.customers.into_iter();
    let customers = customers.map(|(id, by)| (record_key(CUSTOMERS, id), by));
    let lists = agency
        .lists
        .into_iter()
        .map(|list| list.into_iter().collect());
    Left::new(plan, tables.chain(customers), lists.collect(), notes)
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
            let record = self.tables[query.table as usize].get(&query.id);
            let offer = record.map(|record| (k, query.id, record.price));
            let kept = &mut best[query.table as usize];
            // The dearest, the first of several.
            *kept = match (*kept, offer) {
                (Some(old), Some(new)) if new.2 > old.2 => Some(new),
                (old, new) => old.or(new),
            };
        }
        let mut note = Note::NOTHING;
        if best.iter().all(Option::is_none) {
            return note;
        }
        self.customers.entry(customer).or_insert_with(|| {
            note = note.with_customer(true);
            i as u32 + 1
        });
        let list = &mut self.lists[customer as usize - 1];
        for (table, kept) in (0..).zip(best) {
            let Some((k, id, price)) = kept else {
                continue;
            };
            let record = self.tables[table as usize].get_mut(&id);
            let record = record.expect("it was found");
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
        let all = record.free + record.used;
        let places = if query.table == FLIGHTS { all } else { 100 };
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
