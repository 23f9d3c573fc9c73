//! The device's memory: allocations at addresses of our own making.
//!
//! Kernels see addresses that start at [`BASE`] and mean nothing to the process, so a run depends
//! neither on where the system puts memory nor on anything but the order of allocations, and no
//! access can be wild: each is looked up first. A page table maps pages of [`PAGE`] bytes to
//! allocations; every allocation starts on a page of its own and is followed by a page that belongs
//! to none.
//!
//! Beside each word of 32 bits lies what the running launch knows of it: the way it is used, and the
//! number of its store history, which for a wider access is that of its first word. The launch's
//! number stands there too, so nothing is cleared between launches.

use super::error::SimErrorKind;
use std::ops::Range;

const BASE: u64 = 0x1000_0000_0000;
const PAGE: u64 = 1 << PAGE_LOG2;
const PAGE_LOG2: u32 = 12;
/// What all allocations together may take, in bytes.
pub(super) const BYTES_MAX: u64 = 8 << 30;

// The first 32-bit word of a wider one is its low half, as on a GPU.
const _: () = assert!(cfg!(target_endian = "little"));

/// How a word is used in one launch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// By atomic accesses of so many bits.
    Bits(u8),
    /// By private accesses of this lane.
    PrivateTo(u16),
}

/// What is known of a word.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The launch that accessed it last; what else is here is of that one.
    launch: u32,
    used: Option<Use>,
    beside: u32,
}

struct Allocation {
    name: &'static str,
    /// Offset of its first byte from [`BASE`].
    offset: u64,
    bytes: u64,
    data: Vec<u32>,
    known: Vec<Known>,
}

impl Allocation {
    const NONE: Self = Self {
        name: "",
        offset: u64::MAX,
        bytes: 0,
        data: Vec::new(),
        known: Vec::new(),
    };

    /// Returns so many zeroed bytes at no address.
    fn of(bytes: u64) -> Self {
        let words = bytes.div_ceil(4) as usize;
        Self {
            bytes,
            data: vec![0; words],
            known: vec![Known::default(); words],
            ..Self::NONE
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Found {
    allocation: u32,
    /// The number of its first word of 32 bits.
    word: u32,
}

/// The allocation that has the shared memory of all blocks. It belongs to no page.
const SHARED: usize = 1;

pub(super) struct Space {
    /// Entry 0 stands for no allocation; freed ones are empty.
    allocations: Vec<Allocation>,
    /// The allocation of each page from [`BASE`], or 0.
    pages: Vec<u32>,
    used: u64,
    launch: u32,
}

impl Default for Space {
    fn default() -> Self {
        Self {
            allocations: Vec::from([const { Allocation::NONE }; SHARED + 1]),
            pages: Vec::new(),
            used: 0,
            launch: 0,
        }
    }
}

impl Space {
    /// Returns the newest value of a word, or `None` if there is none at that address. It is no
    /// operation of any lane and changes no view.
    pub(super) fn newest(&self, address: u64, wide: bool) -> Option<u64> {
        let found = self.find(address, if wide { 8 } else { 4 }).ok()?;
        let value = if wide {
            self.load::<64>(found)
        } else {
            self.load::<32>(found)
        };
        Some(value as u64)
    }

    pub(super) fn available(&self) -> u64 {
        BYTES_MAX - self.used
    }

    /// Allocates zeroed memory and returns its number. The caller has checked [`Self::available`].
    pub(super) fn allocate(&mut self, bytes: u64, name: &'static str) -> u32 {
        if self.used == 0 {
            // Addresses decide stripes: what follows must not depend on what lived here before.
            self.pages.clear();
            self.allocations.truncate(SHARED + 1);
        }
        let number = self.allocations.len() as u32;
        let offset = (self.pages.len() as u64) << PAGE_LOG2;
        let pages = bytes.div_ceil(PAGE) as usize;
        self.pages.resize(self.pages.len() + pages, number);
        self.pages.push(0);
        self.used += bytes;
        self.allocations.push(Allocation {
            name,
            offset,
            ..Allocation::of(bytes)
        });
        number
    }

    /// Gives memory back; its addresses are not used again while others live.
    pub(super) fn free(&mut self, number: u32) {
        let allocation = &mut self.allocations[number as usize];
        let first = (allocation.offset >> PAGE_LOG2) as usize;
        let pages = allocation.bytes.div_ceil(PAGE) as usize;
        self.used -= allocation.bytes;
        allocation.data = Vec::new();
        allocation.known = Vec::new();
        self.pages[first..first + pages].fill(0);
    }

    pub(super) fn address(&self, number: u32) -> u64 {
        BASE + self.allocations[number as usize].offset
    }

    fn range(&self, number: u32, offset: usize, len: usize) -> Range<usize> {
        let bytes = self.allocations[number as usize].bytes as usize;
        assert!(
            offset.checked_add(len).is_some_and(|end| end <= bytes),
            "{len} bytes at {offset} are outside an allocation of {bytes} bytes"
        );
        offset..offset + len
    }

    /// Copies bytes in. Panics if they do not fit.
    pub(super) fn write(&mut self, number: u32, offset: usize, bytes: &[u8]) {
        let range = self.range(number, offset, bytes.len());
        let data = &mut self.allocations[number as usize].data;
        // SAFETY: the same memory seen as bytes, of which any are a u32.
        let all = unsafe {
            std::slice::from_raw_parts_mut(data.as_mut_ptr().cast::<u8>(), data.len() * 4)
        };
        all[range].copy_from_slice(bytes);
    }

    /// Copies bytes out. Panics if they are not there.
    pub(super) fn read(&self, number: u32, offset: usize, bytes: &mut [u8]) {
        let range = self.range(number, offset, bytes.len());
        let data = &self.allocations[number as usize].data;
        // SAFETY: the same memory seen as bytes.
        let all = unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), data.len() * 4) };
        bytes.copy_from_slice(&all[range]);
    }

