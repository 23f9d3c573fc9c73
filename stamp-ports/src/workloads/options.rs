//! The options of all workloads at the command line, and the inputs that they describe.
//!
//! Which options were given is known from the parser, so that one that the
//! workload does not take is refused by name.

use super::AnyInput;
use super::input::{Input, Occasion, SharedOption, SharedOptions};
use crate::error::{Error, Result};
use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// An option that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Given {
    /// The option as it is written, such as `--words`.
    option: String,
    /// Its value as it was written; empty for a flag.
    value: String,
    /// The workloads that take it.
    of: Vec<&'static str>,
    /// Whether it means another thing for each workload.
    is_of_one_workload: bool,
}

/// An option of a command: its field, how it is written, and whether it takes a value.
fn options_of(command: &Command) -> Vec<(String, String, bool)> {
    let written = |arg: &clap::Arg| match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => arg.get_id().to_string(),
    };
    let options = command.get_arguments().map(|arg| {
        let takes_value = arg.get_action().takes_values();
        (arg.get_id().to_string(), written(arg), takes_value)
    });
    options.collect()
}

/// The options of a command that the caller gave, with their values.
fn given(command: &Command, matches: &ArgMatches) -> Vec<(String, String, String)> {
    let options = options_of(command).into_iter();
    let given = options.filter_map(|(field, option, takes_value)| {
        if matches.value_source(&field) != Some(ValueSource::CommandLine) {
            return None;
        }
        let values = matches.get_raw(&field).into_iter().flatten();
        let words: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
        let value = if takes_value {
            words.join(",")
        } else {
            String::new()
        };
        Some((field, option, value))
    });
    given.collect()
}

/// The options of one workload, by its input.
type OptionsOf<I> = <I as Input>::Options;

macro_rules! options {
    ($($name:ident: $Variant:ident($module:ident::$Input:ident), $about:literal;)*) => {
        /// The options of all workloads, and those that several share.
        #[derive(Debug, Clone, Default)]
        pub struct WorkloadArgs {
            /// The shared ones.
            pub shared: SharedOptions,
            $($name: OptionsOf<super::$module::$Input>,)*
            given: Vec<Given>,
        }

        impl Args for WorkloadArgs {
            fn augment_args(command: Command) -> Command {
                let command = command.next_help_heading("Workload");
                let command = SharedOptions::augment_args(command);
                $(
                    let command = command.next_help_heading(concat!("Workload ", stringify!($name)));
                    let command = OptionsOf::<super::$module::$Input>::augment_args(command);
                )*
                command.next_help_heading(Resettable::Reset)
            }

            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }

        impl FromArgMatches for WorkloadArgs {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                let mut all = Self {
                    shared: SharedOptions::from_arg_matches(matches)?,
                    $($name: OptionsOf::<super::$module::$Input>::from_arg_matches(matches)?,)*
                    given: Vec::new(),
                };
                let shared = SharedOptions::augment_args(Command::new(""));
                for (field, option, value) in given(&shared, matches) {
                    let Some(of) = SharedOption::of_field(&field) else {
                        continue;
                    };
                    let takers = [$((stringify!($name), <super::$module::$Input as Input>::TAKES)),*];
                    let takers = takers.iter().filter(|(_, takes)| takes.contains(&of));
                    all.given.push(Given {
                        option,
                        value,
                        of: takers.map(|(name, _)| *name).collect(),
                        is_of_one_workload: of.is_of_one_workload(),
                    });
                }
                $(
                    let own = OptionsOf::<super::$module::$Input>::augment_args(Command::new(""));
                    all.given.extend(given(&own, matches).into_iter().map(|(_, option, value)| Given {
                        option,
                        value,
                        of: vec![stringify!($name)],
                        is_of_one_workload: false,
                    }));
                )*
                Ok(all)
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl WorkloadArgs {
            /// Returns the names of those options that none of these workloads takes.
            pub fn not_of(workloads: &[&str]) -> Vec<String> {
                let taken = [$((stringify!($name), <super::$module::$Input as Input>::TAKES)),*];
                let taken: Vec<SharedOption> = taken
                    .iter()
                    .filter(|(name, _)| workloads.contains(name))
                    .flat_map(|(_, takes)| takes.iter().copied())
                    .collect();
                let shared = SharedOptions::augment_args(Command::new(""));
                let mut fields: Vec<String> = options_of(&shared).into_iter().map(|(field, ..)| field).collect();
                fields.retain(|field| SharedOption::of_field(field).is_some_and(|of| !taken.contains(&of)));
                $(
                    if !workloads.contains(&stringify!($name)) {
                        let own = OptionsOf::<super::$module::$Input>::augment_args(Command::new(""));
                        fields.extend(options_of(&own).into_iter().map(|(field, ..)| field));
                    }
                )*
                fields
            }

            /// The input of a workload: what the options say, and where they say
            /// nothing the defaults for the occasion.
            pub fn input(&self, name: &str, occasion: Occasion) -> Result<AnyInput> {
                match name {
                    $(
                        stringify!($name) => {
                            let sized = <super::$module::$Input as Input>::sized(occasion);
                            let input = sized.with(&self.$name, &self.shared)?;
                            Ok(AnyInput::$Variant(input))
                        }
                    )*
                    other => Err(Error::Usage(format!(
                        "there is no workload {other}: `stamp list` names them"
                    ))),
                }
            }
        }
    };
}
for_each_workload!(options);

impl WorkloadArgs {
    /// Takes `--transactions` out, for a caller that gives it another meaning.
    pub fn take_transactions(&mut self) -> Option<u64> {
        self.given.retain(|given| given.option != "--transactions");
        self.shared.transactions.take()
    }

    /// Refuses options that none of the workloads takes, and such as mean another thing for each of
    /// several. `all` are exempt from the former: whether the caller means every workload there is.
    pub fn check(&self, workloads: &[&str], all: bool) -> Result<()> {
        for given in &self.given {
            let Given {
                option, value, of, ..
            } = given;
            let written = format!("{option} {value}");
            let written = written.trim_end();
            refuse! {
                given.is_of_one_workload && workloads.len() > 1 =>
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
