//! Arrays of locks, as kernels receive them.

use super::group::Group;
use super::lock::{LockFault, LockKind, Pauses, Place, Poll, TryLock, Turn};
use crate::lane::Lane;
use core::marker::PhantomData;

/// The words of the record of the first fault: its number, 0 for none; the
/// lock, low half and high; the thread, low half and high.
pub(crate) const FAULT_WORDS: usize = 5;

/// The words before the first lock. The record is on a line of its own.
pub(crate) const HEADER_WORDS: usize = 32;

/// Records a fault of the calling thread at lock `index`, if it is the first, and
/// returns it.
///
/// # Safety
/// `record` has [`FAULT_WORDS`] live words that are accessed by lanes only.
#[inline(never)]
pub(super) unsafe fn record_fault<L: Lane>(
    lane: &L,
    record: *mut u32,
    index: u64,
    fault: LockFault,
) -> LockFault {
    let thread = lane.grid_thread();
    let rest = [
        index as u32,
        (index >> 32) as u32,
        thread as u32,
        (thread >> 32) as u32,
    ];
    // SAFETY: the caller's promise. Relaxed: the host reads the words after the
    // launch has ended, which orders them; only the claimant of the first word
    // stores the others.
    unsafe {
        if lane.cas_relaxed_32(record, 0, fault as u32) == 0 {
            let mut word = record;
            for value in rest {
                word = word.wrapping_add(1);
                lane.store_relaxed_32(word, value);
            }
        }
    }
    fault
}

/// More words than shared memory has.
const SHARED_MAX: u64 = u32::MAX as u64;

/// An array of locks of kind `K`: a `Copy` reference that is a kernel's
/// parameter. The host's `Locks` owns the memory.
///
/// A lock protects what the program says that it protects. Data that its
/// holders access are accessed through the lane, by relaxed loads and stores;
/// the lock orders them.
///
/// ```
/// use stm_core::{Lane, sync::{LockKind, TLocks}};
///
/// /// Adds 1 to a counter that lock 0 protects.
/// fn increment<L: Lane, K: LockKind>(lane: &L, locks: &TLocks<K>, counter: *mut u32) {
///     let done = locks.with(lane, 0, || {
///         // SAFETY: the counter is live, and the lock's holder alone uses it.
///         unsafe { lane.store_relaxed_32(counter, lane.load_relaxed_32(counter) + 1) };
///     });
///     // A fault is recorded, and the host reports it.
///     let _ = done;
/// }
/// ```
#[repr(C)]
pub struct TLocks<K> {
    /// The record of the first fault, and behind it the locks.
    header: *mut u32,
    nodes: *mut u32,
    count: u64,
    /// The words from one lock to the next.
    stride: u32,
    users: u32,
    /// The first word of the locks in shared memory.
    shared: u32,
    kind: PhantomData<K>,
}

// SAFETY: the pointers are only followed through a `Lane`, whose accesses are
// atomic, and `from_raw` demands memory that outlives the launch.
unsafe impl<K> Send for TLocks<K> {}
// SAFETY: as above.
unsafe impl<K> Sync for TLocks<K> {}

impl<K> Clone for TLocks<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for TLocks<K> {}

impl<K> core::fmt::Debug for TLocks<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TLocks")
            .field("count", &self.count)
            .field("users", &self.users)
            .finish_non_exhaustive()
    }
}

/// What the closure of [`TLocks::walk`] wants next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<R> {
    /// To go on to the lock of this index: to give up the lock behind, keep the
    /// present one, and acquire this one.
    Next(u64),
    /// To give up both locks and return this.
    Done(R),
}

impl<K: LockKind> TLocks<K> {
    /// Makes a reference to `count` locks.
    ///
    /// # Safety
    /// While a kernel uses the reference:
    /// 1. `header` has [`HEADER_WORDS`] words and then `count * stride` words of
    ///    locks, and `nodes` has `users * K::USER_WORDS` words, all of them live,
    ///    aligned, and zero at first;
    /// 2. `stride` is at least `K::lock_words(users)`, and `users` is not 0 and
    ///    at most 2^28;
    /// 3. only lanes access these words, through such references of kind `K`.
    pub(crate) const unsafe fn from_raw(
        header: *mut u32,
        nodes: *mut u32,
        count: u64,
        stride: u32,
        users: u32,
        shared: u32,
    ) -> Self {
        Self {
            header,
            nodes,
            count,
            stride,
            users,
            shared,
            kind: PhantomData,
        }
    }

    /// Returns the number of locks.
    #[inline(always)]
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// Returns whether there are no locks, which the host refuses to make.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the place of the calling thread at a lock.
    #[inline(always)]
    pub(super) fn place<L: Lane>(&self, lane: &L, index: u64) -> Result<Place, LockFault> {
        if index >= self.count {
            return Err(self.fault(lane, index, LockFault::OutOfRange));
        }
        let word = HEADER_WORDS + index as usize * self.stride as usize;
        // Past 2^32 words there is no shared memory either.
        let shared = index.saturating_mul(K::SHARED_WORDS.into()).min(SHARED_MAX) as u32;
        Ok(Place::new(
            self.header.wrapping_add(word),
            (self.nodes, self.users),
            lane.grid_thread(),
            self.shared.saturating_add(shared),
        ))
    }

