//! Defaults of measurements: launches by algorithm and kind of device, and
//! numbers of transactions. `stamp tune` finds better launches for another
//! device. What differs by workload is in the workload's folder.

use crate::devices::DeviceKind;
use crate::variants::AskedVariant;
use crate::workloads::contender::lanes;
use crate::workloads::workload::Sizes;
use stm_core::algorithm::Variant;
use stm_core::internal::host::Limits;

/// Table 1 of the paper: transactions.
pub(crate) const TRANSACTIONS: u64 = 1 << 20;
pub(crate) const QUICK_TRANSACTIONS: u64 = 16 << 10;
pub(crate) const TUNE_REPEAT: u32 = 5;

/// Blocks and threads of a launch, if the caller names neither. For GPUs, what
/// `stamp tune` found on an H200, by its number of multiprocessors.
pub(crate) fn launch(
    workload: &dyn Sizes,
    algorithm: Variant,
    kind: DeviceKind,
    limits: &Limits,
) -> (u32, u32) {
    let p = limits.processors;
    if kind == DeviceKind::Cpu {
        // One thread a core; blocks of one, as `egpgv` runs one a block.
        return (p, 1);
    }
    let usual = match algorithm {
        // One warp: it hands the lock from lane to lane without a race.
        Variant::Cgl => (1, 32),
        Variant::Egpgv => (8 * p, 32),
        // More threads only stand in line for the sequence lock.
        Variant::Vbv => (4, 64),
        Variant::Fast | Variant::FastTable => (p, 128),
        _ => (8 * p, 256),
    };
    workload.gpu_shape(algorithm, p).unwrap_or(usual)
}

/// Transactions of a run without arguments. The data has its full size, and
/// rates can be compared whatever the number: they are transactions a second.
pub(crate) const fn demo_transactions(variant: AskedVariant, kind: DeviceKind) -> u64 {
    match (kind, variant) {
        (DeviceKind::Cpu, _) => 1 << 19,
        (DeviceKind::Cuda, AskedVariant::Algorithm(Variant::Cgl | Variant::Vbv)) => 1 << 17,
        (DeviceKind::Cuda, _) => TRANSACTIONS,
    }
}

/// Shapes beside those of [`shapes`], which `bench floor` tries as well: where memory bounds
/// transactions and conflicts bound their number, three warps a multiprocessor can be better than
/// two and than four, and where all transactions want the same words, less than a warp can be.
pub(crate) fn between(kind: DeviceKind, limits: &Limits) -> Vec<(u32, u32)> {
    let p = limits.processors;
    match kind {
        DeviceKind::Cpu => Vec::new(),
        DeviceKind::Cuda => vec![(p, 96), (p, 192), (1, 1), (1, 4), (16, 1), (p, 4)],
    }
}

/// Threads of a block where all of them are one worker: a search of the variants tries no others
/// on a GPU. Critical sections, which know nothing of workers, have blocks of other sizes too.
pub(crate) const BLOCK_OF_ONE_WORKER: u32 = 256;

/// The most threads of a launch that a search tries: on a GPU twice those that it holds at a time.
pub(crate) const fn threads_most(kind: DeviceKind, resident_threads: u64) -> u64 {
    match kind {
        DeviceKind::Cpu => u64::MAX,
        DeviceKind::Cuda => 2 * resident_threads,
    }
}

/// All these blocks with all these threads, once each, but for none or more than `most` threads.
pub(crate) fn grid(blocks: &[u32], threads: &[u32], most: u64) -> Vec<(u32, u32)> {
    let mut shapes = Vec::new();
    for shape in (blocks.iter()).flat_map(|&b| threads.iter().map(move |&t| (b, t))) {
        if shape.0 > 0 && lanes(shape) <= most && !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    shapes
}

pub(crate) fn shapes(kind: DeviceKind, limits: &Limits, resident_threads: u64) -> Vec<(u32, u32)> {
    let p = limits.processors;
    let most = threads_most(kind, resident_threads);
    match kind {
        DeviceKind::Cpu => grid(&[1, p, 4 * p], &[1, 2, 4], most),
        DeviceKind::Cuda => grid(
            &[1, 4, 16, p / 4, p / 2, p, 2 * p, 4 * p, 8 * p],
            &[32, 64, 128, 256, 512],
            most,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::AnyDevice;
    use crate::workloads::input::Occasion;
    use crate::workloads::{AnyWorkload, WORKLOADS};
    use stm_core::host::Device;

    fn on_gpu(workload: &str, algorithm: Variant) -> (u32, u32) {
        let workload = AnyWorkload::sized(workload, Occasion::Quick, 1).expect("a workload");
        let limits = Limits {
            processors: 100,
            ..AnyDevice::cpu().limits()
        };
        launch(workload.sizes(), algorithm, DeviceKind::Cuda, &limits)
    }

    #[test]
    fn launches_on_a_gpu_are_those_that_were_found() {
        for &(workload, _) in WORKLOADS {
            let is_by_blocks = workload == "labyrinth";
            let shape = if is_by_blocks { (100, 256) } else { (1, 32) };
            assert_eq!(on_gpu(workload, Variant::Cgl), shape, "{workload}");
        }
        let found = "\
            ra egpgv 800x32, kmeans egpgv 800x32, kmeans vbv 100x64, ra vbv 16x64, ht vbv 4x64, \
            genome vbv 4x64, eigenbench tbv-sorting 200x32, genome fast 200x256, \
            bank fast-table 200x128, ht fast 100x192, ht fast-table 100x128, ra fast 100x96, \
            ra fast-table 100x128, eigenbench fast 100x128, ra hv-backoff 400x64, \
            bank tbv-sorting 100x256, genome hv-sorting 200x256, ht hv-sorting 800x256";
        for row in found.split(", ") {
            let [workload, algorithm, shape] = row.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{row}")
            };
            let algorithm = Variant::from_name(algorithm).expect("an algorithm");
            let (blocks, threads) = on_gpu(workload, algorithm);
            assert_eq!(format!("{blocks}x{threads}"), shape, "{row}");
        }
    }
}
