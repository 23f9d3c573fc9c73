//! The bank's sizes.

use crate::workloads::prelude::*;
use stm_kernels::bank::BATCH;

sizes! {
    Bank, options of "bank" {
        accounts: u32 = 1 << 20, count "Accounts" ["1M"],
            when Occasion::Quick => 16 << 10;
        /// 0 for uniform draws.
        zipf_thousandths: u32 = 0, json "zipf_thousandths", option
            /// Draw accounts by Zipf's law with this exponent, such as 0.99; 0 draws
            /// them uniformly [default: 0]
            #[arg(long, value_name = "THETA", value_parser = parse_zipf)]
            zipf;
        audit_percent: u32 = 10, json "audit_percent", option
            /// Transactions that are audits, in per cent [default: 10]
            #[arg(long, value_name = "P", value_parser = parse_percent::<0>)]
            audit_share;
        audit_range: u32 = 64, count "Accounts that an audit adds up; transfers stay within such a range" ["64"];
        /// Accounts of a row, a power of two, if transfers add to accounts and do not read them.
        adds_row: Option<u32> = None, json "adds_row";
        form: Form = Form::Dynamic;
    } and {
        /// With --adds: accounts of a row, a power of two; an audit conflicts with
        /// transfers anywhere in the rows that it reads [default: 64]
        #[arg(long, value_name = "N", value_parser = parse_count_32)]
        row: u32;
    } takes [transactions, adds, is_static, wide] then complete
}

pub(super) const BANK_ROW_MAX: u32 = 1 << 16;
pub(super) const BANK_ROW: u32 = 64;

impl Bank {
    fn complete(self, options: &Options, shared: &SharedOptions) -> Result<Self> {
        let range = self.audit_range.min(self.accounts);
        let row = options.row.unwrap_or(BANK_ROW);
        refuse! {
            options.row.is_some() && !shared.adds =>
                "--row {row} is of no use without --adds: add that, or leave it out";
            !row.is_power_of_two() || row > BANK_ROW_MAX =>
                "--row {row} is no power of two from 1 to {BANK_ROW_MAX}: give one, such as 64";
        }
        Ok(Self {
            audit_range: options.audit_range.unwrap_or(range),
            adds_row: shared.adds.then_some(row),
            form: Form::of_width(shared)?,
            ..self
        })
    }

    /// The most accounts that a transaction reads.
    fn reads(&self) -> u32 {
        if self.audit_percent == 0 {
            return 2;
        }
        // The last range is the longest; its last batch is filled up.
        let rest = self.accounts.checked_rem(self.audit_range).unwrap_or(0);
        let most = self.audit_range.saturating_add(rest);
        most.checked_next_multiple_of(BATCH as u32)
            .unwrap_or(u32::MAX)
    }
}

/// The largest exponent: beyond, all transfers are of one account.
const ZIPF_MAX: f64 = 10.0;

fn parse_zipf(text: &str) -> Result<u32, String> {
    let theta = text.parse().ok().filter(|t| (0.0..=ZIPF_MAX).contains(t));
    let exact = theta.unwrap_or(f64::NAN) * 1000.0;
    let is_exact = (exact - exact.round()).abs() < 1e-6;
    wrong! {
        !is_exact =>
            "{text:?} is no exponent: give from 0 to {ZIPF_MAX} with three decimals at most, such as 0.99";
    }
    Ok(exact.round() as u32)
}

impl Sizes for Bank {
    fn facts(&self, _: u64) -> Facts {
        let drawn = match self.zipf_thousandths {
            0 => "drawn uniformly".to_owned(),
            n => format!("drawn by Zipf's law, exponent {}", f64::from(n) / 1e3),
        };
        let accounts = |n: u32| of(n.into(), "account");
        let [all, range] = [self.accounts, self.audit_range].map(accounts);
        let adds = self.adds_row.map_or_else(String::new, |row| {
            format!(", transfers add, rows of {}", accounts(row))
        });
        let (percent, has_audits) = (self.audit_percent, self.audit_percent > 0);
        Facts {
            summary: format!("{all}, {drawn}, {percent} % audits of {range}{adds}"),
            form: self.form,
            capacity: sets(self.reads(), 2, 0),
            shared_words: self.accounts.into(),
            verifies: if has_audits {
                Covers::Isolation.that(
                    "every account is the sum of all transfers, and each audit saw the sum that \
                     its range always has",
                )
            } else {
                Covers::FinalState.that("every account is the sum of all transfers, which commute")
            },
            // Those of transfers alone: what an audit reads lies together.
            accesses: (!has_audits && self.adds_row.is_none())
                .then(|| Accesses::of(2.0, 2.0, self.accounts)),
            ..Facts::of(self.named())
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let (accounts, audit_percent) = (self.accounts, self.audit_percent);
        let (audit_range, form) = (self.audit_range, self.form);
        refuse! {
            accounts < 2 =>
                "--accounts {accounts} is too few: a transfer joins two, so give 2 or more";
            audit_range < 2 =>
                "--audit-range {audit_range} is too few: a transfer joins two accounts of a range, \
                 so give 2 or more";
            accounts < audit_range =>
                "--accounts {accounts} is too few for --audit-range {audit_range}: give as many or \
                 more";
            audit_percent > 0 && self.reads() > SET_WORDS_MAX =>
                "--audit-range {audit_range} is too many: a transaction reads {SET_WORDS_MAX} \
                 accounts at most, and the last range has the rest of {accounts} accounts as well";
            form.is_static() && audit_percent > 0 =>
                "--audit-share {audit_percent} has no static form, as an audit reads too many \
                 accounts: give --audit-share 0, or leave --static out";
            form.is_static() && self.adds_row.is_some() =>
                "--adds has no static form, which reads accounts: leave --adds or --static out";
        }
        Ok(())
    }
}
