//! The bank's floor, and the bank by atomic additions.

use super::contender::{Contender, Kind};
use crate::bank::{Bank, difference};
use crate::error::Result;
use crate::workload::check_memory;
use stm_core::host::{Buffer, Device};
use stm_kernels::bank::{BankPlan, CHECKS, FINDINGS, WRONG_SUMS};
use stm_kernels::floor::bank::{Additions, Floor, Params};

/// The accounts, and what they must become.
pub struct Accounts<D: Device> {
    plan: BankPlan,
    initial: Vec<i32>,
    balances: Buffer<D, i32>,
    sums: Buffer<D, i32>,
    tables: Buffer<D, u64>,
    findings: Buffer<D, u64>,
    expected: Vec<i32>,
}

impl<D: Device> std::fmt::Debug for Accounts<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Accounts").finish_non_exhaustive()
    }
}

impl<D: Device> Accounts<D> {
    fn prepare(of: &Bank, device: &D, seed: u64, transactions: u64) -> Result<Self> {
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
        let (expected, _) = Bank::replay(&plan, &tables, initial.clone(), transactions);
        let sums = Bank::sums(&plan, &initial);
        Ok(Self {
            plan,
            sums: Buffer::from_slice(device, &sums, "the sums of bank")?,
            balances: Buffer::from_slice(device, &initial, "the accounts of bank")?,
            tables: Buffer::from_slice(device, &tables, "the Zipf tables of bank")?,
            findings: Buffer::zeroed(device, FINDINGS, "the findings of bank")?,
            initial,
            expected,
        })
    }
}

macro_rules! contender {
    ($(#[$doc:meta])* $name:ident: $kernel:ident, $label:literal, $kind:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl Contender for $name {
            type Of = Bank;
            type Data<D: Device> = Accounts<D>;
            type Kernel = $kernel;

            const NAME: &'static str = $label;
            const KIND: Kind = Kind::$kind;
            const OPERATIONS: &'static str = "reads and writes";

            fn operations(of: &Bank) -> f64 {
                // A transfer reads and writes two accounts.
                let audits = f64::from(of.audit_percent) / 100.0;
                audits * f64::from(of.audit_range) + (1.0 - audits) * 4.0
            }

            fn prepare<D: Device>(
                of: &Bank,
                device: &D,
                seed: u64,
                transactions: u64,
            ) -> Result<Accounts<D>> {
                Accounts::prepare(of, device, seed, transactions)
            }

            fn reset<D: Device>(_of: &Bank, data: &mut Accounts<D>) -> Result<()> {
                data.findings.clear()?;
                Ok(data.balances.upload(&data.initial)?)
            }

            fn params<D: Device>(of: &Bank, data: &Accounts<D>, transactions: u64) -> Params {
                Params {
                    accounts: data.balances.tarray(),
                    sums: data.sums.tarray(),
                    tables: data.tables.tarray(),
                    findings: data.findings.tarray(),
                    accounts_drawn: of.accounts,
                    transactions,
                    plan: data.plan,
                }
            }

            /// The accounts; the audits are no transactions, and their sums
            /// are noted, not judged.
            fn verify<D: Device>(
                _of: &Bank,
                data: &mut Accounts<D>,
                _transactions: u64,
            ) -> Result<Option<String>> {
                Ok(difference(&data.balances.download()?, &data.expected))
            }

            fn note<D: Device>(of: &Bank, data: &Accounts<D>) -> Result<Option<String>> {
                let findings = data.findings.download()?;
                let [checks, wrong] = [CHECKS, WRONG_SUMS].map(|i| findings[i as usize]);
                Ok((of.audit_percent > 0).then(|| {
                    format!("{wrong} of {checks} audits saw a sum that their range never had")
                }))
            }
        }
    };
}

contender!(
    /// The accesses with nothing that synchronises.
    Plain: Floor, "plain accesses", Floor
);
contender!(
    /// Two atomic additions a transfer.
    AtomicAdds: Additions, "atomic adds", SpecialPurpose
);
