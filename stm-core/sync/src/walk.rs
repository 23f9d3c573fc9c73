//! Walks from lock to lock, of which two are held at a time.
//!
//! A walk is a loop of steps that do not wait, as a single critical section is, so that lanes of
//! one warp that are at different places of a walk do not keep each other from going on.

use super::lock::{LockFault, LockKind, Pauses, Place, Poll, Turn};
use super::locks::TLocks;
use stm_machine::Lane;

/// What the closure of [`TLocks::walk`] wants next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<R> {
    /// To go on to this lock: to give up the one behind, keep the present one, and acquire this.
    Next(u64),
    /// To give up both locks and return this.
    Done(R),
}

#[stm_machine::inlined]
impl<K: LockKind> TLocks<K> {
    /// Walks from lock to lock hand over hand, which is lock coupling.
    ///
    /// It acquires lock `first` and calls `visit` with `None` and `first`. When that returns
    /// [`Step::Next`], the lane gives up the lock behind the present one, if there is one, acquires
    /// the next and calls `visit` again with the indices of the two locks that it holds then: the
    /// one before, and the present one. So whoever walks the same way never overtakes. All walks must
    /// go in one order of the locks. The kind must allow two locks to be held ([`LockKind::HELD_MAX`]).
    ///
    /// # Errors
    /// An index is past the end, or the thread cannot be served. Then no lock is held any more.
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
                Progress::Pausing(ns) => {
                    if let Err(fault) = pauses.pause(lane, ns, || self.header.check(lane)) {
                        // The lock waited for is not the lane's, and has nothing to give up.
                        walk.here.turn = None;
                        let fault = self.fault(lane, walk.here.index, fault);
                        walk.done = Some(Err(fault));
                    }
                }
                Progress::Ended(result) => return result,
            }
        }
    }

    /// Makes one step of a walk, without waiting. As in [`Self::with`], lanes
    /// that wait and lanes that visit go through one loop.
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
                let here = walk.here.index;
                match self.header.watch(lane, here, || visit(behind, here)) {
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

enum Progress<R> {
    Going,
    Pausing(u32),
    Ended(Result<R, LockFault>),
}

struct Walk<R> {
    /// The lock that the walk has come to, or waits for.
    here: Held,
    behind: Option<Held>,
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

#[stm_machine::inlined]
impl Held {
    const fn new(place: Place, index: u64) -> Self {
        Self {
            place,
            index,
            turn: None,
        }
    }

    /// Arrives if the thread has not done so, and asks once for the lock.
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
    fn leaves<K: LockKind, L: Lane>(&mut self, lane: &L) -> bool {
        match &mut self.turn {
            Some(turn) => K::leave(lane, &self.place, turn),
            None => true,
        }
    }
}
