//! GN, genome (STAMP; Xu et al. 2014, section 4.1): reassembles a gene from segments of it.
//!
//! 1. **GN-1**, [`Deduplicate`]: a transaction inserts each segment into a hash set, unless it is there.
//! 2. **GN-2**: for each overlap, from a segment's length less one down to one base, [`Match`] finds the
//!    pairs whose first segment ends as the second begins. [`Link`] links each in one transaction, unless the
//!    first has a successor by now, or the second a predecessor, or both are in one chain. The end of a
//!    launch is the device-wide barrier.
//!
//! A base takes two bits, 32 bases are a word, the first base is in the lowest bits, and zeros follow the
//! last. A slot of the hash set holds a segment's number plus one, or 0. A segment is put into the first free
//! slot from that of its hash on, whose number is the segment's *entry* in all other arrays.
//!
//! | array of chains | value for an entry |
//! | --- | --- |
//! | `nexts` | the overlap in the high half; the successor's entry plus one in the low half, 0 for none |
//! | `prevs` | the predecessor's entry plus one, 0 for none |
//! | `others` | for the first of a chain the last, for the last the first, plus one; 0 for the entry itself |
//!
//! A link reads four words and writes four, as in STAMP: each end of a chain points to the other, so that no
//! chain is closed to a ring. [`Match`] for overlap `o` looks up endings in the table of beginnings of length
//! `o`, fills the one for `o - 1`, and clears the one for `o - 2`, of three tables in turn by one launch.

pub mod floor;

use crate::prelude::*;

transactional! {
    Deduplicate<A>(DeduplicateWork<A>) = deduplicate
        // Threads under `fast` and `fast-table` get at most 128 registers: the reads wait for memory and the
        // writes are few, so more threads help. On an H200, 168 registers took 0.70 ms and 96 took 0.47 ms.
        ["gn1", registers { fast: 128, fast_table: 128 }];
    Link<A>(LinkWork<A>) = link ["gn2", wide];
}

pub const BASES_A_WORD: u32 = 32;

#[inline(always)]
pub const fn words_of(bases: u32) -> u32 {
    bases.div_ceil(BASES_A_WORD)
}

pub const TABLES: u32 = 3;

#[inline(always)]
const fn fold(hash: u64, word: u64) -> u64 {
    let h = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    h ^ (h >> 29)
}

/// Returns the slot of a hash in a table; `mask` is the table's size less one,
/// where the size is a power of two of at most 2^32 slots.
#[inline(always)]
pub(crate) const fn slot_of(hash: u64, mask: u64) -> u64 {
    (hash.wrapping_mul(0xD1B5_4A32_D192_ED03) >> 32) & mask
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    /// The words of all segments, one segment after another; constant.
    pub words: TArray<u64>,
    pub bases: u32,
}

#[stm_core::inlined]
impl Segments {
    /// Loads word `word` of a segment; the result is zero if there is none.
    fn word<L: Lane>(&self, lane: &L, segment: u32, word: u32) -> u64 {
        let words = words_of(self.bases);
        let at = u64::from(segment) * u64::from(words) + u64::from(word);
        match self.words.get(at) {
            // SAFETY: in range of a live array that nothing writes.
            Some(p) if word < words => unsafe { lane.load_relaxed_64(p) },
            _ => 0,
        }
    }

    pub(crate) fn hash<L: Lane>(&self, lane: &L, segment: u32) -> u64 {
        let mut hash = 0;
        let mut word = 0;
        while word < words_of(self.bases) {
            hash = fold(hash, self.word(lane, segment, word));
            word += 1;
        }
        hash
    }

    pub(crate) fn same<L: Lane>(&self, lane: &L, a: u32, b: u32) -> bool {
        let mut word = 0;
        while word < words_of(self.bases) {
            if self.word(lane, a, word) != self.word(lane, b, word) {
                return false;
            }
            word += 1;
        }
        true
    }

    /// Returns word `word` of the part of a segment that begins at base `from`
    /// and has `len` bases, as if the part were a segment of its own.
    fn part<L: Lane>(&self, lane: &L, segment: u32, from: u32, len: u32, word: u32) -> u64 {
        let first = from + word * BASES_A_WORD;
        let (at, shift) = (first / BASES_A_WORD, first % BASES_A_WORD * 2);
        let mut bits = self.word(lane, segment, at) >> shift;
        if shift != 0 {
            bits |= self.word(lane, segment, at + 1) << (64 - shift);
        }
        let left = len - word * BASES_A_WORD;
        if left < BASES_A_WORD {
            bits &= (1 << (left * 2)) - 1;
        }
        bits
    }

