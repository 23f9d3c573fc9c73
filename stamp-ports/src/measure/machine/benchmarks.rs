//! The twelve memory benchmarks of Stuart and Owens 2011 (section 3), and the
//! rates of random accesses.

use super::abstraction::{Benchmarks, Column, Pair};
use super::{Grid, GridTimes, Rate, Sizes, median, net};
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::numbers::bytes as in_bytes;
use std::time::Duration;
use stm_core::host::{Buffer, Device, Launch};
use stm_core::observe::Observation;
use stm_kernels::machine::{
    Accesses, AccessesParams, Operation, RandomAccesses, RandomAccessesParams, Width,
};

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

const OPERATIONS: [(Operation, &str); 4] = [
    (Operation::Load, "load"),
    (Operation::Store, "store"),
    (Operation::Add, "add"),
    (Operation::Swap, "swap"),
];

const WIDTHS: [(Width, u32); 3] = [
    (Width::Bits32, 32),
    (Width::Bits64, 64),
    (Width::Bits128, 128),
];

/// Measures all operations at all widths over all sizes that fit into half of the memory
/// that is available.
pub(super) fn rates(device: &AnyDevice, sizes: &Sizes, say: &impl Fn(String)) -> Result<Vec<Rate>> {
    say("compiling the random accesses".into());
    device.prepare::<RandomAccesses>(Observation::Silent)?;
    let (blocks, threads, accesses) = sizes.random;
    let all = blocks as usize * threads as usize;
    let results = Buffer::zeroed(device, all, "the results of accesses")?;
    let mut rates = Vec::new();
    for &bytes in &sizes.bytes {
        if bytes > device.available_bytes()? / 2 {
            continue;
        }
        let words = Buffer::zeroed(device, (bytes / 8) as usize, "the words accessed")?;
        for (operation, name) in OPERATIONS {
            for (width, bits) in WIDTHS {
                if bits == 128 && (operation == Operation::Add || device.atomics_bits() < 128) {
                    continue;
                }
                if sizes.for_bounds && (bits == 128 || operation == Operation::Add) {
                    continue;
                }
                say(format!("{name} of {bits} bits in {}", in_bytes(bytes)));
                let time = |accesses| {
                    let params = RandomAccessesParams {
                        words: words.tarray(),
                        results: results.tarray(),
                        accesses,
                        operation,
                        width,
                        zero: 0,
                    };
                    median(sizes.times, || {
                        let launch = Launch::new(blocks, threads);
                        // SAFETY: the buffers live until the launch has ended; the words
                        // are a power of two and zero.
                        unsafe { device.launch::<RandomAccesses>(&launch, &params) }
                    })
                };
                let ns = net(time(accesses)?, time(0)?);
                rates.push(Rate {
                    bytes,
                    operation: name.into(),
                    bits,
                    threads: all as u64,
                    per_s: all as f64 * f64::from(accesses) / ns * 1e9,
                });
            }
        }
    }
    Ok(rates)
}
