//! The kernel that runs programs of container operations, and a world to run it in.

use crate::prelude::*;
use crate::recorded::{numbered, recorded, small};
use crate::{Kind, MAPS, Model, OPS, Op, Outcome, PLACES, Transaction};
use std::collections::BTreeMap;
use stm_core::Element;
use stm_core::collections::{
    List, Lists, Map, OrderedMap, Queue, TList, TMap, TOrderedMap, TQueue,
};
use stm_core::host::Statistics;
use verify::history::InitialMemory;

/// Maps with keys and values of all widths.
struct Containers<A: Algorithm> {
    hash: TMap<A, u32, u32>,
    wide_hash: TMap<A, u64, u64>,
    ordered: TOrderedMap<A, u32, u64>,
    wide_ordered: TOrderedMap<A, u64, u32>,
    list: TList<A, u32, u32>,
    wide_list: TList<A, u64, u64>,
    queue: TQueue<A, u32>,
}

macro_rules! of_map {
    ($tx:ident, $map:expr, $kind:ident, $key:ident, $value:ident) => {{
        if $kind == Kind::Get {
            let value = $map.get($tx, Element::from_bits64($key))?;
            return Ok(value.map(|value| ($key, value.to_bits64())));
        }
        // One walk, as in a kernel whose lanes do different things.
        let entry = $map.entry($tx, Element::from_bits64($key))?;
        if $kind == Kind::InsertNew {
            let new = entry.insert_new(Element::from_bits64($value))?;
            return Ok(new.then_some(($key, 0)));
        }
        let old = match $kind {
            Kind::Insert => entry.insert(Element::from_bits64($value))?,
            _ => entry.remove()?,
        };
        old.map(|old| ($key, old.to_bits64()))
    }};
}

macro_rules! of_ordered {
    ($tx:ident, $map:expr, $kind:ident, $key:ident, $value:ident) => {{
        let map = $map;
        let entry = match $kind {
            Kind::First => map.first($tx)?,
            Kind::NextAfter => map.next_after($tx, Element::from_bits64($key))?,
            Kind::PopFirst => map.pop_first($tx)?,
            _ => return Ok(of_map!($tx, map, $kind, $key, $value)),
        };
        entry.map(|(key, value)| (key.to_bits64(), value.to_bits64()))
    }};
}

impl<A: Algorithm> Containers<A> {
    /// Does an operation on one map. It is not inlined, as there are many callers.
    #[inline(never)]
    fn on_map<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        (kind, at): (Kind, usize),
        key: u64,
        value: u64,
    ) -> TxResult<Outcome> {
        Ok(match at {
            0 => of_map!(tx, &self.hash, kind, key, value),
            1 => of_map!(tx, &self.wide_hash, kind, key, value),
            2 => of_ordered!(tx, &self.ordered, kind, key, value),
            3 => of_ordered!(tx, &self.wide_ordered, kind, key, value),
            4 => of_ordered!(tx, &self.list, kind, key, value),
            _ => of_ordered!(tx, &self.wide_list, kind, key, value),
        })
    }

    fn run<L: Lane>(&self, tx: &mut Tx<'_, L, A>, op: &Op) -> TxResult<Outcome> {
        let (kind, at, to) = (op.kind, op.at, op.to);
        let (key, value) = (op.key, op.value);
        match kind {
            Kind::Nothing => Ok(None),
            Kind::Move => match self.on_map(tx, (Kind::Remove, at), key, 0)? {
                None => Ok(None),
                Some((_, moved)) => self.on_map(tx, (Kind::Insert, to), key, moved),
            },
            Kind::MoveOrInsert => tx.or_else(
                |tx| {
                    self.on_map(tx, (Kind::Insert, to), key + 1, value)?;
                    let Some((_, moved)) = self.on_map(tx, (Kind::Remove, at), key, 0)? else {
                        return tx.retry();
                    };
                    self.on_map(tx, (Kind::Insert, to), key, moved)?;
                    Ok(Some((key, moved)))
                },
                |tx| {
                    self.on_map(tx, (Kind::Insert, at), key, value)?;
                    Ok(None)
                },
            ),
            Kind::Push => {
                let position = self.queue.try_push(tx, value as u32)?;
                Ok(position.map(|_| (0, value)))
            }
            Kind::Pop => {
                let value = self.queue.try_pop(tx)?;
                Ok(value.map(|value| (0, value.into())))
            }
            _ => self.on_map(tx, (kind, at), key, value),
        }
    }
}

