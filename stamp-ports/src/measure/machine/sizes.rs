//! How much is measured on which device.

use crate::devices::{AnyDevice, DeviceKind};
use stm_core::host::Device;

/// A grid of the memory benchmarks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Why this one.
    pub(super) why: &'static str,
    pub(super) blocks: u32,
    /// Threads of a block, of which one makes accesses.
    pub(super) threads: u32,
}

/// What is measured.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// What is smaller than on a GPU, or the same for all.
    pub(super) note: &'static str,
    /// The grids of the memory benchmarks. The abstraction is that of the last.
    pub(super) grids: Vec<Grid>,
    /// Accesses of a thread in the memory benchmarks.
    pub(super) accesses: u32,
    /// Bytes over which random accesses go.
    pub(super) bytes: Vec<u64>,
    /// Blocks and threads of a block that make random accesses, and how many each makes.
    pub(super) random: (u32, u32, u32),
    /// Whether only those random accesses are measured that bounds are computed from
    /// ([`crate::measure::floor::bound`]).
    pub(super) for_bounds: bool,
    /// Blocks that meet at a barrier.
    pub(super) meetings: Vec<u32>,
    /// Threads of such a block.
    pub(super) meeting_threads: u32,
    /// Blocks of which one thread each makes sections on a mutex.
    pub(super) locking: Vec<u32>,
    /// Sections that they make together.
    pub(super) sections: u32,
    /// Blocks of which one thread each enters a semaphore.
    pub(super) entering: Vec<u32>,
    /// Counts of the semaphore.
    pub(super) counts: Vec<u32>,
    /// Times that each measurement is made, beside one to warm up.
    pub(super) times: usize,
}

/// Blocks on a multiprocessor in the paper's benchmarks.
const BLOCKS_A_PROCESSOR: u32 = 8;

impl Sizes {
    pub(super) fn of(device: &AnyDevice) -> Self {
        let processors = device.limits().processors;
        match device.kind() {
            DeviceKind::Cuda => Self::gpu(processors),
            DeviceKind::Cpu => Self::cpu(processors),
        }
    }

    /// Returns the same with few random accesses, only those that bounds need, each measured
    /// as briefly as shows its order of magnitude: all together in less than a second.
    pub(super) fn quick(self) -> Self {
        let (blocks, threads, accesses) = self.random;
        Self {
            random: (blocks, threads, accesses.min(1 << 18)),
            for_bounds: true,
            times: 1,
            ..self
        }
    }

    fn gpu(processors: u32) -> Self {
        let grid = |why, blocks| Grid {
            why,
            blocks,
            threads: 128,
        };
        Self {
            note: "1,000 accesses a thread, as in Stuart and Owens 2011",
            grids: vec![
                grid("Fermi of the paper", 16 * BLOCKS_A_PROCESSOR),
                grid("Tesla of the paper", 30 * BLOCKS_A_PROCESSOR),
                grid("a block a multiprocessor", processors),
                grid(
                    "eight blocks a multiprocessor",
                    BLOCKS_A_PROCESSOR * processors,
                ),
            ],
            accesses: 1000,
            bytes: vec![4 << 20, 32 << 20, 64 << 20, 1 << 30],
            // As many threads as fit on a multiprocessor of 2,048.
            random: (16 * processors, 128, 64),
            for_bounds: false,
            meetings: [1, 2, 4, 8].map(|n| n * processors).to_vec(),
            meeting_threads: 128,
            locking: vec![1, processors, 4 * processors],
            sections: 1 << 16,
            entering: [1, 4].map(|n| n * processors).to_vec(),
            counts: vec![1, 2, 10, 120],
            times: 5,
        }
    }

    fn cpu(cores: u32) -> Self {
        Self {
            note: "on the CPU: a block of one thread a core, 4,000,000 accesses each, as threads \
                   take long to start; random accesses over at most 64 MiB; no accesses of 128 bits",
            grids: vec![Grid {
                why: "a block a core",
                blocks: cores,
                threads: 1,
            }],
            accesses: 4_000_000,
            bytes: vec![4 << 20, 32 << 20, 64 << 20],
            random: (cores, 1, 1 << 20),
            for_bounds: false,
            meetings: vec![cores, 4 * cores],
            meeting_threads: 1,
            locking: vec![1, cores],
            sections: 250_000,
            entering: vec![cores],
            counts: vec![1, 120],
            times: 3,
        }
    }
}
