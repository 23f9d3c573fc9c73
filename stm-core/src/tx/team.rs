//! One attempt by a team: the lanes of a warp together, or the threads of a block ([`Crew`]).
//!
//! Teams are for long transactions. Each lane reads and writes words of its own; neighbouring words for
//! neighbouring lanes are coalesced. All have one snapshot, one commit and one verdict.
//!
//! All lanes make every call on a [`TeamTx`], in the same order; a lane with nothing to do passes `None`. A
//! result is the lane's own, but an error is everybody's. Between the calls lanes may vote and broadcast.
//!
//! A word belongs to one lane: the others do not see its writes before the commit. If two lanes write one
//! word, or one reads what another writes, the commit detects it: [`Abort::TeamOverlap`], a fault.

use crate::algorithm::prelude::*;

/// One attempt at a transaction, as each lane of its team sees it; the loops and calls of teams, as
/// [`StmRef::team`] and [`StmRef::for_each_block_team`], pass it to their closure.
///
/// A team reads and writes words, defers actions and runs alternatives. It has no operations on sums and
/// records, no nodes of pools or preassigned ones, and runs no transaction inside of another one. All lanes
/// call each method together, and an error of one lane, one of those of [`Tx`], is that of all.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Writes to each element how many of a block's threads found an odd number.
/// #[kernel(teams)]
/// pub fn count_odd(stm: &Stm, words: Cells<u32>) {
///     stm.block().each(0..1, |tx, _| {
///         let mine = u64::from(tx.rank());
///         let odd = tx.read(words, Some(mine))?.is_some_and(|word| word % 2 == 1);
///         let count = (0..tx.size()).map(|rank| tx.broadcast_from(rank, odd.into())).sum::<u64>();
///         tx.write(words, Some((mine, count as u32)))
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let mut stm = Stm::on(&Cpu::new())?;
/// let words = stm.array("words", &[5u32, 6, 7])?;
/// count_odd::launch(&mut stm, Launch::new(1, 3), &words)?;
/// assert_eq!(words.download()?, [2; 3]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
pub struct TeamTx<'a, L: Lane, A: Algorithm, C: Crew = WarpCrew> {
    pub(crate) tx: Tx<'a, L, A>,
    pub(crate) crew: C,
    /// Says whether the attempt has deferred actions, the same in all lanes.
    pub(crate) deferred: bool,
}

/// Agrees on the team's result: a conflict comes before any other reason, then a fault, then a retry. An
/// error of one lane counts only if all have seen a state that existed.
#[inline(always)]
pub(crate) fn agree<L: Lane, A: Algorithm, C: Crew>(
    tx: &mut Tx<'_, L, A>,
    crew: C,
    mine: TxResult<()>,
) -> TxResult<()> {
    let lane = tx.lane;
    let failed = crew.vote(lane, mine.is_err());
    if !C::any(failed) {
        return Ok(());
    }
    let (abort, at) = decide(lane, crew, failed, mine, tx.fault.details);
    tx.fault.details = at;
    Err(abort)
}

/// Returns the reason of the whole team, of which some have `failed`, with its index and length. It is not
/// inlined and takes its arguments by value, as it is rarely needed.
#[inline(never)]
fn decide<L: Lane, C: Crew>(
    lane: &L,
    crew: C,
    failed: C::Votes,
    mine: TxResult<()>,
    (index, len): (u64, u64),
) -> (Abort, (u64, u64)) {
    let code = mine.err().map_or(0, |abort| abort as u32);
    let conflict = mine.is_err_and(Abort::is_conflict);
    let conflicts = crew.vote(lane, conflict);
    let (votes, mine) = if C::any(conflicts) {
        (conflicts, conflict)
    } else {
        let fault = mine.is_err_and(Abort::is_fault);
        let faults = crew.vote(lane, fault);
        let retry = mine == Err(Abort::Retry);
        let retries = crew.vote(lane, retry);
        match (C::any(faults), C::any(retries)) {
            (true, _) => (faults, fault),
            (false, true) => (retries, retry),
            (false, false) => (failed, mine.is_err()),
        }
    };
    let first = crew.one_of(lane, votes, mine);
    let code = crew.broadcast_32(lane, first, code);
    let [index, len] = crew.broadcast(lane, first, [index, len]);
    let abort = Abort::ALL.get(code as usize).copied();
    (abort.unwrap_or(Abort::Stopped), (index, len)) // a reason, as one brought it
}

