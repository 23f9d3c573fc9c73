//! The device's memory: allocations at addresses of our own making.
//!
//! Kernels see addresses that start at [`BASE`] and mean nothing to the process, so a run depends on nothing
//! but the order of allocations, and no access can be wild: each is looked up first. Every allocation starts
//! on a page of its own and is followed by a page that belongs to none. Beside its data lies how each word of
//! 32 bits was used, by which launch, and which history it has there, so nothing is cleared between launches.

use super::error::SimErrorKind;
use std::ops::Range;

const BASE: u64 = 0x1000_0000_0000;
const PAGE: u64 = 1 << 12;
/// What all allocations together may take, in bytes.
pub(super) const BYTES_MAX: u64 = 8 << 30;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// By atomic accesses of so many bits.
    Bits(u8),
    /// By private accesses of this lane.
    PrivateTo(u16),
}

#[derive(Default)]
struct Allocation {
    name: &'static str,
    offset: u64,
    data: Vec<u8>,
    /// Of each word of 32 bits: the launch that used it last, how, and the number of its history or 0.
    uses: Vec<(u32, Use, u32)>,
}

impl Allocation {
    fn of(bytes: usize) -> Self {
        Self {
            data: vec![0; bytes],
            uses: vec![(0, Use::Bits(0), 0); bytes.div_ceil(4)],
            ..Self::default()
        }
    }
}

/// A word of 4, 8 or 16 bytes of an allocation.
#[derive(Clone, Copy)]
pub(super) struct AllocationWord {
    allocation: u32,
    at: u64,
    bytes: u64,
}

/// The allocation that has the shared memory of all blocks, and no addresses.
const SHARED: u32 = 0;

#[derive(Default)]
pub(super) struct Space {
    /// In the order of their addresses; freed ones are empty.
    allocations: Vec<Allocation>,
    /// The allocation of each page from [`BASE`], or [`SHARED`].
    pages: Vec<u32>,
    used: u64,
    launch: u32,
}

impl Space {
    /// Returns the newest value of a word, if there is one. It is no operation and changes no view.
    pub(super) fn newest(&self, address: u64, wide: bool) -> Option<u64> {
        let found = self.find(address, if wide { 8 } else { 4 });
        found.ok().map(|found| self.load(found) as u64)
    }

    pub(super) fn available(&self) -> u64 {
        BYTES_MAX - self.used
    }

    /// Allocates zeroed memory and returns its number and address. The caller has checked [`Self::available`].
    pub(super) fn allocate(&mut self, bytes: u64, name: &'static str) -> (u32, u64) {
        if self.used == 0 {
            // Addresses decide stripes: what follows must not depend on what lived here before.
            self.allocations.truncate(SHARED as usize + 1);
            self.pages.clear();
        }
        let number = self.allocations.len() as u32;
        let offset = self.pages.len() as u64 * PAGE;
        let pages = bytes.div_ceil(PAGE) as usize;
        self.pages.resize(self.pages.len() + pages, number);
        self.pages.push(SHARED);
        self.used += bytes;
        self.allocations.push(Allocation {
            name,
            offset,
            ..Allocation::of(bytes as usize)
        });
        (number, BASE + offset)
    }

    /// Gives memory back; its addresses are not used again while others live.
    pub(super) fn free(&mut self, number: u32) {
        let allocation = &mut self.allocations[number as usize];
        self.used -= allocation.data.len() as u64;
        (allocation.data, allocation.uses) = (Vec::new(), Vec::new());
    }

    pub(super) fn data(&mut self, number: u32) -> &mut [u8] {
        &mut self.allocations[number as usize].data
    }

    /// Begins a launch of so many blocks, each with so many words of 32 bits of shared memory.
    pub(super) fn begin_launch(&mut self, blocks: u32, words: u32) {
        self.launch += 1;
        let words = blocks as usize * words.next_multiple_of(2) as usize;
        let shared = Allocation::of(4 * words);
        match self.allocations.first_mut() {
            Some(of_last) => *of_last = shared,
            None => self.allocations.push(shared),
        }
    }

