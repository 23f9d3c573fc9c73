//! Defaults of measurements: launches by algorithm and kind of device, and numbers of transactions. `stamp
//! tune` finds better launches for another device. What differs by workload is in `workloads/workload.rs`.

use crate::prelude::*;

/// Table 1 of the paper: transactions.
pub(crate) const TRANSACTIONS: u64 = 1 << 20;
pub(crate) const QUICK_TRANSACTIONS: u64 = 16 << 10;
pub(crate) const TUNE_REPEAT: u32 = 5;

/// Transactions of a run without arguments, whose data has its full size.
pub(crate) fn demo_transactions(variant: AskedVariant, kind: DeviceKind) -> u64 {
    match (kind, variant.name()) {
        (DeviceKind::Cpu, _) => 1 << 19,
        (DeviceKind::Cuda, "cgl" | "vbv") => 1 << 17,
        (DeviceKind::Cuda, _) => TRANSACTIONS,
    }
}

/// Blocks x threads of launches for a purpose, on the CPU and on a GPU, where `p` are its cores or
/// multiprocessors; `quick` are few.
///
/// - The same transactions without synchronisation, `wide`: the shapes of `tune` that fill at least half of the device.
/// - The transactional memory beside them, `floor`: those of `tune` and those between. Where memory and conflicts bound
///   transactions, three warps a multiprocessor can be better than two and than four, and less than a warp can be where
///   all want the same words. Where a block is one worker there are no others than 256 threads.
/// - Critical sections: from one thread on, as each more waits for the lock; where blocks work together from a few
///   warps on, as one thread of each wants it.
/// - The search of the paper's best launches: few threads are the best launch where all want the same words, and
///   then less than a warp a block: the paper's for k-means has 64 blocks of 4.
/// - Figure 3, `threads`: on a GPU from a warp to twice what it holds. Where a block is one worker, whatever its
///   threads, to what it holds, and the last has more blocks than there are transactions. On the CPU blocks beyond
///   the cores wait; threads do not.
/// - Figure 4: the first has fewer than the thousand threads below which the paper says that two variants are level.
/// - Table 1, `recorded`: few threads, as aborted attempts take room in the records; those of a block work together,
///   but one runs transactions.
/// - Mutexes, semaphores and barriers: by processors, and those of the papers' figures, with the usual threads of a
///   block and others. On the CPU there is a block for each core and no more, as threads that wait for one that does
///   not run show the scheduler of the system.
const LAUNCHES: &str = include_str!("launches.txt");

/// Reads a number of blocks or threads, such as `16`, `p`, `4p` or `p/2`, where `p` is this number of processors.
fn in_processors(word: &str, p: u32) -> u32 {
    let number = |word: &str| word.parse::<u32>().expect("a number of a table");
    match word.split_once('p') {
        None => number(word),
        Some(("", "")) => p,
        Some((times, "")) => number(times) * p,
        Some((_, part)) => p / number(&part[1..]),
    }
}

/// Reads grids, such as `1 p x 32 64; 2p x 128`: each of these numbers of blocks with each of these of threads.
pub(crate) fn shapes_of(grids: &str, p: u32) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for grid in grids.split("; ") {
        let (blocks, threads) = grid.split_once(" x ").expect("blocks and threads");
        for blocks in blocks.split(' ') {
            let threads = threads.split(' ');
            shapes.extend(threads.map(|t| (in_processors(blocks, p), in_processors(t, p))));
        }
    }
    shapes
}

/// What a device can hold, as far as launches depend on it.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub(crate) kind: DeviceKind,
    pub(crate) limits: Limits,
    /// Threads that it holds at a time; 0 on the CPU, which has no such limit.
    pub(crate) resident: u64,
}

impl Room {
    pub(crate) fn of(device: &AnyDevice) -> Self {
        Self {
            kind: device.kind(),
            limits: device.limits(),
            resident: device.resident_threads(),
        }
    }

    /// Blocks and threads of a launch, if the caller names neither: on a GPU, what `stamp tune` found on an
    /// H200.
    pub(crate) fn launch(&self, workload: &dyn Sizes, algorithm: Variant) -> Shape {
        let p = self.limits.processors;
        if self.kind == DeviceKind::Cpu {
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

    /// The [`LAUNCHES`] for a purpose, once each, but for those of no threads, of larger blocks than there are or,
    /// on a GPU, of more than twice the threads that it holds at a time.
    pub(crate) fn shapes(&self, purpose: &str, by_blocks: bool, quick: bool) -> Vec<Shape> {
        let kind = self.kind.either("cpu", "cuda");
        let sized = format!("{kind} {}", if quick { "quick" } else { "full" });
        let of_blocks = by_blocks.then(|| format!("{purpose} by blocks {sized}: "));
        let all = [&*sized, kind].map(|of| format!("{purpose} {of}: "));
        let row = |head: String| LAUNCHES.lines().find_map(|row| row.strip_prefix(&*head));
        let row = of_blocks.into_iter().chain(all).find_map(row);
        let row = row.expect("a row for each purpose");
        let mut shapes = shapes_of(row, self.limits.processors);
        let most = self.kind.either(u64::MAX, 2 * self.resident);
        let mut seen = HashSet::new();
        shapes.retain(|&shape @ (blocks, threads)| {
            let fits = threads <= self.limits.threads_max && lanes(shape) <= most;
            blocks > 0 && fits && seen.insert(shape)
        });
        shapes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{AnyWorkload, WORKLOADS};

    fn on_gpu(workload: &str, algorithm: Variant) -> Shape {
        let workload = AnyWorkload::sized(workload, Occasion::Quick, 1).expect("a workload");
        let mut room = Room::of(&AnyDevice::cpu());
        (room.kind, room.limits.processors) = (DeviceKind::Cuda, 100);
        room.launch(workload.sizes(), algorithm)
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
