//! Pools of nodes, and preassigned nodes, in the memory of a device.

use crate::array::pool::{NODES_A_WORD, NODES_MAX, Node, TNodes, TPool};
use crate::array::preassigned::{TPreassigned, header_words};
use crate::host::arranged::Records;
use crate::host::fault_error::Identity;
use crate::host::prelude::*;
use crate::host::stm::Stm;

/// Nodes that transactions allocate and free ([`Tx::alloc`](crate::Tx::alloc)), in the memory of a device.
///
/// It needs room for the data and what attempts in progress hold, up to one for each allocation of each lane;
/// else a launch ends with [`Error::PoolExhausted`]. [`Self::refresh`] between launches lets transactions of
/// `fast` and `fast-table` store at once to nodes that are free then, which is faster.
///
/// ```
/// use stm_core::host::{Cpu, Error, Pool};
///
/// let mut pool = Pool::new(&Cpu::new(), 100, "nodes")?;
/// let nodes = pool.take(3)?; // for data that the host puts there
/// assert_eq!((nodes.len(), pool.free_nodes()?), (3, 97));
/// assert!(matches!(pool.check(4), Err(Error::PoolCount { taken: 3, .. })));
/// # Ok::<(), stm_core::host::Error>(())
/// ```
pub struct Pool<D: Device> {
    words: Buffer<D, u64>,
    nodes: u64,
    identity: Identity,
}

stm_machine::shown!([D: Device] Pool<D>: words, nodes; ..);

/// The taken bits of a word, the lower half of it.
const TAKEN: u64 = (1 << NODES_A_WORD) - 1;
const _: () = assert!(NODES_A_WORD == u32::BITS);

impl<D: Device> Pool<D> {
    /// Makes a pool of `nodes` free nodes; `what` names it in an error.
    ///
    /// # Errors
    /// [`Error::PoolSize`] for no nodes or more than 2^31.
    pub fn new(device: &D, nodes: u64, what: &'static str) -> Result<Self> {
        if !(1..=NODES_MAX).contains(&nodes) {
            return Err(Error::PoolSize { what, nodes });
        }
        let words = nodes.div_ceil(u64::from(NODES_A_WORD)) as usize;
        Ok(Self {
            words: Buffer::zeroed(device, words, what)?,
            nodes,
            identity: Identity::new(what, nodes),
        })
    }

    /// Returns the number of nodes.
    pub const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Returns the name that errors use.
    pub const fn name(&self) -> &'static str {
        self.words.name()
    }

    /// Returns the number of bytes of device memory.
    pub fn bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    /// Returns the number of nodes that nobody has.
    pub fn free_nodes(&self) -> Result<u64> {
        let words = self.words.download()?.into_iter();
        let taken = words.map(|word| (word & TAKEN).count_ones());
        Ok(self.nodes - u64::from(taken.sum::<u32>()))
    }

    /// Returns what [`TPool::index`] of the view does, for several threads.
    pub(super) fn indices(&self) -> impl Fn(Node) -> Option<u32> + Sync + use<D> {
        let view = self.view();
        // The tag is in the bits above those of all indices.
        let (tag, nodes) = (view.node(0).bits(), view.nodes());
        move |node| Some(node.bits() ^ tag).filter(|&index| index < nodes)
    }

    /// Says of each node, by index, whether it is taken. What the last word has behind the nodes is not.
    pub(super) fn are_taken(&self) -> Result<Vec<bool>> {
        let bits = |word: u64| (0..NODES_A_WORD).map(move |bit| word >> bit & 1 != 0);
        Ok(self.words.download()?.into_iter().flat_map(bits).collect())
    }

    /// Returns the nodes that are taken, by index.
    pub fn taken(&self) -> Result<Vec<Node>> {
        let view = self.view();
        let nodes = (0..view.nodes()).zip(self.are_taken()?);
        let taken = nodes.filter(|(_, is_taken)| *is_taken);
        Ok(taken.map(|(i, _)| view.node(i)).collect())
    }

    /// Checks that `expected` nodes are taken: fewer are lost, more have leaked ([`Error::PoolCount`]).
    pub fn check(&self, expected: u64) -> Result {
        let (what, taken) = (self.name(), self.nodes - self.free_nodes()?);
        let wrong = Error::PoolCount {
            what,
            taken,
            expected,
        };
        (taken == expected).then_some(()).ok_or(wrong)
    }

    /// Takes the first `count` free nodes for the host, or [`Error::PoolExhausted`] if there are fewer.
    pub fn take(&mut self, count: u64) -> Result<Vec<Node>> {
        let view = self.view();
        let mut words = self.words.download()?;
        let free = (0..view.nodes()).filter(|i| {
            let word = &mut words[(i / NODES_A_WORD) as usize];
            let bits = (1 << NODES_A_WORD | 1) << (i % NODES_A_WORD);
            let is_free = *word & bits & TAKEN == 0;
            *word |= if is_free { bits } else { 0 };
            is_free
        });
        let taken: Vec<Node> = free.take(count as usize).map(|i| view.node(i)).collect();
        if (taken.len() as u64) < count {
            return Err(Error::PoolExhausted {
                what: self.name(),
                nodes: self.nodes,
                transaction: 0,
            });
        }
        self.words.upload(&words)?;
        Ok(taken)
    }

    /// Lets transactions of the following launches store at once to the nodes that are free now. Call it
    /// between launches, when no data links to a free node.
    pub fn refresh(&mut self) -> Result {
        let mut words = self.words.download()?;
        for word in &mut words {
            *word = (*word & TAKEN) << NODES_A_WORD | *word & TAKEN;
        }
        self.words.upload(&words)
    }

    /// Frees all nodes.
    pub fn clear(&mut self) -> Result {
        self.words.clear()
    }

    /// Returns a view for transactions, as a kernel parameter, not to be used after the pool is freed.
    pub fn view(&self) -> TPool {
        let words = self.words.as_mut_ptr();
        // SAFETY: these are the words of so many nodes, which the caller of `launch` keeps alive.
        unsafe { TPool::from_raw(words, self.nodes as u32, self.identity.0) }
    }
}

