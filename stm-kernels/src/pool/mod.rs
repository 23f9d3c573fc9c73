//! Allocation and release alone: each transaction allocates a node and frees
//! the one that the lane's transaction before it has allocated.

pub mod floor;

use crate::prelude::*;
use stm_core::{Node, TPool};

transactional! {
    Pool<A>(PoolWork<TPool>) = pool ["pool"];
}

/// A pool with a node or two for each lane: `P` is [`TPool`] or nodes without transactions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PoolWork<P> {
    pub pool: P,
    pub transactions: u64,
}

#[inline(always)]
fn pool<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &PoolWork<TPool>) {
    // The node that the lane's last transaction allocated, and that of the attempt in progress.
    let (held, allocated) = (Cell::new(Node::NIL), Cell::new(Node::NIL));
    let loops = stm.loops(lane).then(|_| held.set(allocated.get()));
    loops.each(0..p.transactions, |tx, _| {
        allocated.set(tx.alloc(&p.pool)?);
        if held.get().is_nil() {
            return Ok(());
        }
        tx.free(&p.pool, held.get())
    });
}
