//! Barriers across the blocks of a launch.
//!
//! A barrier is for a grid whose blocks are all resident; the host refuses any other (`host::GridBarrier`). A
//! thread enters by [`TBarrier::enter`], once, and then calls [`Grid::wait`] as often as it likes. Each wait
//! is one *round*, whose number only grows, from launch to launch.
//!
//! Each algorithm is a type, chosen at compile time, or at launch with [`Chosen`]:
//!
//! | type | arrival | departure | hand-overs |
//! | --- | --- | --- | --- |
//! | [`TwoStage`] | all add to one counter and poll it | all add to a second counter and poll it | 2, with 2 additions a block to one word |
//! | [`XiaoFeng`] | a flag for each block, polled by block 0 | block 0 sets a flag for each block | 2, without atomics |
//! | [`Tree`] | counters of groups; the last of a group adds to the root | the last at the root sets one flag | 3 |
//! | [`Counted`] | all add to one counter | the last goes at once, the others poll it | 1 |
//! | [`Grouped`] | counters of groups; the last of a group adds to the root | all poll the root | 2, with few additions to the line that is polled |
//! | [`Led`] | counters of groups, polled by one warp | that warp sets a flag for each group | 2, with few accesses to a line |
//!
//! The first two are those of Stuart and Owens 2011 (section 5), the second after Xiao and Feng 2010, who
//! also describe a tree; [`Counted`] is the usual one. The polls of a thousand blocks delay additions to the
//! line that they poll; [`Grouped`] and [`Led`] keep the two apart, at the price of a second hand-over.
//!
//! # The protocol
//!
//! Between two barriers of the block, [`Meeting::meet`] runs in every thread; mostly one does something:
//!
//! 1. **B1**, a fence, and the *arrival*: a store or an addition.
//! 2. In some algorithms a thread passes on arrivals that it has seen, behind **B3**, a fence.
//! 3. Polls until the round is complete; **B2** makes them an acquire.
//!
//! What any thread of the grid wrote before is then visible to all of them.

mod algorithms;
mod place;

use crate::{sealed::Sealed, wait::Stopped};
use core::marker::PhantomData;
use stm_machine::{Lane, observe::Mutant};

pub use algorithms::{Chosen, Counted, Grouped, Kind, Led, Tree, TwoStage, XiaoFeng};
pub use place::BarrierMemory;

/// The largest number of blocks of a grid with a barrier.
pub const BLOCKS_MAX: u32 = 1 << 16;

/// The largest number of groups that the blocks of a grid are divided into.
pub const GROUPS_MAX: u32 = 32;

/// An algorithm for the barrier of a grid.
///
/// Every thread of the block calls the methods between two of its barriers, with the round's number.
pub trait Meeting: Sealed + Copy + core::fmt::Debug + Send + Sync + 'static {
    /// The name of the algorithm: `xiao-feng`.
    const NAME: &'static str;

    /// Says whether the host chooses the algorithm at launch, so that it must say which.
    const CHOSEN: bool = false;

    /// Returns the number of groups into which a grid of this many blocks is
    /// divided: a power of two, at most [`GROUPS_MAX`] and at most `blocks`.
    fn groups(_blocks: u32) -> u32 {
        1
    }

    /// Returns the number of lines of memory that the algorithm uses, behind the
    /// first one, in which its [`BarrierMemory`] keeps what all algorithms need.
    fn lines(blocks: u32, groups: u32) -> u32;

    /// Returns the number of the round that comes next. It is called before the calling thread's
    /// block has arrived in that round, which therefore cannot end meanwhile. Its load is relaxed: the thread
    /// left the last round, or the launch began, after the word got that number.
    fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64;

    /// Returns by how much the number of a round grows to the next one.
    #[inline(always)]
    fn step(_place: &BarrierMemory) -> u64 {
        1
    }

    /// Arrives in a round and waits for its end. It returns false if the launch was
    /// told to stop, and then the round has not ended for this thread.
    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool;
}

/// A barrier as a kernel's parameter. The host's `GridBarrier` owns it.
#[repr(C)]
pub struct TBarrier<B> {
    pub(crate) place: BarrierMemory,
    meeting: PhantomData<B>,
}

stm_machine::handle!([B] TBarrier<B>: place);

impl<B: Meeting> TBarrier<B> {
    /// Makes the barrier of a place.
    ///
    /// # Safety
    /// The place has as many groups as [`Meeting::groups`] says, and 1 + [`Meeting::lines`] lines of memory
    /// that were zero before the first launch. Until they are zero again, only kernels with barriers of this
    /// type use them, in one launch at a time, and no such launch was told to stop.
    pub const unsafe fn from_raw(place: BarrierMemory) -> Self {
        Self {
            place,
            meeting: PhantomData,
        }
    }

    /// Begins to use the barrier, by one load, before a thread's first wait. If the launch has another number
    /// of blocks than the barrier, every wait returns [`Stopped`] at once, and the host reports both.
    #[inline(always)]
    pub fn enter<'l, L: Lane>(&self, lane: &'l L) -> Grid<'l, L, B> {
        let fits = lane.grid_dim() == self.place.blocks();
        if !fits {
            self.place.refuse(lane);
        }
        Grid {
            lane,
            place: self.place,
            round: if fits { B::round(lane, &self.place) } else { 0 },
            step: B::step(&self.place),
            fits,
            meeting: PhantomData,
        }
    }
}

/// One thread's part in the barriers of a grid.
#[derive(Debug)]
pub struct Grid<'l, L, B> {
    lane: &'l L,
    place: BarrierMemory,
    round: u64,
    /// By how much the number of the round grows.
    step: u64,
    fits: bool,
    meeting: PhantomData<B>,
}

impl<L: Lane, B: Meeting> Grid<'_, L, B> {
    /// Waits until every thread of the grid has called this as often. All see what each wrote before.
    ///
    /// # Errors
    /// [`Stopped`], for all threads of a block or none, if the launch was told to stop, or has another number
    /// of blocks than the barrier. Other blocks may have gone on; the kernel should return.
    ///
    /// # Safety
    /// Every thread of the block calls it, the same number of times and in the same order as the
    /// others, and after other barriers of the block in the same order ([`Lane`], obligation 6).
    #[inline(always)]
    pub unsafe fn wait(&mut self) -> Result<(), Stopped> {
        if !self.fits {
            return Err(Stopped);
        }
        // SAFETY: every thread of the block comes here (the caller's promise).
        unsafe { self.lane.barrier() };
        let stopped = !B::meet(self.lane, &self.place, self.round);
        // SAFETY: as above.
        if unsafe { self.lane.barrier_any(stopped) } {
            return Err(Stopped);
        }
        if !Mutant::BarrierRoundKept.on(self.lane) {
            self.round += self.step;
        }
        Ok(())
    }
}
