//! The seeded defects of channels are found, and the right code survives the same runs.

use crate::config;
use crate::forms::{Form, In, Numbered, Run, run};
use stm_core::observe::Mutant;
use stm_sync::channel::{Copies, RingShape};
use verify::sim::SimConfig;

/// Runs until one goes wrong, and returns its number and what went wrong.
fn found<T: Numbered>(mutant: Option<Mutant>, place: In) -> Option<(u64, String)> {
    (0..300).find_map(|k| {
        let config = SimConfig {
            wide_atomics: false,
            warp_width: 1,
            idle_max: 20_000,
            ..config(k).with_mutant(mutant)
        };
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
        let wrong = run::<T>(config, what, 1).err()?;
        Some((k, wrong))
    })
}

fn is_found<T: Numbered>(mutant: Mutant, how: &str) {
    for place in [In::Global, In::Shared] {
        let name = mutant.name();
        let Some((k, wrong)) = found::<T>(Some(mutant), place) else {
            panic!("{name} survives in {place:?} memory")
        };
        assert!(wrong.contains(how), "{name}: {place:?}: {k}: {wrong}");
        println!("{name}: {place:?}: run {k}: {wrong}");
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
        assert_eq!(found::<u32>(None, place), None);
        assert_eq!(found::<u64>(None, place), None);
    }
}
