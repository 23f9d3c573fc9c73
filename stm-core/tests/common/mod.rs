//! What several tests have in common; no test has a use for all of it.
#![allow(dead_code, unused_macros, unused_imports)]
#![allow(clippy::needless_pass_by_value)] // assertions about what a launch returns

mod asserts;
#[path = "../kernels/closure.rs"]
mod closure;

pub(crate) use asserts::{assert_is as assert_ends, layout, under_all};
use closure::Closure;
use std::fmt::Debug;
use stm_core::Element;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Cpu, Error, Pod, Statistics, Stm, StmConfig, TxArray};
use stm_core::internal::lane::cpu::CpuLane;

/// Launches a closure with a transactional memory, as `Stm::launch` does with a kernel.
pub(crate) fn launch(
    stm: &mut Stm<Cpu>,
    kernel: impl Fn(&CpuLane<'_>),
) -> Result<Statistics, Error> {
    // SAFETY: the closure lives until the launch has ended.
    let launched = closure::with(kernel, |given| unsafe { stm.launch::<Closure>(given) });
    launched.map(|(_, statistics)| statistics)
}

/// A transaction of a lane of the CPU.
pub(crate) type CpuTx<'t, 'l, A> = stm_core::Tx<'t, CpuLane<'l>, A>;

/// Makes an array in the layout of an algorithm.
pub(crate) fn array<A: Algorithm, T: Element + Pod>(
    values: &[T],
    what: &'static str,
) -> TxArray<Cpu, T> {
    asserts::array::<A, T, _>(&Cpu::new(), values, what)
}

/// Asserts that a launch ended by an index past the end of so many elements.
#[track_caller]
pub(crate) fn assert_past_the_end<T: Debug>(ended: Result<T, Error>, at: u64, size: u64) {
    assert_ends!(ended, Err(Error::OutOfRange { index, len, .. }) if (index, len) == (at, size));
}

/// Asserts that a launch ended by a set, or a log, that holds no more than so much.
#[track_caller]
pub(crate) fn assert_full<T: Debug>(ended: Result<T, Error>, full: &str, most: u32) {
    assert_ends!(ended, Err(Error::CapacityExceeded { set, limit, .. }) if (set, limit) == (full, most));
}

/// Asserts that a launch ended by a pool of so many nodes that had no more.
#[track_caller]
pub(crate) fn assert_exhausted<T: Debug>(ended: Result<T, Error>, pool: &str, of: u64) {
    assert_ends!(ended, Err(Error::PoolExhausted { what, nodes, .. }) if (what, nodes) == (pool, of));
}

/// Returns the default configuration after a change.
pub(crate) fn config(change: impl FnOnce(&mut StmConfig)) -> StmConfig {
    let mut config = StmConfig::default();
    change(&mut config);
    config
}

/// Returns room for so many reads and writes.
pub(crate) const fn capacity(reads: u32, writes: u32) -> stm_core::host::Capacity {
    stm_core::host::Capacity {
        reads,
        writes,
        ..stm_core::host::Capacity::DEFAULT
    }
}
