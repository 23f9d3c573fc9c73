//! Semaphores: at most a given number of threads are inside of a section at a time (Dijkstra 1968).
//!
//! | type | waits by | atomics of a wait and its post |
//! | --- | --- | --- |
//! | [`Spin`] | exchanging the count with 0 | 2 at least, and one for each poll |
//! | [`SpinBackoff`] | the same, with growing pauses | the same, but fewer polls |
//! | [`Sleeping`] | polling the number of the turn by loads | 2 to 4 |
//! | [`Tickets`] | polling the number of posts by loads | 2, one of them without a result |
//! | [`Chosen`] | what the host chooses at launch | |
//! | [`Checked`] | as another algorithm, which it asks to find a post without a wait | 2 more |
//!
//! The first three are those of Stuart and Owens 2011 (section 5). A spinning semaphore lets in whoever comes
//! when there is room; the others keep the order in which threads came.
//!
//! [`TSemaphore::with`] runs a closure inside. Lanes of a warp that wait and lanes inside go in rounds, so
//! that none is kept from leaving by one that waits for that, however the warp diverges. [`TSemaphore::wait`]
//! and [`TSemaphore::post`] are for different places or threads; lanes of one warp may wait together there
//! only if the machine schedules them independently (capability 7.0 and later), or there is room for all.

mod algorithms;

use crate::wait::{Stopped, until};
use crate::{group::Group, sealed::Sealed};
use core::{marker::PhantomData, mem::ManuallyDrop};
use stm_machine::{Lane, Stop, memory::Word, observe::Mutant};

#[cfg(feature = "host")]
pub(crate) use algorithms::MISUSE;
pub use algorithms::{Checked, Chosen, Kind, Sleeping, Spin, SpinBackoff, State, Tickets};

/// The largest count of a semaphore.
pub const COUNT_MAX: u32 = (1 << 30) - 1;

/// The number of 32-bit words of a semaphore: two lines of 128 bytes.
pub const SEMAPHORE_WORDS: usize = 64;

const SECOND_LINE: usize = 32;

/// The memory of one semaphore, and its count.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    words: *mut u64,
    count: u32,
    /// The algorithm, for [`Chosen`].
    kind: u32,
}

#[stm_machine::inlined]
impl Gate {
    const fn word<L: Lane>(self, lane: &L, i: usize) -> Word<'_, L, u32> {
        // SAFETY: here and below, live and accessed by lanes only (`TSemaphores::from_raw`); an algorithm
        // accesses a word with one width.
        unsafe { Word::of(lane, self.words.cast::<u32>().wrapping_add(i)) }
    }

    /// Returns words `i` and `i + 1` as one of 64 bits; `i` is even.
    const fn wide_word<L: Lane>(self, lane: &L, i: usize) -> Word<'_, L, u64> {
        // SAFETY: as above.
        unsafe { Word::of(lane, self.words.wrapping_add(i / 2)) }
    }

    /// Returns how many may be inside.
    fn room<L: Lane>(self, lane: &L) -> u32 {
        self.count + u32::from(Mutant::SemaphoreOneMore.on(lane))
    }
}

/// An algorithm for a semaphore.
#[stm_machine::inlined]
pub trait Waiting: Sealed + Copy + core::fmt::Debug + Send + Sync + 'static {
    /// The name of the algorithm: `sleeping`.
    const NAME: &'static str;

    /// Says whether the host chooses the algorithm at launch, so that it must say which.
    const CHOSEN: bool = false;

    /// What a thread that waits keeps between two tries.
    type State: Copy;

    /// Returns the first word of a semaphore of this count before its first use;
    /// the others are zero. `kind` is for [`Chosen`] only.
    fn first_word(_kind: u32, _count: u32) -> u32 {
        0
    }

    /// Begins to wait.
    fn begin() -> Self::State;

    /// Tries to get in, and returns whether the thread is inside.
    fn enter<L: Lane>(lane: &L, gate: Gate, state: &mut Self::State) -> bool;

    /// Is called after each try that failed, before the next one.
    fn pause<L: Lane>(_lane: &L, _gate: Gate, _state: &mut Self::State) {}

    /// Is called once before a thread leaves, and returns whether it may.
    fn may_leave<L: Lane>(_lane: &L, _gate: Gate) -> bool {
        true
    }

    /// Tries to leave, and returns whether the thread has left. Else it is to try again, as another
    /// one is just coming in or leaving; it does not wait for any that is inside.
    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool;
}

/// Semaphores of one count as a kernel's parameter. The host's `Semaphores` owns them.
#[repr(C)]
pub struct TSemaphores<S> {
    words: *mut u64,
    len: u64,
    pub(crate) count: u32,
    pub(crate) kind: u32,
    pub(crate) stop: Stop,
    waiting: PhantomData<S>,
}

stm_machine::handle!([S] TSemaphores<S>: words, len, count; ..);

