//! Versions, and the words that hold a version and a lock bit.

/// A reading of the global clock, from which each version is drawn. Under `fast` the lanes of a
/// warp that commit together share one tick, and a commit that then aborts has used one as well.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[repr(transparent)]
pub struct Version(pub u64);

/// One entry of the global lock table.
///
/// | bits | meaning |
/// | --- | --- |
/// | 63..1 | version: the clock at the last commit that wrote the stripe; under `fast-table`, the owner's number while it is locked |
/// | 0 | 1 while a committing transaction owns the stripe |
///
/// 63 bits of version last 290 years at 10^9 commits a second; the paper's 31 bits last two seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(crate) struct LockWord(pub u64);

#[stm_core_macros::inlined]
impl LockWord {
    pub(crate) const LOCKED: u64 = 1;

    pub(crate) const fn unlocked(version: Version) -> Self {
        Self(version.0 << 1)
    }

    pub(crate) const fn is_locked(self) -> bool {
        self.0 & Self::LOCKED != 0
    }

    /// Returns the version. The paper's algorithms keep it in a locked word; `fast-table` does not.
    pub(crate) const fn version(self) -> Version {
        Version(self.0 >> 1)
    }
}

/// The first word of a versioned cell, and for a 32-bit element the only one.
///
/// | bits | meaning |
/// | --- | --- |
/// | 63..33 | the low 31 bits of the version: of the clock at the last commit that wrote the cell; while it is locked, bits of the owner's number, or still the version if it was locked blindly |
/// | 32 | 1 while a committing transaction owns the cell |
/// | 31..0 | the value of a 32-bit element; for a 64-bit one, whose value is in the next word, bits 62..31 of the version |
///
/// So the version of a 64-bit element never ends. That of a 32-bit one, *packed* with its value, wraps around
/// after 2^31 ticks of the clock, some 13 seconds of an H200 under full load: packed versions are compared in
/// a circle ([`CellWord::newer_by`]; `ORDERING.md`, "Versions in a circle"). A simulated lane has fewer bits
/// ([`Lane::version_bits`](crate::Lane)), the upper ones of the 31.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(crate) struct CellWord(pub u64);

#[stm_core_macros::inlined]
impl CellWord {
    pub(crate) const LOCKED: u64 = 1 << 32;

    /// Makes an unlocked word of a 32-bit element, with as many bits of the version as the lane's cells have.
    pub(crate) const fn packed(version: Version, bits: u32, value: u32) -> Self {
        Self(version.0 << (64 - bits) | value as u64)
    }

    /// Makes the unlocked version word of a 64-bit element.
    pub(crate) const fn wide(version: Version) -> Self {
        Self(version.0 << 33 | version.0 >> 31 & 0xFFFF_FFFF)
    }

    /// Makes a word that is locked by the thread `owner`, of whose number 31 bits replace the low
    /// bits of the version. The lower half is still the old one.
    pub(crate) const fn locked(owner: u32, value: u32) -> Self {
        Self((owner as u64) << 33 | Self::LOCKED | value as u64)
    }

    pub(crate) const fn is_locked(self) -> bool {
        self.0 & Self::LOCKED != 0
    }

    /// Returns the version of an unlocked word of a 64-bit element.
    pub(crate) const fn wide_version(self) -> Version {
        Version((self.0 & 0xFFFF_FFFF) << 31 | self.0 >> 33)
    }

    /// Returns by how much the version of an unlocked packed word is newer than `than`, in a circle of 2^32
    /// places: a positive result says newer, by less than half of it.
    pub(crate) const fn newer_by(self, than: Version, bits: u32) -> i32 {
        let than = (than.0 << (64 - bits) >> 32) as u32;
        ((self.0 >> 32) as u32).wrapping_sub(than) as i32
    }

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
    fn a_packed_cell_keeps_version_lock_bit_and_value_apart() {
        for v in [0, 1, 5, (1 << 31) - 1] {
            for value in [0, 1, u32::MAX] {
                let free = CellWord::packed(Version(v), 31, value);
                assert!(!free.is_locked());
                assert_eq!(free.newer_by(Version(v), 31), 0);
                assert_eq!(free.value(), value);
                let held = CellWord::locked(v as u32, value);
                assert!(held.is_locked());
                assert_eq!(held.value(), value);
            }
        }
    }

    #[test]
    fn a_wide_cell_keeps_63_bits_of_its_version() {
        for v in [0, 1, 1 << 31, 0x1234_5678_9ABC_DEF0, u64::MAX >> 1] {
            let free = CellWord::wide(Version(v));
            assert!(!free.is_locked());
            assert_eq!(free.wide_version(), Version(v));
            assert!(CellWord::locked(7, free.value()).is_locked());
        }
    }

    #[test]
    fn packed_versions_are_compared_in_a_circle_of_any_width() {
        for bits in [3, 4, 8, 31] {
            let half = 1u64 << (bits - 1);
            for s in [0, 1, half - 1, half, 2 * half - 1, 2 * half, 7 * half + 3] {
                for ahead in [1, 2, half - 1] {
                    let word = CellWord::packed(Version(s + ahead), bits, 9);
                    assert!(word.newer_by(Version(s), bits) > 0, "{bits} {s} {ahead}");
                    assert_eq!(word.value(), 9);
                }
                for behind in [0, 1, half - 1, half] {
                    let word = CellWord::packed(Version((s + 2 * half) - behind), bits, 9);
                    assert!(word.newer_by(Version(s), bits) <= 0, "{bits} {s} {behind}");
                }
            }
        }
    }
}
