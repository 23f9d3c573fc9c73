//! An ordered map whose nodes come from pools and go back to them. Each
//! transaction inserts, removes or looks up one key.

use crate::chain::operations;

operations!(
    /// The ordered map's kernel with transactions of algorithm `A`.
    Ordered, OrderedParams, "ordered", TOrderedMap
);
