//! The help of `stamp run`: that of the workloads which the command line names, with their options and
//! those that all share; or, if it names none, the list of workloads and the shared options.

use super::args::Cli;
use super::name_list::described;
use crate::workloads::WORKLOADS;
use crate::workloads::options::WorkloadArgs;
use clap::CommandFactory;
use std::ffi::OsString;

/// Says how numbers are written.
const COUNTS: &str =
    "Counts may be written 1048576, 1_048_576, 1M or 2^20 (K, M, G: powers of 1024).";

/// Returns the help, if the arguments, the first of which is the program's name, ask for that of
/// `run`.
pub(super) fn asked(arguments: &[OsString]) -> Option<String> {
    let asks = ["-h", "--help"].map(OsString::from);
    let asks = arguments.iter().any(|word| asks.contains(word));
    asks.then(|| named(arguments)).flatten().map(|of| help(&of))
}

/// Returns the workloads that the arguments of `run` name, each with what it is, if they are those
/// of `run`.
pub(super) fn named(arguments: &[OsString]) -> Option<Vec<&'static (&'static str, &'static str)>> {
    let words = arguments.iter().skip(1).map_while(|word| word.to_str());
    let mut words = words.filter(|word| !word.starts_with('-'));
    if words.next() != Some("run") {
        return None;
    }
    let known = |name: &str| WORKLOADS.iter().find(|(known, _)| *known == name);
    // A word of another kind is the value of an option.
    let lists = words.filter_map(|word| word.split(',').map(known).collect::<Option<Vec<_>>>());
    Some(lists.flatten().collect())
}

/// Returns the help of these workloads, each with what it is.
fn help(of: &[&(&'static str, &'static str)]) -> String {
    let mut cli = Cli::command();
    cli.build();
    let Some(run) = cli.find_subcommand("run").cloned() else {
        return String::new();
    };
    let names: Vec<&str> = of.iter().map(|(name, _)| *name).collect();
    let mut hidden = WorkloadArgs::not_of(&names);
    if names.is_empty() {
        hidden.push("loops".to_owned());
    }
    let run = run.mut_arg("help", |arg| {
        arg.help("Print this (stamp help run: all options in full)")
    });
    let examples = run.get_after_help().map(ToString::to_string);
    let examples = examples.unwrap_or_default();
    let mut shown = hidden
        .into_iter()
        .fold(run, |run, id| run.mut_arg(id, |arg| arg.hide(true)));
    if names.is_empty() {
        let workloads = described("Workloads", WORKLOADS.iter().copied());
        shown = shown
            .override_usage("stamp run <WORKLOAD> [OPTIONS]")
            .after_help(format!(
                "{workloads}\nTheir options: stamp run WORKLOAD --help, as in stamp run ra --help\n\n{COUNTS}"
            ));
    } else {
        let usage = names.join(",");
        let of_these = |line: &&str| names.iter().any(|name| is_example_of(line, name));
        let examples: Vec<&str> = examples.lines().filter(of_these).collect();
        let examples = if examples.is_empty() {
            format!("  stamp run {usage}")
        } else {
            examples.join("\n")
        };
        let about: Vec<String> = of
            .iter()
            .map(|(name, about)| format!("{name}: {about}"))
            .collect();
        shown = shown
            .about(about.join("\n"))
            .mut_arg("workload", |arg| arg.hide(true))
            .override_usage(format!("stamp run {usage} [OPTIONS]"))
            .after_help(format!("{COUNTS}\n\nExamples:\n{examples}"));
    }
    shown.render_help().to_string()
}

/// Returns whether a line is an example of this workload.
fn is_example_of(line: &str, name: &str) -> bool {
    let rest = line.trim_start().strip_prefix("stamp run ");
    rest.is_some_and(|rest| rest.split([' ', ',']).next() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        asked(&words)
    }

    #[test]
    fn the_help_of_a_workload_has_its_options_alone_in_fifty_lines() {
        for &(name, _) in WORKLOADS {
            let help = of(&format!("stamp run {name} --help")).unwrap();
            let lines = help.lines().count();
            // The one with fourteen options of its own.
            let most = if name == "eigenbench" { 70 } else { 50 };
            assert!(lines <= most, "{lines} lines:\n{help}");
            assert!(
                help.lines().all(|line| line.chars().count() <= 80),
                "{help}"
            );
            assert!(help.contains("--variant") && help.contains("--read-polls"));
            assert_eq!(help.contains("--words"), name == "ra", "{help}");
        }
    }

    #[test]
    fn the_help_without_a_workload_lists_them() {
        let help = of("stamp run --help").unwrap();
        assert!(help.lines().count() <= 70, "{help}");
        assert!(WORKLOADS.iter().all(|(name, about)| {
            let first = about.split(' ').next().unwrap();
            help.contains(&format!("  {name} ")) && help.contains(first)
        }));
        assert!(!help.contains("--words"), "{help}");
        assert_eq!(of("stamp run -h"), Some(help));
    }

    #[test]
    fn only_the_help_of_run_is_made_here() {
        for line in ["stamp --help", "stamp run ra", "stamp tune ra --help"] {
            assert_eq!(of(line), None, "{line}");
        }
        let both = of("stamp run ra,ht --variant fast --help").unwrap();
        assert!(
            both.contains("--words") && both.contains("--buckets"),
            "{both}"
        );
        assert!(!both.contains("--hot-words"));
    }
}