    pub(super) fn clear(&mut self, number: u32) {
        self.allocations[number as usize].data.fill(0);
    }

    /// Begins a launch of so many blocks, each with so many words of 32 bits of shared memory.
    pub(super) fn begin_launch(&mut self, blocks: u32, words: u32) {
        self.launch = self.launch.wrapping_add(1);
        let words = u64::from(blocks) * u64::from(words.next_multiple_of(2));
        self.allocations[SHARED] = Allocation::of(4 * words);
    }

    /// Returns the word of `bytes` (4, 8 or 16) at an address.
    #[inline]
    pub(super) fn find(&self, address: u64, bytes: u64) -> Result<Found, SimErrorKind> {
        let offset = address.wrapping_sub(BASE);
        let allocation = self.allocation_at(address);
        let a = &self.allocations[allocation as usize];
        // For allocation 0 every offset is past its end.
        let at = offset.wrapping_sub(a.offset);
        if at.checked_add(bytes).is_none_or(|end| end > a.bytes) {
            return Err(SimErrorKind::OutOfBounds);
        }
        if at & (bytes - 1) != 0 {
            return Err(SimErrorKind::Misaligned);
        }
        Ok(Found {
            allocation,
            word: (at >> 2) as u32,
        })
    }

    /// Returns the allocation that an address's page belongs to, or 0.
    #[inline]
    pub(super) fn allocation_at(&self, address: u64) -> u32 {
        let page = address.wrapping_sub(BASE) >> PAGE_LOG2;
        self.pages.get(page as usize).copied().unwrap_or(0)
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
        let a = self.allocations.iter().rfind(is_before)?;
        Some((a.name, a.bytes, offset.checked_sub(a.offset + a.bytes)?))
    }

    /// Notes an access to a word of so many bits; `Err` is how a part of it is used instead.
    #[inline]
    pub(super) fn claim<const BITS: u32>(&mut self, found: Found, how: Use) -> Result<(), Use> {
        let launch = self.launch;
        let known = &mut self.allocations[found.allocation as usize].known;
        for part in &mut known[found.words::<BITS>()] {
            if part.launch != launch {
                *part = Known {
                    launch,
                    ..Known::default()
                };
            }
            let used = *part.used.get_or_insert(how);
            if used != how {
                return Err(used);
            }
        }
        Ok(())
    }

    /// Returns the number kept beside a word: 0, or what was put there.
    #[inline]
    pub(super) fn beside(&mut self, found: Found) -> &mut u32 {
        let known = &mut self.allocations[found.allocation as usize].known;
        &mut known[found.word as usize].beside
    }

    #[inline]
    pub(super) fn load<const BITS: u32>(&self, found: Found) -> u128 {
        let data = &self.allocations[found.allocation as usize].data;
        let parts = data[found.words::<BITS>()].iter().rev();
        parts.fold(0, |value, &part| value << 32 | u128::from(part))
    }

    /// Sets a word of so many bits, and returns whether that changed it.
    #[inline]
    pub(super) fn store<const BITS: u32>(&mut self, found: Found, value: u128) -> bool {
        let data = &mut self.allocations[found.allocation as usize].data;
        let parts = data[found.words::<BITS>()].iter_mut().zip(0..);
        parts.fold(false, |changed, (part, i)| {
            let new = (value >> (32 * i)) as u32;
            std::mem::replace(part, new) != new || changed
        })
    }
}

impl Found {
    /// Returns the word of 32 bits of all shared memory with this number, or a wider one which it
    /// begins.
    pub(super) const fn shared(word: u64) -> Self {
        Self {
            allocation: SHARED as u32,
            word: word as u32,
        }
    }

    #[inline]
    const fn words<const BITS: u32>(self) -> Range<usize> {
        let first = self.word as usize;
        first..first + BITS as usize / 32
    }

    pub(super) const fn is_shared(self) -> bool {
        self.allocation == SHARED as u32
    }
}
