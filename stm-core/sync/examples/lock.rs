//! A counter behind a lock, without transactions: `cargo run --example lock --features host`.

use std::time::Duration;
use stm_machine::host::{Buffer, Cpu, Error, Launch, Watchdog};
use stm_machine::{Lane, TArray, kernel};
use stm_sync::host::Locks;
use stm_sync::{TLocks, Ticket};

/// Adds 1 to the first word, `times` times in each thread.
#[kernel]
pub fn count<L: Lane>(lane: &L, locks: &TLocks<Ticket>, words: &TArray<u32>, times: u64) {
    let Some(word) = words.get(0) else { return };
    for _ in 0..times {
        let done = locks.with(lane, 0, || {
            // SAFETY: the word is live, and lock 0 protects it.
            unsafe { lane.store_relaxed_32(word, lane.load_relaxed_32(word) + 1) };
        });
        // A fault is recorded, and `check` reports it.
        if done.is_err() {
            return;
        }
    }
}

fn main() -> Result<(), Error> {
    let device = Cpu::new();
    let mut watchdog = Watchdog::new(&device, Some(Duration::from_secs(10)))?;
    let locks = Locks::<_, Ticket>::new(&device, 1, 8, "the lock")?;
    let words = Buffer::zeroed(&device, 1, "the words")?;
    let time = count::launch(
        &device,
        &mut watchdog,
        Launch::new(4, 2),
        &locks,
        &words,
        1_000,
    )?;
    locks.check()?;
    assert_eq!(words.download()?, [8_000u32]);
    println!("8 threads counted to 8000 behind one lock in {time:?}");
    Ok(())
}
