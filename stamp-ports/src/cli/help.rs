//! The help of commands that take workloads' options, with those of the workloads that the command line names, or
//! a list of all workloads if it names none; and the parser's errors, each on one line.

use super::args::{COUNTS, Cli};
use super::console::described;
use crate::output::Joined;
use crate::workloads::WORKLOADS;
use crate::workloads::options::WorkloadArgs;
use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory};
use std::ffi::OsString;

/// These commands, each as it stands before the names of its workloads.
const COMMANDS: [&str; 4] = ["run", "tune", "record", "bench floor --workload"];

type Described = &'static (&'static str, &'static str);

/// Returns the help, if the arguments ask for that of one of the [`COMMANDS`].
pub(super) fn asked(arguments: &[OsString]) -> Option<String> {
    let asks = ["-h", "--help"].map(OsString::from);
    let (command, of) = match arguments {
        // Without a workload, `stamp help` has every option in full.
        [_, help, ..] if help == "help" => {
            named(&arguments[1..]).filter(|(_, of)| !of.is_empty())?
        }
        _ if arguments.iter().any(|word| asks.contains(word)) => named(arguments)?,
        _ => return None,
    };
    Some(help(command, &of))
}

/// Returns the command of these arguments, if it is one of the [`COMMANDS`], and its workloads.
pub(super) fn named(arguments: &[OsString]) -> Option<(&'static str, Vec<Described>)> {
    let words = arguments.iter().skip(1).map_while(|word| word.to_str());
    let words: Vec<&str> = words.filter(|word| !word.starts_with('-')).collect();
    let (command, rest) = COMMANDS.into_iter().find_map(|command| {
        let before: Vec<&str> = words_of(command).split(' ').collect();
        Some((command, words.strip_prefix(before.as_slice())?))
    })?;
    let known = |name: &str| WORKLOADS.iter().find(|(known, _)| *known == name);
    // A word of another kind is the value of an option.
    let list = |word: &&str| word.split(',').map(known).collect::<Option<Vec<_>>>();
    Some((command, rest.iter().filter_map(list).flatten().collect()))
}

/// Returns one of the [`COMMANDS`] without the option that names workloads.
fn words_of(command: &str) -> &str {
    command.split(" --").next().unwrap_or_default()
}

fn help(command: &str, of: &[Described]) -> String {
    let mut cli = Cli::command();
    cli.build();
    let words = words_of(command);
    let find = |cli: Command, word: &str| cli.find_subcommand(word).cloned();
    let Some(whole) = words.split(' ').try_fold(cli, find) else {
        return String::new();
    };
    let names: Vec<&str> = of.iter().map(|(name, _)| *name).collect();
    let mut hidden = WorkloadArgs::not_of(&names);
    match command {
        // Loops are transactions of each thread.
        "run" if hidden.iter().any(|id| id == "transactions") => hidden.push("loops".to_owned()),
        // How many to record is the same for all.
        "record" => hidden.retain(|id| id != "transactions"),
        _ => {}
    }
    let full = format!("Print this (stamp help {words}: all options in full)");
    let whole = whole.mut_arg("help", |arg| arg.help(full));
    let below = whole.get_after_help().map(ToString::to_string);
    let below = below.unwrap_or_default().replace(COUNTS, "");
    let (about_it, examples) = below
        .split_once("Examples:\n")
        .unwrap_or((below.as_str(), ""));
    let below = format!("{}{COUNTS}", about_it.trim_start());
    let hide = |rest: Command, id| rest.mut_arg(id, |arg| arg.hide(true));
    let mut shown = hidden.into_iter().fold(whole, hide);
    if names.is_empty() {
        let workloads = described("Workloads", WORKLOADS);
        // It is an option of some.
        let argument = ["", " <WORKLOAD>"][usize::from(words == command)];
        shown = shown
            .override_usage(format!("stamp {words}{argument} [OPTIONS]"))
            .after_help(format!(
                "{workloads}\nTheir options: stamp {command} WORKLOAD --help, as in stamp {command} ra --help\n\n{below}"
            ));
    } else {
        let usage = names.join(",");
        let of_these = |line: &&str| names.iter().any(|name| is_example_of(line, command, name));
        let mut examples: Vec<&str> = examples.lines().filter(of_these).collect();
        let example = format!("  stamp {command} {usage}");
        if examples.is_empty() {
            examples.push(&example);
        }
        let examples = examples.join("\n");
        let about = of.iter().map(|(name, about)| format!("{name}: {about}"));
        shown = shown
            .about(about.joined("\n"))
            .mut_arg("workload", |arg| arg.hide(true))
            .override_usage(format!("stamp {command} {usage} [OPTIONS]"))
            .after_help(format!("{below}\nExamples:\n{examples}"));
    }
    shown.render_help().to_string()
}

fn is_example_of(line: &str, command: &str, name: &str) -> bool {
    let rest = line.trim_start().strip_prefix(&format!("stamp {command} "));
    rest.is_some_and(|rest| rest.split([' ', ',']).next() == Some(name))
}

/// Clap's error about these arguments as one line: its first paragraph and its tips.
pub(crate) fn one_line(error: &clap::Error, arguments: &[OsString]) -> String {
    // Options before a command take no values: the first words are its names.
    let mut found = Cli::command();
    let mut command = String::from("stamp");
    for word in arguments.iter().skip(1) {
        let word = word.to_string_lossy();
        match found.find_subcommand(word.as_ref()).cloned() {
            Some(next) => {
                command = format!("{command} {}", next.get_name());
                found = next;
            }
            None if word.starts_with('-') => {}
            None => break,
        }
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let names = found.get_subcommands().map(Command::get_name);
        let names = names.joined(" or ");
        return format!("`{command}` needs one more word: {names} (try `{command} --help`)");
    }
    // An option that the named workloads refuse is no advice.
    let (whose, of) = named(arguments).unwrap_or_default();
    let names: Vec<&str> = of.iter().map(|(name, _)| *name).collect();
    let refused = WorkloadArgs::not_of(&names);
    let is_refused = |arg: &&Arg| refused.iter().any(|id| arg.get_id() == id);
    let others = found.get_arguments().filter(is_refused);
    let others = others.filter_map(|arg| Some(format!("exists: '--{}'", arg.get_long()?)));
    let others: Vec<String> = others.filter(|_| !names.is_empty()).collect();
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).filter(|line| {
        // No word here may begin with a dash, after `--` neither.
        let is_left_out = line.is_empty() || line.contains("as a value, use '--");
        let is_left_out = is_left_out || others.iter().any(|other| line.ends_with(other));
        !is_left_out && !line.starts_with("Usage: ") && !line.starts_with("For more information")
    });
    let parts = lines.map(|line| line.trim_start_matches("error: "));
    // A value's own error repeats the value, and says more than clap's frame.
    let mut text = parts.joined(" ").replace(" tip: ", "; ");
    if let Some((frame, why)) = text.split_once(">': ")
        && text.starts_with("invalid value")
    {
        let option = frame.split(" for '").nth(1).unwrap_or_default();
        let option = option.split(" <").next().unwrap_or_default();
        let is_named = !option.starts_with('-') || why.contains(option);
        let named = if is_named { "" } else { &format!("{option}: ") };
        text = format!("{named}{why}");
    }
    // Each workload has a help of its own.
    if !names.is_empty() {
        command = format!("stamp {whose} {}", names.join(","));
    }
    format!("{text} (try `{command} --help`)")
}
