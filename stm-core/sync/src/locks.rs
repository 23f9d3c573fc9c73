//! Arrays of locks, as kernels receive them.
//!
//! [`for_each_lock!`](crate::for_each_lock) has a table of the kinds; the host chooses
//! [`Chosen`](super::Chosen) at launch, the default, [`Mutex`](super::Mutex). Any number of lanes, warps and
//! blocks may use them, but the kinds with words for users and [`Ring`](super::Ring) only threads whose
//! number in the grid is below that of users. Nobody waits for blocks that are not resident.

use super::group::{DONE, GRANTED, Group, WAIT};
use super::header::Header;
use super::lock::{LockFault, LockKind, Pauses, Place, Poll, TryLock, Turn, UNWINDS};
use core::marker::PhantomData;
use stm_machine::Lane;

/// More words than shared memory has.
const SHARED_MAX: u64 = u32::MAX as u64;

/// Locks of kind `K` as a kernel's parameter, owned by the host's `Locks` ([an example](crate)).
///
/// A lock protects what the program says. Holders access that through the lane, relaxed; the lock orders it.
// While a kernel uses it, there are `count * stride` words of locks behind the header, of which a
// lock needs `K::lock_words(users)`, and `users * K::USER_WORDS` of nodes, or those of the kind that
// was chosen; all are live, aligned, zero at first, and accessed by lanes only, through such references.
#[repr(C)]
pub struct TLocks<K> {
    /// The record of the first fault, and behind it the locks.
    pub(crate) header: Header,
    pub(crate) nodes: *mut u32,
    pub(crate) count: u64,
    /// The words from one lock to the next.
    pub(crate) stride: u32,
    /// From 1 to 2^28.
    pub(crate) users: u32,
    /// The first word of the locks in shared memory.
    pub(crate) shared: u32,
    /// The kind, for [`Chosen`](super::Chosen).
    pub(crate) chosen: u32,
    pub(crate) kind: PhantomData<K>,
}

stm_machine::handle!([K] TLocks<K>: count, users; ..);

#[stm_machine::inlined]
impl<K: LockKind> TLocks<K> {
    stm_machine::counted!("locks", u64, count);

    pub(super) fn place<L: Lane>(&self, lane: &L, index: u64) -> Result<Place, LockFault> {
        if index >= self.count {
            return Err(self.fault(lane, index, LockFault::OutOfRange));
        }
        self.header.check(lane)?;
        if K::POISONED {
            let fault = self.header.first_fault(lane);
            if fault != 0 {
                return Err(LockFault::of(fault));
            }
        }
        let word = index as usize * self.stride as usize;
        // Past 2^32 words there is no shared memory either.
        let shared = index.saturating_mul(K::SHARED_WORDS.into()).min(SHARED_MAX) as u32;
        Ok(Place {
            lock: self.header.behind(word),
            nodes: self.nodes,
            users: self.users,
            user: lane.grid_thread(),
            shared: self.shared.saturating_add(shared),
            kind: self.chosen,
        })
    }

    /// Sets up the block's part of the locks in its shared memory, from the word on that they were made for
    /// (`Locks::behind_shared_words`). Kinds with such a part ([`LockKind::SHARED_WORDS`]) need it before
    /// their first use. It ends with a barrier of the block. One past the end of shared memory is a fault.
    ///
    /// # Safety
    /// All threads of the block make this call, and nobody else uses these words of shared memory.
    pub unsafe fn set_up_block<L: Lane>(&self, lane: &L) {
        if K::SHARED_WORDS == 0 {
            return;
        }
        let mut index = u64::from(lane.thread_index());
        while index < self.count {
            if let Ok(place) = self.place(lane, index) {
                K::set_up(lane, &place);
            }
            index += u64::from(lane.block_dim());
        }
        // SAFETY: all threads of the block call this.
        unsafe { lane.barrier() };
    }

    /// Records a fault, if it is the first, and returns it.
    pub(super) fn fault<L: Lane>(&self, lane: &L, index: u64, fault: LockFault) -> LockFault {
        if UNWINDS && fault == LockFault::HolderFailed {
            // The holder itself has recorded it.
            return fault;
        }
        self.header.record(lane, index, fault)
    }

    /// Runs `section` while the calling lane holds the lock of this index, and returns its result.
    ///
    /// Lanes of one warp may call this together or apart: no divergence makes it wait for ever. For kinds
    /// with [`LockKind::WARP_HANDOFF`], lanes that run together and want the same lock acquire it once, and
    /// have their sections in order. A section is that of one lane, without operations of the warp or block.
    ///
    /// It may acquire locks of other arrays, and of the same up to [`LockKind::HELD_MAX`], if all acquire
    /// locks in one order and the lanes of a warp are scheduled independently (compute capability 7.0).
    ///
    /// # Errors
    /// The index is past the end, or the thread cannot be served: the section has not run.
    pub fn with<L: Lane, R>(
        &self,
        lane: &L,
        index: u64,
        section: impl FnOnce() -> R,
    ) -> Result<R, LockFault> {
        self.with_group(lane, index, |_| section())
    }

