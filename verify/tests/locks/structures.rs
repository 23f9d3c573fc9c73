//! Linearizability of the hash table and of the sorted list under locks (Herlihy and Wing
//! 1990): the operations have an order that explains every result, and in which an
//! operation that has ended before another one began comes first.
//!
//! Each key is inserted once and never removed. So the list is as many independent bits as
//! there are keys, and as linearizability is local, each key is judged by itself. The chain of
//! a bucket is the order of the table's insertions itself.

use super::{FAIR, config, each_kind, of_each, shared, show};
use std::cell::{Cell, RefCell};
use stm_core::Lane;
use stm_core::host::{Buffer, Launch};
use stm_core::internal::observe::Mutant;
use stm_kernels::ht::{bucket_of_key, key_of_node};
use stm_kernels::locked::sorted::SortedList;
use stm_kernels::locked::table::{Insertion, Table};
use stm_sync::host::{Combiners, Locks};
use stm_sync::{LockKind, Mcs2, PerLane, Tas, TasBackoff, Ticket, Ttas};
use verify::sim::{Schedule, Sim, SimConfig, SimLane};

/// When an operation began and ended, by a clock that no two events share.
#[derive(Clone, Copy, Debug)]
struct Span {
    began: u64,
    ended: u64,
}

impl Span {
    /// Returns whether it ended before the other one began.
    fn is_before(&self, other: &Self) -> bool {
        self.ended < other.began
    }
}

/// Runs an operation, and returns when it ran.
fn timed<R>(clock: &Cell<u64>, operation: impl FnOnce() -> R) -> (Span, R) {
    let tick = || clock.replace(clock.get() + 1);
    let began = tick();
    let result = operation();
    let ended = tick();
    (Span { began, ended }, result)
}

/// The keys of the list, in ranges of four, and as many that are never inserted: the odd ones.
const KEYS: u32 = 12;
const ENTRY_POINTS: u32 = 3;
const SHIFT: u32 = 3;

/// What was done with one key.
#[derive(Default)]
struct OfKey {
    inserted: Option<Span>,
    found: Vec<Span>,
    missed: Vec<Span>,
}

impl OfKey {
    /// Returns what no order explains, if anything.
    fn wrong(&self) -> Option<&'static str> {
        let Some(inserted) = &self.inserted else {
            return (!self.found.is_empty()).then_some("a key was found that nobody inserted");
        };
        if self.found.iter().any(|found| found.is_before(inserted)) {
            return Some("a key was found before its insertion");
        }
        if self.missed.iter().any(|missed| inserted.is_before(missed)) {
            return Some("a key was missed after its insertion");
        }
        let lost = |found: &Span| self.missed.iter().any(|missed| found.is_before(missed));
        self.found
            .iter()
            .any(lost)
            .then_some("a key was missed after it was found")
    }
}

/// Returns what is wrong if the list, by its nodes, has not all even keys in their order.
fn out_of_order(words: &[u64]) -> Option<String> {
    let mut found = Vec::new();
    for entry_point in 0..ENTRY_POINTS {
        let mut next = words[entry_point as usize] as u32;
        while next != 0 && found.len() < words.len() {
            found.push((words[next as usize] >> 32) as u32);
            next = words[next as usize] as u32;
        }
    }
    let right: Vec<u32> = (0..KEYS).map(|key| 2 * key).collect();
    (found != right).then(|| format!("the list is {found:?}"))
}

