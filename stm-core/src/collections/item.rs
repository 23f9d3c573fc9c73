//! The nodes of the containers, as records: a key, some links, a value.
//!
//! [`record!`](crate::record) makes structs whose types are known, and the containers are generic over
//! theirs. So this file implements [`Record`] for all of them at once, with fields of 64 bits first:
//!
//! | field | place |
//! | --- | --- |
//! | `key` | first among the fields of its width |
//! | `links` | the next ones of 32 bits |
//! | `value` | last among the fields of its width |

use crate::algorithm::prelude::*;
use crate::array::record::{Field, Fields, Record};
use crate::hint::Sealed;

/// A type of keys: `u32` or `u64`. A map finds a key's bucket by the upper bits of the hash.
///
/// ```
/// use stm_core::collections::Key;
///
/// assert_eq!((<u32 as Key>::BITS, <u64 as Key>::BITS), (32, 64));
/// // The hash spreads neighbours, and depends on the upper half too.
/// assert_ne!(Key::hash(1u64), Key::hash(1u64 << 32 | 1));
/// ```
pub trait Key: Element + Ord + core::fmt::Debug {
    /// The number of bits of a key.
    const BITS: u32;

    /// Returns 32 bits that depend on all bits of the key.
    fn hash(self) -> u32;
}

/// Mixes 32 bits: the finisher of `MurmurHash3`.
#[inline(always)]
const fn mix(mut bits: u32) -> u32 {
    bits ^= bits >> 16;
    bits = bits.wrapping_mul(0x85EB_CA6B);
    bits ^= bits >> 13;
    bits = bits.wrapping_mul(0xC2B2_AE35);
    bits ^ bits >> 16
}

impl Key for u32 {
    const BITS: u32 = 32;

    #[inline(always)]
    fn hash(self) -> u32 {
        mix(self)
    }
}

impl Key for u64 {
    const BITS: u32 = 64;

    #[inline(always)]
    fn hash(self) -> u32 {
        mix(mix(self as u32) ^ (self >> 32) as u32)
    }
}

/// A node of a container, as the host sees it: a key, `LINKS` links to other nodes, and a value.
///
/// ```
/// use stm_core::collections::Item;
///
/// let item = Item { key: 7u32, links: [0], value: 1.5f64 };
/// assert_eq!((item.key, item.value), (7, 1.5));
/// // The names of its fields, for reads and writes of one of them.
/// let _ = (Item::<u32, f64, 1>::key(), Item::<u32, f64, 1>::link::<0>(), Item::<u32, f64, 1>::value());
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Item<K, V, const LINKS: usize> {
    /// The key.
    pub key: K,
    /// The links, 0 for none.
    pub links: [u32; LINKS],
    /// The value.
    pub value: V,
}

#[stm_core_macros::inlined]
impl<K: Element, V: Element, const LINKS: usize> Item<K, V, LINKS> {
    /// Names the key.
    pub const fn key() -> Field<Self, K> {
        Field::at(0)
    }

    /// Names link `AT`, or does not compile if there is none.
    ///
    /// ```
    /// # use stm_core::collections::Item;
    /// let second = Item::<u32, u64, 2>::link::<1>();
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use stm_core::collections::Item;
    /// let third = Item::<u32, u64, 2>::link::<2>();
    /// ```
    pub const fn link<const AT: u32>() -> Field<Self, u32> {
        const { assert!((AT as usize) < LINKS, "an item has fewer links") }
        Self::link_at(AT)
    }

    /// Names link `k`, which must be below `LINKS`: for those that are computed.
    pub(crate) const fn link_at(k: u32) -> Field<Self, u32> {
        Field::at(!K::WIDE as u32 + k)
    }

    /// Names the value.
    pub const fn value() -> Field<Self, V> {
        Field::at(if V::WIDE {
            K::WIDE as u32
        } else {
            !K::WIDE as u32 + LINKS as u32
        })
    }
}

/// The fields of an [`Item`] that are as wide as `T`, `u64` or `u32`; what the others hold has no meaning.
#[derive(Clone, Copy, Debug)]
pub struct Half<K, V, const LINKS: usize, T>(Item<K, V, LINKS>, PhantomData<T>);

impl<K: Element, V: Element, const LINKS: usize, T: Element> Half<K, V, LINKS, T> {
    const KEYS: usize = (K::WIDE == T::WIDE) as usize;
    const LINKED: usize = if T::WIDE { 0 } else { LINKS };
    const VALUES: usize = (V::WIDE == T::WIDE) as usize;

