//! The parameters of the workloads with many: their options at the command
//! line, and what they stand for.

use crate::bank::{BANK_ROW_MAX, Bank};
use crate::eigenbench::Eigenbench;
use crate::error::{Error, Result};
use crate::launches;
use crate::numbers::parse_count_32;
use clap::Args;
use stm_kernels::eigenbench::{Accesses, EigenbenchPlan};

/// Of `bank`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[command(next_help_heading = "Workload bank")]
pub struct BankArgs {
    /// Accounts [default: 1M]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub accounts: Option<u32>,
    /// Draw accounts by Zipf's law with this exponent, such as 0.99; 0 draws
    /// them uniformly [default: 0]
    #[arg(long, value_name = "THETA", value_parser = parse_zipf)]
    pub zipf: Option<Thousandths>,
    /// Transactions that are audits, in per cent [default: 10]
    #[arg(long, value_name = "P", value_parser = parse_percent)]
    pub audit_share: Option<u32>,
    /// Accounts that an audit adds up; transfers stay within such a range
    /// [default: 64]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub audit_range: Option<u32>,
    /// With --adds: accounts of a row, a power of two; an audit conflicts with
    /// transfers anywhere in the rows that it reads [default: 64]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub row: Option<u32>,
}

/// Of `eigenbench`, named as in its paper: hot is shared, mild is a lane's own
/// but transactional, cold is a lane's own and plain.
#[derive(Args, Debug, Clone, Copy, Default)]
#[command(next_help_heading = "Workload eigenbench")]
pub struct EigenbenchArgs {
    /// Words of the hot array, which all lanes share (A1) [default: 1M]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub hot_words: Option<u32>,
    /// Hot words that a transaction reads (R1) [default: 32]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub hot_reads: Option<u32>,
    /// Hot words that it adds to: those read, then further ones (W1) [default: 32]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub hot_writes: Option<u32>,
    /// Words of each lane's mild array (A2) [default: 256]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub mild_words: Option<u32>,
    /// Mild words that a transaction reads (R2) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub mild_reads: Option<u32>,
    /// Mild words that it adds to: those read, then further ones (W2) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub mild_writes: Option<u32>,
    /// Words of each lane's cold array, accessed plainly (A3) [default: 256]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub cold_words: Option<u32>,
    /// Cold reads inside a transaction (R3i) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub cold_reads: Option<u32>,
    /// Cold writes inside a transaction (W3i) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub cold_writes: Option<u32>,
    /// Cold reads between two transactions (R3o) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub cold_reads_outside: Option<u32>,
    /// Cold writes between two transactions (W3o) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub cold_writes_outside: Option<u32>,
    /// Steps of arithmetic inside a transaction [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub nops: Option<u32>,
    /// Steps of arithmetic between two transactions [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub nops_outside: Option<u32>,
    /// Accesses that repeat an earlier address of the transaction, in per cent
    /// (lct) [default: 0]
    #[arg(long, value_name = "P", value_parser = parse_percent)]
    pub locality: Option<u32>,
}

/// A number with three decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thousandths(pub u32);

impl std::fmt::Display for Thousandths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", f64::from(self.0) / 1000.0)
    }
}

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

fn parse_percent(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    let percent = number.parse().ok().filter(|&p| digits && p <= 100);
    percent.ok_or_else(|| {
        format!("{text:?} is no share: give a whole number of per cent from 0 to 100, such as 10")
    })
}

/// An option and its value as text, if it was given.
fn given<T: ToString>(option: &'static str, value: Option<T>) -> Option<(&'static str, String)> {
    value.map(|value| (option, value.to_string()))
}

impl BankArgs {
    /// The options given, with their values.
    pub fn given(&self) -> Vec<(&'static str, String)> {
        let options = [
            given("--accounts", self.accounts),
            given("--zipf", self.zipf),
            given("--audit-share", self.audit_share),
            given("--audit-range", self.audit_range),
            given("--row", self.row),
        ];
        options.into_iter().flatten().collect()
    }

