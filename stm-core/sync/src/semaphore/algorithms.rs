//! The algorithms of semaphores.

use super::{Gate, SECOND_LINE, Waiting};
use crate::choice::choice;
use core::marker::PhantomData;
use stm_machine::{Lane, observe::Mutant};

/// The spinning semaphore of Stuart and Owens 2011 (algorithm 4).
///
/// Its word is the number of threads that may still come in, plus one; it is 0 while a thread has it. A
/// thread takes it by an exchange with 0, and stores it again with one less or one more, or as it was.
#[derive(Clone, Copy, Debug)]
pub struct Spin;

/// What the word of [`Spin`] is while a thread has it.
const TAKEN: u32 = 0;

#[stm_machine::inlined]
impl Spin {
    fn put<L: Lane>(lane: &L, gate: Gate, value: u32) {
        // ORDER(V1): release; pairs with P1 of who takes the word next, also if nobody came or left, for all
        // posts.
        gate.word(lane, 0)
            .store_release_but(Mutant::SemaphoreNoRelease, value);
    }

    fn take<L: Lane>(lane: &L, gate: Gate) -> u32 {
        // ORDER(P1): acquire; pairs with V1.
        gate.word(lane, 0).exchange_acquire(TAKEN)
    }
}

#[stm_machine::inlined]
impl Waiting for Spin {
    const NAME: &'static str = "spin";
    type State = ();

    fn first_word(_kind: u32, count: u32) -> u32 {
        count + 1
    }

    fn begin() {}

    fn enter<L: Lane>(lane: &L, gate: Gate, _state: &mut ()) -> bool {
        let found = Self::take(lane, gate);
        if found == TAKEN {
            return false;
        }
        let full = found == 1 && !Mutant::SemaphoreOneMore.on(lane);
        Self::put(lane, gate, if full { 1 } else { found.max(2) - 1 });
        !full
    }

    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        // The word is taken for two operations of its holder only.
        let found = Self::take(lane, gate);
        if found != TAKEN {
            let more = u32::from(!Mutant::SemaphorePostLost.on(lane));
            Self::put(lane, gate, found + more);
        }
        found != TAKEN
    }
}

/// The spinning semaphore with backoff of Stuart and Owens 2011 (section 5): each try that fails lengthens
/// the pause by one unit, and after the longest it begins again. A post does not pause.
#[derive(Clone, Copy, Debug)]
pub struct SpinBackoff;

/// The unit of the pauses in nanoseconds: about the time of an access, as in the paper.
const UNIT_NS: u32 = 500;

/// The shortest and the longest pause in units.
const PAUSES: (u32, u32) = (1, 16);

#[stm_machine::inlined]
impl Waiting for SpinBackoff {
    const NAME: &'static str = "spin-backoff";
    /// The next pause in units.
    type State = u32;

    fn first_word(kind: u32, count: u32) -> u32 {
        Spin::first_word(kind, count)
    }

    fn begin() -> u32 {
        PAUSES.0
    }

    fn enter<L: Lane>(lane: &L, gate: Gate, _state: &mut u32) -> bool {
        Spin::enter(lane, gate, &mut ())
    }

    fn pause<L: Lane>(lane: &L, _gate: Gate, state: &mut u32) {
        lane.pause(*state * UNIT_NS);
        *state = if *state == PAUSES.1 {
            PAUSES.0
        } else {
            *state + 1
        };
    }

    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        Spin::leave(lane, gate)
    }
}

/// The sleeping semaphore of Stuart and Owens 2011 (algorithm 5), which is fetch and add.
///
/// Word 0 counts the threads inside or waiting. A thread that finds room there is inside after one addition.
/// Another one draws a ticket from word 1 and polls the turn, in a line of its own, until it has passed the
/// ticket. Who leaves while somebody waits adds one to the turn. Tickets and turns may wrap around.
#[derive(Clone, Copy, Debug)]
pub struct Sleeping;

#[stm_machine::inlined]
impl Waiting for Sleeping {
    const NAME: &'static str = "sleeping";
    /// The ticket, if the thread has one.
    type State = Option<u32>;

    fn begin() -> Option<u32> {
        None
    }

    fn enter<L: Lane>(lane: &L, gate: Gate, state: &mut Option<u32>) -> bool {
        if let Some(ticket) = *state {
            // ORDER(P1): acquire; pairs with V1 of the posts that let it in.
            let turn = gate.word(lane, SECOND_LINE).load();
            if (turn.wrapping_sub(ticket) as i32) <= 0 {
                return false;
            }
            Mutant::SemaphoreNoAcquire.fence(lane);
            return true;
        }
        let before = gate.word(lane, 0).fetch_add(1);
        if before < gate.room(lane) {
            // ORDER(P1): acquire; pairs with V1 of all posts that the count contains.
            Mutant::SemaphoreNoAcquire.fence(lane);
            return true;
        }
        // Relaxed: a ticket carries no data.
        *state = Some(gate.word(lane, 1).fetch_add(1));
        false
    }

    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        // ORDER(V1): release; pairs with P1, through the count or through the turn.
        Mutant::SemaphoreNoRelease.fence(lane);
        let before = gate.word(lane, 0).fetch_add(u32::MAX);
        if before > gate.room(lane) && !Mutant::SemaphorePostLost.on(lane) {
            gate.word(lane, SECOND_LINE).fetch_add(1);
        }
        true
    }
}

/// A semaphore that counts tickets and posts: ticket t is inside after more than t less `count` posts.
///
/// A thread that comes makes one addition and one load, both in flight together, and one that leaves an
/// addition without a result: a hand-over takes one of each. Threads come in in the order of their tickets.
///
/// At most `count` are inside: only tickets below `count` plus the posts have come in, and each post is by
/// one that has left; an old number of posts lets in fewer. Both have 64 bits, in lines of their own.
#[derive(Clone, Copy, Debug)]
pub struct Tickets;

