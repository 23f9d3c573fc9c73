//! Storage of versions: beside the value ([`Cells`]), in the lock table ([`Table`]), and the first of an
//! attempt ([`Birth`]). Invariant: the version of a word never decreases, except in the circle of packed
//! words; only the owner of a locked version word changes it.

use crate::algorithm::registry::Variant;
use crate::array::cells::TCells;
use crate::hint::{Sealed, brief};
use crate::memory::stripe::StripeMap;
use crate::memory::version::{CellWord, LockWord, Version};
use crate::tx::stm_ref::StmRef;
use stm_machine::{Element, Lane, TArray, View, WordAddress};

/// The place of the versions and locks of transactional words.
#[stm_core_macros::inlined]
pub trait Storage: Sealed + Copy + Send + Sync + 'static {
    /// The algorithm's line in the registry.
    const VARIANT: Variant;
    /// Whether each word has a version word of its own, beside its value: then a changed version proves a
    /// change, and the bit `CellWord::LOCKED` locks it whatever it holds. Values of 32 bits are in their
    /// version word, which wraps around (`algorithm/fast/age.rs`); one of 64 bits follows it, aligned to 16
    /// bytes.
    const CELLS: bool;

    /// The arrays that transactions access.
    type Array<T: Element>: View<T>;

    /// What is needed to find the version word of a word.
    type Map: Copy;

    /// Returns whether the values of a type are in their version words.
    fn packs<T: Element>() -> bool {
        Self::CELLS && !T::WIDE
    }
    /// Returns whether a word's value is in its version word.
    fn is_packed(word: WordAddress) -> bool {
        Self::CELLS && word.bits() & 1 == 0
    }
    /// Returns whether a word's value is in its version word. `apart` says whether the attempt has met a word
    /// of which that is not so: for a kernel of packed words alone no code for others is compiled.
    fn is_packed_of(apart: bool, word: WordAddress) -> bool {
        Self::CELLS && !apart || Self::is_packed(word)
    }
    /// Returns whether a word has its version word in front of it, and the lane accesses both at once.
    fn is_pair<L: Lane>(lane: &L, apart: bool, word: WordAddress) -> bool {
        Self::has_pairs(lane, apart) && !Self::is_packed_of(apart, word)
    }
    /// Returns whether there may be such words.
    fn has_pairs<L: Lane>(lane: &L, apart: bool) -> bool {
        Self::CELLS && lane.has_wide_atomics() && apart
    }
    /// Returns whether a word's version and value take one access.
    fn is_whole<L: Lane>(lane: &L, apart: bool, word: WordAddress) -> bool {
        // The order matters: conditions that the compiler can decide come first.
        Self::CELLS && lane.has_wide_atomics() || Self::is_packed_of(apart, word)
    }
    /// Returns what is needed to find version words.
    fn map<A>(stm: &StmRef<A>) -> Self::Map;
    /// Returns the address of the version word of a word.
    fn version_word(map: Self::Map, word: WordAddress) -> *mut u64;
    /// Returns the address of the value of a word that is not packed.
    fn value(word: WordAddress) -> WordAddress;

    /// Returns the version in an unlocked version word that is not packed. The
    /// result for a locked one has no meaning: it may be the owner's number.
    fn version(word: u64) -> Version;
    /// Returns whether a version word is locked.
    fn is_locked(word: u64) -> bool;

    /// Returns, for the words of elements of type `T` that are not in the mask `skip`, whether one is
    /// locked and, if none is, whether one is newer than a clock.
    fn newest<T: Element, const N: usize>(
        words: [u64; N],
        skip: u32,
        than: Version,
        bits: u32,
    ) -> (bool, bool);
    /// Returns whether `found`, which differs from `seen`, may be locked from `seen` by the thread
    /// `owner`. For a word locked by `CellWord::LOCKED` alone the answer may be wrong.
    fn may_be_locked_by(found: u64, seen: u64, owner: u64) -> bool;
    /// Returns the word with which the thread `owner` locks an unlocked version word.
    fn locked(word: u64, owner: u64) -> u64;
    /// Returns the unlocked word of a packed element; `bits` is how many a packed version has.
    fn packed(version: Version, bits: u32, value: u64) -> u64;
    /// Returns the unlocked version word of an element that is not packed.
    fn unlocked(version: Version) -> u64;
}

