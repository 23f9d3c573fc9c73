//! One lane does what an agency without transactions does, on tables of the host, which does the tasks
//! one after the other; and each rule refuses a run that breaks it.

use super::*;
use crate::workloads::exclusion::Excludes;
use crate::workloads::test_prelude::*;
use std::mem::take;
use stm_core::algorithm::Fast;
use stm_kernels::floor::{Guarded, Lock};
use stm_kernels::vacation::{
    FLIGHTS, Note, PLACES_AN_UPDATE, Price, Query, Resource, Task, VacationTransaction, record_of,
    reservation_digest,
};

/// Does the first `transactions` tasks of a plan in their order.
fn model(plan: VacationPlan, transactions: u64) -> FinalTables {
    let lists = vec![Vec::new(); plan.relations as usize];
    let mut agency = FinalTables::new(plan, initial(&plan), lists, Vec::new());
    for i in 0..transactions {
        let me = plan.transaction(i);
        let note = match me.task {
            Task::Reserve => agency.reserve(i, &me),
            Task::Delete => agency.delete(me.customer),
            Task::Update => (0..me.queries).fold(Note::NOTHING, |note, k| {
                note.with_update(k, agency.update(&me.query(k)))
            }),
        };
        agency.notes.push(note.bits());
    }
    agency
}

impl FinalTables {
    /// The word of a record or customer.
    fn word(&mut self, key: u32) -> &mut Option<u32> {
        let (table, id) = record_of(key);
        &mut self.tables[table as usize][id as usize - 1]
    }

    fn reserve(&mut self, i: u64, me: &VacationTransaction) -> Note {
        // The dearest of each table, the first of several.
        let mut best: [Option<(u32, u32, Resource)>; 3] = [None; 3];
        for (k, query) in (0..me.queries).map(|k| (k, me.query(k))) {
            let key = record_key(query.table, query.id);
            let kept = &mut best[query.table as usize];
            if let Some(record) = self.word(key).map(Resource::from_bits)
                && kept.is_none_or(|(_, _, old)| record.price() > old.price())
            {
                *kept = Some((k, key, record));
            }
        }
        if best.iter().all(Option::is_none) {
            return Note::NOTHING;
        }
        let customer = self.word(record_key(CUSTOMERS, me.customer));
        let mut note = Note::NOTHING.with_customer(customer.is_none());
        customer.get_or_insert(i as u32 + 1);
        for (k, key, record) in best.into_iter().flatten() {
            let list = &mut self.lists[me.customer as usize - 1];
            if let Some(reserved) = record.reserve()
                && let Err(place) = list.binary_search_by_key(&key, |&(key, _)| key)
            {
                list.insert(place, (key, record.price().amount()));
                *self.word(key) = Some(reserved.bits());
                note = note.with_reservation(record_of(key).0, k, record.price());
            }
        }
        note
    }

    fn delete(&mut self, customer: u32) -> Note {
        if self.word(record_key(CUSTOMERS, customer)).take().is_none() {
            return Note::NOTHING;
        }
        let (mut bill, mut digest) = (0, 0_u32);
        for (key, amount) in take(&mut self.lists[customer as usize - 1]) {
            let record = self.word(key);
            let cancelled = record.and_then(|bits| Resource::from_bits(bits).cancel());
            *record = Some(cancelled.expect("a place of it").bits());
            bill += amount;
            digest = digest.wrapping_add(reservation_digest(key, amount));
        }
        Note::deletion(bill, digest)
    }

    /// Returns by how many places the record changed.
    fn update(&mut self, query: &Query) -> u32 {
        let word = self.word(record_key(query.table, query.id));
        let record = word.map_or(Resource::new(0, query.price), Resource::from_bits);
        let (changed, places) = match (query.adds, query.table) {
            (true, _) => (record.extend(query.price), PLACES_AN_UPDATE),
            (false, FLIGHTS) => (record.reduce(record.total()), record.total()),
            (false, _) => (record.reduce(PLACES_AN_UPDATE), PLACES_AN_UPDATE),
        };
        let Some(changed) = changed else { return 0 };
        *word = (changed.total() > 0).then(|| changed.bits());
        places
    }
}

const TASKS: u64 = 3_000;

fn agency(relations: u32, queries: u32, users_percent: u32) -> Vacation {
    Vacation {
        relations,
        queries,
        users_percent,
        transactions_max: TASKS,
        ..Vacation::default()
    }
}

