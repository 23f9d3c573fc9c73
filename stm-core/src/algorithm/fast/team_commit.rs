//! The commit of a team under the versioned algorithms. [`super::team`] has the
//! reads and what the members of a team have in common.

use crate::algorithm::fast::entry_set::EntrySet;
use crate::algorithm::fast::prelude::*;
use crate::tx::team::agree;
#[derive(Clone, Copy)]
struct Looked {
    end: TxResult<()>,
    /// The number of entries checked; those after them are unchanged.
    len: u32,
    /// Says whether a team mate must be asked about some of them (`SHARES`).
    asks: bool,
}

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const INLINE: usize> Tx<'_, L, Versioned<S, INLINE>> {
    pub(crate) fn commit_as_team<C: Crew>(&mut self, crew: C) -> TxResult<()> {
        let lane = self.lane;
        if !C::any(crew.vote(lane, self.attempt.set.writes != 0)) {
            // Every read holds at the snapshot.
            return Ok(());
        }
        let owner = crew.leader_thread(lane);
        let looked = self.acquire_as_team(owner);
        let (end, shared) = self.settled(crew, looked, WRITTEN | SHARES);
        let apart = Mutant::TeamCommitsApart.on(lane);
        if end.is_err() && !(apart && looked.end.is_ok()) {
            let len = looked.len;
            Words {
                len,
                ..self.words()
            }
            .restore(0, 0);
            if !apart {
                return end;
            }
            self.attempt.set = EntrySet::default();
        }
        // ORDER(F3): the locks of all lanes before the clock.
        if !Mutant::NoF3.on(lane) {
            crew.meet(lane);
            lane.fence();
        }
        let version = self.advance(crew);
        // ORDER(F4): the clock before the validation, of all lanes.
        Mutant::NoF4.fence(lane);
        crew.meet(lane);
        let mut valid = self.validate_as_team(owner);
        if self.has_outlived_words(Mutant::OldCommitUnchecked) && valid.end.is_ok() {
            valid.end = Err(Abort::CommitStale);
        }
        let (end, _) = self.settled(crew, valid, SHARES);
        if end.is_err() {
            self.words().restore(0, 0);
            return end;
        }
        if shared && !S::CELLS {
            self.store_shared();
            // ORDER(F8): values of all lanes before versions; with F5.
            if !Mutant::NoF8.on(lane) {
                crew.meet(lane);
            }
        }
        // A lane may have no entries at all, and a batch needs at least one.
        if self.attempt.set.writes != 0 {
            self.publish(version, 0);
        }
        self.committed_as(Version(version.0 * 32));
        if crew.is(lane, crew.leader(lane)) {
            // Whoever counts the commit asks the leader whether the team wrote.
            self.attempt.set.writes = self.attempt.set.writes.max(1);
        }
        Ok(())
    }

    /// Returns the verdict of all lanes on their checks, and whether some lanes
    /// share a lock. `kind` has the flags of the entries to ask about.
    fn settled<C: Crew>(&mut self, crew: C, looked: Looked, kind: u64) -> (TxResult<()>, bool) {
        let lane = self.lane;
        if kind == SHARES && Mutant::TeamLeaderValidates.on(lane) {
            let found = crew.broadcast_32(lane, crew.leader(lane), u32::from(looked.end.is_ok()));
            return ((found != 0).then_some(()).ok_or(Abort::CommitStale), false);
        }
        let end = agree(self, crew, looked.end);
        if end.is_err() || !C::any(crew.vote(lane, looked.asks)) {
            return (end, false);
        }
        let Words { at, map, len } = self.words();
        (at.settle_as_team::<S, C>(map, crew, len, kind), true)
    }

    /// Locks the words that the lane has written, in the name of `owner`. An
    /// entry whose lock the lane does not own is marked `SHARES`.
    fn acquire_as_team(&mut self, owner: u64) -> Looked {
        let (lane, mut words) = (self.lane, self.words());
        if self.attempt.set.writes == 0 {
            words.len = 0;
        }
        let Words { at, map, len } = words;
        let mut looked = Looked {
            end: Ok(()),
            len: 0,
            asks: false,
        };
        while looked.len < len && looked.end.is_ok() {
            let i = looked.len;
            let (entries, mut seen): ([u64; BATCH], _) = at.seen(i, len);
            if entries.iter().fold(0, |bits, entry| bits | entry) & BLIND != 0 {
                seen = words.see_as_team(entries, seen, i);
            }
            let mut wanted = 0;
            for j in 0..BATCH {
                let written = i + (j as u32) < len && entries[j] & WRITTEN != 0;
                wanted |= u32::from(written && !S::is_locked(seen[j])) << j;
            }
            let pairs = words.pairs(entries, wanted);
            let found: [u64; BATCH] = core::array::from_fn(|j| {
                if (wanted & !pairs.which) >> j & 1 == 0 {
                    return seen[j];
                }
                let word = words.version_word(word_of(entries[j]));
                // SAFETY: the version word of an element in range (TeamTx). Relaxed: F3 follows.
                unsafe { lane.cas_relaxed_64(word, seen[j], S::locked(seen[j], owner)) }
            });
            let found = words.lock_pairs(&pairs, entries, seen, owner, found);
            for j in 0..BATCH {
                let k = i + j as u32;
                if k >= len
                    || entries[j] & WRITTEN == 0
                    || (found[j] == seen[j] && !S::is_locked(seen[j]))
                {
                    continue;
                }
                at.put(Column::Address, k, entries[j] | SHARES);
                if !S::may_be_locked_by(found[j], seen[j], owner) {
                    looked.end = Err(if S::is_locked(found[j]) {
                        Abort::CommitLocked
                    } else {
                        Abort::CommitStale
                    });
                    continue;
                }
                match at.share_own_as_team::<S>(map, k, entries[j]) {
                    None => looked.asks = true,
                    Some(true) => {}
                    Some(false) => looked.end = Err(Abort::CommitStale),
                }
            }
            looked.len = (i + BATCH as u32).min(len);
        }
        looked
    }

    /// Validates: returns whether every word that the lane has read and not written is as it was
    /// seen. An entry whose word the team itself may own is marked `SHARES`.
    fn validate_as_team(&mut self, owner: u64) -> Looked {
        let words = self.words();
        let Words { at, len, .. } = words;
        let mut looked = Looked {
            end: Ok(()),
            len,
            asks: false,
        };
        if Mutant::ReadsNotValidated.on(self.lane) || len == self.attempt.set.writes {
            return looked;
        }
        let mut i = 0;
        while i < len && looked.end.is_ok() {
            let (entries, seen): ([u64; BATCH], _) = at.seen(i, len);
            let found = words.reload(entries, seen, i, WRITTEN);
            for j in 0..BATCH {
                let k = i + j as u32;
                if found[j] == seen[j] {
                    continue;
                }
                let mut same = false;
                if S::may_be_locked_by(found[j], seen[j], owner) {
                    if let Some(holder) = words.holder(len, entries[j]) {
                        same = at.get(Column::Seen, holder) == seen[j];
                    } else {
                        at.put(Column::Address, k, entries[j] | SHARES);
                        looked.asks = true;
                        same = true;
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
    fn store_shared(&mut self) {
        let words = self.words();
        let Words { at, len, .. } = words;
        let mut i = 0;
        while i < len {
            let entry = at.get(Column::Address, i);
            let shares = entry & (WRITTEN | SHARES) == WRITTEN | SHARES;
            if shares && words.holder(len, entry).is_none() {
                let word = S::value(word_of(entry));
                // SAFETY: of an element in range (TeamTx), whose lock the team holds. Relaxed: F8 follows.
                unsafe { word.store(self.lane, at.get(Column::Value, i)) };
                at.put(Column::Address, i, entry & !WRITTEN);
            }
            i += 1;
        }
    }
}

#[stm_core_macros::inlined]
impl<L: Lane, S: Storage, const N: usize> Words<'_, L, S, N> {
    /// Loads the present version words of the blind entries of a batch; the others keep the word seen.
    fn see_as_team(self, entries: [u64; BATCH], seen: [u64; BATCH], i: u32) -> [u64; BATCH] {
        core::array::from_fn(|j| {
            if i + (j as u32) >= self.len || entries[j] & BLIND == 0 {
                return seen[j];
            }
            // Relaxed: the swap that follows compares it.
            let found = self.version_if(true, word_of(entries[j]), 0);
            self.at.put(Column::Seen, i + j as u32, found);
            found
        })
    }
}

impl<L: Lane, const N: usize> Entries<'_, L, N> {
    #[inline(never)]
    fn share_own_as_team<S: Storage>(self, map: S::Map, i: u32, entry: u64) -> Option<bool> {
        self.with::<S>(map, i).share_own(i, entry)
    }

    /// Asks, one after the other, about those entries of all lanes that have the flags `kind` and whose lock
    /// no other entry of the lane owns. Errors, the same for all: [`Abort::CommitLocked`] if the team does
    /// not own a lock, [`Abort::CommitStale`] if it was acquired from another version than the asker's, or
    /// [`Abort::TeamOverlap`]. It takes its arguments by value and is not inlined, as it is rarely needed.
    #[inline(never)]
    fn settle_as_team<S: Storage, C: Crew>(
        self,
        map: S::Map,
        crew: C,
        len: u32,
        kind: u64,
    ) -> TxResult<()> {
        let (lane, words) = (self.lane, self.with::<S>(map, len));
        let mut i = 0;
        loop {
            let mut entry = 0;
            while i < len {
                entry = self.get(Column::Address, i);
                let asked = entry & (WRITTEN | SHARES) == kind;
                if asked && words.holder(len, entry).is_none() {
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
            let used = !asks && self.uses(WordAddress::from_bits(word), len, kind);
            if C::any(crew.vote(lane, used)) {
                return Err(Abort::TeamOverlap);
            }
            let holder = words.holder(len, word);
            let holders = crew.vote(lane, holder.is_some());
            if !C::any(holders) {
                return Err(Abort::CommitLocked);
            }
            let from = holder.map_or(0, |holder| self.get(Column::Seen, holder));
            let teller = crew.one_of(lane, holders, holder.is_some());
            let [from] = crew.broadcast(lane, teller, [from]);
            let stale = asks && entry & BLIND == 0 && self.get(Column::Seen, i) != from;
            if C::any(crew.vote(lane, stale)) && !Mutant::TeamShareUnchecked.on(lane) {
                return Err(Abort::CommitStale);
            }
            i += u32::from(asks);
        }
    }

    /// Returns whether the lane has written a word, or read it if the asker wrote it.
    #[inline(never)]
    fn uses(self, word: WordAddress, len: u32, kind: u64) -> bool {
        let mut i = 0;
        while i < len {
            let entry = self.get(Column::Address, i);
            if word_of(entry) == word && (entry | kind) & WRITTEN != 0 {
                return true;
            }
            i += 1;
        }
        false
    }
}
