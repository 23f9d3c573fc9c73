//! Containers on the CPU: entries move between containers of every kind and none
//! is lost, and a container that is full says so. `verify/tests/collections`
//! compares results with those of `std` on the simulator.

mod common;

use common::{assert_ends, assert_exhausted, config, layout, under_all};
use std::collections::BTreeMap;
use stm_core::algorithm::Algorithm;
use stm_core::collections::{
    List, Lists, Map, OrderedMap, Queue, TList, TLists, TMap, TOrderedMap, TQueue,
};
use stm_core::host::{Capacity, Cpu, Error, Launch, Stm, StmConfig};
use stm_core::{Lane, StmRef, Tx, TxResult, kernel};

/// The keys of all entries together.
const KEYS: u64 = 64;

/// A circle of containers.
struct Circle<A: Algorithm> {
    map: TMap<A, u32, u64>,
    ordered: TOrderedMap<A, u64, u32>,
    list: TList<A, u32, u32>,
    lists: TLists<A, u32, u32>,
    queue: TQueue<A, u32>,
}

impl<A: Algorithm> Circle<A> {
    /// Moves an entry on.
    fn step<L: Lane>(&self, tx: &mut Tx<'_, L, A>, i: u64) -> TxResult<()> {
        let key = (i.wrapping_mul(0x9E37_79B9) >> 7) % KEYS;
        let narrow = key as u32;
        match i % 6 {
            0 => {
                if let Some(value) = self.map.remove(tx, narrow)? {
                    assert!(!self.ordered.contains(tx, key)?);
                    assert_eq!(self.ordered.insert(tx, key, value as u32)?, None);
                }
            }
            1 => {
                if let Some((key, value)) = self.ordered.next_after(tx, key)? {
                    assert_eq!(self.ordered.remove(tx, key)?, Some(value));
                    assert!(self.list.entry(tx, key as u32)?.insert_new(value)?);
                }
            }
            2 => {
                if let Some((key, value)) = self.list.pop_first(tx)? {
                    assert_eq!(self.list.get(tx, key)?, None);
                    self.lists.insert(tx, u64::from(key) % 3, key, value)?;
                }
            }
            3 => {
                let list = key % 3;
                if let Some((key, value)) = self.lists.first(tx, list)? {
                    assert_eq!(value, 7 * key);
                    // The queue may be full; then nothing has happened.
                    return tx.or_else(
                        |tx| {
                            self.lists.remove(tx, list, key)?;
                            self.queue.push(tx, key)?;
                            Ok(())
                        },
                        |_| Ok(()),
                    );
                }
            }
            4 => {
                if let Some(key) = self.queue.try_pop(tx)? {
                    self.map.insert(tx, key, 7 * u64::from(key))?;
                }
            }
            _ => {
                let there = [
                    self.map.get(tx, narrow)?.is_some(),
                    self.ordered.contains(tx, key)?,
                    self.list.contains(tx, narrow)?,
                    self.lists.contains(tx, key % 3, narrow)?,
                ];
                let places = there.iter().filter(|&&there| there).count();
                assert!(places <= 1, "key {key} is in {places} containers");
            }
        }
        Ok(())
    }
}

/// Returns the configuration with room for so many reads, writes and actions.
fn with_room(reads: u32, writes: u32, actions: u32) -> StmConfig {
    config(|c| {
        c.capacity = Capacity {
            reads,
            writes,
            actions,
        };
    })
}

fn settings() -> StmConfig {
    with_room(300, 60, 16)
}

fn circle<A: Algorithm>() {
    let cpu = Cpu::new();
    let layout = layout::<A>();
    let launch = Launch::new(4, 2);
    let nodes = KEYS + 2 * 8;
    let mut map = Map::new(&cpu, layout, nodes, "map").unwrap();
    map.upload((0..KEYS).map(|key| (key as u32, 7 * key)))
        .unwrap();
    let ordered = OrderedMap::new(&cpu, layout, nodes, "ordered").unwrap();
    let list = List::new(&cpu, layout, nodes, "list").unwrap();
    let lists = Lists::new(&cpu, layout, 3, nodes, "lists").unwrap();
    let queue = Queue::new(&cpu, layout, 5, "queue").unwrap();
    let mut stm = Stm::new(&cpu, launch, settings()).unwrap();
    map.watch(&mut stm);
    ordered.watch(&mut stm);
    list.watch(&mut stm);
    lists.watch(&mut stm);
    queue.watch(&mut stm);
    let handle = stm.handle::<A>();
    let circle = Circle {
        map: map.view::<A>(),
        ordered: ordered.view::<A>(),
        list: list.view::<A>(),
        lists: lists.view::<A>(),
        queue: queue.view::<A>(),
    };
    for _ in 0..2 {
        let launched = common::launch(&mut stm, |lane| {
            handle.for_each(lane, 0..20_000, |tx, i| circle.step(tx, i));
        });
        launched.unwrap();
    }
    let mut entries: BTreeMap<u64, u64> = BTreeMap::new();
    let mut count = 0;
    let mut add = |key: u64, value: u64| {
        entries.insert(key, value);
        count += 1;
    };
    for (key, value) in map.download().unwrap() {
        add(key.into(), value);
    }
    for (key, value) in ordered.download().unwrap() {
        add(key, value.into());
    }
    let lists = lists.download().unwrap();
    for (key, value) in (lists.into_iter().flatten()).chain(list.download().unwrap()) {
        add(key.into(), value.into());
    }
    for key in queue.download().unwrap() {
        add(key.into(), 7 * u64::from(key));
    }
    assert_eq!(count, KEYS);
    assert!(entries.into_iter().eq((0..KEYS).map(|key| (key, 7 * key))));
}