/// Checks for several agencies that the tasks, of seed 7, left what they leave in the model.
fn agrees(mut left: impl FnMut(&Vacation) -> FinalTables) {
    for (relations, queries, users) in [(1, 1, 50), (20, 4, 60), (300, 10, 90), (40, 2, 0)] {
        let of = agency(relations, queries, users);
        let (found, expected) = (left(&of), model(of.plan(7), TASKS));
        assert_eq!(found.notes, expected.notes, "{of:?}");
        assert_eq!(found.tables, expected.tables, "{of:?}");
        assert_eq!(found.lists, expected.lists, "{of:?}");
    }
}

fn alone(device: &Cpu, vacation: &Vacation) -> Data<Cpu> {
    let made_for = MadeFor::new(7, TASKS).launched(1, 1, Layout::Cells);
    let mut data = vacation.prepare(device, made_for).unwrap();
    vacation.reset(&mut data).unwrap();
    let done = ran::<Fast, _>(vacation, device, &mut data, ((1, 1), TASKS));
    assert_eq!(done.statistics.commits, TASKS);
    data
}

#[test]
fn one_lane_does_what_an_agency_without_transactions_does() {
    let cpu = Cpu::new();
    agrees(|vacation| {
        let mut data = alone(&cpu, vacation);
        let found = vacation.verify(&mut data, TASKS).unwrap();
        assert_eq!(found.len(), 6);
        data.left(TASKS).unwrap()
    });
}

#[test]
fn another_run_begins_with_the_same_tables() {
    let cpu = Cpu::new();
    let vacation = agency(30, 3, 50);
    let mut data = alone(&cpu, &vacation);
    let lists = data.lists.download().unwrap();
    assert!(lists.iter().any(|list| !list.is_empty()));
    vacation.clear(&mut data).unwrap();
    let left = data.left(0).unwrap();
    let fresh = model(vacation.plan(7), 0);
    assert_eq!((&left.tables, left.lists), (&fresh.tables, fresh.lists));
    assert_eq!(left.tables[CUSTOMERS as usize], vec![Some(0); 30]);
    // Nobody has done anything, and nobody has noted anything.
    vacation.verify(&mut data, TASKS).unwrap();
}

#[test]
fn sections_of_one_lane_do_what_an_agency_without_transactions_does() {
    let device = Cpu::new();
    agrees(|of| {
        let uses = sections();
        let mut data = Sections::make(of, &device, MadeFor::new(7, TASKS)).unwrap();
        (uses.reset)(of, &mut data).unwrap();
        let made = Lock::make(&device, (1, 1, "the lock")).unwrap();
        let run = (uses.launches)(uses.work, of, &device, &mut data, TASKS, &mut |work| {
            let lock = made.view;
            let (shape, params) = (Launch::new(1, 1), Guarded { lock, work });
            // SAFETY: the parameters are views of what `data` and `made` keep.
            Ok(unsafe { device.launch::<CriticalSection>(&shape, &params)? })
        });
        run.unwrap();
        (made.check)().unwrap();
        (uses.verify)(of, &mut data, TASKS).unwrap();
        data.left(TASKS).unwrap()
    });
}

/// What so many tasks leave on few records, of which so many in a hundred make reservations.
fn left(users_percent: u32, tasks: u64) -> FinalTables {
    model(VacationPlan::new(5, 25, 4, 100, users_percent), tasks)
}

impl FinalTables {
    /// Changes the note of the first task of a kind that fits.
    fn note(
        &mut self,
        kind: Task,
        fits: impl Fn(&VacationTransaction, Note) -> bool,
        by: impl FnOnce(&VacationTransaction, &mut u64),
    ) {
        let transactions = (0..).map(|i| self.plan.transaction(i));
        let mut tasks = transactions.zip(&mut self.notes);
        let fit = tasks.find(|(me, note)| me.task == kind && fits(me, Note::from_bits(**note)));
        let (me, note) = fit.expect("such a task");
        by(&me, note);
    }

    /// The first reservation: the customer, less one, and the word of the record.
    fn reserved(&mut self) -> (usize, &mut Option<u32>) {
        let customer = self.lists.iter().position(|list| !list.is_empty());
        let customer = customer.expect("a reservation");
        (customer, self.word(self.lists[customer][0].0))
    }

