//! What to record: a workload's input, sized so that a run's records fit a
//! buffer, and its checker the host.

use crate::devices::DeviceKind;
use crate::error::Error;
use crate::workloads::input::Occasion;
use crate::workloads::options::WorkloadArgs;
use crate::workloads::{AnyInput, AnyWorkload};

/// Transactions of each variant, if the caller says nothing.
pub const TRANSACTIONS: u64 = 100 << 10;

/// The same for a workload whose blocks work on a transaction together: these
/// are long.
pub const TRANSACTIONS_OF_BLOCKS: u64 = 1 << 10;

/// The input of a recording.
#[derive(Clone, Debug)]
pub struct Input(AnyInput);

impl From<AnyInput> for Input {
    fn from(input: AnyInput) -> Self {
        Self(input)
    }
}

impl Input {
    /// The input of a workload: what `args` does not say suits the kind of device.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub fn new(name: &str, args: &WorkloadArgs, device: DeviceKind) -> Result<Self, Error> {
        let mut args = args.clone();
        // A caller's transactions are those of all runs together.
        args.take_transactions();
        Ok(Self(args.input(name, Occasion::Recording(device))?))
    }

    /// The workload's name.
    pub const fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Transactions to record, if the caller does not say.
    pub const fn transactions(&self) -> u64 {
        if self.0.is_by_blocks() {
            TRANSACTIONS_OF_BLOCKS
        } else {
            TRANSACTIONS
        }
    }

    /// The workload; its input is generated from this seed, unless a file
    /// brings it.
    ///
    /// # Errors
    /// A file that cannot be read, or sizes from which nothing can be drawn.
    pub fn make(&self, seed: u64) -> Result<AnyWorkload, Error> {
        self.0.make(seed)
    }
}

/// Refuses options that none of the workloads takes, and such as mean another
/// thing for each of several.
///
/// # Errors
/// [`Error::Usage`] and the like, with the option.
pub fn check_options(names: &[&'static str], args: &WorkloadArgs) -> Result<(), Error> {
    // How many transactions to record is the same for all.
    let mut args = args.clone();
    args.take_transactions();
    // One command line may serve both of these.
    let both = ["ra", "ht"];
    match names {
        [name] if both.contains(name) => args.check(&both, false),
        _ => args.check(names, names.len() > 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;
    use crate::workloads::labyrinth::Grid;
    use clap::{Args, Command, FromArgMatches};

    fn args(options: &[&str]) -> WorkloadArgs {
        let command = WorkloadArgs::augment_args(Command::new("record"));
        let words = ["record"].iter().chain(options);
        let matches = command.try_get_matches_from(words).expect("options");
        WorkloadArgs::from_arg_matches(&matches).expect("values")
    }

    #[test]
    fn what_is_given_is_kept_and_the_rest_fits_the_device() {
        let genome = |kind| {
            let input = Input::new("genome", &args(&["-g", "99"]), kind).unwrap();
            match input.0 {
                AnyInput::Genome(genome) => genome,
                other => panic!("{other:?}"),
            }
        };
        let (small, large) = (genome(DeviceKind::Cpu), genome(DeviceKind::Cuda));
        assert_eq!((small.bases, large.bases), (99, 99));
        assert!(small.segments < large.segments, "{small:?} {large:?}");
        // A file brings its own shape.
        let of_file = Input::new("labyrinth", &args(&["-i", "maze.txt"]), DeviceKind::Cpu).unwrap();
        match of_file.0 {
            AnyInput::Labyrinth(labyrinth) => {
                assert_eq!(labyrinth.grid, Grid::File("maze.txt".into()));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_of_another_workload_are_refused() {
        let words = args(&["--words", "4", "--transactions", "9"]);
        assert!(check_options(&["ht"], &words).is_ok());
        assert!(check_options(&["ra", "ht"], &words).is_ok());
        let error = check_options(&["bank"], &words).unwrap_err().to_string();
        has(&error, "--words 4 | bank");
        let error = check_options(&["genome", "kmeans"], &args(&["-n", "7"])).unwrap_err();
        assert!(error.to_string().contains("-n 7"), "{error}");
    }
}
