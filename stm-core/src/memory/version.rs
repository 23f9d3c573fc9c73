//! Versions, and the words that hold a version and a lock bit.

/// A reading of the global clock, from which each version is drawn. Under `fast`
/// the lanes of a warp that commit together share one tick, and a commit that then
/// aborts has used one as well.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct Version(pub u64);

/// One entry of the global lock table.
///
/// | bits | meaning |
/// | --- | --- |
/// | 63..1 | version: the clock at the last commit that wrote the stripe; under `fast-table`, the owner's number while it is locked |
/// | 0 | 1 while a committing transaction owns the stripe |
///
/// 63 bits of version last 290 years at 10^9 commits a second; the 31 bits of
/// the paper's words last two seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(crate) struct LockWord(pub u64);

impl LockWord {
    /// The bit that is set in a locked word.
    pub(crate) const LOCKED: u64 = 1;

    /// Makes an unlocked word.
    #[inline(always)]
    pub(crate) const fn unlocked(version: Version) -> Self {
        Self(version.0 << 1)
    }

    /// Returns whether a committing transaction owns the stripe.
    #[inline(always)]
    pub(crate) const fn is_locked(self) -> bool {
        self.0 & Self::LOCKED != 0
    }

    /// Returns the version. The paper's algorithms keep it in a locked word;
    /// `fast-table` does not.
    #[inline(always)]
    pub(crate) const fn version(self) -> Version {
        Version(self.0 >> 1)
    }
}

/// The first word of a versioned cell, and for a 32-bit element the only one.
///
/// | bits | meaning |
/// | --- | --- |
/// | 63..33 | version: the clock at the last commit that wrote the cell; while it is locked, bits of the owner's number, or still the version if it was locked blindly |
/// | 32 | 1 while a committing transaction owns the cell |
/// | 31..0 | the value of a 32-bit element; 0 for a 64-bit one, whose value is in the next word |
///
/// 31 bits of version last for 2^31 commits of warps, as the clock advances
/// once for all lanes of a warp that commit together. An H200 under full load
/// uses them up in some 13 seconds of kernel time. A later commit is a fault
/// ([`Abort::VersionsUsedUp`](crate::Abort::VersionsUsedUp)); versions never
/// wrap around.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(crate) struct CellWord(pub u64);

impl CellWord {
    /// The bit that is set in a locked word.
    pub(crate) const LOCKED: u64 = 1 << 32;

    /// The last version that fits.
    pub(crate) const VERSION_MAX: Version = Version((1 << 31) - 1);

    /// Makes an unlocked word.
    #[inline(always)]
    pub(crate) const fn unlocked(version: Version, value: u32) -> Self {
        Self(version.0 << 33 | value as u64)
    }

    /// Makes a word that is locked by the thread `owner`, of whose number 31
    /// bits replace the version. The value is still the old one.
    #[inline(always)]
    pub(crate) const fn locked(owner: u32, value: u32) -> Self {
        Self((owner as u64) << 33 | Self::LOCKED | value as u64)
    }

    /// Returns whether a committing transaction owns the cell.
    #[inline(always)]
    pub(crate) const fn is_locked(self) -> bool {
        self.0 & Self::LOCKED != 0
    }

    /// Returns the version of an unlocked word.
    #[inline(always)]
    pub(crate) const fn version(self) -> Version {
        Version(self.0 >> 33)
    }

    /// Returns the value of a 32-bit element.
    #[inline(always)]
    pub(crate) const fn value(self) -> u32 {
        self.0 as u32
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

    #[test]
    fn a_cell_keeps_version_lock_bit_and_value_apart() {
        for v in [0, 1, 5, CellWord::VERSION_MAX.0] {
            for value in [0, 1, u32::MAX] {
                let free = CellWord::unlocked(Version(v), value);
                assert!(!free.is_locked());
                assert_eq!((free.version(), free.value()), (Version(v), value));
                let held = CellWord::locked(v as u32, value);
                assert!(held.is_locked());
                assert_eq!(held.value(), value);
            }
        }
    }
}
