//! Pools: nodes that transactions allocate and free.
//!
//! A pool is a bitmap in device memory, 32 nodes in a word of 64 bits:
//!
//! | bits of a word | meaning |
//! | --- | --- |
//! | 31..0 | *taken*: the node belongs to an attempt or to the data |
//! | 63..32 | *used*: the node was taken at some time since the host last refreshed the pool |
//!
//! 1. [`Tx::alloc`] sets both bits of a node by one `fetch_or`. The attempt owns
//!    the node if its taken bit was clear.
//! 2. If the attempt does not commit, it clears the taken bit again. The used bit stays.
//! 3. [`Tx::free`] clears the taken bit when the transaction has committed.
//! 4. Between launches, the host makes the used bits equal to the taken bits (`Pool::refresh`).
//!
//! A node whose used bit was clear is *fresh*: no attempt of this launch has had it, and it was not part of
//! the data. Nobody else reaches its words before the commit that publishes it, so plain stores initialise
//! them. Any other node is written under locks, because a doomed attempt that found it in its former life may
//! still own its words, and store their old contents back (`ORDERING.md`).
//!
//! A node of another pool is found out by the *tag* in its name ([`Node`]), unless two pools share a tag.

use crate::algorithm::prelude::*;
use crate::array::record::{Record, TRecords};

pub(crate) const NODES_A_WORD: u32 = 32;

/// The largest number of nodes of a pool: a handle has a tag of one bit or more.
pub(crate) const NODES_MAX: u64 = 1 << 31;

/// The lines that an allocation tries at random before it searches the pool from end to end.
const PROBES: u32 = 32;

/// The number of words whose loads are in flight together.
const LINE_WORDS: usize = 8;

/// The name of a node of a pool, in 32 bits, so that a word of an array or a record can be a link to it.
///
/// | bits | meaning |
/// | --- | --- |
/// | upper | the tag of the pool, not 0; as many bits as the index leaves free |
/// | lower | the index of the node, in as many bits as the largest index needs |
///
/// ```
/// use stm_core::Node;
///
/// let link = Node::NIL.bits(); // what a word holds that leads nowhere
/// assert_eq!(link, 0);
/// assert!(Node::from_bits(link).is_nil());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Node(u32);

#[stm_core_macros::inlined]
impl Node {
    /// The name of no node; its bits are 0.
    pub const NIL: Self = Self(0);

    /// Returns whether it names no node.
    pub const fn is_nil(self) -> bool {
        self.0 == 0
    }

    /// Returns the name as a word, for a link.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the name that [`Self::bits`] made a word of. Any other word makes a name that pools refuse.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Misuse {
    /// The node is of another pool, or of none.
    OtherPool = 1,
    /// The node was freed, and not allocated since.
    FreedTwice = 2,
    /// The node was never given out.
    NeverGivenOut = 3,
    /// The preassigned nodes are in use since an earlier launch.
    InUse = 4,
    /// A second loop of one launch ran over the same preassigned nodes.
    SecondLoop = 5,
}

impl Misuse {
    #[inline(always)]
    pub(crate) fn of(self, node: Node) -> u64 {
        u64::from(self as u32) << 32 | u64::from(node.bits())
    }
}

/// Returns the index of the fault record of a node that was freed and was free: `before` is the word found,
/// `operand` the mask without its bit, and the lower half of `subject` the name.
#[inline(always)]
pub(crate) fn freed_twice(before: u64, operand: u64, subject: u64) -> u64 {
    let node = Node::from_bits(subject as u32);
    if before & !operand << NODES_A_WORD == 0 {
        Misuse::NeverGivenOut.of(node)
    } else {
        Misuse::FreedTwice.of(node)
    }
}

/// A view of a pool, small enough to be a kernel parameter. The host's [`Pool`](crate::host::Pool) makes one.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Allocates a node for each transaction, and uses its index in an array.
/// #[kernel]
/// pub fn occupy(stm: &Stm, nodes: Pool, users: Cells<u32>) {
///     stm.each(0..5, |tx, i| {
///         let node = tx.alloc(nodes)?;
///         let index = nodes.index(node).unwrap_or(0);
///         tx.write(users, index.into(), i as u32 + 1)
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let users = stm.array("users", &[0u32; 8])?;
/// let nodes = stm_core::host::Pool::new(&cpu, 8, "nodes")?;
/// occupy::launch(&mut stm, Launch::new(1, 2), &nodes, &users)?;
/// assert_eq!(nodes.free_nodes()?, 3);
/// assert_eq!(users.download()?.iter().sum::<u32>(), 15);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TPool {
    words: *mut u64,
    nodes: u32,
    /// The tag, in its place within a node's name.
    tag: u32,
    /// The bits of a name that are its index.
    index_mask: u32,
    /// The number by which the host finds the pool's name.
    pub(crate) id: u32,
}

