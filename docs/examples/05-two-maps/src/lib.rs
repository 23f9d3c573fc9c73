//! Two maps, between which entries move: a transaction over containers that know
//! nothing of each other.

use stm_core::collections::TMap;
use stm_core::prelude::*;

/// The result of a transaction that found its key in neither map.
pub const NOWHERE: u32 = 0;

/// Moves the entry of each key to the other map, wherever it is, and returns its
/// value, or [`NOWHERE`].
///
/// Nobody sees a key in both maps or in none while it moves.
#[kernel(name = "two_maps_move")]
pub fn move_entries<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    left: &TMap<A, u32, u32>,
    right: &TMap<A, u32, u32>,
    keys: &Input<u32>,
    moved: &Output<u32>,
) {
    stm.for_each_into(lane, 0..keys.len(), moved, |tx, i| {
        let key = keys.get(lane, i).unwrap_or(0);
        if let Some(value) = left.remove(tx, key)? {
            right.insert(tx, key, value)?;
            return Ok(value);
        }
        match right.remove(tx, key)? {
            Some(value) => {
                left.insert(tx, key, value)?;
                Ok(value)
            }
            None => Ok(NOWHERE),
        }
    });
}
