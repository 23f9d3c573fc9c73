//! `bench sync`: synchronisation without transactions, and the same beside libraries of
//! other people.
//!
//! | file | is |
//! | --- | --- |
//! | `document` | what is asked for and what is found |
//! | `operations` | the operations alone: sections on a mutex, waits at a barrier, entries into a semaphore |
//! | `peers` | libcu++ and cooperative groups, compiled where there is `nvcc` |

pub mod document;
pub mod operations;
pub mod peers;