pub(crate) struct Done {
    /// The transactions with their results, those of a lane in their order.
    pub(crate) lanes: Vec<Vec<(Transaction, [Outcome; OPS])>>,
    pub(crate) left: Model,
    pub(crate) statistics: Statistics,
    pub(crate) opaque: Option<bool>,
}

struct World {
    sim: Sim,
    hash: Map<Sim, u32, u32>,
    wide_hash: Map<Sim, u64, u64>,
    ordered: OrderedMap<Sim, u32, u64>,
    wide_ordered: OrderedMap<Sim, u64, u32>,
    list: List<Sim, u32, u32>,
    wide_list: List<Sim, u64, u64>,
    queue: Queue<Sim, u32>,
}

fn narrow<T: Copy + TryInto<U>, U>(value: T) -> U {
    value.try_into().unwrap_or_else(|_| panic!("32 bits"))
}

impl World {
    /// Makes containers with the entries of `before` and few nodes more.
    fn new<A: Algorithm>(config: SimConfig, before: &Model, spare: u64) -> Self {
        let sim = Sim::new(config);
        let layout = layout::<A>();
        // As many as there are keys, and those that attempts hold.
        let nodes = 20 + spare;
        let mut world = Self {
            hash: Map::with_buckets(&sim, layout, nodes, 3, "hash").unwrap(),
            wide_hash: Map::with_buckets(&sim, layout, nodes, 5, "wide hash").unwrap(),
            ordered: OrderedMap::new(&sim, layout, nodes, "ordered").unwrap(),
            wide_ordered: OrderedMap::new(&sim, layout, nodes, "wide ordered").unwrap(),
            list: List::new(&sim, layout, nodes, "list").unwrap(),
            // The keys of the model are in three of the ranges and behind the last one.
            wide_list: List::with_entry_points(&sim, layout, nodes, 4, 1, "wide list").unwrap(),
            queue: Queue::new(&sim, layout, PLACES as u32, "queue").unwrap(),
            sim,
        };
        let [hash, wide_hash, ordered, wide_ordered, list, wide_list] = before.maps.clone();
        let of = |map: BTreeMap<u64, u64>| map.into_iter();
        let small = |(k, v)| (narrow(k), narrow(v));
        world.hash.upload(of(hash).map(small)).unwrap();
        world.wide_hash.upload(of(wide_hash)).unwrap();
        let entries = of(ordered).map(|(k, v)| (narrow(k), v));
        world.ordered.upload(entries).unwrap();
        let entries = of(wide_ordered).map(|(k, v)| (k, narrow(v)));
        world.wide_ordered.upload(entries).unwrap();
        world.list.upload(of(list).map(small)).unwrap();
        world.wide_list.upload(of(wide_list)).unwrap();
        let queue: Vec<u32> = before.queue.iter().map(|&v| narrow(v)).collect();
        // Positions wrap around soon.
        world.queue.upload(&queue, u32::MAX - 1).unwrap();
        world
    }

    fn containers<A: Algorithm>(&self) -> Containers<A> {
        Containers {
            hash: self.hash.view::<A>(),
            wide_hash: self.wide_hash.view::<A>(),
            ordered: self.ordered.view::<A>(),
            wide_ordered: self.wide_ordered.view::<A>(),
            list: self.list.view::<A>(),
            wide_list: self.wide_list.view::<A>(),
            queue: self.queue.view::<A>(),
        }
    }

    /// Returns what is there; the downloads check that the containers are whole.
    fn left(&self) -> Result<Model, Error> {
        fn wide<K: Into<u64>, V: Into<u64>>(
            entries: impl IntoIterator<Item = (K, V)>,
        ) -> BTreeMap<u64, u64> {
            let entries = entries.into_iter();
            entries.map(|(k, v)| (k.into(), v.into())).collect()
        }
        let maps: [BTreeMap<u64, u64>; MAPS] = [
            wide(self.hash.download()?),
            wide(self.wide_hash.download()?),
            wide(self.ordered.download()?),
            wide(self.wide_ordered.download()?),
            wide(self.list.download()?),
            wide(self.wide_list.download()?),
        ];
        let queue = self.queue.download()?.into_iter().map(u64::from).collect();
        Ok(Model { maps, queue })
    }
}

