//! The best known launches on a GPU, where they are others than most workloads have with an algorithm.

use stm_core::algorithm::Variant::{
    self, Cgl, Egpgv, Fast, FastTable, HvBackoff, HvSorting, TbvSorting, Vbv,
};

/// Returns blocks and threads of the best known launch of a workload, whose transactions may be static
/// updates, on `p` multiprocessors.
#[allow(clippy::match_same_arms, reason = "an arm is a row for its workloads")]
pub(super) fn gpu_shape(
    workload: &str,
    is_static: bool,
    algorithm: Variant,
    p: u32,
) -> Option<(u32, u32)> {
    Some(match (workload, algorithm, is_static) {
        // An update owns its words for most of its time, so more lanes conflict more.
        ("ra", Fast, true) => (3 * p / 4, 64),
        // Two words each: all lanes that there are rarely meet.
        ("bank", Fast, true) => (2 * p, 512),
        // A static update waits for its swaps alone: fewer lanes wait less for each other's.
        ("ht", Fast, true) => (p, 96),
        // As many as its registers allow.
        ("eigenbench", Fast, true) => (p, 256),
        // More threads only stand in line for the sequence lock.
        ("ra" | "eigenbench", Vbv, _) => (16, 64),
        // Without values, every old stamp aborts: fewer transactions at a time.
        ("ra" | "eigenbench", TbvSorting, _) => (2 * p, 32),
        ("ra" | "eigenbench", HvSorting | HvBackoff, _) => (4 * p, 64),
        ("ra", Fast, _) => (p, 96),
        ("ht", Fast, _) => (p, 192),
        // Few transactions at a time, each short; or many that seldom write.
        ("bank", Fast | FastTable, _) => (2 * p, 128),
        ("bank", TbvSorting | HvSorting | HvBackoff, _) => (p, 256),
        ("genome", Cgl | Egpgv | Vbv, _) | ("kmeans", Cgl | Egpgv, _) => return None,
        // As in bank: many that seldom write.
        ("genome", ..) => (2 * p, 256),
        // Few rows, and every transaction writes all of one.
        ("kmeans", ..) => (p, 64),
        // A router a block, whose threads expand the grid together; the transactions are one
        // thread's, or with teams its warp's or the block's.
        ("labyrinth", ..) => (p, 256),
        // As many threads as its registers allow, in one block, as they go in step.
        ("vacation", Fast, _) | ("map" | "ordered" | "list", FastTable, _) => (p, 256),
        ("map" | "ordered" | "list", Fast, _) => (p, 384),
        _ => return None,
    })
}
