//! What the gate ([`super::gate`]) answers a place that asks for an attempt.

#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) alone: bool,
    /// The lane of the warp that makes it.
    pub(crate) lane: u32,
}

/// What a place may do, in 32 bits, as lanes tell it each other: nanoseconds to wait before it
/// asks again, [`Self::TOGETHER`], or an attempt in its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Admission(pub(super) u32);

#[stm_core_macros::inlined]
impl Admission {
    /// The place is present.
    pub(crate) const TOGETHER: Self = Self(1 << 30);
    pub(super) const TURN: u32 = 1 << 31;
    pub(super) const ALONE: u32 = 1 << 29;
    const LANE: u32 = 0xFF;

    /// The place is present, but has been admitted just now, or has looked at the clock: it
    /// makes its attempt with a new snapshot.
    pub(crate) const FRESH: Self = Self(0);
    /// The place's turn has begun just now: it asks again with a new snapshot.
    pub(super) const AGAIN: Self = Self(1);

    pub(super) const fn of_lane(self, lane: u32) -> Self {
        Self(self.0 | lane)
    }

    /// Returns the nanoseconds to wait before the place asks again, if it may not make an
    /// attempt now.
    pub(crate) fn wait_ns(self) -> Option<u32> {
        (self.0 < Self::TOGETHER.0).then_some(self.0)
    }

    /// Returns the attempt, if the place is at the head.
    pub(crate) fn turn(self) -> Option<Turn> {
        (self.0 & Self::TURN != 0).then_some(Turn {
            alone: self.0 & Self::ALONE != 0,
            lane: self.0 & Self::LANE,
        })
    }
}