    /// Changes a record that customers have reserved.
    fn record(&mut self, by: impl FnOnce(Resource) -> Option<Resource>) {
        let (_, word) = self.reserved();
        *word = by(Resource::from_bits(word.unwrap())).map(Resource::bits);
    }

    /// The reservations of a customer who has some.
    fn list(&mut self) -> &mut Vec<(u32, u32)> {
        let (customer, _) = self.reserved();
        &mut self.lists[customer]
    }

    fn customers(&mut self) -> &mut Vec<Option<u32>> {
        &mut self.tables[CUSTOMERS as usize]
    }

    /// Gives a customer another task that added it.
    fn added_by(&mut self, other: impl Fn(u32) -> Option<u32>) {
        let mut all = self.customers().iter_mut().flatten();
        let changed = all.find_map(|by| other(*by).map(|other| *by = other));
        changed.expect("a customer");
    }

    /// Adds a record that there cannot be.
    fn foreign(&mut self, table: u32, id: u32) {
        let records = [(record_key(table, id), 0)];
        self.foreign = FinalTables::new(self.plan, records, Vec::new(), Vec::new()).foreign;
    }
}

fn reserves(_: &VacationTransaction, note: Note) -> bool {
    (0..TABLES).any(|table| note.reservation(table).is_some())
}

#[test]
fn right_runs_are_accepted_and_counted() {
    for tasks in [0, 1, 50, 2_000] {
        let left = left(70, tasks);
        let found = left.check().unwrap();
        let held = left.lists.iter().map(Vec::len).sum::<usize>();
        assert_eq!(found.held, held as u64);
        assert!(found.reserved >= found.held);
        if tasks == 2_000 {
            assert!(found.reserved > 500 && found.reserved > found.held + 100);
            assert!(found.customers_deleted > 100 && found.customers_added > 100);
            assert!(found.updates > 100);
        }
    }
    // Updates remove records, and make some anew.
    let left = left(0, 2_000);
    let mut tables = left.tables[..TABLES as usize].iter();
    assert!(tables.all(|table| (1..25).contains(&table.iter().flatten().count())));
    left.check().unwrap();
}

