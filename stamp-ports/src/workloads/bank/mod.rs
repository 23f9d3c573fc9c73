//! Bank: transfers between accounts, and audits that sum up a range of them.
//!
//! Three things must hold. Every account equals a replay of all transfers, whose amounts do not depend on
//! balances: so no transfer was lost, doubled or torn. No audit, whether its attempt committed or not, has
//! seen another sum of its range than the one that transfers conserve. And every audit has compared its sum.
//!
//! With `zipf` above zero, accounts are drawn by Zipf's law: the one of rank `r`, from 0, with probability in
//! proportion to `(r + 1)^-zipf`. Ranks are dealt to the ranges in turn like cards. A transfer draws its
//! range, then both accounts within it: the account that loses follows the law exactly.
//!
//! They are drawn from alias tables (Walker 1977, made as by Vose 1991), by one load and one comparison. Column
//! `c` of a table stands for outcome `c` and one other, its alias; choosing a column uniformly and then one
//! of the two by the column's threshold gives each outcome its probability. An entry has the threshold, in
//! units of 2^-32, in its upper half and the alias in its lower.

use crate::workloads::prelude::*;
use input::BANK_ROW;
pub use input::{Bank, Options};
use stm_kernels::bank::floor::{Additions, CriticalSection, Floor};
use stm_kernels::bank::{
    Bank as BankKernel, BankAdds, BankPlan, BankTransaction, BankUpdates, BankWideUpdates,
    BankWork, CHECKS, FINDINGS, Rows, WRONG_SUM_OF, WRONG_SUMS,
};

mod input;

data! {
    pub Data of Bank: |of, device, MadeFor { seed, .. }| {
        let plan = of.plan(seed);
        let (accounts, ranges) = (u64::from(of.accounts), u64::from(plan.ranges));
        let has_tables = of.zipf_thousandths > 0;
        let tables = u64::from(has_tables) * (accounts + ranges) * 8;
        // With a header each, if there may be one for each.
        let account = of.adds_row.map_or(of.form.bytes(), |_| 12);
        let on_device = accounts * account + ranges * 4 + tables;
        // The tables, twice while they are made; the replay, and what came back.
        let on_host = accounts * 8 + ranges * 4 + 2 * tables;
        check_memory(device, "bank", on_device, on_host, "use fewer --accounts")?;
        let (initial, form) = (of.initial(seed), (of.form, of.adds_row));
    }
    seed: u64 = seed;
    plan: BankPlan = plan;
    tables_host: Vec<u64> = of.tables(&plan);
    accounts: Elements<D, i32> =
        Elements::new(device, form, &initial, "the accounts of bank")?, accessed;
    sums: Buffer<D, i32> =
        Buffer::from_slice(device, &Bank::sums(&plan, &initial), "the sums of bank")?;
    tables: Buffer<D, u64> =
        Buffer::from_slice(device, &tables_host, "the Zipf tables of bank")?;
    findings: Buffer<D, u64> =
        Buffer::zeroed(device, FINDINGS, "the findings of bank")?, cleared;
    /// The accounts, and how many transactions are audits.
    expected: Expectation<(Vec<i32>, u64)> = None;
}

impl Workload for Bank {
    type Data<D: Device> = Data<D>;

    fn contenders<D: Device + 'static>(&self) -> Vec<Contender<'_, D>> {
        let audits = f64::from(self.audit_percent) / 100.0;
        // A transfer reads and writes two accounts.
        let accesses = audits * f64::from(self.audit_range) + (1.0 - audits) * 4.0;
        let accesses = ("reads and writes", accesses);
        vec![
            seen().open::<Floor>(self, UNSYNCHRONISED, accesses),
            // Two atomic additions a transfer.
            seen().open::<Additions>(self, (SpecialPurpose, "atomic adds"), accesses),
            isolated().critical_section::<CriticalSection>(self, accesses),
        ]
    }

