//! Bank: transfers between accounts, and audits that read many accounts at one point in time.
//!
//! A transfer moves an amount between two accounts of one range, whose sum never changes. An audit adds up a
//! whole range inside its transaction; another sum is that of a state that never existed, and the findings
//! count these. A transfer depends only on the seed and its number, so the host can replay all in any order
//! and compare every account.
//!
//! [`BankAdds`] does the same on accounts that are sums, so that under some algorithms no two transfers
//! conflict. [`BankUpdates`] makes transfers as static updates, without audits, which read too many accounts.

pub mod floor;

use crate::prelude::*;
use crate::ra::doubled;
use stm_core::TSums;

transactional! {
    Bank<A>(BankWork<<A as Algorithm>::Array<i32>>) = bank ["bank"];
    /// The bank kernel whose transfers only add.
    BankAdds<A>(BankWork<Rows>) = adds ["bank_adds"];
    /// The bank kernel in its static form: transfers as static updates. The plan must have no
    /// audits; one that it has changes nothing.
    BankUpdates<A>(BankWork<<A as Algorithm>::Array<i32>>) = updates::<_, _, i32>
        ["bank_static", [Fast]];
    /// The same on accounts of 64 bits, which are made of 32 each ([`doubled`]).
    BankWideUpdates<A>(BankWork<<A as Algorithm>::Array<u64>>) = updates::<_, _, u64>
        ["bank_static64", [Fast], wide];
}

/// The work on balances, which are an array of transactions, [`Rows`], or a plain array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BankWork<B> {
    pub accounts: B,
    /// The sum of each range (wrapping); constant.
    pub sums: TArray<i32>,
    /// The alias tables of [`BankPlan`], empty if its draws are uniform; constant.
    pub tables: TArray<u64>,
    /// The findings of the audits, at the indices [`CHECKS`], [`WRONG_SUMS`]
    /// and [`WRONG_SUM_OF`]; no transaction reads or writes them.
    pub findings: TArray<u64>,
    pub transactions: u64,
    pub plan: BankPlan,
}

/// Balances in rows: account `a` is element `a % 2^row_log2` of row `a / 2^row_log2`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub sums: TSums<i32>,
    /// The binary logarithm of the number of accounts of a row; below 32.
    pub row_log2: u32,
}

/// The index of the number of sums compared, by committed audits and by others.
pub const CHECKS: u64 = 0;
/// The index of the number of sums that were not the range's.
pub const WRONG_SUMS: u64 = 1;
/// The index of the number plus one of a transaction with a wrong sum.
pub const WRONG_SUM_OF: u64 = 2;
pub const FINDINGS: usize = 3;

/// The plan of the transactions.
///
/// Draws that are not uniform come from alias tables (Walker 1977), made by the host. The first
/// [`Self::ranges`] entries choose a range, entry `ranges + a` belongs to account `a` and chooses within its
/// range. An entry has in its upper half a threshold and in its lower half an alias: a draw that falls on
/// column `c` takes `c` if its other 32 bits are below the threshold, else the alias.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankPlan {
    seed: u64,
    pub accounts: u32,
    pub ranges: u32,
    range_len: u32,
    audit_percent: u32,
    uniform: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankTransaction {
    Audit {
        range: u32,
    },
    /// The transaction moves `amount` from one account to another of the same range.
    Transfer {
        from: u32,
        /// The account that gains it, which is another one.
        to: u32,
        /// The amount, from 1 to 16.
        amount: i32,
    },
}

#[stm_core::inlined]
impl BankPlan {
    /// Makes the plan of transactions on `accounts` accounts in ranges of `range_len`, the last with the rest
    /// as well. Of a hundred, `audit_percent` are audits. Draws are `uniform` or by alias tables.
    ///
    /// # Panics
    /// It panics unless `2 <= range_len <= accounts`.
    pub const fn new(
        seed: u64,
        accounts: u32,
        range_len: u32,
        audit_percent: u32,
        uniform: bool,
    ) -> Self {
        assert!(
            2 <= range_len && range_len <= accounts,
            "the ranges do not fit the accounts"
        );
        Self {
            seed,
            accounts,
            ranges: accounts / range_len,
            range_len,
            audit_percent,
            uniform: uniform as u32,
        }
    }

    /// Returns the first account of a range.
    pub const fn start(&self, range: u32) -> u32 {
        range * self.range_len
    }