/// Lanes insert all even keys and look for others in between. Returns what is wrong.
fn list<K: LockKind>(config: SimConfig, launch: Launch, coupled: bool) -> Option<String> {
    let sim = Sim::new(config);
    let nodes = (ENTRY_POINTS + KEYS) as usize;
    let users = u64::from(launch.blocks * launch.threads);
    let locks = Locks::<_, K>::new(&sim, nodes as u64, users, "the locks").unwrap();
    let words = Buffer::<_, u64>::zeroed(&sim, nodes, "the nodes").unwrap();
    let values = Buffer::<_, u32>::zeroed(&sim, nodes, "the values").unwrap();
    let (view, locks_of) = (
        SortedList {
            nodes: words.tarray(),
            values: values.tarray(),
            keys: values.tarray(),
            transactions: KEYS.into(),
            entry_points: ENTRY_POINTS,
            shift: SHIFT,
        },
        locks.view(),
    );
    assert!(view.is_whole());
    let clock = Cell::new(0);
    let keys: Vec<RefCell<OfKey>> = (0..2 * KEYS).map(|_| RefCell::default()).collect();
    let insert = |lane: &SimLane<'_>, place| {
        // SAFETY: the list is whole, and each key has a node of its own.
        unsafe {
            if coupled {
                view.insert_coupled(lane, &locks_of, place)
            } else {
                view.insert_coarse(lane, &locks_of, place)
            }
        }
    };
    let run = sim.run(&launch, |lane| {
        let (me, lanes) = (lane.grid_thread() as u32, lane.grid_threads() as u32);
        let mut i = me;
        while i < KEYS {
            // Neighbours are inserted by different lanes at about the same time.
            let key = 2 * ((i * 5) % KEYS);
            let (span, done) = timed(&clock, || insert(lane, (key, ENTRY_POINTS + i)));
            assert!(done.is_ok(), "{done:?}");
            keys[key as usize].borrow_mut().inserted = Some(span);
            if coupled {
                for sought in [(key + 2) % (2 * KEYS), key, (key + 7 + me) % (2 * KEYS)] {
                    // SAFETY: the list is whole.
                    let look = || unsafe { view.contains_coupled(lane, &locks_of, sought) };
                    let (span, there) = timed(&clock, look);
                    let mut of = keys[sought as usize].borrow_mut();
                    match there {
                        Ok(true) => of.found.push(span),
                        Ok(false) => of.missed.push(span),
                        Err(fault) => panic!("{fault:?}"),
                    }
                }
            }
            i += lanes;
        }
    });
    if let Err(error) = run {
        return Some(error.to_string());
    }
    let wrong = keys.iter().enumerate().find_map(|(key, of)| {
        let wrong = of.borrow().wrong()?;
        Some(format!("key {key}: {wrong}"))
    });
    wrong.or_else(|| out_of_order(&words.download().unwrap()))
}

/// The launches: lanes by themselves, and warps of four.
const LAUNCHES: [(u32, Launch); 3] = [
    (1, Launch::new(4, 1)),
    (4, Launch::new(1, 4)),
    (4, Launch::new(2, 6)),
];

/// Each launch under each schedule so many times, with other seeds.
fn launches(times: usize) -> impl Iterator<Item = (SimConfig, Launch)> {
    LAUNCHES.into_iter().flat_map(move |(width, launch)| {
        let schedules = (0..).zip(Schedule::named(FAIR).repeat(times));
        schedules.map(move |(seed, schedule)| (config(width, schedule, seed), launch))
    })
}

fn lists_are_linearizable<K: LockKind>(coupled: bool) {
    for (config, launch) in launches(4) {
        let wrong = list::<K>(config, launch, coupled);
        assert_eq!(wrong, None, "{} coupled {coupled}: {config}", K::NAME);
    }
}

#[test]
fn a_list_with_a_lock_for_each_node_is_linearizable() {
    of_each!(lists_are_linearizable(true): Tas, Ttas, TasBackoff, Ticket, Mcs2);
}

#[test]
fn a_list_with_a_lock_for_each_entry_point_has_every_key() {
    of_each!(
        lists_are_linearizable(false):
        PerLane<Tas>, PerLane<Ttas>, Ttas, Ticket, PerLane<Mcs2>, Mcs2
    );
}

/// Keys of the table, and its buckets.
const PAIRS: u32 = 24;
const BUCKETS: u32 = 2;

