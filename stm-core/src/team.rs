//! One transaction run by a team: the lanes of a warp together.
//!
//! For long transactions. Each lane reads and writes words of its own, next to
//! those of its neighbours if the program sees to it, so that 32 of them go to
//! memory at once; all share one snapshot, one commit, and one verdict.
//!
//! Every call on a [`TeamTx`] is made by all lanes of the team, in the same
//! order; a lane with nothing to do in one passes `None`. What a call finds is
//! the lane's own, but an error is everybody's: if a word of one lane makes the
//! attempt fail, all lanes get that `Err`, and all pass it on with `?`. Between
//! the calls the lanes may vote and shuffle.
//!
//! A word belongs to one lane: what a lane has written, the others do not see
//! before the commit. That two lanes write one word, or one reads what another
//! writes, is found by the commit: [`Abort::TeamOverlap`], a fault. Any number
//! may read a word that none writes.

use crate::abort::{Abort, TxResult};
use crate::algorithm::Algorithm;
use crate::lane::Lane;
use crate::probe::{Event, Probe};
use crate::stm_ref::StmRef;
use crate::tx::Tx;
use crate::view::View;
use crate::word::{Element, WordAddress};

/// One attempt at a transaction, as a lane of the team that makes it sees it:
/// what [`StmRef::team`] and [`StmRef::for_each_team`] hand to their closure.
pub struct TeamTx<'a, L: Lane, A: Algorithm> {
    pub(crate) tx: Tx<'a, L, A>,
    /// The lanes of the team.
    pub(crate) mask: u32,
}

/// The 64 bits that lane `source` passed.
#[inline(always)]
pub(crate) fn told<L: Lane>(lane: &L, mask: u32, v: u64, source: u32) -> u64 {
    let low = lane.shuffle_32(mask, v as u32, source);
    let high = lane.shuffle_32(mask, (v >> 32) as u32, source);
    u64::from(high) << 32 | u64::from(low)
}

/// The result of the team, of which each lane brings its own: a conflict, if
/// there is one, before any other reason. What one lane did wrong counts only
/// if all have seen a state that existed.
#[inline(always)]
pub(crate) fn agree<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    mask: u32,
    mine: TxResult<()>,
) -> TxResult<()> {
    let lane = tx.lane;
    let failed = lane.ballot(mask, mine.is_err());
    if failed == 0 {
        return Ok(());
    }
    let code = mine.err().map_or(0, |abort| abort as u32);
    let conflict = mine.is_err_and(Abort::is_conflict);
    let conflicts = lane.ballot(mask, conflict);
    let first = if conflicts == 0 { failed } else { conflicts }.trailing_zeros();
    let code = lane.shuffle_32(mask, code, first);
    tx.out_of_range = (
        told(lane, mask, tx.out_of_range.0, first),
        told(lane, mask, tx.out_of_range.1, first),
    );
    let abort = Abort::ALL.get(code as usize);
    Err(abort.copied().unwrap_or(Abort::Stopped)) // a reason, as one brought it
}

impl<'a, L: Lane, A: Algorithm> TeamTx<'a, L, A> {
    /// An attempt not yet begun, by the lanes of the calling warp.
    #[inline(always)]
    pub(crate) fn new(
        lane: &'a L,
        stm: &'a StmRef<A>,
        scratch: &'a mut A::Scratch,
        sums: &'a mut A::SumScratch,
    ) -> Self {
        Self {
            tx: Tx::new(lane, stm, scratch, sums),
            mask: lane.warp_mask(),
        }
    }

    /// Whether the calling lane speaks for the team.
    #[inline(always)]
    pub(crate) fn leads(&self) -> bool {
        self.tx.lane.lane_index() == self.mask.trailing_zeros()
    }

    /// The leader's word.
    #[inline(always)]
    pub(crate) fn of_leader(&self, v: u32) -> u32 {
        let leader = self.mask.trailing_zeros();
        self.tx.lane.shuffle_32(self.mask, v, leader)
    }

    /// Notes what became of the call, which is the same for all lanes.
    #[inline(always)]
    fn noted(&mut self, result: TxResult<()>) -> TxResult<()> {
        if let Err(abort) = result {
            self.tx.failed = Some(abort);
        }
        result
    }

    /// Tells the probe what each lane did with its words, in the leader's
    /// buffer: there the team is one transaction. Word by word, and of one word
    /// lane by lane.
    #[inline(always)]
    fn observe<const N: usize>(
        &mut self,
        words: [WordAddress; N],
        values: [u64; N],
        active: u32,
        event: impl Fn(WordAddress, u64) -> Event,
    ) {
        if !<A::Probe as Probe>::RECORDS {
            return;
        }
        let lane = self.tx.lane;
        for k in 0..N {
            let mut of = lane.ballot(self.mask, active >> k & 1 != 0);
            while of != 0 {
                let source = of.trailing_zeros();
                of &= of - 1;
                let word = WordAddress::from_bits(told(lane, self.mask, words[k].bits(), source));
                let value = told(lane, self.mask, values[k], source);
                if self.leads() {
                    self.tx.observe(|_| event(word, value));
                }
            }
        }
    }

    /// Which of the indices are there and in range; the first that is not is
    /// the lane's error.
    #[inline(always)]
    fn within<T: Element, const N: usize>(
        &mut self,
        array: &A::Array<T>,
        i: [Option<u64>; N],
    ) -> (u32, TxResult<()>) {
        let (mut active, mut mine) = (0, Ok(()));
        for (k, at) in i.into_iter().enumerate() {
            match at {
                Some(at) if at < array.len() => active |= 1 << k,
                Some(at) => {
                    self.tx.out_of_range = (at, array.len());
                    mine = Err(Abort::OutOfRange);
                }
                None => {}
            }
        }
        (active, mine)
    }

