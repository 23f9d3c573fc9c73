//! Finds a kernel's PTX: the program carries what its build has left
//! ([`ptx_of!`](crate::ptx_of)), and other texts are looked for at run time.

use crate::{host::Error, kernel::Build, observe::Observation};
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::vec::Vec;
use std::{borrow::Cow, collections::BTreeMap, env, format};

/// The text of a module.
pub type Text = Cow<'static, str>;

/// The texts of one kernel that a program carries, as `stm-core-pack` packs them; empty for none.
pub type Carried = &'static [u8];

/// What builds the PTX of observed launches.
const OBSERVED: &str = "`cargo xtask ptx --observed`, or in a crate of your own \
                        `Kernels::new().recorded()` in its build.rs";

/// Returns the PTX of a kernel, given its folder and its name there, from what
/// the program carries or, for an observed launch, from a folder.
///
/// # Errors
/// [`Error::NoPtx`] if there is none, [`Error::PtxNotBuilt`] if it is built on
/// demand and is not where it should be.
///
/// # Panics
/// It never panics, as the build script has packed what the program carries.
pub fn find(
    carried: Carried,
    entry: &'static str,
    (folder, name): (&str, &str),
    build: Build,
) -> Result<Text, Error> {
    let wide = if build.wide { "-wide" } else { "" };
    let silent = format!("{name}{wide}");
    let probe = match build.observation {
        Observation::Silent => "",
        Observation::Record => ".recorded",
        Observation::Profile => ".profiled",
    };
    let mut texts = BTreeMap::new();
    if !carried.is_empty() {
        texts = stm_core_pack::unpack(carried).expect("a block that the build script has packed");
    }
    match texts.remove(&format!("{silent}{probe}")) {
        Some(text) => Ok(Cow::Owned(text)),
        // Without a silent one for such a device the kernel has no build of its own for it.
        None if probe.is_empty() || build.wide && !texts.contains_key(&silent) => {
            Err(Error::NoPtx { entry })
        }
        None => read(&format!("{folder}/{silent}{probe}.ptx"), entry, build),
    }
}

/// Reads a text that is built on demand.
fn read(name: &str, entry: &str, build: Build) -> Result<Text, Error> {
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

/// Returns the folders where such texts may be: the one that `STM_PTX` names, or the one where
/// `cargo xtask ptx --observed` puts them, relative to the program and to this crate.
fn folders() -> Vec<PathBuf> {
    let observed = Path::new("ptx").join("observed");
    let named = env::var_os("STM_PTX").map(PathBuf::from);
    let mut found = Vec::from_iter(named);
    if let Ok(program) = env::current_exe() {
        let above = program.ancestors().skip(1);
        let above = above.map(|folder| folder.join(&observed));
        found.extend(above.filter(|folder| folder.is_dir()));
    }
    found.push(Path::new("target").join(observed));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_carried_is_found_and_one_that_is_not_built_is_asked_for() {
        let texts = BTreeMap::from([("fast".to_string(), ".entry ra_fast()".to_string())]);
        let carried: Carried = stm_core_pack::pack(&texts).leak();
        let silent = Build::default();
        let text = find(carried, "ra_fast", ("ra", "fast"), silent).unwrap();
        assert_eq!(text, ".entry ra_fast()");
        let none = find(carried, "ra_none", ("ra", "none"), silent).unwrap_err();
        assert_eq!(none, Error::NoPtx { entry: "ra_none" });
        let mut build = silent;
        build.observation = Observation::Record;
        let error = find(carried, "no_such", ("no", "such"), build).unwrap_err();
        let text = error.to_string();
        for part in ["no_such_recorded", "cargo xtask ptx --observed"] {
            assert!(text.contains(part), "{text}");
        }
        build.wide = true;
        let none = find(carried, "ra_fast", ("ra", "fast"), build).unwrap_err();
        assert_eq!(none, Error::NoPtx { entry: "ra_fast" });
    }
}