    fn with_adds(&self) -> Option<Self> {
        self.adds_row.is_none().then_some(Self {
            adds_row: Some(BANK_ROW),
            form: Form::Dynamic,
            ..*self
        })
    }

    fn clear<D: Device>(&self, _data: &mut Data<D>) -> Result<()> {
        // Whatever a launch leaves, the sums of the ranges are the same.
        Ok(())
    }

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.clear()?;
        data.accounts.upload(&self.initial(data.seed))
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<Observed> {
        let audits = self.check_accounts(data, transactions)?;
        check_audits(&data.findings.download()?, audits)?;
        Ok(Observed::new())
    }

    kernels! {
        of, data, run: match (of.form, of.adds_row);
        (Form::Static, _) => BankUpdates<A>, run.on(data.work(data.accounts.view::<A>(), run.transactions));
        (Form::Wide, _) => BankWideUpdates<A>, run.on(data.work(data.accounts.wide::<A>(), run.transactions));
        (Form::Dynamic, Some(_)) => BankAdds<A>, {
            let sums = data.accounts.sums();
            let row_log2 = sums.row_len().trailing_zeros();
            run.on(data.work(Rows { sums: sums.view(), row_log2 }, run.transactions))
        };
        (Form::Dynamic, None) => BankKernel<A>, run.on(data.work(data.accounts.view::<A>(), run.transactions));
    }
}

impl<D: Device> Data<D> {
    fn work<B>(&self, accounts: B, transactions: u64) -> BankWork<B> {
        let plan = self.plan;
        views! { self => BankWork { sums, tables, findings; accounts, transactions, plan } }
    }
}

/// What critical sections do with the accounts, without sums that transactions add to.
fn isolated<D: Device + 'static>() -> Uses<Bank, Data<D>, BankWork<TArray<i32>>, D> {
    Uses {
        of: |of| Bank {
            adds_row: None,
            ..*of
        },
        ..Uses::own(|_: &Bank, data: &Data<_>, n| data.work(data.accounts.view::<Cgl>(), n))
    }
}

/// What others do: what audits saw is reported, and not refused.
fn seen<D: Device + 'static>() -> Uses<Bank, Data<D>, BankWork<TArray<i32>>, D> {
    Uses {
        verify: |of, data, transactions| of.check_accounts(data, transactions).map(drop),
        note: |of, data| {
            let findings = data.findings.download()?;
            let [checks, wrong] = [CHECKS, WRONG_SUMS].map(|i| findings[i as usize]);
            Ok((of.audit_percent > 0).then(|| {
                format!("{wrong} of {checks} audits saw a sum that their range never had")
            }))
        },
        ..isolated()
    }
}

impl Bank {
    /// Checks the accounts, and returns how many transactions are audits.
    fn check_accounts<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<u64> {
        let found = data.accounts.download()?;
        let (plan, tables, initial) = (&data.plan, &data.tables_host, self.initial(data.seed));
        let replay = || Self::replay(plan, tables, initial, transactions);
        let (expected, audits) = expected(&mut data.expected, transactions, replay);
        let total = |accounts: &[i32]| accounts.iter().map(|&a| i64::from(a)).sum::<i64>();
        let account = |at, value| format!("account {at} has {value}");
        same(account, &found, expected, total)?;
        Ok(*audits)
    }

    fn plan(&self, seed: u64) -> BankPlan {
        let (range, percent) = (self.audit_range, self.audit_percent);
        let is_uniform = self.zipf_thousandths == 0;
        BankPlan::new(seed, self.accounts, range, percent, is_uniform)
    }

    /// The balances before a launch: another for each account, so that a store to a wrong one shows.
    fn initial(&self, seed: u64) -> Vec<i32> {
        let balance = |a| 1000 + (draw(seed, a, u32::MAX) >> 54) as i32;
        (0..u64::from(self.accounts)).map(balance).collect()
    }

