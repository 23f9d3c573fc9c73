//! The options of all workloads at the command line, and the inputs that they describe.
//!
//! Which options were given is known from the parser, so that one that the
//! workload does not take is refused by name.

use super::AnyInput;
use super::input::{Input, Occasion, SharedOptions};
use crate::error::{Error, Result};
use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The options of all workloads, and those that several share.
#[derive(Debug, Clone, Default)]
pub struct WorkloadArgs {
    pub shared: SharedOptions,
    /// What the command line gives for the others, if there was one.
    own: Option<ArgMatches>,
    given: Vec<Given>,
}

#[derive(Clone, Debug)]
struct Given {
    field: String,
    /// The option with its value, such as `--words 8`.
    written: String,
    /// The workloads that take it.
    of: Vec<&'static str>,
}

/// Shared options that mean another thing for each workload.
const OF_ONE_WORKLOAD: [&str; 3] = ["n", "input", "keys"];

/// The one shared option that every workload takes.
const OF_EVERY_WORKLOAD: &str = "seed";

struct OptionsOf {
    name: &'static str,
    /// The fields of the shared options that it takes.
    takes: &'static [&'static str],
    add: fn(Command) -> Command,
    /// Makes its input of what was given, and of the defaults for an occasion.
    input: fn(&WorkloadArgs, Occasion) -> Result<AnyInput>,
}

macro_rules! options {
    ($($name:ident: $Variant:ident($module:ident::$Input:ident), $about:literal;)*) => {
        const WORKLOADS: &[OptionsOf] = &[$(OptionsOf {
            name: stringify!($name),
            takes: <super::$module::$Input as Input>::TAKES,
            add: |command| {
                let command = command.next_help_heading(concat!("Workload ", stringify!($name)));
                <super::$module::$Input as Input>::Options::augment_args(command)
            },
            input: |args, occasion| {
                let own = args.own.as_ref().map(FromArgMatches::from_arg_matches).transpose();
                let own = own.map_err(|error| Error::Usage(error.to_string()))?;
                let sized = super::$module::$Input::sized(occasion);
                let input = sized.with(&own.unwrap_or_default(), &args.shared)?;
                Ok(AnyInput::$Variant(input))
            },
        }),*];
    };
}
for_each_workload!(options);

/// Returns the options that the caller gave of those that `add` adds: the field of each, and how it
/// was written.
fn given(add: fn(Command) -> Command, matches: &ArgMatches) -> Vec<(String, String)> {
    let command = add(Command::new(""));
    let given = command.get_arguments().filter_map(|arg| {
        let field = arg.get_id().as_str();
        if matches.value_source(field) != Some(ValueSource::CommandLine) {
            return None;
        }
        let mut written = match (arg.get_long(), arg.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, short) => format!("-{}", short.unwrap_or_default()),
        };
        if arg.get_action().takes_values() {
            let values = matches.get_raw(field).into_iter().flatten();
            let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
            written.push(' ');
            written.push_str(&values.join(","));
        }
        Some((field.to_owned(), written))
    });
    given.collect()
}

fn fields(add: fn(Command) -> Command) -> Vec<String> {
    let command = add(Command::new(""));
    let fields = command.get_arguments().map(|arg| arg.get_id().to_string());
    fields.collect()
}

impl Args for WorkloadArgs {
    fn augment_args(command: Command) -> Command {
        let shared = SharedOptions::augment_args(command.next_help_heading("Workload"));
        let all = WORKLOADS.iter().fold(shared, |rest, of| (of.add)(rest));
        all.next_help_heading(Resettable::Reset)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for WorkloadArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let shared = given(SharedOptions::augment_args, matches).into_iter();
        let shared = shared.filter(|(field, _)| field != OF_EVERY_WORKLOAD);
        let shared = shared.map(|(field, written)| {
            let takers = WORKLOADS.iter().filter(|of| of.takes.contains(&&*field));
            let of = takers.map(|of| of.name).collect();
            Given { field, written, of }
        });
        let own = WORKLOADS.iter().flat_map(|of| {
            let given = given(of.add, matches).into_iter();
            given.map(|(field, written)| Given {
                field,
                written,
                of: vec![of.name],
            })
        });
        Ok(Self {
            shared: SharedOptions::from_arg_matches(matches)?,
            own: Some(matches.clone()),
            given: shared.chain(own).collect(),
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
        let (of, others): (Vec<_>, Vec<_>) =
            (WORKLOADS.iter()).partition(|of| workloads.contains(&of.name));
        let mut fields_of_none = fields(SharedOptions::augment_args);
        fields_of_none.retain(|field| {
            field != OF_EVERY_WORKLOAD && !of.iter().any(|of| of.takes.contains(&&**field))
        });
        fields_of_none.extend(others.iter().flat_map(|of| fields(of.add)));
        fields_of_none
    }

    /// The input of a workload: what the options say, and where they say nothing the defaults for
    /// the occasion.
    pub fn input(&self, name: &str, occasion: Occasion) -> Result<AnyInput> {
        match WORKLOADS.iter().find(|of| of.name == name) {
            Some(of) => (of.input)(self, occasion),
            None => Err(Error::Usage(format!(
                "there is no workload {name}: `stamp list` names them"
            ))),
        }
    }

    /// Takes `--transactions` out, for a caller that gives it another meaning.
    pub fn take_transactions(&mut self) -> Option<u64> {
        self.given.retain(|given| given.field != "transactions");
        self.shared.transactions.take()
    }

    /// Refuses options that none of the workloads takes, and such as mean another thing for each of
    /// several. `all` are exempt from the former: whether the caller means every workload there is.
    pub fn check(&self, workloads: &[&str], all: bool) -> Result<()> {
        for Given { field, written, of } in &self.given {
            refuse! {
                OF_ONE_WORKLOAD.contains(&&**field) && workloads.len() > 1 =>
                    "{written} means another thing for each workload: name one instead of {}",
                    if all { "all".to_owned() } else { workloads.join(",") };
                !all && !of.iter().any(|name| workloads.contains(name)) =>
                    "{written} is for {}, not for {}: leave it out",
                    of.join(" and "), workloads.join(" and ");
            }
        }
        Ok(())
    }
}
