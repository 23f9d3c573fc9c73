//! The transaction's private logs in device memory, laid out coalesced.
//!
//! Entry `i` of lane `j` is the neighbour of entry `i` of lane `j + 1` (section 3.1, "coalesced
//! read-/write-set organization"), so that a warp appends coalesced. The region of a warp with `w` lanes and
//! capacities of `r` reads, `c` writes and `a` actions:
//!
//! | words of 64 bits | contents |
//! | --- | --- |
//! | `w * r` | read set: addresses |
//! | `w * r` | read set: values |
//! | `w * c` | write set: addresses |
//! | `w * c` | write set: values |
//! | `w * (r + c)` | lock log: entries |
//! | `w * BUCKETS / 2` | lock log: bucket heads, 32 bits each |
//! | `w` | whether the lane is in a transaction, 32 bits; then the warp's count of lanes that begin a loop |
//! | `w` | the lane's mark for other threads, 32 bits (`run/wait.rs`); the same |
//! | `3 * w * a` | deferred actions, three words each (`tx/actions.rs`) |
//!
//! The versioned algorithms have no lock log. Its first four bucket heads of each lane are the target of
//! operations without effect (`Logs::idle_pair`), and in a block's first warp some that follow are for
//! broadcasts of a team (`Logs::place_of_block`).
//!
//! Invariant: nothing is ever cleared; counts in registers say which entries are valid.

use stm_machine::Lane;

/// The number of buckets of a lock log, each the head of a list.
pub(crate) const BUCKETS: u32 = 32;

/// The number of 64-bit words of a block's place ([`Logs::place_of_block`]).
pub(crate) const PLACE_WORDS: u64 = 3;

/// The number of bucket heads of a lane that make up its idle pair of 64-bit words.
const IDLE_HEADS: usize = 4;

/// The mark of a lane inside a loop of attempts.
pub(crate) const RUNNING: u32 = 1;
/// The state in the mark of a lane that sleeps.
pub(crate) const ALONE: u32 = 2;
/// The same if its warp has no other work.
pub(crate) const WHOLE_WARP: u32 = 3;

#[inline(always)]
pub(crate) const fn state_of(mark: u32) -> u32 {
    mark & 3
}

/// The entries of a transaction's logs, in [`StmConfig`](crate::host::StmConfig). One that needs more ends
/// the launch with [`Error::CapacityExceeded`](crate::host::Error::CapacityExceeded), which names the log.
///
/// ```
/// # #[cfg(feature = "host")] {
/// use stm_core::host::Capacity;
///
/// let capacity = Capacity { reads: 256, ..Capacity::DEFAULT };
/// assert_eq!((capacity.writes, capacity.locks()), (32, 288));
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Capacity {
    /// The number of distinct words read. `cgl` keeps no read set and never finds it full.
    pub reads: u32,
    /// The number of distinct words written.
    pub writes: u32,
    /// The number of actions that an attempt defers until its end
    /// ([`Tx::at_commit`](crate::Tx::at_commit)); 0 or more.
    pub actions: u32,
}

pub(crate) const ACTION_WORDS: u32 = 3;

#[stm_core_macros::inlined]
impl Capacity {
    /// 32 entries of each log.
    pub const DEFAULT: Self = Self {
        reads: 32,
        writes: 32,
        actions: 32,
    };

    /// Returns the entries of the lock log: one for each read and write, so that a set is full first.
    pub const fn locks(self) -> u32 {
        // The host may ask about capacities that no launch accepts.
        self.reads.saturating_add(self.writes)
    }

    /// Returns the number of 64-bit words of one warp's region.
    pub const fn warp_words(self, warp_width: u32) -> u64 {
        let actions = ACTION_WORDS as u64 * self.actions as u64;
        self.words_before_actions(warp_width) + actions * warp_width as u64
    }