impl<S: Waiting> TSemaphores<S> {
    /// Makes `len` semaphores of [`SEMAPHORE_WORDS`] words each; `kind` is for [`Chosen`] only.
    ///
    /// # Safety
    /// The words are aligned to 128 bytes, in the memory of the device whose kernels will use them, and live
    /// while such a kernel runs; so is the flag of `stop`. The first word of each was [`Waiting::first_word`]
    /// of `kind` and `count`, the others zero; only kernels with semaphores of this type, kind and count have
    /// used them since, and no such launch was told to stop. `count` is 1 to [`COUNT_MAX`].
    pub const unsafe fn from_raw(
        words: *mut u64,
        len: u64,
        count: u32,
        kind: u32,
        stop: Stop,
    ) -> Self {
        Self {
            words,
            len,
            count,
            kind,
            stop,
            waiting: PhantomData,
        }
    }

    stm_machine::counted!("semaphores", u64, len);

    /// Returns semaphore `i`, if there is one.
    #[inline(always)]
    pub fn get(&self, i: u64) -> Option<TSemaphore<S>> {
        (i < self.len).then(|| TSemaphore {
            gate: Gate {
                words: self.words.wrapping_add(i as usize * (SEMAPHORE_WORDS / 2)),
                count: self.count,
                kind: self.kind,
            },
            stop: self.stop,
            waiting: PhantomData,
        })
    }
}

/// One semaphore.
#[derive(Clone, Copy, Debug)]
pub struct TSemaphore<S> {
    gate: Gate,
    stop: Stop,
    waiting: PhantomData<S>,
}

/// How many tries follow each other before a thread looks at the stop flag.
const TRIES: u32 = 16;

#[stm_machine::inlined]
impl<S: Waiting> TSemaphore<S> {
    /// Returns how many threads may be inside at a time.
    pub const fn count(&self) -> u32 {
        self.gate.count
    }

    /// Waits until there is room, runs `f` inside, and leaves. `f` sees what those who made room wrote.
    ///
    /// Any lanes of a warp may call this; `f` may diverge, but must not wait for a lane of its warp that is
    /// outside. It may wait for another semaphore, if all threads take them in one order and lanes are
    /// scheduled independently (compute capability 7.0).
    ///
    /// # Errors
    /// [`Stopped`]; then `f` has not run.
    pub fn with<L: Lane, R>(&self, lane: &L, f: impl FnOnce() -> R) -> Result<R, Stopped> {
        let group = Group::of(lane, self.gate.words as u64);
        if group.by_itself {
            // It has entered without others that may wait, so its loop may end before the section.
            self.wait(lane)?;
            let result = f();
            self.post(lane);
            return Ok(result);
        }
        let mut state = S::begin();
        // An `Option` of the closure would keep what it captures in memory.
        let mut section = ManuallyDrop::new(f);
        let mut result = None;
        let (mut stopped, mut left) = (false, false);
        let mut tries = 0;
        loop {
            if result.is_none() && !stopped && S::enter(lane, self.gate, &mut state) {
                // SAFETY: nobody comes here who has a result, so this is the first time.
                let section = unsafe { ManuallyDrop::take(&mut section) };
                result = Some(section());
                left = !S::may_leave(lane, self.gate);
            }
            if result.is_some() && !left {
                left = S::leave(lane, self.gate);
            }
            let pending = !left && !stopped;
            // The lanes meet here, those that have left and those that wait.
            // SAFETY: the lanes of the mask run this loop together.
            if unsafe { lane.ballot(group.lanes, pending) } == 0 {
                if result.is_none() {
                    // SAFETY: it has not been taken.
                    unsafe { ManuallyDrop::drop(&mut section) };
                }
                return result.ok_or(Stopped);
            }
            if pending && result.is_some() {
                lane.pause(0);
            } else if pending {
                S::pause(lane, self.gate, &mut state);
                tries += 1;
                if tries == TRIES {
                    stopped = self.stop.is_raised(lane);
                    lane.pause(0);
                    tries = 0;
                }
            }
        }
    }

    /// Waits until there is room and comes in; what was written before the [`Self::post`] that made room is
    /// visible. The [module](self) says which lanes of a warp may wait together.
    ///
    /// # Errors
    /// [`Stopped`]; the thread is outside, though it may still be counted as waiting.
    pub fn wait<L: Lane>(&self, lane: &L) -> Result<(), Stopped> {
        let mut state = S::begin();
        let inside = until(lane, self.stop, || {
            let inside = S::enter(lane, self.gate, &mut state);
            if !inside {
                S::pause(lane, self.gate, &mut state);
            }
            inside
        });
        if inside { Ok(()) } else { Err(Stopped) }
    }

    /// Leaves, and so makes room for one thread. It never waits for a thread that is
    /// inside. There is one post for each wait.
    pub fn post<L: Lane>(&self, lane: &L) {
        if !S::may_leave(lane, self.gate) {
            return;
        }
        while !S::leave(lane, self.gate) {
            // A machine whose threads have to share a core needs the pause.
            lane.pause(0);
        }
    }
}
