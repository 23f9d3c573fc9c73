//! The bank without transactions: without synchronisation, by atomic additions, and as
//! critical sections.

use super::BankData;
use super::check::{audit_difference, difference};
use super::input::Bank;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::workloads::contender::ContenderKind::{SpecialPurpose, Unsynchronised};
use crate::workloads::contender::{Contender, ContenderData};
use crate::workloads::critical::critical_section;
use crate::workloads::workload::{Verdict, Workload};
use stm_core::algorithm::Cgl;
use stm_kernels::bank::{CHECKS, WRONG_SUMS};
use stm_kernels::floor::bank::{Additions, CriticalSection, Floor, Params};

/// The accounts, and what they must become. Where transactions are not `ISOLATED`, what
/// audits saw is told, and not refused.
struct Accounts<const ISOLATED: bool> {
    of: Bank,
    data: BankData<AnyDevice>,
}

impl<const ISOLATED: bool> Accounts<ISOLATED> {
    fn prepare(of: &Bank, device: &AnyDevice, seed: u64, transactions: u64) -> Result<Self> {
        let of = Bank {
            adds_row: None,
            ..*of
        };
        let data = of.prepare(device, seed, transactions)?;
        Ok(Self { of, data })
    }
}

impl<const ISOLATED: bool> ContenderData for Accounts<ISOLATED> {
    type Params = Params;

    fn reset(&mut self) -> Result<()> {
        self.of.reset(&mut self.data)
    }

    fn params(&self, transactions: u64) -> Params {
        Params {
            accounts: self.data.accounts.view::<Cgl>(),
            sums: self.data.sums.tarray(),
            tables: self.data.tables.tarray(),
            findings: self.data.findings.tarray(),
            accounts_drawn: self.of.accounts,
            transactions,
            plan: self.data.plan,
        }
    }

    fn verify(&mut self, transactions: u64) -> Verdict {
        let (found, (expected, audits)) = self.of.outcome(&mut self.data, transactions)?;
        let wrong = difference(&found, expected);
        if !ISOLATED || wrong.is_some() {
            return Ok(wrong);
        }
        let audits = *audits;
        Ok(audit_difference(&self.data.findings.download()?, audits))
    }

    fn note(&self) -> Result<Option<String>> {
        let findings = self.data.findings.download()?;
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
