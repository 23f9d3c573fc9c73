//! One attempt at a transaction: the user's closure calls [`Tx`], which checks indices, reports events
//! to the probe, remembers the first failure, and leaves everything else to the [`Algorithm`].
//!
//! Invariants: an attempt that has failed does not commit, whatever the closure returns; the state
//! of the attempt (`attempt`) is touched by its algorithm alone.

use crate::algorithm::contract::{DeferredActions, Mode, PoolSearch, ProbeState};
use crate::algorithm::prelude::*;
use crate::observe::phase::Phase;
use crate::tx::abort::Fault;
use stm_machine::lane::times;
use stm_machine::observe::Probe;

#[stm_core_macros::inlined]
impl<'a, L: Lane, A: Algorithm> Tx<'a, L, A> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[cfg_attr(not(target_arch = "nvptx64"), inline(never))]
    pub(crate) fn new(
        lane: &'a L,
        stm: &'a StmRef<A>,
        scratch: &'a mut A::Scratch,
        sum_scratch: &'a mut A::SumScratch,
    ) -> Self {
        Self {
            lane,
            stm,
            logs: stm.logs(lane),
            attempt: A::attempt(scratch, sum_scratch),
            fault: Fault::default(),
            mode: Mode::default(),
            actions: DeferredActions::default(),
            pool: PoolSearch {
                hint: u32::MAX,
                misses: 0,
            },
            probe: ProbeState {
                // SAFETY: the metadata is live (StmRef::from_raw), and the host has put a buffer there.
                cursor: unsafe { lane.probe().open(lane, stm.probe_buffer()) },
                version: Version(0),
                accepted: 0,
                doomed: false,
            },
        }
    }

    pub(crate) fn begin(&mut self) -> TxResult<()> {
        // The time before belongs to no attempt, however this one ends.
        if times(self.lane) {
            if A::GRANULE == Granule::LaneInTurn {
                self.spent(Phase::Locks); // until it was its turn
            }
            self.settle(false);
        }
        self.clear();
        self.observe(|tx| Event::Begin(A::now(tx)));
        A::begin(self, Inside)
    }

    /// Empties the sets and the state of the attempt. What the lane keeps from one attempt to the next stays.
    pub(crate) fn clear(&mut self) {
        A::clear(&mut self.attempt);
        self.fault = Fault::default();
        self.mode.has_read = false;
        self.mode.waits = false;
        self.actions = DeferredActions::default();
        self.probe.doomed = false;
    }

    pub(crate) fn spent(&mut self, phase: Phase) {
        self.lane
            .probe()
            .spent(self.lane, &mut self.probe.cursor, phase as usize);
    }

    /// Settles the marked time as that of an aborted attempt or not.
    pub(crate) fn settle(&mut self, aborted: bool) {
        let instead = aborted.then_some(Phase::Aborted as usize);
        self.lane.probe().settle(&mut self.probe.cursor, instead);
    }

    /// Commits the attempt. On the CPU this is compiled once for an algorithm, and not for each kernel.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[cfg_attr(not(target_arch = "nvptx64"), inline(never))]
    pub(crate) fn commit(&mut self, together: WarpCrew) -> TxResult<()> {
        A::commit(self, together)
    }

    pub(crate) fn observe(&mut self, event: impl FnOnce(&Self) -> Event) {
        if records(self.lane) {
            let event = event(self);
            self.observed(event);
        }
    }

    // Out of line on the CPU, where every kernel can be observed, and seldom is.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    #[cfg_attr(not(target_arch = "nvptx64"), cold, inline(never))]
    fn observed(&mut self, event: Event) {
        if matches!(
            event,
            Event::Write(..) | Event::Add(..) | Event::AddFloat(_)
        ) {
            self.probe.accepted += 1;
        }
        let lane = self.lane;
        lane.probe()
            .record(lane, &mut self.probe.cursor, event.record());
    }

    pub(crate) fn committed_as(&mut self, version: Version) {
        if records(self.lane) {
            self.probe.version = version;
        }
    }

    pub(crate) fn not_failed(&self) -> TxResult<()> {
        self.fault.reason.map_or(Ok(()), Err)
    }

    /// Records the first failure, so that a closure that swallows it does not commit.
    pub(crate) fn fail<T>(&mut self, abort: Abort) -> TxResult<T> {
        self.fault.reason = Some(abort);
        Err(abort)
    }

    pub(crate) fn fail_at<T>(&mut self, abort: Abort, details: (u64, u64)) -> TxResult<T> {
        self.fault.details = details;
        self.fail(abort)
    }

    pub(crate) fn checked(&mut self, result: TxResult<()>) -> TxResult<()> {
        result.or_else(|abort| self.fail(abort))
    }

    pub(crate) fn read_polls(&self) -> u32 {
        self.stm.read_polls_or(A::READ_POLLS)
    }

    /// Returns the word of element `i`, or an abort that names the index.
    pub(crate) fn locate<T: Element>(
        &mut self,
        array: &A::Array<T>,
        i: u64,
    ) -> TxResult<WordAddress> {
        if i < array.len() {
            return Ok(array.word(i));
        }
        self.fail_at(Abort::OutOfRange, (i, array.len()))
    }

    /// Returns an error if the attempt has failed, or if `i` is past the end of `len` elements.
    pub(crate) fn within(&mut self, i: u64, len: u64) -> TxResult<()> {
        self.not_failed()?;
        if i < len {
            return Ok(());
        }
        self.fail_at(Abort::OutOfRange, (i, len))
    }

    /// Reads `array[i]`.
    pub fn read<T: Element>(&mut self, array: &A::Array<T>, i: u64) -> TxResult<T> {
        let [v] = self.read_many(array, [i])?;
        Ok(v)
    }

    /// Reads several elements, 32 at most, as if one after the other; their loads are in flight together.
    pub fn read_many<T: Element, const N: usize>(
        &mut self,
        array: &A::Array<T>,
        i: [u64; N],
    ) -> TxResult<[T; N]> {
        const { assert!(N <= 32, "read_many takes at most 32 words") }
        let mut v = [T::from_bits64(0); N];
        self.read_elements(array, i, &mut v)?;
        Ok(v)
    }

    /// Does [`Self::read_many`] into `v`. An array inside a `Result` would keep registers through the whole
    /// loop, as compilers cannot tell that what is read after the merge was written before it.
    fn read_elements<T: Element, const N: usize>(
        &mut self,
        array: &A::Array<T>,
        i: [u64; N],
        v: &mut [T; N],
    ) -> TxResult<()> {
        mark!(self, Native);
        self.not_failed()?;
        let mut past = N;
        for k in 0..N {
            if i[k] >= array.len() {
                past = k;
            }
        }
        if past < N {
            // The report names one of them.
            let mut at = 0;
            for k in 0..N {
                if past == k {
                    at = i[k];
                }
            }
            self.locate(array, at)?;
        }
        self.read_words_into(core::array::from_fn(|k| array.word(i[k])), v)
    }

    pub(crate) fn read_words<T: Element, const N: usize>(
        &mut self,
        words: [WordAddress; N],
    ) -> TxResult<[T; N]> {
        let mut v = [T::from_bits64(0); N];
        self.read_words_into(words, &mut v)?;
        Ok(v)
    }

    fn read_words_into<T: Element, const N: usize>(
        &mut self,
        words: [WordAddress; N],
        v: &mut [T; N],
    ) -> TxResult<()> {
        // Own writes first (Algorithm 3, lines 22-23).
        let mut own = 0u32;
        if A::wrote(self) {
            for k in 0..N {
                own |= u32::from(A::may_have_written(self, words[k])) << k;
            }
        }
        if own != 0 {
            own = self.written(own, Self::copied(words));
            mark!(self, Buffering);
        }
        let mut result = Ok(());
        if N > 1 || own == 0 {
            mark!(self, Buffering);
            result = A::read_many(self, words, v, own, Inside);
            self.mode.has_read |= (own.count_ones() as usize) < N;
        }
        if Mutant::DoomedGoesOn.on(self.lane) && result == Err(Abort::ReadStale) {
            self.probe.doomed = true;
            result = Ok(());
        }
        self.checked(result)?;
        for (k, (word, v)) in words.iter().zip(&*v).enumerate() {
            if own >> k & 1 == 0 {
                self.observe(|_| Event::Read(*word, v.to_bits64()));
            }
        }
        if own != 0 {
            // Of a word that was written, what was loaded from memory is not used.
            *v = self.overlay(own, Self::copied(words), *v);
        }
        Ok(())
    }

    /// Copies the addresses: an array with a variable index is in memory, and the fast path's must not be.
    fn copied<const N: usize>(words: [WordAddress; N]) -> [u64; N] {
        let mut at = [0; N];
        for k in 0..N {
            at[k] = words[k].bits();
        }
        at
    }

    /// Returns which of the `candidates` were written, as the filter has false positives.
    fn written<const N: usize>(&mut self, mut candidates: u32, at: [u64; N]) -> u32 {
        let mut own = 0;
        while candidates != 0 {
            let k = candidates.trailing_zeros();
            candidates &= candidates - 1;
            if let Some(&at) = at.get(k as usize) {
                let value = A::written_value(self, WordAddress::from_bits(at));
                own |= u32::from(value.is_some()) << k;
            }
        }
        own
    }

    /// Returns the values with the attempt's own writes in place.
    fn overlay<T: Element, const N: usize>(
        &mut self,
        mut own: u32,
        at: [u64; N],
        v: [T; N],
    ) -> [T; N] {
        let mut bits = [0; N];
        for k in 0..N {
            bits[k] = v[k].to_bits64();
        }
        while own != 0 {
            let k = own.trailing_zeros() as usize;
            own &= own - 1;
            if let (Some(&at), Some(bits)) = (at.get(k), bits.get_mut(k))
                && let Some(value) = A::written_value(self, WordAddress::from_bits(at))
            {
                *bits = value;
            }
        }
        let mut v = v;
        for k in 0..N {
            v[k] = T::from_bits64(bits[k]);
        }
        v
    }

    /// Ends the transaction without effect, and without another attempt: `return tx.cancel();`. The error is
    /// [`Abort::User`], or an earlier one of the attempt.
    pub fn cancel<T>(&mut self) -> TxResult<T> {
        self.not_failed()?;
        self.fail(Abort::User)
    }

    /// Returns the lane that runs the transaction.
    pub fn lane(&self) -> &'a L {
        self.lane
    }
}
