//! Defaults of measurements: launches by algorithm and kind of device, and numbers of transactions. `stamp
//! tune` finds better launches for another device. What differs by workload is in `workloads/shapes.rs`.

use crate::prelude::*;
use crate::workloads::form::filling;

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

/// Threads of a block where all of them are one worker: a search of variants tries no others on a GPU.
pub(crate) const BLOCK_OF_ONE_WORKER: u32 = 256;

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

    /// All these blocks with all these threads, once each, but for those of no threads or, on a GPU, of more
    /// than twice those that it holds at a time.
    pub(crate) fn grid(&self, blocks: &[u32], threads: &[u32]) -> Vec<Shape> {
        let most = self.kind.either(u64::MAX, 2 * self.resident);
        let mut shapes = Vec::new();
        for shape in (blocks.iter()).flat_map(|&b| threads.iter().map(move |&t| (b, t))) {
            if shape.0 > 0 && lanes(shape) <= most && !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        shapes
    }

    /// The shapes that `tune` tries.
    pub(crate) fn shapes(&self) -> Vec<Shape> {
        let p = self.limits.processors;
        let blocks = [1, 4, 16, p / 4, p / 2, p, 2 * p, 4 * p, 8 * p];
        let on_gpu = self.grid(&blocks, &[32, 64, 128, 256, 512]);
        (self.kind).either(self.grid(&[1, p, 4 * p], &[1, 2, 4]), on_gpu)
    }

    /// The same and those between, which `bench floor` tries as well: where memory and conflicts bound
    /// transactions, three warps a multiprocessor can be better than two and than four, and less than a warp
    /// can be where all want the same words.
    pub(crate) fn more_shapes(&self, by_blocks: bool) -> Vec<Shape> {
        let (p, mut shapes) = (self.limits.processors, self.shapes());
        if self.kind == DeviceKind::Cuda {
            shapes.extend([(p, 96), (p, 192), (1, 1), (1, 4), (16, 1), (p, 4)]);
            shapes.retain(|&(_, threads)| !by_blocks || threads == BLOCK_OF_ONE_WORKER);
        }
        shapes
    }

    /// The shapes of `tune` that fill at least half of the device; if `quick`, one.
    pub(crate) fn wide_shapes(&self, quick: bool) -> Vec<Shape> {
        if quick {
            return vec![filling(&self.limits)];
        }
        let (limits, mut shapes) = (&self.limits, self.shapes());
        if self.kind == DeviceKind::Cuda {
            shapes.retain(|&(b, t)| b >= limits.processors && t >= 2 * limits.warp_width);
        }
        shapes
    }

    /// The shapes for critical sections: from one thread on, as each more waits for the lock; where blocks work
    /// together from a few warps on, as one thread of each wants it.
    pub(crate) fn shapes_of_critical_sections(&self, by_blocks: bool, quick: bool) -> Vec<Shape> {
        let p = self.limits.processors;
        let mut shapes = match (self.kind, quick) {
            (DeviceKind::Cuda, true) if by_blocks => self.grid(&[p], &[256]),
            (DeviceKind::Cuda, false) if by_blocks => {
                self.grid(&[16, p / 2, p, 2 * p, 4 * p], &[128, 256, 512])
            }
            (DeviceKind::Cpu, true) => self.grid(&[1, p], &[1]),
            (DeviceKind::Cpu, false) => self.grid(&[1, p, 2 * p], &[1, 2]),
            (DeviceKind::Cuda, true) => self.grid(&[1, 16], &[1, 32]),
            (DeviceKind::Cuda, false) => {
                let threads = [1, 4, 8, 16, 32, 64, 128, 256];
                self.grid(&[1, 2, 4, 16, p / 2, p], &threads)
            }
        };
        shapes.retain(|&(_, threads)| threads <= self.limits.threads_max);
        shapes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
