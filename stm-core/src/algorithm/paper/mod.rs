//! The algorithms of Xu et al. 2014 and those that the paper compares with. All
//! of them buffer writes in the lane's logs ([`logged`]).
//!
//! | file | contains |
//! | --- | --- |
//! | `version_locks` | Algorithm 3 and its variants: `tbv-sorting`, `hv-sorting`, `hv-backoff`, `egpgv` |
//! | `validation`, `acquisition` | the schemes that tell these variants apart |
//! | `vbv` | the sequence lock with value-based validation |
//! | `cgl` | the coarse-grained lock |
//! | `logged` | the state of an attempt, made of `read_set`, `write_set` and `lock_log` |

pub(crate) mod acquisition;
pub(crate) mod cgl;
pub(crate) mod lock_log;
pub(crate) mod logged;
pub(crate) mod read_set;
pub(crate) mod validation;
pub(crate) mod vbv;
pub(crate) mod version_locks;
pub(crate) mod write_set;

#[cfg(all(test, feature = "host"))]
mod tests;
