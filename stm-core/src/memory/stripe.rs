//! Stripes: the map from an address to the version lock that manages it.

/// The number of a stripe's entry in the lock table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
#[repr(transparent)]
pub struct Stripe(pub u32);

/// The stripe hash: it drops the bits inside a stripe and keeps the low bits of the rest, as the paper does
/// (section 3.1). Neighbouring stripes get neighbouring locks, so a coalesced access has coalesced locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct StripeMap {
    mask: u32,
    shift: u32,
}

impl StripeMap {
    /// The binary logarithm of the largest number of locks in a table: the lock
    /// log packs a stripe and two bits into 32.
    pub const LOCKS_LOG2_MAX: u32 = 30;

    /// Makes the map for 2^`locks_log2` locks and stripes of 2^`stripe_log2` bytes.
    pub const fn new(locks_log2: u32, stripe_log2: u32) -> Self {
        assert!(
            locks_log2 <= Self::LOCKS_LOG2_MAX,
            "more locks than the lock log can name"
        );
        Self {
            mask: ((1u64 << locks_log2) - 1) as u32,
            shift: stripe_log2,
        }
    }

    /// Returns the stripe of the byte at `address`.
    #[inline(always)]
    pub const fn stripe(self, address: u64) -> Stripe {
        Stripe((address >> self.shift) as u32 & self.mask)
    }

    /// Returns the number of locks in the table.
    pub const fn locks(self) -> u64 {
        self.mask as u64 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stripe_is_in_the_table_and_constant_over_its_bytes(
            locks in 0u32..=30, stripe in 2u32..=12, address in any::<u64>()
        ) {
            let map = StripeMap::new(locks, stripe);
            let s = map.stripe(address);
            prop_assert!(u64::from(s.0) < map.locks());
            let first = address & !((1 << stripe) - 1);
            prop_assert_eq!(map.stripe(first), s);
            prop_assert_eq!(map.stripe(first + (1 << stripe) - 1), s);
        }

        #[test]
        fn neighbouring_stripes_have_neighbouring_locks(
            locks in 1u32..=30, stripe in 2u32..=12, address in 0u64..1 << 48
        ) {
            let map = StripeMap::new(locks, stripe);
            let next = map.stripe(address + (1 << stripe));
            prop_assert_eq!(u64::from(next.0), (u64::from(map.stripe(address).0) + 1) % map.locks());
        }
    }
}
