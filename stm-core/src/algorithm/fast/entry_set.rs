//! The sets of the versioned algorithms: one array of entries for words read, written or both.
//!
//! An entry is an address, the version word that was seen there (of a packed cell with its value), and a
//! value: the new value if the word is written, else the value read, where the algorithm compares values. The
//! first entries are on the lane's stack, which a GPU keeps in its first-level cache; the rest are in the
//! lane's [`Logs`](crate::memory::logs::Logs), coalesced. Entries keep their places, except when a full set
//! is compacted, and are never cleared: the count says which ones are valid.
//!
//! | bits of an address | meaning |
//! | --- | --- |
//! | 63 | `WRITTEN`: the commit writes back the value |
//! | 62 | `BLIND`: not read; the commit locks the word whatever it holds |
//! | 61 | `SHARES`: another entry of this transaction owns the lock |
//! | 60..1 | the address, bit 0 taken as 0 |
//! | 0 | 1 for a 64-bit word ([`WordAddress`]) |
//!
//! A word that is read twice has two entries; a write goes to the first that `EntrySet::buffer` finds. Of
//! several written entries of one word, the last holds its value. While an *alternative* (`Tx::or_else`) is
//! open, a write goes to a blind entry of its own, never to one that was read or is older, and nothing is
//! compacted ([`super::moves`]).

use crate::algorithm::fast::entries::{BLIND, Column, Entries, WRITTEN, search, word_of};
use crate::algorithm::prelude::*;
use crate::memory::bloom::Bloom;

/// The flag of [`EntrySet::hint`] while an alternative is open.
pub(super) const OPEN: u32 = 1 << 31;

/// The read and write set of an attempt: counts and filters, in registers.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntrySet {
    pub(crate) len: u32,
    pub(crate) writes: u32,
    /// The number of written entries that were not read.
    pub(super) blind: u32,
    /// The entry that the next write tries first. While an alternative is open, [`OPEN`] and the
    /// number of entries when the innermost one began: no entry, so that no write tries it.
    pub(super) hint: u32,
    pub(super) words: Bloom,
    pub(super) written: Bloom,
}

#[stm_core_macros::inlined]
impl EntrySet {
    pub(crate) const fn is_open(&self) -> bool {
        self.hint >= OPEN
    }

    pub(crate) const fn has_blind(&self) -> bool {
        self.blind != 0
    }

    /// Returns whether the word may have been written, without accessing memory.
    pub(crate) const fn may_have_written(&self, address: WordAddress) -> bool {
        self.written.may_contain(address)
    }

    /// Returns the last written entry of a word, and its first entry of any kind.
    pub(super) fn find<L: Lane, const N: usize>(
        &self,
        at: Entries<'_, L, N>,
        address: WordAddress,
    ) -> (Option<u32>, Option<u32>) {
        let addresses = Column::Address as u32;
        let inline = at.inline(Column::Address, 0);
        let logs = at.logs.entry(at.lane, addresses, 0);
        // SAFETY: the entries are the lane's; entries from N on are in the logs.
        let places = unsafe { search::<L, N>(at.lane, inline, logs, self.len, address) };
        (
            (places as u32).checked_sub(1),
            ((places >> 32) as u32).checked_sub(1),
        )
    }

    pub(crate) fn written_value<L: Lane, const N: usize>(
        &self,
        at: Entries<'_, L, N>,
        address: WordAddress,
    ) -> Option<u64> {
        if !self.may_have_written(address) {
            return None;
        }
        let (written, _) = self.find(at, address);
        written.map(|i| at.get(Column::Value, i))
    }

    /// Adds words read, as seen and, if `keep`, with values, except those in the mask `own`. Errors:
    /// [`Abort::ReadSetFull`] for too many distinct words, [`Abort::ReadStale`] if one was seen differently.
    pub(crate) fn read<L: Lane, const N: usize, const R: usize>(
        &mut self,
        at: Entries<'_, L, N>,
        address: [WordAddress; R],
        seen: [u64; R],
        value: [u64; R],
        keep: bool,
        own: u32,
    ) -> Result<(), Abort> {
        if self.writes == self.len {
            // A program that writes the words it has just read finds them there.
            self.hint = self.hint.max(self.len);
        }
        for k in 0..R {
            self.words.insert(address[k]);
        }
        let room = self.len - self.blind + R as u32 <= at.logs.capacity.reads;
        if own == 0 && self.len as usize + R <= N && room {
            // SAFETY: below N, and below the capacity.
            unsafe {
                let addresses = at.inline(Column::Address, self.len);
                let sights = at.inline(Column::Seen, self.len);
                let values = at.inline(Column::Value, self.len);
                for k in 0..R {
                    *addresses.add(k) = address[k].bits();
                    *sights.add(k) = seen[k];
                    if keep {
                        *values.add(k) = value[k];
                    }
                }
            }
            self.len += R as u32;
            return Ok(());
        }
        // The words are copied, because an array with a variable index is kept
        // in memory, which the path above avoids.
        let mut rest = [(WordAddress::from_bits(0), 0, 0); R];
        for k in 0..R {
            rest[k] = (address[k], seen[k], value[k]);
        }
        let mut result = Ok(());
        let mut k = 0;
        while let Some(&(address, seen, value)) = rest.get(k)
            && result.is_ok()
        {
            if own >> k & 1 == 0 {
                (*self, result) = self.read_one(at, address, seen, value);
            }
            k += 1;
        }
        result
    }

