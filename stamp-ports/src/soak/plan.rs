//! What a soak is asked to do.

use crate::devices::{Choice, parse_choice};
use crate::error::Error;
use crate::numbers::parse_count;
use crate::variants::parse_list;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Transactions on memories that live long.
    Memories,
    /// Transfers on other such memories.
    Transfers,
    /// Workloads.
    Runs,
    /// Faults.
    Faults,
    /// Recorded histories.
    Histories,
}

impl Step {
    const ALL: [Self; 5] = [
        Self::Memories,
        Self::Transfers,
        Self::Runs,
        Self::Faults,
        Self::Histories,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Memories => "memories",
            Self::Transfers => "transfers",
            Self::Runs => "runs",
            Self::Faults => "faults",
            Self::Histories => "histories",
        }
    }
}

/// Several steps in one argument.
pub(super) type StepList = std::vec::Vec<Step>;

/// Reads `all` or names of steps separated by commas.
///
/// # Errors
/// An unknown name, with the known ones.
pub(super) fn parse_steps(text: &str) -> Result<StepList, Error> {
    parse_list(text, &Step::ALL, Step::name, |name, known| {
        let known = known.join(", ");
        format!("there is no step {name:?}: known are {known} and all")
    })
}

/// What a soak is asked to do.
#[derive(Args, Clone, Debug)]
pub struct Plan {
    /// How long this session takes, in minutes
    #[arg(long, value_name = "M", value_parser = parse_minutes)]
    pub minutes: Duration,
    /// Seed of everything that is drawn [default: 1, or that of --resume]
    #[arg(long, value_name = "S", value_parser = parse_count)]
    pub seed: Option<u64>,
    /// auto, cpu, cuda or cuda:N
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// Go on with the soak whose state this file is
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Only these steps, separated by commas, or all
    #[arg(long, value_name = "STEP,...", value_parser = parse_steps, default_value = "all")]
    pub only: StepList,
    /// Transactions of a launch of transfers [default: drawn]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub chunk: Option<u64>,
    /// Record and judge no histories
    #[arg(long)]
    pub no_histories: bool,
    /// The folder of soak.json and soak.txt, made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

fn parse_minutes(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|&minutes: &f64| minutes > 0.0)
        .and_then(|minutes| Duration::try_from_secs_f64(60.0 * minutes).ok())
        .ok_or_else(|| format!("{text:?} is no time: give minutes above 0, such as 10"))
}
