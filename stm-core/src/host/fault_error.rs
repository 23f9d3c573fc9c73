//! The error that a fault record of a launch becomes.

use crate::host::error::Error;
use crate::host::pool_names;
use crate::memory::globals::FaultRecord;
use crate::tx::abort::Abort;

impl Error {
    /// Makes the error of a fault record.
    pub(crate) fn of_fault(reason: Abort, record: &FaultRecord) -> Self {
        let transaction = record.transaction;
        match reason {
            Abort::OutOfRange => Self::OutOfRange {
                index: record.index,
                len: record.len,
                transaction,
            },
            Abort::Nested => Self::Nested { transaction },
            Abort::TeamOverlap => Self::TeamOverlap { transaction },
            Abort::NoTeams => Self::NoTeams,
            Abort::TeamIncomplete => Self::TeamIncomplete {
                first: transaction,
                present: record.limit,
                size: record.len,
            },
            Abort::ForeignAbort => Self::ForeignAbort { transaction },
            Abort::RetryWithoutReads => Self::RetryWithoutReads { transaction },
            Abort::EverybodyWaits => Self::EverybodyWaits {
                waiting: record.index,
                outside: record.len,
            },
            Abort::FreedTwice => Self::FreedTwice {
                subject: record.index,
                transaction,
            },
            Abort::ActionsFull => Self::CapacityExceeded {
                set: "action log",
                limit: record.limit,
                transaction,
            },
            Abort::PoolExhausted => {
                let (what, nodes) = pool_names::named((record.len >> 32) as u32);
                Self::PoolExhausted {
                    what,
                    nodes,
                    transaction,
                }
            }
            Abort::BadNode => {
                let (pool, nodes) = pool_names::named((record.len >> 32) as u32);
                Self::BadNode {
                    what: pool_names::mistake(record.index),
                    pool,
                    nodes,
                    transaction,
                }
            }
            Abort::WriteSetFull => Self::CapacityExceeded {
                set: "write set",
                limit: record.limit,
                transaction,
            },
            _ => Self::CapacityExceeded {
                set: "read set",
                limit: record.limit,
                transaction,
            },
        }
    }
}
