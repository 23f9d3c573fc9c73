//! Reading and writing files of PTX; the GPUs and drivers that one is for; and the texts as a program finds
//! them: the folder that `STM_PTX_DIR` names while the crate is compiled has a packed file `KERNEL.block` for
//! each kernel, which `stm_core::ptx_of!` includes.

use crate::error::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

/// Reads a text file.
pub fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(Error::at(path))
}

/// Writes a file, beside its place first, so that nobody reads half of it. Its folder is made.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(Error::at(folder))?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    std::fs::write(&beside, bytes).map_err(Error::at(beside.as_ref()))?;
    std::fs::rename(&beside, path).map_err(Error::at(path))
}

/// The files of a folder and of the folders in it, sorted; of a file, the file itself.
pub fn below(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(Error::at(path))? {
        found.extend(below(&entry.map_err(Error::at(path))?.path())?);
    }
    found.sort();
    Ok(found)
}

/// The `.ptx` files of a directory and its folders: `FOLDER/NAME` and text, by that name.
pub fn read_ptx(dir: &Path) -> Result<BTreeMap<String, String>, Error> {
    let files = below(dir)?.into_iter();
    let texts = files.filter(|path| path.extension().is_some_and(|end| end == "ptx"));
    let named = texts.map(|path| {
        let name = path.strip_prefix(dir).unwrap_or(&path).with_extension("");
        let name = name.to_string_lossy().replace(MAIN_SEPARATOR, "/");
        Ok((name, read(&path)?))
    });
    named.collect()
}

/// The committed PTX, below the root: a folder with the texts of `stm-core`, and the archive of all others.
pub const COMMITTED_PTX: [&str; 2] = ["stm-core/ptx", "stm-kernels/ptx.archive"];

/// What identifies the PTX of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    /// 64 bits of all names and texts, in hexadecimal digits.
    pub checksum: String,
    /// The compiler that the first lines of the texts name.
    pub compiler: String,
}

/// Returns what identifies the committed PTX of the repository at `root`.
pub fn committed_ptx(root: &Path) -> Result<Ptx, Error> {
    let mut hash = Checksum::default();
    let mut compilers = BTreeSet::new();
    for part in COMMITTED_PTX {
        // The name that it was measured under, in all results.
        let folder = part.trim_end_matches(".archive");
        for (name, text) in read_part(root, part)? {
            for part in [folder, &name, &text] {
                hash.add(part);
            }
            let line = text.lines().next().unwrap_or_default();
            let compiler = line.trim_start_matches("// ").split("; built by").next();
            compilers.extend(compiler.map(str::to_owned));
        }
    }
    let (checksum, compilers) = (hash.to_string(), Vec::from_iter(compilers));
    let compiler = compilers.join("; ");
    Ok(Ptx { checksum, compiler })
}

/// Returns the committed PTX of the repository at `root`: `KERNEL/NAME` and text, by that name.
pub fn committed(root: &Path) -> Result<BTreeMap<String, String>, Error> {
    let mut found = BTreeMap::new();
    for part in COMMITTED_PTX {
        found.extend(read_part(root, part)?);
    }
    Ok(found)
}

fn read_part(root: &Path, part: &str) -> Result<BTreeMap<String, String>, Error> {
    let path = root.join(part);
    let is_folder = path.is_dir();
    (if is_folder { read_ptx } else { read_archive })(&path)
}

/// Returns the texts of an archive, by `KERNEL/NAME`; one that is not whole is [`Error::Damaged`].
pub fn read_archive(path: &Path) -> Result<BTreeMap<String, String>, Error> {
    let archive = std::fs::read(path).map_err(Error::at(path))?;
    let mut found = BTreeMap::new();
    for (kernel, block) in stm_core_pack::blocks(&archive).map_err(Error::damaged(path))? {
        let texts = stm_core_pack::unpack(block).map_err(Error::damaged(path))?;
        let named = |(name, text)| (format!("{kernel}/{name}"), text);
        found.extend(texts.into_iter().map(named));
    }
    Ok(found)
}

