//! The protocol of `fast` and `fast-table`: invisible reads under a snapshot that is extended, commit-time
//! locking of the words written by compare-and-swap from the version seen, and validation of the words read.
//!
//! After TL2 (Dice, Shalev, Shavit 2006) and Riegel, Felber and Fetzer 2006. `ORDERING.md` argues the events.
//!
//! 1. *begin*: load the clock as the snapshot (F1), together with the gate's word.
//! 2. *read*: a packed word takes one load, which has value and version. Other words take loads of
//!    the version words, the values, and the version words again (F2). If all are free and no newer
//!    than the snapshot, the read is done. If a word is locked, load all of them again (a *poll*).
//!    If none is locked and one is newer, *extend*: load the clock (F1), find every entry that was
//!    read unchanged, and load the new words again. `read_polls` bounds polls and extensions together.
//! 3. *write*: buffer the value in the word's entry.
//! 4. *commit*, for the lanes of a warp together: acquire the lock of every written entry by a swap of its
//!    word for the locked form, or release all and abort; advance the clock once for all lanes that own all
//!    their locks, which gives version w (F3); validate the words read and not written (F4); write back:
//!    store the values, then the version words with w (F5). A packed word takes one store for both.
//!
//! Invariants: only the owner of a word stores to it, except for captured words
//! ([`Tx::init`](crate::Tx::init)). Versions of a word only grow, and none is above the clock. A
//! transaction that aborts has stored no value, except by [`Tx::init`](crate::Tx::init).
//!
//! The version is drawn before the words are validated and written back. So a transaction that
//! wrote one of them with a lower version had locked it before, which the validation sees; one
//! with a higher version comes after. Transactions of one warp that share a version own all their
//! locks at the same time and validate after that, so none has read what another writes.

use crate::algorithm::contract::{Change, Owned};
use crate::algorithm::fast::storage::{Birth, Cells, Storage, Table};
use crate::algorithm::fast::sum_set::{SumSet, SumStack};
use crate::algorithm::fast::{entries::Inline, entries::Words, entry_set::EntrySet};
use crate::algorithm::{prelude::*, registry::Variant};
use crate::array::sums::{Addend, RowSlice, Summand};
use crate::hint::rarely;

/// The algorithm with its versions in `S` and `INLINE` entries on the stack.
#[derive(Clone, Copy, Debug)]
pub struct Versioned<S, const INLINE: usize = 64>(PhantomData<S>);

/// After TL2 (Dice, Shalev, Shavit 2006) with snapshot extension (Riegel, Felber, Fetzer 2006).
pub type Fast = Versioned<Cells>;
/// The protocol of [`Fast`], with versions in the lock table.
pub type FastTable = Versioned<Table>;

/// The state of an attempt.
#[derive(Debug)]
pub struct VersionedSets<'s, const INLINE: usize> {
    pub(crate) set: EntrySet,
    /// The rows of sums read or added to, and the additions.
    pub(crate) sums: SumSet,
    pub(crate) scratch: &'s mut Inline<INLINE>,
    pub(crate) sum_scratch: &'s mut SumStack,
    /// The clock at which all reads so far are known to hold.
    pub(crate) snapshot: Version,
    pub(crate) born: Birth,
    /// Says whether the attempt has met a word whose value is not in its version word.
    pub(crate) apart: bool,
}

#[stm_core_macros::inlined]
impl<S: Storage, const INLINE: usize> Algorithm for Versioned<S, INLINE> {
    const VARIANT: Variant = S::VARIANT;
    const USES_LOCK_TABLE: bool = !S::CELLS;
    const GRANULE: Granule = Granule::Lane;
    const SCHEDULED: bool = true;
    const READ_POLLS: u32 = 1;
    const RELEASES: bool = true;

    type Array<T: Element> = S::Array<T>;
    type Scratch = Inline<INLINE>;
    type SumScratch = SumStack;
    type Attempt<'s> = VersionedSets<'s, INLINE>;
    type Savepoint = (EntrySet, SumSet);

