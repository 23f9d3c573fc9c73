//! The sources below a folder, for tests of what they say.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the names and the texts of all Rust files below a folder.
pub(crate) fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).expect("a folder");
    let found = entries.flat_map(|entry| match entry.expect("an entry").path() {
        path if path.is_dir() => sources(&path),
        path if path.extension().is_some_and(|end| end == "rs") => {
            let text = fs::read_to_string(&path).expect("a source");
            vec![(path, text)]
        }
        _ => vec![],
    });
    found.collect()
}
