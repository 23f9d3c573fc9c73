//! The commit of a team under the versioned algorithms. [`super::team`] has the
//! reads and what the members of a team have in common.

use crate::algorithm::contract::Tx;
use crate::algorithm::fast::entries::{BATCH, BLIND, Column, Entries, SHARES, WRITTEN, word_of};
use crate::algorithm::fast::entry_set::EntrySet;
use crate::algorithm::fast::protocol::Versioned;
use crate::algorithm::fast::storage::Storage;
use crate::memory::version::Version;
use crate::tx::abort::{Abort, TxResult};
use crate::tx::crew::Crew;
use crate::tx::team::agree;
use stm_machine::{Lane, WordAddress, observe::Mutant};
#[derive(Clone, Copy)]
struct Looked {
    end: TxResult<()>,
    /// The number of entries checked; those after them are unchanged.
    len: u32,
    /// Says whether a team mate must be asked about some of them (`SHARES`).
    asks: bool,
}

#[stm_core_macros::inlined]
impl<S: Storage, const INLINE: usize> Versioned<S, INLINE> {
    pub(crate) fn commit_as_team<L: Lane, C: Crew>(
        tx: &mut Tx<'_, L, Self>,
        crew: C,
    ) -> TxResult<()> {
        let lane = tx.lane;
        if !C::any(crew.vote(lane, tx.attempt.set.writes != 0)) {
            // Every read holds at the snapshot.
            return Ok(());
        }
        let owner = crew.leader_thread(lane);
        let looked = Self::acquire_as_team(tx, owner);
        let (end, shared) = Self::settled(tx, crew, looked, WRITTEN | SHARES);
        let apart = Mutant::TeamCommitsApart.on(lane);
        if end.is_err() && !(apart && looked.end.is_ok()) {
            Self::restore(Self::entries(tx), S::map(tx.stm), looked.len, 0, 0);
            if !apart {
                return end;
            }
            tx.attempt.set = EntrySet::default();
        }
        // ORDER(F3): the locks of all lanes before the clock.
        if !Mutant::NoF3.on(lane) {
            crew.meet(lane);
            lane.fence();
        }
        let version = Self::advance(tx, crew);
        // ORDER(F4): the clock before the validation, of all lanes.
        Mutant::NoF4.fence(lane);
        crew.meet(lane);
        let mut valid = Self::validate_as_team(tx, owner);
        if Self::has_outlived_words(tx, Mutant::OldCommitUnchecked) && valid.end.is_ok() {
            valid.end = Err(Abort::CommitStale);
        }
        let (end, _) = Self::settled(tx, crew, valid, SHARES);
        if end.is_err() {
            let len = tx.attempt.set.len;
            Self::restore(Self::entries(tx), S::map(tx.stm), len, 0, 0);
            return end;
        }
        if shared && !S::CELLS {
            Self::store_shared(tx);
            // ORDER(F8): values of all lanes before versions; with F5.
            if !Mutant::NoF8.on(lane) {
                crew.meet(lane);
            }
        }
        // A lane may have no entries at all, and a batch needs at least one.
        if tx.attempt.set.writes != 0 {
            Self::publish(tx, version, 0);
        }
        tx.committed_as(Version(version.0 * 32));
        if crew.is(lane, crew.leader(lane)) {
            // Whoever counts the commit asks the leader whether the team wrote.
            tx.attempt.set.writes = tx.attempt.set.writes.max(1);
        }
        Ok(())
    }

    /// Returns the verdict of all lanes on their checks, and whether some lanes
    /// share a lock. `kind` has the flags of the entries to ask about.
    fn settled<L: Lane, C: Crew>(
        tx: &mut Tx<'_, L, Self>,
        crew: C,
        looked: Looked,
        kind: u64,
    ) -> (TxResult<()>, bool) {
        let lane = tx.lane;
        if kind == SHARES && Mutant::TeamLeaderValidates.on(lane) {
            let found = crew.broadcast_32(lane, crew.leader(lane), u32::from(looked.end.is_ok()));
            return ((found != 0).then_some(()).ok_or(Abort::CommitStale), false);
        }
        let end = agree(tx, crew, looked.end);
        if end.is_err() || !C::any(crew.vote(lane, looked.asks)) {
            return (end, false);
        }
        let (at, len) = (Self::entries(tx), tx.attempt.set.len);
        let end = Self::settle_as_team(at, S::map(tx.stm), crew, len, kind);
        (end, true)
    }

