//! The kernel that runs programs of container operations, and a world to run it in.

use crate::prelude::*;
use crate::{Kind, MAPS, Model, OPS, Op, Outcome, PLACES, Transaction};
use stm_core::collections::{Key, List, Lists, Map, OrderedMap, Queue, TMap};
use verify::recording::Recording;

/// A map with keys and values of some widths.
trait Held<A: Algorithm> {
    /// Does an operation in a transaction.
    fn apply(&self, tx: &mut SimTx<'_, '_, A>, op: (Kind, u64, u64)) -> TxResult<Outcome>;

    fn upload(&mut self, entries: &BTreeMap<u64, u64>);

    /// Returns what is there, after a check that the map is whole.
    fn left(&self) -> Result<BTreeMap<u64, u64>, Error>;

    fn watch(&self, stm: &mut Stm<Sim>);
}

/// Replaces the value of a key by its place, which the transaction holds while it walks past it.
macro_rules! set_at_place {
    ($map:ident, $tx:ident, $key:ident, $value:ident) => {
        match $map.entry($tx, $key)?.place() {
            Some(place) => {
                $map.contains($tx, K::from_bits64(u64::MAX))?;
                let old = $map.get_at($tx, place)?;
                $map.set_at($tx, place, $value)?;
                Ok(Some(($key, old)))
            }
            None => Ok(None),
        }
    };
}

/// Holds containers, of which some have operations that need an order or places.
macro_rules! held {
    ($map:ident, $tx:ident, $key:ident, $value:ident, $($container:ident => { $($ordered:ident => $entry:expr),* })+) => {$(
        impl<A: Algorithm, K: Key, V: Element> Held<A> for $container<Sim, K, V> {
            fn apply(
                &self,
                $tx: &mut SimTx<'_, '_, A>,
                (kind, bits, value): (Kind, u64, u64),
            ) -> TxResult<Outcome> {
                let $map = self.view::<A>();
                let ($key, $value) = (K::from_bits64(bits), V::from_bits64(value));
                let of_key = |value: V| (bits, value.to_bits64());
                match kind {
                    Kind::Get => return Ok($map.get($tx, $key)?.map(of_key)),
                    $(Kind::$ordered => {
                        let entry = $entry?;
                        return Ok(entry.map(|(k, v): (K, V)| (k.to_bits64(), v.to_bits64())));
                    })*
                    _ => {}
                }
                // One walk, as in a kernel whose lanes do different things.
                let entry = $map.entry($tx, $key)?;
                let old = match kind {
                    Kind::InsertNew => return Ok(entry.insert_new($value)?.then_some((bits, 0))),
                    Kind::Insert => entry.insert($value)?,
                    _ => entry.remove()?,
                };
                Ok(old.map(of_key))
            }

            fn upload(&mut self, entries: &BTreeMap<u64, u64>) {
                let of = |(&k, &v): (&u64, &u64)| (K::from_bits64(k), V::from_bits64(v));
                self.upload(entries.iter().map(of)).unwrap();
            }

            fn left(&self) -> Result<BTreeMap<u64, u64>, Error> {
                let entries = self.download()?.into_iter();
                Ok(entries.map(|(k, v)| (k.to_bits64(), v.to_bits64())).collect())
            }

            fn watch(&self, stm: &mut Stm<Sim>) {
                self.watch(stm);
            }
        }
    )+};
}

held! {
    map, tx, key, value,
    Map => { Set => set_at_place!(map, tx, key, value) }
    OrderedMap => {
        First => map.first(tx), NextAfter => map.next_after(tx, key), PopFirst => map.pop_first(tx)
    }
    List => {
        Set => set_at_place!(map, tx, key, value),
        First => map.first(tx), NextAfter => map.next_after(tx, key), PopFirst => map.pop_first(tx)
    }
}

pub(crate) struct Done {
    /// The transactions with their results, those of a lane in their order.
    pub(crate) lanes: Vec<Vec<(Transaction, [Outcome; OPS])>>,
    pub(crate) left: Model,
    pub(crate) statistics: Statistics,
    pub(crate) opaque: Option<bool>,
}

struct World<A> {
    sim: Sim,
    maps: [Box<dyn Held<A>>; MAPS],
    queue: Queue<Sim, u32>,
}

impl<A: Algorithm> World<A> {
    /// Makes containers with the entries of `before` and few nodes more.
    fn new(config: SimConfig, before: &Model, spare: u64) -> Self {
        let sim = Sim::new(config);
        let layout = layout::<A>();
        // As many as there are keys, and those that attempts hold.
        let n = 20 + spare;
        // The keys of the model are in three of the ranges of the last one and behind them.
        let mut maps: [Box<dyn Held<A>>; MAPS] = [
            Box::new(Map::<_, u32, u32>::with_buckets(&sim, layout, n, 3, "hash").unwrap()),
            Box::new(Map::<_, u64, u64>::with_buckets(&sim, layout, n, 5, "wide hash").unwrap()),
            Box::new(OrderedMap::<_, u32, u64>::new(&sim, layout, n, "ordered").unwrap()),
            Box::new(OrderedMap::<_, u64, u32>::new(&sim, layout, n, "wide ordered").unwrap()),
            Box::new(List::<_, u32, u32>::new(&sim, layout, n, "list").unwrap()),
            Box::new(
                List::<_, u64, u64>::with_entry_points(&sim, layout, n, 4, 1, "wide list").unwrap(),
            ),
        ];
        for (map, entries) in maps.iter_mut().zip(&before.maps) {
            map.upload(entries);
        }
        let mut queue = Queue::new(&sim, layout, PLACES as u32, "queue").unwrap();
        let values: Vec<u32> = before.queue.iter().map(|&v| v as u32).collect();
        // Positions wrap around soon.
        queue.upload(&values, u32::MAX - 1).unwrap();
        Self { sim, maps, queue }
    }

