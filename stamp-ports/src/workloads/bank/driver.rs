//! Bank: the host's side.

use super::check::{audit_difference, difference};
use super::input::{BANK_ROW, Bank};
use crate::error::Result;
use crate::workloads::compare::Expectation;
use crate::workloads::contender::Contender;
use crate::workloads::form::Form;
use crate::workloads::launcher::Launcher;
use crate::workloads::memory::{Accessed, check_memory};
use crate::workloads::workload::Workload;
use std::time::Duration;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{Buffer, Device, Sums, TxArray};
use stm_core::observe::Observation;
use stm_kernels::bank::{
    Bank as BankKernel, BankAdds, BankAddsParams, BankParams, BankPlan, BankUpdates, FINDINGS,
};

/// The accounts, and what they must become.
pub struct BankData<D: Device> {
    seed: u64,
    pub(super) plan: BankPlan,
    tables_host: Vec<u64>,
    /// None, if transfers add.
    pub(super) accounts: TxArray<D, i32>,
    /// The accounts then; past the last there are zeros.
    rows: Option<Sums<D, i32>>,
    pub(super) sums: Buffer<D, i32>,
    pub(super) tables: Buffer<D, u64>,
    pub(super) findings: Buffer<D, u64>,
    /// The accounts, and how many transactions are audits.
    expected: Expectation<(Vec<i32>, u64)>,
}

impl<D: Device> BankData<D> {
    fn upload(&mut self, of: &Bank, accounts: &[i32]) -> Result<()> {
        match &mut self.rows {
            Some(rows) => rows.upload(&of.in_rows(accounts))?,
            None => self.accounts.upload(accounts)?,
        }
        Ok(())
    }
}

/// The accounts as the host knows them.
fn download<D: Device>(
    accounts: &TxArray<D, i32>,
    rows: Option<&Sums<D, i32>>,
    of: &Bank,
) -> Result<Vec<i32>> {
    let Some(rows) = rows else {
        return Ok(accounts.download()?);
    };
    let mut accounts = rows.download()?;
    accounts.truncate(of.accounts as usize);
    Ok(accounts)
}

impl Bank {
    /// Returns what a run left in the accounts, and what must be there with the number of
    /// audits.
    pub(super) fn outcome<'d, D: Device>(
        &self,
        data: &'d mut BankData<D>,
        transactions: u64,
    ) -> Result<(Vec<i32>, &'d (Vec<i32>, u64))> {
        let found = download(&data.accounts, data.rows.as_ref(), self)?;
        let (plan, tables, initial) = (&data.plan, &data.tables_host, self.initial(data.seed));
        let expected = data.expected.after(transactions, || {
            Self::replay(plan, tables, initial, transactions)
        });
        Ok((found, expected))
    }
}

impl Workload for Bank {
    type Data<D: Device> = BankData<D>;
    type Kernel<A: Algorithm> = BankKernel<A>;

    fn contenders() -> Vec<Contender<Self>> {
        super::floor::contenders()
    }

    fn with_adds(&self) -> Option<Self> {
        self.adds_row.is_none().then_some(Self {
            adds_row: Some(BANK_ROW),
            form: Form::Dynamic,
            ..*self
        })
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        _transactions_max: u64,
    ) -> Result<BankData<D>> {
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
            accounts * if self.adds_row.is_some() { 12 } else { 4 } + ranges * 4 + tables,
            // The tables, twice while they are made; the replay, and what came
            // back.
            accounts * 8 + ranges * 4 + 2 * tables,
            "use fewer --accounts",
        )?;
        let tables_host = self.tables(&plan);
        let initial = self.initial(seed);
        Ok(BankData {
            seed,
            plan,
            sums: Buffer::from_slice(device, &Self::sums(&plan, &initial), "the sums of bank")?,
            accounts: {
                let words: &[i32] = if self.adds_row.is_some() {
                    &[]
                } else {
                    &initial
                };
                TxArray::from_slice(device, Layout::Plain, words, "the accounts of bank")?
            },
            rows: (self.adds_row)
                .map(|row| {
                    let accounts = self.in_rows(&initial);
                    Sums::from_slice(device, row, &accounts, "the accounts of bank")
                })
                .transpose()?,
            tables: Buffer::from_slice(device, &tables_host, "the Zipf tables of bank")?,
            findings: Buffer::zeroed(device, FINDINGS, "the findings of bank")?,
            tables_host,
            expected: Expectation::default(),
        })
    }

    fn accessed<'d, D: Device>(&self, data: &'d mut BankData<D>) -> Vec<&'d mut dyn Accessed<D>> {
        let mut accessed: Vec<&mut dyn Accessed<D>> = vec![&mut data.accounts];
        accessed.extend(data.rows.as_mut().map(|rows| rows as &mut dyn Accessed<D>));
        accessed
    }

    fn clear<D: Device>(&self, _data: &mut BankData<D>) -> Result<()> {
        // Whatever a launch leaves, the sums of the ranges are the same.
        Ok(())
    }

    fn reset<D: Device>(&self, data: &mut BankData<D>) -> Result<()> {
        data.findings.clear()?;
        data.upload(self, &self.initial(data.seed))
    }

    fn verify<D: Device>(
        &self,
        data: &mut BankData<D>,
        transactions: u64,
    ) -> Result<Option<String>> {
        let (found, (expected, audits)) = self.outcome(data, transactions)?;
        let (wrong, audits) = (difference(&found, expected), *audits);
        let findings = data.findings.download()?;
        Ok(wrong.or_else(|| audit_difference(&findings, audits)))
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &BankData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> BankParams<A> {
        BankParams {
            stm,
            accounts: data.accounts.view::<A>(),
            sums: data.sums.tarray(),
            tables: data.tables.tarray(),
            findings: data.findings.tarray(),
            transactions,
            plan: data.plan,
        }
    }

    fn compile<D: Device, A: Algorithm>(
        &self,
        device: &D,
        observation: Observation,
    ) -> Result<Duration> {
        Ok(match (self.form, self.adds_row) {
            (Form::Static, _) => device.prepare::<BankUpdates<A>>(observation)?,
            (_, Some(_)) => device.prepare::<BankAdds<A>>(observation)?,
            (_, None) => device.prepare::<BankKernel<A>>(observation)?,
        })
    }

    fn run<D: Device, A: Algorithm>(
        &self,
        data: &mut BankData<D>,
        launcher: &mut Launcher<'_, D>,
        transactions: u64,
    ) -> Result<()> {
        let stm = launcher.handle::<A>();
        match &data.rows {
            None => {
                let params = self.params(data, stm, transactions);
                // SAFETY: the parameters hold this memory's handle, for `A`
                // alone, and views of buffers that `data` keeps and nothing else
                // uses.
                unsafe {
                    match self.form {
                        Form::Dynamic => launcher.launch::<BankKernel<A>>(&params)?,
                        Form::Static => launcher.launch::<BankUpdates<A>>(&params)?,
                    }
                };
            }
            Some(rows) => {
                let params = BankAddsParams {
                    stm,
                    accounts: rows.view(),
                    row_log2: rows.row_len().trailing_zeros(),
                    sums: data.sums.tarray(),
                    tables: data.tables.tarray(),
                    findings: data.findings.tarray(),
                    transactions,
                    plan: data.plan,
                };
                // SAFETY: as above.
                unsafe { launcher.launch::<BankAdds<A>>(&params)? };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
