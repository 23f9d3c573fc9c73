//! Bank: the host's side.
//!
//! Afterwards three things must hold. Every account equals a replay of all
//! transfers, whose amounts do not depend on balances: so the total is exact,
//! and no transfer was lost, doubled or torn. No audit, whether its attempt
//! committed or not, has seen another sum of its range than the one that
//! transfers conserve. And every audit has looked.
//!
//! With `zipf` above zero, accounts are drawn by Zipf's law: the one of rank
//! `r`, from 0, with probability in proportion to `(r + 1)^-zipf`. Ranks are
//! dealt to the ranges in turn like cards, so each has its popular accounts at
//! its front. A transfer draws its range, then both accounts within it: the
//! account that loses follows the law exactly.

use crate::alias;
use crate::error::{Error, Result};
use crate::timed::Timed;
use crate::workload::{Launches, SET_WORDS_MAX, Workload, check_memory, words_of};
use std::time::Duration;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Buffer, Device, Shared, Sums};
use stm_core::logs::Capacity;
use stm_core::view::Layout;
use stm_core::word::WordAddress;
use stm_core::{Element, Kernel, StmRef};
use stm_kernels::bank::{
    BATCH, Bank as BankKernel, BankAdds, BankAddsParams, BankParams, BankPlan, BankTransaction,
    CHECKS, FINDINGS, WRONG_SUM_OF, WRONG_SUMS,
};
use stm_kernels::draw::draw;

/// The bank's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bank {
    /// Accounts.
    pub accounts: u32,
    /// The exponent of Zipf's law in thousandths; 0 for uniform draws.
    pub zipf_thousandths: u32,
    /// How many transactions in a hundred are audits.
    pub audit_percent: u32,
    /// Accounts that an audit adds up and within which transfers stay.
    pub audit_range: u32,
    /// Accounts of a row, a power of two up to [`BANK_ROW_MAX`], if transfers add
    /// to accounts and do not look at them.
    pub adds_row: Option<u32>,
}

/// The most accounts of a row.
pub const BANK_ROW_MAX: u32 = 1 << 16;

/// The accounts, and what they must become.
pub struct BankData<D: Device> {
    seed: u64,
    plan: BankPlan,
    tables_host: Vec<u64>,
    /// None, if transfers add.
    accounts: Shared<D, i32>,
    /// The accounts then; past the last there are zeros.
    rows: Option<Sums<D, i32>>,
    sums: Buffer<D, i32>,
    tables: Buffer<D, u64>,
    findings: Buffer<D, u64>,
    /// The accounts after so many transactions, and how many of these are
    /// audits; kept for repeated runs.
    expected: Option<(u64, Vec<i32>, u64)>,
}

impl<D: Device> std::fmt::Debug for BankData<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BankData").finish_non_exhaustive()
    }
}

impl Bank {
    /// What the transactions do; the parameters have been checked.
    pub fn plan(&self, seed: u64) -> BankPlan {
        BankPlan::new(
            seed,
            self.accounts,
            self.audit_range,
            self.audit_percent,
            self.zipf_thousandths == 0,
        )
    }

    /// The accounts, and zeros up to the end of the last row.
    fn in_rows(&self, accounts: &[i32]) -> Vec<i32> {
        let row = self.adds_row.unwrap_or(1) as usize;
        let mut rows = accounts.to_vec();
        rows.resize(accounts.len().next_multiple_of(row), 0);
        rows
    }

    /// The balances before a launch: some thousand, another for each account,
    /// so that a store to a wrong one shows.
    pub(crate) fn initial(&self, seed: u64) -> Vec<i32> {
        (0..u64::from(self.accounts))
            .map(|a| 1000 + (draw(seed, a, u32::MAX) >> 54) as i32)
            .collect()
    }

    /// The sum of each range, wrapping as the device's.
    pub(crate) fn sums(plan: &BankPlan, accounts: &[i32]) -> Vec<i32> {
        (0..plan.ranges())
            .map(|range| {
                let start = plan.start(range) as usize;
                accounts[start..start + plan.len(range) as usize]
                    .iter()
                    .fold(0, |sum: i32, balance| sum.wrapping_add(*balance))
            })
            .collect()
    }

