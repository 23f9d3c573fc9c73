//! A launch of a test's own kernel on the simulator, recorded and judged, and
//! the simulations of such tests.

use stm_core::algorithm::Algorithm;
use stm_core::host::{Launch, Statistics, Stm, StmConfig};
use stm_core::observe::Mutant;
use stm_core::{Capacity, Kernel, RetryLimits, StmRef};
use verify::history::records::Records;
use verify::history::{Header, History, InitialMemory};
use verify::opacity::{self, report::Verdict};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

/// Words of a lane's recording buffer.
const WORDS_PER_LANE: u64 = 1 << 14;

/// What a launch did.
pub(crate) struct Recorded {
    pub(crate) statistics: Statistics,
    pub(crate) history: History,
    pub(crate) verdict: Verdict,
}

/// Launches a kernel with the parameters that `params` makes of the memory's
/// handle; `initial` is what the words hold before.
///
/// # Safety
/// As for [`Stm::launch`].
pub(crate) unsafe fn recorded<K: Kernel, A: Algorithm>(
    sim: &Sim,
    launch: Launch,
    config: StmConfig,
    initial: InitialMemory,
    params: impl FnOnce(StmRef<A>) -> K::Params,
) -> Recorded {
    let fail = |error: &dyn std::fmt::Display| -> ! {
        panic!("{} with {} on {}: {error}", K::ENTRY, A::NAME, sim.config())
    };
    let mut stm = Stm::new(sim, launch, config).unwrap_or_else(|error| fail(&error));
    let records = Records::new(sim, &launch, WORDS_PER_LANE).unwrap_or_else(|error| fail(&error));
    stm.observe(records.probe());
    let params = params(stm.handle::<A>());
    // SAFETY: the caller's promise.
    let (_, statistics) = unsafe { stm.launch::<K>(&params) }.unwrap_or_else(|error| fail(&error));
    let header = Header {
        variant: A::NAME.into(),
        workload: K::ENTRY.into(),
        device: "simulator".into(),
        seed: String::new(),
    };
    let history = (records.history(header, initial)).unwrap_or_else(|error| fail(&error));
    let verdict = opacity::check(&history).unwrap_or_else(|error| fail(&error));
    Recorded {
        statistics,
        history,
        verdict,
    }
}

/// Returns the settings of a small memory in which attempts conflict and queue soon, for
/// transactions that read and write so many words.
pub(crate) fn small(reads: u32, writes: u32) -> StmConfig {
    StmConfig {
        locks: 16,
        stripe_bytes: 8,
        capacity: Capacity {
            reads,
            writes,
            ..Capacity::DEFAULT
        },
        retry_limits: RetryLimits {
            read_polls: 8,
            queue_after: 6,
            ..RetryLimits::DEFAULT
        },
        ..StmConfig::default()
    }
}

/// Configurations without end, all different.
pub(crate) fn configs(mutant: Option<Mutant>) -> impl Iterator<Item = SimConfig> {
    const SCHEDULES: [Schedule; 4] = [
        Schedule::Lockstep,
        Schedule::Stack,
        Schedule::Random,
        Schedule::pct(3, 4000),
    ];
    (0..).map(move |k: u64| SimConfig {
        warp_width: [1, 4, 8, 32][k as usize / 4 % 4],
        schedule: SCHEDULES[k as usize % 4],
        memory: MemoryModel::Weak { stale_percent: 30 },
        votes_order: (k / 16).is_multiple_of(2),
        seed: k,
        mutant: mutant.map(|mutant| mutant as u32),
        ..SimConfig::default()
    })
}