/// Writes an archive of texts, given by `KERNEL/NAME`.
pub fn write_archive(path: &Path, texts: &BTreeMap<String, String>) -> Result<(), Error> {
    write(path, stm_core_pack::archive(&blocks(texts)))
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

/// Makes `dir` hold exactly `files`, by `FOLDER/NAME`; returns the names of those that are gone.
pub fn replace(dir: &Path, files: &BTreeMap<String, String>) -> Result<Vec<String>, Error> {
    for (name, text) in files {
        write(&dir.join(format!("{name}.ptx")), text)?;
    }
    let mut gone: Vec<String> = read_ptx(dir)?.into_keys().collect();
    gone.retain(|name| !files.contains_key(name));
    for name in &gone {
        let path = dir.join(format!("{name}.ptx"));
        std::fs::remove_file(&path).map_err(Error::at(&path))?;
        // The folder too, if that was its last file.
        if let Some(folder) = path.parent() {
            let _ = std::fs::remove_dir(folder);
        }
    }
    Ok(gone)
}

/// The variable by which the macros of `stm-core` find the folder.
pub const VARIABLE: &str = "STM_PTX_DIR";

/// Packs texts, given by `KERNEL/NAME`: the block of each kernel.
pub fn blocks(texts: &BTreeMap<String, String>) -> BTreeMap<String, Vec<u8>> {
    let mut kernels: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for (name, text) in texts {
        let (kernel, build) = name.split_once('/').unwrap_or((name, ""));
        let of_kernel = kernels.entry(kernel).or_default();
        of_kernel.insert(build.to_owned(), text.clone());
    }
    let packed = |(kernel, texts): (&str, _)| (kernel.to_owned(), stm_core_pack::pack(&texts));
    kernels.into_iter().map(packed).collect()
}

/// Makes the folder hold these blocks.
pub fn leave<N: AsRef<str>, B: AsRef<[u8]>>(
    blocks: &BTreeMap<N, B>,
    folder: &Path,
) -> Result<(), Error> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(Error::at(folder))?;
    }
    (blocks.iter()).try_for_each(|(kernel, block)| {
        write(&folder.join(format!("{}.block", kernel.as_ref())), block)
    })
}

/// The GPUs and drivers that a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The PTX ISA version.
    pub isa: &'static str,
    /// The oldest GPU.
    pub gpu: &'static str,
}

/// Of most files: the first PTX with what the kernels use, which every driver since CUDA 11 loads, and the
/// oldest GPU with independent thread scheduling.
pub const BASE: Target = Target {
    isa: "7.0",
    gpu: "sm_70",
};

/// Of files with accesses of 128 bits, barriers that count arrivals, or clusters: the first with
/// `atom.cas.b128`, which has `mbarrier.try_wait` too.
pub const WIDE: Target = Target {
    isa: "8.3",
    gpu: "sm_90",
};

/// Whether a text has instructions that need [`WIDE`].
pub fn is_wide(text: &str) -> bool {
    let mut newer = ".b128 mbarrier. ::cluster barrier.cluster %cluster_".split(' ');
    newer.any(|newer| text.contains(newer))
}

/// What a file must be for.
pub fn target_of(text: &str) -> Target {
    if is_wide(text) { WIDE } else { BASE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(name, text): &(&str, &str)| ((*name).into(), (*text).into());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn a_directory_is_replaced_as_a_whole() {
        let dir = std::env::temp_dir().join(format!("stm-replace-{}", std::process::id()));
        let replaced = |pairs| replace(&dir, &texts(pairs)).unwrap();
        assert_eq!(replaced(&[("a/x", "1"), ("b", "2")]), [""; 0]);
        assert_eq!(replaced(&[("b", "3")]), ["a/x"]);
        assert_eq!(below(&dir).unwrap(), [dir.join("b.ptx")]);
        assert!(!dir.join("a").exists());
        assert_eq!(read_ptx(&dir).unwrap(), texts(&[("b", "3")]));
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn an_archive_is_read_as_it_was_written_and_a_damaged_one_is_named() {
        let texts = texts(&[
            ("ra/fast", "\tadd.u64 \t%rd3, %rd2, 8;\n"),
            ("ra/cgl", "\tret;\n"),
            ("ht/fast", ""),
        ]);
        let path = std::env::temp_dir().join(format!("stm-{}.archive", std::process::id()));
        write_archive(&path, &texts).unwrap();
        assert_eq!(read_archive(&path).unwrap(), texts);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.pop();
        std::fs::write(&path, bytes).unwrap();
        let error = read_archive(&path).unwrap_err().to_string();
        assert!(error.contains(&path.display().to_string()), "{error}");
        std::fs::remove_file(&path).unwrap();
    }
}
