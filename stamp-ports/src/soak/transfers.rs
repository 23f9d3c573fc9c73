//! Transfers between accounts on one memory that lives as long as a session, so that versions may
//! run out: after each launch the number of commits and the sum of all accounts must be exact.

use crate::devices::{AnyDevice, DeviceKind};
use stm_core::algorithm::{Algorithm, Fast};
use stm_core::host::{self, Buffer, Device, Launch, Pod, Statistics, Stm, StmConfig};
use stm_core::host::{Sums, TxArray};
use stm_core::{Element, Kernel, View};
use stm_kernels::bank::{BankAdds, BankAddsParams, BankPlan, FINDINGS};
use stm_kernels::cells::{self, TransferParams};

/// The binary logarithm of the accounts of a row of sums.
const ROW_LOG2: u32 = 4;

/// Where the accounts are.
enum Accounts {
    /// Cells of 32 bits.
    Narrow(TxArray<AnyDevice, u32>),
    /// Cells of 64 bits.
    Wide(TxArray<AnyDevice, u64>),
    /// Rows of sums, which are added to, and what the kernel takes beside them.
    Rows {
        accounts: Sums<AnyDevice, i32>,
        nothing: Buffer<AnyDevice, i32>,
        tables: Buffer<AnyDevice, u64>,
        findings: Buffer<AnyDevice, u64>,
    },
}

/// Accounts, and the memory by which they change.
pub(super) struct Transfers {
    stm: Stm<AnyDevice>,
    accounts: Accounts,
    /// The number of accounts.
    count: u32,
    launches: u64,
}

/// The number of accounts.
const fn count(kind: DeviceKind) -> u32 {
    match kind {
        DeviceKind::Cpu => 1 << 14,
        DeviceKind::Cuda => 1 << 20,
    }
}

/// Makes accounts of a type.
fn cells<T: Element + Pod>(device: &AnyDevice) -> Result<TxArray<AnyDevice, T>, host::Error> {
    let layout = <<Fast as Algorithm>::Array<T> as View<T>>::LAYOUT;
    TxArray::zeroed(
        device,
        layout,
        count(device.kind()) as usize,
        "the accounts",
    )
}

/// Runs transfers between accounts of a type.
fn run_cells<T: Element + Pod>(
    stm: &mut Stm<AnyDevice>,
    accounts: &TxArray<AnyDevice, T>,
    transactions: u64,
    seed: u64,
) -> Result<Statistics, host::Error>
where
    cells::Transfers<Fast, T>: Kernel<Params = TransferParams<Fast, T>>,
{
    let params = TransferParams {
        stm: stm.handle::<Fast>(),
        accounts: accounts.try_view::<Fast>()?,
        transactions,
        seed,
    };
    // SAFETY: the parameters hold this memory's handle and a view of an array that lives on, and
    // nothing else uses them.
    unsafe { stm.launch::<cells::Transfers<Fast, T>>(&params) }.map(|(_, done)| done)
}

impl Transfers {
    /// Makes accounts of each kind.
    ///
    /// # Errors
    /// The device's errors.
    pub(super) fn all(device: &AnyDevice) -> Result<Vec<Self>, host::Error> {
        let (blocks, threads) = match device.kind() {
            DeviceKind::Cpu => (2, 1),
            DeviceKind::Cuda => (2 * device.limits().processors, 128),
        };
        let config = StmConfig {
            time_limit: None,
            ..StmConfig::default()
        };
        let rows = (count(device.kind()) >> ROW_LOG2) as usize;
        let kinds = [
            Accounts::Narrow(cells(device)?),
            Accounts::Wide(cells(device)?),
            Accounts::Rows {
                accounts: Sums::zeroed(device, rows, 1 << ROW_LOG2, "the accounts")?,
                nothing: Buffer::zeroed(device, 1, "the sums of ranges")?,
                tables: Buffer::zeroed(device, 1, "the tables")?,
                findings: Buffer::zeroed(device, FINDINGS, "the findings")?,
            },
        ];
        let with_memory = |accounts| {
            Ok(Self {
                stm: Stm::new(device, Launch::new(blocks, threads), config)?,
                accounts,
                count: count(device.kind()),
                launches: 0,
            })
        };
        kinds.into_iter().map(with_memory).collect()
    }

    /// Runs so many transfers, and returns what is wrong thereafter, if anything.
    pub(super) fn run(&mut self, transactions: u64) -> Result<Statistics, String> {
        let launch = self.launches;
        let told = |error: host::Error| format!("launch {launch} of transfers: {error}");
        let done = self.launch(transactions).map_err(told)?;
        self.launches += 1;
        let sum = self.sum().map_err(told)?;
        if (done.commits, sum) != (transactions, 0) {
            return Err(format!(
                "launch {launch} of transfers: {} of {transactions} committed, and the accounts add \
                 up to {sum}, and not to 0",
                done.commits
            ));
        }
        Ok(done)
    }

    fn launch(&mut self, transactions: u64) -> Result<Statistics, host::Error> {
        let (stm, seed, count) = (&mut self.stm, self.launches, self.count);
        match &self.accounts {
            Accounts::Narrow(accounts) => run_cells(stm, accounts, transactions, seed),
            Accounts::Wide(accounts) => run_cells(stm, accounts, transactions, seed),
            Accounts::Rows {
                accounts,
                nothing,
                tables,
                findings,
            } => {
                let params = BankAddsParams {
                    stm: stm.handle::<Fast>(),
                    accounts: accounts.view(),
                    row_log2: ROW_LOG2,
                    sums: nothing.tarray(),
                    tables: tables.tarray(),
                    findings: findings.tarray(),
                    transactions,
                    plan: BankPlan::new(seed, count, count, 0, true),
                };
                // SAFETY: as in `run_cells`.
                unsafe { stm.launch::<BankAdds<Fast>>(&params) }.map(|(_, done)| done)
            }
        }
    }

    /// Returns the sum of all accounts, which wraps as they do.
    fn sum(&self) -> Result<u64, host::Error> {
        Ok(match &self.accounts {
            Accounts::Narrow(accounts) => {
                let all = accounts.download()?.into_iter();
                all.fold(0, u32::wrapping_add).into()
            }
            Accounts::Wide(accounts) => accounts.download()?.into_iter().fold(0, u64::wrapping_add),
            Accounts::Rows { accounts, .. } => {
                let all = accounts.download()?.into_iter();
                u64::from(all.fold(0, i32::wrapping_add) as u32)
            }
        })
    }
}
