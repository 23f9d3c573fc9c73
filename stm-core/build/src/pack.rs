//! The texts as a program finds them: a packed block for each kernel.
//!
//! The folder that `STM_PTX_DIR` names while the crate is compiled has for each kernel a file
//! `KERNEL.block`, which `stm_core::ptx_of!` includes.

use crate::Error;
use std::collections::BTreeMap;
use std::path::Path;

/// The variable by which the macros of `stm-core` find the folder.
pub const VARIABLE: &str = "STM_PTX_DIR";

/// Packs texts, given by `KERNEL/NAME`: the block of each kernel.
pub fn blocks(texts: &BTreeMap<String, String>) -> BTreeMap<String, Vec<u8>> {
    let mut kernels: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (name, text) in texts {
        let (kernel, build) = name.split_once('/').unwrap_or((name, ""));
        let of_kernel = kernels.entry(kernel.to_owned()).or_default();
        of_kernel.insert(build.to_owned(), text.clone());
    }
    let packed = |(kernel, texts)| (kernel, stm_core_pack::pack(&texts));
    kernels.into_iter().map(packed).collect()
}

/// Makes the folder hold these blocks.
///
/// # Errors
/// [`Error::File`].
pub fn leave<N: AsRef<str>, B: AsRef<[u8]>>(
    blocks: &BTreeMap<N, B>,
    folder: &Path,
) -> Result<(), Error> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(Error::at(folder))?;
    }
    std::fs::create_dir_all(folder).map_err(Error::at(folder))?;
    for (kernel, block) in blocks {
        let place = folder.join(format!("{}.block", kernel.as_ref()));
        std::fs::write(&place, block).map_err(Error::at(&place))?;
    }
    Ok(())
}