    fn hash_part<L: Lane>(&self, lane: &L, segment: u32, from: u32, len: u32) -> u64 {
        let mut hash = 0;
        let mut word = 0;
        while word < words_of(len) {
            hash = fold(hash, self.part(lane, segment, from, len, word));
            word += 1;
        }
        hash
    }

    /// Returns whether the last `len` bases of `a` are the first of `b`.
    fn overlaps<L: Lane>(&self, lane: &L, a: u32, b: u32, len: u32) -> bool {
        let mut word = 0;
        while word < words_of(len) {
            if self.part(lane, a, self.bases - len, len, word) != self.part(lane, b, 0, len, word) {
                return false;
            }
            word += 1;
        }
        true
    }
}

/// The data that the three kernels have in common.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Assembly<A: Algorithm> {
    pub segments: Segments,
    /// The hash set; a power of two of slots, at least twice the distinct segments.
    pub slots: A::Array<u32>,
    pub nexts: A::Array<u64>,
    pub prevs: A::Array<u32>,
    pub others: A::Array<u32>,
    /// The pairs that a [`Match`] found: the first's entry in the high half, the second's in the low half.
    pub pairs: TArray<u64>,
    /// The number of pairs of each overlap; a word for each overlap, from 0 on.
    pub pair_counts: TArray<u32>,
}

/// Returns the overlap of a link and its successor's entry, from a word of `nexts`.
pub const fn link_of(next: u64) -> Option<(u32, u32)> {
    match (next as u32).checked_sub(1) {
        None => None,
        Some(entry) => Some(((next >> 32) as u32, entry)),
    }
}

/// Returns the other end of a chain, from a word of `others`.
#[inline(always)]
pub const fn other_of(word: u32, entry: u32) -> u32 {
    if word == 0 { entry } else { word - 1 }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DeduplicateWork<A: Algorithm> {
    pub assembly: Assembly<A>,
    /// The number of segments to insert, which is that of the launch's transactions.
    pub transactions: u64,
}

#[inline(always)]
fn deduplicate<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &DeduplicateWork<A>) {
    let segments = &p.assembly.segments;
    let slots = &p.assembly.slots;
    let mask = slots.len().wrapping_sub(1);
    stm.for_each(lane, 0..p.transactions, |tx, i| {
        let mine = i as u32;
        let mut slot = slot_of(segments.hash(lane, mine), mask);
        let mut looks = 0;
        while looks <= mask {
            let held = tx.read(slots, slot)?;
            if held == 0 {
                return tx.write(slots, slot, mine + 1);
            }
            if segments.same(lane, held - 1, mine) {
                return Ok(());
            }
            slot = (slot + 1) & mask;
            looks += 1;
        }
        tx.cancel() // full, which the host sees as a commit that is missing
    });
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LinkWork<A: Algorithm> {
    pub assembly: Assembly<A>,
    pub overlap: u32,
}

#[inline(always)]
fn link<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &LinkWork<A>) {
    let all = &p.assembly;
    let Some(count) = all.pair_counts.peek(lane, u64::from(p.overlap)) else {
        return;
    };
    stm.for_each(lane, 0..u64::from(count).min(all.pairs.len()), |tx, i| {
        let Some(pair) = all.pairs.get(i) else {
            return tx.cancel();
        };
        // SAFETY: live, and written by an earlier launch only.
        let pair = unsafe { lane.load_relaxed_64(pair) };
        let (a, b) = ((pair >> 32) as u32, pair as u32);
        let next = tx.read(&all.nexts, u64::from(a))?;
        let prev = tx.read(&all.prevs, u64::from(b))?;
        if next != 0 || prev != 0 {
            return Ok(());
        }
        let [of_a, of_b] = tx.read_many(&all.others, [u64::from(a), u64::from(b)])?;
        let (first, last) = (other_of(of_a, a), other_of(of_b, b));
        if first == b {
            return Ok(()); // the two ends of one chain
        }
        let link = u64::from(p.overlap) << 32 | u64::from(b + 1);
        tx.write(&all.nexts, u64::from(a), link)?;
        tx.write(&all.prevs, u64::from(b), a + 1)?;
        tx.write(&all.others, u64::from(first), last + 1)?;
        tx.write(&all.others, u64::from(last), first + 1)
    });
}

