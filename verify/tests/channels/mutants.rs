//! The seeded defects of channels are found, and the right code survives the same runs.

use crate::forms::{Form, In, Numbered, Run, run};
use crate::{config, runs};
use stm_core::observe::Mutant;
use stm_sync::channel::{Copies, RingShape};

/// Makes run `k` in a memory, with a defect or without.
fn run_of<T: Numbered>(mutant: Option<Mutant>, place: In, k: u64) -> Result<(), String> {
    let config = config(k).with_mutant(mutant).with_idle(20_000);
    let config = config.with_width(1).with_wide_atomics(false);
    let what = Run {
        shape: RingShape {
            rings: 1,
            depth_log2: (k % 2) as u32,
            consumers: 2,
            copies: [Copies::One, Copies::Each][(k / 2 % 2) as usize],
        },
        values: 9,
        form: Form::Each,
        place,
    };
    run::<T>(config, what, 1)
}

const RUNS: u64 = 300;

fn is_found<T: Numbered>(mutant: Mutant, how: &str) {
    for place in [In::Global, In::Shared] {
        let what = format!("{place:?} memory");
        let run = |k| run_of::<T>(Some(mutant), place, k);
        runs::is_found(mutant, &what, &[how], RUNS, run);
    }
}

#[test]
fn each_defect_is_found_in_both_memories() {
    is_found::<u32>(Mutant::ChannelTagFirst, "of ring");
    is_found::<u64>(Mutant::ChannelTagFirst, "of ring");
    is_found::<u64>(Mutant::ChannelHalfAwaited, "of ring");
    is_found::<u32>(Mutant::ChannelReusedEarly, "livelock");
    is_found::<u32>(Mutant::ChannelNotAcknowledged, "livelock");
}

#[test]
fn without_a_defect_the_same_runs_find_nothing() {
    for place in [In::Global, In::Shared] {
        let narrow = runs::first_wrong(RUNS, |k| run_of::<u32>(None, place, k));
        let wide = runs::first_wrong(RUNS, |k| run_of::<u64>(None, place, k));
        assert_eq!((narrow, wide), (None, None));
    }
}
