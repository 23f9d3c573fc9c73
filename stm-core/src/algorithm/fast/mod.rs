//! `fast` and `fast-table`: [`protocol`] has the protocol in steps, the other files
//! one phase or one set each.

pub(crate) mod acquire;
pub(crate) mod commit;
pub(crate) mod entries;
pub(crate) mod entry_set;
pub(crate) mod pairs;
pub(crate) mod protocol;
pub(crate) mod read;
pub(crate) mod storage;
pub(crate) mod sum_set;
pub(crate) mod sums;
pub(crate) mod team;
pub(crate) mod team_commit;
