//! Semaphores: at most a given number of threads are inside of a section at a time
//! (Dijkstra 1968).
//!
//! | type | waits by | atomics of a wait and its post |
//! | --- | --- | --- |
//! | [`Spin`] | exchanging the count with 0 | 2 at least, and one for each poll |
//! | [`SpinBackoff`] | the same, with growing pauses | the same, but fewer polls |
//! | [`Sleeping`] | polling the number of the turn by loads | 2 to 4 |
//!
//! All are those of Stuart and Owens 2011 (section 5). A spinning semaphore lets in
//! whoever comes when there is room; a sleeping one lets those in that wait in the
//! order in which they came.
//!
//! [`SemaphoreRef::with`] runs a closure inside. Lanes of a warp that wait and lanes
//! that are inside go in rounds, and all that began together meet at the end of each,
//! so that no lane is kept from leaving by another of its warp that waits for that,
//! whatever the machine does where a warp diverges. [`SemaphoreRef::wait`] and
//! [`SemaphoreRef::post`] are for a wait and a post in different places or by
//! different threads; lanes of one warp may wait together there only if the machine
//! schedules them independently (compute capability 7.0 and later), or if there is
//! room for all of them.

use crate::lane::Lane;
use crate::observe::mutant::Mutant;
use crate::sync::wait::{Stop, Stopped, until};
use core::marker::PhantomData;

/// The largest count of a semaphore.
pub const COUNT_MAX: u32 = (1 << 30) - 1;

/// The number of 32-bit words of a semaphore: two lines of 128 bytes.
pub const SEMAPHORE_WORDS: usize = 64;

/// The word at which a second line begins.
const SECOND_LINE: usize = 32;

/// The memory of one semaphore, and its count.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    words: *mut u32,
    count: u32,
}

impl Gate {
    /// Returns word `i` of [`SEMAPHORE_WORDS`].
    #[inline(always)]
    const fn word(self, i: usize) -> *mut u32 {
        self.words.wrapping_add(i)
    }

    /// Returns how many may be inside.
    #[inline(always)]
    fn room<L: Lane>(self, lane: &L) -> u32 {
        self.count + u32::from(Mutant::SemaphoreOneMore.on(lane))
    }
}

/// An algorithm for a semaphore.
pub trait Waiting: Copy + core::fmt::Debug + Send + Sync + 'static {
    /// The name of the algorithm: `sleeping`.
    const NAME: &'static str;

    /// What a thread that waits keeps between two tries.
    type State: Copy;

    /// Returns the first word of a semaphore of this count before its first use;
    /// the others are zero.
    fn first_word(count: u32) -> u32;

    /// Begins to wait.
    fn begin() -> Self::State;

    /// Tries to get in, and returns whether the thread is inside.
    fn enter<L: Lane>(lane: &L, gate: Gate, state: &mut Self::State) -> bool;

    /// Is called after each try that failed, before the next one.
    #[inline(always)]
    fn pause<L: Lane>(_lane: &L, _state: &mut Self::State) {}

    /// Leaves.
    fn leave<L: Lane>(lane: &L, gate: Gate);
}

/// The spinning semaphore of Stuart and Owens 2011 (algorithm 4).
///
/// Its word is the number of threads that may still come in, plus one; it is 0 while
/// a thread has it. A thread takes it by an exchange with 0, and stores it again with
/// one less or one more, or as it was.
#[derive(Clone, Copy, Debug)]
pub struct Spin;

/// What the word of [`Spin`] is while a thread has it.
const TAKEN: u32 = 0;

impl Spin {
    /// Puts the word back, with a release.
    #[inline(always)]
    fn put<L: Lane>(lane: &L, gate: Gate, value: u32) {
        // ORDER(V1): release; pairs with P1 of whoever takes the word next. It is one
        // even if nobody came or left, so that P1 acquires all posts before.
        // SAFETY: a live word, which nobody else stores to now.
        unsafe {
            if Mutant::SemaphoreNoRelease.on(lane) {
                lane.store_relaxed_32(gate.word(0), value);
            } else {
                lane.store_release_32(gate.word(0), value);
            }
        }
    }

    /// Takes the word, if no other thread has it.
    #[inline(always)]
    fn take<L: Lane>(lane: &L, gate: Gate) -> u32 {
        // ORDER(P1): acquire; pairs with V1.
        // SAFETY: a live word.
        unsafe { lane.exchange_acquire_32(gate.word(0), TAKEN) }
    }
}

impl Waiting for Spin {
    const NAME: &'static str = "spin";
    type State = ();

    fn first_word(count: u32) -> u32 {
        count + 1
    }

    #[inline(always)]
    fn begin() {}

    #[inline(always)]
    fn enter<L: Lane>(lane: &L, gate: Gate, _state: &mut ()) -> bool {
        let found = Self::take(lane, gate);
        if found == TAKEN {
            return false;
        }
        let full = found == 1 && !Mutant::SemaphoreOneMore.on(lane);
        Self::put(lane, gate, if full { 1 } else { found.max(2) - 1 });
        !full
    }

