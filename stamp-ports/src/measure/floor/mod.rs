//! What `bench floor` measures: the transactional memory beside kernels without
//! transactions, in the same run on the same device.
//!
//! | kind | is | result |
//! | --- | --- | --- |
//! | unsynchronised | the same accesses without synchronisation | unsafe: not verified, updates may be lost |
//! | special-purpose | what one writes by hand for this workload and no other | verified |
//! | critical-section | the transactions as critical sections of one lock, written by hand | verified |
//! | stm | transactions | verified |
//!
//! The same accesses without synchronisation are no bound: a kernel that needs fewer
//! accesses can be faster.
//!
//! For each, the best launch is searched and then measured: median of the
//! repeats, the data put back before each.
//!
//! | file | is |
//! | --- | --- |
//! | `measured` | all of a workload |
//! | `bound` | the time that the memory system needs for a protocol's own accesses |
//! | `search` | the search of a contender's best launch, and its measurement |
//! | `report` | the table and the document |

pub mod bound;
pub(crate) mod measured;
pub(crate) mod report;
pub mod search;
