//! Reading and writing files of PTX.

use crate::Error;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a text file.
///
/// # Errors
/// [`Error::File`].
pub fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

/// The `.ptx` files of a directory and its folders: `FOLDER/NAME` and text, by
/// that name.
///
/// # Errors
/// [`Error::File`].
pub fn read_ptx(dir: &Path) -> Result<BTreeMap<String, String>, Error> {
    let file = |source| Error::File {
        path: dir.to_owned(),
        source,
    };
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).map_err(file)? {
        let path = entry.map_err(file)?.path();
        let Some(stem) = path.file_stem().and_then(|s| s.to_str()) else {
            continue;
        };
        if path.is_dir() {
            let inside = read_ptx(&path)?.into_iter();
            found.extend(inside.map(|(name, text)| (format!("{stem}/{name}"), text)));
        } else if path.extension().is_some_and(|e| e == "ptx") {
            found.insert(stem.to_owned(), read(&path)?);
        }
    }
    Ok(found)
}
