//! `EigenBench` without synchronisation, and as critical sections.

use super::driver::EigenbenchData;
use super::input::Eigenbench;
use crate::devices::AnyDevice;
use crate::workloads::contender::Contender;
use crate::workloads::critical::{critical_section_of, unsynchronised_of};
use stm_core::algorithm::Cgl;
use stm_kernels::eigenbench::Accesses;
use stm_kernels::floor::eigenbench::{CriticalSection, Floor, Params};

/// What is counted.
const ACCESSES: (&str, fn(&Eigenbench) -> f64) = ("reads and writes", |of| {
    let sum = |a: Accesses| f64::from(a.reads) + f64::from(a.writes);
    let plan = &of.plan;
    [plan.hot, plan.mild, plan.cold_inside, plan.cold_outside]
        .map(sum)
        .iter()
        .sum()
});

/// The contenders of `EigenBench`.
pub(super) fn contenders() -> Vec<Contender<Eigenbench>> {
    let params = |_: &Eigenbench, data: &EigenbenchData<AnyDevice>, transactions| Params {
        hot: data.hot.view::<Cgl>(),
        mild: data.mild.view::<Cgl>(),
        cold: data.cold.tarray(),
        checksums: data.checksums.tarray(),
        transactions,
        plan: data.plan,
    };
    vec![
        unsynchronised_of::<Floor, _, _>(ACCESSES, params),
        critical_section_of::<CriticalSection, _, _>(ACCESSES, params),
    ]
}