    fn reads_full<L: Lane, const N: usize>(&self, at: Entries<'_, L, N>) -> bool {
        self.len - self.blind >= at.logs.capacity.reads
    }

    /// Returns whether another word may be written, or whether `entry` is written already.
    fn takes<L: Lane, const N: usize, const LONG: bool>(
        &self,
        at: Entries<'_, L, N, LONG>,
        entry: u64,
    ) -> bool {
        self.writes < at.logs.capacity.writes || entry & WRITTEN != 0
    }

    /// Adds one word read. It is not inlined and takes the set by value, as [`Self::buffer_apart`] does.
    #[inline(never)]
    fn read_one<L: Lane, const N: usize>(
        mut self,
        at: Entries<'_, L, N>,
        address: WordAddress,
        seen: u64,
        value: u64,
    ) -> (Self, Result<(), Abort>) {
        if self.reads_full(at) {
            let (_, known) = self.find(at, address);
            if let Some(i) = known {
                let same = at.get(Column::Seen, i) == seen;
                return (self, if same { Ok(()) } else { Err(Abort::ReadStale) });
            }
            if !self.is_open() {
                match self.compact(at) {
                    Ok(set) => self = set,
                    Err(abort) => return (self, Err(abort)),
                }
            }
            if self.reads_full(at) {
                return (self, Err(Abort::ReadSetFull));
            }
        }
        at.store(self.len, address.bits(), seen, value);
        self.len += 1;
        (self, Ok(()))
    }

    /// Buffers a write, into the word's entry if there is one. Errors: [`Abort::WriteSetFull`] if
    /// there are more distinct words than entries.
    pub(crate) fn buffer<L: Lane, const N: usize>(
        &mut self,
        at: Entries<'_, L, N>,
        address: WordAddress,
        value: u64,
    ) -> Result<(), Abort> {
        if (self.hint as usize) < N && self.buffer_at_hint(at.short(), address, value) {
            return Ok(());
        }
        let known = if self.words.may_contain(address) {
            self.target(at, address)
        } else {
            None
        };
        if let Some(i) = known {
            if (i as usize) < N {
                let entry = at.short().get(Column::Address, i);
                if self.takes(at, entry) {
                    self.mark(at.short(), i, entry, value);
                    return Ok(());
                }
            }
        } else if (self.len as usize) < N && self.takes(at, 0) {
            self.blind(at.short(), address, value);
            return Ok(());
        }
        let (set, end) = self.buffer_apart(at, address, value);
        *self = set;
        end
    }

    fn buffer_at_hint<L: Lane, const N: usize, const LONG: bool>(
        &mut self,
        at: Entries<'_, L, N, LONG>,
        address: WordAddress,
        value: u64,
    ) -> bool {
        let hint = self.hint;
        if hint >= self.len {
            return false;
        }
        let entry = at.get(Column::Address, hint);
        let same = word_of(entry) == address || Mutant::HintUnchecked.on(at.lane);
        let found = same && self.takes(at, entry);
        if found {
            self.mark(at, hint, entry, value);
        }
        found
    }

    pub(super) fn target<L: Lane, const N: usize>(
        &self,
        at: Entries<'_, L, N>,
        address: WordAddress,
    ) -> Option<u32> {
        let (written, first) = self.find(at, address);
        if self.is_open() {
            // What an open alternative has written is blind.
            written.filter(|&i| i >= self.hint & !OPEN)
        } else {
            written.or(first)
        }
    }

    fn blind<L: Lane, const N: usize, const LONG: bool>(
        &mut self,
        at: Entries<'_, L, N, LONG>,
        address: WordAddress,
        value: u64,
    ) {
        self.words.insert(address);
        let entry = address.bits() | BLIND;
        at.store(self.len, entry, 0, value);
        self.len += 1;
        self.blind += 1;
        self.mark(at, self.len - 1, entry, value);
    }

