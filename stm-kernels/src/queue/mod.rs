//! A bounded first-in-first-out queue in transactions: producers append and consumers take. One that finds it
//! full, or empty, either gives up or waits by `tx.retry` ([`Roles`]). Two words count what was ever appended
//! and taken, and a ring holds the values between them. Producers conflict with producers, and consumers with
//! consumers, as each changes one of the counts. A producer appends the number of its transaction, and each
//! notes at which position it did what: so the host can tell whether values came out in the order in which
//! they went in, and whether one was lost or doubled.

pub mod floor;

use crate::prelude::*;

transactional! {
    Queue<A>(QueueWork<A>) = queue ["queue"];
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct QueueWork<A: Algorithm> {
    /// The counts, [`TAKEN`] and [`APPENDED`].
    pub counts: A::Array<u32>,
    /// The ring; one word or more.
    pub ring: A::Array<u32>,
    /// What each transaction did ([`done`]); as many words as there are transactions, zero before the launch.
    pub results: TArray<u64>,
    pub transactions: u64,
    pub plan: QueuePlan,
}

/// The count of values that were ever taken.
pub const TAKEN: u64 = 0;
/// The count of values that were ever appended.
pub const APPENDED: u64 = 1;

/// Which transactions are producers, and what one does that finds the queue full, or empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Roles {
    /// Roles are drawn, and nobody waits.
    Drawn = 0,
    /// Even transactions are producers, and all wait.
    Alternating = 1,
    /// The first half of the transactions are consumers, and all wait. So a
    /// launch of which only the first threads are resident cannot end well.
    ConsumersFirst = 2,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePlan {
    pub seed: u64,
    pub transactions: u64,
    /// Producers in a hundred transactions, if their roles are drawn.
    pub producers_percent: u32,
    pub roles: Roles,
}

#[stm_core::inlined]
impl QueuePlan {
    pub const fn is_producer(&self, i: u64) -> bool {
        match self.roles {
            Roles::Drawn => draw(self.seed, i, 0) % 100 < self.producers_percent as u64,
            Roles::Alternating => i & 1 == 0,
            Roles::ConsumersFirst => i >= self.transactions / 2,
        }
    }

    pub const fn waits(&self) -> bool {
        !matches!(self.roles, Roles::Drawn)
    }

    /// The value that transaction `i` appends; never 0.
    pub const fn value(i: u64) -> u32 {
        i as u32 + 1
    }
}

/// What a transaction notes that got `value` into, or out of, the queue at
/// `position`; one that found the queue full, or empty, notes 0.
#[inline(always)]
pub const fn done(position: u32, value: u32) -> u64 {
    (position as u64) << 32 | value as u64
}

#[inline(always)]
fn queue<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &QueueWork<A>) {
    let places = p.ring.len() as u32;
    if places == 0 {
        return;
    }
    // What the lane's last attempt did; its transaction's, once that has ended.
    let result = Cell::new(0);
    stm.loops(lane)
        .then(|i| store_64(lane, &p.results, i, result.get()))
        .each(0..p.transactions, |tx, i| {
            let [taken, appended] = tx.read_many(&p.counts, [TAKEN, APPENDED])?;
            let waiting = appended.wrapping_sub(taken);
            result.set(0);
            if p.plan.is_producer(i) {
                if waiting < places {
                    let value = QueuePlan::value(i);
                    tx.write(&p.ring, u64::from(place(appended, places)), value)?;
                    tx.write(&p.counts, APPENDED, appended.wrapping_add(1))?;
                    result.set(done(appended, value));
                } else if p.plan.waits() {
                    return tx.retry();
                }
            } else if waiting == 0 {
                if p.plan.waits() {
                    return tx.retry();
                }
            } else {
                let value = tx.read(&p.ring, u64::from(place(taken, places)))?;
                tx.write(&p.counts, TAKEN, taken.wrapping_add(1))?;
                result.set(done(taken, value));
            }
            Ok(())
        });
}

/// The word of the ring for a position of the queue; there are some.
#[inline(always)]
pub(crate) const fn place(position: u32, places: u32) -> u32 {
    match position.checked_rem(places) {
        Some(place) => place,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_follow_the_percentage_and_values_tell_transactions_apart() {
        for percent in [0, 30, 100] {
            let plan = QueuePlan {
                seed: 5,
                transactions: 10_000,
                producers_percent: percent,
                roles: Roles::Drawn,
            };
            let producers = (0..10_000).filter(|&i| plan.is_producer(i)).count();
            let expected = 100 * percent as usize;
            assert!(producers.abs_diff(expected) < 200, "{producers}");
        }
        for roles in [Roles::Alternating, Roles::ConsumersFirst] {
            let plan = QueuePlan {
                seed: 5,
                transactions: 10_000,
                producers_percent: 0,
                roles,
            };
            assert_eq!((0..10_000).filter(|&i| plan.is_producer(i)).count(), 5000);
        }
        assert_eq!(QueuePlan::value(0), 1);
        assert_eq!(done(3, QueuePlan::value(6)), 3 << 32 | 7);
    }
}
