//! The workloads on the simulator and on the CPU, driven as `stamp` drives them: their results are
//! what the transactions must leave, and the history of every attempt, recorded, is opaque, in the
//! static form too. With a defect seeded into the transactional memory, the workloads' own checks
//! notice. And what is measured beside them: contenders, and where the time goes.

use crate::prelude::*;
use stamp_ports::record::{Row, Settings, record};
use stamp_ports::workloads::AnyWorkload;
use std::ops::ControlFlow;
use stm_core::algorithm::Variant;
use stm_core::host::{Cpu, Device, RetryLimits, StmConfig};
use stm_core::internal::observe::Mutant;
use stm_history::opacity;
use verify::sim::{Schedule, Sim, SimConfig};

/// Limits at which lanes that wait give up soon.
pub(crate) const LIMITS: RetryLimits = RetryLimits {
    read_polls: 8,
    acquire_tries: 4,
    retries_max: 0,
    ..RetryLimits::DEFAULT
};

/// Few locks and small limits, so that lanes collide. A block's last warp may be short, and some
/// buffers are full at first.
fn crowded(warp_width: u32, seed: u64, transactions: u64) -> Settings {
    Settings {
        transactions,
        threads: warp_width.max(2) * 3 / 2,
        locks: 16,
        stripe_bytes: 4 << (seed % 3),
        retry_limits: LIMITS,
        seed,
        attempts: [1, 16][seed as usize % 2],
        time_limit: None,
        ..Settings::default()
    }
}

/// Records runs of a workload as the program does, whose results must be right and whose
/// histories opaque.
fn recorded<D: Device>(device: &D, variant: Variant, of: &AnyWorkload, settings: &Settings) -> Row {
    let (name, id, seed) = (of.sizes().name(), device.id(), settings.seed);
    let what = format!("{name} {variant} on {id}, seed {seed}");
    let row = record(device, variant, of, settings, |history| {
        let verdict = opacity::check(&history)?;
        assert!(verdict.is_opaque(), "{what}:\n{verdict}");
        Ok(ControlFlow::Continue(()))
    });
    let row = row.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(row.wrong_state, None, "{what}");
    assert_eq!(row.attempts, row.transactions + row.aborted, "{what}");
    let given = of.sizes().transactions();
    let has_all = given.is_some() || row.transactions == settings.transactions;
    assert!(has_all, "{what}");
    row
}

/// Simulations with weak memory, in which every other seed's votes order it: each of these
/// schedules, with so many seeds.
pub(crate) fn simulations(
    schedules: &str,
    warp_width: u32,
    seeds: u64,
) -> impl Iterator<Item = SimConfig> {
    let of = move |schedule| {
        (0..seeds).map(move |seed| SimConfig {
            votes_order: seed.is_multiple_of(2),
            seed,
            ..SimConfig::of(warp_width, schedule).with_stale(30)
        })
    };
    Schedule::named(schedules).into_iter().flat_map(of)
}

/// Schedules that keep lanes of a warp together and apart.
pub(crate) const SCHEDULES: &str = "lockstep stack its64 random";

const BANK: &str = "bank --accounts 21 --audit-share 50 --audit-range 6 --zipf 0.9";
const EIGENBENCH: &str = "eigenbench --hot-words 16 --hot-reads 5 --hot-writes 3 --mild-words 4 \
    --mild-reads 1 --mild-writes 2 --cold-words 4 --cold-reads 2 --cold-writes 1 \
    --cold-reads-outside 1 --cold-writes-outside 2 --nops 1 --nops-outside 2 --locality 25";
/// More points than a lane takes at a time, and rows longer than a batch.
const KMEANS: &str = "kmeans --points 130 --dims 9 --centres 3 -t 0 --passes-max 1";
const VACATION: &str = "vacation --transactions 120 -q 100 -r";

