//! Crews: the members of a team, and how they vote, broadcast words and synchronise.
//!
//! The transactions of teams are written once, against [`Crew`]:
//!
//! | | [`WarpCrew`] | [`BlockCrew`] |
//! | --- | --- | --- |
//! | members | the lanes of a warp | the threads of a block |
//! | vote | `vote.sync.ballot` | `bar.red.or` |
//! | count | `vote.sync.ballot` | `bar.red.popc` |
//! | broadcast | `shfl.sync` | a word of the block's place, between two barriers |
//! | barrier | `bar.warp.sync` | `bar.sync` |
//! | memory order | by the barrier | by each of the three |
//!
//! All members make all calls but those that ask who they are, in the same order: every branch around one
//! depends on a vote or a broadcast, or is the same for all members.
//!
//! # The place of a block
//! The place is a few words of global memory in the logs of the block's first warp (`Logs::place_of_block`).
//! The speaker stores, all pass a barrier, all load, and all pass a barrier. If several want to speak, the
//! one that finds the claim free does; it frees the claim when all have tried.

use crate::hint::{Sealed, brief};
use crate::memory::logs::{Logs, PLACE_WORDS};
use crate::tx::stm_ref::StmRef;
use stm_machine::{Lane, observe::Mutant};

/// The members of a team: a type parameter of [`TeamTx`](crate::TeamTx).
pub trait Crew: Copy + Sealed {
    /// The result of a vote.
    type Votes: Copy;
    /// One of the members, whose words are broadcast.
    type Speaker: Copy;

    /// Returns the crew of the calling thread. All members call it together.
    fn gather<L: Lane, A>(lane: &L, stm: &StmRef<A>) -> Self;

    /// Returns the number of the crew in the launch.
    fn number<L: Lane>(lane: &L) -> u64;

    /// Returns the number of crews in the launch.
    fn count<L: Lane>(lane: &L) -> u64;

    /// Returns the number of members.
    fn size<L: Lane>(self, lane: &L) -> u32;

    /// Returns the calling member's place, 0 to `size - 1`.
    fn rank<L: Lane>(self, lane: &L) -> u32;

    /// Returns the leader, the first member.
    fn leader<L: Lane>(self, lane: &L) -> Self::Speaker;

    /// Returns the member with this rank.
    fn member<L: Lane>(self, lane: &L, rank: u32) -> Self::Speaker;

    /// Returns the number of the leader's thread in the grid.
    fn leader_thread<L: Lane>(self, lane: &L) -> u64;

    /// Returns whether the calling member is `one`.
    fn is<L: Lane>(self, lane: &L, one: Self::Speaker) -> bool;

    /// Votes: collects `predicate` from all members.
    fn vote<L: Lane>(self, lane: &L, predicate: bool) -> Self::Votes;

    /// Returns whether any voter's predicate held.
    fn any(votes: Self::Votes) -> bool;

    /// Returns whether the predicate holds for all members.
    fn all<L: Lane>(self, lane: &L, predicate: bool) -> bool;

    /// Returns for how many members the predicate holds. One that has ended does not count.
    fn count_of<L: Lane>(self, lane: &L, predicate: bool) -> u32;

    /// Returns one of the members whose predicate held; there is one. `predicate` is the calling member's.
    fn one_of<L: Lane>(self, lane: &L, votes: Self::Votes, predicate: bool) -> Self::Speaker;

    /// Broadcasts one or two 64-bit words of the member `by` to all.
    fn broadcast<L: Lane, const K: usize>(
        self,
        lane: &L,
        by: Self::Speaker,
        v: [u64; K],
    ) -> [u64; K];

    /// Broadcasts 32 bits of the member `by` to all.
    fn broadcast_32<L: Lane>(self, lane: &L, by: Self::Speaker, v: u32) -> u32;

    /// Broadcasts the lowest `BITS` bits of the leader's `v`, which must have no others, to all.
    fn broadcast_bits<L: Lane, const BITS: u32>(self, lane: &L, v: u32) -> u32;

    /// Waits for all members; everything that one wrote before is visible to all afterwards.
    fn meet<L: Lane>(self, lane: &L);
}

/// The lanes of one warp; in a team, all lanes that the warp has.
#[derive(Clone, Copy, Debug)]
pub struct WarpCrew {
    pub(crate) mask: u32,
}