pub(crate) fn settings() -> StmConfig {
    let mut settings = small(400, 100);
    (settings.locks, settings.capacity.actions) = (64, 24);
    settings
}

/// Runs a program on containers with the entries of `before`, and says what went
/// wrong if something did.
pub(crate) fn run<A: Algorithm>(
    config: SimConfig,
    launch: Launch,
    before: &Model,
    program: &[Transaction],
    records: bool,
) -> Result<Done, String> {
    let lanes = match A::GRANULE {
        Granule::Block => launch.blocks,
        _ => launch.blocks * launch.threads,
    };
    let world = World::new::<A>(config, before, u64::from(lanes) * 2 * OPS as u64);
    let sim = &world.sim;
    let containers = world.containers::<A>();
    // The results of each transaction: those of its last attempt stay.
    let results = RefCell::new(vec![[None; OPS]; program.len()]);
    let work = |lane: &SimLane<'_>, stm: &StmRef<A>| {
        stm.for_each(lane, 0..program.len() as u64, |tx, i| {
            for (k, op) in program[i as usize].iter().enumerate() {
                let outcome = containers.run(tx, op)?;
                results.borrow_mut()[i as usize][k] = outcome;
            }
            Ok(())
        });
    };
    let (statistics, opaque) = if records {
        let initial = InitialMemory::INFERRED;
        let run = recorded::<A>(sim, launch, settings(), initial, work);
        assert_eq!(run.history.len() as u64, run.statistics.attempts);
        (run.statistics, Some(run.verdict.is_opaque()))
    } else {
        let mut stm = Stm::new(sim, launch, settings()).unwrap();
        let handle = stm.handle::<A>();
        world.hash.watch(&mut stm);
        world.ordered.watch(&mut stm);
        world.list.watch(&mut stm);
        world.queue.watch(&mut stm);
        let launched = sim::launch(&mut stm, |lane| work(lane, &handle));
        (launched.map_err(|error| error.to_string())?, None)
    };
    let results = results.into_inner();
    let of_lane = |lane: usize| {
        let all = program.iter().enumerate().skip(lane);
        all.step_by(lanes as usize)
            .map(|(i, transaction)| (*transaction, results[i]))
            .collect()
    };
    Ok(Done {
        lanes: (0..lanes as usize).map(of_lane).collect(),
        left: world.left().map_err(|error| error.to_string())?,
        statistics,
        opaque,
    })
}

pub(crate) fn config(k: u64) -> SimConfig {
    numbered(k, "lockstep stack random pct3x4000", [1, 4, 2, 8])
}

/// The lists with numbers are tested by those that are made of them; this is what only they have.
#[test]
fn lists_of_one_pool_are_apart_and_a_list_past_the_end_is_an_error() {
    let sim = Sim::new(config(2));
    let layout = layout::<Fast>();
    let mut lists = Lists::<_, u64, u32>::new(&sim, layout, 3, 40, "lists").unwrap();
    let mut memory = Stm::new(&sim, Launch::new(2, 2), settings()).unwrap();
    let (stm, view) = (memory.handle::<Fast>(), lists.view::<Fast>());
    let mut fill = |last| {
        sim::launch(&mut memory, |lane| {
            stm.for_each(lane, 0..12, |tx, i| {
                let list = i % 3 * last;
                let there = view.insert(tx, list, i, i as u32)?;
                assert_eq!(there, None);
                if i > 8 {
                    let (key, _) = view.pop_first(tx, list)?.expect("an entry");
                    view.insert(tx, list, key + 100, 1)?;
                    assert!(!view.contains(tx, list, key)?);
                }
                Ok(())
            });
        })
    };
    fill(1).unwrap();
    let left = lists.download().unwrap();
    for (number, list) in (0..).zip(&left) {
        assert_eq!(list.len(), 4);
        assert!(list.iter().all(|(key, _)| (key % 100) % 3 == number));
        assert_eq!(list.iter().filter(|(key, _)| *key >= 100).count(), 1);
    }
    lists.clear().unwrap();
    assert_says(fill(2).unwrap_err(), &["index 4 of an array of 3"]);
}
