//! What makes transactions of parts: waiting for a change, alternatives, and transactions inside of others.
//!
//! # Alternatives
//! The code that runs if other code of the same attempt retries:
//!
//! 1. *save*: note what the sets hold.
//! 2. Run the first alternative. If it does not retry, its effects stay.
//! 3. *undo*: remove its writes and additions, execute its actions for an abort, and drop those for a commit.
//! 4. Run the second. If it retries too, so does the transaction, or the alternative that this is a part of.
//!
//! What the first has read stays in the sets, as the second runs because of it: the commit validates it, and
//! its change wakes a transaction that waits.
//!
//! # Nesting
//! Nesting is flat: a transaction inside another one is a part of it. It commits with it, its errors are
//! those of the whole attempt, and a conflict anywhere repeats all of it.

use crate::algorithm::prelude::*;
use crate::tx::actions::When;
use crate::tx::team::TeamTx;

struct Before<S> {
    sets: S,
    actions: u32,
    accepted: u64,
}

#[stm_core_macros::inlined]
impl<L: Lane, A: Algorithm> Tx<'_, L, A> {
    fn begin_alternative(&mut self) -> Before<A::Savepoint> {
        Before {
            sets: A::save(self),
            actions: self.actions.count,
            accepted: self.probe.accepted,
        }
    }

    /// Undoes an alternative that has retried. Of a team, only the leader `reports` it to a probe.
    fn undo_alternative(&mut self, before: &Before<A::Savepoint>, reports: bool) {
        self.fault.reason = None;
        self.mode.waits = false;
        A::undo(self, before.sets, Inside);
        self.end_actions_from(before.actions, When::Abort, self.lane.grid_thread());
        if records(self.lane) && reports {
            let undone = self.probe.accepted - before.accepted;
            self.observe(|_| Event::Undo(undone));
            self.probe.accepted = before.accepted;
        }
    }

    /// Gives up the attempt until a word that it has read has changed, and then makes another one:
    /// `return tx.retry();` (Harris, Marlow, Peyton Jones and Herlihy 2005).
    ///
    /// While it waits, the transaction owns nothing and keeps nobody from running; a loop inside the closure
    /// could keep out the very transaction that it waits for. It counts as an abort, and not as a conflict.
    /// If all threads of a launch wait, that ends with
    /// [`Error::EverybodyWaits`](crate::host::Error::EverybodyWaits).
    ///
    /// ```
    /// use stm_core::{Lane, Tx, TxResult, View, algorithm::Algorithm};
    ///
    /// /// Takes the oldest item out of a bounded queue; waits while it is empty.
    /// fn take<L: Lane, A: Algorithm>(
    ///     tx: &mut Tx<'_, L, A>, ends: &A::Array<u64>, items: &A::Array<u64>,
    /// ) -> TxResult<u64> {
    ///     let [head, tail] = tx.read_many(ends, [0, 1])?;
    ///     if head == tail {
    ///         return tx.retry();
    ///     }
    ///     tx.write(ends, 0, head + 1)?;
    ///     tx.read(items, head % items.len())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Abort::Retry`], or, if the attempt has read nothing, [`Abort::RetryWithoutReads`], a fault.
    pub fn retry<T>(&mut self) -> TxResult<T> {
        self.not_failed()?;
        if !self.mode.has_read {
            return self.fail(Abort::RetryWithoutReads);
        }
        self.mode.waits = true;
        self.fail(Abort::Retry)
    }

    /// Runs `first`, and if that retries ([`Self::retry`]), `second`, as if `first` had written nothing
    /// (Harris et al. 2005). If `second` retries too, the transaction waits for a change of what either has
    /// read. Other errors end the attempt.
    ///
    /// Alternatives nest. While one is open, a word that is accessed again may take another entry of its set.
    ///
    /// ```
    /// use stm_core::{Lane, Tx, TxResult, View, algorithm::Algorithm};
    ///
    /// /// Takes one from counter 0 or, if that is empty, from counter 1; waits
    /// /// while both are empty.
    /// fn take_any<L: Lane, A: Algorithm>(
    ///     tx: &mut Tx<'_, L, A>, counters: &A::Array<u32>,
    /// ) -> TxResult<()> {
    ///     let take = |tx: &mut Tx<'_, L, A>, i| match tx.read(counters, i)? {
    ///         0 => tx.retry(),
    ///         n => tx.write(counters, i, n - 1),
    ///     };
    ///     tx.or_else(|tx| take(tx, 0), |tx| take(tx, 1))
    /// }
    /// ```
    pub fn or_else<R>(
        &mut self,
        first: impl FnOnce(&mut Self) -> TxResult<R>,
        second: impl FnOnce(&mut Self) -> TxResult<R>,
    ) -> TxResult<R> {
        self.not_failed()?;
        let before = self.begin_alternative();
        let result = first(self);
        if self.mode.waits {
            self.undo_alternative(&before, true);
            return second(self);
        }
        A::keep(self, before.sets, Inside);
        // A closure that swallowed a failure has failed nevertheless.
        self.fault.reason.map_or(result, Err)
    }
}

