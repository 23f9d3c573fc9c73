//! Pays and audits, and checks that no money was made or lost.

use bank::{Order, pay, pay_and_audit};
use stm_core::host::{Error, StmConfig};
use stm_core::prelude::*;

const ACCOUNTS: u32 = 256;
const START: u32 = 1_000;

/// Draws orders by a linear congruential generator.
fn orders(count: u64) -> Vec<u64> {
    let mut state = 1_u64;
    let mut next = |below: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(below)) as u32
    };
    let order = |_| {
        let (from, to, amount) = (next(ACCOUNTS), next(ACCOUNTS), next(100) as u16);
        Order { from, to, amount }.packed()
    };
    (0..count).map(order).collect()
}

fn run<D: Device>(device: &D) -> Result<(), Error> {
    // An audit reads all accounts, so the sets need room for them.
    let mut config = StmConfig::default();
    config.capacity.reads = ACCOUNTS;
    let mut stm = Stm::with(device, config)?;
    let accounts = stm.array("accounts", &[START; ACCOUNTS as usize])?;
    let orders = orders(20_000);
    let input = Buffer::from_slice(device, &orders, "orders")?;
    let mut totals = Buffer::zeroed(device, orders.len(), "totals")?;

    let done = pay::launch(&mut stm, Launch::new(4, 32), &accounts, &input)?;
    let (name, commits, time) = (device.name(), done.commits, done.time);
    println!("{name}: {commits} payments in {time:?}");
    let done = pay_and_audit::launch(&mut stm, Launch::new(4, 32), &accounts, &input, &mut totals)?;
    let (commits, aborts) = (done.commits, done.aborted());
    println!("with audits: {commits} commits, {aborts} aborts");

    assert_eq!(accounts.download()?.iter().sum::<u32>(), START * ACCOUNTS);
    for (i, total) in totals.download()?.into_iter().enumerate() {
        let expected = if i % 64 == 0 { START * ACCOUNTS } else { 0 };
        assert_eq!(total, expected, "audit {i}");
    }
    println!("every audit found {}", START * ACCOUNTS);
    Ok(())
}

fn main() -> Result<(), Error> {
    let gpu = Cuda::new(0).inspect_err(|why| println!("on the CPU, as {why}"));
    gpu.map_or_else(|_| run(&Cpu::new()), |gpu| run(&gpu))
}