    /// Writes `N` words, which are all of this width.
    #[inline(always)]
    fn write_all<L: Lane, A: Algorithm, const N: usize>(
        &self,
        tx: &mut Tx<'_, L, A>,
        word: impl Fn(u64) -> WordAddress,
        captured: bool,
    ) -> TxResult<()> {
        let words = core::array::from_fn(|k| word(k as u64));
        let bits = core::array::from_fn(|k| self.get(k));
        tx.put_words::<T, N>(words, bits, N as u32, captured)
    }
}

impl<K: Element, V: Element, const LINKS: usize, T: Element> Sealed for Half<K, V, LINKS, T> {}
#[stm_core_macros::inlined]
impl<K: Element, V: Element, const LINKS: usize, T: Element> Fields for Half<K, V, LINKS, T> {
    const COUNT: u64 = (Self::KEYS + Self::LINKED + Self::VALUES) as u64;

    fn from_fn(mut field: impl FnMut(usize) -> u64) -> Self {
        let mut some = |is_there, k| if is_there { field(k) } else { 0 };
        let item = Item {
            key: K::from_bits64(some(Self::KEYS == 1, 0)),
            links: core::array::from_fn(|k| some(!T::WIDE, Self::KEYS + k) as u32),
            value: V::from_bits64(some(Self::VALUES == 1, Self::KEYS + Self::LINKED)),
        };
        Self(item, PhantomData)
    }

    fn get(&self, k: usize) -> u64 {
        if k < Self::KEYS {
            self.0.key.to_bits64()
        } else if k < Self::KEYS + Self::LINKED {
            let link = <[u32]>::get(&self.0.links, k - Self::KEYS);
            link.map_or(0, |&link| u64::from(link))
        } else {
            self.0.value.to_bits64()
        }
    }

    unsafe fn read<L: Lane, A: Algorithm>(
        tx: &mut Tx<'_, L, A>,
        word: impl Fn(u64) -> WordAddress,
    ) -> TxResult<Self> {
        // The containers read the fields that they need.
        let mut end = Ok(());
        let half = Self::from_fn(|k| {
            if end.is_err() {
                return 0;
            }
            let read = tx.read_words::<T, 1>([word(k as u64)]);
            if let Err(abort) = read {
                end = Err(abort);
            }
            read.map_or(0, |[v]| v.to_bits64())
        });
        end.map(|()| half)
    }

    unsafe fn write<L: Lane, A: Algorithm>(
        self,
        tx: &mut Tx<'_, L, A>,
        word: impl Fn(u64) -> WordAddress,
        captured: bool,
    ) -> TxResult<()> {
        match Self::COUNT {
            0 => Ok(()),
            1 => self.write_all::<L, A, 1>(tx, word, captured),
            2 => self.write_all::<L, A, 2>(tx, word, captured),
            3 => self.write_all::<L, A, 3>(tx, word, captured),
            _ => {
                let mut end = Ok(());
                for k in 0..Self::COUNT {
                    if end.is_ok() {
                        let (words, bits) = ([word(k)], [self.get(k as usize)]);
                        end = tx.put_words::<T, 1>(words, bits, 1, captured);
                    }
                }
                end
            }
        }
    }
}

const LINKS_MAX: usize = 16;

impl<K: Element, V: Element, const LINKS: usize> Item<K, V, LINKS> {
    /// The names of the fields and whether each has 64 bits; what is behind them does not count.
    const NAMES: [(&'static str, bool); LINKS_MAX + 2] = {
        let links = [
            "key", "link 0", "link 1", "link 2", "link 3", "link 4", "link 5", "link 6", "link 7",
            "link 8", "link 9", "link 10", "link 11", "link 12", "link 13", "link 14", "link 15",
        ];
        let mut names = [("key", K::WIDE); LINKS_MAX + 2];
        let mut i = 1;
        while i <= LINKS {
            names[i] = (links[i], false);
            i += 1;
        }
        names[1 + LINKS] = ("value", V::WIDE);
        names
    };
}

// SAFETY: the key, the links and the value are named and counted, each at its width.
#[stm_core_macros::inlined]
unsafe impl<K: Element, V: Element, const LINKS: usize> Record for Item<K, V, LINKS> {
    const FIELDS: &'static [(&'static str, bool)] = Self::NAMES.split_at(LINKS + 2).0;
    type Wide = Half<K, V, LINKS, u64>;
    type Narrow = Half<K, V, LINKS, u32>;

    fn split(self) -> (Self::Wide, Self::Narrow) {
        (Half(self, PhantomData), Half(self, PhantomData))
    }

    fn join(Half(wide, _): Self::Wide, Half(narrow, _): Self::Narrow) -> Self {
        Self {
            key: if K::WIDE { wide.key } else { narrow.key },
            links: narrow.links,
            value: if V::WIDE { wide.value } else { narrow.value },
        }
    }
}
