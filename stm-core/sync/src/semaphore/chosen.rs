//! The choice of an algorithm at launch.

use super::{Gate, Sleeping, Spin, SpinBackoff, Tickets, Waiting};
use crate::choice::choice;
use stm_machine::Lane;

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