/// A pool of records of type `R` ([`Tx::alloc_record`](crate::Tx::alloc_record)); [`TNodes`] for a kernel.
///
/// ```
/// use stm_core::host::Nodes;
/// use stm_core::prelude::*;
///
/// stm_core::record! { pub struct Entry { pub below: u32, pub number: u32 } }
///
/// /// Even transactions push their number, odd ones pop one.
/// #[kernel]
/// pub fn push_or_pop(stm: &Stm, top: Cells<u32>, entries: Nodes<Entry>) {
///     stm.each(0..1_000, |tx, i| {
///         let first = Node::from_bits(tx.read(top, 0)?);
///         if i % 2 == 0 {
///             let entry = Entry { below: first.bits(), number: i as u32 };
///             let new = tx.alloc_record(entries, entry)?;
///             tx.write(top, 0, new.bits())
///         } else if first.is_nil() {
///             tx.cancel()
///         } else {
///             let below = tx.get(entries, first, Entry::below())?;
///             tx.free(entries.pool(), first)?;
///             tx.write(top, 0, below)
///         }
///     });
/// }
///
/// # fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let top = stm.array("top", &[Node::NIL.bits()])?;
/// let entries = Nodes::<_, Entry>::new(&cpu, stm_core::Layout::Cells, 600, "entries")?;
/// let done = push_or_pop::launch(&mut stm, Launch::new(2, 4), &top, &entries)?;
/// let pops = done.commits - 500;
/// entries.pool().check(500 - pops)?; // no node is lost, none has leaked
/// # Ok(()) }
/// ```
pub struct Nodes<D: Device, R> {
    pool: Pool<D>,
    records: Records<D, R>,
}

stm_machine::shown!([D: Device, R] Nodes<D, R>: pool; ..);

impl<D: Device, R: Record> Nodes<D, R> {
    /// Makes a pool of `nodes` free nodes, whose records are zero, with the errors of [`Pool::new`].
    pub fn new(device: &D, layout: Layout, nodes: u64, what: &'static str) -> Result<Self> {
        let pool = Pool::new(device, nodes, what)?;
        let records = Records::zeroed(device, layout, nodes as usize, what)?;
        Ok(Self { pool, records })
    }

    /// Returns the pool.
    pub const fn pool(&self) -> &Pool<D> {
        &self.pool
    }

    /// Returns the pool, to take nodes or to refresh it.
    pub const fn pool_mut(&mut self) -> &mut Pool<D> {
        &mut self.pool
    }

    /// Returns the records, by the nodes' indices. Transactions of a launch that allocates reach them by
    /// [`Self::view`] alone, or would find nodes half initialised.
    pub const fn records(&self) -> &Records<D, R> {
        &self.records
    }

    /// Returns the records, to upload them or to change their layout.
    pub const fn records_mut(&mut self) -> &mut Records<D, R> {
        &mut self.records
    }

    /// Returns the number of bytes of device memory.
    pub fn bytes(&self) -> u64 {
        self.pool.bytes() + self.records.bytes()
    }

    /// Returns the number of nodes.
    pub(super) const fn capacity(&self) -> u64 {
        self.pool.nodes()
    }

    pub(super) fn arrange_as(&mut self, layout: Layout) -> Result {
        self.records.arrange_as(layout)
    }

    pub(super) fn watch(&self, stm: &mut Stm<D>) {
        stm.watch(&self.records);
    }

    pub(super) fn refresh(&mut self) -> Result {
        self.pool.refresh()
    }

    /// Frees all nodes and sets their records to zero.
    pub fn clear(&mut self) -> Result {
        self.pool.clear()?;
        self.records.clear()
    }

