//! The loops around attempts: they begin, retry, count and give up.
//!
//! | file | contains |
//! | --- | --- |
//! | `once` | `atomically`, one transaction of a lane on its own |
//! | `single` | `for_each`, the loops of single lanes |
//! | `preassigned` | the loop of transactions that have preassigned nodes |
//! | `results` | the loop of transactions that have results |
//! | `step` | rounds in which the warps of a block go in step |
//! | `team` | the loops of teams |
//! | `update` | `update_each`, the loop of static updates |
//! | `work` | what a lane does in an attempt, in the two parts that a loop runs |
//! | `throttle` | the contention manager: the width of a warp, and the queue |
//! | `wait` | the waiting of transactions that retry, and a launch in which all wait |
//! | `conclude` | one attempt inside its loop, and what follows from its result |
//! | `outcome` | the result of an attempt, and the counts of a lane |
//!
//! The calls of an attempt itself are in `tx`.

pub(crate) mod conclude;
mod once;
pub(crate) mod outcome;
mod preassigned;
mod results;
pub(crate) mod single;
pub(crate) mod step;
pub(crate) mod team;
pub(crate) mod throttle;
mod update;
pub(crate) mod wait;
pub(crate) mod work;
