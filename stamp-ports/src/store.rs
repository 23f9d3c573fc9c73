//! A document of measurements on disk: begun, gone on with, written whole after every point.

use crate::devices::{AnyDevice, Choice, parse_choice};
use crate::error::{Error, Result, refuse};
use crate::external_prelude::*;
use crate::head::{FIELDS, Head};
use crate::numbers::parse_count;
use crate::out_file::{OutFile, make_folder, write_whole};
use crate::output::Joined;
use crate::workloads::input::SEED;
use std::fs::{File, TryLockError};

/// Several names, of workloads or of parts of a measurement, in one argument.
pub(crate) type NameList = std::vec::Vec<&'static str>;

/// What a command is asked for that measures into a document in a folder.
#[derive(Args, Debug, Clone)]
pub struct BenchSpec {
    /// auto, cpu, cuda or cuda:N; cuda:N,atomics=64 has no 128-bit atomics
    /// [default: auto; with --quick, cpu]
    #[arg(long, value_name = "NAME", value_parser = parse_choice)]
    pub(crate) device: Option<Choice>,
    /// Small inputs, few points
    #[arg(long)]
    pub(crate) quick: bool,
    /// Begin nothing further after so many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = parse_count)]
    pub(crate) seconds: Option<u64>,
    /// Seed of all data
    #[arg(long, value_name = "S", value_parser = parse_count, default_value_t = SEED)]
    pub(crate) seed: u64,
    /// The folder of the document, made if it is not there
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Begin anew, whatever the document holds
    #[arg(long)]
    pub(crate) fresh: bool,
}

impl BenchSpec {
    pub(crate) fn head(&self, format: &str, device: &AnyDevice, command: &str) -> Result<Head> {
        let command = published(command, &self.out);
        Head::new(format, device, &command, (self.quick, self.seed))
    }
}

/// Returns the device that is asked for, or the one that suits the size.
pub(crate) fn chosen(device: Option<Choice>, quick: bool) -> Choice {
    device.unwrap_or(if quick { Choice::Cpu } else { Choice::Auto })
}

/// A document that grows point by point.
pub trait Document: Serialize + DeserializeOwned + Default {
    /// What the document calls itself in its file.
    const FORMAT: &'static str;
    /// The name of the file in its folder, that of the command of `stamp bench` which writes it.
    const FILE_NAME: &'static str;
    /// The sections that stand behind the head in this order; others follow them.
    const SECTIONS: &'static str = "";

    /// Where its figures come from.
    fn head(&mut self) -> &mut Head;

    /// Sets what follows from its points.
    fn finish(&mut self) {}

    /// Reads the text of a file of this format.
    fn parse(text: &str) -> Result<Self> {
        let (format, name) = (Self::FORMAT, Self::FILE_NAME.trim_end_matches(".json"));
        let fix = format!("measure it again with `stamp bench {name} --fresh`");
        let value: Value = serde_json::from_str(text)
            .or_else(|error| refuse(format!("it is not JSON: {error}: {fix}")))?;
        match value.get("format").and_then(Value::as_str) {
            Some(found) if found == format => serde_json::from_value(value)
                .or_else(|error| refuse(format!("a field of it is wrong: {error}: {fix}"))),
            Some(other) => refuse(format!(
                "its format is {other:?}, not {format:?}: use the program that wrote it, or {fix}"
            )),
            None => refuse(format!(
                "it has no \"format\", which is to be {format:?}: {fix}"
            )),
        }
    }

    /// Returns it as text, a line for each field and point, so that two documents can be compared.
    fn to_text(&self) -> Result<String> {
        to_text(self, Self::SECTIONS)
    }
}

/// The document and its file.
#[derive(Debug)]
pub struct Store<T> {
    pub(crate) document: T,
    pub(crate) path: PathBuf,
    began: Instant,
    limit: Option<Duration>,
    seconds_before: f64,
    _held: Option<File>,
}

/// What a command's processes find in their environment where it holds the folder for them.
pub(crate) const HELD: &str = "STAMP_FOLDER_HELD";