#[test]
fn entries_that_move_between_containers_are_in_one_of_them() {
    under_all!(A => circle::<A>());
}

/// Inserts so many entries.
#[kernel(all)]
pub fn insert<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    ordered: &TOrderedMap<A, u32, u32>,
    entries: u64,
) {
    stm.for_each(lane, 0..entries, |tx, i| {
        ordered.insert(tx, i as u32 * 0x0101_0101, i as u32)?;
        Ok(())
    });
}

#[test]
fn a_container_that_is_full_is_named_and_whole_and_can_be_cleared() {
    under_all!(A => {
        let cpu = Cpu::new();
        let layout = layout::<A>();
        let mut ordered = OrderedMap::new(&cpu, layout, 100, "my map").unwrap();
        let mut stm = Stm::new(&cpu, Launch::new(1, 1), settings()).unwrap();
        let mut fill = |ordered: &OrderedMap<Cpu, u32, u32>, entries| {
            let shape = Launch::new(1, 1);
            insert::launch_with::<A, _>(&mut stm, shape, ordered, entries).map(|_| ())
        };
        assert_exhausted(fill(&ordered, 101), "my map", 100);
        assert_eq!(ordered.download().unwrap().len(), 100);
        ordered.clear().unwrap();
        assert!(ordered.download().unwrap().is_empty());
        fill(&ordered, 50).unwrap();
        ordered.refresh().unwrap();
        fill(&ordered, 100).unwrap();
        assert_eq!(ordered.download().unwrap().len(), 100);
    });
}

#[test]
fn what_the_host_puts_into_a_container_is_there_in_both_layouts() {
    let cpu = Cpu::new();
    let entries: BTreeMap<u64, u32> = (0..500_u64)
        .map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (i % 60), i as u32))
        .collect();
    let mut ordered = OrderedMap::new(&cpu, stm_core::Layout::Plain, 500, "ordered").unwrap();
    let mut map = Map::new(&cpu, stm_core::Layout::Plain, 500, "map").unwrap();
    ordered.upload(entries.clone()).unwrap();
    map.upload(entries.clone()).unwrap();
    for layout in [stm_core::Layout::Cells, stm_core::Layout::Plain] {
        ordered.arrange_as(layout).unwrap();
        map.arrange_as(layout).unwrap();
        assert_eq!(ordered.download().unwrap(), entries);
        assert_eq!(map.download().unwrap(), entries);
    }
    let error = map.upload((0..501).map(|i| (i, 0))).unwrap_err();
    assert_ends!(error, Error::PoolExhausted { what: "map", .. });
    let mut queue = Queue::<_, f64>::new(&cpu, stm_core::Layout::Cells, 6, "queue").unwrap();
    queue.upload(&[0.5, 1.5, 2.5], u32::MAX - 1).unwrap();
    assert_eq!(queue.download().unwrap(), [0.5, 1.5, 2.5]);
    assert_eq!(queue.counts().unwrap(), [u32::MAX - 1, 1]);
}

/// Looks up each key of a list, and moves each third one behind all others.
#[kernel(all)]
pub fn walk<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    list: &TList<A, u32, u32>,
    keys: u32,
) {
    stm.for_each(lane, 0..u64::from(keys), |tx, i| {
        let key = i as u32;
        assert_eq!(list.get(tx, key)?, Some(7 * key));
        if key.is_multiple_of(3) {
            list.remove(tx, key)?;
            let old = list.insert(tx, key + keys, 7 * key)?;
            assert_eq!(old, None);
        }
        Ok(())
    });
}

#[test]
fn a_walk_along_a_long_list_needs_room_for_few_words_under_algorithms_that_release() {
    under_all!(A => {
        let cpu = Cpu::new();
        let layout = layout::<A>();
        let keys = 300;
        let mut list = List::new(&cpu, layout, 320, "list").unwrap();
        list.upload((0..keys).map(|key| (key, 7 * key))).unwrap();
        // Three walks, of 16 words each.
        let mut stm = Stm::new(&cpu, Launch::new(2, 4), with_room(48, 10, 4)).unwrap();
        let launched = walk::launch_with::<A, _>(&mut stm, Launch::new(2, 4), &list, keys);
        // `cgl` has no read set.
        if A::RELEASES || !A::LOGS_READS {
            launched.unwrap();
            let moved = |key: u32| {
                if key.is_multiple_of(3) {
                    key + keys
                } else {
                    key
                }
            };
            let expected: BTreeMap<u32, u32> = (0..keys).map(|key| (moved(key), 7 * key)).collect();
            assert!(list.download().unwrap().into_iter().eq(expected));
        } else {
            assert_ends!(launched, Err(Error::CapacityExceeded { .. }));
        }
    });
}