    #[inline(always)]
    fn leave<L: Lane>(lane: &L, gate: Gate) {
        // Lanes that leave together meet after each try, so that the one that has the
        // word puts it back before another one spins on.
        let together = lane.active_mask();
        let mut left = false;
        loop {
            if !left {
                let found = Self::take(lane, gate);
                if found != TAKEN {
                    let more = u32::from(!Mutant::SemaphorePostLost.on(lane));
                    Self::put(lane, gate, found + more);
                    left = true;
                }
            }
            // SAFETY: the lanes of the mask run this loop together.
            if unsafe { lane.ballot(together, !left) } == 0 {
                return;
            }
            // The word is taken for two operations of its holder only; a machine
            // whose threads have to share a core needs the pause.
            lane.pause(0);
        }
    }
}

/// The spinning semaphore with backoff of Stuart and Owens 2011 (section 5): after
/// each try that failed, a thread pauses for one unit more than the time before, and
/// after the longest pause begins again with the shortest. A post does not pause.
#[derive(Clone, Copy, Debug)]
pub struct SpinBackoff;

/// The unit of the pauses in nanoseconds: about the time of an access, as in the
/// paper.
const UNIT_NS: u32 = 500;

/// The shortest and the longest pause in units.
const PAUSES: (u32, u32) = (1, 16);

impl Waiting for SpinBackoff {
    const NAME: &'static str = "spin-backoff";
    /// The next pause in units.
    type State = u32;

    fn first_word(count: u32) -> u32 {
        Spin::first_word(count)
    }

    #[inline(always)]
    fn begin() -> u32 {
        PAUSES.0
    }

    #[inline(always)]
    fn enter<L: Lane>(lane: &L, gate: Gate, _state: &mut u32) -> bool {
        Spin::enter(lane, gate, &mut ())
    }

    #[inline(always)]
    fn pause<L: Lane>(lane: &L, state: &mut u32) {
        lane.pause(*state * UNIT_NS);
        *state = if *state == PAUSES.1 {
            PAUSES.0
        } else {
            *state + 1
        };
    }

    #[inline(always)]
    fn leave<L: Lane>(lane: &L, gate: Gate) {
        Spin::leave(lane, gate);
    }
}

/// The sleeping semaphore of Stuart and Owens 2011 (algorithm 5), which is fetch and
/// add.
///
/// Word 0 counts the threads that are inside or wait. A thread that finds room there
/// is inside after one addition. Another one draws a ticket from word 1 and polls the
/// turn, in a line of its own, until it has passed the ticket. Whoever leaves while
/// somebody waits adds one to the turn. Tickets and turns may wrap around.
#[derive(Clone, Copy, Debug)]
pub struct Sleeping;

impl Waiting for Sleeping {
    const NAME: &'static str = "sleeping";
    /// The ticket, if the thread has one.
    type State = Option<u32>;

    fn first_word(_count: u32) -> u32 {
        0
    }

    #[inline(always)]
    fn begin() -> Option<u32> {
        None
    }

    #[inline(always)]
    fn enter<L: Lane>(lane: &L, gate: Gate, state: &mut Option<u32>) -> bool {
        if let Some(ticket) = *state {
            // ORDER(P1): acquire; pairs with V1 of the posts that let it in.
            // SAFETY: a live word.
            let turn = unsafe { lane.load_relaxed_32(gate.word(SECOND_LINE)) };
            if (turn.wrapping_sub(ticket) as i32) <= 0 {
                return false;
            }
            Mutant::SemaphoreNoAcquire.fence(lane);
            return true;
        }
        // SAFETY: a live word.
        let before = unsafe { lane.fetch_add_relaxed_32(gate.word(0), 1) };
        if before < gate.room(lane) {
            // ORDER(P1): acquire; pairs with V1 of all posts that the count contains.
            Mutant::SemaphoreNoAcquire.fence(lane);
            return true;
        }
        // SAFETY: a live word. Relaxed: a ticket carries no data.
        *state = Some(unsafe { lane.fetch_add_relaxed_32(gate.word(1), 1) });
        false
    }

    #[inline(always)]
    fn leave<L: Lane>(lane: &L, gate: Gate) {
        // ORDER(V1): release; pairs with P1, through the count or through the turn.
        Mutant::SemaphoreNoRelease.fence(lane);
        // SAFETY: a live word.
        let before = unsafe { lane.fetch_add_relaxed_32(gate.word(0), u32::MAX) };
        if before > gate.room(lane) && !Mutant::SemaphorePostLost.on(lane) {
            // SAFETY: a live word.
            unsafe { lane.fetch_add_relaxed_32(gate.word(SECOND_LINE), 1) };
        }
    }
}

