//! The twelve memory benchmarks of Stuart and Owens 2011 (section 3).

use super::abstraction::{Benchmarks, Column, Pair};
use super::document::GridTimes;
use super::sizes::{Grid, Sizes};
use super::{median, net};
use crate::devices::AnyDevice;
use crate::error::Result;
use std::time::Duration;
use stm_core::host::{Buffer, Device, Launch};
use stm_core::observe::Observation;
use stm_kernels::machine::{Accesses, AccessesParams, Operation};

/// The words of 256 bytes, which each thread has for its own without contention.
const STRIDE: u32 = 64;

/// Measures all grids.
pub(super) fn measure(
    device: &AnyDevice,
    sizes: &Sizes,
    say: &impl Fn(String),
) -> Result<Vec<GridTimes>> {
    say("compiling the memory benchmarks".into());
    device.prepare::<Accesses>(Observation::Silent)?;
    let grids = sizes.grids.iter().map(|grid| {
        say(format!("memory benchmarks of {} blocks", grid.blocks));
        of_grid(device, sizes, grid)
    });
    grids.collect()
}

fn of_grid(device: &AnyDevice, sizes: &Sizes, grid: &Grid) -> Result<GridTimes> {
    let blocks = grid.blocks as usize;
    let words = Buffer::zeroed(device, blocks * STRIDE as usize, "the words accessed")?;
    let results = Buffer::zeroed(device, blocks, "the results of accesses")?;
    let launch = Launch::new(grid.blocks, grid.threads);
    let time = |operation, after_atomic, stride, accesses| {
        let params = AccessesParams {
            words: words.tarray(),
            results: results.tarray(),
            accesses,
            stride,
            operation,
            after_atomic,
            zero: 0,
        };
        median(sizes.times, || {
            // SAFETY: the buffers live until the launch has ended, and have a word for each
            // block at this stride.
            unsafe { device.launch::<Accesses>(&launch, &params) }
        })
    };
    let empty: Duration = time(Operation::Load, false, STRIDE, 0)?;
    let pair = |operation, after_atomic| -> Result<Pair> {
        let of = |stride| time(operation, after_atomic, stride, sizes.accesses);
        Ok(Pair {
            contended: net(of(0)?, empty),
            uncontended: net(of(STRIDE)?, empty),
        })
    };
    let column = |volatile, atomic| -> Result<Column> {
        Ok(Column {
            volatile: pair(volatile, false)?,
            atomic: pair(atomic, false)?,
            after_atomic: pair(volatile, true)?,
        })
    };
    Ok(GridTimes {
        why: grid.why.into(),
        threads: grid.threads,
        accesses: sizes.accesses,
        times_ns: Benchmarks {
            blocks: grid.blocks,
            reads: column(Operation::Load, Operation::Add)?,
            writes: column(Operation::Store, Operation::Swap)?,
        },
    })
}
