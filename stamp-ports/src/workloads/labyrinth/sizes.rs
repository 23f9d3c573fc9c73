//! The sizes of a maze that was made.

use super::input::{Claim, Labyrinth};
use crate::error::Result;
use crate::numbers::of;
use crate::workloads::workload::{Sizes, Verifies};
use serde_json::Value;
use stm_core::Capacity;
use stm_core::algorithm::Variant;
use stm_kernels::labyrinth::SHARED_BYTES;

/// The least default room for a path, in cells: in a small grid that is full,
/// the way around is long.
const PATH_ROOM_MIN: u64 = 256;

impl Sizes for Labyrinth {
    fn name(&self) -> &'static str {
        "labyrinth"
    }

    fn parameters(&self) -> Vec<(&'static str, Value)> {
        let size = self.maze.size;
        let mut parameters = vec![
            ("x", size.x.into()),
            ("y", size.y.into()),
            ("z", size.z.into()),
            ("paths", self.maze.requests.len().into()),
            ("walls", self.maze.walls.len().into()),
        ];
        if let Some(name) = &self.file {
            parameters.push(("input", name.as_str().into()));
        }
        if self.claim == Claim::Block {
            parameters.push(("claim", "block".into()));
        }
        parameters
    }

    fn summary(&self) -> String {
        let size = self.maze.size;
        format!(
            "{} x {} x {} cells, {}, {}",
            size.x,
            size.y,
            size.z,
            of(self.maze.requests.len() as u64, "path"),
            of(self.maze.walls.len() as u64, "wall")
        )
    }

    /// Room for a path of twice the longest way through an empty grid.
    fn capacity(&self) -> Capacity {
        let size = self.maze.size;
        let around = 2 * (u64::from(size.x) + u64::from(size.y) + u64::from(size.z));
        let room = around.max(PATH_ROOM_MIN).min(size.inner_cells()).max(2) as u32;
        Capacity {
            reads: room,
            writes: room,
            actions: 0,
        }
    }

    fn capacity_max(&self) -> Capacity {
        let cells = self.maze.size.inner_cells() as u32;
        Capacity {
            reads: cells,
            writes: cells,
            actions: 0,
        }
    }

    fn transactions(&self) -> Option<u64> {
        Some(self.maze.requests.len() as u64)
    }

    fn shared_bytes(&self) -> u32 {
        SHARED_BYTES
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        self.maze.size.cells()
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state(
            "each path goes from its source to its destination through cells of its own, and \
             what was left out has no path in the final grid",
        )
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        Ok(()) // a maze is checked when it is made
    }

    /// A router a block, whose threads expand the grid together; the
    /// transactions are one thread's, or with teams its warp's or the block's.
    fn gpu_shape(&self, _algorithm: Variant, processors: u32) -> Option<(u32, u32)> {
        Some((processors, 256))
    }
}
