//! The bank without transactions; [`crate::bank`] describes what a transaction does.
//!
//! The amount of a transfer does not depend on balances, so [`Additions`] leaves every account as
//! transactions do. Its audits see sums that never existed, which the findings count and the driver reports.
//! [`CriticalSection`] audits under its lock, and one wrong sum makes its run wrong.

use super::{Guarded, at, first, for_each};
use crate::bank::{BATCH, BankPlan, BankTransaction, BankWork, CHECKS, FINDINGS, WRONG_SUMS};
use crate::prelude::*;

alone! {
    Floor(Params) = floor ["floor_bank", "bank" / "floor"];
    /// The rival of the bank: two atomic additions for each transfer.
    Additions(Params) = additions ["rival_bank", "bank" / "atomic-adds"];
    CriticalSection(Guarded<Params>) = critical_section
        ["critical_bank", "bank" / "critical-section"];
}

/// The work of the kernels. Their findings name no transaction.
type Params = BankWork<TArray<i32>>;

/// The arrays of a launch, which are as long as the plan needs.
struct Books<'a, L> {
    lane: &'a L,
    plan: BankPlan,
    accounts: *mut u32,
    sums: *mut i32,
    findings: *mut u64,
}

#[stm_core::inlined]
impl<'a, L: Lane> Books<'a, L> {
    fn open(lane: &'a L, p: &Params) -> Option<Self> {
        Some(Self {
            lane,
            plan: p.plan,
            accounts: first(&p.accounts, u64::from(p.plan.accounts))?.cast(),
            sums: first(&p.sums, u64::from(p.plan.ranges))?,
            findings: first(&p.findings, FINDINGS as u64)?,
        })
    }

    /// Calls `each` for each transaction of the calling lane, with the addresses of
    /// a transfer's two balances and its amount.
    fn for_each(&self, p: &Params, each: impl Fn(Drawn)) {
        let table = |entry| load_64(self.lane, &p.tables, entry);
        for_each(self.lane, p.transactions, |i| {
            each(match self.plan.transaction(i, table) {
                BankTransaction::Transfer { from, to, amount } => Drawn::Transfer(
                    at(self.accounts, from),
                    at(self.accounts, to),
                    amount as u32,
                ),
                BankTransaction::Audit { range } => Drawn::Audit(range),
            });
        });
    }

    /// Moves an amount by loads and stores.
    ///
    /// # Safety
    /// The addresses are those of a transfer ([`Self::for_each`]).
    unsafe fn transfer(&self, from: *mut u32, to: *mut u32, amount: u32) {
        let lane = self.lane;
        // SAFETY: balances that the array has.
        unsafe {
            let (taken, given) = (lane.load_relaxed_32(from), lane.load_relaxed_32(to));
            lane.store_relaxed_32(from, taken.wrapping_sub(amount));
            lane.store_relaxed_32(to, given.wrapping_add(amount));
        }
    }

    fn sum(&self, range: u32) -> u32 {
        let (start, len) = (self.plan.start(range), self.plan.len(range));
        let mut sum = 0u32;
        let mut k = 0;
        while k < len {
            // The last batch repeats the last account to its end.
            let balances: [u32; BATCH] = core::array::from_fn(|j| {
                let account = start + (k + j as u32).min(len - 1);
                // SAFETY: ranges are of the plan's accounts, which the array has (`open`).
                unsafe { self.lane.load_relaxed_32(at(self.accounts, account)) }
            });
            for balance in balances {
                if k < len {
                    sum = sum.wrapping_add(balance);
                }
                k += 1;
            }
        }
        sum
    }

    fn note(&self, range: u32, sum: u32) {
        let lane = self.lane;
        // SAFETY: the sums have the range, the findings both counters
        // (`open`). Relaxed: the host reads the counters after the launch.
        unsafe {
            lane.add_relaxed_64(self.findings.wrapping_add(CHECKS as usize), 1);
            if lane.load_relaxed_32(at(self.sums, range).cast()) != sum {
                lane.add_relaxed_64(self.findings.wrapping_add(WRONG_SUMS as usize), 1);
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Drawn {
    /// Two balances, and the amount.
    Transfer(*mut u32, *mut u32, u32),
    Audit(u32),
}

#[inline(always)]
fn floor<L: Lane>(lane: &L, p: &Params) {
    let Some(books) = Books::open(lane, p) else {
        return;
    };
    books.for_each(p, |drawn| match drawn {
        // SAFETY: the addresses of a transfer.
        Drawn::Transfer(from, to, amount) => unsafe { books.transfer(from, to, amount) },
        Drawn::Audit(range) => books.note(range, books.sum(range)),
    });
}

#[inline(always)]
fn additions<L: Lane>(lane: &L, p: &Params) {
    let Some(books) = Books::open(lane, p) else {
        return;
    };
    books.for_each(p, |drawn| match drawn {
        // SAFETY: the addresses of balances that the array has. Relaxed: the host reads after the launch.
        Drawn::Transfer(from, to, amount) => unsafe {
            lane.fetch_add_relaxed_32(from, amount.wrapping_neg());
            lane.fetch_add_relaxed_32(to, amount);
        },
        Drawn::Audit(range) => books.note(range, books.sum(range)),
    });
}

#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<Params>) {
    let p = &guarded.work;
    let Some(books) = Books::open(lane, p) else {
        return;
    };
    books.for_each(p, |drawn| {
        let found = guarded.lock.with(lane, 0, || match drawn {
            Drawn::Transfer(from, to, amount) => {
                // SAFETY: the addresses of a transfer.
                unsafe { books.transfer(from, to, amount) };
                0
            }
            Drawn::Audit(range) => books.sum(range),
        });
        // A fault has been recorded, and what was not done shows in the accounts.
        if let (Ok(sum), Drawn::Audit(range)) = (found, drawn) {
            books.note(range, sum);
        }
    });
}
