//! What the commands share: devices, workloads, documents, standard output, and lists of names in help.

use crate::prelude::*;
use crate::workloads::options::WorkloadArgs;
use crate::workloads::{AnyWorkload, WORKLOADS};
use std::io::StdoutLock;

/// Opens the device, and says on standard error if it is not the one hoped for.
pub(super) fn open(choice: Choice) -> Result<AnyDevice> {
    let (device, note) = AnyDevice::open(choice)?;
    if let Some(why) = note {
        let note = "note: no GPU can be used, so this runs on the CPU";
        // The run is the same whether somebody reads this or not.
        let _ = writeln!(stderr(), "{note}: {why}");
    }
    Ok(device)
}

pub(super) fn check_options(names: &[&'static str], args: &WorkloadArgs) -> Result<()> {
    args.check(names, names.len() == WORKLOADS.len())
}

/// Makes the workloads. What is wrong with any is said before anything runs.
pub(super) fn workloads(
    names: &[&'static str],
    args: &WorkloadArgs,
    occasion: Occasion,
) -> Result<Vec<AnyWorkload>> {
    let progress = Progress::new();
    let make = |name: &&str| {
        progress.say(format!("{name}: making the input"));
        args.workload(name, occasion)
    };
    names.iter().map(make).collect()
}

/// Where a command's document goes that is written once, at its end.
#[derive(Args, Debug, Clone)]
pub(crate) struct DocumentArgs {
    /// Print the JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Write the JSON document to a file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

pub(super) struct Begun {
    file: Option<OutFile>,
    head: Head,
    began: Instant,
    json: bool,
}

impl DocumentArgs {
    /// Checks the file, opens the device and begins a document; `of` says whether it is quick, and the seed.
    pub(super) fn begin(
        &self,
        format: &str,
        device: Choice,
        command: &str,
        of: (bool, u64),
    ) -> Result<(AnyDevice, Begun)> {
        let out = self.out.as_deref();
        let file = out.map(OutFile::new).transpose()?;
        let device = open(device)?;
        let command = out.map_or_else(|| command.to_owned(), |out| published(command, out));
        let begun = Begun {
            file,
            head: Head::new(format, &device, &command, of)?,
            began: Instant::now(),
            json: self.json,
        };
        Ok((device, begun))
    }
}

impl Begun {
    /// Writes the document, whose sections follow the head in this order, and prints it, or the tables, which
    /// are told whether it was written. Returns whether all was verified.
    pub(super) fn end(
        self,
        verified: bool,
        (order, sections): (&str, Value),
        tables: impl FnOnce(&mut StdoutLock<'_>, bool) -> Result<()>,
    ) -> Result<bool> {
        let mut head = self.head;
        (head.seconds, head.complete) = (self.began.elapsed().as_secs_f64(), true);
        let document = with_head(&head, order, sections)?;
        let written = self.file.map(|file| file.write(&document)).transpose();
        let mut out = stdout().lock();
        let printed = if self.json {
            write!(out, "{document}").map_err(Error::from)
        } else {
            tables(&mut out, written.is_ok())
        };
        // What was found is printed even if it could not be written.
        written?;
        printed.map(|()| verified)
    }
}

const WIDTH: usize = 79;

/// What stands below the options in the help of each command, behind a line with a hash and its name.
const HELP: &str = include_str!("help.txt");

/// Returns what stands there of a command.
pub(super) fn below(command: &str) -> &'static str {
    let of_command = HELP.split_once(&format!("# {command}\n"));
    let (_, rest) = of_command.expect("a text for each command");
    let (text, _) = rest.split_once("\n# ").unwrap_or((rest, ""));
    text.trim_end()
}

/// Returns a heading, and a line for each name with what it is, which goes on below its beginning.
pub(super) fn described(head: &str, all: &[(&str, &str)]) -> String {
    let names = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = format!("{head}:\n");
    for (name, what) in all {
        let lines = wrapped(what.split_whitespace(), " ", WIDTH - names - 4);
        for (line, name) in lines.iter().zip(iter::once(*name).chain(iter::repeat(""))) {
            let _ = writeln!(text, "  {name:names$}  {line}");
        }
    }
    text
}

pub(super) fn wrapped<'p>(
    parts: impl Iterator<Item = &'p str>,
    between: &str,
    width: usize,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if [&**line, between, part].concat().chars().count() <= width => {
                *line += between;
                *line += part;
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_help_is_wider_than_eighty_columns() {
        assert!(HELP.lines().all(|line| line.chars().count() <= 80));
    }
}
