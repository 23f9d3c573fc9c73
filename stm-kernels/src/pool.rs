//! Allocation and release alone: each transaction allocates a node and frees
//! the one that the lane's transaction before it has allocated.

use crate::rows::{Transactional, transactional};
use core::cell::Cell;
use stm_core::{Lane, Node, TPool, algorithm::Algorithm};

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
fn pool<L: Lane, A: Algorithm>(lane: &L, p: &Transactional<A, PoolWork<TPool>>) {
    let Transactional { stm, work: p } = p;
    // The node that the lane's last transaction allocated, and that of the attempt in progress.
    let held = Cell::new(Node::NIL);
    let allocated = Cell::new(Node::NIL);
    stm.loops(lane)
        .then(|_| held.set(allocated.get()))
        .each(0..p.transactions, |tx, _| {
            allocated.set(tx.alloc(&p.pool)?);
            if held.get().is_nil() {
                return Ok(());
            }
            tx.free(&p.pool, held.get())
        });
}
