//! The macro that marks the end of a phase, for a profiling probe.

/// Marks a boundary in the code of the transaction `$tx`: the time before it
/// belongs to the phase named. On a GPU the condition is a constant, so the
/// code of a kernel without a profiler is the same to the byte.
macro_rules! mark {
    ($tx:expr, $phase:ident) => {
        if stm_machine::lane::times($tx.lane) {
            $tx.spent($crate::observe::phase::Phase::$phase);
        }
    };
}
pub(crate) use mark;