    /// Sets up the block's part of the locks in its shared memory, from the word on
    /// that the locks were made for (`Locks::behind_shared_words`). It does nothing
    /// for kinds that have none ([`LockKind::SHARED_WORDS`]); for others it is
    /// called before the first use of a lock, and ends with a barrier of the block.
    /// If the launch has too little shared memory, the use of the locks that are
    /// past its end is a fault.
    ///
    /// # Safety
    /// All threads of the block make this call, and nobody else uses these words of
    /// shared memory.
    #[inline(always)]
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
    #[inline(always)]
    pub(super) fn fault<L: Lane>(&self, lane: &L, index: u64, fault: LockFault) -> LockFault {
        // SAFETY: the header is live (`from_raw`).
        unsafe { record_fault(lane, self.header, index, fault) }
    }

    /// Runs `section` while the calling lane holds the lock of this index, and
    /// returns its result.
    ///
    /// Lanes of one warp may call this together, for the same lock or for
    /// different ones, or while other lanes of the warp do something else: no
    /// divergence makes it wait for ever. For kinds with
    /// [`LockKind::WARP_HANDOFF`], lanes that run together and want the same lock
    /// acquire it once, and their sections follow each other in the order of the
    /// lanes. The section is that of one lane, so it must not contain operations
    /// of the whole warp or block.
    ///
    /// The section may acquire locks of other arrays, and of the same array up to
    /// [`LockKind::HELD_MAX`]. Then all threads must acquire locks in one order,
    /// as everywhere, and the lanes of a warp must be scheduled independently
    /// (compute capability 7.0): a lane that waits inside of a section may wait
    /// for another one of its warp.
    ///
    /// # Errors
    /// The index is past the end, or the thread cannot be served; then the
    /// section has not run. The fault is recorded, and the host reports it.
    #[inline(always)]
    pub fn with<L: Lane, R>(
        &self,
        lane: &L,
        index: u64,
        section: impl FnOnce() -> R,
    ) -> Result<R, LockFault> {
        let place = self.place(lane, index)?;
        let group = if K::WARP_HANDOFF {
            Group::of(lane, place.word(0) as u64)
        } else {
            Group::alone(lane)
        };
        let mut turn = if group.leads {
            K::arrive(lane, &place)
        } else {
            Ok(Turn::default())
        };
        let mut section = Some(section);
        let mut result = None;
        let mut leaving = false;
        let mut pauses = Pauses::default();
        loop {
            if leaving {
                if Self::leaves(lane, &place, &mut turn) {
                    break;
                }
                lane.pause(LEAVE_NS);
                continue;
            }
            let poll = match &mut turn {
                Err(fault) => Poll::Failed(*fault),
                Ok(turn) if group.leads => K::poll(lane, &place, turn),
                Ok(_) => Poll::Wait(0),
            };
            match group.tell(lane, poll) {
                Poll::Granted => {
                    result = group.in_turn(lane, &mut section);
                    // The others go on when the lock has been given up, so that
                    // the group stays together; they do not wait if that takes
                    // more than a step.
                    leaving = group.leads && !Self::leaves(lane, &place, &mut turn);
                    group.meet(lane);
                    if !leaving {
                        break;
                    }
                }
                // The others wait at the next shuffle for the first.
                Poll::Wait(ns) if group.leads => pauses.pause(lane, ns),
                Poll::Wait(_) => {}
                Poll::Failed(fault) => return Err(self.fault(lane, index, fault)),
            }
        }
        // There is a result, as the loop ends with one.
        result.ok_or(LockFault::NotHeld)
    }

    /// Makes a step of giving a lock up, if the lane has it.
    #[inline(always)]
    fn leaves<L: Lane>(lane: &L, place: &Place, turn: &mut Result<Turn, LockFault>) -> bool {
        match turn {
            Ok(turn) => K::leave(lane, place, turn),
            Err(_) => true,
        }
    }

