//! Memories of accounts that live as long as a session, between which transfers go on.

use crate::prelude::*;
use stm_core::Element;
use stm_core::algorithm::Fast;
use stm_core::host::{Pod, Sums};
use stm_kernels::bank::{BankAdds, BankPlan, BankWork, FINDINGS, Rows};
use stm_kernels::cells::{self, TransferParams};
use stm_kernels::rows::Transactional;

/// The binary logarithm of the accounts of a row of sums.
const ROW_LOG2: u32 = 4;

/// Accounts, and the memory by which they change: makes so many transfers, drawn from a seed, and adds up all
/// accounts.
pub(super) type Transfers = Box<dyn FnMut(u64, u64) -> host::Result<(Statistics, u64)>>;

fn accounts(device: &AnyDevice) -> u32 {
    device.kind().either(1 << 14, 1 << 20)
}

/// The sum of accounts, in a number that wraps as they do.
fn sum<T: Element>(accounts: &[T]) -> u64 {
    let add = |sum: u64, account: &T| sum.wrapping_add(account.to_bits64());
    let unused = 64 - 8 * size_of::<T>();
    accounts.iter().fold(0, add) << unused >> unused
}

fn cells<T: Element + Pod>(device: &AnyDevice, mut stm: Stm<AnyDevice>) -> host::Result<Transfers>
where
    cells::Transfers<Fast, T>: Kernel<Params = TransferParams<Fast, T>>,
{
    let layout = <<Fast as Algorithm>::Array<T> as View<T>>::LAYOUT;
    let count = accounts(device) as usize;
    let accounts = TxArray::zeroed(device, layout, count, "the accounts")?;
    Ok(Box::new(move |transactions, seed| {
        let params = TransferParams {
            stm: stm.handle::<Fast>(),
            accounts: accounts.try_view::<Fast>()?,
            transactions,
            seed,
        };
        // SAFETY: the parameters hold this memory's handle and a view of an array that lives on, and
        // nothing else uses them.
        let (_, done) = unsafe { stm.launch::<cells::Transfers<Fast, T>>(&params) }?;
        Ok((done, sum(&accounts.download()?)))
    }))
}

/// Accounts in rows of sums, which are added to.
fn rows(device: &AnyDevice, mut stm: Stm<AnyDevice>) -> host::Result<Transfers> {
    let count = accounts(device);
    let rows = (count >> ROW_LOG2) as usize;
    let accounts = Sums::zeroed(device, rows, 1 << ROW_LOG2, "the accounts")?;
    let nothing = Buffer::zeroed(device, 1, "the sums of ranges")?;
    let tables = Buffer::zeroed(device, 1, "the tables")?;
    let findings = Buffer::zeroed(device, FINDINGS, "the findings")?;
    Ok(Box::new(move |transactions, seed| {
        let work = BankWork {
            accounts: Rows {
                sums: accounts.view(),
                row_log2: ROW_LOG2,
            },
            sums: nothing.tarray(),
            tables: tables.tarray(),
            findings: findings.tarray(),
            transactions,
            plan: BankPlan::new(seed, count, count, 0, true),
        };
        let stm_ref = stm.handle::<Fast>();
        let params = Transactional { stm: stm_ref, work };
        // SAFETY: as in `cells`; the buffers live on, too.
        let (_, done) = unsafe { stm.launch::<BankAdds<Fast>>(&params) }?;
        Ok((done, sum(&accounts.download()?)))
    }))
}

/// Makes all of them, each with the number of its launches so far.
pub(super) fn transfers(device: &AnyDevice) -> host::Result<Vec<(u64, Transfers)>> {
    let (kind, p) = (device.kind(), device.limits().processors);
    let (blocks, threads) = kind.either((2, 1), (2 * p, 128));
    let config = StmConfig {
        time_limit: None,
        ..StmConfig::default()
    };
    let made = [cells::<u32>, cells::<u64>, rows].into_iter().map(|make| {
        let stm = Stm::new(device, Launch::new(blocks, threads), config)?;
        Ok((0, make(device, stm)?))
    });
    made.collect()
}
