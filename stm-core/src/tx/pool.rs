//! Allocation and release of nodes.
//!
//! A fault of a pool uses the two words of [`Fault::details`](crate::tx::abort::Fault::details):
//!
//! | word | upper half | lower half |
//! | --- | --- | --- |
//! | index | the [`Misuse`], 0 for a pool without a free node | the name of the node |
//! | length | the number of the pool | the number of its nodes |

use crate::algorithm::prelude::*;
use crate::array::pool::{Misuse, NODES_A_WORD, Node, TNodes, TPool, Taken};
use crate::array::preassigned::Preassigned;
use crate::array::record::{Field, Fields, Record};
use crate::tx::actions::{Action, When};

/// The allocations without a free node after a transaction has drawn a ticket, until the pool counts as
/// exhausted. By then the other attempts have ended and given back their nodes.
const MISSES_ALONE: u32 = 8;

/// The pause after an allocation that found no free node, for each one before it.
const MISS_PAUSE_NS: u32 = 64;

#[stm_core_macros::inlined]
impl<L: Lane, A: Algorithm> Tx<'_, L, A> {
    /// Allocates a node of a pool, which belongs to this transaction until it commits; else it is free again.
    /// What its index stands for in other arrays is up to the program; their elements hold what was left in
    /// them. [`Self::alloc_record`] allocates a node that is a record, and initialises it.
    ///
    /// # Errors
    /// - [`Abort::PoolBusy`], a conflict: no node is free now, but attempts in progress hold some.
    /// - [`Abort::PoolExhausted`], a fault: none has been free in so many attempts in a row that under `fast`
    ///   and `fast-table` some were alone. A pool drained by one slow attempt may count as exhausted early.
    /// - A full log of actions, a fault.
    pub fn alloc(&mut self, pool: &TPool) -> TxResult<Node> {
        let taken = self.take(pool)?;
        Ok(pool.node(taken.index))
    }

    /// Allocates a node of a pool of records and initialises it with `record`.
    ///
    /// Under `fast` and `fast-table`, a node that no attempt of this launch has had is stored at once,
    /// without a lock or room in the write set. Any other is written by the commit, as an attempt that will
    /// abort may still own a word of it. Its errors are those of [`Self::alloc`] and of [`Self::write`].
    pub fn alloc_record<R: Record>(&mut self, nodes: &TNodes<A, R>, record: R) -> TxResult<Node> {
        let taken = self.take(&nodes.pool)?;
        self.put_record(&nodes.records, u64::from(taken.index), record, taken.fresh)?;
        Ok(nodes.pool.node(taken.index))
    }

    fn take(&mut self, pool: &TPool) -> TxResult<Taken> {
        self.not_failed()?;
        let Some(taken) = pool.take(self.lane, self.pool.hint) else {
            return self.no_node(pool);
        };
        self.pool.hint = taken.index / NODES_A_WORD;
        self.pool.misses = 0;
        let (word, bit) = pool.place(taken.index);
        if !Mutant::PoolNotUndone.on(self.lane)
            && let Err(abort) = self.defer(When::Abort, Action::clear_node(word, bit, None))
        {
            // SAFETY: the bit is of the live bitmap (TPool::from_raw), and this attempt has set it.
            unsafe { self.lane.fetch_and_relaxed_64(word, !(1 << bit)) };
            return Err(abort);
        }
        if !taken.fresh {
            // ORDER(P1): pairs with P2 of whoever freed the node.
            self.lane.fence();
        }
        Ok(taken)
    }

    /// Counts an allocation that found no free node, and returns what it is.
    fn no_node<T>(&mut self, pool: &TPool) -> TxResult<T> {
        self.pool.misses = self.pool.misses.saturating_add(1);
        let alone = self.stm.limits.queue_after.saturating_add(MISSES_ALONE);
        self.fault.details = (0, identity(pool));
        // Nodes come back when other attempts end, some of them by threads that wait for a core.
        self.lane
            .pause(MISS_PAUSE_NS.saturating_mul(self.pool.misses));
        self.fail(if self.pool.misses >= alone {
            Abort::PoolExhausted
        } else {
            Abort::PoolBusy
        })
    }

    /// Frees a node when the transaction commits. Then others may allocate it: no word may link to it.
    ///
    /// # Errors
    /// [`Abort::BadNode`], also if this attempt has freed it already; or a full log of actions. A node that
    /// is free when the transaction has committed is a fault too.
    pub fn free(&mut self, pool: &TPool, node: Node) -> TxResult<()> {
        self.not_failed()?;
        let Some(index) = pool.index(node) else {
            return self.misused(pool, node);
        };
        let (word, bit) = pool.place(index);
        if Mutant::PoolFreeAtOnce.on(self.lane) {
            // SAFETY: the bit is of the live bitmap (TPool::from_raw).
            unsafe { self.lane.fetch_and_relaxed_64(word, !(1 << bit)) };
            return Ok(());
        }
        // ORDER(P2): D1, the fence before deferred actions.
        let freed = u64::from(pool.id) << 32 | u64::from(node.bits());
        let action = Action::clear_node(word, bit, Some(freed));
        if self.will_free(action) {
            let details = (Misuse::FreedTwice.of(node), identity(pool));
            return self.fail_at(Abort::BadNode, details);
        }
        self.defer(When::Commit, action)
    }

    fn misused<T>(&mut self, pool: &TPool, node: Node) -> TxResult<T> {
        let misuse = if pool.has_tag(node) {
            Misuse::NeverGivenOut
        } else {
            Misuse::OtherPool
        };
        self.fail_at(Abort::BadNode, (misuse.of(node), identity(pool)))
    }

    pub(crate) fn record_of<R: Record>(
        &mut self,
        nodes: &TNodes<A, R>,
        node: Node,
    ) -> TxResult<u64> {
        self.not_failed()?;
        match nodes.pool.index(node) {
            Some(index) => Ok(u64::from(index)),
            None => self.misused(&nodes.pool, node),
        }
    }

    /// Reads the record of a node, as [`Self::read_record`] does.
    pub fn read_node<R: Record>(&mut self, nodes: &TNodes<A, R>, node: Node) -> TxResult<R> {
        let i = self.record_of(nodes, node)?;
        self.read_record(&nodes.records, i)
    }

    /// Writes the record of a node, as [`Self::write_record`] does.
    pub fn write_node<R: Record>(
        &mut self,
        nodes: &TNodes<A, R>,
        node: Node,
        record: R,
    ) -> TxResult<()> {
        let i = self.record_of(nodes, node)?;
        self.write_record(&nodes.records, i, record)
    }

    /// Reads a field of a node.
    pub fn get<R: Record, T: Element>(
        &mut self,
        nodes: &TNodes<A, R>,
        node: Node,
        field: Field<R, T>,
    ) -> TxResult<T> {
        let i = self.record_of(nodes, node)?;
        self.read_field(&nodes.records, i, field)
    }

    /// Reads several fields of a node that have one type, with their loads in flight together.
    pub fn get_many<R: Record, T: Element, const N: usize>(
        &mut self,
        nodes: &TNodes<A, R>,
        node: Node,
        fields: [Field<R, T>; N],
    ) -> TxResult<[T; N]> {
        let i = self.record_of(nodes, node)?;
        self.read_fields(&nodes.records, i, fields)
    }

    /// Writes a field of a node.
    pub fn set<R: Record, T: Element>(
        &mut self,
        nodes: &TNodes<A, R>,
        node: Node,
        field: Field<R, T>,
        value: T,
    ) -> TxResult<()> {
        let i = self.record_of(nodes, node)?;
        self.write_field(&nodes.records, i, field, value)
    }

    /// Initialises record `k` of those that belong to this transaction; others find it only by a word that
    /// this one writes. Under `fast` and `fast-table` it is stored at once, and stays if the attempt aborts;
    /// under the others it is written.
    pub fn init<R: Record>(
        &mut self,
        mine: &Preassigned<'_, A, R>,
        k: u32,
        record: R,
    ) -> TxResult<()> {
        self.init_many(mine, k, [record], 1)
    }

    /// Does [`Self::init`] for the first `count` records from `k` on; an error names the last of them.
    pub fn init_many<R: Record, const N: usize>(
        &mut self,
        mine: &Preassigned<'_, A, R>,
        k: u32,
        records: [R; N],
        count: u32,
    ) -> TxResult<()> {
        let count = count.min(N as u32);
        if count == 0 {
            return Ok(());
        }
        let last = u64::from(k) + u64::from(count) - 1;
        self.within(last, u64::from(mine.count()))?;
        let first = mine.first() + u64::from(k);
        let array = mine.records;
        let of = |j: usize| first + j as u64;
        for at in 0..R::Wide::COUNT {
            let words = core::array::from_fn(|j| array.word_at::<u64>(of(j), at));
            let bits = core::array::from_fn(|j| records[j].split().0.get(at as usize));
            self.put_words::<u64, N>(words, bits, count, true)?;
        }
        for at in 0..R::Narrow::COUNT {
            let words = core::array::from_fn(|j| array.word_at::<u32>(of(j), at));
            let bits = core::array::from_fn(|j| records[j].split().1.get(at as usize));
            self.put_words::<u32, N>(words, bits, count, true)?;
        }
        Ok(())
    }
}

#[inline(always)]
fn identity(pool: &TPool) -> u64 {
    u64::from(pool.id) << 32 | u64::from(pool.nodes())
}