    fn attempt<'s>(
        scratch: &'s mut Inline<INLINE>,
        sum_scratch: &'s mut SumStack,
    ) -> VersionedSets<'s, INLINE> {
        VersionedSets {
            set: EntrySet::default(),
            sums: SumSet::default(),
            scratch,
            sum_scratch,
            snapshot: Version(0),
            born: Birth::default(),
            apart: false,
        }
    }

    fn clear(attempt: &mut VersionedSets<'_, INLINE>) {
        attempt.set = EntrySet::default();
        attempt.sums = SumSet::default();
        attempt.apart = false;
    }

    /// Scales the clock by 32, because a probe wants the commits in an order and the lanes of
    /// one round share a tick; their versions follow each other.
    fn now<L: Lane>(tx: &Tx<'_, L, Self>) -> Version {
        // SAFETY: the clock is live.
        let clock = unsafe { tx.lane.observed_clock(tx.stm.clock()) };
        Version(clock * 32 + 31)
    }

    fn load_gate_and_snapshot<L: Lane>(tx: &mut Tx<'_, L, Self>) -> u64 {
        let since = tx.ticks_bound();
        let (now, gate) = tx.clock_and_gate();
        tx.attempt.snapshot = now;
        tx.attempt.born = Birth {
            since: tx.lane.ticks_loaded(since, tx.attempt.snapshot.0),
            snapshot: tx.attempt.snapshot,
        };
        gate
    }

    fn load_gate<L: Lane>(tx: &Tx<'_, L, Self>) -> u64 {
        // SAFETY: live (StmRef::from_raw). Relaxed: it tells the warp to ask (`run/gate.rs`).
        unsafe { tx.lane.load_relaxed_64(tx.stm.gate().word()) }
    }

    /// Does nothing: [`Self::load_gate_and_snapshot`] has taken the snapshot.
    fn begin<L: Lane>(_tx: &mut Tx<'_, L, Self>, _: Inside) -> TxResult<()> {
        Ok(())
    }

    fn read_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        v: &mut [T; N],
        own: u32,
        _: Inside,
    ) -> TxResult<()> {
        let lane = tx.lane;
        tx.attempt.apart |= !S::packs::<T>();
        // SAFETY: the lanes run here together, and leave the loop together. Those that must load again do so
        // while the others wait; else the warp would wait for each in turn at every later operation.
        let converged = unsafe { WarpCrew::of(lane.active_mask()) };
        let mut polls = 0;
        let mut end = Ok(());
        let mut seen = tx.load(words, v, u32::MAX);
        loop {
            let bits = lane.version_bits();
            let (locked, newer) = S::newest::<T, N>(seen, own, tx.attempt.snapshot, bits);
            let locked = locked && !Mutant::LockBitIgnored.on(lane);
            let mut again = end.is_ok() && (locked || newer);
            if again && polls == tx.read_polls() {
                again = false;
                end = Err(if locked {
                    Abort::ReadLocked
                } else {
                    Abort::ReadStale
                });
            }
            if converged.vote(lane, again) == 0 {
                break;
            }
            polls += 1;
            if again {
                // A lock is held for about one poll, and a pause would delay the whole warp.
                if !locked {
                    end = tx.extend::<N>();
                    if end.is_ok() && tx.renew::<T, N>(words, seen, !own) {
                        polls -= 1;
                    }
                }
                if end.is_ok() {
                    seen = tx.load(words, v, u32::MAX);
                }
            }
        }
        end?;
        if S::packs::<T>() && tx.has_outlived(Mutant::OldReadUnchecked) {
            return Err(Abort::ReadStale);
        }
        tx.add_reads(words, seen, v, own)?;
        tx.apart_from_sums(Abort::ReadSetFull)
    }

    fn wrote<L: Lane>(tx: &Tx<'_, L, Self>) -> bool {
        tx.attempt.set.writes != 0 || tx.attempt.sums.added != 0
    }

    fn may_have_written<L: Lane>(tx: &Tx<'_, L, Self>, address: WordAddress) -> bool {
        tx.attempt.set.may_have_written(address)
    }

    fn written_value<L: Lane>(tx: &mut Tx<'_, L, Self>, address: WordAddress) -> Option<u64> {
        let at = tx.entries();
        tx.attempt.set.written_value(at, address)
    }

    fn buffer<L: Lane, T: Element>(
        tx: &mut Tx<'_, L, Self>,
        address: WordAddress,
        value: u64,
        _: Inside,
    ) -> TxResult<()> {
        tx.attempt.apart |= !S::packs::<T>();
        let at = tx.entries();
        tx.attempt.set.buffer(at, address, value)?;
        tx.apart_from_sums(Abort::WriteSetFull)
    }

    fn buffer_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        values: [u64; N],
        count: u32,
        _: Inside,
    ) -> bool {
        tx.attempt.apart |= !S::packs::<T>();
        let at = tx.entries();
        if tx.attempt.set.buffer_read(at, words, values, count) {
            return true;
        }
        let sums = tx.sums();
        // Every word is compared with every entry, which many words are not worth.
        N <= 4
            && tx.attempt.sums.fits(sums, tx.attempt.set.len + N as u32)
            && tx.attempt.set.buffer_new(at, words, values, count)
    }

    fn init_many<L: Lane, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        values: [u64; N],
        count: u32,
        _: Inside,
    ) -> bool {
        let at = tx.entries();
        if tx.attempt.set.is_open() || tx.attempt.set.has_any(at, words, count) {
            // An alternative could not be undone, or the validation would fail by itself.
            return false;
        }
        for k in 0..N {
            let wanted = (k as u32) < count;
            // ORDER(F10): relaxed; F3 of this attempt's commit follows, after which others may find the word.
            // SAFETY: a wanted word is of an element in range (Tx::put_many).
            unsafe {
                let word = S::version_word(S::map(tx.stm), words[k]);
                if S::packs::<T>() {
                    let bits = tx.lane.version_bits();
                    let new = S::packed(tx.attempt.snapshot, bits, values[k]);
                    tx.lane.store_relaxed_64_if(wanted, word, new);
                } else if S::is_pair(tx.lane, true, words[k]) {
                    let new = [S::unlocked(tx.attempt.snapshot), values[k]];
                    tx.lane.store_relaxed_128_if(wanted, word, new);
                } else if wanted {
                    S::value(words[k]).store(tx.lane, values[k]);
                }
            }
        }
        true
    }

    fn add_many<L: Lane, T: Summand, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        run: RowSlice<T>,
        deltas: [T; N],
    ) -> TxResult<()> {
        tx.buffer_additions(run, deltas)?;
        tx.observe_run(run, deltas, |word, delta| match T::ADDED_AS {
            kind if kind == Addend::Float as u32 => Event::AddFloat(word),
            _ => Event::Add(word, delta),
        });
        Ok(())
    }

    fn read_sums<L: Lane, T: Summand, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        run: RowSlice<T>,
    ) -> TxResult<[T; N]> {
        let values = tx.load_sums(run)?;
        tx.observe_run(run, values, Event::Read);
        Ok(values)
    }

    fn commit<L: Lane>(tx: &mut Tx<'_, L, Self>, together: WarpCrew) -> TxResult<()> {
        let lane = tx.lane;
        let writes = Self::wrote(tx);
        let writers = together.vote(lane, writes);
        if !writes {
            // Every read holds at the snapshot.
            return Ok(());
        }
        if rarely(tx.mode.alone) && tx.commit_alone() {
            return Ok(());
        }
        // SAFETY: the lanes that voted so continue from here together.
        let writers = unsafe { WarpCrew::of(writers) };
        let few = tx.few_written();
        let acquired = tx.acquire(few);
        if acquired.is_ok() {
            tx.announce();
        }
        // ORDER(F3): the locks and announcements of all lanes before the clock.
        // Pairs with F1 and with F4 of later versions.
        if !Mutant::NoF3.on(lane) {
            writers.meet(lane);
            lane.fence();
        }
        lane.delay_at_fence();
        let holders = writers.vote(lane, acquired.is_ok());
        acquired?;
        // SAFETY: the lanes that own their locks continue from here together.
        let holders = unsafe { WarpCrew::of(holders) };
        let early = Mutant::ValidatedBeforeClock.on(lane) && tx.validate();
        let version = tx.advance(holders);
        tx.announce_late();
        // There is something to validate: an entry read and not written, whose
        // stripe may be one that this commit owns, or a row that was read.
        let reads = tx.attempt.set.len != tx.attempt.set.writes || tx.attempt.sums.read != 0;
        if holders.vote(lane, reads) != 0 {
            // ORDER(F4): the clock before the validation. Pairs with F3 of
            // lower versions: their locks are seen, or what followed.
            Mutant::NoF4.fence(lane);
        }
        // All lanes see what the leader has seen: F4, and that the clock has
        // advanced, so that no lane begins with an older snapshot after this.
        holders.meet(lane);
        let valid = !reads || early || Mutant::ReadsNotValidated.on(lane) || tx.validate();
        let valid = valid && tx.rows_unchanged(true);
        // The words are unchanged if they are as they were seen, unless the
        // attempt has outlived their versions.
        if !valid || tx.has_outlived_words(Mutant::OldCommitUnchecked) {
            tx.withdraw();
            tx.words().restore(0, 0);
            return Err(Abort::CommitStale);
        }
        tx.add_values();
        tx.publish(version, few);
        tx.end_additions();
        let rank = (holders.mask & (lane.lane_bit() - 1)).count_ones();
        tx.committed_as(Version(version.0 * 32 + u64::from(rank)));
        Ok(())
    }

    const OWNS: bool = S::CELLS;

    fn own_many<L: Lane, T: Element, const N: usize, const W: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        _: Inside,
    ) -> (Owned<T, N>, TxResult<()>) {
        tx.own::<T, N, W>(words)
    }

    fn will_update<L: Lane>(tx: &mut Tx<'_, L, Self>, words: u32, _: Inside) {
        tx.attempt.set.writes = words;
    }

    fn disown_many<L: Lane, T: Element, const N: usize>(
        tx: &Tx<'_, L, Self>,
        words: [WordAddress; N],
        owned: &Owned<T, N>,
        on: bool,
        _: Inside,
    ) {
        tx.disown(words, owned, on);
    }

    fn update_many<L: Lane, T: Element, const N: usize, const W: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        owned: &Owned<T, N>,
        new: Option<[T; W]>,
        together: WarpCrew,
    ) {
        tx.update(words, owned, new, together);
    }

    fn update_alone<L: Lane, T: Element, const N: usize, const W: usize>(
        tx: &mut Tx<'_, L, Self>,
        words: [WordAddress; N],
        i: u64,
        makers: u32,
        warp: WarpCrew,
        change: &mut impl Change<L, Self, T, N, W>,
    ) {
        tx.update_in_turn(words, i, makers, warp, change);
    }

    fn team_begin<L: Lane, C: Crew>(tx: &mut Tx<'_, L, Self>, crew: C) -> TxResult<()> {
        tx.attempt.snapshot = tx.of_leader(crew, tx.attempt.snapshot);
        // The leader's time, as its load of the clock may have come long before the others arrived.
        let leader = crew.leader(tx.lane);
        let since = if S::CELLS {
            crew.broadcast_32(tx.lane, leader, tx.attempt.born.since)
        } else {
            0
        };
        tx.attempt.born = Birth {
            since,
            snapshot: tx.attempt.snapshot,
        };
        Ok(())
    }

    fn team_read_many<L: Lane, C: Crew, T: Element, const N: usize>(
        tx: &mut Tx<'_, L, Self>,
        crew: C,
        words: [WordAddress; N],
        v: &mut [T; N],
        active: u32,
        mine: TxResult<()>,
    ) -> TxResult<()> {
        tx.read_as_team(crew, words, v, active, mine)
    }

    fn team_commit<L: Lane, C: Crew>(tx: &mut Tx<'_, L, Self>, crew: C) -> TxResult<()> {
        tx.commit_as_team(crew)
    }

    fn reads_held<L: Lane>(tx: &Tx<'_, L, Self>) -> u32 {
        tx.attempt.set.len
    }

    fn release_reads<L: Lane>(tx: &mut Tx<'_, L, Self>, from: u32, to: u32, _: Inside) {
        let at = tx.entries();
        tx.attempt.set = tx.attempt.set.release(at, from, to);
    }

    fn changed<L: Lane>(tx: &mut Tx<'_, L, Self>) -> bool {
        let Words { at, map, len } = tx.words();
        at.word_changed::<S>(map, len) || !tx.rows_unchanged(false)
    }

    fn save<L: Lane>(tx: &mut Tx<'_, L, Self>) -> (EntrySet, SumSet) {
        (tx.attempt.set.save(), tx.attempt.sums)
    }

    fn keep<L: Lane>(tx: &mut Tx<'_, L, Self>, (set, _): (EntrySet, SumSet), _: Inside) {
        let at = tx.entries();
        tx.attempt.set = tx.attempt.set.keep(at, set);
    }

    fn undo<L: Lane>(tx: &mut Tx<'_, L, Self>, (set, sums): (EntrySet, SumSet), _: Inside) {
        let (entries, rows) = (tx.entries(), tx.sums());
        tx.attempt.set = tx.attempt.set.undo(entries, set);
        tx.attempt.sums = tx.attempt.sums.undo(rows, sums);
    }
}