    const fn words_before_actions(self, warp_width: u32) -> u64 {
        let lane = 3 * (self.reads as u64 + self.writes as u64);
        // The heads, the flag of an open transaction and the mark are 32 bits each; the last two
        // have whole words, as one is private and the other is not.
        const { assert!(BUCKETS.is_multiple_of(2), "whole words") }
        (lane + BUCKETS as u64 / 2 + 2) * warp_width as u64
    }
}

/// The logs of one lane, interleaved with those of its warp.
#[derive(Clone, Copy)]
pub(crate) struct Logs {
    lane_base: *mut u64,
    heads: *mut u32,
    pub(crate) capacity: Capacity,
}

#[stm_core_macros::inlined]
impl Logs {
    /// Returns the calling lane's logs in the region of the whole launch.
    ///
    /// # Safety
    /// `region` points to `capacity.warp_words(width)` words for every warp of
    /// the launch, which nothing else uses while the kernel runs.
    pub(crate) unsafe fn of_lane<L: Lane>(lane: &L, region: *mut u64, capacity: Capacity) -> Self {
        let warp = (lane.block_index(), lane.warp_index());
        let (base, heads) = Self::of_warp(lane, warp, region, capacity);
        Self {
            lane_base: base.wrapping_add(lane.lane_index() as usize),
            heads: heads.wrapping_add(lane.lane_index() as usize),
            capacity,
        }
    }

    /// Returns where the logs of a warp of a block begin, and where its bucket heads are.
    fn of_warp<L: Lane>(
        lane: &L,
        (block_index, warp_index): (u32, u32),
        region: *mut u64,
        capacity: Capacity,
    ) -> (*mut u64, *mut u32) {
        let width = lane.warp_width();
        let warps_a_block = lane.block_dim().div_ceil(width);
        let warp = u64::from(block_index) * u64::from(warps_a_block) + u64::from(warp_index);
        let base = region.wrapping_add((warp * capacity.warp_words(width)) as usize);
        let entries = 2 * (capacity.reads + capacity.writes) + capacity.locks();
        let heads = base
            .wrapping_add(entries as usize * width as usize)
            .cast::<u32>();
        (base, heads)
    }

    /// Returns the place of the block: `PLACE_WORDS` words for broadcasts, among the bucket heads of the
    /// first warp's lock logs, behind the idle pairs.
    ///
    /// # Safety
    /// That of [`Self::of_lane`], for an algorithm without lock logs; the threads of the block access
    /// the words by 64-bit accesses that are not private.
    pub(crate) unsafe fn place_of_block<L: Lane>(
        lane: &L,
        region: *mut u64,
        capacity: Capacity,
    ) -> *mut u64 {
        const { assert!(IDLE_HEADS as u64 + 2 * PLACE_WORDS <= BUCKETS as u64) }
        let (_, heads) = Self::of_warp(lane, (lane.block_index(), 0), region, capacity);
        // Whole 64-bit words precede them.
        heads
            .wrapping_add(IDLE_HEADS * lane.warp_width() as usize)
            .cast()
    }

    /// Notes that the lane is in a transaction, also by its mark; returns `false` if it was already.
    pub(crate) fn open<L: Lane>(&self, lane: &L) -> bool {
        // SAFETY: the words after the heads, in the lane's own column. Only the
        // lane itself stores its mark; relaxed, as `run/wait.rs` argues.
        unsafe {
            let flag = self.head(lane, BUCKETS);
            let loops = lane.private_load_32(flag);
            let free = loops & 1 == 0;
            if free {
                lane.private_store_32(flag, loops | 1);
                lane.store_relaxed_32(self.mark(lane), RUNNING);
            }
            free
        }
    }

    pub(crate) fn close<L: Lane>(&self, lane: &L) {
        // SAFETY: as for `open`.
        unsafe {
            let flag = self.head(lane, BUCKETS);
            let loops = (lane.private_load_32(flag) | 1).wrapping_add(1);
            lane.private_store_32(flag, loops);
            lane.store_relaxed_32(self.mark(lane), loops << 1);
        }
    }

