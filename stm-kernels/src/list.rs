//! One sorted list whose nodes come from a pool and go back to it. Each
//! transaction inserts, removes or looks up one key; it reads all nodes before
//! the key's place, so most pairs of operations conflict if one of them changes
//! the list.

use crate::chain::chains;

chains!(
    /// The list kernel with transactions of algorithm `A`.
    List, ListParams, "list", |_key, _heads| 0
);
