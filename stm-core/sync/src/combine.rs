//! Combining: one thread executes what others ask for.
//!
//! A thread *requests* an operation, and whoever holds the combiner, its *holder*, executes the requests of
//! all and answers them: the data stay with the holder, and many requests are in flight. It is flat combining
//! (Hendler, Incze, Shavit and Tzafrir 2010) or remote core locking (Lozi et al. 2012), whose holder looks
//! through one slot of each thread. Of the tens of thousands of threads of a GPU few ask at a time, so here
//! requests are in a ring, first come, first served.
//!
//! # The protocol
//!
//! | words of a combiner | meaning |
//! | --- | --- |
//! | lock | 1 while there is a holder |
//! | head | the number of the next request to be executed; only the holder uses it |
//! | tail | the number of the next request |
//! | an entry of the ring | the number of a request plus 1, with the requesting user; the same with each word of the request |
//! | a response of a user | the number of the request answered, with the response |
//!
//! Words of entries and responses have 64 bits, with the number in the upper half.
//!
//! 1. A thread draws a number by a fetch-and-add and stores its request into the entry of that number. There
//!    are as many entries as users, with one request each at most, so its last request has been executed.
//! 2. It polls its response. Now and then, if the lock is free, it takes it (L1) and becomes the holder.
//! 3. The holder loads eight entries at a time, and the next eight before it executes those. It executes the
//!    requests that are complete, up to the first that is not, and stores their responses without waiting.
//! 4. It goes on until its own request is answered and it has found nothing to do four times in a row, or has
//!    executed `BOUND` requests. Then it stores the head and frees the lock (L2). The thread of a request
//!    that came in between takes the lock itself.
//!
//! A number looks answered if the last response has the same, 2^32 requests before or never written. The
//! thread looks before it stores the request, and asks for the response under the number with its lowest bit
//! flipped.

use super::header::Header;
use super::lock::{LockFault, cas_grant, store_given_up};
use stm_machine::{Lane, memory::Word, observe::Mutant};

/// Operations on data that a combiner protects, with requests of `N` words and responses of one.
///
/// ```
/// use stm_machine::Lane;
/// use stm_sync::Combined;
///
/// /// A counter in memory; a request adds a number and gets the sum before.
/// struct Counter(*mut u32);
///
/// impl Combined<1> for Counter {
///     type State = u32;
///     // A request is one number, and nobody else accesses the counter.
///     const ORDERED: bool = false;
///
///     fn begin<L: Lane>(&self, lane: &L) -> u32 {
///         // SAFETY: the counter is live, and the combiner protects it.
///         unsafe { lane.load_relaxed_32(self.0) }
///     }
///     fn apply<L: Lane>(&self, _lane: &L, sum: &mut u32, [number]: [u32; 1]) -> u32 {
///         core::mem::replace(sum, sum.wrapping_add(number))
///     }
///     fn end<L: Lane>(&self, lane: &L, sum: u32) {
///         // SAFETY: as above.
///         unsafe { lane.store_relaxed_32(self.0, sum) };
///     }
/// }
/// ```
pub trait Combined<const N: usize> {
    /// What a holder keeps while it executes requests, in registers if it is small.
    type State;

    /// Says whether what a thread did before its request is visible to the operation, and what that did to
    /// the thread after its response, at two fences for each eight requests and two for each. Without it only
    /// the words are exchanged, which is enough if all other data are accessed by operations only.
    const ORDERED: bool = true;

    /// Begins to execute requests: loads what the holder keeps, and sees what the holders before have stored.
    fn begin<L: Lane>(&self, lane: &L) -> Self::State;

    /// Executes a request and returns the response. It must not wait for others, nor ask the same combiner.
    fn apply<L: Lane>(&self, lane: &L, state: &mut Self::State, request: [u32; N]) -> u32;

    /// Ends a holder's work: stores what it has kept.
    fn end<L: Lane>(&self, lane: &L, state: Self::State);
}

/// The number of entries that a holder loads at a time.
const BATCH: usize = 8;

/// The number of times in a row that a holder finds nothing to do before it leaves.
const IDLE_MAX: u32 = 4;

/// The pause between two polls of a response, and the number of polls between two looks at the lock.
const POLL_NS: u32 = 32;
const LOCK_POLLS: u32 = 4;

/// The 32-bit words of a combiner: lock and head on one line, the tail, to which all add, on another.
pub(crate) const COMBINER_WORDS: usize = 64;
const LOCK: usize = 0;
pub(crate) const HEAD: usize = 1;
pub(crate) const TAIL: usize = 32;