#[stm_core_macros::inlined]
impl WarpCrew {
    /// Makes the crew of a mask: a token that lets the lanes vote, broadcast words and synchronise.
    ///
    /// # Safety
    /// The mask names the calling lane, and each lane of it uses such a token in the same calls and order.
    pub(crate) const unsafe fn of(mask: u32) -> Self {
        Self { mask }
    }
}

impl Sealed for WarpCrew {}
#[stm_core_macros::inlined]
impl Crew for WarpCrew {
    /// The lanes whose predicate held.
    type Votes = u32;
    type Speaker = u32;

    fn gather<L: Lane, A>(lane: &L, _stm: &StmRef<A>) -> Self {
        // SAFETY: all lanes of the warp call this together (trait), and so they do what follows.
        unsafe { Self::of(lane.warp_mask()) }
    }

    fn number<L: Lane>(lane: &L) -> u64 {
        let warps = u64::from(lane.block_dim().div_ceil(lane.warp_width()));
        u64::from(lane.block_index()) * warps + u64::from(lane.warp_index())
    }

    fn count<L: Lane>(lane: &L) -> u64 {
        let warps = u64::from(lane.block_dim().div_ceil(lane.warp_width()));
        u64::from(lane.grid_dim()) * warps
    }

    brief! {
        fn size<L: Lane>(self, _lane: &L) -> u32 = self.mask.count_ones();
        fn rank<L: Lane>(self, lane: &L) -> u32 = lane.lane_index();
        fn leader<L: Lane>(self, _lane: &L) -> u32 = self.mask.trailing_zeros();
        fn member<L: Lane>(self, _lane: &L, rank: u32) -> u32 = rank;
        fn leader_thread<L: Lane>(self, lane: &L) -> u64 =
            lane.grid_thread() - u64::from(lane.lane_index()) + u64::from(self.leader(lane));
        fn is<L: Lane>(self, lane: &L, one: u32) -> bool = lane.lane_index() == one;
        fn any(votes: u32) -> bool = votes != 0;
        fn all<L: Lane>(self, lane: &L, predicate: bool) -> bool = self.vote(lane, predicate) == self.mask;
        fn count_of<L: Lane>(self, lane: &L, predicate: bool) -> u32 =
            self.vote(lane, predicate).count_ones();
        fn one_of<L: Lane>(self, _lane: &L, votes: u32, _predicate: bool) -> u32 = votes.trailing_zeros();
    }

    fn vote<L: Lane>(self, lane: &L, predicate: bool) -> u32 {
        // SAFETY: the token (`of`), which all members use together.
        unsafe { lane.ballot(self.mask, predicate) }
    }

    fn broadcast<L: Lane, const K: usize>(self, lane: &L, by: u32, v: [u64; K]) -> [u64; K] {
        v.map(|v| {
            let low = self.broadcast_32(lane, by, v as u32);
            let high = self.broadcast_32(lane, by, (v >> 32) as u32);
            u64::from(high) << 32 | u64::from(low)
        })
    }

    fn broadcast_32<L: Lane>(self, lane: &L, by: u32, v: u32) -> u32 {
        // SAFETY: the token (`of`); a speaker is one of the members.
        unsafe { lane.shuffle_32(self.mask, v, by) }
    }

    fn broadcast_bits<L: Lane, const BITS: u32>(self, lane: &L, v: u32) -> u32 {
        self.broadcast_32(lane, self.leader(lane), v)
    }

    fn meet<L: Lane>(self, lane: &L) {
        // SAFETY: the token (`of`).
        unsafe { lane.sync_warp(self.mask) };
    }
}

/// The threads of a block, any number of them.
#[derive(Clone, Copy, Debug)]
pub struct BlockCrew {
    /// The claim, followed by the words that are broadcast; [`PLACE_WORDS`] in all.
    place: *mut u64,
}

impl BlockCrew {
    #[inline(always)]
    const fn word(self, k: usize) -> *mut u64 {
        self.place.wrapping_add(1 + k)
    }
}

impl Sealed for BlockCrew {}
#[stm_core_macros::inlined]
impl Crew for BlockCrew {
    /// Says whether any thread's predicate held.
    type Votes = bool;
    /// Says whether the calling thread is the member.
    type Speaker = bool;

