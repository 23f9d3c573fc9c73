//! Links and digits. The top of [`super`] has the bits of a link.

const DIGIT_BITS: u32 = 4;
pub(super) const WAYS: usize = 1 << DIGIT_BITS;

/// A link to a leaf, to a branch, or to nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link(pub(crate) u32);

/// The bits of a link that name a node.
const INDEX_BITS: u32 = 27;

#[stm_core_macros::inlined]
impl Link {
    pub(crate) const NONE: Self = Self(0);
    /// The largest number of leaves, and of branches.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub(crate) const NODES_MAX: u64 = (1 << INDEX_BITS) - 1;

    pub(crate) const fn leaf(index: u32) -> Self {
        Self(index + 1)
    }

    /// Makes a link to a branch for the digit that begins at bit `shift`.
    pub(crate) const fn branch(index: u32, shift: u32) -> Self {
        Self((shift / DIGIT_BITS + 1) << INDEX_BITS | (index + 1))
    }

    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn is_branch(self) -> bool {
        self.0 >> INDEX_BITS != 0
    }

    pub(crate) const fn index(self) -> u32 {
        (self.0 & ((1 << INDEX_BITS) - 1)).wrapping_sub(1)
    }

    /// Returns the lowest bit of the branch's digit.
    pub(crate) const fn shift(self) -> u32 {
        (self.0 >> INDEX_BITS).wrapping_sub(1) * DIGIT_BITS
    }
}

/// Returns the digit of a key that begins at bit `shift`.
#[inline(always)]
pub(crate) const fn digit(key: u64, shift: u32) -> u32 {
    (key >> (shift & 63)) as u32 & (WAYS as u32 - 1)
}

/// Returns the bits of a key above the digit that begins at bit `shift`.
#[inline(always)]
pub(crate) const fn above(key: u64, shift: u32) -> u64 {
    match u64::MAX.checked_shl(shift + DIGIT_BITS) {
        Some(mask) => key & mask,
        None => 0,
    }
}

/// Returns the lowest bit of the highest digit in which two keys differ, given
/// the bits in which they do; there are some.
#[inline(always)]
pub(crate) const fn highest_digit(differing: u64) -> u32 {
    match differing.checked_ilog2() {
        Some(bit) => bit / DIGIT_BITS * DIGIT_BITS,
        None => 0,
    }
}
