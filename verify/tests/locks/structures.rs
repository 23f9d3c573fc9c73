//! Linearizability of the hash table and of the sorted list under locks (Herlihy and Wing
//! 1990): the operations have an order that explains every result, and in which an
//! operation that has ended before another one began comes first.
//!
//! Each key is inserted once and never removed. So the list is as many independent bits as
//! there are keys, and as linearizability is local, each key is judged by itself. The chain of
//! a bucket is the order of the table's insertions itself.

use super::{FAIR, config, each_kind, shared, show};
use crate::prelude::*;
use stm_kernels::ht::{bucket_of_key, key_of_node};
use stm_kernels::locked::sorted::SortedList;
use stm_kernels::locked::table::{Insertion, Table};
use stm_sync::host::{Combiners, Locks};
use stm_sync::{LockKind, Mcs2, PerLane, Tas, TasBackoff, Ticket, Ttas};

/// The keys of the list, in ranges of four, and as many that are never inserted: the odd ones.
const KEYS: u32 = 12;
const ENTRY_POINTS: u32 = 3;
const SHIFT: u32 = 3;

/// What has happened with one key: whether its insertion has begun, and whether an operation has
/// ended after which it is there, an insertion or one that found it.
#[derive(Default)]
struct OfKey {
    begun: Cell<bool>,
    there: Cell<bool>,
}

/// Lanes insert all even keys and look for others in between.
fn list<K: LockKind>(config: SimConfig, launch: Launch, coupled: bool) -> Result<(), String> {
    let sim = Sim::new(config);
    let nodes = (ENTRY_POINTS + KEYS) as usize;
    let users = u64::from(launch.blocks * launch.threads);
    let locks = Locks::<_, K>::new(&sim, nodes as u64, users, "the locks").unwrap();
    let words = Buffer::<_, u64>::zeroed(&sim, nodes, "the nodes").unwrap();
    let values = Buffer::<_, u32>::zeroed(&sim, nodes, "the values").unwrap();
    let locks_of = locks.view();
    let view = SortedList {
        nodes: words.tarray(),
        values: values.tarray(),
        keys: values.tarray(),
        transactions: KEYS.into(),
        entry_points: ENTRY_POINTS,
        shift: SHIFT,
    };
    assert!(view.is_whole());
    let keys: Vec<OfKey> = (0..2 * KEYS).map(|_| OfKey::default()).collect();
    let run = sim.run(&launch, |lane| {
        let (me, lanes) = (lane.grid_thread() as u32, lane.grid_threads() as u32);
        for i in (me..KEYS).step_by(lanes as usize) {
            // Neighbours are inserted by different lanes at about the same time.
            let key = 2 * ((i * 5) % KEYS);
            let place = (key, ENTRY_POINTS + i);
            keys[key as usize].begun.set(true);
            // SAFETY: the list is whole, and each key has a node of its own.
            let done = unsafe {
                if coupled {
                    view.insert_coupled(lane, &locks_of, place)
                } else {
                    view.insert_coarse(lane, &locks_of, place)
                }
            };
            assert!(done.is_ok(), "{done:?}");
            keys[key as usize].there.set(true);
            let sought = [(key + 2) % (2 * KEYS), key, (key + 7 + me) % (2 * KEYS)];
            for sought in sought.into_iter().filter(|_| coupled) {
                let of = &keys[sought as usize];
                let there = of.there.get();
                // SAFETY: the list is whole.
                let found = unsafe { view.contains_coupled(lane, &locks_of, sought) };
                if found.unwrap() {
                    assert!(of.begun.get(), "key {sought} was found too early");
                    of.there.set(true);
                } else {
                    assert!(!there, "key {sought} was missed after it was there");
                }
            }
        }
    });
    run.map_err(|error| error.to_string())?;
    // By its nodes, the list has all even keys in their order.
    let (words, mut found) = (words.download().unwrap(), Vec::new());
    for entry_point in 0..ENTRY_POINTS as usize {
        let mut next = words[entry_point] as u32;
        while next != 0 && found.len() < words.len() {
            found.push((words[next as usize] >> 32) as u32);
            next = words[next as usize] as u32;
        }
    }
    let right = (0..KEYS).map(|key| 2 * key).eq(found.iter().copied());
    right
        .then_some(())
        .ok_or_else(|| format!("the list is {found:?}"))
}

/// The launches: lanes by themselves, and warps of four.
const LAUNCHES: [(u32, Launch); 3] = [
    (1, Launch::new(4, 1)),
    (4, Launch::new(1, 4)),
    (4, Launch::new(2, 6)),
];

