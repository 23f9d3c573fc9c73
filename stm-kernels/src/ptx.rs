//! The kernels' PTX: silent builds are part of this crate, others are built on
//! demand by `cargo xtask ptx --observed` and found at run time.

use std::borrow::Cow;
use std::env;
use std::format;
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use stm_core::host::Error;
use stm_core::kernel::Build;
use stm_core::observe::Observation;

// `PTX`: folder and file of each text of the folder `ptx`, sorted, and the text,
// packed by `build.rs`.
include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

/// The command that builds the PTX of observed launches.
const OBSERVED: &str = "cargo xtask ptx --observed";

/// Returns the PTX of a kernel's variant.
///
/// # Errors
/// [`Error::NoPtx`] if there is none, [`Error::PtxNotBuilt`] if it is built on
/// demand and is not where it should be.
pub(crate) fn find(
    entry: &'static str,
    folder: &str,
    variant: &str,
    build: Build,
) -> Result<Cow<'static, str>, Error> {
    let wide = if build.wide { "-wide" } else { "" };
    let silent = format!("{folder}/{variant}{wide}");
    let found = PTX
        .binary_search_by(|(name, _)| (*name).cmp(&silent))
        .map(|i| PTX[i].1);
    let probe = match build.observation {
        Observation::Silent => {
            return found
                .map(|packed| Cow::Owned(unpacked(packed)))
                .map_err(|_| Error::NoPtx { entry });
        }
        Observation::Record => "recorded",
        Observation::Profile => "profiled",
    };
    if build.wide && found.is_err() {
        // The kernel has no build of its own for such a device.
        return Err(Error::NoPtx { entry });
    }
    read(&format!("{silent}.{probe}.ptx"), entry, build)
}

/// Returns the text that the build has packed.
///
/// # Panics
/// It never panics, as the build has packed the text.
fn unpacked(packed: &[u8]) -> String {
    let text = lz4_flex::block::decompress_size_prepended(packed)
        .expect("a text that build.rs has packed");
    String::from_utf8(text).expect("PTX is text")
}

/// Reads a text that is built on demand.
fn read(name: &str, entry: &str, build: Build) -> Result<Cow<'static, str>, Error> {
    let mut missing = String::new();
    for folder in folders() {
        let path = folder.join(name);
        match std::fs::read_to_string(&path) {
            Ok(text) => return Ok(Cow::Owned(text)),
            Err(_) if missing.is_empty() => missing = path.display().to_string(),
            Err(_) => {}
        }
    }
    Err(Error::PtxNotBuilt {
        entry: format!("{entry}{}", build.suffix()),
        missing,
        command: OBSERVED,
    })
}

/// Returns the folders where such texts may be: the one that `STM_PTX` names,
/// or the one where `cargo xtask ptx --observed` puts them, relative to the
/// program and to this crate.
fn folders() -> impl Iterator<Item = PathBuf> {
    let observed = Path::new("ptx").join("observed");
    let named = env::var_os("STM_PTX").map(PathBuf::from);
    let program = env::current_exe().ok();
    let targets = program.into_iter().flat_map({
        let observed = observed.clone();
        move |program| {
            let above: std::vec::Vec<PathBuf> = program
                .ancestors()
                .skip(1)
                .map(|folder| folder.join(&observed))
                .filter(|folder| folder.is_dir())
                .collect();
            above
        }
    });
    let here = Path::new("target").join(observed);
    named.into_iter().chain(targets).chain([here])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_committed_text_is_found_and_one_that_is_not_built_is_asked_for_by_its_command() {
        let silent = Build::default();
        let text = find("ra_hv_sorting", "ra", "hv-sorting", silent).unwrap();
        assert!(text.contains(".entry ra_hv_sorting("));
        let none = find("ra_none", "ra", "none", silent).unwrap_err();
        assert_eq!(none, Error::NoPtx { entry: "ra_none" });
        let observed = Build {
            observation: Observation::Record,
            ..silent
        };
        let error = read("no/such.recorded.ptx", "no_such", observed).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("no_such_recorded") && text.contains("cargo xtask ptx --observed"),
            "{text}"
        );
    }
}
