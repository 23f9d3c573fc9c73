//! Many producers to one consumer: a ring for each producer.

use super::{ring::TRings, space::Space};
use crate::wait::{Stopped, until_after};
use stm_machine::{Element, Lane};

/// The only consumer of several rings, of which each has its own producer. How far it has
/// come in each is in the ring's own memory, so that it needs no registers for them.
pub struct Gather<'l, L, T, S> {
    lane: &'l L,
    rings: TRings<T, S>,
    /// The ring that is asked first.
    turn: u32,
}

stm_machine::shown!([L, T, S: Space] Gather<'_, L, T, S>: rings, turn; ..);

impl<T: Element, S: Space> TRings<T, S> {
    /// Begins to consume from all rings, as the first consumer of each: many producers to
    /// one consumer.
    #[inline(always)]
    pub fn gather<'l, L: Lane>(&self, lane: &'l L) -> Gather<'l, L, T, S> {
        let (rings, turn) = (*self, 0);
        Gather { lane, rings, turn }
    }
}

#[stm_machine::inlined]
impl<L: Lane, T: Element, S: Space> Gather<'_, L, T, S> {
    /// Takes the next value of producer `ring`, if it has come.
    pub fn try_take_from(&mut self, ring: u32) -> Option<T> {
        let ring = self.rings.get(ring)?;
        // This thread alone stores the number, so it finds what it stored last.
        let next = ring.taken(self.lane, 0);
        ring.try_take(self.lane, 0, next)
    }

    /// Waits for the next value of producer `ring` and takes it.
    ///
    /// # Errors
    /// [`Stopped`], also at once if there is no such ring.
    pub fn take_from(&mut self, ring: u32) -> Result<T, Stopped> {
        let ring = self.rings.get(ring).ok_or(Stopped)?;
        let next = ring.taken(self.lane, 0);
        let mut value = None;
        until_after(self.lane, self.rings.stop(), S::POLLS, || {
            value = ring.try_take(self.lane, 0, next);
            value.is_some()
        });
        value.ok_or(Stopped)
    }

    /// Takes a value that has come, of any producer, with the number of the ring. It asks each
    /// ring once, from the one behind the last that had a value on, so that none is
    /// passed over twice for another.
    pub fn try_take_any(&mut self) -> Option<(u32, T)> {
        let mut asked = 0;
        while asked < self.rings.len() {
            let ring = self.turn;
            self.turn += 1;
            if self.turn >= self.rings.len() {
                self.turn = 0;
            }
            if let Some(value) = self.try_take_from(ring) {
                return Some((ring, value));
            }
            asked += 1;
        }
        None
    }

    /// Waits for a value of any producer and takes it.
    pub fn take_any(&mut self) -> Result<(u32, T), Stopped> {
        let (lane, stop) = (self.lane, self.rings.stop());
        let mut found = None;
        until_after(lane, stop, S::POLLS, || {
            found = self.try_take_any();
            found.is_some()
        });
        found.ok_or(Stopped)
    }
}
