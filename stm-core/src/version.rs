//! Versions and the words that lock a stripe.

/// A reading of the global clock: the number of updates committed so far.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct Version(pub u64);

/// One entry of the global lock table.
///
/// | bits | meaning |
/// | --- | --- |
/// | 63..1 | version: the clock at the last commit that wrote the stripe |
/// | 0 | 1 while a committing transaction holds the stripe |
///
/// 63 bits of version last 290 years at 10^9 commits a second; the 31 bits of
/// the paper's words last two seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct LockWord(pub u64);

impl LockWord {
    /// The lock bit.
    pub const LOCKED: u64 = 1;

    /// An unlocked word.
    #[inline(always)]
    pub const fn unlocked(version: Version) -> Self {
        Self(version.0 << 1)
    }

    /// Whether a committing transaction holds the stripe.
    #[inline(always)]
    pub const fn is_locked(self) -> bool {
        self.0 & Self::LOCKED != 0
    }

    /// The version, locked or not.
    #[inline(always)]
    pub const fn version(self) -> Version {
        Version(self.0 >> 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_word_keeps_version_and_lock_bit_apart() {
        for v in [0, 1, 5, u64::MAX >> 1] {
            let free = LockWord::unlocked(Version(v));
            let held = LockWord(free.0 | LockWord::LOCKED);
            assert!(!free.is_locked() && held.is_locked());
            assert_eq!(free.version(), Version(v));
            assert_eq!(held.version(), Version(v));
        }
    }
}
