//! The workloads' own kernels on the simulator: recorded, judged, and their
//! final state compared with what the transactions must leave.

use crate::driven::{LIMITS, recorded, simulation};
use stamp_ports::record::Settings;
use stamp_ports::workloads::ht::Ht;
use stamp_ports::workloads::ra::Ra;
use stamp_ports::workloads::workload::Workload;
use stm_core::RetryLimits;
use stm_core::algorithm::Variant;
use verify::sim::{Schedule, Sim};

const SCHEDULES: [Schedule; 5] = [
    Schedule::Lockstep,
    Schedule::Stack,
    Schedule::its(64),
    Schedule::starve(64),
    Schedule::Random,
];

/// Runs a workload with warps of `width` under each schedule; the attempts that
/// aborted, and the histories that did not fit their buffers at first.
fn runs<W: Workload + Copy>(variant: Variant, workload: W, width: u32, seeds: u64) -> (u64, u64) {
    let mut aborted = 0;
    let mut repeated = 0;
    for schedule in SCHEDULES {
        // Blocking locks in the order met: two blocks can undo each other for as
        // long as a schedule that starves the lock's holder lets neither ahead.
        // Both take locks in the order met: between warps, a hostile schedule can
        // keep two of them in each other's way for ever. The paper's backoff
        // orders the lanes of one warp only.
        if matches!(variant, Variant::Egpgv | Variant::HvBackoff)
            && matches!(schedule, Schedule::Its { starve: true, .. })
        {
            continue;
        }
        for seed in 0..seeds {
            let config = simulation(width, schedule, seed);
            let settings = Settings {
                transactions: 96,
                blocks: 2,
                threads: width.max(2),
                locks: 16,
                stripe_bytes: 4 << (seed % 3),
                retry_limits: RetryLimits {
                    acquire_tries: 8,
                    ..LIMITS
                },
                seed,
                // Some buffers are full at first, and some runs take several.
                attempts: if seed % 2 == 0 { 1 } else { 4 },
                buffer_bytes: 1 << 20,
                time_limit: None,
                ..Settings::default()
            };
            let what = format!("{variant}, {config}");
            let row = recorded(&Sim::new(config), variant, workload, &settings, &what);
            assert_eq!(row.attempts, row.transactions + row.aborted);
            aborted += row.aborted;
            repeated += row.repeated;
        }
    }
    (aborted, repeated)
}

const RA: Ra = Ra::of(24, 3, 2);
const HT: Ht = Ht::of(5, 2);

macro_rules! kernels {
    ($($variant:ident $entry:ident $name:literal $origin:ident $teams:ident $sums:ident;)*) => {
        $(
            #[test]
            fn $entry() {
                let variant = Variant::$variant;
                let (mut aborted, mut repeated) = (0, 0);
                for (width, seeds) in [(1, 12), (4, 12), (32, 2)] {
                    for (a, r) in [
                        runs(variant, RA, width, seeds),
                        runs(variant, HT, width, seeds),
                    ] {
                        aborted += a;
                        repeated += r;
                    }
                }
                // The runs must be contended to mean anything.
                assert_eq!(aborted == 0, variant == Variant::Cgl);
                assert_eq!(repeated == 0, variant == Variant::Cgl);
            }
        )*
    };
}

/// One test for each algorithm of the registry.
mod ra_and_ht_are_opaque_with {
    use super::*;

    stm_core::for_each_algorithm!(kernels! {});
}