/// An array of combiners for requests of `N` words, owned by the host's `Combiners`. A holder executes at
/// most `BOUND` requests, and up to seven more, after its own is answered.
// While a kernel uses it, each combiner has [`COMBINER_WORDS`] words behind the header, `(mask + 1) *
// (N + 1)` of entries and `users` of responses, all of them live, aligned, zero at first, and accessed
// by lanes only, through such references.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TCombiners<const N: usize, const BOUND: u32 = 4096> {
    pub(crate) header: Header,
    pub(crate) entries: *mut u64,
    pub(crate) responses: *mut u64,
    pub(crate) count: u64,
    /// From 1 to 2^28.
    pub(crate) users: u32,
    /// The number of entries of a ring less 1, which is a power of two less 1.
    pub(crate) mask: u32,
}

/// A combiner, as one thread sees it.
struct CombinerSeat {
    words: *mut u32,
    entries: *mut u64,
    responses: *mut u64,
    mask: u32,
    user: u32,
}

#[derive(Clone, Copy)]
struct Batch<const N: usize> {
    users: [u64; BATCH],
    words: [[u64; N]; BATCH],
}

#[inline(always)]
const fn tagged(number: u32, payload: u32) -> u64 {
    (number as u64) << 32 | payload as u64
}

#[inline(always)]
const fn tag(word: u64) -> u32 {
    (word >> 32) as u32
}

#[stm_machine::inlined]
impl CombinerSeat {
    fn word<'l, L: Lane>(&self, lane: &'l L, i: usize) -> Word<'l, L, u32> {
        // SAFETY: here and below, live, of this width, and accessed by lanes only (`TCombiners`).
        unsafe { Word::of(lane, self.words.wrapping_add(i)) }
    }

    /// Returns word `k` of the entry of a request, of which `n` are words of the request.
    fn entry<'l, L: Lane>(&self, lane: &'l L, number: u32, k: usize, n: usize) -> Word<'l, L, u64> {
        let entry = (number & self.mask) as usize;
        // SAFETY: as above, as the number is masked.
        unsafe { Word::of(lane, self.entries.wrapping_add(entry * (n + 1) + k)) }
    }

    fn response<'l, L: Lane>(&self, lane: &'l L, user: u32) -> Word<'l, L, u64> {
        // SAFETY: as above, as the user exists.
        unsafe { Word::of(lane, self.responses.wrapping_add(user as usize)) }
    }

    fn load<const N: usize, L: Lane>(&self, lane: &L, first: u32) -> Batch<N> {
        let mut batch = Batch {
            users: [0; BATCH],
            words: [[0; N]; BATCH],
        };
        for i in 0..BATCH {
            let number = first.wrapping_add(i as u32);
            // Relaxed: a word has its number; L7 follows.
            batch.users[i] = self.entry(lane, number, 0, N).load();
            for k in 0..N {
                batch.words[i][k] = self.entry(lane, number, k + 1, N).load();
            }
        }
        batch
    }
}

impl<const N: usize> Batch<N> {
    /// Returns how many entries are complete, from the first on, which is that of request `first`.
    #[inline(always)]
    fn ready(&self, first: u32) -> u32 {
        let mut ready = 0;
        let mut all = true;
        for i in 0..BATCH {
            let expected = first.wrapping_add(i as u32 + 1);
            all &= tag(self.users[i]) == expected;
            for k in 0..N {
                all &= tag(self.words[i][k]) == expected;
            }
            ready += u32::from(all);
        }
        ready
    }
}

#[stm_machine::inlined]
impl<const N: usize, const BOUND: u32> TCombiners<N, BOUND> {
    stm_machine::counted!("combiners", u64, count);

    fn seat<L: Lane>(&self, lane: &L, index: u64) -> Result<CombinerSeat, LockFault> {
        self.header.check(lane)?;
        let thread = lane.grid_thread();
        let fault = if index >= self.count {
            LockFault::OutOfRange
        } else if thread >= u64::from(self.users) {
            LockFault::TooManyUsers
        } else {
            let index = index as usize;
            let slots = self.mask as usize + 1;
            return Ok(CombinerSeat {
                words: self.header.behind(index * COMBINER_WORDS),
                entries: self.entries.wrapping_add(index * slots * (N + 1)),
                responses: (self.responses).wrapping_add(index * self.users as usize),
                mask: self.mask,
                user: thread as u32,
            });
        };
        Err(self.header.record(lane, index, fault))
    }

