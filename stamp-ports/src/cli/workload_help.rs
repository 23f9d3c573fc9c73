//! The help of `stamp run` and `stamp tune`: that of the workloads which the command line names, with their
//! options and those that all share; or, if it names none, the list of workloads and the shared options.

use super::args::{COUNTS, Cli};
use super::console::described;
use crate::workloads::WORKLOADS;
use crate::workloads::options::WorkloadArgs;
use clap::CommandFactory;
use std::ffi::OsString;

/// The commands that take a workload and its options.
const COMMANDS: [&str; 2] = ["run", "tune"];

/// A workload, and what it is.
type Described = &'static (&'static str, &'static str);

/// Returns the help, if the arguments ask for that of one of the [`COMMANDS`].
pub(super) fn asked(arguments: &[OsString]) -> Option<String> {
    let asks = ["-h", "--help"].map(OsString::from);
    let asks = arguments.iter().any(|word| asks.contains(word));
    let (command, of) = asks.then(|| named(arguments)).flatten()?;
    Some(help(command, &of))
}

/// Returns the command of these arguments, if it is one of the [`COMMANDS`], and its workloads.
pub(super) fn named(arguments: &[OsString]) -> Option<(&'static str, Vec<Described>)> {
    let words = arguments.iter().skip(1).map_while(|word| word.to_str());
    let mut words = words.filter(|word| !word.starts_with('-'));
    let first = words.next()?;
    let command = COMMANDS.into_iter().find(|command| *command == first)?;
    let known = |name: &str| WORKLOADS.iter().find(|(known, _)| *known == name);
    // A word of another kind is the value of an option.
    let lists = words.filter_map(|word| word.split(',').map(known).collect::<Option<Vec<_>>>());
    Some((command, lists.flatten().collect()))
}

fn help(command: &str, of: &[Described]) -> String {
    let mut cli = Cli::command();
    cli.build();
    let Some(whole) = cli.find_subcommand(command).cloned() else {
        return String::new();
    };
    let names: Vec<&str> = of.iter().map(|(name, _)| *name).collect();
    let mut hidden = WorkloadArgs::not_of(&names);
    if names.is_empty() && command == "run" {
        hidden.push("loops".to_owned());
    }
    let full = format!("Print this (stamp help {command}: all options in full)");
    let whole = whole.mut_arg("help", |arg| arg.help(full));
    let examples = whole.get_after_help().map(ToString::to_string);
    let examples = examples.unwrap_or_default();
    let mut shown = hidden
        .into_iter()
        .fold(whole, |rest, id| rest.mut_arg(id, |arg| arg.hide(true)));
    if names.is_empty() {
        let workloads = described("Workloads", WORKLOADS);
        shown = shown
            .override_usage(format!("stamp {command} <WORKLOAD> [OPTIONS]"))
            .after_help(format!(
                "{workloads}\nTheir options: stamp {command} WORKLOAD --help, as in stamp {command} ra --help\n\n{COUNTS}"
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
        let about: Vec<String> = about.collect();
        shown = shown
            .about(about.join("\n"))
            .mut_arg("workload", |arg| arg.hide(true))
            .override_usage(format!("stamp {command} {usage} [OPTIONS]"))
            .after_help(format!("{COUNTS}\nExamples:\n{examples}"));
    }
    shown.render_help().to_string()
}

/// Returns whether a line is an example of this command and workload.
fn is_example_of(line: &str, command: &str, name: &str) -> bool {
    let rest = line.trim_start().strip_prefix(&format!("stamp {command} "));
    rest.is_some_and(|rest| rest.split([' ', ',']).next() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;

    fn of(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        asked(&words)
    }

    #[test]
    fn the_help_of_a_workload_has_its_options_alone_in_fifty_lines() {
        for &(name, _) in WORKLOADS {
            let help = of(&format!("stamp run {name} --help")).unwrap();
            let lines: Vec<usize> = help.lines().map(|line| line.chars().count()).collect();
            assert!(lines.len() <= 50, "{} lines:\n{help}", lines.len());
            assert!(lines.iter().all(|&columns| columns <= 80), "{help}");
            has(&help, "--variant | --read-polls");
            assert_eq!(help.contains("--words"), name == "ra", "{help}");
        }
    }

    #[test]
    fn the_help_without_a_workload_lists_them() {
        let help = of("stamp run --help").unwrap();
        assert!(help.lines().count() <= 54, "{help}");
        for (name, about) in WORKLOADS {
            let first = about.split(' ').next().unwrap();
            has(&help, &format!("  {name}  | {first}"));
        }
        assert!(!help.contains("--words"), "{help}");
        assert_eq!(of("stamp run -h"), Some(help));
    }

    #[test]
    fn only_the_help_of_commands_with_workloads_is_made_here() {
        for line in ["stamp --help", "stamp run ra", "stamp list --help"] {
            assert_eq!(of(line), None, "{line}");
        }
        let both = of("stamp run ra,ht --variant fast --help").unwrap();
        has(&both, "--words | --buckets");
        assert!(!both.contains("--hot-words"));
        let tune = of("stamp tune ht --help").unwrap();
        has(&tune, "--buckets | stamp tune ht --variant");
        assert!(!tune.contains("--words ") && !tune.contains("stamp run"));
        has(&of("stamp tune --help").unwrap(), "stamp tune ra --help");
    }
}
