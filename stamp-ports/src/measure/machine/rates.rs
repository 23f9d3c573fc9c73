//! The rates of random accesses.

use super::document::Rate;
use super::sizes::Sizes;
use super::{median, net};
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::numbers::bytes as in_bytes;
use stm_core::host::{Buffer, Device, Launch};
use stm_core::observe::Observation;
use stm_kernels::machine::{Operation, RandomAccesses, RandomAccessesParams, Width};

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
pub(super) fn measure(
    device: &AnyDevice,
    sizes: &Sizes,
    say: &impl Fn(String),
) -> Result<Vec<Rate>> {
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