#[stm_core_macros::inlined]
impl<'a, L: Lane, A: Algorithm, C: Crew> TeamTx<'a, L, A, C> {
    pub(crate) fn new(
        lane: &'a L,
        stm: &'a StmRef<A>,
        scratch: &'a mut A::Scratch,
        sums: &'a mut A::SumScratch,
    ) -> Self {
        Self {
            tx: Tx::new(lane, stm, scratch, sums),
            crew: C::gather(lane, stm),
            deferred: false,
        }
    }

    pub(crate) fn leads(&self) -> bool {
        self.crew.is(self.tx.lane, self.crew.leader(self.tx.lane))
    }

    /// Broadcasts the lowest `BITS` bits of the leader's `v`, which must have no others.
    pub(crate) fn of_leader<const BITS: u32>(&self, v: u32) -> u32 {
        self.crew.broadcast_bits::<L, BITS>(self.tx.lane, v)
    }

    /// Reports to the probe what each lane did, word by word and then lane by lane, in the leader's buffer.
    fn observe<const N: usize>(
        &mut self,
        words: [WordAddress; N],
        values: [u64; N],
        active: u32,
        event: impl Fn(WordAddress, u64) -> Event,
    ) {
        if !records(self.tx.lane) {
            return;
        }
        let (lane, crew) = (self.tx.lane, self.crew);
        for k in 0..N {
            let mut waits = active >> k & 1 != 0;
            loop {
                let waiting = crew.vote(lane, waits);
                if !C::any(waiting) {
                    break;
                }
                let one = crew.one_of(lane, waiting, waits);
                waits &= !crew.is(lane, one);
                let [word, value] = crew.broadcast(lane, one, [words[k].bits(), values[k]]);
                if self.leads() {
                    let word = WordAddress::from_bits(word);
                    self.tx.observe(|_| event(word, value));
                }
            }
        }
    }

