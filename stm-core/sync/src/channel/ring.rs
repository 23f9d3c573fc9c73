//! Rings: channels of one producer, in which several values are under way at a time.
//!
//! A ring of depth D has D channels for each copy, and a word for each consumer, the number of values that it
//! has taken. Value n, from 0, goes into channel n mod D with tag n + 1, so a stale tag is never the awaited
//! one (after the buffer of Lamport 1983, which has two counters).
//!
//! 1. The producer puts value n when every consumer has, to its knowledge, taken n + 1 - D values.
//! 2. The consumer loads the channel until the tag is n + 1, and stores n + 1 as its number.
//!
//! The numbers carry no data, and all accesses are relaxed: `ORDERING.md`, "Channels".

use super::space::{Cluster, Global, Shared, Space};
use super::{put, try_get, words_of};
use crate::wait::{Stopped, awaited};
use core::marker::PhantomData;
use stm_machine::{Element, Lane, Stop, observe::Mutant};

/// The largest logarithm of a ring's depth.
pub const DEPTH_LOG2_MAX: u32 = 20;

/// How many copies of a value a ring holds.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Copies {
    /// One, which all consumers load: the least memory and the fewest stores.
    One = 0,
    /// One for each consumer, which no other one loads.
    Each = 1,
}

/// The shape of rings.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingShape {
    /// The number of rings.
    pub rings: u32,
    /// The logarithm of the number of values that may be under way in each, at most [`DEPTH_LOG2_MAX`].
    pub depth_log2: u32,
    /// The number of consumers of each ring, at least 1; each takes all values.
    pub consumers: u32,
    /// How many copies of each value there are.
    pub copies: Copies,
}

#[stm_machine::inlined]
impl RingShape {
    /// Makes the shape of `rings` rings between one producer and one consumer each.
    pub const fn one_to_one(rings: u32, depth_log2: u32) -> Self {
        Self {
            rings,
            depth_log2,
            consumers: 1,
            copies: Copies::One,
        }
    }

    pub(crate) const fn is_right(self) -> bool {
        self.depth_log2 <= DEPTH_LOG2_MAX && self.consumers != 0 && self.consumers <= 1 << 20
    }

    const fn copies(self) -> u64 {
        match self.copies {
            Copies::One => 1,
            Copies::Each => self.consumers as u64,
        }
    }

    const fn copy_words<T: Element, S: Space>(self) -> u64 {
        (words_of::<T>() << self.depth_log2).next_multiple_of(S::LINE_WORDS)
    }

    const fn ring_words<T: Element, S: Space>(self) -> u64 {
        self.copies() * self.copy_words::<T, S>() + self.consumers as u64 * S::LINE_WORDS
    }

    /// Returns the 64-bit words of the rings for values of type `T`, or `None` for a shape out of range.
    pub const fn words<T: Element, S: Space>(self) -> Option<u64> {
        if self.is_right() {
            self.ring_words::<T, S>().checked_mul(self.rings as u64)
        } else {
            None
        }
    }
}

/// Rings of one shape, for values of type `T`, which go on from launch to launch if all values put were
/// taken. The host's `Rings` owns those in global memory.
#[repr(C)]
pub struct TRings<T = u32, S = Global> {
    /// The first, from which the others follow.
    pub(crate) ring: Ring<T, S>,
}

stm_machine::handle!([T, S: Space] TRings<T, S>: ring);
stm_machine::handle!([T, S: Space] Ring<T, S>: space, shape; ..);

#[stm_machine::inlined]
impl<T: Element, S: Space> TRings<T, S> {
    /// Makes rings at the beginning of a space.
    ///
    /// # Safety
    /// The space has [`RingShape::words`] words, which is not `None`, zero at first and used by these rings
    /// only, while a kernel runs that has them, by one producer and one thread for each consumer of a ring at
    /// a time; so long the flag of `stop` is live.
    pub const unsafe fn from_raw(space: S, shape: RingShape, stop: Stop) -> Self {
        Self {
            ring: Ring {
                space,
                shape,
                stop,
                value: PhantomData,
            },
        }
    }

    stm_machine::counted!("rings", u32, ring.shape.rings);

    /// Returns ring `i`, if there is one.
    pub fn get(&self, i: u32) -> Option<Ring<T, S>> {
        (i < self.len()).then(|| {
            let words = self.ring.shape.ring_words::<T, S>();
            Ring {
                space: self.ring.space.after(u64::from(i) * words),
                ..self.ring
            }
        })
    }
}

impl<T: Element> TRings<T, Shared> {
    /// Makes rings in the block's dynamic shared memory, from 32-bit word `first` on, an even number, of
    /// twice [`RingShape::words`] of 32 bits, which its threads clear together. Returns `None`, to all, if
    /// there is not so much, `first` is odd or the shape is out of range.
    ///
    /// # Safety
    /// The obligations are those of [`TChannels::in_shared`](super::TChannels::in_shared).
    #[inline(always)]
    pub unsafe fn in_shared<L: Lane>(
        lane: &L,
        first: u32,
        shape: RingShape,
        stop: Stop,
    ) -> Option<Self> {
        let words = shape.words::<T, Shared>()?;
        // SAFETY: the caller's promise.
        unsafe {
            let space = Shared::cleared(lane, first, words)?;
            Some(Self::from_raw(space, shape, stop))
        }
    }
}