impl<L: Lane, A: Algorithm, C: Crew> TeamTx<'_, L, A, C> {
    /// Runs `first`; if a lane retries and none fails otherwise, all run `second`, as [`Tx::or_else`] does.
    #[inline(always)]
    pub fn or_else<R>(
        &mut self,
        first: impl FnOnce(&mut Self) -> TxResult<R>,
        second: impl FnOnce(&mut Self) -> TxResult<R>,
    ) -> TxResult<R> {
        self.tx.not_failed()?;
        let before = self.tx.begin_alternative();
        let result = first(self);
        let lane = self.tx.lane;
        let other = self.tx.fault.reason.is_some() && !self.tx.mode.waits;
        let retries = C::any(self.crew.vote(lane, self.tx.mode.waits));
        if retries && !C::any(self.crew.vote(lane, other)) {
            if self.deferred {
                // ORDER(D1): what all lanes have done before the actions of any.
                self.crew.meet(lane);
            }
            let leads = self.leads();
            self.tx.undo_alternative(&before, leads);
            return second(self);
        }
        A::keep(&mut self.tx, before.sets, Inside);
        self.tx.fault.reason.map_or(result, Err)
    }
}

/// What can run a transaction: a lane on its own ([`StmRef::on`]), or a transaction that has begun. A
/// function that is generic over it may be called outside of transactions and inside of one.
///
/// ```
/// use stm_core::{Lane, StmRef, Transact, TxResult, View, algorithm::Algorithm};
///
/// /// Moves `n` from one account to another, as a transaction of its own or as a
/// /// part of the caller's.
/// fn transfer<L: Lane, A: Algorithm>(
///     at: &mut impl Transact<L, A>, accounts: &A::Array<u64>, from: u64, to: u64, n: u64,
/// ) -> TxResult<()> {
///     at.atomically(|tx| {
///         let left = tx.read(accounts, from)?;
///         tx.write(accounts, from, left - n)?;
///         let found = tx.read(accounts, to)?;
///         tx.write(accounts, to, found + n)
///     })
/// }
///
/// /// Moves `n` twice, both or neither.
/// fn rotate<L: Lane, A: Algorithm>(
///     lane: &L, stm: &StmRef<A>, accounts: &A::Array<u64>, n: u64,
/// ) -> TxResult<()> {
///     stm.atomically(lane, |tx| {
///         transfer(tx, accounts, 0, 1, n)?;
///         transfer(tx, accounts, 1, 2, n)
///     })?;
///     // And once more on its own.
///     transfer(&mut stm.on(lane), accounts, 2, 0, n)
/// }
/// ```
pub trait Transact<L: Lane, A: Algorithm> {
    /// Runs a transaction: on a lane of its own as [`StmRef::atomically`]. Inside of a transaction, `body` is
    /// a part of it, sees its writes, and takes effect when the whole commits; an error ends the attempt of
    /// the whole, even if the caller drops it. Errors: of [`StmRef::atomically`], or of the attempt.
    fn atomically<R>(&mut self, body: impl FnMut(&mut Tx<'_, L, A>) -> TxResult<R>) -> TxResult<R>;
}

/// A lane that can run transactions on a memory: see [`StmRef::on`].
#[derive(Debug)]
pub struct OnLane<'a, L, A> {
    stm: &'a StmRef<A>,
    lane: &'a L,
}

impl<A: Algorithm> StmRef<A> {
    /// Returns the lane with this memory, for functions that take a [`Transact`].
    #[inline(always)]
    pub const fn on<'a, L: Lane>(&'a self, lane: &'a L) -> OnLane<'a, L, A> {
        OnLane { stm: self, lane }
    }
}

impl<L: Lane, A: Algorithm> Transact<L, A> for OnLane<'_, L, A> {
    #[inline(always)]
    fn atomically<R>(&mut self, body: impl FnMut(&mut Tx<'_, L, A>) -> TxResult<R>) -> TxResult<R> {
        self.stm.atomically(self.lane, body)
    }
}

impl<L: Lane, A: Algorithm> Transact<L, A> for Tx<'_, L, A> {
    #[inline(always)]
    fn atomically<R>(
        &mut self,
        mut body: impl FnMut(&mut Tx<'_, L, A>) -> TxResult<R>,
    ) -> TxResult<R> {
        self.not_failed()?;
        let result = body(self);
        // A closure that swallowed a failure has failed nevertheless.
        self.fault.reason.map_or(result, Err)
    }
}
