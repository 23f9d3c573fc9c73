#![doc = include_str!("../README.md")]

pub mod device;
mod error;
pub mod files;
mod kernels;
pub mod rules;
mod shadow;
pub mod split;
pub mod statement;
pub mod toolchain;

pub use error::Error;
pub use kernels::Kernels;
pub use toolchain::Toolchain;

use shadow::Shadow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

const BY: &str = "stm-core-build";

const ATTRIBUTES: [&str; 2] = ["no_std", "feature(abi_ptx,asm_experimental_arch)"];

/// Builds the kernels of the package's library, `src/lib.rs`. Call it from `build.rs`, which it ends with a
/// message if the library does not compile for the device or breaks a rule.
pub fn kernels() {
    Kernels::new().build();
}

/// Takes committed PTX, an archive that [`files::write_archive`] has written, in place of building it. Call
/// it from `build.rs`, which it ends with a message if the archive cannot be read.
pub fn committed(archive: &str) {
    println!("cargo::rerun-if-changed={archive}");
    finish(variable("CARGO_MANIFEST_DIR").and_then(|root| {
        let path = root.join(archive);
        let bytes = std::fs::read(&path).map_err(Error::at(&path))?;
        let blocks = stm_core_pack::blocks(&bytes);
        leave(&blocks.map_err(Error::damaged(&path))?)
    }));
}

impl Kernels {
    /// Builds the kernels, or ends the build script with a message, as [`kernels`] does.
    pub fn build(&self) {
        for name in ["STM_PTX_BUILD", "PATH"] {
            println!("cargo::rerun-if-env-changed={name}");
        }
        let mode = std::env::var("STM_PTX_BUILD").unwrap_or_default();
        if mode == "off" {
            return;
        }
        match Toolchain::find(None) {
            Err(error) if mode != "required" => {
                let warning = "the kernels are built for the CPU alone, as the GPU needs PTX";
                println!("cargo::warning={warning}: {error}");
            }
            found => finish(found.and_then(|toolchain| self.build_with(&toolchain))),
        }
    }

    fn build_with(&self, toolchain: &Toolchain) -> Result<(), Error> {
        let root = variable("CARGO_MANIFEST_DIR")?;
        let out = variable("OUT_DIR")?;
        // TARGET/PROFILE/build/PACKAGE/out
        let targets = out.ancestors().nth(4).unwrap_or(&out).join("stm-ptx");
        let shadow = Shadow::write(self, &root, &targets)?;
        let mut sources = BTreeSet::from([root.join("Cargo.toml")]);
        let mut texts = BTreeMap::new();
        let builds = [Some(""), self.recorded.then_some("stm-observed")];
        for build in builds.into_iter().flatten() {
            let mut features = self.features.clone();
            features.push(build.to_owned());
            let library = device::Library {
                manifest: &shadow.manifest,
                package: &shadow.name,
                features: &features.join(","),
                attributes: &ATTRIBUTES,
                locked: false,
                targets: &targets,
            };
            let latest = library.latest(toolchain);
            let assembly = latest.map_or_else(|| library.assemble_and_note(toolchain), Ok)?;
            sources.extend(library.sources(toolchain));
            texts.extend(split::files(&assembly, &toolchain.comment(BY))?);
        }
        // Those of the device alone: a change of the host's files needs no other PTX.
        for source in sources {
            println!("cargo::rerun-if-changed={}", source.display());
        }
        // For people and for other tools.
        let name = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
        files::replace(&targets.join(name), &texts)?;
        hold_to_rules(&texts)?;
        leave(&files::blocks(&texts))
    }
}

/// Holds each text to the rules of a shipped file; [`Error::Rule`] has a line for each finding.
pub fn hold_to_rules(texts: &BTreeMap<String, String>) -> Result<(), Error> {
    let mut wrong = Vec::new();
    for (name, text) in texts {
        let findings = rules::shipped(text).into_iter();
        wrong.extend(findings.map(|finding| format!("{name}.ptx: {finding}")));
    }
    let is_right = wrong.is_empty().then_some(());
    is_right.ok_or_else(|| Error::Rule(wrong.join("\n")))
}

fn leave<N: AsRef<str>, B: AsRef<[u8]>>(blocks: &BTreeMap<N, B>) -> Result<(), Error> {
    let folder = variable("OUT_DIR")?.join("stm-ptx");
    files::leave(blocks, &folder)?;
    println!("cargo::rustc-env={}={}", files::VARIABLE, folder.display());
    Ok(())
}

fn variable(name: &'static str) -> Result<PathBuf, Error> {
    let value = std::env::var_os(name).map(PathBuf::from);
    value.ok_or(Error::NoBuildScript(name))
}

fn finish(done: Result<(), Error>) {
    if let Err(error) = done {
        for line in error.to_string().lines() {
            println!("cargo::error={line}");
        }
        std::process::exit(1);
    }
}
