//! A program in a child process, which is watched until it ends or is killed.

use crate::prelude::*;
use std::process::ExitStatus;

/// The time between two looks at a child: far less than its start takes.
const POLL: Duration = Duration::from_millis(5);

pub(crate) struct Ended {
    /// How it ended; `None` if it was killed.
    pub status: Option<ExitStatus>,
    pub out: String,
    pub errors: String,
    pub wall: Duration,
}

/// Says of a file or folder that could not be made where, and what sets that.
pub(crate) fn temporary<T>(made: io::Result<T>) -> Result<T> {
    made.map_err(|error| {
        let (folder, fix) = (
            env::temp_dir(),
            "set TMPDIR to a folder that can be written",
        );
        let folder = folder.display();
        Error::Usage(format!(
            "no temporary files can be made in {folder}: {error}: {fix}"
        ))
    })
}

/// Runs a program until it ends or `kill` returns true of the time since the start and the file of what it
/// has printed: a file, as a pipe could be held open by a process that a killed one left behind.
pub(crate) fn watch(
    command: &mut Command,
    mut kill: impl FnMut(Duration, &Path) -> bool,
) -> io::Result<Ended> {
    let file = || temporary(NamedTempFile::new()).map_err(io::Error::other);
    let (out, errors) = (file()?, file()?);
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.reopen()?)
        .stderr(errors.reopen()?)
        .spawn()?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if kill(began.elapsed(), out.path()) {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(POLL);
    };
    let text = |file| fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Ended {
        status,
        wall: began.elapsed(),
        out: text(out.path())?,
        errors: text(errors.path())?,
    })
}