#[derive(Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) index: u32,
    /// Says that nobody else has had the node since the pool was refreshed.
    pub(crate) fresh: bool,
}

const NONE: u64 = u64::MAX;

/// A function that is not inlined returns one word.
#[stm_core_macros::inlined]
impl Taken {
    fn pack(self) -> u64 {
        u64::from(self.fresh) << 32 | u64::from(self.index)
    }

    fn unpack(bits: u64) -> Option<Self> {
        (bits != NONE).then_some(Self {
            index: bits as u32,
            fresh: bits >> 32 != 0,
        })
    }
}

#[stm_core_macros::inlined]
impl TPool {
    /// Makes a view of a pool of `nodes` nodes. `id` chooses its tag.
    ///
    /// # Safety
    /// 1. `words` is aligned and points to the live words of a bitmap for `nodes` nodes, in the memory of the
    ///    device whose kernels will use the view;
    /// 2. they stay live while such a kernel runs, and only transactions of this library access them then;
    /// 3. `nodes` is from 1 to 2^31.
    pub const unsafe fn from_raw(words: *mut u64, nodes: u32, id: u32) -> Self {
        let index_bits = match (nodes - 1).checked_ilog2() {
            Some(log) => log + 1,
            None => 1,
        };
        let tags = u32::MAX >> index_bits;
        Self {
            words,
            nodes,
            tag: (1 + id % tags) << index_bits,
            index_mask: (1 << index_bits) - 1,
            id,
        }
    }

    /// Returns the number of nodes.
    pub const fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Returns the index of a node of this pool; `None` for a name of another pool or of no node.
    pub const fn index(&self, node: Node) -> Option<u32> {
        let index = node.0 & self.index_mask;
        if node.0 & !self.index_mask == self.tag && index < self.nodes {
            Some(index)
        } else {
            None
        }
    }

    /// Returns the name of the node with this index, which must be below [`Self::nodes`].
    pub(crate) const fn node(&self, index: u32) -> Node {
        Node(self.tag | index)
    }

    /// Returns whether a name has the tag of this pool, so that it is wrong only in its index.
    pub(crate) const fn has_tag(&self, node: Node) -> bool {
        node.0 & !self.index_mask == self.tag
    }

    pub(crate) const fn words(&self) -> u32 {
        self.nodes.div_ceil(NODES_A_WORD)
    }

    /// Returns the word of the bitmap with the bits of a node, and the number of its taken bit.
    pub(crate) const fn place(&self, index: u32) -> (*mut u64, u32) {
        let word = self.words.wrapping_add((index / NODES_A_WORD) as usize);
        (word, index % NODES_A_WORD)
    }

    /// Takes a free node, a fresh one if the word tried has one; `None` after it has found every word without
    /// one. It begins with word `hint`, or with one of the lane's own if there is no such word.
    pub(crate) fn take<L: Lane>(self, lane: &L, hint: u32) -> Option<Taken> {
        let words = self.words();
        // Neighbours begin with neighbouring words.
        let home = match (lane.grid_thread() as u32).checked_rem(words) {
            Some(home) if hint >= words => home,
            _ => hint,
        };
        self.take_from(lane, home)
            .or_else(|| Taken::unpack(self.search(lane, home)))
    }