/// Takes a folder for one command, until what this returns is dropped or the process ends: two would write over what
/// the other has measured. Nothing is written for that, and a system that does not lock folders refuses no command.
pub(crate) fn hold(folder: &Path) -> Result<Option<File>> {
    let file = File::open(folder).ok();
    let file = file.filter(|_| env::var_os(HELD).is_none());
    match file.as_ref().map(File::try_lock) {
        Some(Err(TryLockError::WouldBlock)) => refuse(format!(
            "another command of stamp measures into {}: wait for its end, or name another folder",
            folder.display()
        )),
        _ => Ok(file),
    }
}

impl<T: Document> Store<T> {
    /// Opens the document in a folder, which is made if it is not there. One of the same build, device and
    /// settings is gone on with; another is an error, and stays as it was, unless it is to be begun anew.
    pub(crate) fn open(spec: &BenchSpec, head: Head) -> Result<Self> {
        let (folder, fresh) = (&spec.out, spec.fresh);
        let refused = |why: String| Error::Usage(format!("--out {}: {why}", folder.display()));
        make_folder(folder)?;
        let held = hold(folder)?;
        let name = T::FILE_NAME;
        let path = folder.join(name);
        let mut document = match fs::read_to_string(&path) {
            Ok(text) if !fresh => {
                let mut document = T::parse(&text)
                    .map_err(|error| refused(format!("{name} cannot be gone on with: {error}")))?;
                if let Some(what) = document.head().difference(&head) {
                    return Err(refused(format!(
                        "{name} was begun {what}: go on with what began it, begin anew with \
                         --fresh, or name another folder"
                    )));
                }
                document
            }
            Err(error) if !fresh && error.kind() != ErrorKind::NotFound => {
                return Err(refused(format!("{name} cannot be read: {error}")));
            }
            _ => {
                let mut document = T::default();
                *document.head() = head;
                document
            }
        };
        // So that a path that cannot be written is found before the first point.
        OutFile::new(&path)?;
        Ok(Self {
            path,
            began: Instant::now(),
            limit: spec.seconds.map(Duration::from_secs),
            seconds_before: document.head().seconds,
            document,
            _held: held,
        })
    }

    pub(crate) fn has_time(&self) -> bool {
        self.limit.is_none_or(|limit| self.began.elapsed() < limit)
    }

    pub(crate) fn save(&mut self) -> Result<()> {
        let seconds = self.seconds_before + self.began.elapsed().as_secs_f64();
        self.document.head().seconds = seconds;
        self.document.finish();
        let text = self.document.to_text()?;
        Ok(OutFile::new(&self.path)?.write(text)?)
    }
}

/// Returns a document of a head and these sections, of which those in `order` follow the head.
pub(crate) fn with_head(head: &Head, order: &str, sections: Value) -> Result<String> {
    to_text(&row::<Value>(head, sections)?, order)
}

/// Returns a row of a document, which has the fields of a report by their names there, and more.
pub(crate) fn row<T: DeserializeOwned>(report: &impl Serialize, more: Value) -> Result<T> {
    let mut row = json!(report);
    if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
        row.extend(more);
    }
    Ok(serde_json::from_value(row).map_err(io::Error::from)?)
}

/// Returns a document as JSON, the fields of the head first and then these, and a line for each entry of a
/// list.
pub(crate) fn to_text(document: &impl Serialize, sections: &str) -> Result<String> {
    let Value::Object(mut left) = serde_json::to_value(document).map_err(std::io::Error::from)?
    else {
        return Ok("{}\n".into());
    };
    // The order of the fields, which a map does not keep.
    let fields = FIELDS.split(' ').chain(sections.split(' '));
    let first = fields.filter_map(|name| left.remove_entry(name));
    let mut all: Vec<(String, Value)> = first.collect();
    all.extend(left);
    let lines = all.iter().map(|(name, value)| match value {
        Value::Array(rows) if !rows.is_empty() => {
            format!("\"{name}\": [\n{}\n]", rows.iter().joined(",\n"))
        }
        _ => format!("\"{name}\": {value}"),
    });
    Ok(format!("{{\n{}\n}}\n", lines.joined(",\n")))
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Made {
    pub(crate) file: String,
    pub(crate) command: String,
    pub(crate) ended: String,
    /// The time that it took, over all commands that went on with it.
    pub(crate) seconds: f64,
    pub(crate) verified: bool,
    pub(crate) complete: bool,
}

/// What `bench all` measured, with the checksums of its files: `all.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sealed {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) pieces: Vec<Made>,
    pub(crate) files: BTreeMap<String, String>,
}

pub(crate) const SEALED: &str = "stamp-all/1";
pub(crate) const SEALS: &str = "all.json";