    /// The sum of each range, wrapping as the device's.
    fn sums(plan: &BankPlan, accounts: &[i32]) -> Vec<i32> {
        let sum = |range| {
            let balances = &accounts[plan.start(range) as usize..][..plan.len(range) as usize];
            balances.iter().fold(0, |sum: i32, b| sum.wrapping_add(*b))
        };
        (0..plan.ranges).map(sum).collect()
    }

    fn rank(&self, plan: &BankPlan, range: u32, offset: u32) -> u64 {
        let (ranges, offset) = (u64::from(plan.ranges), u64::from(offset));
        let dealt = u64::from(self.audit_range);
        if offset < dealt {
            offset * ranges + u64::from(range)
        } else {
            // What is left over goes to the last range, and ranks last.
            dealt * ranges + (offset - dealt)
        }
    }

    /// The alias tables in the layout of [`BankPlan`]: for a range, then for an
    /// account within each. None if draws are uniform.
    fn tables(&self, plan: &BankPlan) -> Vec<u64> {
        if self.zipf_thousandths == 0 {
            return Vec::new();
        }
        let exponent = -f64::from(self.zipf_thousandths) / 1000.0;
        let (mut within, mut of_ranges) = (Vec::new(), Vec::new());
        for range in 0..plan.ranges {
            let rank = |offset| self.rank(plan, range, offset) as f64;
            let weights = (0..plan.len(range)).map(|offset| (rank(offset) + 1.0).powf(exponent));
            let weights: Vec<f64> = weights.collect();
            of_ranges.push(weights.iter().sum());
            append(&mut within, &weights);
        }
        let mut tables = Vec::with_capacity(of_ranges.len() + within.len());
        append(&mut tables, &of_ranges);
        tables.append(&mut within);
        tables
    }

    /// The accounts after `n` transactions, and how many of these are audits.
    fn replay(plan: &BankPlan, tables: &[u64], mut accounts: Vec<i32>, n: u64) -> (Vec<i32>, u64) {
        let mut audits = 0;
        for i in 0..n {
            match plan.transaction(i, |at| tables[at as usize]) {
                BankTransaction::Audit { .. } => audits += 1,
                BankTransaction::Transfer { from, to, amount } => {
                    let (from, to) = (from as usize, to as usize);
                    accounts[from] = accounts[from].wrapping_sub(amount);
                    accounts[to] = accounts[to].wrapping_add(amount);
                }
            }
        }
        (accounts, audits)
    }
}

fn check_audits(findings: &[u64], audits: u64) -> Result<()> {
    let finding = |at: u64| findings[at as usize];
    let (checks, wrong) = (finding(CHECKS), finding(WRONG_SUMS));
    wrong! {
        wrong != 0 || finding(WRONG_SUM_OF) != 0 =>
            "{wrong} of {checks} audits saw a sum that their range never had, transaction {} one \
             of them", finding(WRONG_SUM_OF).wrapping_sub(1);
        checks < audits => "only {checks} of {audits} audits compared a sum";
        audits == 0 && checks != 0 => "{checks} audits compared a sum, and there are none";
    }
    Ok(())
}

/// Appends the alias table for outcomes with these weights, at least one of them above zero.
fn append(table: &mut Vec<u64>, weights: &[f64]) {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    // What is left of each outcome's weight, a whole column being 1.
    let mut left: Vec<f64> = weights.iter().map(|w| w / mean).collect();
    let first = table.len();
    // A whole column each, until it is given an alias.
    table.extend((0..weights.len() as u64).map(|c| entry(1.0, c)));
    let (mut small, mut large): (Vec<_>, Vec<_>) = (0..weights.len()).partition(|&c| left[c] < 1.0);
    while let (Some(&s), Some(&l)) = (small.last(), large.last()) {
        small.pop();
        table[first + s] = entry(left[s], l as u64);
        left[l] -= 1.0 - left[s];
        if left[l] < 1.0 {
            large.pop();
            small.push(l);
        }
    }
}

