//! Runs transfers on one transactional memory until versions would have run out
//! many times, and checks the total after every launch.
//!
//! The transfers are between a million accounts: in cells of 32 bits, in cells of
//! 64 bits, or in rows of sums. A launch runs as many transactions as `chunk`
//! says, all launches use one `Stm` and the same accounts, and after each one the
//! number of commits and the sum of all accounts must be exact. The output is one
//! JSON object for each report and one at the end.
//!
//! It runs on the first GPU, else on the CPU.
//!
//!     cargo bench -p stm-kernels --bench endurance -- KIND TOTAL CHUNK FIRST BLOCKS THREADS
//!     cargo bench -p stm-kernels --bench endurance -- 32 1000000000000 1000000000
//!
//! `KIND` is `32`, `64` or `sums`; the first launch runs `FIRST` transactions,
//! or as many as the others.

use std::time::Instant;
use stm_core::algorithm::{Algorithm as _, Fast};
use stm_core::host::{
    Buffer, Cpu, Cuda, Device, Launch, Pod, Statistics, Stm, StmConfig, Sums, TxArray,
};
use stm_core::{Element, Kernel, View};
use stm_kernels::bank::{BankAdds, BankAddsParams, BankPlan, FINDINGS};
use stm_kernels::cells::{TransferParams, Transfers};

type Algorithm = Fast;

/// The number of accounts.
const ACCOUNTS: u32 = 1 << 20;
/// The binary logarithm of the accounts of a row of sums.
const ROW_LOG2: u32 = 4;
/// The least number of seconds between two reports.
const REPORT_S: f64 = 10.0;

/// The work of the threads.
#[derive(Clone, Copy)]
struct Work {
    total: u64,
    chunk: u64,
    first: u64,
    shape: (u32, u32),
}

/// Accounts with a kernel that runs transfers between them.
trait Bank<D: Device>: Sized {
    fn new(device: &D, work: Work) -> Self;
    /// Runs `n` transfers and returns the seconds that the kernel took.
    fn run(&mut self, n: u64, seed: u64) -> (f64, Statistics);
    /// Returns the sum of all accounts, which wraps.
    fn sum(&self) -> u64;
}

fn memory<D: Device>(device: &D, work: Work) -> Stm<D> {
    let config = StmConfig {
        time_limit: None,
        ..StmConfig::default()
    };
    Stm::new(device, Launch::new(work.shape.0, work.shape.1), config).expect("the metadata")
}

struct Cells<D: Device, T> {
    stm: Stm<D>,
    accounts: TxArray<D, T>,
}

impl<D: Device, T: Element + Pod> Bank<D> for Cells<D, T>
where
    Transfers<Algorithm, T>: Kernel<Params = TransferParams<Algorithm, T>>,
{
    fn new(device: &D, work: Work) -> Self {
        let layout = <<Algorithm as stm_core::algorithm::Algorithm>::Array<T> as View<T>>::LAYOUT;
        Self {
            stm: memory(device, work),
            accounts: TxArray::zeroed(device, layout, ACCOUNTS as usize, "the accounts")
                .expect("the accounts"),
        }
    }

    fn run(&mut self, n: u64, seed: u64) -> (f64, Statistics) {
        let params = TransferParams {
            stm: self.stm.handle::<Algorithm>(),
            accounts: self.accounts.view::<Algorithm>(),
            transactions: n,
            seed,
        };
        // SAFETY: the parameters hold this memory's handle and a view of an array
        // that lives on, and nothing else uses them.
        let (time, done) =
            unsafe { self.stm.launch::<Transfers<Algorithm, T>>(&params) }.expect("a launch");
        (time.as_secs_f64(), done)
    }

    fn sum(&self) -> u64 {
        let accounts = self.accounts.download().expect("the accounts");
        let bits = if T::WIDE { 64 } else { 32 };
        let sum = accounts
            .iter()
            .fold(0u64, |sum, account| sum.wrapping_add(account.to_bits64()));
        sum << (64 - bits)
    }
}

struct Rows<D: Device> {
    stm: Stm<D>,
    accounts: Sums<D, i32>,
    nothing: Buffer<D, i32>,
    tables: Buffer<D, u64>,
    findings: Buffer<D, u64>,
}

