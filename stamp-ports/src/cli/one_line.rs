//! The parser's errors, each on one line.

use super::args::Cli;
use super::workload_help;
use clap::error::ErrorKind;
use clap::{Command, CommandFactory};
use std::ffi::OsString;

/// Clap's error about these arguments as one line: its first paragraph and its tips.
pub(crate) fn one_line(error: &clap::Error, arguments: &[OsString]) -> String {
    let text = error.render().to_string();
    let mut parts = Vec::new();
    // An error of a value comes without its command's usage. The options
    // before a command take no values, so the first words are its names.
    let mut found = Cli::command();
    let mut of_command = String::from("stamp");
    for word in arguments.iter().skip(1) {
        let word = word.to_string_lossy();
        match found.find_subcommand(word.as_ref()).cloned() {
            Some(next) => {
                of_command = format!("{of_command} {}", next.get_name());
                found = next;
            }
            None if word.starts_with('-') => {}
            None => break,
        }
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let names: Vec<&str> = found.get_subcommands().map(Command::get_name).collect();
        return format!(
            "`{of_command}` needs one more word: {} (try `{of_command} --help`)",
            names.join(" or ")
        );
    }
    let mut command = of_command.as_str();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(usage) = line.strip_prefix("Usage: ") {
            let ends = [" <", " [", " -"]
                .into_iter()
                .filter_map(|end| usage.find(end));
            command = &usage[..ends.min().unwrap_or(usage.len())];
            continue;
        }
        // No word here may begin with a dash, after `--` neither.
        if !line.starts_with("For more information") && !line.contains("as a value, use '--") {
            parts.push(line.trim_start_matches("error: "));
        }
    }
    // A value's own error repeats the value, and says more than clap's frame.
    let mut text = parts.join(" ");
    if let Some((frame, why)) = text.split_once(">': ")
        && text.starts_with("invalid value")
    {
        let option = frame.split(" for '").nth(1).unwrap_or_default();
        let option = option.split(" <").next().unwrap_or_default();
        let is_named = !option.starts_with("--") || why.contains(option);
        text = if is_named {
            why.into()
        } else {
            format!("{option}: {why}")
        };
    }
    // Each workload has a help of its own.
    let (_, of) = workload_help::named(arguments).unwrap_or_default();
    let of: Vec<&str> = of.iter().map(|(name, _)| *name).collect();
    match of[..] {
        [] => format!("{text} (try `{command} --help`)"),
        _ => format!("{text} (try `{command} {} --help`)", of.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;
    use clap::Parser;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn errors_of_the_parser_are_one_line_that_names_the_value() {
        let rows = r#"
            run ra --locks 4x => --locks | "4x" | 2^20
            -v tune ra --locks 4x => `stamp tune ra --help`
            run ra --time-limit -1 => "-1" | above 0
            run ra --seed -1 => --seed | "-1" | `stamp run ra --help`
            run ra --seed -1M => '-1' | `stamp run ra --help`
            run ra --time-limit 0 => "0" | above 0
            bench => `stamp bench` | paper
            bench paper => --out | (try `stamp bench paper --help`)
            bench paper --only fig9 --out x => "fig9" | fig2 | `stamp bench paper --help`
            bench paper --workload ra,rb --out x => "rb" | did you mean ra?
        "#;
        let rows = rows.lines().filter_map(|row| row.trim().split_once(" => "));
        for (arguments, parts) in rows {
            let words = ["stamp"].into_iter().chain(arguments.split(' '));
            let arguments: Vec<OsString> = words.map(OsString::from).collect();
            let error = Cli::try_parse_from(&arguments).unwrap_err();
            let line = one_line(&error, &arguments);
            assert!(!line.contains("'--' "), "{line}");
            assert!(!line.contains('\n'), "{line}");
            has(&line, parts);
        }
    }
}