    /// The rank of account `offset` of a range.
    fn rank(&self, plan: &BankPlan, range: u32, offset: u32) -> u64 {
        let (ranges, offset) = (u64::from(plan.ranges()), u64::from(offset));
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
    pub(crate) fn tables(&self, plan: &BankPlan) -> Vec<u64> {
        if self.zipf_thousandths == 0 {
            return Vec::new();
        }
        let exponent = -f64::from(self.zipf_thousandths) / 1000.0;
        let mut within = Vec::with_capacity(self.accounts as usize);
        let mut of_ranges = Vec::with_capacity(plan.ranges() as usize);
        for range in 0..plan.ranges() {
            let weights: Vec<f64> = (0..plan.len(range))
                .map(|offset| (self.rank(plan, range, offset) as f64 + 1.0).powf(exponent))
                .collect();
            of_ranges.push(weights.iter().sum::<f64>());
            alias::append(&mut within, &weights);
        }
        let mut tables = Vec::with_capacity(of_ranges.len() + within.len());
        alias::append(&mut tables, &of_ranges);
        tables.append(&mut within);
        tables
    }

    /// The accounts after all of `transactions`, and how many of these are
    /// audits.
    pub(crate) fn replay(
        plan: &BankPlan,
        tables: &[u64],
        mut accounts: Vec<i32>,
        n: u64,
    ) -> (Vec<i32>, u64) {
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

impl<D: Device> BankData<D> {
    fn upload(&mut self, of: &Bank, accounts: &[i32]) -> Result<()> {
        match &mut self.rows {
            Some(rows) => rows.upload(&of.in_rows(accounts))?,
            None => self.accounts.upload(accounts)?,
        }
        Ok(())
    }

    fn download(&self, of: &Bank) -> Result<Vec<i32>> {
        let Some(rows) = &self.rows else {
            return Ok(self.accounts.download()?);
        };
        let mut accounts = rows.download()?;
        accounts.truncate(of.accounts as usize);
        Ok(accounts)
    }
}

/// What is wrong with the accounts, if anything.
pub fn difference(found: &[i32], expected: &[i32]) -> Option<String> {
    let total = |accounts: &[i32]| accounts.iter().map(|&a| i64::from(a)).sum::<i64>();
    let mut wrong = found
        .iter()
        .zip(expected)
        .enumerate()
        .filter(|(_, (f, e))| f != e);
    let (first, (f, e)) = wrong.next()?;
    let more = wrong.count();
    let (total_found, total_expected) = (total(found), total(expected));
    let totals = if total_found == total_expected {
        "the total is right".to_owned()
    } else {
        format!("the total is {total_found}, not {total_expected}")
    };
    Some(format!(
        "account {first} has {f}, not {e}, and {more} more accounts differ; {totals}"
    ))
}

/// What is wrong with what the audits found, if anything. `audits` of the
/// transactions are audits.
pub fn audit_difference(findings: &[u64], audits: u64) -> Option<String> {
    let finding = |at: u64| findings.get(at as usize).copied().unwrap_or(0);
    let (checks, wrong) = (finding(CHECKS), finding(WRONG_SUMS));
    if wrong != 0 || finding(WRONG_SUM_OF) != 0 {
        return Some(format!(
            "{wrong} of {checks} audits saw a sum that their range never had, transaction {} one \
             of them",
            finding(WRONG_SUM_OF).wrapping_sub(1)
        ));
    }
    if checks < audits {
        return Some(format!("only {checks} of {audits} audits compared a sum"));
    }
    (audits == 0 && checks != 0)
        .then(|| format!("{checks} audits compared a sum, and there are none"))
}

impl Workload for Bank {
    type Data<D: Device> = BankData<D>;

    fn name(&self) -> &'static str {
        "bank"
    }

    fn parameters(&self) -> Vec<(&'static str, u64)> {
        let mut parameters = vec![
            ("accounts", self.accounts.into()),
            ("zipf_thousandths", self.zipf_thousandths.into()),
            ("audit_percent", self.audit_percent.into()),
            ("audit_range", self.audit_range.into()),
        ];
        if let Some(row) = self.adds_row {
            parameters.push(("adds_row", row.into()));
        }
        parameters
    }

    fn capacity(&self) -> Capacity {
        let reads = if self.audit_percent == 0 {
            2
        } else {
            // The last range is the longest; its last batch is filled up.
            let rest = self.accounts.checked_rem(self.audit_range).unwrap_or(0);
            self.audit_range
                .saturating_add(rest)
                .checked_next_multiple_of(BATCH as u32)
                .unwrap_or(u32::MAX)
        };
        Capacity { reads, writes: 2 }
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        self.accounts.into()
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let Self {
            accounts,
            audit_percent,
            audit_range,
            ..
        } = *self;
        if audit_range < 2 {
            return Err(Error::Usage(format!(
                "--audit-range {audit_range} is too few: a transfer joins two accounts of a range, \
                 so give 2 or more"
            )));
        }
        if accounts < audit_range {
            return Err(Error::Usage(format!(
                "--accounts {accounts} is too few for --audit-range {audit_range}: \
                 give as many or more"
            )));
        }
        if audit_percent > 0 && self.capacity().reads > SET_WORDS_MAX {
            return Err(Error::Usage(format!(
                "--audit-range {audit_range} is too many: a transaction reads {SET_WORDS_MAX} \
                 accounts at most, and the last range has the rest of {accounts} accounts as well"
            )));
        }
        if audit_percent > 100 {
            return Err(Error::Usage(format!(
                "--audit-share {audit_percent} is no share: give from 0 to 100 per cent"
            )));
        }
        Ok(())
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
                Shared::from_slice(device, Layout::Plain, words, "the accounts of bank")?
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
            expected: None,
        })
    }

