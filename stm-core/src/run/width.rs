//! The width of a warp: how many of its lanes may make an attempt in a round.
//!
//! It halves after a round in which more than five in eight of them aborted, and doubles after one in which
//! nearly none did. At a width of one lane that still aborts, the warp backs off; then the gate helps
//! ([`super::gate`]). A lane that fails while others commit leaves rounds to them ([`Width::sits`]).

use stm_machine::Lane;

/// The number of conflicts in a row at width 1 after which pauses stop growing.
const PAUSE_DOUBLINGS_MAX: u32 = 6;
const PAUSE_NS: u32 = 256;

/// The conflicts in a row after which a lane leaves every other round; fewer would stop unlucky lanes.
const SITS_AFTER: u32 = 16;

/// The number of lanes of the warp that make an attempt at a time, the same in all of its lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    now: u32,
    max: u32,
    /// The lane whose turn is first.
    turn: u32,
    /// The number of rounds in a row in which one lane made an attempt and aborted.
    pub(crate) alone: u32,
}

#[stm_core_macros::inlined]
impl Width {
    pub(crate) fn new(max: u32) -> Self {
        Self {
            now: max,
            max,
            turn: 0,
            alone: 0,
        }
    }

    /// Returns whether the calling lane is among those of `working` that have their turn.
    pub(crate) fn takes<L: Lane>(&self, lane: &L, working: u32) -> bool {
        // This is the mask as seen from the lane whose turn is first.
        let place = lane.lane_index().wrapping_sub(self.turn) % 32;
        let before = working.rotate_right(self.turn) & !(u32::MAX << place);
        before.count_ones() < self.now
    }

    /// Returns whether the calling lane, after so many conflicts in a row, leaves this round to the others.
    ///
    /// Lanes that want each other's words, in opposite orders, fail together in every round, as all swaps of
    /// a warp are made at the same time, and the width does not shrink. Two lanes differ in this in half of
    /// any 32 rounds in a row, and of three or more some sit while others go; so one commits.
    pub(crate) const fn sits(&self, lane_index: u32, conflicts: u32, round: u32) -> bool {
        // Where the width has shrunk, the lanes have their turns anyway.
        let odd = (lane_index & round).count_ones() & 1 != 0;
        self.now == self.max && conflicts >= SITS_AFTER && odd
    }

    /// Adapts the width to a round in which `failed` of `tried` lanes aborted; else backs off.
    pub(crate) fn learn<L: Lane>(&mut self, lane: &L, tried: u32, failed: u32) {
        // The lanes that had their turn come last in the next round.
        self.turn = (self.turn + self.now) % 32;
        if 8 * failed > 5 * tried {
            if tried == 1 {
                let spread = (lane.grid_thread() as u32 / lane.warp_width())
                    .wrapping_mul(0x9E37_79B1)
                    .rotate_left(self.alone)
                    % PAUSE_NS;
                lane.pause((PAUSE_NS / 2 + spread) << self.alone.min(PAUSE_DOUBLINGS_MAX));
                self.alone += 1;
            }
            self.now = (tried / 2).max(1);
        } else if 8 * failed <= tried {
            self.alone = 0;
            self.now = (2 * self.now).min(self.max);
        }
    }
}

#[cfg(all(test, feature = "host"))]
mod tests {
    use super::*;

    #[test]
    fn two_lanes_that_keep_failing_make_attempts_without_each_other() {
        let width = Width::new(32);
        let sits = |lane, round| width.sits(lane, SITS_AFTER, round);
        for first in 0..100 {
            for (a, b) in (0..32).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let rounds = first..first + 32;
                let apart = rounds.filter(|&r| sits(a, r) != sits(b, r)).count();
                assert_eq!(apart, 16, "lanes {a} and {b} from round {first} on");
            }
        }
        assert!((0..32).all(|r| !width.sits(31, SITS_AFTER - 1, r)));
    }
}