/// Keeps each value in a cell with its version (`CellWord`).
#[derive(Clone, Copy, Debug)]
pub struct Cells;

impl Sealed for Cells {}
#[stm_core_macros::inlined]
impl Storage for Cells {
    const VARIANT: Variant = Variant::Fast;
    const CELLS: bool = true;

    type Array<T: Element> = TCells<T>;
    type Map = ();

    brief! {
        fn map<A>(_stm: &StmRef<A>) = ();
        fn version_word((): (), word: WordAddress) -> *mut u64 = word.address() as *mut u64;
        fn value(word: WordAddress) -> WordAddress = WordAddress::from_bits(word.bits() + 8);
        fn version(word: u64) -> Version = CellWord(word).wide_version();
        fn is_locked(word: u64) -> bool = CellWord(word).is_locked();
        fn may_be_locked_by(found: u64, seen: u64, owner: u64) -> bool = found == Self::locked(seen, owner);
        fn locked(word: u64, owner: u64) -> u64 = CellWord::locked(owner as u32, CellWord(word).value()).0;
        fn packed(version: Version, bits: u32, value: u64) -> u64 =
            CellWord::packed(version, bits, value as u32).0;
        fn unlocked(version: Version) -> u64 = CellWord::wide(version).0;
    }
    /// Compares the upper halves of packed words, as 64 bits take two registers on a GPU.
    fn newest<T: Element, const N: usize>(
        words: [u64; N],
        skip: u32,
        than: Version,
        bits: u32,
    ) -> (bool, bool) {
        let (mut any, mut by, mut newest) = (0, 0, Version(0));
        for k in 0..N {
            if skip >> k & 1 == 0 {
                any |= (words[k] >> 32) as u32;
                if T::WIDE {
                    newest = newest.max(Self::version(words[k]));
                } else {
                    by = by.max(CellWord(words[k]).newer_by(than, bits));
                }
            }
        }
        let locked = u64::from(any) << 32 & CellWord::LOCKED != 0;
        (locked, if T::WIDE { newest > than } else { by > 0 })
    }
}

/// Keeps versions in the lock table and values anywhere.
///
/// | word | meaning |
/// | --- | --- |
/// | `2 * version` | free |
/// | `2 * owner + 1` | owned by the thread `owner` |
#[derive(Clone, Copy, Debug)]
pub struct Table;

impl Sealed for Table {}
#[stm_core_macros::inlined]
impl Storage for Table {
    const VARIANT: Variant = Variant::FastTable;
    const CELLS: bool = false;

    type Array<T: Element> = TArray<T>;
    type Map = (*mut u64, StripeMap);

    brief! {
        fn map<A>(stm: &StmRef<A>) -> Self::Map = (stm.locks, stm.map);
        // The map masks, so the stripe is in the table.
        fn version_word((locks, map): Self::Map, word: WordAddress) -> *mut u64 =
            locks.wrapping_add(map.stripe(word.address()).0 as usize);
        fn value(word: WordAddress) -> WordAddress = word;
        fn version(word: u64) -> Version = LockWord(word).version();
        fn is_locked(word: u64) -> bool = LockWord(word).is_locked();
        fn may_be_locked_by(found: u64, _seen: u64, owner: u64) -> bool = found == Self::locked(found, owner);
        fn locked(_word: u64, owner: u64) -> u64 = owner << 1 | LockWord::LOCKED;
        fn packed(version: Version, _bits: u32, _value: u64) -> u64 = Self::unlocked(version);
        fn unlocked(version: Version) -> u64 = LockWord::unlocked(version).0;
    }
    fn newest<T: Element, const N: usize>(
        words: [u64; N],
        skip: u32,
        than: Version,
        _bits: u32,
    ) -> (bool, bool) {
        let (mut locked, mut newest) = (false, Version(0));
        for (k, &word) in words.iter().enumerate() {
            if skip >> k & 1 == 0 {
                locked |= Self::is_locked(word);
                newest = newest.max(Self::version(word));
            }
        }
        (locked, newest > than)
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Birth {
    /// The lane's bound on ticks, taken before the snapshot or later, when the clock was not far ahead of it.
    pub(crate) since: u32,
    pub(crate) snapshot: Version,
}
