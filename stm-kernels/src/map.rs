//! A map: a hash table of sorted chains whose nodes come from a pool and go
//! back to it. Each transaction inserts, removes or looks up one key.

use crate::chain::chains;
use crate::ht::bucket_of_key;

chains!(
    /// The map kernel with transactions of algorithm `A`.
    Map, MapParams, "map", |key, heads| u64::from(bucket_of_key(key, heads))
);