/// Returns the CRC of 32 bits of a file's bytes, by which a file that was edited or cut off is known.
fn checksum(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// Refuses files of a folder, or of a folder in it, that are not as `bench all` says beside them that it wrote
/// them.
pub(crate) fn check_seals(folder: &Path) -> Result<()> {
    let inner = fs::read_dir(folder).into_iter().flatten().flatten();
    for folder in inner.map(|entry| entry.path()).chain([folder.to_owned()]) {
        let Some(all) = sealed(&folder)? else {
            continue;
        };
        for (name, sum) in &all.files {
            let path = folder.join(name);
            let found = match fs::read(&path) {
                Ok(bytes) if checksum(&bytes) == *sum => continue,
                Ok(bytes) => format!("has the checksum {}", checksum(&bytes)),
                Err(error) => format!("cannot be read: {error}"),
            };
            let path = path.display();
            return refuse(format!(
                "{path} was changed since it was measured: it {found}, and {SEALS} beside it says \
                 {sum}: restore the file, or measure all of them in another folder, with `stamp bench \
                 all --out`"
            ));
        }
    }
    Ok(())
}

pub(crate) fn sealed(folder: &Path) -> Result<Option<Sealed>> {
    let path = folder.join(SEALS);
    if !path.is_file() {
        return Ok(None);
    }
    let wrong = |why: String| {
        let path = path.display();
        Error::Usage(format!("{path}: {why}: restore it, or name another folder"))
    };
    let text = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let all: Sealed = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    match all.head.format.as_str() {
        SEALED => Ok(Some(all)),
        other => Err(wrong(format!("its format is {other:?}, not {SEALED:?}"))),
    }
}

impl Sealed {
    pub(crate) fn write(&mut self, folder: &Path) -> Result<()> {
        // Of one device, however many there are.
        self.head.seconds = self.pieces.iter().map(|made| made.seconds).sum();
        let path = folder.join(SEALS);
        let text = to_text(self, "pieces files")?;
        write_whole(&path, &text).map_err(|source| Error::File { path, source })
    }

    /// Returns whether a command is done, and what it took so far.
    pub(crate) fn state(&self, command: &str) -> (bool, f64) {
        let made = self.pieces.iter().find(|made| made.command == command);
        made.map_or((false, 0.0), |made| (made.complete, made.seconds))
    }

    /// Takes the checksum off a file that is measured now, which may be interrupted.
    pub(crate) fn begin(&mut self, folder: &Path, file: &str) -> Result<()> {
        self.files.remove(file);
        self.write(folder)
    }

    /// Notes what a command made, with the checksum that its file has now.
    pub(crate) fn note(&mut self, folder: &Path, made: Made) -> Result<()> {
        if let Ok(bytes) = fs::read(folder.join(&made.file)) {
            self.files.insert(made.file.clone(), checksum(&bytes));
        }
        self.pieces.retain(|other| other.command != made.command);
        self.pieces.push(made);
        self.write(folder)
    }
}

/// The command without the path to its own folder or file, as the document may be published.
pub(crate) fn published(command: &str, folder: &Path) -> String {
    let name = folder.file_name().unwrap_or(folder.as_os_str());
    command.replace(&*folder.to_string_lossy(), &name.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_held_by_one_and_free_again_when_that_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let held = hold(folder.path()).unwrap();
        let refused = hold(folder.path()).unwrap_err().to_string();
        has(&refused, &folder.path().display().to_string());
        drop(held);
        hold(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_has_a_checksum_unless_it_is_measured_now() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut all = Sealed::default();
        all.head.format = SEALED.into();
        let made = Made {
            file: "a.json".into(),
            command: "stamp".into(),
            ended: String::new(),
            seconds: 1.0,
            verified: true,
            complete: true,
        };
        fs::write(folder.join("a.json"), "{}").unwrap();
        all.note(folder, made).unwrap();
        check_seals(folder).unwrap();
        let found = sealed(folder).unwrap().unwrap();
        assert_eq!(found.state("stamp"), (true, 1.0));
        fs::write(folder.join("a.json"), "{ }").unwrap();
        check_seals(folder).unwrap_err();
        // A file that is measured may be interrupted, and is no error then.
        all.begin(folder, "a.json").unwrap();
        check_seals(folder).unwrap();
    }
}
