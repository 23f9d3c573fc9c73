//! The error that a fault record of a launch becomes.

use crate::host::pool_names;
use crate::memory::globals::FaultRecord;
use crate::tx::abort::Abort;
use stm_machine::host::Error;

pub(super) fn of_fault(reason: Abort, record: &FaultRecord) -> Error {
    let transaction = record.transaction;
    let full = |set| Error::CapacityExceeded {
        set,
        limit: record.limit,
        transaction,
    };
    let (pool, nodes) = pool_names::named((record.len >> 32) as u32);
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
            what: pool_names::mistake(record.index),
            pool,
            nodes,
            transaction,
        },
        Abort::ActionsFull => full("action log"),
        Abort::WriteSetFull => full("write set"),
        _ => full("read set"),
    }
}
