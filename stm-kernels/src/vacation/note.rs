//! What a transaction did, in one word of 64 bits, from which the host accounts for all places and
//! reservations. Which table below is meant follows from its task; zeros say that nothing was changed.
//!
//! | bits, of a reservation | meaning |
//! | --- | --- |
//! | `8t + 3`..`8t` | one more than the number of the query whose record was reserved in table `t`; 0 for none |
//! | `8t + 6`..`8t + 4` | the number of the price |
//! | 24 | the customer was added |
//!
//! | bits, of a deletion | meaning |
//! | --- | --- |
//! | 31..0 | the sum of the prices |
//! | 62..32 | the sum of the reservations' digests |
//! | 63 | the customer was there |
//!
//! | bits, of an update | meaning |
//! | --- | --- |
//! | `6k + 5`..`6k` | the hundreds of places that update `k` added or took away; 0 if it was refused |

use super::plan::{QUERIES_MAX, TABLES};
use super::resource::{PLACES_AN_UPDATE, PLACES_MAX, Price};
use crate::draw::mix;

const TABLE_BITS: u32 = 8;
const QUERY_BITS: u32 = 4;
/// The bit of a customer who was added.
const ADDED: u32 = TABLES * TABLE_BITS;
/// The bit of a customer who was there.
const DELETED: u32 = 63;
const DIGEST: u32 = u32::MAX >> 1;
const UPDATE_BITS: u32 = 6;

const _: () = {
    assert!(QUERIES_MAX < 1 << QUERY_BITS, "a query has a number");
    assert!(QUERIES_MAX * UPDATE_BITS <= 60, "all updates have room");
    assert!(
        PLACES_MAX / PLACES_AN_UPDATE < 1 << UPDATE_BITS,
        "a flight has as many hundreds of places as are noted"
    );
};

/// Returns 31 bits of a reservation, whose sums modulo 2^31 tell collections apart.
#[inline(always)]
pub const fn reservation_digest(key: u32, amount: u32) -> u32 {
    mix(key ^ mix(amount)) & DIGEST
}

#[inline(always)]
const fn field(word: u64, at: u32, bits: u32) -> u32 {
    (word >> at) as u32 & ((1 << bits) - 1)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Note(u64);

#[stm_core::inlined]
impl Note {
    pub const NOTHING: Self = Self(0);

    /// The transaction found a reservation of no record, or of one without reserved places, which must not
    /// happen. No other note is the same: others have no upper bits, or an even sum of prices.
    pub const DISAGREEMENT: Self = Self(u64::MAX);

    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Adds the reservation of the record of query `query`.
    #[must_use]
    pub const fn with_reservation(self, table: u32, query: u32, price: Price) -> Self {
        let bits = (query + 1) as u64 | (price.number() as u64) << QUERY_BITS;
        Self(self.0 | bits << (table * TABLE_BITS))
    }

    /// Returns the query whose record of a table was reserved, and the price.
    pub const fn reservation(self, table: u32) -> Option<(u32, Price)> {
        let at = table * TABLE_BITS;
        let query = field(self.0, at, QUERY_BITS);
        let price = field(self.0, at + QUERY_BITS, TABLE_BITS - QUERY_BITS);
        if query == 0 {
            return None;
        }
        Some((query - 1, Price::numbered(price)))
    }

    #[must_use]
    pub const fn with_customer(self, added: bool) -> Self {
        Self(self.0 | (added as u64) << ADDED)
    }

    pub const fn customer_added(self) -> bool {
        self.0 >> ADDED & 1 != 0
    }

    /// Makes the note of a deletion that found its customer.
    pub const fn deletion(bill: u32, digest: u32) -> Self {
        Self(1 << DELETED | ((digest & DIGEST) as u64) << 32 | bill as u64)
    }

    /// Returns the sums of the prices and of the digests, if the customer was there.
    pub const fn deleted(self) -> Option<(u32, u32)> {
        if self.0 >> DELETED == 0 {
            return None;
        }
        Some((self.0 as u32, (self.0 >> 32) as u32 & DIGEST))
    }

    /// Adds the places by which update `k` changed its record, a number of hundreds.
    #[must_use]
    pub const fn with_update(self, k: u32, places: u32) -> Self {
        let hundreds = (places / PLACES_AN_UPDATE) as u64;
        Self(self.0 | hundreds << (k * UPDATE_BITS))
    }

    /// Returns the places by which update `k` changed its record, 0 if it was refused.
    pub const fn updated(self, k: u32) -> u32 {
        field(self.0, k * UPDATE_BITS, UPDATE_BITS) * PLACES_AN_UPDATE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_give_back_what_was_put_into_them() {
        let mut note = Note::NOTHING;
        for table in 0..TABLES {
            assert_eq!(note.reservation(table), None);
            note = note.with_reservation(table, 9 - table, Price::numbered(4 - table));
        }
        assert!(!note.customer_added() && note.with_customer(true).customer_added());
        for table in 0..TABLES {
            let price = Price::numbered(4 - table);
            assert_eq!(note.reservation(table), Some((9 - table, price)));
        }
        let mut note = Note::NOTHING;
        for k in 0..QUERIES_MAX {
            note = note.with_update(k, PLACES_MAX - 100 * k);
        }
        for k in 0..QUERIES_MAX {
            assert_eq!(note.updated(k), PLACES_MAX - 100 * k);
        }
        assert_eq!(Note::NOTHING.deleted(), None);
        assert_eq!(Note::deletion(0, 0).deleted(), Some((0, 0)));
        let digest = reservation_digest(5, 60);
        let note = Note::from_bits(Note::deletion(160, digest).bits());
        assert_eq!(note.deleted(), Some((160, digest)));
    }

    #[test]
    fn digests_tell_reservations_apart() {
        let all = (1..200).flat_map(|key| [50, 60].map(|amount| reservation_digest(key, amount)));
        let mut all: std::vec::Vec<u32> = all.collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
