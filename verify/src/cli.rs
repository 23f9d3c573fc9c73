//! The command line of the program `verify`.

use crate::fuzz::{Config, parse_count};
use clap::{Args, Parser};
use std::path::PathBuf;

#[derive(Parser, Debug)]
#[command(
    name = "verify",
    version,
    about = "Checks transactional memories: histories, simulation, seeded defects",
    after_help = "\
Examples:
  verify check run.history                   judge a recorded history
  verify fuzz --variant all --minutes 5      random programs, simulated
  verify mutants                             is every seeded defect caught?
  stamp record ra --device cuda              record a workload, and judge it

Exit status: 0 if all is well, 1 if something is in violation or a device
failed, 2 if the command line or a file cannot be used.",
    max_term_width = 80
)]
pub enum Cli {
    /// Judge recorded histories
    #[command(after_help = "\
Examples:
  verify check run.history
  verify check --json *.history
  verify check run.history --page run.html")]
    Check(CheckArgs),
    /// Run random programs on the simulator
    #[command(after_help = "\
Runs until the time or the number of transactions is reached, or a check
fails; then it prints the smallest case that fails, as a line for `replay`.
Counts may be written 100_000, 100K, 10M or 2^20 (powers of 1024).

Examples:
  verify fuzz --variant hv-sorting --minutes 10 --seed 7
  verify fuzz --transactions 100M --log fuzz.txt
  verify fuzz --variant fast --version-bits 3..8 --minutes 5
  verify fuzz --mutant no-e5 --variant hv-sorting --minutes 1")]
    Fuzz(Config),
    /// Try every seeded defect, and the right code on ten times as much
    #[command(after_help = "\
With --random, each defect also meets random programs that were not chosen for
it, and the table says after how many of them it was caught.

Examples:
  verify mutants
  verify mutants --random 100K
  verify mutants --json
  verify mutants --list")]
    Mutants(MutantsArgs),
    /// Run one case again, from the line that a failure printed
    #[command(after_help = "\
Example:
  verify replay --page page.html 'hv-sorting!no-e5 3x1 own u32 init=0,0
      : r0 r1 / w0=1 / w1=1 : sim:w1,random,weak50,seed=0x2a'")]
    Replay(ReplayArgs),
    /// Recording a workload is a command of `stamp`
    #[command(hide = true)]
    Record(MovedArgs),
    /// Judging results is a command of `stamp`
    #[command(hide = true)]
    Isolation(MovedArgs),
}

/// The arguments of a command that has moved to `stamp`.
#[derive(Args, Debug)]
pub struct MovedArgs {
    /// Whatever it took
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub rest: Vec<String>,
}

#[derive(Args, Debug)]
pub struct CheckArgs {
    /// History files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Show the history, which must be one, as a page
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Print JSON, one object a file
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct MutantsArgs {
    /// Only name them
    #[arg(long)]
    pub list: bool,
    /// Run up to so many random programs with each defect as well
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "0")]
    pub random: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// The line
    pub line: String,
    /// Look for a smaller case if it fails
    #[arg(long)]
    pub shrink: bool,
    /// Show the history of the run as a page
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Clap's error as one line: its first paragraph, without the usage.
pub(crate) fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let parts: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("Usage:"))
        .filter(|line| !line.starts_with("For more information"))
        .map(|line| line.trim_start_matches("error: "))
        .collect();
    format!("{} (try `verify --help`)", parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent_and_its_help_fits_80_columns() {
        Cli::command().debug_assert();
        for name in ["", "check", "fuzz", "mutants", "replay"] {
            let mut arguments = vec!["verify"];
            arguments.extend((!name.is_empty()).then_some(name));
            arguments.push("--help");
            let help = Cli::try_parse_from(arguments).unwrap_err().to_string();
            assert!(help.contains("Example"), "{name}: {help}");
            let widest = help.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(80), "{name}: {help}");
            if name == "replay" {
                // The example as it is printed, with its break.
                let line = help.split('\'').nth(1).unwrap();
                line.parse::<crate::program::Case>().unwrap();
            }
        }
    }
}
