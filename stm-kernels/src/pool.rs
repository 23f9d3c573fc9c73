//! Allocation and release alone: each transaction allocates a node and frees
//! the one that the lane's transaction before it has allocated.

use core::{cell::Cell, marker::PhantomData};
use stm_core::{Lane, Node, StmRef, TPool, algorithm::Algorithm, kernels};

/// The pool kernel with transactions of algorithm `A`.
#[derive(Clone, Copy, Debug)]
pub struct Pool<A>(PhantomData<A>);

/// The parameters of [`Pool`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PoolParams<A: Algorithm> {
    /// The transactional memory.
    pub stm: StmRef<A>,
    /// The pool, with a node or two for each lane.
    pub pool: TPool,
    /// Transactions of the launch.
    pub transactions: u64,
}

impl<A: Algorithm> Pool<A> {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &PoolParams<A>) {
        // The node that the lane's last transaction allocated, and that of the attempt in progress.
        let held = Cell::new(Node::NIL);
        let allocated = Cell::new(Node::NIL);
        p.stm
            .loops(lane)
            .then(|_| held.set(allocated.get()))
            .each(0..p.transactions, |tx, _| {
                allocated.set(tx.alloc(&p.pool)?);
                if held.get().is_nil() {
                    return Ok(());
                }
                tx.free(&p.pool, held.get())
            });
    }
}

kernels!(Pool, PoolParams, "pool");
