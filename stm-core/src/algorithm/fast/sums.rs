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

use crate::algorithm::contract::Tx;
use crate::algorithm::fast::protocol::Versioned;
use crate::algorithm::fast::storage::Storage;
use crate::algorithm::fast::sum_set::{ADDED, Addition, Column, READ, SumLogs, SumSet, header_of};
use crate::array::sums::{ANNOUNCED, Addend, ENDED, RowSlice, Summand, is_pending};
use crate::tx::abort::{Abort, TxResult};
use stm_machine::{Lane, WordAddress, observe::Mutant};

#[stm_core_macros::inlined]
impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    pub(crate) fn sums<'a, L: Lane>(tx: &mut Tx<'a, L, Self>) -> SumLogs<'a, L> {
        // SAFETY: the logs are the lane's; the stack is reached through the transaction alone.
        unsafe { SumLogs::new(tx.lane, tx.logs, &raw mut *tx.attempt.sum_scratch) }
    }

    /// Returns an error if the entries of words read and written have grown into the part of the
    /// logs that holds the rows; the attempt must then end.
    pub(crate) fn apart_from_sums<L: Lane>(tx: &mut Tx<'_, L, Self>, full: Abort) -> TxResult<()> {
        let at = Self::sums(tx);
        if tx.attempt.sums.fits(at, tx.attempt.set.len) {
            Ok(())
        } else {
            Err(full)
        }
    }

    pub(crate) fn buffer_additions<L: Lane, T: Summand, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        run: RowSlice<T>,
        deltas: [T; N],
    ) -> TxResult<()> {
        let at = Self::sums(tx);
        let entries = tx.attempt.set.len;
        let Some(row) = tx.attempt.sums.add_to(at, run.header, entries) else {
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
                room = tx.attempt.sums.add(at, addition, entries);
            }
        }
        if room {
            Ok(())
        } else {
            Err(Abort::WriteSetFull)
        }
    }

    pub(crate) fn load_sums<L: Lane, T: Summand, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        run: RowSlice<T>,
    ) -> TxResult<[T; N]> {
        let lane = tx.lane;
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
            let now = Self::clock(tx, Mutant::NoF1Sum);
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
            if polls - 1 == tx.read_polls() {
                return Err(Abort::ReadLocked);
            }
        };
        if !Mutant::SumNotExtended.on(lane) {
            Self::extend_to::<L, 1>(tx, now)?;
        }
        let at = Self::sums(tx);
        let entries = tx.attempt.set.len;
        match tx.attempt.sums.read(at, run.header, seen, entries) {
            None => return Err(Abort::ReadSetFull),
            Some(false) => return Err(Abort::ReadStale),
            Some(true) => {}
        }
        if tx.attempt.sums.words != 0 {
            Self::add_own(at, tx.attempt.sums, run, &mut values);
        }
        Ok(values)
    }

    fn mark_rows<L: Lane>(tx: &mut Tx<'_, L, Self>, more: u64) {
        let at = Self::sums(tx);
        let mut i = 0;
        while i < tx.attempt.sums.rows {
            // SAFETY: below the count; the header is of a row in range of live
            // rows (Tx::run_of). Relaxed: the callers name the events around.
            unsafe {
                let row = at.get(Column::Row, i);
                if row & ADDED != 0 {
                    at.lane.add_relaxed_64(header_of(row), more);
                }
            }
            i += 1;
        }
    }

    pub(crate) fn announce<L: Lane>(tx: &mut Tx<'_, L, Self>) {
        if !Mutant::SumNotAnnounced.on(tx.lane) && !Mutant::SumAnnouncedLate.on(tx.lane) {
            Self::mark_rows(tx, ANNOUNCED);
        }
    }

    /// Implements [`Mutant::SumAnnouncedLate`]: announces after the clock is advanced.
    pub(crate) fn announce_late<L: Lane>(tx: &mut Tx<'_, L, Self>) {
        if Mutant::SumAnnouncedLate.on(tx.lane) {
            Self::mark_rows(tx, ANNOUNCED);
        }
    }

    /// Withdraws the announcements. Nothing was added, so nothing needs an order: all other changes of the
    /// header are read-modify-writes, and so is this one, which leaves what they publish in place.
    pub(crate) fn withdraw<L: Lane>(tx: &mut Tx<'_, L, Self>) {
        if !Mutant::SumNotAnnounced.on(tx.lane) {
            Self::mark_rows(tx, ANNOUNCED.wrapping_neg());
        }
    }

    /// Validates the rows read: returns whether every header is as it was seen. In a commit
    /// (`announced`), the attempt's own announcement is in the headers of the rows that it adds to.
    pub(crate) fn rows_unchanged<L: Lane>(tx: &mut Tx<'_, L, Self>, announced: bool) -> bool {
        let lane = tx.lane;
        let at = Self::sums(tx);
        if tx.attempt.sums.read == 0 || announced && Mutant::SumNotValidated.on(lane) {
            return true;
        }
        let own = if announced && !Mutant::SumNotAnnounced.on(lane) {
            ANNOUNCED
        } else {
            0
        };
        let mut same = true;
        let mut i = 0;
        while i < tx.attempt.sums.rows {
            // SAFETY: below the count; the header is of a row in range of live
            // rows (Tx::run_of). Relaxed: F1 or F4 precedes.
            unsafe {
                let row = at.get(Column::Row, i);
                if row & READ != 0 {
                    let own = if row & ADDED != 0 { own } else { 0 };
                    let found = lane.load_relaxed_64(header_of(row));
                    same &= found == at.get(Column::Seen, i).wrapping_add(own);
                }
            }
            i += 1;
        }
        same
    }

    /// Writes back the additions. The commit can no longer abort.
    pub(crate) fn add_values<L: Lane>(tx: &mut Tx<'_, L, Self>) {
        if Mutant::SumEndedEarly.on(tx.lane) {
            Self::mark_rows(tx, ENDED);
        }
        let at = Self::sums(tx);
        let lane = at.lane;
        let mut k = 0;
        while k < tx.attempt.sums.words {
            // SAFETY: additions follow each other, and the row is one of the attempt's; the element is in
            // range of live rows (Tx::run_of). Relaxed: F3 before, A4 after.
            unsafe {
                let (addition, next) = SumSet::addition(at, k);
                k = next;
                let start = header_of(at.get(Column::Row, addition.row)).wrapping_add(1);
                let column = addition.column as usize;
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

    pub(crate) fn end_additions<L: Lane>(tx: &mut Tx<'_, L, Self>) {
        if tx.attempt.sums.added == 0 || Mutant::SumEndedEarly.on(tx.lane) {
            return;
        }
        // ORDER(A4): the elements before the headers; pairs with A2.
        Mutant::NoA4.fence(tx.lane);
        let more = if Mutant::SumNotAnnounced.on(tx.lane) {
            ENDED.wrapping_add(ANNOUNCED)
        } else {
            ENDED
        };
        Self::mark_rows(tx, more);
    }
}

impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    fn add_own<L: Lane, T: Summand, const N: usize>(
        at: SumLogs<'_, L>,
        set: SumSet,
        run: RowSlice<T>,
        values: &mut [T; N],
    ) {
        let mut k = 0;
        while k < set.words {
            // SAFETY: additions follow each other, and the row is one of the attempt's.
            let (addition, row) = unsafe {
                let (addition, next) = SumSet::addition(at, k);
                k = next;
                (addition, at.get(Column::Row, addition.row))
            };
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
