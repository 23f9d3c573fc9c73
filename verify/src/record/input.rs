//! What to record: a workload's input, sized so that a run's records fit a
//! buffer, and its checker the host.

use crate::error::Error;
use stamp_ports::devices::DeviceKind;
use stamp_ports::workloads::input::Occasion;
use stamp_ports::workloads::options::WorkloadArgs;
use stamp_ports::workloads::{AnyInput, AnyWorkload, parse_names as parse};

/// What the default sizes suit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// A few threads.
    Cpu,
    /// Thousands of threads.
    Gpu,
}

impl Size {
    /// The occasion that inputs are sized for.
    pub const fn occasion(self) -> Occasion {
        Occasion::Recording(match self {
            Self::Cpu => DeviceKind::Cpu,
            Self::Gpu => DeviceKind::Cuda,
        })
    }
}

/// Transactions of each variant, if the caller says nothing.
pub const TRANSACTIONS: u64 = 100 << 10;

/// The same for a workload whose blocks work on a transaction together: these
/// are long.
pub const TRANSACTIONS_OF_BLOCKS: u64 = 1 << 10;

/// The input of a recording.
#[derive(Clone, Debug)]
pub struct Input(AnyInput);

/// Reads names of workloads separated by commas, or `all`.
///
/// # Errors
/// [`Error::Usage`], for a name that is none.
pub fn parse_names(text: &str) -> Result<Vec<&'static str>, Error> {
    Ok(parse(text)?)
}

impl From<AnyInput> for Input {
    fn from(input: AnyInput) -> Self {
        Self(input)
    }
}

impl Input {
    /// The input of a workload: what `args` does not say is as the size has it.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub fn new(name: &str, args: &WorkloadArgs, size: Size) -> Result<Self, Error> {
        let mut args = args.clone();
        // A caller's transactions are those of all runs together.
        args.take_transactions();
        Ok(Self(args.input(name, size.occasion())?))
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
        Ok(self.0.make(seed)?)
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
    let checked = match names {
        [name] if both.contains(name) => args.check(&both, false),
        _ => args.check(names, names.len() > 1),
    };
    Ok(checked?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, Command, FromArgMatches};
    use stamp_ports::workloads::labyrinth::Grid;

    fn args(options: &[&str]) -> WorkloadArgs {
        let command = WorkloadArgs::augment_args(Command::new("record"));
        let words = ["record"].iter().chain(options);
        let matches = command.try_get_matches_from(words).expect("options");
        WorkloadArgs::from_arg_matches(&matches).expect("values")
    }

    #[test]
    fn names_are_known_or_refused_with_the_nearest() {
        assert!(parse_names("all").unwrap().len() > 6);
        assert_eq!(parse_names("kmeans, ra").unwrap(), ["kmeans", "ra"]);
        let error = parse_names("kmean").unwrap_err().to_string();
        assert!(error.contains("\"kmean\"") && error.contains("did you mean kmeans?"));
    }

    #[test]
    fn what_is_given_is_kept_and_the_rest_fits_the_device() {
        let genome = |size| {
            let input = Input::new("genome", &args(&["-g", "99"]), size).unwrap();
            match input.0 {
                AnyInput::Genome(genome) => genome,
                other => panic!("{other:?}"),
            }
        };
        let (small, large) = (genome(Size::Cpu), genome(Size::Gpu));
        assert_eq!((small.bases, large.bases), (99, 99));
        assert!(small.segments < large.segments, "{small:?} {large:?}");
        // A file brings its own shape.
        let of_file = Input::new("labyrinth", &args(&["-i", "maze.txt"]), Size::Cpu).unwrap();
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
        assert!(
            error.contains("--words 4") && error.contains("bank"),
            "{error}"
        );
        let error = check_options(&["genome", "kmeans"], &args(&["-n", "7"])).unwrap_err();
        assert!(error.to_string().contains("-n 7"), "{error}");
    }
}
