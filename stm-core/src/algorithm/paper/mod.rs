//! The algorithms of Xu et al. 2014 and the ones they are compared with. All
//! buffer their writes in the lane's logs ([`logged`]).

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
