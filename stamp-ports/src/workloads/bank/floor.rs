//! The bank without transactions: without synchronisation, by atomic additions, and as
//! critical sections.

use super::check::{audit_difference, difference};
use super::input::Bank;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::compare::Expectation;
use crate::workloads::contender::ContenderKind::{SpecialPurpose, Unsynchronised};
use crate::workloads::contender::{Contender, ContenderData};
use crate::workloads::critical::critical_section;
use crate::workloads::memory::check_memory;
use stm_core::host::Buffer;
use stm_kernels::bank::{BankPlan, CHECKS, FINDINGS, WRONG_SUMS};
use stm_kernels::floor::bank::{Additions, CriticalSection, Floor, Params};

/// The accounts, and what they must become. If the transactions are `ISOLATED`, the
/// audits are judged as well.
struct Accounts<const ISOLATED: bool> {
    of: Bank,
    plan: BankPlan,
    initial: Vec<i32>,
    balances: Buffer<AnyDevice, i32>,
    sums: Buffer<AnyDevice, i32>,
    tables: Buffer<AnyDevice, u64>,
    findings: Buffer<AnyDevice, u64>,
    tables_host: Vec<u64>,
    /// The accounts, and how many transactions are audits.
    expected: Expectation<(Vec<i32>, u64)>,
}

impl<const ISOLATED: bool> Accounts<ISOLATED> {
    fn prepare(of: &Bank, device: &AnyDevice, seed: u64, _transactions: u64) -> Result<Self> {
        let plan = of.plan(seed);
        let (accounts, ranges) = (u64::from(of.accounts), u64::from(plan.ranges()));
        let tables = if of.zipf_thousandths == 0 {
            0
        } else {
            (accounts + ranges) * 8
        };
        let bytes = accounts * 4 + ranges * 4 + tables;
        let host = accounts * 16 + ranges * 4 + 2 * tables;
        check_memory(device, "bank", bytes, host, "use fewer --accounts")?;
        let tables = of.tables(&plan);
        let initial = of.initial(seed);
        let sums = Bank::sums(&plan, &initial);
        Ok(Self {
            of: *of,
            plan,
            sums: Buffer::from_slice(device, &sums, "the sums of bank")?,
            balances: Buffer::from_slice(device, &initial, "the accounts of bank")?,
            tables: Buffer::from_slice(device, &tables, "the Zipf tables of bank")?,
            findings: Buffer::zeroed(device, FINDINGS, "the findings of bank")?,
            initial,
            tables_host: tables,
            expected: Expectation::default(),
        })
    }
}

impl<const ISOLATED: bool> ContenderData for Accounts<ISOLATED> {
    type Params = Params;

    fn reset(&mut self) -> Result<()> {
        self.findings.clear()?;
        Ok(self.balances.upload(&self.initial)?)
    }

    fn params(&self, transactions: u64) -> Params {
        Params {
            accounts: self.balances.tarray(),
            sums: self.sums.tarray(),
            tables: self.tables.tarray(),
            findings: self.findings.tarray(),
            accounts_drawn: self.of.accounts,
            transactions,
            plan: self.plan,
        }
    }

    /// Compares the accounts. Audits that are not isolated are no transactions, and
    /// their sums are noted, not judged.
    fn verify(&mut self, transactions: u64) -> Result<Option<String>> {
        let (plan, tables, initial) = (&self.plan, &self.tables_host, &self.initial);
        let (expected, audits) = self.expected.after(transactions, || {
            Bank::replay(plan, tables, initial.clone(), transactions)
        });
        let wrong = difference(&self.balances.download()?, expected);
        if !ISOLATED || wrong.is_some() {
            return Ok(wrong);
        }
        Ok(audit_difference(&self.findings.download()?, *audits))
    }

    fn note(&self) -> Result<Option<String>> {
        let findings = self.findings.download()?;
        let [checks, wrong] = [CHECKS, WRONG_SUMS].map(|i| findings[i as usize]);
        Ok((self.of.audit_percent > 0 && !ISOLATED)
            .then(|| format!("{wrong} of {checks} audits saw a sum that their range never had")))
    }
}

/// What is counted. A transfer reads and writes two accounts.
const ACCESSES: (&str, fn(&Bank) -> f64) = ("reads and writes", |of| {
    let audits = f64::from(of.audit_percent) / 100.0;
    audits * f64::from(of.audit_range) + (1.0 - audits) * 4.0
});

/// The contenders of the bank.
pub(super) fn contenders() -> Vec<Contender<Bank>> {
    vec![
        Contender::new::<Floor, _>(
            Unsynchronised,
            "plain accesses",
            ACCESSES,
            Accounts::<false>::prepare,
        ),
        // Two atomic additions a transfer.
        Contender::new::<Additions, _>(
            SpecialPurpose,
            "atomic adds",
            ACCESSES,
            Accounts::<false>::prepare,
        ),
        critical_section::<CriticalSection, _, _>(ACCESSES, Accounts::<true>::prepare),
    ]
}
