//! The log of an attempt's accesses to rows of sums: the rows that it reads or adds to, and its additions.
//!
//! The first rows and additions are on the lane's stack, the others at the far end of the array of the lane's
//! [`Logs`] that the words read and written fill from the front; there is room as long as the two do not
//! meet. The counts say what is valid.
//!
//! | bits of a row | meaning |
//! | --- | --- |
//! | 63..3 | the address of its header |
//! | 1 | the row was read; the second field is the header seen |
//! | 0 | the row is added to |
//!
//! | bits of an addition | meaning |
//! | --- | --- |
//! | 63..62 | the kind of the addition ([`Addend`]) |
//! | 61..52 | the number of the row |
//! | 51..32 | the number of the element in the row |
//! | 31..0 | the amount, if it has 32 bits; else it is the next word |

use crate::{algorithm::contract::Scratch, array::sums::Addend, memory::logs::Logs};
use core::mem::MaybeUninit;
use stm_machine::Lane;

pub(crate) const ADDED: u64 = 1;
pub(crate) const READ: u64 = 2;
const FLAGS: u64 = ADDED | READ;

/// One more than the largest number of rows that one transaction adds to.
const ROWS_ADDED_END: u32 = 1 << 10;

#[inline(always)]
pub(crate) const fn header_of(row: u64) -> *mut u64 {
    (row & !FLAGS) as *mut u64
}

const N: usize = 16;

/// The part of the log on the stack: [`N`] rows and four times as many additions.
#[derive(Debug)]
#[allow(dead_code)] // it is reached by its address
pub struct SumStack(MaybeUninit<[[u64; N]; 6]>);

impl Scratch for SumStack {
    #[inline(always)]
    fn begin(place: &mut MaybeUninit<Self>) -> &mut Self {
        // SAFETY: its contents may be uninitialised.
        unsafe { place.assume_init_mut() }
    }
}

/// The places of a lane's rows and additions.
pub(crate) struct SumLogs<'a, L> {
    pub(crate) lane: &'a L,
    logs: Logs,
    stack: *mut SumStack,
}