    fn run(&self, tx: &mut SimTx<'_, '_, A>, op: &Op) -> TxResult<Outcome> {
        let (kind, at, to) = (op.kind, op.at, op.to);
        let (key, value) = (op.key, op.value);
        let on_map = |tx: &mut SimTx<'_, '_, A>, map: usize, op| self.maps[map].apply(tx, op);
        match kind {
            Kind::Nothing => Ok(None),
            Kind::Move => match on_map(tx, at, (Kind::Remove, key, 0))? {
                None => Ok(None),
                Some((_, moved)) => on_map(tx, to, (Kind::Insert, key, moved)),
            },
            Kind::MoveOrInsert => tx.or_else(
                |tx| {
                    on_map(tx, to, (Kind::Insert, key + 1, value))?;
                    let Some((_, moved)) = on_map(tx, at, (Kind::Remove, key, 0))? else {
                        return tx.retry();
                    };
                    on_map(tx, to, (Kind::Insert, key, moved))?;
                    Ok(Some((key, moved)))
                },
                |tx| {
                    on_map(tx, at, (Kind::Insert, key, value))?;
                    Ok(None)
                },
            ),
            // By turns with a second alternative, as the first one waits.
            Kind::Push => {
                let (queue, pushed) = (self.queue.view::<A>(), value as u32);
                let position = if at.is_multiple_of(2) {
                    queue.try_push(tx, pushed)?
                } else {
                    tx.or_else(|tx| queue.push(tx, pushed).map(Some), |_| Ok(None))?
                };
                Ok(position.map(|_| (0, value)))
            }
            Kind::Pop => {
                let queue = self.queue.view::<A>();
                let value = if at.is_multiple_of(2) {
                    queue.try_pop(tx)?
                } else {
                    tx.or_else(|tx| queue.pop(tx).map(Some), |_| Ok(None))?
                };
                Ok(value.map(|value| (0, value.into())))
            }
            _ => on_map(tx, at, (kind, key, value)),
        }
    }

    fn left(&self) -> Result<Model, Error> {
        let mut left = Model::default();
        for (entries, map) in left.maps.iter_mut().zip(&self.maps) {
            *entries = map.left()?;
        }
        left.queue = self.queue.download()?.into_iter().map(u64::from).collect();
        Ok(left)
    }
}

fn settings() -> StmConfig {
    let mut settings = small(400, 100);
    (settings.locks, settings.capacity.actions) = (64, 24);
    settings
}

/// Runs a program on containers with the entries of `before`, and says what went wrong if something did.
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
    let world = World::<A>::new(config, before, u64::from(lanes) * 2 * OPS as u64);
    let sim = &world.sim;
    // The results of each transaction: those of its last attempt stay.
    let results = RefCell::new(vec![[None; OPS]; program.len()]);
    let mut stm = Stm::new(sim, launch, settings()).unwrap();
    world.maps.iter().for_each(|map| map.watch(&mut stm));
    world.queue.watch(&mut stm);
    let recording = Recording::new(sim, &launch, 1 << 14).unwrap();
    if records {
        stm.observe(recording.probe());
    }
    let handle = stm.handle::<A>();
    let ended = sim::launch(&mut stm, |lane| {
        handle.for_each(lane, 0..program.len() as u64, |tx, i| {
            for (k, op) in program[i as usize].iter().enumerate() {
                let outcome = world.run(tx, op)?;
                results.borrow_mut()[i as usize][k] = outcome;
            }
            Ok(())
        });
    });
    let statistics = ended.map_err(|error| error.to_string())?;
    let judged = records.then(|| recording.judge(A::NAME, "a test"));
    let judged = judged.transpose().map_err(|error| error.to_string())?;
    if let Some(judged) = &judged {
        assert_eq!(judged.verdict.counts.attempts, statistics.attempts);
    }
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
        opaque: judged.map(|judged| judged.is_opaque()),
    })
}

pub(crate) fn config(k: u64) -> SimConfig {
    numbered(k, "lockstep stack random pct3x4000", [1, 4, 2, 8])
}

/// The lists with numbers are tested by those that are made of them, and by vacation, which empties them.
#[test]
fn a_list_past_the_end_is_an_error() {
    let sim = Sim::new(config(2));
    let mut lists = Lists::<_, u64, u32>::new(&sim, layout::<Fast>(), 3, 40, "lists").unwrap();
    let mut memory = Stm::new(&sim, Launch::new(2, 2), settings()).unwrap();
    let (stm, view) = (memory.handle::<Fast>(), lists.view::<Fast>());
    let mut fill = |apart| {
        sim::launch(&mut memory, |lane| {
            stm.for_each(lane, 0..12, |tx, i| {
                view.insert(tx, i % 3 * apart, i, 1).map(|_| ())
            });
        })
    };
    fill(1).unwrap();
    assert!(lists.download().unwrap().iter().all(|list| list.len() == 4));
    lists.clear().unwrap();
    assert_says(fill(2).unwrap_err(), &["index 4 of an array of 3"]);
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
