//! The files that commands write: each is checked before its command begins, and there whole or not at all.

use crate::error::{Error, Result};
use crate::external_prelude::*;
use stm_history::out_file::check_folder;
pub(crate) use stm_history::out_file::{OutFile, write_whole};

/// Makes the folder of `--out`, if it is not there, and checks that a file can be made in it.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    let made = fs::create_dir_all(folder);
    let checked = made.and_then(|()| check_folder(folder));
    checked.map_err(|error| {
        let folder = folder.display();
        let fix = "name a folder that can be made and written";
        Error::Usage(format!("--out {folder}: {error}, {fix}"))
    })
}

/// Writes what a command did into a folder: `NAME.json`, and `NAME.txt` for a person.
pub(crate) fn write_log(folder: &Path, name: &str, of: &impl Serialize, text: &str) -> Result<()> {
    let json = serde_json::to_string_pretty(of).map_err(io::Error::from)? + "\n";
    for (text, end) in [(text, "txt"), (&json, "json")] {
        let path = folder.join(name).with_extension(end);
        write_whole(&path, text).map_err(|source| Error::File { path, source })?;
    }
    Ok(())
}
