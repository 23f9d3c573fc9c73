//! The texts as a program finds them: packed, listed by kernel.
//!
//! The folder that `STM_PTX_DIR` names while the crate is compiled has for each
//! kernel a file `KERNEL.rs`, an array of the names of its texts and their
//! packed bytes, sorted by name. `stm_core::ptx_of!` includes it.

use crate::Error;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The variable by which the macros of `stm-core` find the folder.
pub const VARIABLE: &str = "STM_PTX_DIR";

/// Writes the texts, given by `KERNEL/NAME`, below the folder.
///
/// # Errors
/// [`Error::File`].
pub fn pack(texts: &BTreeMap<String, String>, folder: &Path) -> Result<(), Error> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::File { path, source }
    };
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(at(folder))?;
    }
    std::fs::create_dir_all(folder).map_err(at(folder))?;
    let mut tables: BTreeMap<&str, String> = BTreeMap::new();
    for (name, text) in texts {
        let (kernel, build) = name.split_once('/').unwrap_or((name, ""));
        let place = folder.join(name.replace('/', "."));
        let packed = lz4_flex::block::compress_prepend_size(text.as_bytes());
        std::fs::write(&place, packed).map_err(at(&place))?;
        let table = tables.entry(kernel).or_default();
        let _ = writeln!(
            table,
            "    ({build:?}, include_bytes!({:?})),",
            place.display()
        );
    }
    for (kernel, rows) in tables {
        let place = folder.join(format!("{kernel}.rs"));
        std::fs::write(&place, format!("&[\n{rows}]\n")).map_err(at(&place))?;
    }
    Ok(())
}
