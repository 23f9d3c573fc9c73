//! The bank's options at the command line.

use super::input::{BANK_ROW, BANK_ROW_MAX, Bank};
use crate::error::{Error, Result};
use crate::numbers::parse_count_32;
use crate::workloads::form::Form;
use crate::workloads::shared_options::{
    SharedOption, SharedOptions, WorkloadOptions, parse_percent,
};
use clap::Args;

/// The options of `bank`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Accounts [default: 1M]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    accounts: Option<u32>,
    /// Draw accounts by Zipf's law with this exponent, such as 0.99; 0 draws
    /// them uniformly [default: 0]
    #[arg(long, value_name = "THETA", value_parser = parse_zipf)]
    zipf: Option<Thousandths>,
    /// Transactions that are audits, in per cent [default: 10]
    #[arg(long, value_name = "P", value_parser = parse_percent)]
    audit_share: Option<u32>,
    /// Accounts that an audit adds up; transfers stay within such a range
    /// [default: 64]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    audit_range: Option<u32>,
    /// With --adds: accounts of a row, a power of two; an audit conflicts with
    /// transfers anywhere in the rows that it reads [default: 64]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    row: Option<u32>,
}

/// A number with three decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thousandths(u32);

/// The largest exponent: beyond, all transfers are of one account.
const ZIPF_MAX: f64 = 10.0;

fn parse_zipf(text: &str) -> Result<Thousandths, String> {
    let thousandths = text
        .parse::<f64>()
        .ok()
        .filter(|theta| (0.0..=ZIPF_MAX).contains(theta))
        .map(|theta| (theta * 1000.0, (theta * 1000.0).round()))
        .filter(|(exact, rounded)| (exact - rounded).abs() < 1e-6)
        .map(|(_, rounded)| rounded as u32);
    thousandths.map(Thousandths).ok_or_else(|| {
        format!(
            "{text:?} is no exponent: give from 0 to {ZIPF_MAX} with three decimals at most, such as 0.99"
        )
    })
}

impl WorkloadOptions for Options {
    type Input = Bank;

    const TAKES: &'static [SharedOption] = &[
        SharedOption::Transactions,
        SharedOption::Adds,
        SharedOption::Static,
    ];

    /// With fewer accounts than the default range has, they are one range.
    fn fill(&self, shared: &SharedOptions, base: Bank) -> Result<Bank> {
        let accounts = self.accounts.unwrap_or(base.accounts);
        let range = base.audit_range.min(accounts);
        let row = self.row.unwrap_or(BANK_ROW);
        if self.row.is_some() && !shared.adds {
            return Err(Error::Usage(format!(
                "--row {row} is of no use without --adds: add that, or leave it out"
            )));
        }
        if !row.is_power_of_two() || row > BANK_ROW_MAX {
            return Err(Error::Usage(format!(
                "--row {row} is no power of two from 1 to {BANK_ROW_MAX}: give one, such as 64"
            )));
        }
        Ok(Bank {
            accounts,
            zipf_thousandths: self.zipf.map_or(base.zipf_thousandths, |theta| theta.0),
            audit_percent: self.audit_share.unwrap_or(base.audit_percent),
            audit_range: self.audit_range.unwrap_or(range),
            adds_row: shared.adds.then_some(row),
            form: Form::of(shared.is_static),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_have_three_decimals_at_most() {
        for (text, thousandths) in [("0", 0), ("0.99", 990), ("1", 1000), ("10", 10_000)] {
            assert_eq!(parse_zipf(text), Ok(Thousandths(thousandths)));
        }
        for text in ["-1", "10.001", "0.9999", "NaN", "inf", "", "much"] {
            let error = parse_zipf(text).unwrap_err();
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
    }

    #[test]
    fn fewer_accounts_than_a_range_are_one_range() {
        let options = Options {
            accounts: Some(10),
            ..Options::default()
        };
        let shared = SharedOptions::default();
        let bank = options.fill(&shared, Bank::default()).unwrap();
        assert_eq!((bank.accounts, bank.audit_range), (10, 10));
    }
}