const SPOILS: Spoils<FinalTables, 30> = spoils! {
    // Two customers got the same place: it is reserved once.
    |left| left.record(Resource::cancel) => "reserved places, and customers have";
    |left| left.record(Resource::reserve) => "reserved places, and customers have";
    // A place was reserved and is free all the same, or is lost.
    |left| left.record(|r| Some(Resource::from_bits(r.bits() + 1))) => "places, ";
    |left| left.record(|r| r.reduce(1)) => "places, ";
    // A count of free places went below zero, which takes one from the next count.
    |left| left.record(|r| Some(Resource::from_bits(r.bits() - r.free() - 1))) => "places, ";
    // Records that are lost, and that there should not be, or cannot.
    |left| left.record(|_| None) => "which is not there";
    |spoilt| {
        *spoilt = left(0, 100);
        *spoilt.tables[0].iter_mut().find(|r| r.is_some()).unwrap() = None;
    } => "is not there and should have";
    |left| left.foreign(2, 26) => "there is room 26, which nobody can add";
    |spoilt| {
        *spoilt = left(0, 2_000);
        let gone = spoilt.tables[0].iter_mut().find(|r| r.is_none());
        *gone.unwrap() = Some(Resource::new(100, Price::numbered(0)).bits());
    } => "should have no places";
    |spoilt| {
        *spoilt = left(0, 0);
        let record = Resource::from_bits(spoilt.tables[0][0].unwrap());
        let other = Price::numbered((record.price().number() + 1) % Price::DIFFERENT);
        spoilt.tables[0][0] = Some(Resource::new(record.total(), other).bits());
    } => "which nobody made its price";
    // Reservations that are lost, of nothing, for another price, and of each other.
    |left| left.list().truncate(0) => "has reservations for";
    |left| left.list().push((3 << 30 | 1, 50)) => "of a table 3";
    |left| left.list()[0].1 += 5 => "never its price";
    |left| {
        let lists = left.lists.iter().enumerate();
        let all = lists.flat_map(|(l, list)| (0..list.len()).map(move |i| (l, i)));
        let all: Vec<(usize, usize)> = all.collect();
        let entry = |(l, i): (usize, usize)| left.lists[l][i];
        let pairs = all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b)));
        let mut pairs = pairs.filter(|&(a, b)| a.0 != b.0 && entry(a).0 != entry(b).0);
        let ((l, i), (m, j)) = pairs.find(|&(a, b)| entry(a).1 == entry(b).1).unwrap();
        (left.lists[l][i], left.lists[m][j]) = (left.lists[m][j], left.lists[l][i]);
    } => "has other reservations than";
    // A task made a reservation that is nowhere.
    |left| {
        let plan = left.plan;
        let none = |me: &VacationTransaction, note| me.queries > 0 && !reserves(me, note);
        left.note(Task::Reserve, none, |me, note| {
            let query = me.query(0);
            let price = plan.initial(query.table, query.id).price();
            let made = Note::from_bits(*note).with_reservation(query.table, 0, price);
            *note = made.bits();
        });
    } => "has reservations for";
    // One that was made is not noted.
    |left| left.note(Task::Reserve, reserves, |_, note| *note &= 1 << 24) => "has reservations for";
    // Customers that are lost, that there should not be, or cannot.
    |left| {
        let (customer, _) = left.reserved();
        left.customers()[customer] = None;
    } => "is not there and has";
    |left| {
        let customer = left.lists.iter().position(Vec::is_empty).unwrap();
        let there = &mut left.customers()[customer];
        *there = there.is_none().then_some(0);
    } => "was added";
    |left| left.foreign(CUSTOMERS, 0) => "whom nobody can add";
    |left| left.foreign(CUSTOMERS, 26) => "whom nobody can add";
    // Another task, none though one did, and one that there is not.
    |left| left.added_by(|by| Some(by + 1)) => "no such task added it";
    |left| left.added_by(|by| (by != 0).then_some(0)) => "no such task added it";
    |left| left.added_by(|_| Some(1 << 30)) => "no such task added it";
    // Notes of what no task does: bits without a meaning, a query that the task did not make, other
    // places than an update adds, an update that the task did not make.
    |left| left.note(Task::Reserve, reserves, |_, note| *note |= 1 << 40) => "cannot have done";
    |left| {
        let of_one = |me: &VacationTransaction, note| me.queries == 1 && reserves(me, note);
        left.note(Task::Reserve, of_one, |_, note| *note += 0x01_01_01);
    } => "cannot have done";
    |left| {
        let adds =
            |me: &VacationTransaction, note: Note| me.query(0).adds && note.updated(0) == 100;
        left.note(Task::Update, adds, |_, note| *note += 1);
    } => "cannot have done";
    |left| {
        let is_one = |me: &VacationTransaction, _| me.queries == 1;
        left.note(Task::Update, is_one, |_, note| *note |= 1 << 6);
    } => "cannot have done";
    |left| {
        let nobody = |_: &VacationTransaction, note| note == Note::NOTHING;
        left.note(Task::Delete, nobody, |_, note| *note = 60);
    } => "deleted nobody and noted";
    |left| left.note(Task::Delete, |_, _| true, |_, note| *note = u64::MAX) => "was of no record";
    // Paid is a price that the record never had.
    |left| {
        *left = model(VacationPlan::new(5, 2_000, 4, 100, 100), 2_000);
        let is_dear = |_: &VacationTransaction, note: Note| {
            note.reservation(0).is_some_and(|(_, p)| p.number() > 0)
        };
        left.note(Task::Reserve, is_dear, |_, note| *note -= 1 << 4);
    } => "was never its price";
};

#[test]
fn what_breaks_a_rule_is_refused() {
    refused(SPOILS, || left(70, 2_000), |left| left.check().err());
}

#[test]
fn sets_have_room_for_the_longest_lists_of_stamps_sizes() {
    let low = Vacation::default();
    let high = Vacation {
        queries: 4,
        range_percent: 60,
        users_percent: 90,
        ..low
    };
    assert_eq!((low.list_likely(), high.list_likely()), (50, 87));
    assert_eq!(low.capacity().reads, 686);
    assert_eq!(high.capacity().actions, 89);
    // Few tasks cannot make long lists, and few records neither.
    let few = Vacation {
        transactions_max: 3,
        ..low
    };
    assert_eq!(few.list_likely(), 6);
    let small = Vacation {
        relations: 2,
        range_percent: 100,
        ..low
    };
    assert_eq!((small.list_likely(), small.list_nodes(1 << 20)), (6, 12));
    for input in [low, high, few, small] {
        let (likely, most) = (input.capacity(), input.capacity_max().unwrap());
        assert!(likely.reads <= most.reads && likely.actions <= most.actions);
    }
}
