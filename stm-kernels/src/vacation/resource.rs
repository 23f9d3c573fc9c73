//! A record of a table in one word: its free places, its reserved ones, and its price.
//!
//! | bits | meaning |
//! | --- | --- |
//! | 12..0 | free places |
//! | 25..13 | reserved places |
//! | 28..26 | the price, as the number of a [`Price`] |

const COUNT_BITS: u32 = 13;

const COUNT: u32 = (1 << COUNT_BITS) - 1;

/// The most places of a record. A note has six bits for the hundreds of places that a removed flight had.
pub const PLACES_MAX: u32 = 6_300;

/// The number of places that an update adds or takes away.
pub const PLACES_AN_UPDATE: u32 = 100;

/// A price: one of five, from 50 to 90.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Price(u32);

#[stm_core::inlined]
impl Price {
    pub const DIFFERENT: u32 = 5;

    /// Returns the price with this number; the prices are numbered from the cheapest, 0.
    pub const fn numbered(number: u32) -> Self {
        Self(number)
    }

    pub const fn number(self) -> u32 {
        self.0
    }

    pub const fn amount(self) -> u32 {
        50 + 10 * self.0
    }

    pub const fn of_amount(amount: u32) -> Option<Self> {
        let number = amount.wrapping_sub(50) / 10;
        if number < Self::DIFFERENT && Self(number).amount() == amount {
            Some(Self(number))
        } else {
            None
        }
    }
}

/// The places of a car, a flight or a room, and their price.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resource(u32);

#[stm_core::inlined]
impl Resource {
    /// Makes a record of places that are all free; they are [`PLACES_MAX`] at most.
    pub const fn new(places: u32, price: Price) -> Self {
        Self(places | price.0 << (2 * COUNT_BITS))
    }

    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub const fn bits(self) -> u32 {
        self.0
    }

    pub const fn free(self) -> u32 {
        self.0 & COUNT
    }

    pub const fn used(self) -> u32 {
        self.0 >> COUNT_BITS & COUNT
    }

    pub const fn total(self) -> u32 {
        self.free() + self.used()
    }

    pub const fn price(self) -> Price {
        Price(self.0 >> (2 * COUNT_BITS))
    }

    /// Returns the record with one more place reserved, if one is free.
    pub const fn reserve(self) -> Option<Self> {
        if self.free() == 0 {
            return None;
        }
        Some(Self(self.0 - 1 + (1 << COUNT_BITS)))
    }

    /// Returns the record with one place less reserved, if one is.
    pub const fn cancel(self) -> Option<Self> {
        if self.used() == 0 {
            return None;
        }
        Some(Self(self.0 + 1 - (1 << COUNT_BITS)))
    }

    /// Returns the record with [`PLACES_AN_UPDATE`] more places and a new price, if
    /// that is not more than [`PLACES_MAX`].
    pub const fn extend(self, price: Price) -> Option<Self> {
        if self.total() + PLACES_AN_UPDATE > PLACES_MAX {
            return None;
        }
        let used = Self(self.used() << COUNT_BITS);
        let free = Self::new(self.free() + PLACES_AN_UPDATE, price);
        Some(Self(free.0 | used.0))
    }

    /// Returns the record with so many places less, if so many are free.
    pub const fn reduce(self, places: u32) -> Option<Self> {
        if self.free() < places {
            return None;
        }
        Some(Self(self.0 - places))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_neither_made_nor_lost_by_reservations() {
        let price = Price::numbered(3);
        let mut record = Resource::new(2, price);
        assert_eq!(record.cancel(), None);
        for used in 1..=2 {
            record = record.reserve().unwrap();
            assert_eq!((record.free(), record.used()), (2 - used, used));
        }
        assert_eq!(record.reserve(), None);
        assert_eq!(record.cancel().unwrap().free(), 1);
        assert_eq!(
            (record.total(), record.price().amount()),
            (2, price.amount())
        );
    }

    #[test]
    fn updates_stop_at_the_most_places_and_at_the_free_ones() {
        let mut record = Resource::new(100, Price::numbered(0)).reserve().unwrap();
        assert_eq!(record.reduce(100), None);
        assert_eq!(record.reduce(99).unwrap().total(), 1);
        for hundreds in 2..=PLACES_MAX / 100 {
            record = record.extend(Price::numbered(4)).unwrap();
            assert_eq!(record.total(), hundreds * 100);
            assert_eq!((record.used(), record.price().amount()), (1, 90));
        }
        assert_eq!(record.extend(Price::numbered(0)), None);
        assert_eq!(Resource::from_bits(record.bits()), record);
    }

    #[test]
    fn only_the_five_prices_are_prices() {
        let found: std::vec::Vec<u32> = (0..200)
            .filter(|&amount| Price::of_amount(amount).is_some())
            .collect();
        assert_eq!(found, [50, 60, 70, 80, 90]);
    }
}
