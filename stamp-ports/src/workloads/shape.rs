//! Launch shapes that depend on the device alone.

use stm_core::host::Limits;

/// Blocks and threads of a kernel without transactions, of the kind whose
/// threads do not wait for each other: enough to fill the device.
pub fn filling(limits: &Limits) -> (u32, u32) {
    if limits.warp_width == 1 {
        (limits.processors, 1)
    } else {
        (
            8 * limits.processors,
            (8 * limits.warp_width).min(limits.threads_max),
        )
    }
}