    /// Returns a view for transactions of algorithm `A`, as a kernel parameter, not to be used after the
    /// nodes are freed.
    ///
    /// # Panics
    /// It panics if the layout of the records is not the algorithm's.
    pub fn view<A: Algorithm>(&self) -> TNodes<A, R> {
        // SAFETY: there are as many records as nodes, and no other views that could initialise them.
        unsafe { TNodes::from_parts(self.pool.view(), self.records.view::<A>()) }
    }
}

/// Records of the transactions of a loop, by number
/// ([`StmRef::for_each_preassigned`](crate::StmRef::for_each_preassigned)). A second loop before
/// [`Self::reuse`] ends its launch with [`Error::BadNode`].
///
/// ```
/// use stm_core::host::PreassignedNodes;
/// use stm_core::prelude::*;
///
/// stm_core::record! { pub struct Link { pub below: u32 } }
///
/// /// Pushes an entry for each number, without an allocation.
/// #[kernel]
/// pub fn push_own(stm: &Stm, top: Cells<u32>, links: Preassigned<Link>) {
///     stm.each_preassigned(links.transactions(), links, |tx, _, mine| {
///         let below = tx.read(top, 0)?;
///         tx.write(top, 0, mine.first() as u32 + 1)?;
///         tx.init(&mine, 0, Link { below })
///     });
/// }
///
/// # fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let top = stm.array("top", &[0u32])?;
/// let mut links = PreassignedNodes::new(&cpu, stm_core::Layout::Cells, 1, 20, "links")?;
/// push_own::launch(&mut stm, Launch::new(1, 4), &top, &mut links)?;
/// assert_eq!(links.records().download()?.iter().filter(|link| link.below == 0).count(), 1);
/// links.reuse()?; // for the next launch
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct PreassignedNodes<D: Device, R> {
    header: D::Memory,
    records: Records<D, R>,
    per_transaction: u32,
    transactions: u64,
    identity: Identity,
}

impl<D: Device, R: Record> PreassignedNodes<D, R> {
    /// Makes `per_transaction` records for each transaction; `what` names them in an error.
    ///
    /// # Errors
    /// [`Error::PoolSize`] if these are none, or so many that 32 bits do not count them.
    pub fn new(
        device: &D,
        layout: Layout,
        per_transaction: u32,
        transactions: u64,
        what: &'static str,
    ) -> Result<Self> {
        let nodes = transactions.saturating_mul(u64::from(per_transaction));
        if !(1..=u64::from(u32::MAX)).contains(&nodes) {
            return Err(Error::PoolSize { what, nodes });
        }
        Ok(Self {
            header: device.allocate(header_words(transactions) as usize * 8, what)?,
            records: Records::zeroed(device, layout, nodes as usize, what)?,
            per_transaction,
            transactions,
            identity: Identity::new(what, nodes),
        })
    }

    /// Returns the records, by the transactions' numbers. While a launch initialises its nodes, others may
    /// read those only that they have found a link to.
    pub const fn records(&self) -> &Records<D, R> {
        &self.records
    }

    /// Returns the records, to upload them or to change their layout.
    pub const fn records_mut(&mut self) -> &mut Records<D, R> {
        &mut self.records
    }

    /// Returns the number of bytes of device memory.
    pub fn bytes(&self) -> u64 {
        self.header.bytes() as u64 + self.records.bytes()
    }

    /// Lets the next launch use the records again, when no data links to them; they keep their values.
    pub fn reuse(&mut self) -> Result {
        self.header.clear()
    }

    /// Returns a view for transactions of algorithm `A`, as a kernel parameter, not to be used after the
    /// records are freed.
    ///
    /// # Panics
    /// It panics if the layout of the records is not the algorithm's.
    pub fn view<A: Algorithm>(&self) -> TPreassigned<A, R> {
        // SAFETY: the memories have these sizes, the header is zero before the first use, and no other views
        // could initialise the records. The caller of `launch` keeps them alive.
        unsafe {
            let (header, id) = (self.header.address().cast(), self.identity.0);
            let (each, count) = (self.per_transaction, self.transactions);
            TPreassigned::from_raw(header, self.records.view::<A>(), each, id, count)
        }
    }
}

// SAFETY: the views are of the owners' memory, written while nobody has borrowed them; the layout of records
// is checked. Nobody else has preassigned nodes during the launch.
stm_machine::__lent! {
    |it|
    [] &Pool<D> => TPool: it.words.space(), Ok(it.view()), [it.words.as_mut_ptr().cast()];
    [A: Algorithm, R: Record] &Nodes<D, R> => TNodes<A, R>:
        it.pool.words.space(), it.records.try_view::<A>().map(|_| it.view::<A>()),
        [it.pool.words.as_mut_ptr().cast(), it.records.address()];
    [A: Algorithm, R: Record] &mut PreassignedNodes<D, R> => TPreassigned<A, R>:
        it.records.space(), it.records.try_view::<A>().map(|_| it.view::<A>()), [];
}
