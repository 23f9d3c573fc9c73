//! Two maps, between which entries move: a transaction over containers that know
//! nothing of each other.

use stm_core::prelude::*;

/// The result of a transaction that found its key in neither map.
pub const NOWHERE: u32 = 0;

/// Moves the entry of each key to the other map, wherever it is, and returns its
/// value, or [`NOWHERE`].
///
/// Nobody sees a key in both maps or in none while it moves.
#[kernel(name = "two_maps_move")]
pub fn move_entries(
    stm: &Stm,
    left: Map<u32, u32>,
    right: Map<u32, u32>,
    keys: Input<u32>,
    moved: Output<u32>,
) {
    stm.into(moved).each(0..keys.len(), |tx, i| {
        let key = keys.get(stm.lane(), i).unwrap_or(0);
        if let Some(value) = left.remove(tx, key)? {
            right.insert(tx, key, value)?;
            return Ok(value);
        }
        if let Some(value) = right.remove(tx, key)? {
            left.insert(tx, key, value)?;
            return Ok(value);
        }
        Ok(NOWHERE)
    });
}
