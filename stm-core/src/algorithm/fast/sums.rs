//! Sums under the versioned algorithms: additions that do not conflict.
//!
//! 1. *add*: buffer the addition in the attempt's own log ([`crate::algorithm::fast::sum_set`]).
//! 2. *read*: load the header of the row, the elements, the clock (F1), and the header once more (A2, A3). If
//!    no additions are pending and the header is the same both times, the elements are the sum of the ended
//!    additions that the header counts. A header has no version to compare with the snapshot, so the snapshot
//!    always moves to that clock, and everything read before must be unchanged.
//! 3. *commit*: announce one addition in the header of each row, together with the locks of other words (F3);
//!    advance the clock; validate everything read, where a header may have this transaction's own (F4); add
//!    to the elements; end the addition in each header (A4). An abort withdraws them.
//!
//! `ORDERING.md` argues the events.

use crate::algorithm::fast::prelude::*;
use crate::algorithm::fast::sum_set::{ADDED, Addition, Column, READ, SumLogs, SumSet, header_of};
use crate::array::sums::{ANNOUNCED, Addend, ENDED, RowSlice, Summand, is_pending};

#[stm_core_macros::inlined]
impl<'a, L: Lane, S: Storage, const INLINE: usize> Tx<'a, L, Versioned<S, INLINE>> {
    pub(crate) fn sums(&mut self) -> SumLogs<'a, L> {
        // SAFETY: the logs are the lane's; the stack is reached through the transaction alone.
        unsafe { SumLogs::new(self.lane, self.logs, &raw mut *self.attempt.sum_scratch) }
    }

    /// Returns an error if the entries of words read and written have grown into the part of the
    /// logs that holds the rows; the attempt must then end.
    pub(crate) fn apart_from_sums(&mut self, full: Abort) -> TxResult<()> {
        let at = self.sums();
        if self.attempt.sums.fits(at, self.attempt.set.len) {
            Ok(())
        } else {
            Err(full)
        }
    }

    pub(crate) fn buffer_additions<T: Summand, const N: usize>(
        &mut self,
        run: RowSlice<T>,
        deltas: [T; N],
    ) -> TxResult<()> {
        let at = self.sums();
        let entries = self.attempt.set.len;
        let Some(row) = self.attempt.sums.add_to(at, run.header, entries) else {
            return Err(Abort::WriteSetFull);
        };
        let mut room = true;
        for k in 0..N {
            if (k as u32) < run.count && room {
                let addition = Addition {
                    kind: T::ADDED_AS,
                    row,
                    column: run.first + k as u32,
                    delta: deltas[k].to_bits64(),
                };
                room = self.attempt.sums.add(at, addition, entries);
            }
        }
        if room {
            Ok(())
        } else {
            Err(Abort::WriteSetFull)
        }
    }

    pub(crate) fn load_sums<T: Summand, const N: usize>(
        &mut self,
        run: RowSlice<T>,
    ) -> TxResult<[T; N]> {
        let lane = self.lane;
        // SAFETY: the header is of a row in range of live rows (Tx::run_of).
        // Relaxed: A2, A3 and the clock are between.
        let header = || unsafe { lane.load_relaxed_64(run.header) };
        let mut polls = 0;
        let (seen, now, mut values) = loop {
            let seen = header();
            // ORDER(A2): the header before the elements. Pairs with A4: whoever
            // sees that additions have ended sees their values.
            Mutant::NoA2.fence(lane);
            let words: [WordAddress; N] = run.words();
            // SAFETY: as above.
            let values = words.map(|word| unsafe { word.load_relaxed(lane) });
            // ORDER(A3): the elements before the second load of the header. Pairs with F3 of the transaction
            // that adds: whoever sees an addition sees its announcement.
            Mutant::NoA3.fence(lane);
            // The second load of the header follows that of the clock, as in an extension.
            let now = self.clock(Mutant::NoF1Sum);
            let again = if Mutant::SumHeaderOnce.on(lane) {
                seen
            } else {
                header()
            };
            let pending = is_pending(seen) && !Mutant::SumPendingIgnored.on(lane);
            if seen == again && !pending {
                break (seen, now, values);
            }
            polls += 1;
            if polls - 1 == self.read_polls() {
                return Err(Abort::ReadLocked);
            }
        };
        if !Mutant::SumNotExtended.on(lane) {
            self.extend_to::<1>(now)?;
        }
        let at = self.sums();
        let entries = self.attempt.set.len;
        match self.attempt.sums.read(at, run.header, seen, entries) {
            None => return Err(Abort::ReadSetFull),
            Some(false) => return Err(Abort::ReadStale),
            Some(true) => {}
        }
        if self.attempt.sums.words != 0 {
            self.attempt.sums.add_own(at, run, &mut values);
        }
        Ok(values)
    }

    fn mark_rows(&mut self, more: u64) {
        let at = self.sums();
        let mut i = 0;
        while i < self.attempt.sums.rows {
            let row = at.get(Column::Row, i);
            if row & ADDED != 0 {
                // SAFETY: of a row in range of live rows (Tx::run_of). Relaxed: the callers name the events
                // around.
                unsafe { at.lane.add_relaxed_64(header_of(row), more) };
            }
            i += 1;
        }
    }

    pub(crate) fn announce(&mut self) {
        if !Mutant::SumNotAnnounced.on(self.lane) && !Mutant::SumAnnouncedLate.on(self.lane) {
            self.mark_rows(ANNOUNCED);
        }
    }

    /// Implements [`Mutant::SumAnnouncedLate`]: announces after the clock is advanced.
    pub(crate) fn announce_late(&mut self) {
        if Mutant::SumAnnouncedLate.on(self.lane) {
            self.mark_rows(ANNOUNCED);
        }
    }

    /// Withdraws the announcements. Nothing was added, so nothing needs an order: all other changes of the
    /// header are read-modify-writes, and so is this one, which leaves what they publish in place.
    pub(crate) fn withdraw(&mut self) {
        if !Mutant::SumNotAnnounced.on(self.lane) {
            self.mark_rows(ANNOUNCED.wrapping_neg());
        }
    }

    /// Validates the rows read: returns whether every header is as it was seen. In a commit
    /// (`announced`), the attempt's own announcement is in the headers of the rows that it adds to.
    pub(crate) fn rows_unchanged(&mut self, announced: bool) -> bool {
        let lane = self.lane;
        let at = self.sums();
        if self.attempt.sums.read == 0 || announced && Mutant::SumNotValidated.on(lane) {
            return true;
        }
        let own = if announced && !Mutant::SumNotAnnounced.on(lane) {
            ANNOUNCED
        } else {
            0
        };
        let mut same = true;
        let mut i = 0;
        while i < self.attempt.sums.rows {
            let row = at.get(Column::Row, i);
            if row & READ != 0 {
                let own = if row & ADDED != 0 { own } else { 0 };
                // SAFETY: of a row in range of live rows (Tx::run_of). Relaxed: F1 or F4 precedes.
                let found = unsafe { lane.load_relaxed_64(header_of(row)) };
                same &= found == at.get(Column::Seen, i).wrapping_add(own);
            }
            i += 1;
        }
        same
    }

    /// Writes back the additions. The commit can no longer abort.
    pub(crate) fn add_values(&mut self) {
        if Mutant::SumEndedEarly.on(self.lane) {
            self.mark_rows(ENDED);
        }
        let at = self.sums();
        let lane = at.lane;
        let mut k = 0;
        while k < self.attempt.sums.words {
            let (addition, next) = SumSet::addition(at, k);
            k = next;
            let start = header_of(at.get(Column::Row, addition.row)).wrapping_add(1);
            let column = addition.column as usize;
            // SAFETY: an element in range of live rows (Tx::run_of). Relaxed: F3 before, A4 after.
            unsafe {
                if addition.kind == Addend::Wide as u32 {
                    lane.add_relaxed_64(start.wrapping_add(column), addition.delta);
                } else {
                    let word = start.cast::<u32>().wrapping_add(column);
                    if addition.kind == Addend::Float as u32 {
                        lane.add_relaxed_f32(word, f32::from_bits(addition.delta as u32));
                    } else {
                        lane.fetch_add_relaxed_32(word, addition.delta as u32);
                    }
                }
            }
        }
    }

    pub(crate) fn end_additions(&mut self) {
        if self.attempt.sums.added == 0 || Mutant::SumEndedEarly.on(self.lane) {
            return;
        }
        // ORDER(A4): the elements before the headers; pairs with A2.
        Mutant::NoA4.fence(self.lane);
        let more = if Mutant::SumNotAnnounced.on(self.lane) {
            ENDED.wrapping_add(ANNOUNCED)
        } else {
            ENDED
        };
        self.mark_rows(more);
    }
}

impl SumSet {
    fn add_own<L: Lane, T: Summand, const N: usize>(
        self,
        at: SumLogs<'_, L>,
        run: RowSlice<T>,
        values: &mut [T; N],
    ) {
        let mut k = 0;
        while k < self.words {
            let (addition, next) = Self::addition(at, k);
            k = next;
            let row = at.get(Column::Row, addition.row);
            let place = addition.column.wrapping_sub(run.first);
            if header_of(row) == run.header
                && place < run.count
                && let Some(value) = values.get_mut(place as usize)
            {
                *value = value.plus(T::from_bits64(addition.delta));
            }
        }
    }
}
