//! The bank without transactions: without synchronisation, by atomic additions, and as
//! critical sections.

use super::BankData;
use super::check::difference;
use super::input::Bank;
use crate::workloads::exclusion::Own;
use crate::workloads::prelude::*;
use stm_kernels::bank::{CHECKS, WRONG_SUMS};
use stm_kernels::floor::bank::{Additions, CriticalSection, Floor, Params};

/// The workload's own data, without sums that transactions add to.
fn accounts(
    of: &Bank,
    device: &AnyDevice,
    seed: u64,
    transactions: u64,
    uses: fn() -> Uses<Bank, Params>,
) -> Result<Own<Bank, Params>> {
    let of = Bank {
        adds_row: None,
        ..*of
    };
    own(uses)(&of, device, seed, transactions)
}

/// What critical sections do with it.
const fn isolated() -> Uses<Bank, Params> {
    Uses::new(|of: &Bank, data: &BankData<_>, transactions| Params {
        accounts: data.accounts.view::<Cgl>(),
        sums: data.sums.tarray(),
        tables: data.tables.tarray(),
        findings: data.findings.tarray(),
        accounts_drawn: of.accounts,
        transactions,
        plan: data.plan,
    })
}

/// What others do: what audits saw is told, and not refused.
fn torn() -> Uses<Bank, Params> {
    Uses {
        verify: |of, data, transactions| {
            let (found, (expected, _)) = of.outcome(data, transactions)?;
            Ok(difference(&found, expected))
        },
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

/// What is counted. A transfer reads and writes two accounts.
const ACCESSES: (&str, fn(&Bank) -> f64) = ("reads and writes", |of| {
    let audits = f64::from(of.audit_percent) / 100.0;
    audits * f64::from(of.audit_range) + (1.0 - audits) * 4.0
});

/// The contenders of the bank.
pub(super) fn contenders() -> Vec<Contender<Bank>> {
    let torn = |of: &Bank, device: &AnyDevice, seed, n| accounts(of, device, seed, n, torn);
    let isolated = |of: &Bank, device: &AnyDevice, seed, n| accounts(of, device, seed, n, isolated);
    vec![
        unsynchronised::<Floor, _, _>(ACCESSES, torn),
        // Two atomic additions a transfer.
        open::<Additions, _, _>((SpecialPurpose, "atomic adds"), ACCESSES, torn),
        critical_section::<CriticalSection, _, _>(ACCESSES, isolated),
    ]
}
