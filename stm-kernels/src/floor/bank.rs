//! The bank without transactions; [`crate::bank`] describes what a transaction
//! does.
//!
//! The amount of a transfer does not depend on balances, so [`Additions`]
//! leaves every account as transactions do, and the same replay verifies it.
//! Its audits are plain loads and see sums that never existed; the findings
//! count them, and the driver reports them.

use super::{at, first, for_each};
use crate::bank::{BATCH, BankPlan, BankTransaction, CHECKS, FINDINGS, WRONG_SUMS};
use stm_core::kernel_alone;
use stm_core::{Lane, TArray};

/// The floor of the bank: its accesses without synchronisation.
#[derive(Clone, Copy, Debug)]
pub struct Floor;

/// The rival of the bank: two atomic additions for each transfer.
#[derive(Clone, Copy, Debug)]
pub struct Additions;

/// The parameters of both kernels; the arrays are those of
/// [`BankParams`](crate::bank::BankParams).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The balances; as many as the plan has accounts.
    pub accounts: TArray<i32>,
    /// The sum of each range (wrapping); constant.
    pub sums: TArray<i32>,
    /// The alias tables, empty if draws are uniform; constant.
    pub tables: TArray<u64>,
    /// The findings of the audits.
    pub findings: TArray<u64>,
    /// The number of accounts of the plan.
    pub accounts_drawn: u32,
    /// Transactions of the launch.
    pub transactions: u64,
    /// The plan of the transactions.
    pub plan: BankPlan,
}

/// Runs all transactions; a transfer calls `transfer` with the addresses of two
/// balances and the amount.
#[inline(always)]
fn run<L: Lane>(lane: &L, p: &Params, transfer: impl Fn(*mut u32, *mut u32, u32)) {
    let plan = p.plan;
    let (Some(accounts), Some(sums), Some(findings)) = (
        first(&p.accounts, u64::from(p.accounts_drawn)),
        first(&p.sums, u64::from(plan.ranges())),
        first(&p.findings, FINDINGS as u64),
    ) else {
        return;
    };
    let accounts = accounts.cast::<u32>();
    let table = |entry| {
        p.tables.get(entry).map_or(0, |entry| {
            // SAFETY: in range of a live array that nothing writes.
            unsafe { lane.load_relaxed_64(entry) }
        })
    };
    for_each(lane, p.transactions, |i| {
        let range = match plan.transaction(i, table) {
            BankTransaction::Transfer { from, to, amount } => {
                return transfer(at(accounts, from), at(accounts, to), amount as u32);
            }
            BankTransaction::Audit { range } => range,
        };
        let (start, len) = (plan.start(range), plan.len(range));
        let mut sum = 0u32;
        let mut k = 0;
        while k < len {
            // The last batch repeats the last account to its end.
            let balances: [u32; BATCH] = core::array::from_fn(|j| {
                let account = start + (k + j as u32).min(len - 1);
                // SAFETY: ranges are of the plan's accounts, which the array
                // has (`first`).
                unsafe { lane.load_relaxed_32(at(accounts, account)) }
            });
            for balance in balances {
                if k < len {
                    sum = sum.wrapping_add(balance);
                }
                k += 1;
            }
        }
        // SAFETY: the sums have the range, the findings both counters
        // (`first`). Relaxed: the host reads the counters after the launch.
        unsafe {
            lane.add_relaxed_64(findings.wrapping_add(CHECKS as usize), 1);
            if lane.load_relaxed_32(at(sums, range).cast()) != sum {
                lane.add_relaxed_64(findings.wrapping_add(WRONG_SUMS as usize), 1);
            }
        }
    });
}

impl Floor {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &Params) {
        run(lane, p, |from, to, amount| {
            // SAFETY: `run` gives addresses of balances that the array has.
            unsafe {
                let (taken, given) = (lane.load_relaxed_32(from), lane.load_relaxed_32(to));
                lane.store_relaxed_32(from, taken.wrapping_sub(amount));
                lane.store_relaxed_32(to, given.wrapping_add(amount));
            }
        });
    }
}

impl Additions {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &Params) {
        run(lane, p, |from, to, amount| {
            // SAFETY: `run` gives addresses of balances that the array has.
            // Relaxed: the host reads after the launch.
            unsafe {
                lane.fetch_add_relaxed_32(from, amount.wrapping_neg());
                lane.fetch_add_relaxed_32(to, amount);
            }
        });
    }
}

kernel_alone!(Floor, Params, "floor_bank", "bank" / "floor");
kernel_alone!(Additions, Params, "rival_bank", "bank" / "atomic-adds");
