//! The loops around attempts: they begin, retry, count and give up.
//!
//! | file | contains |
//! | --- | --- |
//! | `once` | `atomically`, one transaction of a lane on its own |
//! | `loops` | the loops as a kernel sees them that names neither lane nor algorithm |
//! | `single` | `for_each`, the loops of single lanes |
//! | `preassigned` | the loop of transactions that have preassigned nodes |
//! | `step` | rounds in which the warps of a block go in step |
//! | `team` | the loops of teams |
//! | `width` | how many lanes of a warp make an attempt at a time |
//! | `gate` | who may make attempts, whose turn it is to work alone, and what the gate answers |
//! | `word` | the gate's word |
//! | `period` | when everybody works by turns: what is measured for it |
//! | `place` | the calls at the gate, of lanes, teams and warps |
//! | `update` | `update_each`, the loop of static updates |
//! | `work` | what a lane does in an attempt, in the two parts that a loop runs |
//! | `wait` | the waiting of transactions that retry, and a launch in which all wait |
//! | `conclude` | one attempt inside its loop, its result, what follows from that, and the counts of a lane |
//!
//! The calls of an attempt itself are in `tx`.

pub(crate) mod conclude;
pub(crate) mod gate;
pub(crate) mod loops;
mod once;
mod period;
mod place;
mod preassigned;
pub(crate) mod single;
pub(crate) mod step;
pub(crate) mod team;
mod update;
pub(crate) mod wait;
mod width;
pub(crate) mod word;
pub(crate) mod work;
