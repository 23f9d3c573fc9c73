//! A hash map whose nodes come from a pool and go back to it. Each transaction
//! inserts, removes or looks up one key.

use crate::chain::operations;

operations!(
    /// The map kernel with transactions of algorithm `A`.
    Map, MapParams, "map", TMap
);
