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

/// The folders of the committed PTX, below the root of the repository.
pub const COMMITTED_PTX: [&str; 2] = ["stm-core/ptx", "stm-kernels/ptx"];

/// What identifies the PTX of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    /// 64 bits of all names and texts, in hexadecimal digits.
    pub checksum: String,
    /// The compiler that the first lines of the texts name.
    pub compiler: String,
}

/// Returns what identifies the committed PTX of the repository at `root`.
///
/// # Errors
/// [`Error::File`].
pub fn committed_ptx(root: &Path) -> Result<Ptx, Error> {
    let mut hash = Checksum::default();
    let mut compilers = std::collections::BTreeSet::new();
    for folder in COMMITTED_PTX {
        for (name, text) in read_ptx(&root.join(folder))? {
            for part in [folder, &name, &text] {
                hash.add(part);
            }
            let line = text.lines().next().unwrap_or_default();
            let compiler = line.trim_start_matches("// ").split("; built by").next();
            compilers.extend(compiler.map(str::to_owned));
        }
    }
    Ok(Ptx {
        checksum: hash.to_string(),
        compiler: compilers.into_iter().collect::<Vec<_>>().join("; "),
    })
}

/// A checksum of texts: the hash of Fowler, Noll and Vo, the same on every machine.
#[derive(Clone, Debug)]
pub struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// Adds a text or a name.
    pub fn add(&mut self, text: &str) {
        // None has a byte 0, so none runs into the next.
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl std::fmt::Display for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Makes `dir` hold exactly `files`, by `FOLDER/NAME`; returns the names of those
/// that were there and are gone. Each is written beside its place and renamed,
/// so that nobody reads half a file.
///
/// # Errors
/// [`Error::File`].
pub fn replace(dir: &Path, files: &BTreeMap<String, String>) -> Result<Vec<String>, Error> {
    let file = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::File { path, source }
    };
    std::fs::create_dir_all(dir).map_err(file(dir))?;
    for (name, text) in files {
        let path = dir.join(format!("{name}.ptx"));
        let temporary = dir.join(format!("{name}.ptx.new"));
        let folder = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(folder).map_err(file(folder))?;
        std::fs::write(&temporary, text).map_err(file(&temporary))?;
        std::fs::rename(&temporary, &path).map_err(file(&path))?;
    }
    let mut gone: Vec<String> = read_ptx(dir)?.into_keys().collect();
    gone.retain(|name| !files.contains_key(name));
    for name in &gone {
        let path = dir.join(format!("{name}.ptx"));
        std::fs::remove_file(&path).map_err(file(&path))?;
        // The folder too, if that was its last file.
        if let Some(folder) = path.parent() {
            let _ = std::fs::remove_dir(folder);
        }
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_replaced_as_a_whole() {
        let files = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs
                .iter()
                .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
                .collect()
        };
        let dir = std::env::temp_dir().join(format!("stm-replace-{}", std::process::id()));
        assert_eq!(
            replace(&dir, &files(&[("a/x", "1"), ("b", "2")])).unwrap(),
            [""; 0]
        );
        assert_eq!(replace(&dir, &files(&[("b", "3")])).unwrap(), ["a/x"]);
        let names: Vec<_> = std::fs::read_dir(&dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["b.ptx"]);
        assert_eq!(read_ptx(&dir).unwrap(), files(&[("b", "3")]));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