/// What words in the rows stand for.
const WORDS: [(&str, &str); 4] = [
    ("BANK", BANK),
    ("EIGENBENCH", EIGENBENCH),
    ("KMEANS", KMEANS),
    ("VACATION", VACATION),
];

/// Records each row of a table; returns the histories that did not fit their buffers at first. There
/// must be conflicts, or this tests little.
fn everywhere(variant: Variant, text: &str, settings: impl Fn(Settings) -> Settings) -> u64 {
    let mut repeated = 0;
    for (row, line) in &table(text, &WORDS) {
        let [schedules, widths, transactions] = row.split(" : ").collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let number = |text: &str| text.parse::<u64>().expect(row);
        let of = workload(line, 1);
        let settings = |width, seed| settings(crowded(width, seed, number(transactions)));
        let mut aborted = 0;
        let widths = widths.split(' ').map(|of| of.split_once('x').expect(row));
        for config in widths
            .flat_map(|(w, seeds)| simulations(schedules, number(w) as u32, times(number(seeds))))
        {
            // Both take locks in the order met: two blocks can undo each other, or be in each
            // other's way, for as long as a schedule that starves the lock's holder lets neither
            // ahead. The paper's backoff orders the lanes of one warp only.
            let starves = matches!(config.schedule, Schedule::Its { starve: true, .. });
            if starves && matches!(variant, Variant::Egpgv | Variant::HvBackoff) {
                continue;
            }
            let settings = settings(config.warp_width, config.seed);
            let recorded = recorded(&Sim::new(config), variant, &of, &settings);
            aborted += recorded.aborted;
            repeated += recorded.repeated;
        }
        (0..4).for_each(|seed| drop(recorded(&Cpu::new(), variant, &of, &settings(4, seed))));
        let collided = aborted > 0 || variant == Variant::Cgl;
        assert!(collided, "{row} : {line}: no conflicts");
    }
    repeated
}

fn recorded_everywhere(variant: Variant) {
    let repeated = everywhere(variant, include_str!("recorded.txt"), |settings| settings);
    assert!(repeated > 0 || variant == Variant::Cgl);
}

/// Makes one test for each algorithm of the registry.
macro_rules! tests_of_all {
    ($($variant:ident $entry:ident $name:literal $origin:ident $teams:ident $sums:ident;)*) => {
        mod workloads_are_verified_and_opaque_with {
            $(
                #[test]
                fn $entry() {
                    super::recorded_everywhere(super::Variant::$variant);
                }
            )*
        }
    };
}
stm_core::for_each_algorithm!(tests_of_all! {});

#[test]
fn static_updates_of_words_are_verified_and_opaque() {
    let config = StmConfig::default();
    everywhere(Variant::Fast, include_str!("static.txt"), |settings| {
        Settings {
            locks: config.locks,
            stripe_bytes: config.stripe_bytes,
            retry_limits: config.retry_limits,
            ..settings
        }
    });
}

#[test]
fn the_drivers_notice_a_memory_that_loses_updates_and_nodes_and_reads_of_no_state() {
    for (head, line) in &table(include_str!("noticed.txt"), &WORDS) {
        let words: Vec<&str> = head.splitn(3, ' ').collect();
        let parts = words.get(2).copied().unwrap_or_default();
        let mutant = Mutant::from_name(words[0]);
        let variant = Variant::from_name(words[1]).expect(head);
        assert!(mutant.is_some(), "{head}");
        let wrong = simulations(SCHEDULES, 4, 60).find_map(|config| {
            let sim = Sim::new(config.with_mutant(mutant));
            let settings = crowded(4, config.seed, 48);
            let sink = |_| Ok(ControlFlow::Continue(()));
            let recorded = record(&sim, variant, &workload(line, 1), &settings, sink);
            recorded.ok()?.wrong_state
        });
        let wrong = wrong.unwrap_or_else(|| panic!("{head}: not noticed"));
        let said = parts.split(" | ").any(|part| wrong.contains(part));
        assert!(said, "{head}: {wrong}");
    }
}