    #[inline]
    pub(super) fn find(&self, address: u64, bytes: u64) -> Result<AllocationWord, SimErrorKind> {
        let allocation = self.allocation_at(address);
        let a = &self.allocations[allocation as usize];
        let at = address.wrapping_sub(BASE).wrapping_sub(a.offset);
        let is_inside = |end| end <= a.data.len() as u64;
        if allocation == SHARED || !at.checked_add(bytes).is_some_and(is_inside) {
            return Err(SimErrorKind::OutOfBounds);
        }
        if at & (bytes - 1) != 0 {
            return Err(SimErrorKind::Misaligned);
        }
        Ok(AllocationWord {
            allocation,
            at,
            bytes,
        })
    }

    #[inline]
    pub(super) fn allocation_at(&self, address: u64) -> u32 {
        let page = address.wrapping_sub(BASE) / PAGE;
        self.pages.get(page as usize).copied().unwrap_or(SHARED)
    }

    /// Returns the name of an address's allocation and the index of its word, in words of `bytes`.
    pub(super) fn name(&self, address: u64, bytes: u64) -> Option<(&'static str, u64)> {
        let found = self.find(address & !(bytes - 1), bytes).ok()?;
        let a = &self.allocations[found.allocation as usize];
        Some((a.name, (address - BASE - a.offset) / bytes))
    }

    /// Returns the live allocation before an address, and how far past its end the address is.
    pub(super) fn before(&self, address: u64) -> Option<(&'static str, u64, u64)> {
        let offset = address.checked_sub(BASE)?;
        let is_before = |a: &&Allocation| !a.data.is_empty() && a.offset <= offset;
        let a = self.allocations[1..].iter().rfind(is_before)?;
        let bytes = a.data.len() as u64;
        Some((a.name, bytes, offset.checked_sub(a.offset + bytes)?))
    }

    /// Notes an access to a word; `Err` is how a part of it is used instead.
    #[inline]
    pub(super) fn claim(&mut self, found: AllocationWord, how: Use) -> Result<(), Use> {
        let uses = &mut self.allocations[found.allocation as usize].uses;
        for (launch, used, history) in &mut uses[found.range().start / 4..found.range().end / 4] {
            if *launch != self.launch {
                (*launch, *used, *history) = (self.launch, how, 0);
            }
            if *used != how {
                return Err(*used);
            }
        }
        Ok(())
    }

    /// Returns the number of a claimed word's history: 0, or what was put there.
    #[inline]
    pub(super) fn history(&mut self, found: AllocationWord) -> &mut u32 {
        &mut self.allocations[found.allocation as usize].uses[found.at as usize / 4].2
    }

    #[inline]
    pub(super) fn load(&self, found: AllocationWord) -> u128 {
        let bytes = &self.allocations[found.allocation as usize].data[found.range()];
        let parts = bytes.as_chunks().0.iter().rev();
        parts.fold(0, |high, &part| {
            high << 32 | u128::from(u32::from_le_bytes(part))
        })
    }

    #[inline]
    pub(super) fn store(&mut self, found: AllocationWord, value: u128) -> bool {
        let bytes = &mut self.allocations[found.allocation as usize].data[found.range()];
        let parts = bytes.as_chunks_mut().0.iter_mut().zip(0..);
        parts.fold(false, |changed, (part, i)| {
            let new = ((value >> (32 * i)) as u32).to_le_bytes();
            std::mem::replace(part, new) != new || changed
        })
    }
}

impl AllocationWord {
    /// Returns a word of all shared memory; `word` is its number in words of 32 bits.
    pub(super) const fn shared(word: u64, bytes: u64) -> Self {
        Self {
            allocation: SHARED,
            at: 4 * word,
            bytes,
        }
    }

    #[inline]
    const fn range(self) -> Range<usize> {
        self.at as usize..(self.at + self.bytes) as usize
    }

    pub(super) const fn is_shared(self) -> bool {
        self.allocation == SHARED
    }
}
