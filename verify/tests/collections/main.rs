//! The containers of `stm_core::collections` on the simulator, against those of `std`: random
//! programs one after the other and at the same time, under every algorithm.

use clap::ValueEnum;
use std::collections::{BTreeMap, VecDeque};
use std::mem::replace;
use verify::rng::Rng;

#[path = "../common/prelude.rs"]
mod prelude;

mod concurrent;
mod kernel;

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Kind {
    #[value(skip)]
    Nothing,
    Insert,
    InsertNew,
    /// Replaces the value by its place, if the key is there.
    Set,
    Remove,
    Get,
    First,
    NextAfter,
    PopFirst,
    Move,
    /// Does a move, or if the key is absent inserts it; the move first inserts
    /// another key, which is undone if it gives up.
    MoveOrInsert,
    Push,
    Pop,
}

pub(crate) const MAPS: usize = 6;
pub(crate) const UNORDERED: usize = 2;
/// Those that have no places.
const TREES: std::ops::Range<usize> = 2..4;
pub(crate) const PLACES: usize = 3;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) kind: Kind,
    pub(crate) at: usize,
    pub(crate) to: usize,
    pub(crate) key: u64,
    pub(crate) value: u64,
}

impl Op {
    pub(crate) fn new(kind: Kind, [at, to]: [usize; 2], key: u64, value: u64) -> Self {
        Self {
            kind,
            at,
            to,
            key,
            value,
        }
    }
}

pub(crate) type Outcome = Option<(u64, u64)>;

pub(crate) const OPS: usize = 3;

pub(crate) type Transaction = [Op; OPS];

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Model {
    pub(crate) maps: [BTreeMap<u64, u64>; MAPS],
    pub(crate) queue: VecDeque<u64>,
}

impl Model {
    pub(crate) fn apply(&mut self, op: &Op) -> Outcome {
        let (kind, at, to) = (op.kind, op.at, op.to);
        let (key, value) = (op.key, op.value);
        let map = &mut self.maps[at];
        match kind {
            Kind::Nothing => None,
            Kind::Insert => map.insert(key, value).map(|old| (key, old)),
            Kind::InsertNew => {
                let new = !map.contains_key(&key);
                map.entry(key).or_insert(value);
                new.then_some((key, 0))
            }
            Kind::Set => map.get_mut(&key).map(|held| (key, replace(held, value))),
            Kind::Remove => map.remove(&key).map(|old| (key, old)),
            Kind::Get => map.get(&key).map(|&old| (key, old)),
            Kind::First => map.first_key_value().map(|(&k, &v)| (k, v)),
            Kind::NextAfter => map.range(key + 1..).next().map(|(&k, &v)| (k, v)),
            Kind::PopFirst => map.pop_first(),
            Kind::Move => {
                let moved = map.remove(&key)?;
                self.maps[to].insert(key, moved).map(|old| (key, old))
            }
            Kind::MoveOrInsert => {
                let Some(moved) = map.remove(&key) else {
                    map.insert(key, value);
                    return None;
                };
                self.maps[to].insert(key + 1, value);
                self.maps[to].insert(key, moved);
                Some((key, moved))
            }
            Kind::Push => {
                if self.queue.len() == PLACES {
                    return None;
                }
                self.queue.push_back(value);
                Some((0, value))
            }
            Kind::Pop => self.queue.pop_front().map(|value| (0, value)),
        }
    }
}

/// Keys that differ in high digits, low ones, all and the last, so that a tree has branches everywhere.
const KEYS: [u64; 10] = [
    0,
    2,
    0x0f,
    0x10,
    0x1_2340,
    0x1_2348,
    0x1_2440,
    0x7000_0000,
    0xf000_0000,
    0xf000_0010,
];

fn op(rng: &mut Rng, keys: usize) -> Op {
    let mut kind = rng.pick(Kind::value_variants());
    let at = rng.below(MAPS as u32) as usize;
    let is_none = match kind {
        Kind::First | Kind::NextAfter | Kind::PopFirst => at < UNORDERED,
        Kind::Set => TREES.contains(&at),
        _ => false,
    };
    if is_none {
        kind = Kind::Get;
    }
    let to = (at + rng.within(1, MAPS as u32 - 1) as usize) % MAPS;
    let (key, value) = (rng.pick(&KEYS[..keys]), rng.within(1, 999_999));
    Op::new(kind, [at, to], key, value.into())
}

pub(crate) fn transactions(rng: &mut Rng, keys: usize, count: u32) -> Vec<Transaction> {
    let transaction = |_| [(); OPS].map(|()| op(rng, keys));
    (0..count).map(transaction).collect()
}
