//! One ordered list whose nodes come from a pool and go back to it. Each
//! transaction inserts, removes or looks up one key, and walks to the key's
//! place.

use crate::chain::operations;

operations!(
    /// The list kernel with transactions of algorithm `A`.
    List, ListParams, "list", TList
);