    /// Does [`Self::with`] with a section that is told how many lanes acquire the lock together.
    pub(super) fn with_group<L: Lane, R>(
        &self,
        lane: &L,
        index: u64,
        section: impl FnOnce(u32) -> R,
    ) -> Result<R, LockFault> {
        let place = self.place(lane, index)?;
        let group = if K::WARP_HANDOFF {
            Group::of(lane, place.word(0) as u64)
        } else {
            Group::alone(lane)
        };
        if group.by_itself {
            return self.with_by_itself(lane, index, &place, || section(1));
        }
        let mut refused = None;
        let mut turn = Turn::default();
        if group.leads {
            match K::arrive(lane, &place) {
                Ok(arrived) => turn = arrived,
                Err(fault) => refused = Some(fault),
            }
        }
        let mut section = Some(|| self.header.watch(lane, index, || section(group.lanes())));
        let mut result = None;
        let mut phase = Phase::Asks;
        let mut pauses = Pauses::default();
        loop {
            let says = if let Some(fault) = refused {
                fault as u32
            } else if !group.leads {
                WAIT
            } else {
                match phase {
                    Phase::Asks => match K::poll(lane, &place, &mut turn) {
                        Poll::Granted => GRANTED,
                        // The others wait at the shuffle for the first.
                        Poll::Wait(ns) => {
                            match pauses.pause(lane, ns, || self.header.check(lane)) {
                                Ok(()) => WAIT,
                                Err(fault) => fault as u32,
                            }
                        }
                        Poll::Failed(fault) => fault as u32,
                    },
                    Phase::Leaves => {
                        if K::leave(lane, &place, &mut turn) {
                            DONE
                        } else {
                            lane.pause(LEAVE_NS);
                            WAIT
                        }
                    }
                    Phase::Done => DONE,
                }
            };
            match group.broadcast(lane, says) {
                GRANTED => {
                    result = group.in_turn(lane, &mut section);
                    // The first step is made at once.
                    if group.leads {
                        phase = if K::leave(lane, &place, &mut turn) {
                            Phase::Done
                        } else {
                            Phase::Leaves
                        };
                    }
                }
                WAIT => {}
                DONE => break,
                fault => return Err(self.fault(lane, index, LockFault::of(fault))),
            }
        }
        // There is a result: the lock was granted before it was given up.
        result.ok_or(LockFault::NotHeld)
    }

    /// Does [`Self::with`] for a lane that no other of its warp runs with ([`super::group`]). It needs no
    /// warp operation and no record of how far it has come, which takes a third of the time of a section.
    fn with_by_itself<L: Lane, R>(
        &self,
        lane: &L,
        index: u64,
        place: &Place,
        section: impl FnOnce() -> R,
    ) -> Result<R, LockFault> {
        let refused = |fault| self.fault(lane, index, fault);
        let mut turn = K::arrive(lane, place).map_err(refused)?;
        let mut pauses = Pauses::default();
        loop {
            match K::poll(lane, place, &mut turn) {
                Poll::Granted => break,
                Poll::Wait(ns) => {
                    (pauses.pause(lane, ns, || self.header.check(lane))).map_err(refused)?;
                }
                Poll::Failed(fault) => return Err(refused(fault)),
            }
        }
        let result = self.header.watch(lane, index, section);
        Self::give_up(lane, place, turn);
        Ok(result)
    }

    /// Makes all steps of giving a lock up.
    pub(super) fn give_up<L: Lane>(lane: &L, place: &Place, mut turn: Turn) {
        while !K::leave(lane, place, &mut turn) {
            lane.pause(LEAVE_NS);
        }
    }

    /// Does [`Self::with`] if the lock is free now, or returns `None`; lanes do not act as a group.
    ///
    /// # Errors
    /// Those of [`Self::with`].
    pub fn try_with<L: Lane, R>(
        &self,
        lane: &L,
        index: u64,
        section: impl FnOnce() -> R,
    ) -> Result<Option<R>, LockFault>
    where
        K: TryLock,
    {
        let place = self.place(lane, index)?;
        let turn = K::try_acquire(lane, &place);
        let Some(turn) = turn.map_err(|fault| self.fault(lane, index, fault))? else {
            return Ok(None);
        };
        let result = self.header.watch(lane, index, section);
        Self::give_up(lane, &place, turn);
        Ok(Some(result))
    }
}

/// The pause between two steps of giving a lock up. The thread behind is about to link its node.
const LEAVE_NS: u32 = 20;

/// How far the first lane of a group has come.
#[derive(Clone, Copy)]
enum Phase {
    Asks,
    Leaves,
    Done,
}