/// Lanes insert all keys, each by `insert`. Returns what is wrong.
fn table(sim: &Sim, launch: Launch, insert: impl Fn(&SimLane<'_>, Insertion)) -> Option<String> {
    let keys: Vec<u32> = (0..PAIRS).map(|node| key_of_node(9, node)).collect();
    let heads = Buffer::<_, u32>::zeroed(sim, BUCKETS as usize, "the heads").unwrap();
    let nexts = Buffer::<_, u32>::zeroed(sim, PAIRS as usize, "the nodes").unwrap();
    let of_keys = Buffer::from_slice(sim, &keys, "the keys").unwrap();
    let view = Table {
        heads: heads.tarray(),
        nexts: nexts.tarray(),
        keys: of_keys.tarray(),
        transactions: PAIRS.into(),
    };
    let clock = Cell::new(0);
    let spans: Vec<Cell<Option<Span>>> = (0..PAIRS).map(|_| Cell::new(None)).collect();
    let run = sim.run(&launch, |lane| {
        let mut i = lane.grid_thread();
        while i < PAIRS.into() {
            let insertion = view.insertion(lane, i).expect("a key");
            let (span, ()) = timed(&clock, || insert(lane, insertion));
            spans[i as usize].set(Some(span));
            i += lane.grid_threads();
        }
    });
    if let Err(error) = run {
        return Some(error.to_string());
    }
    let (heads, nexts) = (heads.download().unwrap(), nexts.download().unwrap());
    let mut there = 0;
    for (bucket, mut link) in heads.into_iter().enumerate() {
        let mut chain: Vec<usize> = Vec::new();
        while link != 0 && chain.len() < PAIRS as usize {
            let node = link as usize - 1;
            if bucket_of_key(keys[node], BUCKETS) as usize != bucket {
                return Some(format!("node {node} is in bucket {bucket}"));
            }
            chain.push(node);
            link = nexts[node];
        }
        there += chain.len();
        // The first was inserted last.
        for (place, &newer) in chain.iter().enumerate() {
            for &older in &chain[place + 1..] {
                let of = |node: usize| spans[node].get().expect("it was inserted");
                if of(newer).is_before(&of(older)) {
                    return Some(format!("node {newer} comes after node {older}"));
                }
            }
        }
    }
    (there != PAIRS as usize).then(|| format!("{there} of {PAIRS} keys are there"))
}

fn locked_table<K: LockKind>(config: SimConfig, launch: Launch) -> Option<String> {
    let sim = Sim::new(config);
    let users = u64::from(launch.blocks * launch.threads);
    let locks = Locks::<_, K>::new(&sim, BUCKETS.into(), users, "the locks").unwrap();
    let launch = shared(&launch, &locks);
    let view = locks.view();
    table(&sim, launch, |lane, insertion| {
        insertion.locked(lane, &view).expect("the lock");
    })
}

fn tables_are_linearizable<K: LockKind>() {
    if K::SHARED_WORDS > 0 {
        // The kernel of the table does not set up shared memory.
        return;
    }
    for (config, launch) in launches(2) {
        let wrong = locked_table::<K>(config, launch);
        assert_eq!(wrong, None, "{}: {config}", K::NAME);
    }
}

#[test]
fn a_table_with_a_lock_for_each_bucket_is_linearizable() {
    each_kind!(tables_are_linearizable());
}

#[test]
fn a_table_by_combining_and_one_without_locks_are_linearizable() {
    for (config, launch) in launches(4) {
        let sim = Sim::new(config);
        let users = u64::from(launch.blocks * launch.threads);
        let buckets = u64::from(BUCKETS);
        let combiners = Combiners::<_, 1>::new(&sim, buckets, users, "combiners").unwrap();
        let view = combiners.view();
        let wrong = table(&sim, launch, |lane, insertion| {
            insertion.combined(lane, &view).expect("a response");
        });
        assert_eq!(wrong, None, "combining: {config}");
        let sim = Sim::new(config);
        let wrong = table(&sim, launch, |lane, insertion| insertion.lock_free(lane));
        assert_eq!(wrong, None, "without locks: {config}");
    }
}

#[test]
fn a_lock_without_a_fence_is_caught_in_the_list_and_in_the_table() {
    let mutants = [Mutant::LockNoAcquire, Mutant::LockNoRelease];
    let (_, launch) = LAUNCHES[0];
    show("the list", &mutants, Schedule::Random, 1, |config| {
        list::<Ticket>(config, launch, true).is_none()
    });
    show("the table", &mutants, Schedule::Random, 1, |config| {
        locked_table::<Tas>(config, launch).is_none()
    });
}
