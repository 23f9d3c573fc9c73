//! Containers on the CPU: what the host puts in and takes out, and a container that is full says so. What transactions
//! do with them, `verify/tests/collections` compares with `std`.

use crate::common::prelude::*;
use stm_core::collections::{List, Map, OrderedMap, Queue};

#[test]
fn a_container_that_is_full_is_named_and_whole_and_can_be_cleared() {
    under_all!(A => {
        let mut ordered = OrderedMap::new(&Cpu::new(), layout::<A>(), 100, "my map").unwrap();
        let room = |c: &mut StmConfig| (c.capacity, c.capacity.actions) = (capacity(300, 60), 16);
        let mut world = World::<A>::new(Launch::new(1, 1), room);
        let mut fill = |ordered: &OrderedMap<Cpu, u32, u32>, entries| {
            let view = ordered.view::<A>();
            world.each(entries, |tx, _, i| {
                view.insert(tx, i as u32 * 0x0101_0101, i as u32).map(|_| ())
            })
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
    let key = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (i % 60);
    let entries: BTreeMap<u64, u32> = (0..500).map(|i| (key(i), i as u32)).collect();
    let mut ordered = OrderedMap::new(&cpu, Layout::Plain, 500, "ordered").unwrap();
    let mut map = Map::new(&cpu, Layout::Plain, 500, "map").unwrap();
    ordered.upload(entries.clone()).unwrap();
    map.upload(entries.clone()).unwrap();
    for layout in [Layout::Cells, Layout::Plain] {
        ordered.arrange_as(layout).unwrap();
        map.arrange_as(layout).unwrap();
        assert_eq!(ordered.download().unwrap(), entries);
        assert_eq!(map.download().unwrap(), entries);
    }
    assert_exhausted(map.upload((0..501).map(|i| (i, 0))), "map", 500);
    let mut queue = Queue::<_, f64>::new(&cpu, Layout::Cells, 6, "queue").unwrap();
    queue.upload(&[0.5, 1.5, 2.5], u32::MAX - 1).unwrap();
    assert_eq!(queue.download().unwrap(), [0.5, 1.5, 2.5]);
    assert_eq!(queue.counts().unwrap(), [u32::MAX - 1, 1]);
}

/// Looks up each key, and moves each third one behind all others.
#[test]
fn a_walk_along_a_long_list_needs_room_for_few_words_under_algorithms_that_release() {
    under_all!(A => {
        let keys = 300_u32;
        let mut list = List::new(&Cpu::new(), layout::<A>(), 320, "list").unwrap();
        list.upload((0..keys).map(|key| (key, 7 * key))).unwrap();
        let view = list.view::<A>();
        // Three walks, of 16 words each.
        let room = |c: &mut StmConfig| (c.capacity, c.capacity.actions) = (capacity(48, 10), 4);
        let ended = World::<A>::new(Launch::new(2, 4), room).each(keys.into(), |tx, _, i| {
            let key = i as u32;
            assert_eq!(view.get(tx, key)?, Some(7 * key));
            if key.is_multiple_of(3) {
                view.remove(tx, key)?;
                let old = view.insert(tx, key + keys, 7 * key)?;
                assert_eq!(old, None);
            }
            Ok(())
        });
        // `cgl` has no read set.
        if A::RELEASES || !A::LOGS_READS {
            ended.unwrap();
            let moved = |key: u32| key + keys * u32::from(key.is_multiple_of(3));
            let expected: BTreeMap<u32, u32> = (0..keys).map(|key| (moved(key), 7 * key)).collect();
            assert!(list.download().unwrap().into_iter().eq(expected));
        } else {
            assert_ends!(ended, Err(Error::CapacityExceeded { .. }));
        }
    });
}
