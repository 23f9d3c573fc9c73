//! The error that a fault record of a launch becomes, and the names of pools for it.

use crate::array::pool::{Misuse, Node};
use crate::host::prelude::*;
use crate::memory::globals::FaultRecord;

pub(super) fn of_fault(reason: Abort, record: &FaultRecord) -> Error {
    let transaction = record.transaction;
    let full = |set| Error::CapacityExceeded {
        set,
        limit: record.limit,
        transaction,
    };
    let id = (record.len >> 32) as u32;
    let named = locked(&POOLS).get(&id).copied();
    let (pool, nodes) = named.unwrap_or(("a pool that is gone", 0));
    match reason {
        Abort::OutOfRange => Error::OutOfRange {
            index: record.index,
            len: record.len,
            transaction,
        },
        Abort::Nested => Error::Nested { transaction },
        Abort::TeamOverlap => Error::TeamOverlap { transaction },
        Abort::NoTeams => Error::NoTeams,
        Abort::TeamIncomplete => Error::TeamIncomplete {
            first: transaction,
            present: record.limit,
            size: record.len,
        },
        Abort::ForeignAbort => Error::ForeignAbort { transaction },
        Abort::RetryWithoutReads => Error::RetryWithoutReads { transaction },
        Abort::EverybodyWaits => Error::EverybodyWaits {
            waiting: record.index,
            outside: record.len,
        },
        Abort::FreedTwice => Error::FreedTwice {
            subject: record.index,
            transaction,
        },
        Abort::PoolExhausted => Error::PoolExhausted {
            what: pool,
            nodes,
            transaction,
        },
        Abort::BadNode => Error::BadNode {
            what: mistake(record.index),
            pool,
            nodes,
            transaction,
        },
        Abort::ActionsFull => full("action log"),
        Abort::WriteSetFull => full("write set"),
        _ => full("read set"),
    }
}

/// The pools of this program, by number, so that a fault record can name one.
static POOLS: Mutex<BTreeMap<u32, (&'static str, u64)>> = Mutex::new(BTreeMap::new());

/// The number of a pool, which no other pool of the program has while it lives.
#[derive(Debug)]
pub(super) struct Identity(pub(super) u32);

impl Identity {
    pub(super) fn new(what: &'static str, nodes: u64) -> Self {
        let mut pools = locked(&POOLS);
        // Numbers follow each other, so that pools made one after the other have different tags.
        let last = pools.last_key_value().map_or(0, |(&id, _)| id);
        let free = (1..=u32::MAX).find(|n| !pools.contains_key(&last.wrapping_add(*n)));
        let id = last.wrapping_add(free.unwrap_or(1));
        pools.insert(id, (what, nodes));
        Self(id)
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        locked(&POOLS).remove(&self.0);
    }
}

/// Says what a transaction did with which node, given the index of the fault record.
fn mistake(index: u64) -> String {
    let (misuse, node) = ((index >> 32) as u32, index as u32);
    let is = |kind: Misuse| kind as u32 == misuse;
    let began = "began to initialise preassigned nodes that";
    match node {
        _ if is(Misuse::FreedTwice) => format!("freed node {node:#x}, which was free already"),
        _ if is(Misuse::NeverGivenOut) => format!("used node {node:#x}, which was never given out"),
        _ if is(Misuse::InUse) => format!("{began} are in use since an earlier launch"),
        _ if is(Misuse::SecondLoop) => format!("{began} another loop of the launch has"),
        _ if node == Node::NIL.bits() => "used a link to no node".into(),
        _ => format!("used node {node:#x}, which is of another pool or of none"),
    }
}
