//! A file that is written at the end of a command, and checked before it begins. A regular file is written
//! whole or not at all, under another name and then renamed; anything else (a device, a pipe, standard output
//! under another name) is written to and never replaced, and a symlink is followed. Nothing is left beside the
//! file while the command runs, so one that is killed leaves nothing.

use crate::error::{Error, Result};
use crate::external_prelude::*;
use std::fs::{File, Metadata, OpenOptions};

pub(crate) struct OutFile {
    asked: PathBuf,
    target: Target,
}

enum Target {
    /// A new or regular file, by a path that is no symlink.
    Whole(PathBuf),
    /// What is there already and no regular file, or what standard output is too.
    Direct(File),
}

impl OutFile {
    /// Checks that the path can be written, and leaves it as it is.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        Self::of_option("--out", path)
    }

    /// Checks the path that another option gives.
    pub(crate) fn of_option(option: &str, path: &Path) -> Result<Self> {
        let (asked, folder) = (path.to_owned(), folder_of(path));
        let why = match target_of(path) {
            _ if path.is_dir() => "it is a folder, name a file in it".into(),
            _ if !folder.is_dir() => {
                format!("there is no folder {}, make it first", folder.display())
            }
            Ok(target) => return Ok(Self { asked, target }),
            Err(error) => format!("{error}, name a file that can be written"),
        };
        let path = path.display();
        Err(Error::Usage(format!("{option} {path}: {why}")))
    }

    /// Writes the text; after an error a regular file is as it was.
    pub(crate) fn write(self, text: &str) -> Result<()> {
        let (path, written) = match self.target {
            Target::Whole(path) => (self.asked, write_whole(&path, text)),
            Target::Direct(mut file) => (self.asked, file.write_all(text.as_bytes())),
        };
        written.map_err(|source| Error::File { path, source })
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
    let out = File::from(stdout().as_fd().try_clone_to_owned().ok()?);
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

/// Writes a file whole or not at all; after an error, what was there is as it was.
pub(crate) fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut file = beside(path)?;
    file.as_file_mut().write_all(text.as_bytes())?;
    if let Ok(there) = fs::metadata(path) {
        file.as_file().set_permissions(there.permissions())?;
    }
    file.persist(path)?;
    Ok(())
}

/// Makes the folder of `--out`, if it is not there, and checks that a file can be made in it.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    let made = fs::create_dir_all(folder);
    let checked = made.and_then(|()| beside(&folder.join("file"))?.close());
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