fn launches(times: usize) -> impl Iterator<Item = (SimConfig, Launch)> {
    LAUNCHES.into_iter().flat_map(move |(width, launch)| {
        let schedules = (0..).zip(Schedule::named(FAIR).repeat(times));
        schedules.map(move |(seed, schedule)| (config(width, schedule, seed), launch))
    })
}

fn lists_are_linearizable<K: LockKind>(coupled: bool) {
    for (config, launch) in launches(4) {
        let ended = list::<K>(config, launch, coupled);
        assert_eq!(ended, Ok(()), "{} coupled {coupled}: {config}", K::NAME);
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

const PAIRS: u32 = 24;
const BUCKETS: u32 = 2;

fn table(
    sim: &Sim,
    launch: Launch,
    insert: impl Fn(&SimLane<'_>, Insertion),
) -> Result<(), String> {
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
    // When each insertion began and ended, by a clock that no two events share.
    let clock = Cell::new(0);
    let tick = || clock.replace(clock.get() + 1);
    let spans: Vec<Cell<[u64; 2]>> = (0..PAIRS).map(|_| Cell::default()).collect();
    let run = sim.run(&launch, |lane| {
        for i in (lane.grid_thread()..PAIRS.into()).step_by(lane.grid_threads() as usize) {
            let insertion = view.insertion(lane, i).expect("a key");
            let began = tick();
            insert(lane, insertion);
            spans[i as usize].set([began, tick()]);
        }
    });
    run.map_err(|error| error.to_string())?;
    let (heads, nexts) = (heads.download().unwrap(), nexts.download().unwrap());
    let mut there = 0;
    for (bucket, mut link) in heads.into_iter().enumerate() {
        // The first was inserted last, and none of those behind it began after it had ended.
        let mut earliest_ended = u64::MAX;
        while link != 0 && there <= PAIRS {
            let node = link as usize - 1;
            let [began, ended] = spans[node].get();
            if bucket_of_key(keys[node], BUCKETS) as usize != bucket || began > earliest_ended {
                return Err(format!(
                    "node {node} is in bucket {bucket}, or comes too late"
                ));
            }
            earliest_ended = earliest_ended.min(ended);
            link = nexts[node];
            there += 1;
        }
    }
    (there == PAIRS)
        .then_some(())
        .ok_or_else(|| format!("{there} of {PAIRS} keys are there"))
}

fn locked_table<K: LockKind>(config: SimConfig, launch: Launch) -> Result<(), String> {
    let sim = Sim::new(config);
    let users = u64::from(launch.blocks * launch.threads);
    let locks = Locks::<_, K>::new(&sim, BUCKETS.into(), users, "the locks").unwrap();
    let launch = shared(&launch, &locks);
    let view = locks.view();
    table(&sim, launch, |lane, insertion| {
        insertion.locked(lane, &view).expect("the lock");
    })
}

#[test]
fn a_table_with_a_lock_for_each_bucket_is_linearizable() {
    each_kind!(K => {
        if K::SHARED_WORDS > 0 {
            // The kernel of the table does not set up shared memory.
            return;
        }
        for (config, launch) in launches(2) {
            let ended = locked_table::<K>(config, launch);
            assert_eq!(ended, Ok(()), "{}: {config}", K::NAME);
        }
    });
}

#[test]
fn a_table_by_combining_and_one_without_locks_are_linearizable() {
    for (config, launch) in launches(4) {
        let sim = Sim::new(config);
        let users = u64::from(launch.blocks * launch.threads);
        let buckets = u64::from(BUCKETS);
        let combiners = Combiners::<_, 1>::new(&sim, buckets, users, "combiners").unwrap();
        let view = combiners.view();
        let ended = table(&sim, launch, |lane, insertion| {
            insertion.combined(lane, &view).expect("a response");
        });
        assert_eq!(ended, Ok(()), "combining: {config}");
        let sim = Sim::new(config);
        let ended = table(&sim, launch, |lane, insertion| insertion.lock_free(lane));
        assert_eq!(ended, Ok(()), "without locks: {config}");
    }
}

#[test]
fn a_lock_without_a_fence_is_caught_in_the_list_and_in_the_table() {
    let mutants = [Mutant::LockNoAcquire, Mutant::LockNoRelease];
    let (_, launch) = LAUNCHES[0];
    show("the list", &mutants, Schedule::Random, 1, |config| {
        list::<Ticket>(config, launch, true).is_ok()
    });
    show("the table", &mutants, Schedule::Random, 1, |config| {
        locked_table::<Tas>(config, launch).is_ok()
    });
}
