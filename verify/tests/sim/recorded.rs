//! A launch of a test's own kernel on the simulator, recorded and judged.

use stm_core::algorithm::Algorithm;
use stm_core::host::{Launch, Statistics, Stm, StmConfig};
use stm_core::{Kernel, StmRef};
use verify::history::records::Records;
use verify::history::{Header, History, InitialMemory};
use verify::opacity::{self, report::Verdict};
use verify::sim::Sim;

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
