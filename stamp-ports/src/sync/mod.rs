//! `stamp bench sync`: locks, barriers and semaphores alone, and workloads under locks and
//! with transactions in their place, in one run that can be interrupted and gone on with.
//!
//! | module | is |
//! | --- | --- |
//! | `bench` | `sync.json`: all points |
//! | `plan` | the points of a device, in the order in which they are measured |
//! | `operations` | mutexes, barriers and semaphores alone |
//! | `peers` | libcu++ and cooperative groups, compiled where there is `nvcc` |
//! | `sections` | the counter, the hash table, the sorted list and critical sections |
//! | `run` | all of them, one after the other |

pub mod bench;
pub mod operations;
pub mod peers;
pub mod plan;
pub mod run;
pub mod sections;
