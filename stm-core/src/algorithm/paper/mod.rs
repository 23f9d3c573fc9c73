//! The algorithms of Xu et al. 2014 and others, which buffer writes in the lane's logs ([`logged`]).
//!
//! | file | contains |
//! | --- | --- |
//! | `version_locks` | Algorithm 3 and its variants: `tbv-sorting`, `hv-sorting`, `hv-backoff`, `egpgv` |
//! | `validation` | their extension of a snapshot |
//! | `vbv` | the sequence lock with value-based validation |
//! | `cgl` | the coarse-grained lock |
//! | `logged` | the state of an attempt, made of `word_log` for the words read and those written, and `lock_log`, in the lane's `log` |

pub(crate) mod cgl;
pub(crate) mod lock_log;
mod log;
pub(crate) mod logged;
pub(crate) mod validation;
pub(crate) mod vbv;
pub(crate) mod version_locks;
pub(crate) mod word_log;

#[cfg(all(test, feature = "host"))]
mod tests;