stm_machine::handle!([L] SumLogs<'_, L>);

#[derive(Clone, Copy)]
pub(crate) enum Column {
    Row = 0,
    Seen = 1,
    Addition = 2,
}

#[stm_core_macros::inlined]
impl<'a, L: Lane> SumLogs<'a, L> {
    /// Returns the places of the calling lane.
    ///
    /// # Safety
    /// `logs` are the lane's, `stack` is live and used only through the result meanwhile, and each index that
    /// a method is given is below the count of its column, or there is room for what is stored.
    pub(crate) unsafe fn new(lane: &'a L, logs: Logs, stack: *mut SumStack) -> Self {
        Self { lane, logs, stack }
    }

    const fn on_stack(column: Column) -> u32 {
        match column {
            Column::Row | Column::Seen => N as u32,
            Column::Addition => 4 * N as u32,
        }
    }

    fn stacked(self, column: Column, i: u32) -> *mut u64 {
        // The callers keep the index inside the array.
        self.stack
            .cast::<u64>()
            .wrapping_add(column as usize * N + i as usize)
    }

    fn spilled(self, column: Column, i: u32) -> *mut u64 {
        let last = self.logs.capacity.locks().wrapping_sub(1);
        let back = i - Self::on_stack(column);
        self.logs
            .entry(self.lane, column as u32, last.wrapping_sub(back))
    }

    pub(crate) fn get(self, column: Column, i: u32) -> u64 {
        // SAFETY: on the stack, else in the lane's own column of the logs; stored in this attempt (`new`).
        unsafe {
            if i < Self::on_stack(column) {
                *self.stacked(column, i)
            } else {
                self.lane.private_load_64(self.spilled(column, i))
            }
        }
    }

    fn put(self, column: Column, i: u32, v: u64) {
        // SAFETY: as for `get`.
        unsafe {
            if i < Self::on_stack(column) {
                *self.stacked(column, i) = v;
            } else {
                self.lane.private_store_64(self.spilled(column, i), v);
            }
        }
    }

    /// Returns the number of the row with this header among the first `rows`, or `rows`. It is not
    /// inlined, as it is rarely needed: additions to a row follow each other.
    #[inline(never)]
    fn find(self, rows: u32, header: *mut u64) -> u32 {
        let mut i = 0;
        while i < rows {
            if header_of(self.get(Column::Row, i)) == header {
                break;
            }
            i += 1;
        }
        i
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Addition {
    pub(crate) kind: u32,
    pub(crate) row: u32,
    pub(crate) column: u32,
    pub(crate) delta: u64,
}

/// The counts of the log, in registers.
#[derive(Clone, Copy, Debug, Default)]
pub struct SumSet {
    pub(crate) rows: u32,
    pub(crate) added: u32,
    pub(crate) read: u32,
    pub(crate) words: u32,
    /// The row used last, and its number; null if there is none.
    last: (*mut u64, u32),
}

#[stm_core_macros::inlined]
impl SumSet {
    /// Returns whether the part in the logs stays clear of `entries` words read and written.
    pub(crate) fn fits<L: Lane>(&self, at: SumLogs<'_, L>, entries: u32) -> bool {
        let spilled = self
            .rows
            .saturating_sub(N as u32)
            .max(self.words.saturating_sub(4 * N as u32));
        spilled == 0 || entries.saturating_add(spilled) <= at.logs.capacity.locks()
    }

    /// Returns the number of a row, which it adds if it is new, or `None` if there is no room.
    fn row<L: Lane>(&mut self, at: SumLogs<'_, L>, header: *mut u64, entries: u32) -> Option<u32> {
        if self.last.0 == header {
            return Some(self.last.1);
        }
        let i = at.find(self.rows, header);
        if i == self.rows {
            let more = Self {
                rows: self.rows + 1,
                ..*self
            };
            if !more.fits(at, entries) {
                return None;
            }
            *self = more;
            at.put(Column::Row, i, header as u64);
        }
        self.last = (header, i);
        Some(i)
    }

    fn flag<L: Lane>(at: SumLogs<'_, L>, i: u32, flag: u64) -> bool {
        let row = at.get(Column::Row, i);
        at.put(Column::Row, i, row | flag);
        row & flag == 0
    }

    /// Returns the number of a row that is added to, or `None` if there is no room.
    pub(crate) fn add_to<L: Lane>(
        &mut self,
        at: SumLogs<'_, L>,
        header: *mut u64,
        entries: u32,
    ) -> Option<u32> {
        let row = self.row(at, header, entries)?;
        if row >= ROWS_ADDED_END {
            return None;
        }
        self.added += u32::from(Self::flag(at, row, ADDED));
        Some(row)
    }

    /// Buffers an addition to a row that [`Self::add_to`] returned, if there is room.
    pub(crate) fn add<L: Lane>(
        &mut self,
        at: SumLogs<'_, L>,
        addition: Addition,
        entries: u32,
    ) -> bool {
        let wide = addition.kind == Addend::Wide as u32;
        let first = self.words;
        let more = Self {
            words: first + if wide { 2 } else { 1 },
            ..*self
        };
        if !more.fits(at, entries) {
            return false;
        }
        *self = more;
        let delta = if wide { 0 } else { addition.delta };
        let word = u64::from(addition.kind) << 62
            | u64::from(addition.row) << 52
            | u64::from(addition.column) << 32
            | delta;
        at.put(Column::Addition, first, word);
        if wide {
            at.put(Column::Addition, first + 1, addition.delta);
        }
        true
    }

    /// Returns the log without the additions made since it was `saved`; the rows read since stay.
    #[inline(never)]
    pub(crate) fn undo<L: Lane>(mut self, at: SumLogs<'_, L>, saved: Self) -> Self {
        if self.words == saved.words {
            return self;
        }
        self.words = saved.words;
        self.added = 0;
        for i in 0..self.rows {
            at.put(Column::Row, i, at.get(Column::Row, i) & !ADDED);
        }
        let mut k = 0;
        while k < self.words {
            let (addition, next) = Self::addition(at, k);
            k = next;
            self.added += u32::from(Self::flag(at, addition.row, ADDED));
        }
        self
    }

    /// Returns the addition that begins at word `k`, where one does, and the index of the word after it.
    pub(crate) fn addition<L: Lane>(at: SumLogs<'_, L>, k: u32) -> (Addition, u32) {
        let word = at.get(Column::Addition, k);
        let kind = (word >> 62) as u32;
        let wide = kind == Addend::Wide as u32;
        let addition = Addition {
            kind,
            row: (word >> 52) as u32 & (ROWS_ADDED_END - 1),
            column: (word >> 32) as u32 & ((1 << 20) - 1),
            delta: if wide {
                at.get(Column::Addition, k + 1)
            } else {
                u64::from(word as u32)
            },
        };
        (addition, k + if wide { 2 } else { 1 })
    }

    /// Records that a row was read with this header. It returns `None` if there is no room, and
    /// `Some(false)` if the row was read before with another header.
    pub(crate) fn read<L: Lane>(
        &mut self,
        at: SumLogs<'_, L>,
        header: *mut u64,
        seen: u64,
        entries: u32,
    ) -> Option<bool> {
        let row = self.row(at, header, entries)?;
        if Self::flag(at, row, READ) {
            self.read += 1;
            at.put(Column::Seen, row, seen);
            return Some(true);
        }
        Some(at.get(Column::Seen, row) == seen)
    }
}