impl<T: Element> TRings<T, Cluster> {
    /// Makes rings in the dynamic shared memory of block `rank` of the cluster, for all its blocks, as
    /// [`TRings::in_shared`] does; `None` also if there is no such block.
    ///
    /// # Safety
    /// The obligations are those of [`TChannels::in_cluster`](super::TChannels::in_cluster).
    #[inline(always)]
    pub unsafe fn in_cluster<L: Lane>(
        lane: &L,
        rank: u32,
        first: u32,
        shape: RingShape,
        stop: Stop,
    ) -> Option<Self> {
        let words = shape.words::<T, Cluster>()?;
        // SAFETY: the caller's promise.
        unsafe {
            let space = Cluster::cleared(lane, first, rank, words)?;
            Some(Self::from_raw(space, shape, stop))
        }
    }
}

/// One ring.
#[repr(C)]
pub struct Ring<T, S> {
    space: S,
    pub(crate) shape: RingShape,
    pub(crate) stop: Stop,
    value: PhantomData<T>,
}

#[stm_machine::inlined]
impl<T: Element, S: Space> Ring<T, S> {
    /// Begins to produce; it costs one load. The calling thread is the only producer of the ring in this
    /// launch, or until another one has been told that it ends.
    pub fn sender<'l, L: Lane>(&self, lane: &'l L) -> Sender<'l, L, T, S> {
        let next = self.taken(lane, 0);
        Sender {
            lane,
            ring: *self,
            next,
            taken: next,
        }
    }

    /// Begins to consume as consumer `consumer`, if there is such a one, under the same conditions.
    pub fn receiver<'l, L: Lane>(
        &self,
        lane: &'l L,
        consumer: u32,
    ) -> Option<Receiver<'l, L, T, S>> {
        (consumer < self.shape.consumers).then(|| Receiver {
            lane,
            ring: *self,
            consumer,
            next: self.taken(lane, consumer),
        })
    }

    const fn depth(&self) -> u32 {
        1 << self.shape.depth_log2
    }

    fn copy(&self, copy: u64) -> S {
        self.space.after(copy * self.shape.copy_words::<T, S>())
    }

    /// Returns the channel of value `n` in its copy.
    const fn channel(&self, n: u32) -> u64 {
        (n & (self.depth() - 1)) as u64
    }

    /// Returns the word in which a consumer says how many values it has taken.
    const fn number(&self, consumer: u32) -> u64 {
        self.shape.copies() * self.shape.copy_words::<T, S>() + consumer as u64 * S::LINE_WORDS
    }

    /// Returns how many values a consumer has taken, modulo 2^32.
    fn taken<L: Lane>(&self, lane: &L, consumer: u32) -> u32 {
        // SAFETY: a word of the ring (`from_raw`). Relaxed: `ORDERING.md`, "Channels".
        unsafe { self.space.load(lane, self.number(consumer)) as u32 }
    }

    /// Takes value `n` as a consumer, if it has come.
    fn try_take<L: Lane>(&self, lane: &L, consumer: u32, n: u32) -> Option<T> {
        let copy = match self.shape.copies {
            Copies::One => 0,
            Copies::Each => u64::from(consumer),
        };
        let next = n.wrapping_add(1);
        let value = try_get(lane, self.copy(copy), self.channel(n), next)?;
        if !Mutant::ChannelNotAcknowledged.on(lane) {
            let (number, next) = (self.number(consumer), u64::from(next));
            // SAFETY: a word of the ring (`from_raw`). Relaxed: as above.
            unsafe { self.space.store(lane, number, next) };
        }
        Some(value)
    }

    fn put<L: Lane>(&self, lane: &L, n: u32, value: T) {
        let mut copy = 0;
        while copy < self.shape.copies() {
            let tag = n.wrapping_add(1);
            put(lane, self.copy(copy), self.channel(n), tag, value);
            copy += 1;
        }
    }
}

/// The producer of a ring.
pub struct Sender<'l, L, T, S> {
    lane: &'l L,
    ring: Ring<T, S>,
    /// The number of values put, modulo 2^32.
    next: u32,
    /// The number of values that every consumer is known to have taken.
    taken: u32,
}

