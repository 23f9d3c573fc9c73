//! Running transactions: the loops that begin, retry, count and give up.

pub(crate) mod outcome;
pub(crate) mod single;
pub(crate) mod team;
pub(crate) mod throttle;
