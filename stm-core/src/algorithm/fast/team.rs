//! Transactions of teams: each step, taken together by all lanes of a warp or all threads of a block.
//!
//! 1. *begin*: the leader loads clock and gate's word (F1); a barrier carries its acquire to all (F7).
//! 2. *read*: each lane reads its own words. If one is locked or newer than the snapshot, all extend: the
//!    leader loads the clock and every lane validates its entries; if one fails, the attempt of all fails.
//! 3. *commit*: each lane acquires the locks of the words it has written; if one fails, all release theirs.
//!    Then the clock advances once for the team, and each lane validates what it has read; if one fails, all
//!    release theirs. Then each lane writes back under the one version.
//!
//! Invariant: every branch around a vote, a barrier or a broadcast is the same for all members.
//!
//! The table has one lock for many words, so two lanes may need one. They lock in the name of the leader, so
//! a lane that finds its word locked by its team does not know which member owns it; `settle_as_team` asks
//! about these words one after the other. The owner shares a lock acquired from the version that the asker
//! has seen; else it is a conflict. If another lane has accessed the very same word, the program is wrong
//! ([`Abort::TeamOverlap`]), which is detected at the first commit that meets no conflict.

use crate::algorithm::fast::prelude::*;
use crate::tx::team::agree;

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const INLINE: usize> Tx<'_, L, Versioned<S, INLINE>> {
    fn team_clock<C: Crew>(&self, crew: C) -> Version {
        let lane = self.lane;
        let mut now = Version(0);
        if crew.is(lane, crew.leader(lane)) || Mutant::TeamClockApart.on(lane) {
            now = self.clock(Mutant::NoF1Team);
        }
        self.of_leader(crew, now)
    }

    pub(crate) fn of_leader<C: Crew>(&self, crew: C, now: Version) -> Version {
        let lane = self.lane;
        if Mutant::TeamClockApart.on(lane) {
            return self.clock(Mutant::NoF1Begin);
        }
        // ORDER(F7): the leader's load of the clock before the next loads of
        // any lane. This carries F1 to the others.
        if !Mutant::NoF7.on(lane) {
            crew.meet(lane);
        }
        let [now] = crew.broadcast(lane, crew.leader(lane), [now.0]);
        Version(now)
    }

    pub(crate) fn read_as_team<C: Crew, T: Element, const N: usize>(
        &mut self,
        crew: C,
        words: [WordAddress; N],
        v: &mut [T; N],
        active: u32,
        mine: TxResult<()>,
    ) -> TxResult<()> {
        let lane = self.lane;
        self.attempt.apart |= !S::packs::<T>();
        let mut polls = 0;
        let seen = loop {
            let seen = self.load(words, v, active);
            let bits = lane.version_bits();
            let (locked, newer) = S::newest::<T, N>(seen, !active, self.attempt.snapshot, bits);
            let locked = locked && !Mutant::LockBitIgnored.on(lane);
            let newer = locked || newer;
            if !C::any(crew.vote(lane, newer)) {
                break seen;
            }
            let any_locked = C::any(crew.vote(lane, locked));
            polls += 1;
            if polls - 1
                == self
                    .stm
                    .read_polls_or(Versioned::<S, INLINE>::TEAM_READ_POLLS)
            {
                return Err(if any_locked {
                    Abort::ReadLocked
                } else {
                    Abort::ReadStale
                });
            }
            if !any_locked {
                let now = self.team_clock(crew);
                let extended = if newer || !Mutant::TeamExtendsApart.on(lane) {
                    self.extend_to::<1>(now)
                } else {
                    self.attempt.snapshot = now;
                    Ok(())
                };
                if C::any(crew.vote(lane, extended.is_err())) {
                    return Err(Abort::ReadStale);
                }
                let renewed = self.renew::<T, N>(words, seen, active);
                if S::CELLS && C::any(crew.vote(lane, renewed)) {
                    polls -= 1;
                }
            }
        };
        let mut mine = mine;
        if S::packs::<T>() && self.has_outlived(Mutant::OldReadUnchecked) {
            mine = Err(Abort::ReadStale);
        }
        if mine.is_ok() && active != 0 {
            let idle = !active & ((1u64 << N) - 1) as u32;
            mine = self.add_reads(words, seen, v, idle);
        }
        agree(self, crew, mine)
    }
}
