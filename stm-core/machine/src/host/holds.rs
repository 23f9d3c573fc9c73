//! What launches have in use: no two launches at a time share what kernels change.
//!
//! An owner lends its memory by a shared reference, so that a launch takes one array for two
//! parameters and several launches in order take it again. Two launches at the same time, by two
//! transactional memories or on two devices, would each trust versions and locks of its own.

use crate::host::error::Error;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

/// The address space and the first address of a memory.
type Place = (u64, usize);

/// The memories that launches have in use.
static IN_USE: Mutex<BTreeSet<Place>> = Mutex::new(BTreeSet::new());

fn in_use() -> MutexGuard<'static, BTreeSet<Place>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The memories that one launch, or several in order, have in use until this is dropped, however
/// the launch ends.
#[derive(Debug, Default)]
pub struct Holds(Vec<Place>);

impl Holds {
    /// Makes it for a launch that has nothing in use yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Takes the memory that begins at `address` of an address space; `what` names the argument in
    /// the error. What it has taken already it takes again.
    ///
    /// # Errors
    /// [`Error::InUse`] if another launch has it.
    pub fn take(&mut self, space: u64, address: *mut u8, what: &'static str) -> Result<(), Error> {
        let place = (space, address.addr());
        if self.0.contains(&place) {
            return Ok(());
        }
        if !in_use().insert(place) {
            return Err(Error::InUse { what });
        }
        self.0.push(place);
        Ok(())
    }
}

impl Drop for Holds {
    fn drop(&mut self) {
        let mut in_use = in_use();
        for place in &self.0 {
            in_use.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_in_use_by_one_launch_until_that_ends() {
        let (here, there) = (8 as *mut u8, 16 as *mut u8);
        let mut first = Holds::new();
        first.take(u64::MAX, here, "words").unwrap();
        first.take(u64::MAX, here, "words").unwrap();
        let mut second = Holds::new();
        let refused = second.take(u64::MAX, here, "words").unwrap_err();
        assert_eq!(refused, Error::InUse { what: "words" });
        second.take(u64::MAX, there, "others").unwrap();
        second.take(u64::MAX - 1, here, "elsewhere").unwrap();
        drop(first);
        second.take(u64::MAX, here, "words").unwrap();
    }
}
