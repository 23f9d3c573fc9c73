//! Launches the kernel and checks that no number was drawn twice.

use counter::draw;
use stm_core::host::Error;
use stm_core::prelude::*;

const NUMBERS: usize = 10_000;

fn run<D: Device>(device: &D) -> Result<(), Error> {
    let mut stm = Stm::on(device)?;
    let counter = stm.array("counter", &[0u32])?;
    let mut drawn = Buffer::zeroed(device, NUMBERS, "drawn")?;

    let done = draw::launch(&mut stm, Launch::new(4, 32), &counter, &mut drawn)?;

    let mut drawn = drawn.download()?;
    drawn.sort_unstable();
    assert!(drawn.into_iter().eq(0..NUMBERS as u32));
    println!("{}: {} commits in {:?}", device.name(), done.commits, done.time);
    Ok(())
}

fn main() -> Result<(), Error> {
    let gpu = Cuda::new(0).inspect_err(|why| println!("on the CPU, as {why}"));
    gpu.map_or_else(|_| run(&Cpu::new()), |gpu| run(&gpu))
}
