//! A minimum spanning forest after Boruvka, by transactions.
//!
//! Every tree of the forest that was found so far is a set of vertices whose
//! `parents` lead to one root. A round has two launches:
//!
//! 1. [`choose`]: for each edge between two trees, a transaction makes it the
//!    best edge of either tree, if it is lighter than the best one so far;
//! 2. [`join`]: for each tree, a transaction follows its best edge to the other
//!    tree and, if they are still two, hangs one root below the other. Two trees
//!    that have chosen each other, and trees that are being joined at this moment,
//!    need no care: the transactions do one after the other.
//!
//! After as many rounds as it takes until no edge is left between two trees, the edges taken are a
//! minimum spanning forest. Weights are made distinct by the numbers of their edges.

use stm_core::prelude::*;

pub mod forest;
pub mod graph;

/// The best edge of a tree that has none yet.
pub const NO_EDGE: u64 = u64::MAX;

/// Returns what is compared of an edge: its weight and then its number.
pub const fn rank(weight: u32, edge: u32) -> u64 {
    (weight as u64) << 32 | edge as u64
}

/// Finds the root of a vertex by plain loads, for launches in which nobody changes `parents`.
#[inline(always)]
fn root<L: Lane>(lane: &L, parents: &impl View<u32>, mut vertex: u32) -> u32 {
    loop {
        let parent = parents.peek(lane, u64::from(vertex)).unwrap_or(vertex);
        if parent == vertex {
            return vertex;
        }
        vertex = parent;
    }
}

/// Lets each edge become the best edge of the trees that it connects.
/// `edges` has two words an edge: both ends, and the weight.
#[kernel(name = "mst_choose")]
pub fn choose(
    stm: &Stm,
    parents: Cells<u32>,
    best: Cells<u64>,
    ends: Input<u64>,
    weights: Input<u32>,
) {
    let lane = stm.lane();
    stm.each(0..ends.len(), |tx, edge| {
        let (Some(ends), Some(weight)) = (ends.get(lane, edge), weights.get(lane, edge)) else {
            return Ok(());
        };
        let a = root(lane, parents, ends as u32);
        let b = root(lane, parents, (ends >> 32) as u32);
        if a == b {
            return Ok(());
        }
        let rank = rank(weight, edge as u32);
        for tree in [u64::from(a), u64::from(b)] {
            // The best rank only falls, so one that is already lower, even an
            // old one, settles it without a transactional read.
            let lower = best.peek(lane, tree).is_some_and(|best| best < rank);
            if !lower && tx.read(best, tree)? > rank {
                tx.write(best, tree, rank)?;
            }
        }
        Ok(())
    });
}

/// Joins each tree to the one at the other end of its best edge, and returns the
/// edge, plus 1, if this transaction took it.
#[kernel(name = "mst_join")]
pub fn join(
    stm: &Stm,
    parents: Cells<u32>,
    best: Cells<u64>,
    ends: Input<u64>,
    taken: Output<u32>,
) {
    let lane = stm.lane();
    stm.into(taken).each(0..taken.len(), |tx, vertex| {
        // Only roots have a best edge, and nobody changes it in this launch.
        let rank = best.peek(lane, vertex).unwrap_or(NO_EDGE);
        let edge = rank as u32;
        let Some(ends) = ends.get(lane, u64::from(edge)).filter(|_| rank != NO_EDGE) else {
            return Ok(0);
        };
        let mut roots = [ends as u32, (ends >> 32) as u32];
        for root in &mut roots {
            loop {
                let parent = tx.read(parents, u64::from(*root))?;
                if parent == *root {
                    break;
                }
                *root = parent;
            }
        }
        let [a, b] = roots;
        if a == b {
            return Ok(0);
        }
        tx.write(parents, u64::from(a), b)?;
        Ok(edge + 1)
    });
}

/// Makes every vertex a child of its root, and forgets the best edges, for the next round.
#[kernel(name = "mst_flatten")]
pub fn flatten(stm: &Stm, parents: Cells<u32>, best: Cells<u64>) {
    let lane = stm.lane();
    stm.each(0..parents.len(), |tx, vertex| {
        if best.peek(lane, vertex) != Some(NO_EDGE) {
            tx.write(best, vertex, NO_EDGE)?;
        }
        // Wherever others have got to, the way up ends at the same root.
        let root = root(lane, parents, vertex as u32);
        if parents.peek(lane, vertex) != Some(root) {
            tx.write(parents, vertex, root)?;
        }
        Ok(())
    });
}