stm_machine::shown!([L, T, S: Space] Sender<'_, L, T, S>: ring, next, taken; ..);

#[stm_machine::inlined]
impl<L: Lane, T: Element, S: Space> Sender<'_, L, T, S> {
    /// Returns whether fewer than `limit` values are under way.
    fn is_below(&mut self, limit: u32) -> bool {
        if self.next.wrapping_sub(self.taken) < limit {
            return true;
        }
        let (mut most, mut consumer) = (0, 0);
        while consumer < self.ring.shape.consumers {
            let taken = self.ring.taken(self.lane, consumer);
            most = most.max(self.next.wrapping_sub(taken));
            consumer += 1;
        }
        self.taken = self.next.wrapping_sub(most);
        most < limit
    }

    /// Puts a value if there is room, and returns whether there was: each consumer has fewer values before it
    /// than the ring is deep.
    pub fn try_send(&mut self, value: T) -> bool {
        let room = self.is_below(self.ring.depth()) || Mutant::ChannelReusedEarly.on(self.lane);
        if room {
            self.ring.put(self.lane, self.next, value);
            self.next = self.next.wrapping_add(1);
        }
        room
    }

    /// Puts a value, as soon as there is room.
    pub fn send(&mut self, value: T) -> Result<(), Stopped> {
        let (lane, stop) = (self.lane, self.ring.stop);
        awaited(lane, stop, S::POLLS, || self.try_send(value).then_some(()))
    }

    /// Returns whether every consumer has taken all values.
    pub fn is_drained(&mut self) -> bool {
        self.is_below(1)
    }

    /// Waits until every consumer has taken all values.
    pub fn drain(&mut self) -> Result<(), Stopped> {
        let (lane, stop) = (self.lane, self.ring.stop);
        awaited(lane, stop, S::POLLS, || self.is_drained().then_some(()))
    }
}

/// A consumer of a ring. It takes the values in the order in which they were put.
pub struct Receiver<'l, L, T, S> {
    lane: &'l L,
    ring: Ring<T, S>,
    consumer: u32,
    /// The number of values taken, modulo 2^32.
    next: u32,
}

stm_machine::shown!([L, T, S: Space] Receiver<'_, L, T, S>: ring, consumer, next; ..);

#[stm_machine::inlined]
impl<L: Lane, T: Element, S: Space> Receiver<'_, L, T, S> {
    /// Takes the next value, if it has come.
    pub fn try_take(&mut self) -> Option<T> {
        let value = self.ring.try_take(self.lane, self.consumer, self.next)?;
        self.next = self.next.wrapping_add(1);
        Some(value)
    }

    /// Waits for the next value and takes it. The wait contains no warp operation.
    pub fn take(&mut self) -> Result<T, Stopped> {
        let (lane, stop) = (self.lane, self.ring.stop);
        awaited(lane, stop, S::POLLS, || self.try_take())
    }
}

/// The only consumer of several rings with a producer each. How far it has come is in memory.
pub struct Gather<'l, L, T, S> {
    lane: &'l L,
    rings: TRings<T, S>,
    /// The ring that is asked first.
    turn: u32,
}

stm_machine::shown!([L, T, S: Space] Gather<'_, L, T, S>: rings, turn; ..);

impl<T: Element, S: Space> TRings<T, S> {
    /// Begins to consume from all rings, as the first consumer of each: many producers to one consumer.
    #[inline(always)]
    pub fn gather<'l, L: Lane>(&self, lane: &'l L) -> Gather<'l, L, T, S> {
        let (rings, turn) = (*self, 0);
        Gather { lane, rings, turn }
    }
}

#[stm_machine::inlined]
impl<L: Lane, T: Element, S: Space> Gather<'_, L, T, S> {
    /// Takes the next value of producer `ring`, if it has come.
    pub fn try_take_from(&mut self, ring: u32) -> Option<T> {
        let ring = self.rings.get(ring)?;
        // This thread alone stores the number, so it finds what it stored last.
        let next = ring.taken(self.lane, 0);
        ring.try_take(self.lane, 0, next)
    }

    /// Waits for the next value of producer `ring` and takes it.
    ///
    /// # Errors
    /// [`Stopped`], also at once if there is no such ring.
    pub fn take_from(&mut self, ring: u32) -> Result<T, Stopped> {
        let ring = self.rings.get(ring).ok_or(Stopped)?;
        let next = ring.taken(self.lane, 0);
        let (lane, stop) = (self.lane, self.rings.ring.stop);
        awaited(lane, stop, S::POLLS, || ring.try_take(lane, 0, next))
    }

    /// Takes a value of any producer, with the ring's number, asking each once, from behind the last success.
    pub fn try_take_any(&mut self) -> Option<(u32, T)> {
        let mut asked = 0;
        while asked < self.rings.len() {
            let ring = self.turn;
            self.turn += 1;
            if self.turn >= self.rings.len() {
                self.turn = 0;
            }
            if let Some(value) = self.try_take_from(ring) {
                return Some((ring, value));
            }
            asked += 1;
        }
        None
    }

    /// Waits for a value of any producer and takes it.
    pub fn take_any(&mut self) -> Result<(u32, T), Stopped> {
        let (lane, stop) = (self.lane, self.rings.ring.stop);
        awaited(lane, stop, S::POLLS, || self.try_take_any())
    }
}