    /// Searches the rest of the pool: some lines at random, then all, each in one go.
    #[cold]
    #[inline(never)]
    fn search<L: Lane>(self, lane: &L, home: u32) -> u64 {
        let (words, seed) = (self.words(), lane.grid_thread() as u32);
        let lines = words.div_ceil(LINE_WORDS as u32);
        let mut line = home / LINE_WORDS as u32;
        let mut tried = 0;
        while tried < lines.saturating_add(PROBES) {
            tried += 1;
            line = if tried <= PROBES {
                let mixed = (seed ^ tried.rotate_left(24)).wrapping_mul(0x9E37_79B1);
                ((u64::from(mixed ^ (mixed >> 15)) * u64::from(lines)) >> 32) as u32
            } else if line + 1 < lines {
                line + 1
            } else {
                0
            };
            let first = line * LINE_WORDS as u32;
            let seen: [u64; LINE_WORDS] = core::array::from_fn(|j| {
                let word = (first + j as u32).min(words - 1);
                // SAFETY: inside the live bitmap (from_raw). Relaxed: who takes a node loads it again.
                unsafe { lane.load_relaxed_64(self.words.wrapping_add(word as usize)) }
            });
            for (j, &seen) in seen.iter().enumerate() {
                let word = first + j as u32;
                if word < words
                    && seen as u32 != u32::MAX
                    && let Some(taken) = self.take_from(lane, word)
                {
                    return taken.pack();
                }
            }
        }
        NONE
    }

    fn take_from<L: Lane>(self, lane: &L, word: u32) -> Option<Taken> {
        let first = word * NODES_A_WORD;
        let there = (self.nodes - first).min(NODES_A_WORD);
        let valid = u32::MAX >> (NODES_A_WORD - there);
        let at = self.words.wrapping_add(word as usize);
        // Threads that meet in a word begin at different bits.
        let turn = (lane.grid_thread() as u32).wrapping_mul(0x9E37_79B1) >> 27;
        // SAFETY: inside the live bitmap (from_raw).
        let mut seen = unsafe { lane.load_relaxed_64(at) };
        loop {
            let free = !(seen as u32) & valid;
            let fresh = free & !((seen >> NODES_A_WORD) as u32);
            if free == 0 {
                return None;
            }
            let among = if fresh == 0 { free } else { fresh };
            let bit = (among.rotate_right(turn).trailing_zeros() + turn) % NODES_A_WORD;
            // ORDER(P1): relaxed; whoever takes a node that was used fences
            // before it accesses the node's words (Tx::alloc).
            // SAFETY: inside the live bitmap (from_raw).
            seen = unsafe { lane.fetch_or_relaxed_64(at, (1 << NODES_A_WORD | 1) << bit) };
            if seen >> bit & 1 == 0 {
                let fresh = seen >> (NODES_A_WORD + bit) & 1 == 0;
                return Some(Taken {
                    index: first + bit,
                    fresh: fresh || Mutant::PoolReusedPrivate.on(lane),
                });
            }
        }
    }
}

/// A view of a pool of records; the host's [`Nodes`](crate::host::Nodes) makes one.
/// [`Tx::alloc_record`](crate::Tx::alloc_record) allocates a node and initialises it.
///
/// ```
/// use stm_core::prelude::*;
///
/// stm_core::record! { pub struct Job { pub next: u32, pub size: u32 } }
///
/// /// Puts a job in front of the others.
/// #[kernel]
/// pub fn add_jobs(stm: &Stm, first: Cells<u32>, jobs: Nodes<Job>) {
///     stm.each(0..6, |tx, i| {
///         let next = tx.read(first, 0)?;
///         let job = tx.alloc_record(jobs, Job { next, size: i as u32 })?;
///         tx.write(first, 0, job.bits())
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let first = stm.array("first", &[Node::NIL.bits()])?;
/// let jobs = stm_core::host::Nodes::<_, Job>::new(&cpu, stm_core::Layout::Cells, 8, "jobs")?;
/// add_jobs::launch(&mut stm, Launch::new(1, 2), &first, &jobs)?;
/// jobs.pool().check(6)?;
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[repr(C)]
pub struct TNodes<A, R> {
    pub(crate) pool: TPool,
    pub(crate) records: TRecords<A, R>,
}

stm_machine::handle!([A, R] TNodes<A, R>: pool, records);

impl<A: Algorithm, R: Record> TNodes<A, R> {
    /// Makes a view of a pool and of its records.
    ///
    /// # Safety
    /// `records` has as many records as `pool` has nodes, and no transaction
    /// reaches them except through views made of these two.
    pub const unsafe fn from_parts(pool: TPool, records: TRecords<A, R>) -> Self {
        Self { pool, records }
    }

    /// Returns the pool, for [`Tx::free`](crate::Tx::free).
    #[inline(always)]
    pub const fn pool(&self) -> &TPool {
        &self.pool
    }
}