    pub(crate) fn mark<L: Lane>(&self, lane: &L) -> *mut u32 {
        self.head(lane, BUCKETS + 2)
    }

    /// Returns the address of the mark of the thread in a block, a warp of it, and a lane of that.
    ///
    /// # Safety
    /// That of [`Self::of_lane`], and the thread is one of the launch.
    pub(crate) unsafe fn mark_of<L: Lane>(
        lane: &L,
        region: *mut u64,
        capacity: Capacity,
        (block, warp, index): (u32, u32, u32),
    ) -> *mut u32 {
        let (_, heads) = Self::of_warp(lane, (block, warp), region, capacity);
        heads.wrapping_add(((BUCKETS + 2) * lane.warp_width() + index) as usize)
    }

    /// Returns the word in which the lanes of the warp count themselves as a loop begins
    /// (`run/work.rs`): the first of the idle ones behind the flags of open transactions.
    pub(crate) fn gathering<L: Lane>(&self, lane: &L) -> *mut u32 {
        self.head(lane, BUCKETS + 1)
            .wrapping_sub(lane.lane_index() as usize)
    }

    /// Returns the address of row `i` of the region, in this lane's column.
    fn row<L: Lane>(&self, lane: &L, i: u32) -> *mut u64 {
        self.lane_base
            .wrapping_add(i as usize * lane.warp_width() as usize)
    }

    pub(crate) fn read<L: Lane>(&self, lane: &L, i: u32) -> PairSlot {
        PairSlot {
            address: self.row(lane, i),
            value: self.row(lane, self.capacity.reads + i),
        }
    }

    pub(crate) fn write<L: Lane>(&self, lane: &L, i: u32) -> PairSlot {
        let first = 2 * self.capacity.reads;
        PairSlot {
            address: self.row(lane, first + i),
            value: self.row(lane, first + self.capacity.writes + i),
        }
    }

    /// Returns the address of field `column` of entry `i` of the versioned algorithms, whose array takes
    /// the place of all three logs: as many entries as the lock log, of three fields each.
    pub(crate) fn entry<L: Lane>(&self, lane: &L, column: u32, i: u32) -> *mut u64 {
        self.row(lane, column * self.capacity.locks() + i)
    }

    /// Returns two words that the versioned algorithms use as targets without effect, among the bucket
    /// heads, aligned to 16 bytes where a warp has an even number of lanes.
    pub(crate) fn idle_pair<L: Lane>(&self, lane: &L) -> *mut u64 {
        const { assert!(BUCKETS as usize >= IDLE_HEADS) }
        // Four heads a lane, counted from the first lane's; the lane's own column begins at its index.
        self.heads
            .wrapping_add((IDLE_HEADS - 1) * lane.lane_index() as usize)
            .cast()
    }

    pub(crate) fn lock<L: Lane>(&self, lane: &L, i: u32) -> *mut u64 {
        self.row(lane, 2 * (self.capacity.reads + self.capacity.writes) + i)
    }

    pub(crate) fn actions<L: Lane>(&self, lane: &L) -> Actions {
        let before = self.capacity.words_before_actions(lane.warp_width());
        Actions(self.lane_base.wrapping_add(before as usize))
    }

    pub(crate) fn head<L: Lane>(&self, lane: &L, bucket: u32) -> *mut u32 {
        self.heads
            .wrapping_add(bucket as usize * lane.warp_width() as usize)
    }
}

/// The deferred actions of one lane: one pointer, which functions that are not inlined take in a
/// register, as [`Logs`] would be in memory.
#[derive(Clone, Copy)]
pub(crate) struct Actions(*mut u64);

impl Actions {
    #[inline(always)]
    pub(crate) fn word<L: Lane>(self, lane: &L, i: u32, k: u32) -> *mut u64 {
        let row = ACTION_WORDS * i + k;
        self.0
            .wrapping_add(row as usize * lane.warp_width() as usize)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct PairSlot {
    pub(crate) address: *mut u64,
    pub(crate) value: *mut u64,
}