    /// Reads `array[i]`, or nothing. All lanes of the team call it together.
    ///
    /// # Errors
    /// Of any lane: a conflict with another transaction, a full read set, or an
    /// index past the end. Pass it on with `?`.
    #[inline(always)]
    pub fn read<T: Element>(&mut self, array: &A::Array<T>, i: Option<u64>) -> TxResult<Option<T>> {
        let [v] = self.read_many(array, [i])?;
        Ok(v)
    }

    /// Reads several elements for each lane, 32 at most, with their loads in
    /// flight together. All lanes of the team call it together.
    ///
    /// # Errors
    /// As [`Self::read`].
    // By constant indices, as in Tx::read_many.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    pub fn read_many<T: Element, const N: usize>(
        &mut self,
        array: &A::Array<T>,
        i: [Option<u64>; N],
    ) -> TxResult<[Option<T>; N]> {
        const { assert!(N <= 32, "read_many takes at most 32 words") }
        if let Some(abort) = self.tx.failed {
            return Err(abort);
        }
        let (inside, mine) = self.within(array, i);
        let p: [*const T; N] =
            core::array::from_fn(|k| array.place(i[k].unwrap_or(0)).cast_const());
        let mut v = [T::from_bits64(0); N];
        let mut active = inside;
        if A::wrote(&self.tx) {
            for k in 0..N {
                let word = WordAddress::of(p[k]);
                if active >> k & 1 != 0
                    && A::may_own(&self.tx, word)
                    && let Some(own) = A::own(&mut self.tx, word)
                {
                    v[k] = T::from_bits64(own);
                    active &= !(1 << k);
                }
            }
        }
        let result = A::team_read_many(&mut self.tx, self.mask, p, &mut v, active, mine);
        self.noted(result)?;
        let words = p.map(WordAddress::of);
        self.observe(words, v.map(T::to_bits64), active, Event::Read);
        Ok(core::array::from_fn(|k| {
            (inside >> k & 1 != 0).then_some(v[k])
        }))
    }

    /// Writes `array[i]`, to take effect when the transaction commits, or
    /// nothing. All lanes of the team call it together.
    ///
    /// # Errors
    /// Of any lane: a full write set, or an index past the end. Pass it on with
    /// `?`.
    #[inline(always)]
    pub fn write<T: Element>(
        &mut self,
        array: &A::Array<T>,
        write: Option<(u64, T)>,
    ) -> TxResult<()> {
        self.write_many(array, [write])
    }

    /// Writes several elements for each lane. All lanes of the team call it
    /// together.
    ///
    /// # Errors
    /// As [`Self::write`].
    #[allow(clippy::needless_range_loop)] // as in Tx::read_many
    #[inline(always)]
    pub fn write_many<T: Element, const N: usize>(
        &mut self,
        array: &A::Array<T>,
        writes: [Option<(u64, T)>; N],
    ) -> TxResult<()> {
        const { assert!(N <= 32, "write_many takes at most 32 words") }
        if let Some(abort) = self.tx.failed {
            return Err(abort);
        }
        let at: [Option<u64>; N] = core::array::from_fn(|k| writes[k].map(|(i, _)| i));
        let (active, mut mine) = self.within(array, at);
        let words: [WordAddress; N] =
            core::array::from_fn(|k| WordAddress::of(array.place(at[k].unwrap_or(0)).cast_const()));
        let bits: [u64; N] = core::array::from_fn(|k| writes[k].map_or(0, |(_, v)| v.to_bits64()));
        for k in 0..N {
            if active >> k & 1 != 0 && mine.is_ok() {
                mine = A::buffer(&mut self.tx, words[k], bits[k]);
            }
        }
        let result = agree(&mut self.tx, self.mask, mine);
        self.noted(result)?;
        self.observe(words, bits, active, Event::Write);
        Ok(())
    }

    /// Ends the transaction without effect, and without another attempt:
    /// `return tx.cancel();` in all lanes of the team.
    ///
    /// # Errors
    /// Always [`Abort::User`].
    #[inline(always)]
    pub fn cancel<T>(&mut self) -> TxResult<T> {
        self.tx.failed = Some(Abort::User);
        Err(Abort::User)
    }

    /// The lanes of the team for which `predicate` holds. All call it together.
    #[inline(always)]
    pub fn ballot(&self, predicate: bool) -> u32 {
        self.tx.lane.ballot(self.mask, predicate)
    }

    /// Whether `predicate` holds for every lane of the team. All call it together.
    #[inline(always)]
    pub fn all(&self, predicate: bool) -> bool {
        self.ballot(predicate) == self.mask
    }

    /// The lanes of the team, as a warp's mask.
    #[inline(always)]
    pub const fn mask(&self) -> u32 {
        self.mask
    }

    /// How many lanes the team has: 1 on the CPU.
    #[inline(always)]
    pub const fn size(&self) -> u32 {
        self.mask.count_ones()
    }

    /// The calling lane's place in the team, 0 to `size() - 1`.
    #[inline(always)]
    pub fn rank(&self) -> u32 {
        self.tx.lane.lane_index()
    }

    /// The calling lane.
    #[inline(always)]
    pub fn lane(&self) -> &'a L {
        self.tx.lane
    }
}
