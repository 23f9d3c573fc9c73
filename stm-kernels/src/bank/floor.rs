//! The bank without transactions; [`crate::bank`] describes what a transaction does.
//!
//! The amount of a transfer does not depend on balances, so [`Additions`] leaves every account as
//! transactions do. Its audits see sums that never existed, which the findings count and the driver reports.
//! [`CriticalSection`] audits under its lock, and one wrong sum makes its run wrong.

use crate::bank::{BATCH, BankPlan, BankTransaction, BankWork, CHECKS, FINDINGS, WRONG_SUMS};
use crate::floor::{Guarded, for_each};
use crate::prelude::*;
use crate::words::{Known, whole};
use stm_core::internal::memory::Word;

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
    accounts: TArray<i32>,
    sums: TArray<i32>,
    findings: TArray<u64>,
}

#[stm_core::inlined]
impl<'a, L: Lane> Books<'a, L> {
    fn open(lane: &'a L, p: &Params) -> Option<Self> {
        Some(Self {
            lane,
            plan: p.plan,
            accounts: whole(&p.accounts, p.plan.accounts.into())?,
            sums: whole(&p.sums, p.plan.ranges.into())?,
            findings: whole(&p.findings, FINDINGS as u64)?,
        })
    }

    /// Calls `each` for each transaction of the calling lane.
    fn for_each(lane: &'a L, p: &Params, each: impl Fn(&Self, Drawn<'a, L>)) {
        let Some(books) = Self::open(lane, p) else {
            return;
        };
        let account = |i| books.accounts.nth(lane, i);
        for_each(lane, p.transactions, |i| {
            let drawn = match p
                .plan
                .transaction(i, |entry| load_64(lane, &p.tables, entry))
            {
                BankTransaction::Transfer { from, to, amount } => {
                    Drawn::Transfer(account(from), account(to), amount)
                }
                BankTransaction::Audit { range } => Drawn::Audit(range),
            };
            each(&books, drawn);
        });
    }

    fn sum(&self, range: u32) -> i32 {
        let (start, len) = (self.plan.start(range), self.plan.len(range));
        let mut sum = 0i32;
        let mut k = 0;
        while k < len {
            // The last batch repeats the last account to its end.
            let balances: [i32; BATCH] = core::array::from_fn(|j| {
                let account = start + (k + j as u32).min(len - 1);
                self.accounts.nth(self.lane, account).load()
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

    fn note(&self, range: u32, sum: i32) {
        // Relaxed: the host reads the counters after the launch.
        self.findings.nth(self.lane, CHECKS).add(1);
        if self.sums.nth(self.lane, range).load() != sum {
            self.findings.nth(self.lane, WRONG_SUMS).add(1);
        }
    }
}

enum Drawn<'a, L> {
    /// Two balances, and the amount.
    Transfer(Word<'a, L, i32>, Word<'a, L, i32>, i32),
    Audit(u32),
}

/// Moves an amount by loads and stores.
#[inline(always)]
fn transfer<L: Lane>(from: Word<'_, L, i32>, to: Word<'_, L, i32>, amount: i32) {
    let (taken, given) = (from.load(), to.load());
    from.store(taken.wrapping_sub(amount));
    to.store(given.wrapping_add(amount));
}

#[inline(always)]
fn floor<L: Lane>(lane: &L, p: &Params) {
    Books::for_each(lane, p, |books, drawn| match drawn {
        Drawn::Transfer(from, to, amount) => transfer(from, to, amount),
        Drawn::Audit(range) => books.note(range, books.sum(range)),
    });
}

#[inline(always)]
fn additions<L: Lane>(lane: &L, p: &Params) {
    Books::for_each(lane, p, |books, drawn| match drawn {
        // Relaxed: the host reads after the launch.
        Drawn::Transfer(from, to, amount) => {
            from.cast::<u32>().fetch_add(amount.wrapping_neg() as u32);
            to.cast::<u32>().fetch_add(amount as u32);
        }
        Drawn::Audit(range) => books.note(range, books.sum(range)),
    });
}

#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<Params>) {
    Books::for_each(lane, &guarded.work, |books, drawn| {
        let found = guarded.lock.with(lane, 0, || match drawn {
            Drawn::Transfer(from, to, amount) => {
                transfer(from, to, amount);
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
