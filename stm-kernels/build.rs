//! Packs the committed PTX and lists it, so that a kernel finds its text by its
//! name, a new kernel builds before its PTX exists, and the program stays
//! small.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Returns the entries of a folder, sorted, or none if there is no such folder.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = match fs::read_dir(folder) {
        Ok(entries) => entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<Vec<_>>>()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    found.sort();
    Ok(found)
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=ptx");
    let variable = |name| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let root = variable("CARGO_MANIFEST_DIR").join("ptx");
    let mut texts = Vec::new();
    for folder in entries(&root)?.iter().filter(|path| path.is_dir()) {
        for file in entries(folder)? {
            if file.extension().is_some_and(|end| end == "ptx") {
                let name = file.with_extension("");
                let name = name.strip_prefix(&root).unwrap_or(&name);
                texts.push((name.display().to_string().replace('\\', "/"), file));
            }
        }
    }
    texts.sort();
    let mut source = String::from("static PTX: &[(&str, &[u8])] = &[\n");
    let packed = variable("OUT_DIR").join("ptx");
    fs::create_dir_all(&packed)?;
    for (name, file) in texts {
        println!("cargo::rerun-if-changed={}", file.display());
        let text = lz4_flex::block::compress_prepend_size(&fs::read(&file)?);
        let place = packed.join(name.replace('/', "."));
        fs::write(&place, text)?;
        writeln!(
            source,
            "    ({name:?}, include_bytes!({:?})),",
            place.display()
        )
        .map_err(io::Error::other)?;
    }
    source.push_str("];\n");
    fs::write(variable("OUT_DIR").join("ptx.rs"), source)
}
