//! A file that is written at the end of a command, and checked before it begins. A regular file is written
//! whole or not at all, under another name and then renamed; anything else (a device, a pipe, standard output
//! under another name) is written to and never replaced, and a symlink is followed. Nothing is left beside the
//! file while the command runs; one that is killed while it writes leaves `.tmp` and six letters, with the end
//! `.part`, there, which may be deleted.

use crate::error::Error;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A path that can be written.
#[derive(Debug)]
pub struct OutFile {
    asked: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// A new or regular file, by a path that is no symlink.
    Whole(PathBuf),
    /// What is there already and no regular file, or what standard output is too.
    Direct(File),
}

impl OutFile {
    /// Checks the path that `--out` gives, as [`Self::of_option`] does.
    pub fn new(path: &Path) -> Result<Self, Error> {
        Self::of_option("--out", path)
    }

    /// Checks the path that an option gives, which the error names.
    pub fn of_option(option: &str, path: &Path) -> Result<Self, Error> {
        let shown = path.display();
        Self::at(path).map_err(|why| Error::Usage(format!("{option} {shown}: {why}")))
    }

    /// Checks that the path can be written, and leaves it as it is. The error says why not.
    pub fn at(path: &Path) -> io::Result<Self> {
        let (asked, folder) = (path.to_owned(), folder_of(path));
        if path.is_dir() {
            return Err(io::Error::other("it is a folder, name a file in it"));
        }
        if !folder.is_dir() {
            let folder = folder.display();
            let why = format!("there is no folder {folder}, make it first");
            return Err(io::Error::other(why));
        }
        let target = target_of(path);
        let why = |error| io::Error::other(format!("{error}, name a file that can be written"));
        target.map(|target| Self { asked, target }).map_err(why)
    }

    /// Writes the text or the bytes; after an error a regular file is as it was.
    pub fn write(self, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
        let written = match self.target {
            Target::Whole(path) => write_whole(&path, bytes),
            Target::Direct(mut file) => file.write_all(bytes.as_ref()),
        };
        written.map_err(Error::io(&self.asked))
    }
}

fn target_of(path: &Path) -> io::Result<Target> {
    let there = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if path.is_symlink() {
                return Err(io::Error::other("it is a link to a file that is not there"));
            }
            beside(path)?.close()?;
            return Ok(Target::Whole(path.to_owned()));
        }
        there => there?,
    };
    // Opened again, it would be written over.
    if let Some(out) = stdout_at(&there) {
        return Ok(Target::Direct(out));
    }
    let file = OpenOptions::new().write(true).open(path)?;
    if !there.is_file() {
        return Ok(Target::Direct(file));
    }
    let path = fs::canonicalize(path)?;
    beside(&path)?.close()?;
    Ok(Target::Whole(path))
}

/// Standard output, if it is this file.
#[cfg(unix)]
fn stdout_at(there: &Metadata) -> Option<File> {
    use std::os::{fd::AsFd, unix::fs::MetadataExt};
    let out = File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
    let about = out.metadata().ok()?;
    ((about.dev(), about.ino()) == (there.dev(), there.ino())).then_some(out)
}

#[cfg(not(unix))]
fn stdout_at(_: &Metadata) -> Option<File> {
    None
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// A new file beside the path, with the permissions that new files have here.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    // An error of `tempfile_in` would name this file, which nobody asked for.
    let make = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
    let mut builder = tempfile::Builder::new();
    builder.suffix(".part").make_in(folder_of(path), make)
}

/// Checks that a file can be made in a folder.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    beside(&folder.join("file"))?.close()
}

/// Writes a regular file whole or not at all; after an error, what was there is as it was.
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = beside(path)?;
    file.as_file_mut().write_all(bytes.as_ref())?;
    // So that a machine that stops leaves the old file or the new one, and no empty one of the new name.
    file.as_file().sync_all()?;
    if let Ok(there) = fs::metadata(path) {
        file.as_file().set_permissions(there.permissions())?;
    }
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        OutFile::new(path).unwrap().write(text).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_stay_and_permissions_too_and_a_new_file_has_those_of_new_files() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        write(&link, "new");
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&file) & 0o777, 0o640);
        let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
        write(&ours, "text");
        fs::write(&plain, "text").unwrap();
        assert_eq!(mode(&ours), mode(&plain));
        fs::remove_file(&file).unwrap();
        assert!(OutFile::new(&link).is_err());
        assert!(link.is_symlink() && !file.exists());
    }
}