    fn initial<D: Device>(&self, data: &BankData<D>) -> Result<Vec<(WordAddress, u64)>> {
        let Some(rows) = &data.rows else {
            return words_of(&data.accounts);
        };
        let values = rows.download()?.into_iter().zip(0u32..);
        let word = |a: u32| rows.word((a / rows.row_len()) as usize, a % rows.row_len());
        Ok(values
            .map(|(value, a)| (word(a), value.to_bits64()))
            .collect())
    }

    fn arrange<D: Device, A: Algorithm>(&self, data: &mut BankData<D>) -> Result<()> {
        Ok(data.accounts.arrange::<A>()?)
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
        if data
            .expected
            .as_ref()
            .is_none_or(|(n, _, _)| *n != transactions)
        {
            data.expected = None; // before the next is made: memory
            let initial = self.initial(data.seed);
            let (accounts, audits) =
                Self::replay(&data.plan, &data.tables_host, initial, transactions);
            data.expected = Some((transactions, accounts, audits));
        }
        let (expected, audits) = data
            .expected
            .as_ref()
            .map_or((&[][..], 0), |(_, e, audits)| (e, *audits));
        let found = data.download(self)?;
        let findings = data.findings.download()?;
        Ok(difference(&found, expected).or_else(|| audit_difference(&findings, audits)))
    }
}

impl<A: Algorithm> Launches<A> for Bank
where
    BankKernel<A>: Kernel<Params = BankParams<A>>,
    BankAdds<A>: Kernel<Params = BankAddsParams<A>>,
{
    type Kernel = BankKernel<A>;

    fn params<D: Device>(
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

    fn compile<D: Device>(&self, device: &D) -> Result<Duration> {
        Ok(if self.adds_row.is_some() {
            device.prepare::<BankAdds<A>>()?
        } else {
            device.prepare::<BankKernel<A>>()?
        })
    }

    fn run<D: Device>(
        &self,
        data: &mut BankData<D>,
        timed: &mut Timed<'_, D, A::Probe>,
        transactions: u64,
    ) -> Result<()> {
        let stm = timed.handle::<A>();
        match &data.rows {
            None => {
                let params = self.params(data, stm, transactions);
                // SAFETY: the parameters hold this memory's handle, for `A`
                // alone, and views of buffers that `data` keeps and nothing else
                // uses.
                unsafe { timed.launch::<BankKernel<A>>(&params)? };
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
                unsafe { timed.launch::<BankAdds<A>>(&params)? };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
