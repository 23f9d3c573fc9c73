//! The shared memory of blocks: words of 32 bits, two of which make one of 64.

use super::error::SimError;
use super::machine::{Act, Machine, Over};

impl Machine {
    /// Finds word `i` of the shared memory of a block, for an access of 32 bits or of 64 by
    /// a lane, and checks its use.
    pub(super) fn shared_word<const WIDE: bool>(
        &mut self,
        lane: u32,
        block: u32,
        i: u32,
    ) -> Result<usize, Over> {
        let words = self.shared_words;
        let last = i.saturating_add(u32::from(WIDE));
        let Act { op, at } = self.lanes[lane as usize].next;
        if last >= words || WIDE && !i.is_multiple_of(2) {
            let lane = self.id(lane);
            return self.fail(SimError::SharedOutOfBounds {
                lane,
                op,
                index: i,
                words,
            });
        }
        let place = (block * words + i) as usize;
        let width = if WIDE { 64 } else { 32 };
        for used in place..=place + usize::from(WIDE) {
            let other = std::mem::replace(&mut self.shared_widths[used], width);
            if other != 0 && other != width {
                let access = self.access(Act { op, at });
                let lane = self.id(lane);
                return self.fail(SimError::MixedWidth {
                    lane,
                    access,
                    other: other.into(),
                });
            }
        }
        Ok(place)
    }

    /// Returns a word of shared memory.
    pub(super) fn shared_value<const WIDE: bool>(&self, at: usize) -> u64 {
        let low = u64::from(self.shared[at]);
        if WIDE {
            u64::from(self.shared[at + 1]) << 32 | low
        } else {
            low
        }
    }

    /// Sets a word of shared memory.
    pub(super) fn set_shared<const WIDE: bool>(&mut self, at: usize, value: u64) {
        if self.shared_value::<WIDE>(at) == value {
            return;
        }
        self.shared[at] = value as u32;
        if WIDE {
            self.shared[at + 1] = (value >> 32) as u32;
        }
        self.changed();
    }

    /// Returns the number of the history of a word of shared memory, which it makes
    /// if there is none.
    pub(super) fn shared_history<const WIDE: bool>(&mut self, at: usize) -> u32 {
        if self.shared_histories[at] == 0 {
            let value = self.shared_value::<WIDE>(at);
            self.shared_histories[at] = self.views.new_history(value.into());
        }
        self.shared_histories[at]
    }
}
