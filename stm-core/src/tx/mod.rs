//! One attempt at a transaction, as the transaction's own code sees it.
//!
//! | file | contains |
//! | --- | --- |
//! | [`attempt`] | `Tx`, the attempt of one lane; `write`, `sums`, `record`, `pool` and `release` add its writes, its operations on sums, on records and on nodes, and early release |
//! | [`compose`] | `retry`, `or_else`, and transactions inside of others |
//! | [`team`] | `TeamTx`, the attempt of a team |
//! | [`actions`] | the actions that an attempt defers until it has committed or aborted |
//! | [`crew`] | the members of a team, and how they vote, broadcast and synchronise |
//! | [`stm_ref`] | `StmRef`, the handle through which a kernel begins transactions |
//! | [`abort`] | `Abort`, the reasons for which an attempt ends without committing, and `Fault`, the failure of one attempt |
//!
//! The loops that begin and commit attempts are in `run`.

pub(crate) mod abort;
pub(crate) mod actions;
pub(crate) mod attempt;
pub(crate) mod compose;
pub(crate) mod crew;
pub(crate) mod pool;
mod record;
mod release;
pub(crate) mod stm_ref;
mod sums;
pub(crate) mod team;
mod write;
