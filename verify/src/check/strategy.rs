//! The strategies that draw cases. They shrink to simple ones: few transactions,
//! threads and blocks, warps of one lane, a random schedule, sequentially
//! consistent memory and versions that do not wrap around.

use super::case::Case;
use crate::sim::{MemoryModel, Schedule, SimConfig};
use proptest::prelude::*;
use proptest::sample::select;
use std::ops::RangeInclusive;
use stm_core::RetryLimits;
use stm_core::algorithm::Variant;
use stm_core::observe::Mutant;

/// What cases are drawn from.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    pub(super) algorithms: Vec<Variant>,
    pub(super) defect: Option<Mutant>,
    pub(super) blocks: RangeInclusive<u32>,
    pub(super) threads: RangeInclusive<u32>,
    pub(super) warp_widths: Vec<u32>,
    pub(super) transactions: RangeInclusive<u64>,
    pub(super) stale_percents: Vec<u32>,
    pub(super) steps_max: u64,
}

/// What a check draws from if nothing else is said.
impl Default for Ranges {
    fn default() -> Self {
        Self {
            algorithms: vec![Variant::Fast],
            defect: None,
            blocks: 1..=3,
            threads: 1..=8,
            warp_widths: vec![1, 2, 4, 8],
            transactions: 1..=24,
            stale_percents: vec![10, 30, 50, 70],
            steps_max: Case::STEPS_MAX,
        }
    }
}

/// A schedule without the length of PCT, which is given for each lane.
fn schedules() -> impl Strategy<Value = Schedule> {
    let bounds = select(vec![64, 16, 4, 256]);
    let its = (bounds, any::<bool>()).prop_map(|(bound, starve)| Schedule::Its { bound, starve });
    let lengths = select(vec![60, 30, 120, 400]);
    let pct = (2..=5_u32, lengths).prop_map(|(depth, length)| Schedule::Pct { depth, length });
    prop_oneof![
        3 => Just(Schedule::Random),
        3 => its,
        3 => pct,
        1 => Just(Schedule::Lockstep),
        1 => Just(Schedule::Stack),
    ]
}

fn memories(stale_percents: Vec<u32>) -> impl Strategy<Value = MemoryModel> {
    let weak = select(stale_percents).prop_map(|stale_percent| MemoryModel::Weak { stale_percent });
    prop_oneof![
        1 => Just(MemoryModel::Sequential),
        9 => weak,
    ]
}

/// Simulations, all but the steps and with the length of PCT for each lane.
fn simulations(ranges: &Ranges) -> impl Strategy<Value = SimConfig> + use<> {
    let versions = prop_oneof![1 => Just(31), 1 => 3..=8_u32];
    (
        select(ranges.warp_widths.clone()),
        memories(ranges.stale_percents.clone()),
        schedules(),
        versions,
        any::<bool>(),
        any::<bool>(),
        any::<u64>().no_shrink(),
    )
        .prop_map(
            |(warp_width, memory, schedule, version_bits, relaxed, wide_atomics, seed)| SimConfig {
                warp_width,
                schedule,
                memory,
                votes_order: !relaxed,
                wide_atomics,
                version_bits,
                seed,
                ..SimConfig::default()
            },
        )
}

/// Cases.
pub(super) fn cases(ranges: &Ranges) -> impl Strategy<Value = Case> + use<> {
    let limits = (
        select(vec![0, 2]),
        select(vec![8, 1]),
        select(vec![RetryLimits::DEFAULT.queue_after, 8, 2]),
    );
    let (defect, steps_max) = (ranges.defect, ranges.steps_max);
    (
        ranges.transactions.clone(),
        ranges.blocks.clone(),
        ranges.threads.clone(),
        select(ranges.algorithms.clone()),
        select(vec![Case::LOCKS, 4, 1]),
        select(vec![Case::STRIPE_BYTES, 8, 16]),
        limits,
        simulations(ranges),
        any::<u64>().no_shrink(),
    )
        .prop_map(
            move |(
                transactions,
                blocks,
                threads,
                algorithm,
                locks,
                stripe_bytes,
                limits,
                sim,
                input,
            )| {
                let mut sim = SimConfig {
                    steps_max,
                    idle_max: steps_max.max(2) / 2,
                    ..sim
                };
                if let Schedule::Pct { length, .. } = &mut sim.schedule {
                    *length *= blocks * threads;
                }
                let (read_polls, acquire_tries, queue_after) = limits;
                Case {
                    defect,
                    input,
                    locks,
                    stripe_bytes,
                    read_polls,
                    acquire_tries,
                    queue_after,
                    sim,
                    ..Case::new(algorithm, blocks, threads, transactions)
                }
            },
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    fn ranges() -> Ranges {
        Ranges {
            algorithms: Variant::ALL.to_vec(),
            defect: Some(Mutant::NoF4),
            transactions: 2..=24,
            ..Ranges::default()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_printed_case_parses_to_the_same_case(case in cases(&ranges())) {
            prop_assert_eq!(case.to_string().parse::<Case>().unwrap(), case);
        }
    }

    #[test]
    fn cases_shrink_to_the_simplest() {
        let mut runner = TestRunner::deterministic();
        for _ in 0..20 {
            let mut tree = cases(&ranges()).new_tree(&mut runner).unwrap();
            while tree.simplify() {}
            let Case { sim, .. } = tree.current();
            let simplest = Case {
                defect: Some(Mutant::NoF4),
                input: tree.current().input,
                sim: SimConfig {
                    warp_width: 1,
                    schedule: Schedule::Random,
                    memory: MemoryModel::Sequential,
                    seed: sim.seed,
                    steps_max: Case::STEPS_MAX,
                    idle_max: Case::IDLE_MAX,
                    ..SimConfig::default()
                },
                ..Case::new(Variant::Cgl, 1, 1, 2)
            };
            assert_eq!(tree.current(), simplest);
        }
    }
}
