//! The entries of an [`EntrySet`](super::entry_set::EntrySet): the first ones on the lane's stack, the others
//! in its logs. Invariant: entry `i` has one place for the whole attempt, which depends on `i` alone.

use crate::algorithm::contract::Scratch;
use crate::algorithm::fast::storage::Storage;
use crate::memory::logs::Logs;
use core::mem::MaybeUninit;
use stm_machine::WordAddress;
use stm_machine::lane::{Lane, begin_scratch};

pub(crate) const WRITTEN: u64 = 1 << 63;
/// The flag of an entry that was written without having been read.
pub(crate) const BLIND: u64 = 1 << 62;
/// The flag of an entry whose word's lock an earlier entry owns.
pub(crate) const SHARES: u64 = 1 << 61;
const FLAGS: u64 = WRITTEN | BLIND | SHARES;

/// The number of entries whose loads are in flight together.
pub(crate) const BATCH: usize = 8;
/// The same number for a set that is not all on the stack.
pub(crate) const LONG_BATCH: usize = 4;

#[derive(Clone, Copy)]
pub(crate) enum Column {
    Address = 0,
    Seen = 1,
    Value = 2,
}

/// The first `N` entries.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct Inline<const N: usize>([[u64; N]; 3]);

impl<const N: usize> Scratch for Inline<N> {
    #[inline(always)]
    fn begin(place: &mut MaybeUninit<Self>) -> &mut Self {
        // SAFETY: any bits are entries, though meaningless ones.
        unsafe { begin_scratch(place) }
    }
}

#[inline(always)]
pub(crate) const fn word_of(entry: u64) -> WordAddress {
    WordAddress::from_bits(entry & !FLAGS)
}

/// The places of a lane's entries; without `LONG` all are on the stack, and there is no code for the logs.
pub(crate) struct Entries<'a, L, const N: usize, const LONG: bool = true> {
    pub(crate) lane: &'a L,
    pub(crate) logs: Logs,
    pub(crate) inline: *mut Inline<N>,
    /// Says whether one of the words may be apart from its version word.
    pub(crate) apart: bool,
}

stm_machine::handle!([L, const N: usize, const LONG: bool] Entries<'_, L, N, LONG>);

/// The entries of an attempt, and where the version words of their words are.
pub(crate) struct Words<'a, L, S: Storage, const N: usize, const LONG: bool = true> {
    pub(crate) at: Entries<'a, L, N, LONG>,
    pub(crate) map: S::Map,
    /// The number of entries.
    pub(crate) len: u32,
}

stm_machine::handle!([L, S: Storage, const N: usize, const LONG: bool] Words<'_, L, S, N, LONG>);

#[stm_core_macros::inlined]
impl<'a, L: Lane, const N: usize> Entries<'a, L, N> {
    /// Returns the entries with `apart` as a constant, for functions that are compiled for both.
    pub(crate) const fn known<const APART: bool>(self) -> Self {
        Self {
            apart: APART,
            ..self
        }
    }

    pub(crate) const fn short(self) -> Entries<'a, L, N, false> {
        Entries {
            lane: self.lane,
            logs: self.logs,
            inline: self.inline,
            apart: self.apart,
        }
    }

    /// Returns the entries of an attempt.
    ///
    /// # Safety
    /// `logs` are the lane's, `inline` is used through the result alone, and each index that a method is
    /// given is below the count of entries or, if one is stored, below the capacity.
    pub(crate) unsafe fn new(lane: &'a L, logs: Logs, inline: *mut Inline<N>, apart: bool) -> Self {
        Self {
            lane,
            logs,
            inline,
            apart,
        }
    }
}

