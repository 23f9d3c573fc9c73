//! Measures the cost of a 64-bit payload: transfers between accounts in cells,
//! with the same transactions. It prints the median times of
//!
//! 1. cells of 32-bit accounts;
//! 2. cells of 64-bit accounts, with atomics of 64 bits (version, fence, value);
//! 3. the same with atomics of 128 bits, where the device has them.
//!
//! It runs on the first GPU, else on the CPU. Each run is checked: every transaction has committed,
//! and every account has the value that a replay leaves.
//!
//!     cargo bench -p stm-kernels --bench wide_cells
//!     cargo bench -p stm-kernels --bench wide_cells -- ACCOUNTS TRANSACTIONS BLOCKS THREADS

use std::time::Duration;
use stm_core::algorithm::Fast;
use stm_core::host::{Cpu, Cuda, Device, Launch, Pod, Stm, StmConfig};
use stm_core::{Element, Kernel};
use stm_kernels::cells::{TransferParams, Transfers, transfer};

/// The number of timed runs of each; one untimed run comes before.
const REPEAT: usize = 7;
/// The seed of the transactions.
const SEED: u64 = 1;

#[derive(Clone, Copy)]
struct Work {
    accounts: u32,
    transactions: u64,
    shape: (u32, u32),
}

/// Returns the accounts after all transactions, from zeros.
fn replay(work: Work) -> Vec<u64> {
    let mut accounts = vec![0u64; work.accounts as usize];
    for i in 0..work.transactions {
        let (from, to, amount) = transfer(SEED, i, work.accounts);
        for (account, change) in [(from, amount.wrapping_neg()), (to, amount)] {
            let account = &mut accounts[account as usize];
            *account = account.wrapping_add(change);
        }
    }
    accounts
}

fn measure<D: Device, T: Element + Pod>(device: &D, work: Work, expected: &[u64]) -> Duration
where
    Transfers<Fast, T>: Kernel<Params = TransferParams<Fast, T>>,
{
    let launch = Launch::new(work.shape.0, work.shape.1);
    let mut stm = Stm::new(device, launch, StmConfig::default()).expect("metadata");
    let zeros = vec![T::from_bits64(0); work.accounts as usize];
    let mut accounts = stm.array("the accounts", &zeros).expect("the accounts");
    let mut times = Vec::new();
    for _ in 0..=REPEAT {
        accounts.upload(&zeros).expect("the accounts");
        let params = TransferParams {
            stm: stm.handle::<Fast>(),
            accounts: accounts.view::<Fast>(),
            transactions: work.transactions,
            seed: SEED,
        };
        // SAFETY: the parameters hold this memory's handle and a view of an
        // array that lives on, and nothing else uses them.
        let (time, done) = unsafe { stm.launch::<Transfers<Fast, T>>(&params) }.expect("a launch");
        assert_eq!(done.commits, work.transactions);
        let found = accounts.download().expect("the accounts");
        // The comparison is in as many bits as an account has.
        let right = expected.iter().map(|&v| T::from_bits64(v).to_bits64());
        assert!(
            found.iter().map(|v| v.to_bits64()).eq(right),
            "an account is not what a replay leaves"
        );
        times.push(time);
    }
    times.remove(0);
    times.sort();
    times[times.len() / 2]
}

/// Measures all cases on a device; `narrow` is the same device without atomics of 128 bits.
fn all<D: Device>(device: &D, narrow: &D, work: Work) {
    println!(
        "{}: {} accounts, {} transfers, {} x {} threads, median of {REPEAT}",
        device.name(),
        work.accounts,
        work.transactions,
        work.shape.0,
        work.shape.1
    );
    let expected = replay(work);
    let narrow = measure::<D, u64>(narrow, work, &expected);
    let mut rows = vec![
        ("32-bit cells", measure::<D, u32>(device, work, &expected)),
        ("64-bit cells, atomics of 64 bits", narrow),
    ];
    if device.atomics_bits() == 128 {
        let wide = measure::<D, u64>(device, work, &expected);
        rows.push(("64-bit cells, atomics of 128 bits", wide));
    }
    let slow = rows[1].1.as_secs_f64();
    for (name, time) in rows {
        let seconds = time.as_secs_f64();
        let rate = work.transactions as f64 / seconds / 1e6;
        println!("{name:<36}{rate:10.2} M tx/s{:8.2}x", slow / seconds);
    }
}

fn main() {
    // Cargo adds `--bench`.
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse::<u64>().ok());
    let mut number = |default| numbers.next().unwrap_or(default);
    let mut work = |transactions, (blocks, threads)| Work {
        accounts: number(1 << 20) as u32,
        transactions: number(transactions),
        shape: (number(blocks) as u32, number(threads) as u32),
    };
    match Cuda::new(0) {
        Ok(gpu) => all(&gpu, &gpu.without_wide_atomics(), work(4 << 20, (264, 128))),
        Err(error) => {
            println!("no GPU can be used, so this runs on the CPU: {error}");
            let cpu = Cpu::new();
            all(&cpu, &cpu, work(64 << 10, (2, 1)));
        }
    }
}