fn entry(threshold: f64, alias: u64) -> u64 {
    let units = (threshold * 4_294_967_296.0) as u64;
    units.min(u64::from(u32::MAX)) << 32 | alias
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::test_prelude::*;

    const BANK: Bank = Bank {
        accounts: 1000,
        zipf_thousandths: 990,
        audit_percent: 20,
        audit_range: 48,
        ..Bank::for_occasion(Occasion::Measurement)
    };
    const TRANSACTIONS: u64 = 500;

    #[test]
    fn wrong_accounts_and_sums_are_refused_also_if_the_total_is_right() {
        let spoils: Spoils<Data<Cpu>, 5> = spoils! {
            |data| change!(data.accounts, |all| all[999] += 1) =>
                "account 999 has | 0 more differ; the total is";
            |data| change!(data.accounts, |all| (all[1], all[2]) = (all[1] + 5, all[2] - 5)) =>
                "the total is right";
            |data| change!(data.findings, |found| found[1..].copy_from_slice(&[1, 18])) =>
                "1 of | transaction 17";
            |data| change!(data.findings, |found| found[0] -= 1) => "only ";
            |data| *data = left(&BANK, 7, ((1, 1), TRANSACTIONS - 5)) => "account";
        };
        spoilt(&BANK, 7, ((1, 1), TRANSACTIONS), spoils);
        let error = check_audits(&[1, 0, 0], 0).unwrap_err().to_string();
        has(&error, "1 audits compared a sum, and there are none");
    }

    #[test]
    fn the_account_that_loses_follows_zipfs_law() {
        let bank = Bank {
            accounts: 103,
            audit_range: 10,
            audit_percent: 0,
            ..BANK
        };
        let plan = bank.plan(3);
        let tables = bank.tables(&plan);
        let mut taken = vec![0u32; 103];
        let n = 400_000;
        for i in 0..n {
            let drawn = plan.transaction(i, |at| tables[at as usize]);
            if let BankTransaction::Transfer { from, .. } = drawn {
                taken[from as usize] += 1;
            }
        }
        let weight = |rank: u64| ((rank + 1) as f64).powf(-0.99);
        let all: f64 = (0..103).map(weight).sum();
        let mut ranks = [false; 103];
        for (account, &times) in taken.iter().enumerate() {
            let range = (account as u32 / 10).min(9);
            let rank = bank.rank(&plan, range, account as u32 - plan.start(range));
            ranks[rank as usize] = true;
            let mean = n as f64 * weight(rank) / all;
            // Six standard deviations.
            let off = (f64::from(times) - mean).abs();
            assert!(off < 6.0 * mean.sqrt(), "rank {rank}: {times}, not {mean}");
        }
        assert!(ranks.iter().all(|&r| r), "ranks are no permutation");
    }

    /// The probability of each outcome, by the table's text.
    fn probabilities(table: &[u64]) -> Vec<f64> {
        let mut p = vec![0.0; table.len()];
        for (c, entry) in table.iter().enumerate() {
            let own = (entry >> 32) as f64 / 4_294_967_296.0;
            p[c] += own / table.len() as f64;
            p[(entry & 0xFFFF_FFFF) as usize] += (1.0 - own) / table.len() as f64;
        }
        p
    }

    #[test]
    fn tables_are_one_after_the_other_and_give_every_outcome_its_probability() {
        for weights in [
            vec![1.0],
            vec![1.0; 7],
            vec![0.0, 3.0, 0.0, 1.0],
            (1..1000).map(|k| f64::from(k).powf(-0.99)).collect(),
            (1..1000).map(|k| f64::from(k).powf(-3.0)).rev().collect(),
        ] {
            let mut tables = Vec::new();
            append(&mut tables, &weights);
            append(&mut tables, &weights);
            let (table, next) = tables.split_at(weights.len());
            assert_eq!(table, next);
            let sum: f64 = weights.iter().sum();
            for (p, w) in probabilities(table).iter().zip(&weights) {
                assert!((p - w / sum).abs() < 1e-9, "{p} for {w} of {sum}");
            }
        }
    }
}