/// Semaphores of one count as a kernel's parameter. The host's `Semaphores` owns
/// them.
#[repr(C)]
pub struct SemaphoresRef<S> {
    words: *mut u32,
    len: u64,
    count: u32,
    stop: Stop,
    waiting: PhantomData<S>,
}

// SAFETY: the pointer is only followed through a `Lane`, whose accesses are
// atomic, and `from_raw` demands memory that outlives the launch.
unsafe impl<S> Send for SemaphoresRef<S> {}
// SAFETY: as above.
unsafe impl<S> Sync for SemaphoresRef<S> {}

impl<S> Clone for SemaphoresRef<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for SemaphoresRef<S> {}

impl<S> core::fmt::Debug for SemaphoresRef<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SemaphoresRef")
            .field("words", &self.words)
            .field("len", &self.len)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl<S: Waiting> SemaphoresRef<S> {
    /// Makes `len` semaphores of [`SEMAPHORE_WORDS`] words each at `words`.
    ///
    /// # Safety
    /// The words are aligned to 128 bytes, in the memory of the device whose kernels
    /// will use them, and live while such a kernel runs; so is the flag of `stop`. The
    /// first word of each was [`Waiting::first_word`] of `count`, the others zero; only
    /// kernels with semaphores of this type and count have used them since, and no such
    /// launch was told to stop. `count` is 1 to [`COUNT_MAX`].
    pub const unsafe fn from_raw(words: *mut u32, len: u64, count: u32, stop: Stop) -> Self {
        Self {
            words,
            len,
            count,
            stop,
            waiting: PhantomData,
        }
    }

    /// Returns the number of semaphores.
    #[inline(always)]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there are none.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns semaphore `i`, if there is one.
    #[inline(always)]
    pub fn get(&self, i: u64) -> Option<SemaphoreRef<S>> {
        (i < self.len).then(|| SemaphoreRef {
            gate: Gate {
                words: self.words.wrapping_add(i as usize * SEMAPHORE_WORDS),
                count: self.count,
            },
            stop: self.stop,
            waiting: PhantomData,
        })
    }
}

/// One semaphore.
#[derive(Clone, Copy, Debug)]
pub struct SemaphoreRef<S> {
    gate: Gate,
    stop: Stop,
    waiting: PhantomData<S>,
}

/// How many tries follow each other before a thread looks at the stop flag.
const TRIES: u32 = 16;

impl<S: Waiting> SemaphoreRef<S> {
    /// Returns how many threads may be inside at a time.
    #[inline(always)]
    pub const fn count(&self) -> u32 {
        self.gate.count
    }

    /// Waits until there is room, runs `f` inside, and leaves. What the threads that
    /// made room wrote inside is visible to `f`.
    ///
    /// Any lanes of a warp may call this, together or apart; `f` may diverge, and wait
    /// for another semaphore, but must not wait for a lane of its warp that is outside.
    ///
    /// # Errors
    /// [`Stopped`] if the launch was told to stop before there was room. `f` has not
    /// run, and the kernel should return.
    #[inline(always)]
    pub fn with<L: Lane, R>(&self, lane: &L, f: impl FnOnce() -> R) -> Result<R, Stopped> {
        let together = lane.active_mask();
        let mut state = S::begin();
        let (mut section, mut result) = (Some(f), None);
        let mut stopped = false;
        let mut tries = 0;
        loop {
            let mut pending = result.is_none() && !stopped;
            if pending && S::enter(lane, self.gate, &mut state) {
                result = section.take().map(|section| section());
                S::leave(lane, self.gate);
                pending = false;
            }
            // The lanes meet here, those that have left and those that wait.
            // SAFETY: the lanes of the mask run this loop together.
            if unsafe { lane.ballot(together, pending) } == 0 {
                return result.ok_or(Stopped);
            }
            if pending {
                S::pause(lane, &mut state);
                tries += 1;
                if tries == TRIES {
                    stopped = self.stop.is_raised(lane);
                    lane.pause(0);
                    tries = 0;
                }
            }
        }
    }

    /// Waits until there is room and comes in. What the threads that made room wrote
    /// before their [`Self::post`] is visible afterwards.
    ///
    /// The module's documentation says which lanes of a warp may wait together.
    ///
    /// # Errors
    /// [`Stopped`] if the launch was told to stop before. The thread is outside, though
    /// it may still be counted as waiting, and the kernel should return.
    #[inline(always)]
    pub fn wait<L: Lane>(&self, lane: &L) -> Result<(), Stopped> {
        let mut state = S::begin();
        let inside = until(lane, self.stop, || {
            let inside = S::enter(lane, self.gate, &mut state);
            if !inside {
                S::pause(lane, &mut state);
            }
            inside
        });
        if inside { Ok(()) } else { Err(Stopped) }
    }

    /// Leaves, and so makes room for one thread. It never waits for a thread that is
    /// inside. There is one post for each wait.
    #[inline(always)]
    pub fn post<L: Lane>(&self, lane: &L) {
        S::leave(lane, self.gate);
    }
}