    /// Locks the words that the lane has written, in the name of `owner`. An
    /// entry whose lock the lane does not own is marked `SHARES`.
    fn acquire_as_team<L: Lane>(tx: &mut Tx<'_, L, Self>, owner: u64) -> Looked {
        let lane = tx.lane;
        let at = Self::entries(tx);
        let map = S::map(tx.stm);
        let len = if tx.attempt.set.writes == 0 {
            0
        } else {
            tx.attempt.set.len
        };
        let mut looked = Looked {
            end: Ok(()),
            len: 0,
            asks: false,
        };
        while looked.len < len && looked.end.is_ok() {
            let i = looked.len;
            // SAFETY: i is below the count.
            let (entries, mut seen): ([u64; BATCH], _) = unsafe { at.seen(i, len) };
            if entries.iter().fold(0, |bits, entry| bits | entry) & BLIND != 0 {
                seen = Self::see_as_team(tx, entries, seen, i);
            }
            let mut wanted = 0;
            for j in 0..BATCH {
                let written = i + (j as u32) < len && entries[j] & WRITTEN != 0;
                wanted |= u32::from(written && !S::is_locked(seen[j])) << j;
            }
            let pairs = Self::pairs(at, map, entries, wanted);
            let found: [u64; BATCH] = core::array::from_fn(|j| {
                if (wanted & !pairs.which) >> j & 1 == 0 {
                    return seen[j];
                }
                let word = Self::version_word(tx, word_of(entries[j]));
                // SAFETY: the version word of an element in range (TeamTx). Relaxed: F3 follows.
                unsafe { lane.cas_relaxed_64(word, seen[j], S::locked(seen[j], owner)) }
            });
            let found = Self::lock_pairs(at, map, &pairs, entries, seen, owner, found);
            for j in 0..BATCH {
                let k = i + j as u32;
                if k >= len
                    || entries[j] & WRITTEN == 0
                    || (found[j] == seen[j] && !S::is_locked(seen[j]))
                {
                    continue;
                }
                // SAFETY: the index is below the count.
                unsafe { at.put(Column::Address, k, entries[j] | SHARES) };
                if !S::may_be_locked_by(found[j], seen[j], owner) {
                    looked.end = Err(if S::is_locked(found[j]) {
                        Abort::CommitLocked
                    } else {
                        Abort::CommitStale
                    });
                    continue;
                }
                match Self::share_own(at, map, k, entries[j]) {
                    None => looked.asks = true,
                    Some(true) => {}
                    Some(false) => looked.end = Err(Abort::CommitStale),
                }
            }
            looked.len = (i + BATCH as u32).min(len);
        }
        looked
    }

    /// Loads the present version words of the blind entries of a batch; the others keep the word seen.
    fn see_as_team<L: Lane>(
        tx: &mut Tx<'_, L, Self>,
        entries: [u64; BATCH],
        seen: [u64; BATCH],
        i: u32,
    ) -> [u64; BATCH] {
        let at = Self::entries(tx);
        let len = tx.attempt.set.len;
        core::array::from_fn(|j| {
            if i + (j as u32) >= len || entries[j] & BLIND == 0 {
                return seen[j];
            }
            // SAFETY: the word is of an element in range (TeamTx), and the
            // entry below the count. Relaxed: the swap that follows compares it.
            unsafe {
                let word = word_of(entries[j]);
                let found =
                    Self::version_if(tx.lane, (S::map(tx.stm), tx.attempt.apart), true, word, 0);
                at.put(Column::Seen, i + j as u32, found);
                found
            }
        })
    }

    /// Returns whether an entry may share the lock of an earlier entry of the
    /// same lane, or `None` if there is no such entry.
    #[inline(never)]
    fn share_own<L: Lane>(
        at: Entries<'_, L, INLINE>,
        map: S::Map,
        i: u32,
        entry: u64,
    ) -> Option<bool> {
        let holder = Self::holder(at, map, i, entry)?;
        // SAFETY: the entry and its holder are below the count.
        unsafe {
            let same =
                entry & BLIND != 0 || at.get(Column::Seen, holder) == at.get(Column::Seen, i);
            if same && Self::is_whole(at.lane, at.apart, word_of(entry)) {
                // One cell takes one store, which must be of the later value.
                at.put(Column::Value, holder, at.get(Column::Value, i));
            }
            Some(same)
        }
    }