impl<D: Device> Bank<D> for Rows<D> {
    fn new(device: &D, work: Work) -> Self {
        let rows = (ACCOUNTS >> ROW_LOG2) as usize;
        Self {
            stm: memory(device, work),
            accounts: Sums::zeroed(device, rows, 1 << ROW_LOG2, "the accounts")
                .expect("the accounts"),
            nothing: Buffer::zeroed(device, 1, "the sums of ranges").expect("a buffer"),
            tables: Buffer::zeroed(device, 1, "the tables").expect("a buffer"),
            findings: Buffer::zeroed(device, FINDINGS, "the findings").expect("a buffer"),
        }
    }

    fn run(&mut self, n: u64, seed: u64) -> (f64, Statistics) {
        let params = BankAddsParams {
            stm: self.stm.handle::<Algorithm>(),
            accounts: self.accounts.view(),
            row_log2: ROW_LOG2,
            sums: self.nothing.tarray(),
            tables: self.tables.tarray(),
            findings: self.findings.tarray(),
            transactions: n,
            plan: BankPlan::new(seed, ACCOUNTS, ACCOUNTS, 0, true),
        };
        // SAFETY: as above.
        let (time, done) =
            unsafe { self.stm.launch::<BankAdds<Algorithm>>(&params) }.expect("a launch");
        (time.as_secs_f64(), done)
    }

    fn sum(&self) -> u64 {
        let accounts = self.accounts.download().expect("the accounts");
        let sum = accounts
            .iter()
            .fold(0i32, |sum, &account| sum.wrapping_add(account));
        u64::from(sum as u32)
    }
}

fn endure<D: Device, B: Bank<D>>(device: &D, kind: &str, work: Work) {
    let mut bank = B::new(device, work);
    let started = Instant::now();
    let (mut done, mut launches, mut seconds) = (0, 0u64, 0.0);
    let (mut aborts, mut reported, mut longest) = (0, 0.0, 0f64);
    while done < work.total {
        let n = if launches == 0 {
            work.first
        } else {
            work.chunk
        };
        let n = n.min(work.total - done);
        let (time, statistics) = bank.run(n, launches);
        assert_eq!(statistics.commits, n, "launch {launches}");
        assert_eq!(bank.sum(), 0, "the total after launch {launches}");
        done += n;
        launches += 1;
        seconds += time;
        longest = longest.max(time);
        aborts += statistics.aborted();
        let elapsed = started.elapsed().as_secs_f64();
        if elapsed - reported >= REPORT_S || done == work.total {
            reported = elapsed;
            println!(
                "{{\"device\": \"{}\", \"algorithm\": \"{}\", \"accounts\": \"{kind}\", \
                 \"blocks\": {}, \"threads\": {}, \"launches\": {launches}, \
                 \"transactions\": {done}, \"aborts\": {aborts}, \
                 \"kernel_s\": {seconds:.3}, \"longest_launch_s\": {longest:.3}, \"elapsed_s\": {elapsed:.1}, \
                 \"tx_per_s\": {:.0}, \"totals_checked\": {launches}, \"wrong_totals\": 0}}",
                device.name(),
                Algorithm::NAME,
                work.shape.0,
                work.shape.1,
                done as f64 / seconds,
            );
        }
    }
}

fn all<D: Device>(device: &D, kind: &str, work: Work) {
    match kind {
        "32" => endure::<D, Cells<D, u32>>(device, kind, work),
        "64" => endure::<D, Cells<D, u64>>(device, kind, work),
        "sums" => endure::<D, Rows<D>>(device, kind, work),
        other => panic!("KIND is 32, 64 or sums and not {other}"),
    }
}

fn main() {
    // Cargo adds `--bench`.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let kind = words.first().map_or("32", String::as_str);
    let number = |k: usize, default: u64| {
        words
            .get(k)
            .map_or(default, |word| word.parse().expect("a whole number"))
    };
    let work = |total, chunk, (blocks, threads)| Work {
        total: number(1, total),
        chunk: number(2, chunk),
        first: number(3, number(2, chunk)),
        shape: (number(4, blocks) as u32, number(5, threads) as u32),
    };
    match Cuda::new(0) {
        Ok(gpu) => all(&gpu, kind, work(10_000_000_000, 1_000_000_000, (264, 128))),
        Err(error) => {
            eprintln!("no GPU can be used, so this runs on the CPU: {error}");
            all(&Cpu::new(), kind, work(400_000, 100_000, (2, 1)));
        }
    }
}
