//! Options of the command line that several workloads share.

use crate::numbers::{parse_count, parse_count_32};
use clap::Args;
use std::path::PathBuf;

/// The seed, where the caller gives none.
pub const SEED: u64 = 1;

/// An option that several workloads take, each by its own meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SharedOption {
    /// `-n`.
    N,
    /// `--input`.
    File,
    /// `--transactions`.
    Transactions,
    /// `--adds`.
    Adds,
    /// `--static`.
    Static,
    /// `--keys`.
    Keys,
    /// `--lookups`.
    Lookups,
    /// `--alike`.
    Alike,
}

impl SharedOption {
    /// The option in this field of [`SharedOptions`]; none in that of the seed,
    /// which every workload takes.
    pub fn of_field(field: &str) -> Option<Self> {
        match field {
            "n" => Some(Self::N),
            "input" => Some(Self::File),
            "transactions" => Some(Self::Transactions),
            "adds" => Some(Self::Adds),
            "is_static" => Some(Self::Static),
            "keys" => Some(Self::Keys),
            "lookups" => Some(Self::Lookups),
            "alike" => Some(Self::Alike),
            _ => None,
        }
    }

    /// Whether it means another thing for each workload, so that a value for
    /// several of them makes no sense.
    pub const fn is_of_one_workload(self) -> bool {
        matches!(self, Self::N | Self::File | Self::Keys)
    }
}

/// The options that several workloads share.
#[derive(Args, Debug, Clone)]
#[group(skip)]
pub struct SharedOptions {
    /// labyrinth: paths; genome: segments; kmeans: fewest clusters; vacation: queries of a task
    ///
    /// labyrinth: paths to route [default: 512]; genome: segments drawn
    /// [default: 4M]; kmeans: fewest clusters, each number up to -m is run
    /// [default: as -m]; vacation: queries of a task, at most [default: 2]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    pub n: Option<u32>,
    /// A file in STAMP's format [default: a generated input]
    ///
    /// A file in STAMP's format, for labyrinth or kmeans [default: a generated
    /// input]
    #[arg(short, long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Transactions of a launch [default: 1M]
    ///
    /// Transactions of a launch, where the input does not say how many there are
    /// [default: 1M]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub transactions: Option<u64>,
    /// Add to sums that are not read
    ///
    /// In kmeans and bank, points and transfers are added to sums that they do
    /// not read; under fast and fast-table additions do not conflict with each
    /// other, audits and additions do
    #[arg(long)]
    pub adds: bool,
    /// Make transactions static updates
    ///
    /// In ra, bank and counter, transactions are static updates, whose words are
    /// known before the first is read; of the variant fast, in ra with 16 reads
    /// and 16 writes, in bank with --audit-share 0, in counter without --rounds
    #[arg(long = "static")]
    pub is_static: bool,
    /// Different keys of map [default: 1M] or list [default: 64]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub keys: Option<u32>,
    /// Lookups in a hundred operations [default: 20]
    ///
    /// Lookups in a hundred operations of map or list; the others insert and
    /// remove in equal parts [default: 20]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub lookups: Option<u32>,
    /// Consecutive operations of one kind [default: 1]
    ///
    /// Consecutive operations of map, list or ordered that are of one kind: with
    /// 32 all lanes of a warp do the same [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_alike)]
    pub alike: Option<u32>,
    /// Seed of the data
    #[arg(long, value_name = "S", value_parser = parse_count, default_value_t = SEED)]
    pub seed: u64,
}

impl Default for SharedOptions {
    fn default() -> Self {
        Self {
            n: None,
            input: None,
            transactions: None,
            adds: false,
            is_static: false,
            keys: None,
            lookups: None,
            alike: None,
            seed: SEED,
        }
    }
}

/// Reads a whole number of per cent, from 0 to 100.
///
/// # Errors
/// What is given instead, and what would be right.
pub fn parse_percent(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    let percent = number.parse().ok().filter(|&p| digits && p <= 100);
    percent.ok_or_else(|| {
        format!("{text:?} is no share: give a whole number of per cent from 0 to 100, such as 10")
    })
}

/// Reads how many consecutive operations are of one kind.
///
/// # Errors
/// What is given instead, and what would be right.
fn parse_alike(text: &str) -> Result<u32, String> {
    let alike = parse_count_32(text)?;
    if alike.is_power_of_two() {
        Ok(alike)
    } else {
        Err(format!("{alike} is no power of two: give 1, 2, 4, ... 32"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;

    #[test]
    fn operations_of_one_kind_come_in_powers_of_two() {
        assert_eq!(parse_alike("1"), Ok(1));
        assert_eq!(parse_alike("32"), Ok(32));
        for text in ["0", "3", "33"] {
            let error = parse_alike(text).unwrap_err();
            has(&error, text);
            has(&error, "power of two");
        }
        assert!(parse_alike("x").is_err());
    }

    #[test]
    fn shares_are_whole_per_cent() {
        for (text, percent) in [("0", 0), ("10", 10), ("10%", 10), ("100", 100)] {
            assert_eq!(parse_percent(text), Ok(percent));
        }
        for text in ["101", "-1", "+5", "0.5", "", "%", "ten"] {
            has(&parse_percent(text).unwrap_err(), &format!("{text:?}"));
        }
    }
}