    /// Returns the number of accounts of a range: `range_len`, and for the last range less than twice that.
    pub const fn len(&self, range: u32) -> u32 {
        if range + 1 == self.ranges {
            self.accounts - self.start(range)
        } else {
            self.range_len
        }
    }

    /// Returns transaction `i`; `table` reads an entry of the alias tables.
    pub fn transaction(&self, i: u64, table: impl Fn(u64) -> u64) -> BankTransaction {
        let kind = draw(self.seed, i, 0);
        let range = self.pick(draw(self.seed, i, 1), 0, self.ranges, &table);
        if below(kind, 100) < self.audit_percent {
            return BankTransaction::Audit { range };
        }
        let (start, len) = (self.start(range), self.len(range));
        let column = u64::from(self.ranges) + u64::from(start);
        let from = self.pick(draw(self.seed, i, 2), column, len, &table);
        let mut to = self.pick(draw(self.seed, i, 3), column, len, &table);
        if to == from {
            to = if to + 1 == len { 0 } else { to + 1 };
        }
        BankTransaction::Transfer {
            from: start + from,
            to: start + to,
            amount: (kind as u32 & 15) as i32 + 1,
        }
    }

    /// Returns a number below `len`, by the table that begins at entry `first`. The column comes
    /// from the draw's upper half, and the coin is its lower half.
    fn pick(&self, bits: u64, first: u64, len: u32, table: &impl Fn(u64) -> u64) -> u32 {
        let column = below(bits, len);
        if self.uniform != 0 {
            return column;
        }
        let entry = table(first + u64::from(column));
        if (bits as u32) < (entry >> 32) as u32 {
            column
        } else {
            entry as u32
        }
    }
}

/// The number of accounts that an audit reads together.
pub const BATCH: usize = 16;

#[inline(always)]
fn bank<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &BankWork<A::Array<i32>>) {
    let plan = p.plan;
    let table = |at| load_64(lane, &p.tables, at);
    stm.for_each(lane, 0..p.transactions, |tx, i| {
        let (from, to, amount) = match plan.transaction(i, table) {
            BankTransaction::Transfer { from, to, amount } => {
                (u64::from(from), u64::from(to), amount)
            }
            BankTransaction::Audit { range } => {
                let start = u64::from(plan.start(range));
                let len = plan.len(range);
                let mut sum = 0i32;
                let mut k = 0;
                while k < len {
                    // The last batch repeats the last account to its end.
                    let at: [u64; BATCH] =
                        core::array::from_fn(|j| start + u64::from((k + j as u32).min(len - 1)));
                    let balances = tx.read_many(&p.accounts, at)?;
                    let mut j = 0;
                    while j < BATCH {
                        if k < len {
                            sum = sum.wrapping_add(balances[j]);
                        }
                        k += 1;
                        j += 1;
                    }
                }
                check(lane, p, (range, sum), i);
                return Ok(());
            }
        };
        let [taken, given] = tx.read_many(&p.accounts, [from, to])?;
        let balances = [taken.wrapping_sub(amount), given.wrapping_add(amount)];
        tx.write_many(&p.accounts, [from, to], balances, 2)
    });
}

/// Makes the transfers of a plan as static updates, on accounts whose lower 32 bits are the balance.
#[inline(always)]
fn updates<L: Lane, A: Algorithm, T: Element>(
    lane: &L,
    stm: &StmRef<A>,
    p: &BankWork<A::Array<T>>,
) {
    let plan = p.plan;
    let table = |at| load_64(lane, &p.tables, at);
    let at = |i| match plan.transaction(i, table) {
        BankTransaction::Transfer { from, to, .. } => [u64::from(from), u64::from(to)],
        BankTransaction::Audit { .. } => [0, 1],
    };
    let moved = |account: T, by: i32| {
        let balance = account.to_bits64() as u32;
        T::from_bits64(doubled(balance.wrapping_add(by as u32)))
    };
    let change = |i, [taken, given]: [T; 2]| match plan.transaction(i, table) {
        BankTransaction::Transfer { amount, .. } => {
            Some([moved(taken, amount.wrapping_neg()), moved(given, amount)])
        }
        BankTransaction::Audit { .. } => None,
    };
    stm.update_each(lane, 0..p.transactions, &p.accounts, at, change);
}