    /// Buffers writes of the first `count` of `words`, if they are the entries from the hint on, on
    /// the stack and not written. Otherwise it returns `false` and changes nothing.
    pub(crate) fn buffer_read<L: Lane, const N: usize, const R: usize>(
        &mut self,
        at: Entries<'_, L, N>,
        words: [WordAddress; R],
        values: [u64; R],
        count: u32,
    ) -> bool {
        let first = self.hint;
        if first as usize + R > N.min(self.len as usize)
            || self.writes + count > at.logs.capacity.writes
        {
            return false;
        }
        // SAFETY: `first + R` is at most N and the count.
        unsafe {
            let addresses = at.inline(Column::Address, first);
            let new = at.inline(Column::Value, first);
            let mut differing = 0;
            for k in 0..R {
                let entry = *addresses.add(k) ^ words[k].bits();
                differing |= if (k as u32) < count { entry } else { 0 };
            }
            if differing != 0 && !Mutant::HintUnchecked.on(at.lane) {
                return false;
            }
            for k in 0..R {
                if (k as u32) < count {
                    *addresses.add(k) |= WRITTEN;
                    *new.add(k) = values[k];
                }
            }
        }
        self.writes += count;
        // The words of the set include more than those written; the filter has false positives anyway.
        self.written = self.words;
        self.hint = first + count;
        true
    }

    /// Returns whether an entry is of one of the first `count` of `words`; it compares all with all.
    pub(crate) fn has_any<L: Lane, const N: usize, const R: usize>(
        &self,
        at: Entries<'_, L, N>,
        words: [WordAddress; R],
        count: u32,
    ) -> bool {
        let mut possible = false;
        for k in 0..R {
            possible |= (k as u32) < count && self.words.may_contain(words[k]);
        }
        let mut known = false;
        let mut i = if possible { 0 } else { self.len };
        while i < self.len {
            let word = word_of(at.get(Column::Address, i));
            for k in 0..R {
                known |= (k as u32) < count && word == words[k];
            }
            i += 1;
        }
        known
    }

    /// Buffers writes of the first `count` of `words`, if there is room on the stack, no entry is
    /// of one of them, and no two are the same. Otherwise it returns `false` and changes nothing.
    pub(crate) fn buffer_new<L: Lane, const N: usize, const R: usize>(
        &mut self,
        at: Entries<'_, L, N>,
        words: [WordAddress; R],
        values: [u64; R],
        count: u32,
    ) -> bool {
        if self.len as usize + R > N || self.writes + count > at.logs.capacity.writes {
            return false;
        }
        let wanted = |k: usize| (k as u32) < count;
        let mut known = self.has_any(at, words, count);
        for k in 1..R {
            for before in 0..k {
                known |= wanted(k) && words[before] == words[k];
            }
        }
        if known {
            return false;
        }
        for k in 0..R {
            if wanted(k) {
                self.blind(at.short(), words[k], values[k]);
            }
        }
        true
    }

    /// Does [`Self::buffer`] where an entry is not on the stack, or the stack or a set is full. It is not
    /// inlined, as each write would have a copy, and takes the set by value, so that it stays in registers.
    #[inline(never)]
    fn buffer_apart<L: Lane, const N: usize>(
        mut self,
        at: Entries<'_, L, N>,
        address: WordAddress,
        value: u64,
    ) -> (Self, Result<(), Abort>) {
        if self.buffer_at_hint(at, address, value) {
            return (self, Ok(()));
        }
        if self.writes >= at.logs.capacity.writes
            && !self.is_open()
            && self.find(at, address).0.is_none()
        {
            match self.compact(at) {
                Ok(set) => self = set,
                Err(abort) => return (self, Err(abort)),
            }
        }
        if self.words.may_contain(address)
            && let Some(i) = self.target(at, address)
        {
            let entry = at.get(Column::Address, i);
            if !self.takes(at, entry) {
                return (self, Err(Abort::WriteSetFull));
            }
            self.mark(at, i, entry, value);
            return (self, Ok(()));
        }
        if !self.takes(at, 0) {
            return (self, Err(Abort::WriteSetFull));
        }
        self.blind(at, address, value);
        (self, Ok(()))
    }

    pub(super) fn mark<L: Lane, const N: usize, const LONG: bool>(
        &mut self,
        at: Entries<'_, L, N, LONG>,
        i: u32,
        entry: u64,
        value: u64,
    ) {
        at.put(Column::Address, i, entry | WRITTEN);
        at.put(Column::Value, i, value);
        self.writes += u32::from(entry & WRITTEN == 0);
        self.written.insert(word_of(entry));
        // The hint only moves forward; see `find` about words with two entries.
        self.hint = self.hint.max(i + 1);
    }
}
