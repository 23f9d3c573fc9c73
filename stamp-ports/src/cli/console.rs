//! What the commands share: the device that is opened, the workloads that are
//! made, and what became of standard output.

use crate::devices::{AnyDevice, Choice};
use crate::error::{Error, Result};
use crate::measure::progress::Progress;
use crate::workloads::AnyWorkload;
use crate::workloads::WORKLOADS;
use crate::workloads::input::Occasion;
use crate::workloads::options::WorkloadArgs;
use std::io::{ErrorKind, Write, stderr};
use std::path::Path;

/// Opens the device, and says on standard error if it is not the one hoped for.
pub(super) fn open(choice: Choice) -> Result<AnyDevice> {
    let (device, note) = AnyDevice::open(choice)?;
    if let Some(why) = note {
        // The run is the same whether somebody reads this or not.
        let _ = writeln!(
            stderr(),
            "note: no GPU can be used, so this runs on the CPU: {why}"
        );
    }
    Ok(device)
}

/// Refuses options that none of the workloads takes.
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
        progress.say(format!("{name}: its input"));
        args.input(name, occasion)?.make(args.shared.seed)
    };
    names.iter().map(make).collect()
}

/// Whether all was verified, once that was printed. A reader that left early is
/// no error to speak of, but the command has not done all it was asked for.
///
/// # Errors
/// The error of `printed`, except for a closed pipe.
pub(super) fn told(verified: bool, printed: Result<()>) -> Result<bool> {
    match printed {
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        other => other.map(|()| verified),
    }
}

/// The command without the folder of its file: that is nobody else's, and the
/// document may be published.
pub(super) fn without_folder(command: &str, out: Option<&Path>) -> String {
    match out.map(|path| (path, path.file_name())) {
        Some((path, Some(name))) => command.replace(
            path.to_string_lossy().as_ref(),
            name.to_string_lossy().as_ref(),
        ),
        _ => command.to_owned(),
    }
}