    /// Has a request executed by combiner `index` and returns the response. All threads pass the same
    /// `combined` data to one combiner, as any may execute the requests of all. Any lanes of a warp may call
    /// this at the same time, but not from within [`Combined::apply`] of the same combiner.
    ///
    /// # Errors
    /// The index is past the end, or the thread's number not below the users': nothing was executed, and the
    /// host reports it. Or a holder has panicked on the CPU, and whether the request was executed is unknown.
    pub fn apply<L: Lane, C: Combined<N>>(
        &self,
        lane: &L,
        index: u64,
        combined: &C,
        request: [u32; N],
    ) -> Result<u32, LockFault> {
        let seat = self.seat(lane, index)?;
        let (number, answer) = Self::publish::<L, C>(lane, &seat, request);
        let mut polls = 0u32;
        let response = loop {
            // Relaxed: the word has its number, and L8 follows if asked for.
            let found = seat.response(lane, seat.user).load();
            if tag(found) == answer {
                break found as u32;
            }
            let looks = polls.is_multiple_of(LOCK_POLLS);
            if looks && Self::take(lane, &seat) {
                let serve = || Self::serve(lane, &seat, combined, number);
                self.header.watch(lane, index, serve);
            } else {
                if looks {
                    self.header.check(lane)?;
                }
                lane.pause(POLL_NS);
            }
            polls = polls.wrapping_add(1);
        };
        if C::ORDERED {
            // ORDER(L8): acquire; pairs with L8 of the holder.
            lane.fence();
        }
        Ok(response)
    }

    /// Puts a request into the ring, and returns its number and the number that its response will have.
    fn publish<L: Lane, C: Combined<N>>(
        lane: &L,
        seat: &CombinerSeat,
        request: [u32; N],
    ) -> (u32, u32) {
        // Relaxed: each word of the entry has its number, L7 precedes them all where order is asked for, and
        // only this thread waits for the response.
        // It is in flight together with the fetch-and-add.
        let last = seat.response(lane, seat.user).load();
        if C::ORDERED {
            // ORDER(L7): release; pairs with L7 of the holder.
            Mutant::LockRequestUnordered.fence(lane);
        }
        let number = seat.word(lane, TAIL).fetch_add(1);
        let flip = u32::from(tag(last) == number);
        let plus_one = number.wrapping_add(1);
        for (k, &word) in request.iter().enumerate() {
            seat.entry(lane, number, k + 1, N)
                .store(tagged(plus_one, word));
        }
        let user = seat.user << 1 | flip;
        seat.entry(lane, number, 0, N).store(tagged(plus_one, user));
        (number, number ^ flip)
    }

    fn take<L: Lane>(lane: &L, seat: &CombinerSeat) -> bool {
        seat.word(lane, LOCK).load() == 0 && cas_grant(seat.word(lane, LOCK), 0, 1) == 0
    }

    /// Executes requests as the holder, of which `own` is one, and frees the lock.
    fn serve<L: Lane, C: Combined<N>>(lane: &L, seat: &CombinerSeat, combined: &C, own: u32) {
        // Relaxed: L1 precedes.
        let mut head = seat.word(lane, HEAD).load();
        let mut state = combined.begin(lane);
        let (mut executed, mut idle) = (0u32, 0);
        let mut batch = seat.load::<N, L>(lane, head);
        while idle < IDLE_MAX {
            // These loads are in flight while requests are executed.
            let after = seat.load::<N, L>(lane, head.wrapping_add(BATCH as u32));
            let ready = batch.ready(head);
            Self::execute(lane, seat, combined, &mut state, (&batch, head, ready));
            head = head.wrapping_add(ready);
            executed += ready;
            idle = if ready == 0 { idle + 1 } else { 0 };
            let own_is_answered = (head.wrapping_sub(own) as i32) > 0;
            if own_is_answered && executed >= BOUND {
                break;
            }
            batch = if ready == BATCH as u32 {
                after
            } else {
                seat.load::<N, L>(lane, head)
            };
        }
        combined.end(lane, state);
        if !Mutant::LockHeadKept.on(lane) {
            seat.word(lane, HEAD).store(head);
        }
        store_given_up(seat.word(lane, LOCK), 0);
    }

    /// Executes the first `ready` requests of a batch, from number `head` on, and stores the responses.
    fn execute<L: Lane, C: Combined<N>>(
        lane: &L,
        seat: &CombinerSeat,
        combined: &C,
        state: &mut C::State,
        (batch, head, ready): (&Batch<N>, u32, u32),
    ) {
        if ready == 0 {
            return;
        }
        if C::ORDERED {
            // ORDER(L7): acquire; pairs with L7 of the threads that have made these requests.
            lane.fence();
        }
        let mut responses = [0; BATCH];
        for (i, response) in responses.iter_mut().enumerate() {
            if (i as u32) < ready {
                let request = batch.words[i].map(|word| word as u32);
                *response = combined.apply(lane, state, request);
            }
        }
        if C::ORDERED {
            // ORDER(L8): release; pairs with L8 of the threads answered.
            Mutant::LockResponseUnordered.fence(lane);
        }
        for (i, &response) in responses.iter().enumerate() {
            if (i as u32) < ready {
                let from = batch.users[i] as u32;
                let number = head.wrapping_add(i as u32) ^ (from & 1);
                let response = tagged(number, response);
                // Relaxed: the word has its number; L8 precedes.
                seat.response(lane, from >> 1).store(response);
            }
        }
    }
}
