//! The program: its command line, and its commands. A file is that of the command with its name; `bench` also
//! has `bench paper`, `bench sync`, `bench nw` and `bench against`, `tune` has `bench floor`, `device` has `list`,
//! `run` has no command at all; `args` has the options, `help.txt` what stands below them in the help, and `console`
//! what commands share.

mod all;
pub(crate) mod args;
mod bench;
mod console;
mod device;
mod help;
mod isolation;
mod nw;
mod prelude;
mod record;
mod rows;
mod run;
mod tune;

use args::{Bench, Cli, Command, Generate};
use help::one_line;
use prelude::*;
use std::process::ExitCode;

/// Runs the program with these arguments, the first its name.
pub fn main_of(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    match carried_out(&arguments) {
        Ok(all) => ExitCode::from(u8::from(!all)),
        // A reader that left early, as `head` does, knows that it did, and not all was done.
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(stderr(), "error: {error}");
            ExitCode::from(error.status())
        }
    }
}

/// Carries out what the arguments ask for. Returns whether all that can be verified was.
fn carried_out(arguments: &[OsString]) -> Result<bool> {
    if let Some(help) = help::asked(arguments) {
        write!(stdout(), "{help}")?;
        return Ok(true);
    }
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return refuse(one_line(&error, arguments)),
        Err(help_or_version) => {
            help_or_version.print()?;
            return Ok(true);
        }
    };
    trace(cli.verbose);
    // The command as it may be typed again, without the program's folder.
    let words = arguments.iter().skip(1).map(|word| word.to_string_lossy());
    let line = &*format!("stamp {}", words.joined(" "));
    match &cli.command {
        None => run::demonstrate(),
        Some(Command::Run(args)) => run::run(args),
        Some(Command::List { json }) => device::list(*json),
        Some(Command::Device(args)) => device::device(args),
        Some(Command::Generate(args)) => generate(args),
        Some(Command::Nw(args)) => nw::nw(args),
        Some(Command::Tune(args)) => tune::tune(args, line),
        Some(Command::Faults(args)) => crate::faults::faults(args),
        Some(Command::Soak(args)) => crate::soak::soak(args),
        Some(Command::Record(args)) => record::record_command(args),
        Some(Command::Isolation(args)) => isolation::isolation(args),
        Some(Command::Report(args)) if args.tables => {
            crate::store::check_seals(&args.folder)?;
            crate::tables::tables(&args.folder, &args.documents, args.check)
        }
        Some(Command::Report(args)) => {
            crate::report::report(&args.folder, args.out.as_deref(), args.title.as_deref())
        }
        Some(Command::Bench(Bench::All(args))) => all::all(args, line),
        Some(Command::Bench(Bench::Paper(args))) => bench::paper(args, line),
        Some(Command::Bench(Bench::Sync(args))) => bench::sync(args, line),
        Some(Command::Bench(Bench::Nw(args))) => bench::nw(args, line),
        Some(Command::Bench(Bench::Floor(args))) => tune::floor(args, line),
        Some(Command::Bench(Bench::Against(args))) => bench::against(args, line),
    }
}

fn trace(verbose: u8) {
    use tracing_subscriber::fmt::format::FmtSpan;
    let level = match verbose {
        0 => return,
        1 => tracing::Level::INFO,
        _ => tracing::Level::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_span_events(FmtSpan::CLOSE)
        .with_target(false)
        .with_ansi(stderr().is_terminal())
        .with_writer(stderr)
        // Nothing depends on it: if it cannot be written, the run is the same.
        .log_internal_errors(false)
        .init();
}

fn generate(workload: &Generate) -> Result<bool> {
    let (out, text) = match workload {
        Generate::Labyrinth(args) => (&args.out, args.text()?),
        Generate::Kmeans(args) => (&args.out, args.text()?),
    };
    match out {
        Some(path) => OutFile::new(path)?.write(&text)?,
        None => stdout().write_all(text.as_bytes())?,
    }
    Ok(true)
}