/// Compares the sum that an audit has seen of a range with the one that it has always had.
#[inline(always)]
fn check<L: Lane, B>(lane: &L, p: &BankWork<B>, (range, sum): (u32, i32), transaction: u64) {
    let is_right = p.sums.peek(lane, range.into()) == Some(sum);
    add(lane, &p.findings, CHECKS, 1);
    let finding = |which| p.findings.on(lane, which);
    if !is_right && let (Some(wrong), Some(of)) = (finding(WRONG_SUMS), finding(WRONG_SUM_OF)) {
        // Relaxed: the host reads it after the launch.
        wrong.add(1);
        of.store(transaction + 1);
    }
}

#[inline(always)]
fn adds<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &BankWork<Rows>) {
    let plan = p.plan;
    let table = |at| load_64(lane, &p.tables, at);
    let row = |account: u32| u64::from(account >> p.accounts.row_log2);
    let column = |account: u32| account & ((1 << p.accounts.row_log2) - 1);
    stm.for_each(lane, 0..p.transactions, |tx, i| {
        let (from, to, amount) = match plan.transaction(i, table) {
            BankTransaction::Transfer { from, to, amount } => (from, to, amount),
            BankTransaction::Audit { range } => {
                let sum = audit(tx, p, range)?;
                check(lane, p, (range, sum), i);
                return Ok(());
            }
        };
        let sums = &p.accounts.sums;
        tx.add(sums, row(from), column(from), amount.wrapping_neg())?;
        tx.add(sums, row(to), column(to), amount)
    });
}

#[inline(always)]
fn audit<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    p: &BankWork<Rows>,
    range: u32,
) -> TxResult<i32> {
    let mut account = p.plan.start(range);
    let end = account + p.plan.len(range);
    let row_len = 1 << p.accounts.row_log2;
    let mut sum = 0i32;
    while account < end {
        let (row, column) = (account >> p.accounts.row_log2, account & (row_len - 1));
        let count = (row_len - column).min(end - account).min(BATCH as u32);
        let balances: [i32; BATCH] =
            tx.read_sum_many(&p.accounts.sums, row.into(), column, count)?;
        let mut j = 0;
        while j < BATCH {
            if (j as u32) < count {
                sum = sum.wrapping_add(balances[j]);
            }
            j += 1;
        }
        account += count;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(_: u64) -> u64 {
        unreachable!("a uniform plan has no tables")
    }

    #[test]
    fn transfers_stay_within_a_range_and_join_two_accounts() {
        for (accounts, range_len) in [(2, 2), (3, 2), (7, 3), (64, 64), (1000, 64)] {
            let plan = BankPlan::new(5, accounts, range_len, 20, true);
            let longest = plan.len(plan.ranges - 1);
            assert!((range_len..2 * range_len).contains(&longest));
            let mut audits = 0;
            for i in 0..2000 {
                match plan.transaction(i, uniform) {
                    BankTransaction::Audit { range } => {
                        assert!(range < plan.ranges);
                        audits += 1;
                    }
                    BankTransaction::Transfer { from, to, amount } => {
                        let range = (from / range_len).min(plan.ranges - 1);
                        let start = plan.start(range);
                        let accounts = start..start + plan.len(range);
                        assert!(accounts.contains(&from) && accounts.contains(&to));
                        assert_ne!(from, to);
                        assert!((1..=16).contains(&amount));
                    }
                }
            }
            assert!((300..500).contains(&audits), "{audits} of 2000 are audits");
        }
    }

    #[test]
    fn every_account_is_drawn_both_ways() {
        let plan = BankPlan::new(3, 61, 8, 0, true);
        let mut drawn = [(false, false); 61];
        for i in 0..5000 {
            if let BankTransaction::Transfer { from, to, .. } = plan.transaction(i, uniform) {
                drawn[from as usize].0 = true;
                drawn[to as usize].1 = true;
            }
        }
        assert!(drawn.iter().all(|&d| d == (true, true)));
    }

    #[test]
    fn a_draw_takes_its_column_below_the_threshold_and_the_alias_above() {
        let plan = BankPlan::new(3, 4, 4, 0, false);
        let entry = |_| 7u64 << 32 | 2;
        assert_eq!(plan.pick(6, 0, 4, &entry), 0);
        assert_eq!(plan.pick(7, 0, 4, &entry), 2);
        assert_eq!(plan.pick(3 << 62 | 6, 0, 4, &entry), 3);
    }
}