#[stm_core_macros::inlined]
impl<'a, L: Lane, const N: usize, const LONG: bool> Entries<'a, L, N, LONG> {
    pub(crate) const fn with<S: Storage>(self, map: S::Map, len: u32) -> Words<'a, L, S, N, LONG> {
        Words { at: self, map, len }
    }

    /// Returns a word whose value nobody needs: the place in the logs of the
    /// first entry, which is on the stack instead.
    pub(crate) fn idle(self) -> *mut u64 {
        const {
            assert!(
                N > 0 || !cfg!(target_arch = "nvptx64"),
                "the first entry is on the stack"
            );
        }
        self.logs.entry(self.lane, 0, 0)
    }

    /// Returns the place on the stack of entry `i`, which is at most `N`.
    pub(crate) fn inline(self, column: Column, i: u32) -> *mut u64 {
        // SAFETY: inside the array, or at its end (`new`).
        unsafe { (self.inline.cast::<u64>()).add(column as usize * N + i as usize) }
    }

    pub(crate) fn get(self, column: Column, i: u32) -> u64 {
        // SAFETY: below N in the array, else in the lane's own column; stored in this attempt (`new`).
        unsafe {
            if !LONG || (i as usize) < N {
                *self.inline(column, i)
            } else {
                (self.lane).private_load_64(self.logs.entry(self.lane, column as u32, i))
            }
        }
    }

    pub(crate) fn put(self, column: Column, i: u32, v: u64) {
        // SAFETY: as for `get`.
        unsafe {
            if !LONG || (i as usize) < N {
                *self.inline(column, i) = v;
            } else {
                (self.lane).private_store_64(self.logs.entry(self.lane, column as u32, i), v);
            }
        }
    }

    pub(crate) fn store(self, i: u32, address: u64, seen: u64, value: u64) {
        self.put(Column::Address, i, address);
        self.put(Column::Seen, i, seen);
        self.put(Column::Value, i, value);
    }

    pub(crate) fn columns(self, i: u32) -> [u64; 3] {
        [Column::Address, Column::Seen, Column::Value].map(|column| self.get(column, i))
    }

    /// Loads a field of `B` entries, in flight together, from `i` on, which is a multiple of `B`. The
    /// values at `len`, which is at least 1 and at most the count, and past it are meaningless.
    pub(crate) fn batch<const B: usize>(self, column: Column, i: u32, len: u32) -> [u64; B] {
        const {
            assert!(
                N.is_multiple_of(B),
                "batches do not straddle the stack's end"
            );
        }
        if !LONG || (i as usize) < N {
            let first = self.inline(column, i);
            // SAFETY: below N, as is the batch; what was not stored is not used.
            core::array::from_fn(|j| unsafe { *first.add(j) })
        } else {
            // SAFETY: the entry is below the count, so this attempt stored it.
            core::array::from_fn(|j| unsafe {
                let i = (i + j as u32).min(len - 1);
                (self.lane).private_load_64(self.logs.entry(self.lane, column as u32, i))
            })
        }
    }

    pub(crate) fn seen<const B: usize>(self, i: u32, len: u32) -> ([u64; B], [u64; B]) {
        let addresses = self.batch(Column::Address, i, len);
        (addresses, self.batch(Column::Seen, i, len))
    }
}

/// Searches the addresses of `len` entries, the first N at `inline`, the others in `logs`: one more than the
/// place of the last written entry of the word in the lower half, and of its first entry of any kind in the
/// upper; 0 means none. It is a call, and a loop by single entries, as each write would have a copy.
///
/// # Safety
/// The entries are live and the lane's.
#[inline(never)]
pub(crate) unsafe fn search<L: Lane, const N: usize>(
    lane: &L,
    inline: *const u64,
    logs: *const u64,
    len: u32,
    address: WordAddress,
) -> u64 {
    let (mut first, mut written) = (0, 0);
    let mut i = 0;
    while i < len {
        // SAFETY: the entry is live.
        let entry = unsafe {
            if (i as usize) < N {
                *inline.add(i as usize)
            } else {
                lane.private_load_64(logs.wrapping_add(i as usize * lane.warp_width() as usize))
            }
        };
        i += 1;
        if word_of(entry) == address {
            first = if first == 0 { i } else { first };
            written = if entry & WRITTEN == 0 { written } else { i };
        }
    }
    u64::from(first) << 32 | u64::from(written)
}
