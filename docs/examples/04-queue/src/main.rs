//! Passes values through the queue, and checks that each came out once.

use queue::pass_on;
use stm_core::host::Error;
use stm_core::prelude::*;

const TRANSACTIONS: usize = 10_000;
const PLACES: usize = 8;

fn run<D: Device>(device: &D) -> Result<(), Error> {
    let mut stm = Stm::on(device)?;
    let counts = stm.array("the counts", &[0u32; 2])?;
    let ring = stm.array("the ring", &[0u32; PLACES])?;
    let mut values = Buffer::zeroed(device, TRANSACTIONS, "the values")?;

    let done = pass_on::launch(&mut stm, Launch::new(4, 8), &counts, &ring, &mut values)?;

    let values = values.download()?;
    let mut taken: Vec<u32> = values.into_iter().skip(1).step_by(2).collect();
    taken.sort_unstable();
    assert!(taken.into_iter().eq((0..TRANSACTIONS as u32).step_by(2)));
    let (name, commits, waits) = (device.name(), done.commits, done.waits());
    let time = done.time;
    println!("{name}: {commits} commits, {waits} waits, in {time:?}");
    Ok(())
}

fn main() -> Result<(), Error> {
    let gpu = Cuda::new(0).inspect_err(|why| println!("on the CPU, as {why}"));
    gpu.map_or_else(|_| run(&Cpu::new()), |gpu| run(&gpu))
}
