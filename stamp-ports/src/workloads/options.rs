//! The options of all workloads at the command line. Which were given is known from the parser, so that one
//! that the workload does not take is refused by name.

use super::input::SharedOptions;
use super::{AnyWorkload, OPTIONS, OptionsOf};
use crate::prelude::*;
use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, FromArgMatches};

pub use super::input::WorkloadArgs;

/// Shared options that mean another thing for each workload.
const OF_ONE_WORKLOAD: [&str; 3] = ["n", "input", "keys"];

/// What a workload draws, and the options that describe it: of no use with `--input`.
const DRAWN: [(&str, &str, &[&str]); 2] = [
    ("kmeans", "generated points", &["points", "dims", "centres"]),
    (
        "labyrinth",
        "a generated grid",
        &["x", "y", "z", "walls", "n"],
    ),
];

/// Returns the options of all workloads, and who takes each; not the seed, which all take.
fn options() -> impl Iterator<Item = (Arg, Vec<&'static str>)> {
    let args = |add: fn(Command) -> Command| {
        let command = add(Command::new(""));
        command.get_arguments().cloned().collect::<Vec<_>>()
    };
    let shared = args(SharedOptions::augment_args).into_iter();
    let shared = shared.filter(|arg| arg.get_id() != "seed");
    let shared = shared.map(|arg| {
        let takes = |of: &&OptionsOf| of.takes.contains(&arg.get_id().as_str());
        let of = OPTIONS.iter().filter(takes).map(|of| of.name).collect();
        (arg, of)
    });
    let own = OPTIONS.iter();
    shared.chain(own.flat_map(move |of| args(of.add).into_iter().map(|arg| (arg, vec![of.name]))))
}

fn written(arg: &Arg, matches: &ArgMatches) -> String {
    let mut written = match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, short) => format!("-{}", short.unwrap_or_default()),
    };
    if arg.get_action().takes_values() {
        let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
        let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
        written = format!("{written} {}", values.join(","));
    }
    written
}

impl Args for WorkloadArgs {
    fn augment_args(command: Command) -> Command {
        let shared = SharedOptions::augment_args(command.next_help_heading("Workload"));
        let add = |rest: Command, of: &OptionsOf| (of.add)(rest.next_help_heading(of.heading));
        let all = OPTIONS.iter().fold(shared, add);
        all.next_help_heading(Resettable::Reset)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for WorkloadArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            shared: SharedOptions::from_arg_matches(matches)?,
            given: Some(matches.clone()),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl WorkloadArgs {
    /// Returns the names of those options that none of these workloads takes.
    pub fn not_of(workloads: &[&str]) -> Vec<String> {
        let others = options().filter(|(_, of)| !of.iter().any(|name| workloads.contains(name)));
        others.map(|(arg, _)| arg.get_id().to_string()).collect()
    }

    /// Makes a workload, of the defaults for an occasion where the options say nothing.
    pub fn workload(&self, name: &str, occasion: Occasion) -> Result<AnyWorkload> {
        let known = OPTIONS.iter().find(|of| of.name == name);
        let unknown = || format!("there is no workload {name}: `stamp list` names them");
        let of = known.ok_or_else(|| Error::Usage(unknown()))?;
        (of.new)(self, occasion)
    }

    /// Refuses options that mean another thing for each of several workloads, that none of them takes
    /// (unless they are `all` that there are), and that describe what is not drawn.
    pub fn check(&self, workloads: &[&str], all: bool) -> Result<()> {
        let Some(given) = &self.given else {
            return Ok(());
        };
        let (shared, several) = (&self.shared, workloads.len() > 1);
        for (arg, of) in options() {
            let field = arg.get_id().as_str();
            let is_taken = field == "transactions" && shared.transactions.is_none();
            if given.value_source(field) != Some(ValueSource::CommandLine) || is_taken {
                continue;
            }
            let drawn = DRAWN.iter().find(|(name, _, fields)| {
                shared.input.is_some() && workloads.contains(name) && fields.contains(&field)
            });
            refuse! {
                OF_ONE_WORKLOAD.contains(&field) && several =>
                    "{} means another thing for each workload: name one instead of {}",
                    written(&arg, given), if all { "all".to_owned() } else { workloads.join(",") };
                !all && !of.iter().any(|name| workloads.contains(name)) =>
                    "{} is for {}, not for {}: leave it out",
                    written(&arg, given), of.join(" and "), workloads.join(" and ");
                drawn.is_some() =>
                    "{} is for {}, and --input brings its own: leave one of them out",
                    written(&arg, given), drawn.map_or("", |(_, what, _)| what);
            }
        }
        Ok(())
    }
}

impl AnyWorkload {
    /// Makes the workload of this name for an occasion, without options.
    pub fn sized(name: &str, occasion: Occasion, seed: u64) -> Result<Self> {
        let mut args = WorkloadArgs::default();
        args.shared.seed = seed;
        args.workload(name, occasion)
    }
}
