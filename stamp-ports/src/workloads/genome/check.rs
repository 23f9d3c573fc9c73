//! What a right assembly looks like.
//!
//! GN-1: each different segment is in the set once. GN-2: one chain through all
//! of them, whose links go both ways; put together along it, overlaps agree
//! base by base, and what comes out is the gene.

use super::input::{Gene, letters};
use stm_kernels::genome::{BASES_A_WORD, link_of, words_of};

#[derive(Clone, Debug)]
pub(super) struct Left {
    /// The set: a segment's number plus one, or 0.
    pub(super) slots: Vec<u32>,
    /// The successor of each entry, as the kernels write it.
    pub(super) nexts: Vec<u64>,
    /// The predecessor of each entry, plus one, or 0.
    pub(super) prevs: Vec<u32>,
}

pub(super) fn check_set(gene: &Gene, slots: &[u32]) -> Result<(), String> {
    let mut seen = vec![None; gene.bases.len()];
    let mut found = 0;
    for (slot, &word) in slots.iter().enumerate().filter(|(_, word)| **word != 0) {
        let segment = word as usize - 1;
        let &start = gene.starts.get(segment).ok_or_else(|| {
            let n = gene.starts.len();
            format!("slot {slot} has segment {segment}, and there are {n}")
        })?;
        if let Some(other) = seen[start as usize].replace(slot) {
            return Err(format!(
                "slots {other} and {slot} both have the segment that begins at base {start}"
            ));
        }
        found += 1;
    }
    let is_lost = |start: &&u32| seen[**start as usize].is_none();
    wrong! {
        found != gene.distinct =>
            "{found} of {} different segments are in the set; the one at base {} is not",
            gene.distinct, gene.starts.iter().find(is_lost).copied().unwrap_or_default();
    }
    Ok(())
}

/// Appends the bases of a segment after the first `from`; says where the first
/// ones differ from what is there.
fn append(built: &mut Vec<u8>, segment: &[u64], bases: u32, from: u32) -> Result<(), String> {
    let shift = |i: u32| 2 * (i % BASES_A_WORD);
    let base = |i: u32| (segment[(i / BASES_A_WORD) as usize] >> shift(i) & 3) as u8;
    let start = built.len() - from as usize;
    for i in 0..from {
        wrong! {
            built[start + i as usize] != base(i) =>
                "at base {} an overlap of {from} bases does not agree", start + i as usize;
        }
    }
    built.extend((from..bases).map(base));
    Ok(())
}

/// Puts the segments together along the links.
fn rebuild(gene: &Gene, packed: &[u64], left: &Left) -> Result<Vec<u8>, String> {
    let is_entry = |entry: usize| left.slots.get(entry).is_some_and(|&slot| slot != 0);
    let entries = || (0..left.slots.len()).filter(|&entry| is_entry(entry));
    let firsts: Vec<usize> = entries().filter(|&e| left.prevs[e] == 0).collect();
    wrong! {
        firsts.len() != 1 => "{} chains, and all segments should make one", firsts.len();
    }
    let words = words_of(gene.segment) as usize;
    let mut built = Vec::with_capacity(gene.bases.len());
    let (mut entry, mut overlap, mut visited) = (firsts[0], 0, 0u32);
    loop {
        visited += 1;
        let segment = &packed[(left.slots[entry] as usize - 1) * words..][..words];
        append(&mut built, segment, gene.segment, overlap)?;
        let Some((next_overlap, next)) = link_of(left.nexts[entry]) else {
            break;
        };
        let next = next as usize;
        wrong! {
            !is_entry(next) || next_overlap == 0 || next_overlap >= gene.segment =>
                "entry {entry} is linked to {next} with an overlap of {next_overlap}";
            // With both ways alike, no entry is met twice: it would have two
            // predecessors, or be the first, which has none.
            left.prevs[next] as usize != entry + 1 =>
                "entry {entry} is linked to {next}, whose predecessor is entry {}",
                i64::from(left.prevs[next]) - 1;
        }
        (entry, overlap) = (next, next_overlap);
    }
    wrong! {
        visited != gene.distinct =>
            "the chain from the start has {visited} of {} segments", gene.distinct;
    }
    Ok(built)
}

pub(super) fn check(gene: &Gene, packed: &[u64], left: &Left) -> Result<(), String> {
    check_set(gene, &left.slots)?;
    let built = rebuild(gene, packed, left)?;
    let same = built.iter().zip(&gene.bases).take_while(|(a, b)| a == b);
    let at = same.count();
    let part = |bases: &[u8]| letters(&bases[at.min(bases.len())..bases.len().min(at + 16)]);
    wrong! {
        built != gene.bases =>
            "the rebuilt gene has {} bases, the generated one {}; from base {at} on {:?}, not {:?}",
            built.len(), gene.bases.len(), part(&built), part(&gene.bases);
    }
    Ok(())
}