    fn gather<L: Lane, A>(lane: &L, stm: &StmRef<A>) -> Self {
        // SAFETY: the region is live (StmRef::from_raw), and algorithms with teams have no lock logs.
        let place = unsafe { Logs::place_of_block(lane, stm.region, stm.capacity) };
        if lane.thread_index() == 0 {
            // SAFETY: a word of the place; the claim is freed. Relaxed: a vote comes before a claim.
            unsafe { lane.store_relaxed_64(place, 0) };
        }
        Self { place }
    }

    brief! {
        fn number<L: Lane>(lane: &L) -> u64 = u64::from(lane.block_index());
        fn count<L: Lane>(lane: &L) -> u64 = u64::from(lane.grid_dim());
        fn size<L: Lane>(self, lane: &L) -> u32 = lane.block_dim();
        fn rank<L: Lane>(self, lane: &L) -> u32 = lane.thread_index();
        fn leader<L: Lane>(self, lane: &L) -> bool = self.member(lane, 0);
        fn member<L: Lane>(self, lane: &L, rank: u32) -> bool = lane.thread_index() == rank;
        fn leader_thread<L: Lane>(self, lane: &L) -> u64 =
            lane.grid_thread() - u64::from(lane.thread_index());
        fn is<L: Lane>(self, _lane: &L, one: bool) -> bool = one;
        fn any(votes: bool) -> bool = votes;
        fn all<L: Lane>(self, lane: &L, predicate: bool) -> bool = !self.vote(lane, !predicate);
    }

    fn vote<L: Lane>(self, lane: &L, predicate: bool) -> bool {
        if Mutant::BlockVotesByWarp.on(lane) {
            // SAFETY: all threads of the block are here (trait).
            return unsafe {
                lane.barrier();
                lane.ballot(lane.warp_mask(), predicate) != 0
            };
        }
        // SAFETY: all threads of the block call it together (trait).
        unsafe { lane.barrier_any(predicate) }
    }

    fn count_of<L: Lane>(self, lane: &L, predicate: bool) -> u32 {
        // SAFETY: all threads of the block that have not ended call it together.
        unsafe { lane.barrier_count(predicate) }
    }

    fn one_of<L: Lane>(self, lane: &L, _votes: bool, predicate: bool) -> bool {
        // SAFETY: a word of the place. Relaxed: it orders nothing; a vote
        // followed when the claim was freed, and another comes before the next claim.
        unsafe {
            let first = predicate && lane.cas_relaxed_64(self.place, 0, 1) == 0;
            lane.barrier();
            if first {
                lane.store_relaxed_64(self.place, 0);
            }
            first
        }
    }

    fn broadcast<L: Lane, const K: usize>(self, lane: &L, by: bool, v: [u64; K]) -> [u64; K] {
        const { assert!((K as u64) < PLACE_WORDS, "as many words as the place has") }
        // SAFETY: words of the place. Relaxed: the barriers order them.
        unsafe {
            if by {
                for k in 0..K {
                    lane.store_relaxed_64(self.word(k), v[k]);
                }
            }
            // ORDER(F9): stored before any member loads.
            if !Mutant::BlockToldEarly.on(lane) {
                lane.barrier();
            }
            let values = core::array::from_fn(|k| lane.load_relaxed_64(self.word(k)));
            // ORDER(F9'): loaded by all before a member stores again.
            lane.barrier();
            values
        }
    }

    fn broadcast_32<L: Lane>(self, lane: &L, by: bool, v: u32) -> u32 {
        let [v] = self.broadcast(lane, by, [u64::from(v)]);
        v as u32
    }

    /// It uses votes, which are faster than a round trip to memory.
    fn broadcast_bits<L: Lane, const BITS: u32>(self, lane: &L, v: u32) -> u32 {
        let leads = self.leader(lane);
        (0..BITS).fold(0, |bits, k| {
            bits | u32::from(self.vote(lane, leads && v >> k & 1 != 0)) << k
        })
    }

    fn meet<L: Lane>(self, lane: &L) {
        // SAFETY: all threads of the block call it together (trait).
        unsafe { lane.barrier() };
    }
}
