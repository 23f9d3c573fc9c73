//! What only some containers have: places, which a transaction holds while it does something else, and
//! lists that give up all their entries. Queues at which transactions wait are in `sim/waiting.rs`.

use crate::kernel::{config, judged, settings};
use crate::prelude::*;
use stm_core::collections::{List, Lists, Map, TList, TLists, TMap};
use verify::history::{InitialMemory, Rest};

const LISTS: u64 = 3;
const TRANSACTIONS: u64 = 18;

/// The keys of a list before those of use: a walk past them releases what it has read, where it may.
const AFTER: u32 = 20;

struct World<A: Algorithm> {
    lists: TLists<A, u32, u32>,
    counts: TMap<A, u32, u32>,
    counts_again: TList<A, u32, u32>,
}

/// The lists from which and to which transaction `i` moves entries.
const fn way(i: u64) -> (u32, u32) {
    let (from, step) = (i % LISTS, i / LISTS % LISTS);
    (from as u32, ((from + step) % LISTS) as u32)
}

impl<A: Algorithm> World<A> {
    /// Empties a list into another one, or into itself, and keeps the numbers of
    /// entries of all lists in two containers; returns how many have moved.
    fn empty<L: Lane>(&self, tx: &mut Tx<'_, L, A>, i: u64) -> TxResult<u32> {
        let (counts, again) = (&self.counts, &self.counts_again);
        let (from, to) = way(i);
        let mut places = Vec::new();
        for key in [from, to] {
            let (place, count) = counts.locate(tx, key)?.expect("a count");
            assert_eq!(counts.get_at(tx, place)?, count);
            let place_again = again.entry(tx, AFTER + key)?.place();
            places.push((place, place_again.expect("a count")));
        }
        let mut moved = 0;
        self.lists.drain(tx, from.into(), |tx, key, value| {
            moved += 1;
            let there = self.lists.insert(tx, to.into(), key, value + 1)?;
            assert_eq!(there, None, "{key} is in two lists");
            Ok(())
        })?;
        for ((place, place_again), by) in places.into_iter().zip([0_u32.wrapping_sub(moved), moved])
        {
            let count = counts.get_at(tx, place)?;
            counts.set_at(tx, place, count.wrapping_add(by))?;
            let count = again.get_at(tx, place_again)?;
            again.set_at(tx, place_again, count.wrapping_add(by))?;
        }
        assert!(counts.entry(tx, 99)?.place().is_none());
        assert!(counts.locate(tx, 99)?.is_none() && !counts.contains(tx, 99)?);
        assert!(self.lists.locate(tx, u64::from(to), 5)?.is_none());
        assert!(counts.contains(tx, from)?);
        Ok(moved)
    }
}

fn run<A: Algorithm>(config: SimConfig) -> u64 {
    let sim = Sim::new(config);
    let layout = layout::<A>();
    let mut lists = Lists::<_, u32, u32>::new(&sim, layout, LISTS as usize, 120, "lists").unwrap();
    let full = [
        vec![(1, 10), (4, 40), (2, 20)],
        vec![],
        // Of two values of one key the last one counts.
        vec![(3, 7), (7, 70), (3, 30)],
    ];
    lists.upload(&full).unwrap();
    let mut counts = Map::with_buckets(&sim, layout, 3, 2, "counts").unwrap();
    counts.upload([(0, 3), (1, 0), (2, 2)]).unwrap();
    let nodes = u64::from(AFTER) + 3;
    let mut counts_again = List::new(&sim, layout, nodes, "counts again").unwrap();
    let before = (0..AFTER).map(|key| (key, 9));
    let of_lists = [(AFTER, 3), (AFTER + 1, 0), (AFTER + 2, 2)];
    counts_again.upload(before.clone().chain(of_lists)).unwrap();
    let moved = RefCell::new([0; TRANSACTIONS as usize]);
    let words = [
        lists.words().unwrap(),
        counts.words().unwrap(),
        counts_again.words().unwrap(),
    ];
    let words = words.iter().flatten();
    // A word that is not listed would have another value.
    let initial = InitialMemory::of(
        words.map(|&(word, bits)| (word.bits(), bits)),
        Rest::Value(77),
    );
    let launch = Launch::new(2, 4.max(config.warp_width));
    let world = World {
        lists: lists.view::<A>(),
        counts: counts.view::<A>(),
        counts_again: counts_again.view::<A>(),
    };
    let mut stm = Stm::new(&sim, launch, settings()).unwrap();
    let done = judged::<A>(&sim, &mut stm, Some(initial), |lane, stm| {
        stm.for_each(lane, 0..TRANSACTIONS, |tx, i| {
            moved.borrow_mut()[i as usize] = world.empty(tx, i)?;
            Ok(())
        });
    });
    let what = format!("{} on {config}", A::NAME);
    let (statistics, verdict) = done.expect(&what);
    assert!(verdict.is_some_and(|verdict| verdict.is_opaque()), "{what}");
    let left = lists.download().unwrap();
    let lengths: BTreeMap<u32, u32> = (0..).zip(left.iter().map(|l| l.len() as u32)).collect();
    assert_eq!(counts.download().unwrap(), lengths, "{what}");
    let again = counts_again.download().unwrap();
    let lengths = lengths.into_iter().map(|(list, n)| (AFTER + list, n));
    assert!(again.into_iter().eq(before.chain(lengths)), "{what}");
    let entries: BTreeMap<u32, u32> = left.into_iter().flatten().collect();
    assert!(entries.keys().eq(&[1, 2, 3, 4, 7]), "{what}: {entries:?}");
    let values: u32 = entries.values().sum();
    assert_eq!(values - 170, moved.borrow().iter().sum::<u32>(), "{what}");
    statistics.aborted()
}

fn runs<A: Algorithm>() {
    let aborted: u64 = (0..32).map(|k| run::<A>(config(k))).sum();
    assert_eq!(aborted == 0, A::NAME == "cgl", "{}", A::NAME);
}

#[test]
fn lists_give_up_all_entries_and_places_stay() {
    under_all!(A => runs::<A>());
    of_each!(runs(): Versioned<Cells, 0>, Versioned<Table, 0>);
}

#[test]
fn a_place_in_another_container_is_a_fault() {
    let sim = Sim::new(config(0));
    let mut maps =
        ["one map", "another map"].map(|what| Map::new(&sim, layout::<Fast>(), 4, what).unwrap());
    for map in &mut maps {
        map.upload([(5, 50)]).unwrap();
    }
    let [one, other]: [TMap<Fast, u32, u32>; 2] = [0, 1].map(|i| maps[i].view());
    let ended = ended::<Fast>(&sim, Launch::new(1, 1), settings(), |lane, stm| {
        stm.for_each(lane, 0..1, |tx, _| {
            let place = one.entry(tx, 5)?.place().expect("an entry");
            other.set_at(tx, place, 1)
        });
    });
    let error = ended.unwrap_err();
    assert!(matches!(error, Error::BadNode { .. }), "{error}");
    for map in &maps {
        assert_eq!(map.download().unwrap(), [(5, 50)].into());
    }
}
