//! Channels: a thread waits for a value with the load that fetches it.
//!
//! A channel is a word of 64 bits, a *tag* and a value of 32 bits. One relaxed store puts both; a consumer
//! loads the word until the tag is the one that it awaits, so nothing has to be ordered. A value of 64 bits
//! is in two such words, which are one access where lanes have atomics of 128 bits.
//!
//! | type | producers to consumers | what frees a word for the next value |
//! | --- | --- | --- |
//! | [`TChannels`] | any to any | the algorithm: a word is put again when those who needed the last value have it |
//! | [`TRings`], [`Sender`], [`Receiver`] | one to one | the consumer's acknowledgement |
//! | the same with several consumers, [`Copies::One`] | one to many, which load the same word | the acknowledgements of all |
//! | the same with several consumers, [`Copies::Each`] | one to many, a word for each | the same |
//! | [`TRings`], [`Gather`] | many to one: in order, or whichever is ready | the consumer's acknowledgement |
//!
//! Each is in one [`Space`]: [`Global`] memory; [`Shared`] memory, between threads of a block; or the shared
//! memory of a block of a [`Cluster`] (`Launch::with_cluster`). The host owns those in global memory
//! (`host::Channels`, `host::Rings`); kernels make the others ([`TChannels::in_shared`],
//! [`TChannels::in_cluster`], and the same of [`TRings`]).
//!
//! The idea is that of full/empty bits (Smith 1978) and of I-structures (Arvind, Nikhil and Pingali 1989).
//! Li, van den Braak, Corporaal and Kumar 2015 built *tiny-lock* from such bits of Fermi GPUs; their Figures
//! 8 and 9 are the two forms of one to many. Here a tag is in the word itself, in any memory.
//!
//! # Deadlocks within a warp
//!
//! Li et al. 2015 (section 4.4.1) describe the deadlock of a warp in lockstep: lanes that wait keep the one
//! from running that would put. No wait of this module contains a warp operation, so lanes that are scheduled
//! independently (compute capability 7.0 and later) may wait for one another in any pattern. [`in_rounds`] is
//! right on every machine.
//!
//! # What a channel does not order
//!
//! Nothing but its own words. To hand over more, call [`Lane::fence`] before the put and after the get.

mod ring;
mod rounds;
mod slots;
mod space;

use stm_machine::{Element, Lane, observe::Mutant};

pub use ring::{Copies, DEPTH_LOG2_MAX, Gather, Receiver, Ring, RingShape, Sender, TRings};
pub use rounds::in_rounds;
pub use slots::{Found, TChannels};
pub use space::{Cluster, Global, Shared, Space};

const TAG_SHIFT: u32 = 32;

/// Returns the number of 64-bit words of a channel for values of type `T`.
pub const fn words_of<T: Element>() -> u64 {
    1 + T::WIDE as u64
}

/// Returns a word of a tag and half a value, or a whole one of 32 bits.
#[inline(always)]
const fn tagged(tag: u32, bits: u64) -> u64 {
    (tag as u64) << TAG_SHIFT | bits & 0xFFFF_FFFF
}

/// Puts a value with a tag into channel `i` of a space. Here and below it is a space that `from_raw` was told
/// to be for channels of this type, and the caller has seen that it has the channel.
#[inline(always)]
fn put<L: Lane, T: Element, S: Space>(lane: &L, space: S, i: u64, tag: u32, value: T) {
    let bits = value.to_bits64();
    let words = [tagged(tag, bits), tagged(tag, bits >> 32)];
    // Relaxed: who sees the tag has the value (`ORDERING.md`, "Channels").
    if Mutant::ChannelTagFirst.on(lane) {
        store::<L, T, S>(lane, space, i, [tagged(tag, 0); 2]);
    }
    store::<L, T, S>(lane, space, i, words);
}

/// Stores the words of channel `i`.
#[inline(always)]
fn store<L: Lane, T: Element, S: Space>(lane: &L, space: S, i: u64, words: [u64; 2]) {
    // SAFETY: words of a channel, as said of `put`.
    unsafe {
        if T::WIDE {
            space.store_pair(lane, 2 * i, words);
        } else {
            space.store(lane, i, words[0]);
        }
    }
}

/// Loads the words of channel `i`; those of a channel of one word are the same twice.
#[inline(always)]
fn look<L: Lane, T: Element, S: Space>(lane: &L, space: S, i: u64) -> [u64; 2] {
    // SAFETY: words of a channel, as said of `put`. Relaxed: as there.
    unsafe {
        if T::WIDE {
            space.load_pair(lane, 2 * i)
        } else {
            [space.load(lane, i); 2]
        }
    }
}

/// Returns the value in the words of a channel if its tag is `tag`.
#[inline(always)]
fn value_in<L: Lane, T: Element>(lane: &L, [low, high]: [u64; 2], tag: u32) -> Option<T> {
    if !T::WIDE {
        return ((low >> TAG_SHIFT) as u32 == tag).then(|| T::from_bits64(low & 0xFFFF_FFFF));
    }
    let both = (high >> TAG_SHIFT) as u32 == tag || Mutant::ChannelHalfAwaited.on(lane);
    ((low >> TAG_SHIFT) as u32 == tag && both)
        .then(|| T::from_bits64(high << TAG_SHIFT | low & 0xFFFF_FFFF))
}

/// Returns the value of channel `i` if its tag is `tag`.
#[inline(always)]
fn try_get<L: Lane, T: Element, S: Space>(lane: &L, space: S, i: u64, tag: u32) -> Option<T> {
    value_in(lane, look::<L, T, S>(lane, space, i), tag)
}
