//! A 64-bit Bloom filter over the addresses in the write set, so that a read
//! searches the set only if the word may be there (section 3.2.2, `TXRead`).

use stm_machine::WordAddress;

/// A filter with one bit for each address added. It may claim a word that was
/// never added; it never misses one that was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub(crate) struct Bloom(u64);

#[stm_core_macros::inlined]
impl Bloom {
    const fn bit(address: WordAddress) -> u64 {
        // Multiplicative hashing (Knuth 6.4): the top bits depend on all of
        // the low word of the address; bits 0 and 1 carry nothing.
        let word = (address.bits() >> 2) as u32;
        1 << (word.wrapping_mul(0x9E37_79B1) >> 26)
    }

    pub(crate) fn insert(&mut self, address: WordAddress) {
        self.0 |= Self::bit(address);
    }

    pub(crate) const fn may_contain(self, address: WordAddress) -> bool {
        self.0 & Self::bit(address) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_misses_an_address_that_was_added(words in prop::collection::vec(0u64..1 << 46, 0..64)) {
            let mut bloom = Bloom::default();
            for w in &words {
                bloom.insert(WordAddress::from_bits(w << 2));
            }
            for w in &words {
                prop_assert!(bloom.may_contain(WordAddress::from_bits(w << 2)));
            }
        }
    }

    #[test]
    fn rejects_most_addresses_that_were_not_added() {
        let mut bloom = Bloom::default();
        for w in 0..8u64 {
            bloom.insert(WordAddress::from_bits((w * 7919) << 2));
        }
        let wrong = (1000..2000u64)
            .filter(|w| bloom.may_contain(WordAddress::from_bits(w << 2)))
            .count();
        assert!(
            wrong < 200,
            "{wrong} false positives of 1000 with 8 of 64 bits set"
        );
    }
}