    /// Runs `section` while the calling lane holds the lock of this index, if
    /// it is free now, and returns its result, or `None` if the lock is held or
    /// awaited. It does not wait for the lock. Lanes of one warp do not act as a
    /// group here.
    ///
    /// # Errors
    /// Those of [`Self::with`].
    #[inline(always)]
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
        let mut turn = match K::try_acquire(lane, &place) {
            Ok(Some(turn)) => turn,
            Ok(None) => return Ok(None),
            Err(fault) => return Err(self.fault(lane, index, fault)),
        };
        let result = section();
        while !K::leave(lane, &place, &mut turn) {
            lane.pause(LEAVE_NS);
        }
        Ok(Some(result))
    }

    /// Walks from lock to lock hand over hand, which is lock coupling.
    ///
    /// It acquires lock `first` and calls `visit` with `None` and `first`. When
    /// that returns [`Step::Next`], the lane gives up the lock behind the present
    /// one, if there is one, acquires the next and calls `visit` again with the
    /// indices of the two locks that it holds then: the one before, and the
    /// present one. So at most two locks are held at a time, and whoever walks
    /// the same way never overtakes. All walks must go in one order of the
    /// locks. The kind must allow two locks to be held, which is checked at
    /// compile time.
    ///
    /// # Errors
    /// An index is past the end, or the thread cannot be served. Then no lock is
    /// held any more.
    #[inline(always)]
    pub fn walk<L: Lane, R>(
        &self,
        lane: &L,
        first: u64,
        mut visit: impl FnMut(Option<u64>, u64) -> Step<R>,
    ) -> Result<R, LockFault> {
        const {
            assert!(
                K::HELD_MAX >= 2,
                "a walk holds two locks at a time: use a kind with HELD_MAX >= 2, such as Mcs2"
            );
        }
        let mut walk = Walk {
            here: Held::new(self.place(lane, first)?, first),
            behind: None,
            next: None,
            done: None,
        };
        let mut pauses = Pauses::default();
        loop {
            match self.step(lane, &mut walk, &mut visit) {
                Progress::Going => {}
                Progress::Pausing(ns) => pauses.pause(lane, ns),
                Progress::Ended(result) => return result,
            }
        }
    }

    /// Makes one step of a walk, without waiting. As in [`Self::with`], lanes
    /// that wait and lanes that visit go through one loop.
    #[inline(always)]
    fn step<L: Lane, R>(
        &self,
        lane: &L,
        walk: &mut Walk<R>,
        visit: &mut impl FnMut(Option<u64>, u64) -> Step<R>,
    ) -> Progress<R> {
        let ending = walk.done.is_some();
        // First the lock behind is given up, once it is known how it goes on.
        if (ending || walk.next.is_some())
            && let Some(behind) = &mut walk.behind
        {
            if behind.leaves::<K, L>(lane) {
                walk.behind = None;
            }
            return Progress::Going;
        }
        if ending {
            if !walk.here.leaves::<K, L>(lane) {
                return Progress::Going;
            }
            return match walk.done.take() {
                Some(result) => Progress::Ended(result),
                None => Progress::Going,
            };
        }
        if let Some(index) = walk.next.take() {
            match self.place(lane, index) {
                Ok(place) => {
                    let behind = core::mem::replace(&mut walk.here, Held::new(place, index));
                    walk.behind = Some(behind);
                }
                Err(fault) => walk.done = Some(Err(fault)),
            }
            return Progress::Going;
        }
        match walk.here.asks::<K, L>(lane) {
            Poll::Granted => {
                let behind = walk.behind.as_ref().map(|behind| behind.index);
                match visit(behind, walk.here.index) {
                    Step::Next(index) => walk.next = Some(index),
                    Step::Done(result) => walk.done = Some(Ok(result)),
                }
                Progress::Going
            }
            Poll::Wait(ns) => Progress::Pausing(ns),
            Poll::Failed(fault) => {
                walk.done = Some(Err(self.fault(lane, walk.here.index, fault)));
                Progress::Going
            }
        }
    }
}

/// The pause between two steps of giving a lock up. The thread behind is about
/// to link its node.
const LEAVE_NS: u32 = 20;

/// The result of a step of a walk.
enum Progress<R> {
    Going,
    Pausing(u32),
    Ended(Result<R, LockFault>),
}

/// A walk from lock to lock.
struct Walk<R> {
    /// The lock that the walk has come to, or waits for.
    here: Held,
    /// The lock before.
    behind: Option<Held>,
    /// The lock to go to.
    next: Option<u64>,
    /// The result, when all that is left is to give up the locks.
    done: Option<Result<R, LockFault>>,
}

/// A lock that a thread asks for or holds.
struct Held {
    place: Place,
    index: u64,
    turn: Option<Turn>,
}

impl Held {
    #[inline(always)]
    const fn new(place: Place, index: u64) -> Self {
        Self {
            place,
            index,
            turn: None,
        }
    }

    /// Arrives if the thread has not done so, and asks once for the lock.
    #[inline(always)]
    fn asks<K: LockKind, L: Lane>(&mut self, lane: &L) -> Poll {
        let mut turn = match self.turn {
            Some(turn) => turn,
            None => match K::arrive(lane, &self.place) {
                Ok(turn) => turn,
                Err(fault) => return Poll::Failed(fault),
            },
        };
        let poll = K::poll(lane, &self.place, &mut turn);
        // A turn that failed has nothing to give up.
        self.turn = (!matches!(poll, Poll::Failed(_))).then_some(turn);
        poll
    }

    /// Makes a step of giving the lock up, and returns whether that is done.
    #[inline(always)]
    fn leaves<K: LockKind, L: Lane>(&mut self, lane: &L) -> bool {
        match &mut self.turn {
            Some(turn) => K::leave(lane, &self.place, turn),
            None => true,
        }
    }
}
