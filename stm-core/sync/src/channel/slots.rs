//! Arrays of channels whose tags the kernel chooses.

use super::space::{Cluster, Global, Shared, Space};
use super::{look, put, try_get, value_in, words_of};
use crate::wait::{Stopped, awaited};
use core::marker::PhantomData;
use stm_machine::{Element, Lane, Stop};

/// Channels of type `T` for any threads and tags. The host's `Channels` owns those in global memory.
///
/// A channel holds one value. It may be put again, with another tag, when all have got the last value that
/// need it: a consumer that still awaits the earlier tag would wait for ever. Where that does not follow from
/// the flow of data itself, use [`TRings`](super::TRings). New channels hold tag 0, so tags begin with
/// another number.
#[repr(C)]
pub struct TChannels<T = u32, S = Global> {
    space: S,
    len: u64,
    pub(crate) stop: Stop,
    value: PhantomData<T>,
}

stm_machine::handle!([T, S: Space] TChannels<T, S>: space, len; ..);

#[stm_machine::inlined]
impl<T: Element, S: Space> TChannels<T, S> {
    /// Makes `len` channels at the beginning of a space.
    ///
    /// # Safety
    /// The space has `len` times [`words_of`] words, which are zero at first and used by these
    /// channels only, while a kernel runs that has them; the flag of `stop` is live as long.
    pub const unsafe fn from_raw(space: S, len: u64, stop: Stop) -> Self {
        Self {
            space,
            len,
            stop,
            value: PhantomData,
        }
    }

    stm_machine::counted!("channels", u64, len);

    /// Puts a value into channel `i` with a tag, without waiting; returns whether there is such a channel.
    pub fn put<L: Lane>(&self, lane: &L, i: u64, tag: u32, value: T) -> bool {
        let exists = i < self.len;
        if exists {
            put(lane, self.space, i, tag, value);
        }
        exists
    }

    /// Returns the value of channel `i` if it was put with this tag, and has arrived.
    pub fn try_get<L: Lane>(&self, lane: &L, i: u64, tag: u32) -> Option<T> {
        if i >= self.len {
            return None;
        }
        try_get(lane, self.space, i, tag)
    }

    /// Loads channel `i`, whatever is in it; it finds nothing if there is no such channel. So a thread has
    /// loads in flight for values that it will ask for later.
    pub fn look<L: Lane>(&self, lane: &L, i: u64) -> Found<T> {
        if i >= self.len {
            return Found::NOTHING;
        }
        Found {
            words: look::<L, T, S>(lane, self.space, i),
            value: PhantomData,
        }
    }

    /// Waits for a value with this tag in channel `i`, and returns it. Any number of threads may get the same
    /// value; the [module](super) says which lanes of a warp may wait for each other.
    ///
    /// # Errors
    /// [`Stopped`], also at once if there is no such channel.
    pub fn get<L: Lane>(&self, lane: &L, i: u64, tag: u32) -> Result<T, Stopped> {
        if i >= self.len {
            return Err(Stopped);
        }
        awaited(lane, self.stop, S::POLLS, || {
            try_get(lane, self.space, i, tag)
        })
    }
}

/// What a [look](TChannels::look) at a channel found.
#[derive(Clone, Copy, Debug)]
pub struct Found<T = u32> {
    words: [u64; 2],
    value: PhantomData<T>,
}

impl<T> Found<T> {
    /// Nothing, as in a new channel.
    pub const NOTHING: Self = Self {
        words: [0; 2],
        value: PhantomData,
    };
}

impl<T: Element> Found<T> {
    /// Returns the value if it was put with this tag.
    #[inline(always)]
    pub fn value<L: Lane>(self, lane: &L, tag: u32) -> Option<T> {
        value_in(lane, self.words, tag)
    }
}

impl<T: Element> TChannels<T, Shared> {
    /// Makes `len` channels in the block's dynamic shared memory, from 32-bit word `first` on, an even
    /// number, of [`Self::shared_words`] words, which its threads clear together. Returns `None`, to all, if
    /// there is not so much or `first` is odd.
    ///
    /// # Safety
    /// Every thread of the block calls it, with the same values, after and before other
    /// barriers of the block in the same order ([`Lane`], obligation 6). Nothing else accesses
    /// the words in this launch. The flag of `stop` is live.
    #[inline(always)]
    pub unsafe fn in_shared<L: Lane>(lane: &L, first: u32, len: u32, stop: Stop) -> Option<Self> {
        let len = u64::from(len);
        // SAFETY: the caller's promise.
        unsafe {
            let space = Shared::cleared(lane, first, len * words_of::<T>())?;
            Some(Self::from_raw(space, len, stop))
        }
    }

    /// Returns the number of 32-bit words of shared memory that `len` channels take.
    pub const fn shared_words(len: u32) -> u64 {
        2 * len as u64 * words_of::<T>()
    }
}

impl<T: Element> TChannels<T, Cluster> {
    /// Makes `len` channels in the dynamic shared memory of block `rank` of the cluster, for all its blocks,
    /// as [`TChannels::in_shared`] does; `None` also if there is no such block.
    ///
    /// # Safety
    /// Every thread of the cluster calls it, with the same values, after and before other barriers
    /// of the cluster in the same order. Nothing else accesses the words in this launch. Before a
    /// block ends, all threads of the cluster meet ([`Lane::cluster_barrier`]), as the channels end
    /// with the block. The flag of `stop` is live.
    #[inline(always)]
    pub unsafe fn in_cluster<L: Lane>(
        lane: &L,
        rank: u32,
        first: u32,
        len: u32,
        stop: Stop,
    ) -> Option<Self> {
        let len = u64::from(len);
        // SAFETY: the caller's promise.
        unsafe {
            let space = Cluster::cleared(lane, first, rank, len * words_of::<T>())?;
            Some(Self::from_raw(space, len, stop))
        }
    }
}