    /// The bank with the parameters given, the others by default. With fewer
    /// accounts than the default range has, they are one range. With `adds`,
    /// transfers add.
    ///
    /// # Errors
    /// `--row` without `--adds`, or of no power of two.
    pub fn bank(&self, adds: bool) -> Result<Bank> {
        let accounts = self.accounts.unwrap_or(launches::BANK_ACCOUNTS);
        let range = launches::BANK_AUDIT_RANGE.min(accounts);
        let row = self.row.unwrap_or(launches::BANK_ROW);
        if self.row.is_some() && !adds {
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
            zipf_thousandths: self.zipf.map_or(0, |theta| theta.0),
            audit_percent: self.audit_share.unwrap_or(launches::BANK_AUDIT_PERCENT),
            audit_range: self.audit_range.unwrap_or(range),
            adds_row: adds.then_some(row),
        })
    }
}

impl EigenbenchArgs {
    /// The options given, with their values.
    pub fn given(&self) -> Vec<(&'static str, String)> {
        let options = [
            given("--hot-words", self.hot_words),
            given("--hot-reads", self.hot_reads),
            given("--hot-writes", self.hot_writes),
            given("--mild-words", self.mild_words),
            given("--mild-reads", self.mild_reads),
            given("--mild-writes", self.mild_writes),
            given("--cold-words", self.cold_words),
            given("--cold-reads", self.cold_reads),
            given("--cold-writes", self.cold_writes),
            given("--cold-reads-outside", self.cold_reads_outside),
            given("--cold-writes-outside", self.cold_writes_outside),
            given("--nops", self.nops),
            given("--nops-outside", self.nops_outside),
            given("--locality", self.locality),
        ];
        options.into_iter().flatten().collect()
    }

    /// `EigenBench` with the parameters given, the others by default.
    pub fn eigenbench(&self) -> Eigenbench {
        let accesses = |reads: Option<u32>, writes: Option<u32>, default| Accesses {
            reads: reads.unwrap_or(default),
            writes: writes.unwrap_or(default),
        };
        let words = launches::EIGENBENCH_LANE_WORDS;
        Eigenbench {
            plan: EigenbenchPlan {
                seed: 0,
                hot_words: self.hot_words.unwrap_or(launches::EIGENBENCH_HOT_WORDS),
                mild_words: self.mild_words.unwrap_or(words),
                cold_words: self.cold_words.unwrap_or(words),
                hot: accesses(
                    self.hot_reads,
                    self.hot_writes,
                    launches::EIGENBENCH_ACCESSES,
                ),
                mild: accesses(self.mild_reads, self.mild_writes, 0),
                cold_inside: accesses(self.cold_reads, self.cold_writes, 0),
                cold_outside: accesses(self.cold_reads_outside, self.cold_writes_outside, 0),
                nops_inside: self.nops.unwrap_or(0),
                nops_outside: self.nops_outside.unwrap_or(0),
                locality_percent: self.locality.unwrap_or(0),
            },
        }
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
        assert_eq!(Thousandths(990).to_string(), "0.99");
        for text in ["-1", "10.001", "0.9999", "NaN", "inf", "", "much"] {
            let error = parse_zipf(text).unwrap_err();
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
    }

    #[test]
    fn shares_are_whole_per_cent() {
        for (text, percent) in [("0", 0), ("10", 10), ("10%", 10), ("100", 100)] {
            assert_eq!(parse_percent(text), Ok(percent));
        }
        for text in ["101", "-1", "+5", "0.5", "", "%", "ten"] {
            let error = parse_percent(text).unwrap_err();
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
    }

    #[test]
    fn fewer_accounts_than_a_range_are_one_range() {
        let args = BankArgs {
            accounts: Some(10),
            ..BankArgs::default()
        };
        assert_eq!(args.bank(false).unwrap().audit_range, 10);
        assert_eq!(args.given(), [("--accounts", "10".to_owned())]);
    }
}
