//! What to record: a workload by its name, with the parameters given and the
//! others by the size of the device.
//!
//! Sizes are those of a recording, not of a measurement: a run's records must
//! fit a buffer, and its checker the host.

use crate::error::Error;
use stamp_ports::cli::WorkloadArgs;
use stamp_ports::commands::check_foreign;
use stamp_ports::progress::Progress;
use stamp_ports::variants::suggestion;
use stamp_ports::workload::WORKLOADS;
use stamp_ports::workloads::AnyWorkload;

/// What the default sizes suit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// A few threads.
    Cpu,
    /// Thousands of threads.
    Gpu,
}

/// Transactions of each variant, if the caller says nothing.
pub const TRANSACTIONS: u64 = 100 << 10;

/// The same of labyrinth: its transactions are long, and each run checks its
/// grid by searches on the host.
pub const TRANSACTIONS_LABYRINTH: u64 = 1 << 10;

/// Most passes of a clustering: each is a history, and the first ones move the
/// most points.
const PASSES_MAX: u32 = 8;

/// A workload's name and parameters.
#[derive(Clone, Debug)]
pub struct Input {
    name: &'static str,
    args: WorkloadArgs,
}

/// The workloads of a name, of names separated by commas, or of `all`.
///
/// # Errors
/// [`Error::Usage`], for a name that is none.
pub fn parse_names(text: &str) -> Result<Vec<&'static str>, Error> {
    let known = WORKLOADS.map(|(name, _)| name);
    if text == "all" {
        return Ok(known.to_vec());
    }
    text.split(',')
        .map(str::trim)
        .map(|asked| {
            known
                .into_iter()
                .find(|&name| name == asked)
                .ok_or_else(|| {
                    Error::Usage(format!(
                        "unknown workload {asked:?}: {}; `all` takes every one",
                        suggestion(asked, &known)
                    ))
                })
        })
        .collect()
}

impl Input {
    /// The workload of a name from [`WORKLOADS`]; what `args` does not say is
    /// as the size has it.
    pub fn new(name: &'static str, args: &WorkloadArgs, size: Size) -> Self {
        let mut args = args.clone();
        // A caller's transactions are those of all runs together.
        args.transactions = None;
        let gpu = size == Size::Gpu;
        let of = |on_gpu: u32, on_cpu: u32| Some(if gpu { on_gpu } else { on_cpu });
        match name {
            "ra" => args.words = args.words.or(Some(1 << 20)),
            "genome" => {
                args.genome.g = args.genome.g.or(of(16 << 10, 2 << 10));
                args.genome.s = args.genome.s.or(of(64, 32));
                args.n = args.n.or(of(64 << 10, 16 << 10));
            }
            "labyrinth" if args.input.is_none() => {
                let shape = &mut args.labyrinth;
                shape.x = shape.x.or(of(512, 64));
                shape.y = shape.y.or(of(512, 64));
                shape.z = shape.z.or(of(7, 3));
                args.n = args.n.or(of(512, 64));
            }
            "kmeans" => {
                args.kmeans.passes_max = args.kmeans.passes_max.or(Some(PASSES_MAX));
                let shape = &mut args.kmeans.shape;
                if args.input.is_none() {
                    // A warp's records of a pass fit its first lane's buffer.
                    shape.points = shape.points.or(of(4 << 10, 4 << 10));
                    shape.dims = shape.dims.or(of(31, 15));
                    shape.centres = shape.centres.or(of(64, 16));
                }
            }
            _ => {}
        }
        Self { name, args }
    }

    /// The workload's name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The parameters, those by default included.
    pub const fn args(&self) -> &WorkloadArgs {
        &self.args
    }

    /// Transactions to record, if the caller does not say.
    pub fn transactions(&self) -> u64 {
        if self.name == "labyrinth" {
            TRANSACTIONS_LABYRINTH
        } else {
            TRANSACTIONS
        }
    }

    /// The workload; its input is generated from this seed, unless a file
    /// brings it.
    ///
    /// # Errors
    /// Of the options or the file.
    pub fn make(&self, seed: u64) -> Result<AnyWorkload, Error> {
        let args = WorkloadArgs {
            seed,
            ..self.args.clone()
        };
        Ok(AnyWorkload::new(self.name, &args, &Progress::new())?)
    }
}

/// Refuses parameters that none of the workloads takes, and such as mean
/// another thing for each of several.
///
/// # Errors
/// [`Error::Usage`] and the like, with the option.
pub fn check_options(names: &[&'static str], args: &WorkloadArgs) -> Result<(), Error> {
    // How many transactions to record is the same for all.
    let args = WorkloadArgs {
        transactions: None,
        ..args.clone()
    };
    match names {
        [name] => {
            // One command line may serve both of these.
            let mut args = args;
            if *name == "ra" {
                (args.buckets, args.keys_per_tx) = (None, None);
            }
            if *name == "ht" {
                (args.words, args.reads, args.writes) = (None, None, None);
            }
            Ok(check_foreign(name, &args)?)
        }
        _ => Ok(check_foreign("all", &args)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_or_refused_with_the_nearest() {
        assert_eq!(parse_names("all").unwrap().len(), WORKLOADS.len());
        assert_eq!(parse_names("kmeans, ra").unwrap(), ["kmeans", "ra"]);
        let error = parse_names("kmean").unwrap_err().to_string();
        assert!(error.contains("\"kmean\"") && error.contains("did you mean kmeans?"));
    }

    #[test]
    fn what_is_given_is_kept_and_the_rest_fits_the_device() {
        let mut args = WorkloadArgs::default();
        args.genome.g = Some(99);
        let [small, large] =
            [Size::Cpu, Size::Gpu].map(|size| Input::new("genome", &args, size).args().clone());
        assert_eq!((small.genome.g, large.genome.g), (Some(99), Some(99)));
        assert!(small.n < large.n, "{small:?} {large:?}");
        // A file brings its own shape.
        args.input = Some("maze.txt".into());
        let of_file = Input::new("labyrinth", &args, Size::Cpu);
        assert_eq!(of_file.args().labyrinth.given(), []);
        assert_eq!(of_file.args().n, None);
    }

    #[test]
    fn options_of_another_workload_are_refused() {
        let mut args = WorkloadArgs {
            words: Some(4),
            ..WorkloadArgs::default()
        };
        assert!(check_options(&["ht"], &args).is_ok());
        assert!(check_options(&["ra", "ht"], &args).is_ok());
        let error = check_options(&["bank"], &args).unwrap_err().to_string();
        assert!(
            error.contains("--words 4") && error.contains("bank"),
            "{error}"
        );
        args.words = None;
        args.n = Some(7);
        let error = check_options(&["genome", "kmeans"], &args).unwrap_err();
        assert!(error.to_string().contains("-n 7"), "{error}");
    }
}