#[stm_machine::inlined]
impl Waiting for Tickets {
    const NAME: &'static str = "tickets";
    /// The ticket, if the thread has drawn it.
    type State = Option<u64>;

    fn begin() -> Option<u64> {
        None
    }

    fn enter<L: Lane>(lane: &L, gate: Gate, state: &mut Option<u64>) -> bool {
        // ORDER(P1): acquire; pairs with V1 of all posts that are counted.
        // The load does not wait for the addition; an older count is a smaller one.
        let posts = gate.wide_word(lane, SECOND_LINE).load();
        let draw = || gate.wide_word(lane, 0).fetch_add(1);
        let ticket = *state.get_or_insert_with(draw);
        if ticket >= posts + u64::from(gate.room(lane)) {
            return false;
        }
        Mutant::SemaphoreNoAcquire.fence(lane);
        true
    }

    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        if Mutant::SemaphorePostLost.on(lane) {
            return true;
        }
        // ORDER(V1): release; pairs with P1.
        Mutant::SemaphoreNoRelease.fence(lane);
        gate.wide_word(lane, SECOND_LINE).add(1);
        true
    }
}

/// A semaphore with the algorithm `S` that refuses a post without a wait, of which the host reports the first
/// (`Semaphores::check`). It counts the threads inside, by an addition for each wait and a compare-and-swap
/// for each post. The post that it finds need not be the one by mistake.
#[derive(Clone, Copy, Debug)]
pub struct Checked<S>(PhantomData<S>);

/// The word that counts the threads inside. The algorithms use the first two words of each line.
const INSIDE: usize = 8;

/// The first word of the record of a misuse: 1, and the thread, low half and high.
pub(crate) const MISUSE: usize = 9;

#[stm_machine::inlined]
impl<S: Waiting> Waiting for Checked<S> {
    const NAME: &'static str = S::NAME;
    const CHOSEN: bool = S::CHOSEN;
    type State = S::State;

    fn first_word(kind: u32, count: u32) -> u32 {
        S::first_word(kind, count)
    }

    fn begin() -> S::State {
        S::begin()
    }

    fn enter<L: Lane>(lane: &L, gate: Gate, state: &mut S::State) -> bool {
        let inside = S::enter(lane, gate, state);
        if inside {
            // Relaxed: a post of this thread, or of one that it has told, finds the count in this word.
            gate.word(lane, INSIDE).fetch_add(1);
        }
        inside
    }

    fn pause<L: Lane>(lane: &L, gate: Gate, state: &mut S::State) {
        S::pause(lane, gate, state);
    }

    fn may_leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        // Relaxed: the count alone matters, and the host reads the record later.
        let mut inside = gate.word(lane, INSIDE).load();
        loop {
            let before = inside;
            // The load may be old; a swap of 0 for 0 is not.
            let after = before.saturating_sub(1);
            inside = gate.word(lane, INSIDE).cas(before, after);
            if inside != before {
                continue;
            }
            if before == 0 {
                Self::record(lane, gate);
            }
            return before != 0;
        }
    }

    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        S::leave(lane, gate)
    }
}

impl<S: Waiting> Checked<S> {
    /// Records that the calling thread has posted without a wait, if it is the first.
    #[inline(never)]
    fn record<L: Lane>(lane: &L, gate: Gate) {
        let thread = lane.grid_thread();
        // Relaxed: the host reads them after the launch.
        if gate.word(lane, MISUSE).cas(0, 1) == 0 {
            gate.word(lane, MISUSE + 1).store(thread as u32);
            gate.word(lane, MISUSE + 2).store((thread >> 32) as u32);
        }
    }
}

/// Semaphores whose algorithm the host chooses at launch (`Semaphores::chosen`,
/// `Defaults::semaphores`). Each operation costs one branch, the same for all threads.
#[derive(Clone, Copy, Debug)]
pub struct Chosen;

/// What a thread that waits keeps, for whatever algorithm.
#[derive(Clone, Copy, Debug)]
pub struct State {
    pause: u32,
    ticket: Option<u32>,
    wide_ticket: Option<u64>,
}

choice! { $ "algorithm", with_algorithm;
    Spin = 0: Spin;
    SpinBackoff = 1: SpinBackoff;
    Sleeping = 2: Sleeping;
    Tickets = 3: Tickets;
}

#[stm_machine::inlined]
impl Waiting for Chosen {
    const NAME: &'static str = "chosen";
    const CHOSEN: bool = true;
    type State = State;

    fn first_word(kind: u32, count: u32) -> u32 {
        with_algorithm!(kind, S => S::first_word(kind, count), else 0)
    }

    fn begin() -> State {
        State {
            pause: SpinBackoff::begin(),
            ticket: Sleeping::begin(),
            wide_ticket: Tickets::begin(),
        }
    }

    fn enter<L: Lane>(lane: &L, gate: Gate, state: &mut State) -> bool {
        match gate.kind {
            0 => Spin::enter(lane, gate, &mut ()),
            1 => SpinBackoff::enter(lane, gate, &mut state.pause),
            2 => Sleeping::enter(lane, gate, &mut state.ticket),
            _ => Tickets::enter(lane, gate, &mut state.wide_ticket),
        }
    }

    fn pause<L: Lane>(lane: &L, gate: Gate, state: &mut State) {
        if gate.kind == 1 {
            SpinBackoff::pause(lane, gate, &mut state.pause);
        }
    }

    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        match gate.kind {
            0 | 1 => Spin::leave(lane, gate),
            2 => Sleeping::leave(lane, gate),
            _ => Tickets::leave(lane, gate),
        }
    }
}
