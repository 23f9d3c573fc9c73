//! `fast` and `fast-table`. [`protocol`] describes the protocol in steps and implements the
//! interface of an algorithm; each other file has one phase or one set.
//!
//! | phase or set | files |
//! | --- | --- |
//! | read, extension | `read` |
//! | commit | `acquire`, then `commit` |
//! | static updates | `update` |
//! | sums | `sums`, with the log in `sum_set` |
//! | teams | `team`, `team_commit` |
//! | waiting | `changed` |
//! | read and write set | `entry_set`, on top of `entries` |
//! | alternatives, early release, compaction | `moves` |
//! | commits alone | `alone` |
//! | versions that wrap around | `age` |
//! | versions and locks | `storage`; `pairs` for cells accessed by 128 bits |

pub(crate) mod acquire;
pub(crate) mod age;
mod alone;
pub(crate) mod changed;
pub(crate) mod commit;
pub(crate) mod entries;
pub(crate) mod entry_set;
mod moves;
pub(crate) mod pairs;
mod prelude;
pub(crate) mod protocol;
pub(crate) mod read;
pub(crate) mod storage;
pub(crate) mod sum_set;
pub(crate) mod sums;
pub(crate) mod team;
pub(crate) mod team_commit;
mod update;
