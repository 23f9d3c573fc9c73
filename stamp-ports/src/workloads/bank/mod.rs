//! Bank: transfers between accounts, and audits that sum up a range of them. Without transactions: without
//! synchronisation, by atomic additions, and as critical sections.

use crate::workloads::compare::same;
use crate::workloads::prelude::*;
use check::check_audits;
use input::BANK_ROW;
pub use input::{Bank, Options};
use stm_core::TArray;
use stm_kernels::bank::{
    Bank as BankKernel, BankAdds, BankPlan, BankUpdates, BankWideUpdates, BankWork, CHECKS,
    FINDINGS, Rows, WRONG_SUMS,
};
use stm_kernels::floor::bank::{Additions, CriticalSection, Floor};
use stm_kernels::rows::Transactional;

mod check;
mod input;

pub struct Data<D: Device> {
    seed: u64,
    plan: BankPlan,
    tables_host: Vec<u64>,
    accounts: Elements<D, i32>,
    sums: Buffer<D, i32>,
    tables: Buffer<D, u64>,
    findings: Buffer<D, u64>,
    /// The accounts, and how many transactions are audits.
    expected: Expectation<(Vec<i32>, u64)>,
}

impl Bank {
    /// Checks the accounts, and returns how many transactions are audits.
    fn check_accounts<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<u64> {
        let found = data.accounts.download()?;
        let (plan, tables, initial) = (&data.plan, &data.tables_host, self.initial(data.seed));
        let replay = || Self::replay(plan, tables, initial, transactions);
        let (expected, audits) = expected(&mut data.expected, transactions, replay);
        let total = |accounts: &[i32]| accounts.iter().map(|&a| i64::from(a)).sum::<i64>();
        same(("account", "has"), &found, expected, total)?;
        Ok(*audits)
    }
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

    fn prepare<D: Device>(&self, device: &D, seed: u64, _: u64) -> Result<Data<D>> {
        let plan = self.plan(seed);
        let (accounts, ranges) = (u64::from(self.accounts), u64::from(plan.ranges()));
        let tables = if self.zipf_thousandths == 0 {
            0
        } else {
            (accounts + ranges) * 8
        };
        check_memory(
            device,
            "bank",
            // With a header each.
            accounts
                * if self.adds_row.is_some() {
                    12
                } else {
                    self.form.bytes()
                }
                + ranges * 4
                + tables,
            // The tables, twice while they are made; the replay, and what came back.
            accounts * 8 + ranges * 4 + 2 * tables,
            "use fewer --accounts",
        )?;
        let tables_host = self.tables(&plan);
        let initial = self.initial(seed);
        Ok(Data {
            seed,
            plan,
            sums: Buffer::from_slice(device, &Self::sums(&plan, &initial), "the sums of bank")?,
            accounts: Elements::new(
                device,
                (self.form, self.adds_row),
                &initial,
                "the accounts of bank",
            )?,
            tables: Buffer::from_slice(device, &tables_host, "the Zipf tables of bank")?,
            findings: Buffer::zeroed(device, FINDINGS, "the findings of bank")?,
            tables_host,
            expected: None,
        })
    }

    accessed!(data => data.accounts.accessed());

    fn clear<D: Device>(&self, _data: &mut Data<D>) -> Result<()> {
        // Whatever a launch leaves, the sums of the ranges are the same.
        Ok(())
    }

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.findings.clear()?;
        data.accounts.upload(&self.initial(data.seed))
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, transactions: u64) -> Result<()> {
        let audits = self.check_accounts(data, transactions)?;
        check_audits(&data.findings.download()?, audits)
    }

    kernels! {
        of, data, run: match (of.form, of.adds_row);
        (Form::Static, _) => BankUpdates<A>, data.params(run);
        (Form::Wide, _) => BankWideUpdates<A>, run.on(data.work(data.accounts.wide::<A>(), run.transactions));
        (Form::Dynamic, Some(_)) => BankAdds<A>, {
            let sums = data.accounts.sums();
            let row_log2 = sums.row_len().trailing_zeros();
            run.on(data.work(Rows { sums: sums.view(), row_log2 }, run.transactions))
        };
        (Form::Dynamic, None) => BankKernel<A>, data.params(run);
    }
}

impl<D: Device> Data<D> {
    fn params<A: Algorithm>(&self, run: Run<A>) -> Transactional<A, BankWork<A::Array<i32>>> {
        run.on(self.work(self.accounts.view::<A>(), run.transactions))
    }

    fn work<B>(&self, accounts: B, transactions: u64) -> BankWork<B> {
        BankWork {
            accounts,
            sums: self.sums.tarray(),
            tables: self.tables.tarray(),
            findings: self.findings.tarray(),
            transactions,
            plan: self.plan,
        }
    }
}

/// What critical sections do with the accounts, without sums that transactions add to.
fn isolated<D: Device + 'static>() -> Uses<Bank, Data<D>, BankWork<TArray<i32>>, D> {
    Uses {
        of: |of| Bank {
            adds_row: None,
            ..*of
        },
        ..Uses::own(|_: &Bank, _, data: &mut Data<_>, transactions, launch| {
            launch(data.work(data.accounts.view::<Cgl>(), transactions))
        })
    }
}

/// What others do: what audits saw is told, and not refused.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Spoils, has, spoils};
    use crate::workloads::launcher::tests::{change, left, spoilt};
    use stm_core::host::Cpu;
    use stm_kernels::bank::BankTransaction;

    const BANK: Bank = Bank {
        zipf_thousandths: 990,
        ..Bank::of(1000, 20, 48)
    };
    const TRANSACTIONS: u64 = 500;

    #[test]
    fn a_right_result_is_accepted_and_conserves_every_sum() {
        let mut data = left(&BANK, 7, ((1, 1), TRANSACTIONS));
        let accounts = data.accounts.download().unwrap();
        assert_eq!(
            Bank::sums(&data.plan, &accounts),
            data.sums.download().unwrap()
        );
        assert_ne!(BANK.initial(data.seed), accounts);
        // More checks than audits: attempts that did not commit looked too.
        change!(data.findings, |findings| findings[0] = 499);
        BANK.verify(&mut data, TRANSACTIONS).unwrap();
    }

    #[test]
    fn wrong_accounts_and_sums_are_refused_also_if_the_total_is_right() {
        let spoils: Spoils<Data<Cpu>, 5> = spoils! {
            |data| change!(data.accounts, |all| all[999] += 1) =>
                "account 999 has | 0 more accounts differ; the total is";
            |data| change!(data.accounts, |all| (all[1], all[2]) = (all[1] + 5, all[2] - 5)) =>
                "the total is right";
            |data| change!(data.findings, |found| found[1..].copy_from_slice(&[1, 18])) =>
                "1 of | transaction 17";
            |data| change!(data.findings, |found| found[0] -= 1) => "only ";
            |data| *data = left(&BANK, 7, ((1, 1), TRANSACTIONS - 5)) => "account";
        };
        spoilt(&BANK, 7, ((1, 1), TRANSACTIONS), spoils);
        let error = check_audits(&[1, 0, 0], 0).unwrap_err();
        has(
            &error.to_string(),
            "1 audits compared a sum, and there are none",
        );
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
}
