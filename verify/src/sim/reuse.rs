//! Simulators that are used again: stacks are costly to make.

use super::{Sim, SimConfig};
use std::cell::RefCell;
use std::collections::BTreeMap;

thread_local! {
    /// A simulator for each warp width.
    static SIMS: RefCell<BTreeMap<u32, Sim>> = const { RefCell::new(BTreeMap::new()) };
}

/// Runs `body` with this thread's simulator, set to `config`. Nothing is allocated
/// on it, so that addresses are those of a new one.
pub(crate) fn with_sim<R>(config: SimConfig, body: impl FnOnce(&Sim) -> R) -> R {
    let sim = SIMS.with_borrow_mut(|sims| {
        let width = config.warp_width;
        // Somebody may have kept memory of the one used before.
        if sims.get(&width).is_some_and(|sim| !sim.is_empty()) {
            sims.remove(&width);
        }
        sims.entry(width)
            .or_insert_with(|| Sim::new(config))
            .clone()
    });
    sim.configure(config);
    body(&sim)
}
