//! The command `generate`.

use super::args::Generate;
use crate::error::Result;
use crate::out_file::OutFile;
use std::io::{Write, stdout};

/// Writes an input file.
pub(super) fn generate(workload: &Generate) -> Result<bool> {
    let (out, text) = match workload {
        Generate::Labyrinth(args) => (&args.out, args.text()?),
        Generate::Kmeans(args) => (&args.out, args.text()?),
    };
    match out {
        Some(path) => OutFile::new(path)?.write(&text)?,
        None => stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(true)
}