transactional! {
    /// The search of GN-2 for pairs. It has no transactions, but reads arrays in
    /// the layout of algorithm `A`.
    Match<A> of MatchParams<A> = find_pairs ["gn_match", [Cgl, Fast]];
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MatchParams<A: Algorithm> {
    pub assembly: Assembly<A>,
    /// The first entry of each slot of each table, plus one; [`TABLES`] times the slots of the set.
    pub heads: TArray<u32>,
    /// The next entry of the same slot, plus one; the same number of words.
    pub chains: TArray<u32>,
    /// The overlap. It goes from the segments' length, which only prepares the
    /// next, down to 1, each in a launch of its own.
    pub overlap: u32,
}

#[inline(always)]
fn find_pairs<L: Lane, A: Algorithm>(lane: &L, p: &MatchParams<A>) {
    let entries = p.assembly.slots.len();
    let mut entry = lane.grid_thread();
    while entry < entries {
        p.clear(lane, entry);
        if let Some(segment) = load_32(lane, &p.assembly.slots, entry).checked_sub(1) {
            let entry = entry as u32;
            if p.overlap < p.assembly.segments.bases {
                p.find(lane, entry, segment);
            }
            if p.overlap > 1 {
                p.enter(lane, entry, segment);
            }
        }
        entry += lane.grid_threads();
    }
}

/// Loads a word of an array that this launch does not change; the result is 0 past the end.
#[inline(always)]
fn load_32<L: Lane>(lane: &L, array: &impl View<u32>, i: u64) -> u32 {
    array.peek(lane, i).unwrap_or(0)
}

#[stm_core::inlined]
impl<A: Algorithm> MatchParams<A> {
    fn at(&self, len: u32, slot: u64) -> u64 {
        u64::from(len % TABLES) * self.assembly.slots.len() + slot
    }

    fn clear<L: Lane>(&self, lane: &L, slot: u64) {
        // This is the table of one more than `overlap - 2`, as there are three tables.
        store(lane, &self.heads, self.at(self.overlap + 1, slot), 0);
    }

    /// Enters the beginning of a segment that has no predecessor into the next table.
    fn enter<L: Lane>(&self, lane: &L, entry: u32, segment: u32) {
        if load_32(lane, &self.assembly.prevs, u64::from(entry)) != 0 {
            return;
        }
        let len = self.overlap - 1;
        let hash = self.assembly.segments.hash_part(lane, segment, 0, len);
        let slot = slot_of(hash, self.assembly.slots.len().wrapping_sub(1));
        if let (Some(head), Some(chain)) = (
            self.heads.get(self.at(len, slot)),
            self.chains.get(self.at(len, u64::from(entry))),
        ) {
            // SAFETY: in range of live arrays. Nobody follows the chain before
            // the next launch, and the end of this one orders all of this.
            unsafe {
                let next = lane.exchange_acquire_32(head, entry + 1);
                lane.store_relaxed_32(chain, next);
            }
        }
    }

    /// Records every pair of a segment without a successor and one without a
    /// predecessor that begins as the first ends.
    fn find<L: Lane>(&self, lane: &L, entry: u32, segment: u32) {
        let all = &self.assembly;
        let len = self.overlap;
        if all.nexts.peek(lane, u64::from(entry)) != Some(0) {
            return;
        }
        let first = other_of(load_32(lane, &all.others, u64::from(entry)), entry);
        let hash = all
            .segments
            .hash_part(lane, segment, all.segments.bases - len, len);
        let slot = slot_of(hash, all.slots.len().wrapping_sub(1));
        let mut link = load_32(lane, &self.heads, self.at(len, slot));
        while let Some(other) = link.checked_sub(1) {
            let theirs = load_32(lane, &all.slots, u64::from(other)).wrapping_sub(1);
            if other != first
                && load_32(lane, &all.prevs, u64::from(other)) == 0
                && all.segments.overlaps(lane, segment, theirs, len)
            {
                self.note(lane, u64::from(entry) << 32 | u64::from(other));
            }
            link = load_32(lane, &self.chains, self.at(len, u64::from(other)));
        }
    }

    /// Records a pair; if there is no more room for pairs, it only counts.
    fn note<L: Lane>(&self, lane: &L, pair: u64) {
        let Some(count) = self.assembly.pair_counts.get(u64::from(self.overlap)) else {
            return;
        };
        // SAFETY: in range of live arrays; the counter gives each place once.
        unsafe {
            let at = lane.fetch_add_relaxed_32(count, 1);
            if let Some(place) = self.assembly.pairs.get(u64::from(at)) {
                lane.store_relaxed_64(place, pair);
            }
        }
    }
}