    /// Asks, one after the other, about those entries of all lanes that have the flags `kind` and whose lock
    /// no other entry of the lane owns. Errors, the same for all: [`Abort::CommitLocked`] if the team does
    /// not own a lock, [`Abort::CommitStale`] if it was acquired from another version than the asker's, or
    /// [`Abort::TeamOverlap`]. It takes its arguments by value and is not inlined, as it is rarely needed.
    #[inline(never)]
    fn settle_as_team<L: Lane, C: Crew>(
        at: Entries<'_, L, INLINE>,
        map: S::Map,
        crew: C,
        len: u32,
        kind: u64,
    ) -> TxResult<()> {
        let lane = at.lane;
        let mut i = 0;
        loop {
            let mut entry = 0;
            while i < len {
                // SAFETY: the index is below the count.
                entry = unsafe { at.get(Column::Address, i) };
                if entry & (WRITTEN | SHARES) == kind && Self::holder(at, map, len, entry).is_none()
                {
                    break;
                }
                i += 1;
            }
            let asking = crew.vote(lane, i < len);
            if !C::any(asking) {
                return Ok(());
            }
            let asker = crew.one_of(lane, asking, i < len);
            let asks = crew.is(lane, asker);
            let [word] = crew.broadcast(lane, asker, [word_of(entry).bits()]);
            let word = WordAddress::from_bits(word);
            let used = !asks && Self::uses(at, word, len, kind);
            if C::any(crew.vote(lane, used)) {
                return Err(Abort::TeamOverlap);
            }
            let holder = Self::holder(at, map, len, word.bits());
            let holders = crew.vote(lane, holder.is_some());
            if !C::any(holders) {
                return Err(Abort::CommitLocked);
            }
            // SAFETY: the holder is below the count.
            let from = holder.map_or(0, |holder| unsafe { at.get(Column::Seen, holder) });
            let teller = crew.one_of(lane, holders, holder.is_some());
            let [from] = crew.broadcast(lane, teller, [from]);
            // SAFETY: the asker's `i` is below its count.
            let stale = asks && entry & BLIND == 0 && unsafe { at.get(Column::Seen, i) } != from;
            if C::any(crew.vote(lane, stale)) && !Mutant::TeamShareUnchecked.on(lane) {
                return Err(Abort::CommitStale);
            }
            i += u32::from(asks);
        }
    }

    /// Returns whether the lane has written a word, or read it if the asker wrote it.
    #[inline(never)]
    fn uses<L: Lane>(at: Entries<'_, L, INLINE>, word: WordAddress, len: u32, kind: u64) -> bool {
        let mut i = 0;
        while i < len {
            // SAFETY: the index is below the count.
            let entry = unsafe { at.get(Column::Address, i) };
            if word_of(entry) == word && (entry | kind) & WRITTEN != 0 {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Validates: returns whether every word that the lane has read and not written is as it was
    /// seen. An entry whose word the team itself may own is marked `SHARES`.
    fn validate_as_team<L: Lane>(tx: &mut Tx<'_, L, Self>, owner: u64) -> Looked {
        let at = Self::entries(tx);
        let map = S::map(tx.stm);
        let len = tx.attempt.set.len;
        let mut looked = Looked {
            end: Ok(()),
            len,
            asks: false,
        };
        if Mutant::ReadsNotValidated.on(tx.lane) || len == tx.attempt.set.writes {
            return looked;
        }
        let mut i = 0;
        while i < len && looked.end.is_ok() {
            // SAFETY: i is below the count.
            let (entries, seen): ([u64; BATCH], _) = unsafe { at.seen(i, len) };
            let found = Self::reload(at, map, len, entries, seen, i, WRITTEN);
            for j in 0..BATCH {
                let k = i + j as u32;
                if found[j] == seen[j] {
                    continue;
                }
                let mut same = false;
                if S::may_be_locked_by(found[j], seen[j], owner) {
                    // SAFETY: the entry and its holder are below the count.
                    unsafe {
                        if let Some(holder) = Self::holder(at, map, len, entries[j]) {
                            same = at.get(Column::Seen, holder) == seen[j];
                        } else {
                            at.put(Column::Address, k, entries[j] | SHARES);
                            looked.asks = true;
                            same = true;
                        }
                    }
                }
                if !same {
                    looked.end = Err(Abort::CommitStale);
                }
            }
            i += BATCH as u32;
        }
        looked
    }

    /// Stores the values of words whose locks other lanes own. Those lanes
    /// release the locks, so all values must be stored before.
    #[inline(never)]
    fn store_shared<L: Lane>(tx: &mut Tx<'_, L, Self>) {
        let at = Self::entries(tx);
        let (map, len) = (S::map(tx.stm), tx.attempt.set.len);
        let mut i = 0;
        while i < len {
            // SAFETY: below the count. A word of an element in range (TeamTx),
            // whose lock the team holds. Relaxed: F8 follows.
            unsafe {
                let entry = at.get(Column::Address, i);
                let word = word_of(entry);
                if entry & (WRITTEN | SHARES) == WRITTEN | SHARES
                    && Self::holder(at, map, len, entry).is_none()
                {
                    S::value(word).store(tx.lane, at.get(Column::Value, i));
                    at.put(Column::Address, i, entry & !WRITTEN);
                }
            }
            i += 1;
        }
    }
}