    /// Returns which of the indices are present and in range; one that is not is the lane's error.
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
                    self.tx.fault.details = (at, array.len());
                    mine = Err(Abort::OutOfRange);
                }
                None => {}
            }
        }
        (active, mine)
    }

    /// Reads `array[i]` if there is an index.
    pub fn read<T: Element>(&mut self, array: &A::Array<T>, i: Option<u64>) -> TxResult<Option<T>> {
        let [v] = self.read_many(array, [i])?;
        Ok(v)
    }

    /// Reads several elements for each lane, 32 at most, with their loads in flight together.
    pub fn read_many<T: Element, const N: usize>(
        &mut self,
        array: &A::Array<T>,
        i: [Option<u64>; N],
    ) -> TxResult<[Option<T>; N]> {
        const { assert!(N <= 32, "read_many takes at most 32 words") }
        self.tx.not_failed()?;
        let (inside, mine) = self.within(array, i);
        let words: [WordAddress; N] = core::array::from_fn(|k| array.word(i[k].unwrap_or(0)));
        let mut v = [T::from_bits64(0); N];
        let mut active = inside;
        if A::wrote(&self.tx) {
            for k in 0..N {
                if active >> k & 1 != 0
                    && A::may_have_written(&self.tx, words[k])
                    && let Some(written) = A::written_value(&mut self.tx, words[k])
                {
                    v[k] = T::from_bits64(written);
                    active &= !(1 << k);
                }
            }
        }
        self.tx.mode.has_read |= active != 0;
        let result = A::team_read_many(&mut self.tx, self.crew, words, &mut v, active, mine);
        self.tx.checked(result)?;
        self.observe(words, v.map(T::to_bits64), active, Event::Read);
        Ok(core::array::from_fn(|k| {
            (inside >> k & 1 != 0).then_some(v[k])
        }))
    }

    /// Writes `array[i]` if there is an index; the write takes effect when the transaction commits.
    pub fn write<T: Element>(
        &mut self,
        array: &A::Array<T>,
        write: Option<(u64, T)>,
    ) -> TxResult<()> {
        self.write_many(array, [write])
    }

    /// Writes several elements for each lane.
    pub fn write_many<T: Element, const N: usize>(
        &mut self,
        array: &A::Array<T>,
        writes: [Option<(u64, T)>; N],
    ) -> TxResult<()> {
        const { assert!(N <= 32, "write_many takes at most 32 words") }
        self.tx.not_failed()?;
        let at: [Option<u64>; N] = core::array::from_fn(|k| writes[k].map(|(i, _)| i));
        let (active, mut mine) = self.within(array, at);
        let words: [WordAddress; N] = core::array::from_fn(|k| array.word(at[k].unwrap_or(0)));
        let bits: [u64; N] = core::array::from_fn(|k| writes[k].map_or(0, |(_, v)| v.to_bits64()));
        for k in 0..N {
            if active >> k & 1 != 0 && mine.is_ok() {
                mine = A::buffer::<L, T>(&mut self.tx, words[k], bits[k], Inside);
            }
        }
        let result = agree(&mut self.tx, self.crew, mine);
        self.tx.checked(result)?;
        self.observe(words, bits, active, Event::Write);
        Ok(())
    }

    /// Ends the transaction without effect and without another attempt, as [`Tx::cancel`] does.
    pub fn cancel<T>(&mut self) -> TxResult<T> {
        self.tx.not_failed()?;
        self.tx.fail(Abort::User)
    }

    /// Gives up the team's attempt until a word that one of its lanes has read has changed, as [`Tx::retry`]
    /// does. All lanes do so, or some at a point after which no lane calls the transaction again. It is
    /// [`Abort::RetryWithoutReads`], a fault, only if no lane has read anything.
    pub fn retry<T>(&mut self) -> TxResult<T> {
        self.tx.not_failed()?;
        self.tx.mode.waits = true;
        self.tx.fail(Abort::Retry)
    }

    /// Returns whether `predicate` holds for any lane of the team.
    pub fn any(&self, predicate: bool) -> bool {
        C::any(self.crew.vote(self.tx.lane, predicate))
    }

    /// Returns whether `predicate` holds for every lane of the team.
    pub fn all(&self, predicate: bool) -> bool {
        self.crew.all(self.tx.lane, predicate)
    }

    /// Broadcasts the value that the lane of rank `rank` passes; the rank is the same for all lanes.
    pub fn broadcast_from(&self, rank: u32, v: u64) -> u64 {
        let lane = self.tx.lane;
        let [v] = self.crew.broadcast(lane, self.crew.member(lane, rank), [v]);
        v
    }

    /// Waits for all lanes of the team: what one wrote outside of the transaction is visible to all.
    pub fn sync(&self) {
        self.crew.meet(self.tx.lane);
    }

    /// Returns the number of lanes of the team. On the CPU a warp has 1.
    pub fn size(&self) -> u32 {
        self.crew.size(self.tx.lane)
    }

    /// Returns the calling lane's place in the team, 0 to `size() - 1`.
    pub fn rank(&self) -> u32 {
        self.crew.rank(self.tx.lane)
    }

    /// Returns the calling lane.
    pub fn lane(&self) -> &'a L {
        self.tx.lane
    }
}

#[stm_core_macros::inlined]
impl<L: Lane, A: Algorithm> TeamTx<'_, L, A, WarpCrew> {
    /// Returns the lanes of the team for which `predicate` holds.
    pub fn ballot(&self, predicate: bool) -> u32 {
        self.crew.vote(self.tx.lane, predicate)
    }

    /// Returns the lanes of the team, as a warp's mask.
    pub const fn mask(&self) -> u32 {
        self.crew.mask
    }
}
