//! A hint to the compiler about how often a condition holds.

/// Returns `condition`, which rarely holds: the code behind it is laid out away from the
/// rest, so that what runs every time is fetched together.
#[inline(always)]
pub(crate) const fn rarely(condition: bool) -> bool {
    if condition {
        core::hint::cold_path();
    }
    condition
}
