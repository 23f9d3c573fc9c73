//! The mark that a seam in the code is.

/// Marks a seam in the code of the transaction `$tx`: what came before was of
/// the phase named. On a GPU the test is of a constant, and the code without
/// such a probe is the same to the byte.
macro_rules! mark {
    ($tx:expr, $phase:ident) => {
        if $crate::lane::times($tx.lane) {
            $tx.spent($crate::observe::phase::Phase::$phase);
        }
    };
}
pub(crate) use mark;
