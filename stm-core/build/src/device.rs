//! One build of a library for `nvptx64`: its assembly is the PTX of all its kernels.

use crate::error::Error;
use crate::files::read;
use crate::toolchain::{Toolchain, run};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Flags of the device build. The linker is not wanted: the assembly text is the product. Panics become
/// nothing. `stm-core` links LLVM's intrinsics on purpose, so that lint is off. The compiler's own jump
/// threading knows of no convergent operation: it copied ballots into both sides of a branch, and lanes that
/// vote at different instructions do not see each other's votes. The inliner's threshold is out of the way of
/// closures: one that is not inlined gets the transaction in memory, where it is slow.
const RUSTFLAGS: &str = "-Clinker=/bin/true -Ctarget-cpu=sm_70 -Ctarget-feature=+ptx70 -Zunstable-options -Zmir-enable-passes=-JumpThreading -Cllvm-args=-inline-threshold=100000 -Cllvm-args=-min-jump-table-entries=64 -Cpanic=immediate-abort -Ainternal_features";

const PROFILE: [(&str, &str); 5] = [
    ("CARGO_PROFILE_RELEASE_LTO", "fat"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1"),
    ("CARGO_PROFILE_RELEASE_PANIC", "abort"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "0"),
    ("CARGO_PROFILE_RELEASE_INCREMENTAL", "false"),
];

/// What kernels use of `core` is nearly always inlined or compiled with them, so no code is made of it, in
/// half of the time; its names get another hash by that.
const WITHOUT_CORE: [&str; 3] = [
    "-Zprofile-rustflags",
    "--config",
    "profile.release.package.core.rustflags=['-Zno-codegen']",
];

/// Whether a line declares what the module lacks. Shared memory of a launch's size is external, too.
fn is_missing(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(".extern") && !line.contains(".shared")
}

/// A library to build for the device.
#[derive(Clone, Debug)]
pub struct Library<'a> {
    /// The package's manifest.
    pub manifest: &'a Path,
    /// The package's name.
    pub package: &'a str,
    /// Its features, separated by commas.
    pub features: &'a str,
    /// Attributes that the library shall have on the device, besides its own.
    pub attributes: &'a [&'a str],
    /// Says whether the lock file must not change.
    pub locked: bool,
    /// The folder of the target directories, one for each compiler and set of flags.
    pub targets: &'a Path,
}

impl Library<'_> {
    /// Returns the target directory of one compiler and set of flags; cargo itself tells apart whether `core`
    /// has code. The assembly's file name has neither, so cargo could take another compiler's for up to date.
    fn target(&self, toolchain: &Toolchain) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        (&toolchain.version, RUSTFLAGS, PROFILE).hash(&mut hasher);
        self.targets.join(format!("{:016x}", hasher.finish()))
    }

    /// Compiles the library, and returns the text of the module.
    pub fn assemble(&self, toolchain: &Toolchain) -> Result<String, Error> {
        self.assemble_with(toolchain, &[])
    }

    fn assemble_with(&self, toolchain: &Toolchain, options: &[&str]) -> Result<String, Error> {
        let target = self.target(toolchain);
        let mut cargo = toolchain.cargo();
        cargo
            .current_dir(self.manifest.parent().unwrap_or(Path::new(".")))
            .env("CARGO_TARGET_DIR", &target)
            .env("RUSTFLAGS", RUSTFLAGS)
            .envs(PROFILE)
            .stdin(Stdio::null())
            .args(["rustc", "--quiet", "--lib", "--release", "-Zbuild-std=core"])
            .args(["--package", self.package, "--features", self.features])
            .args(["--target", "nvptx64-nvidia-cuda", "--crate-type", "cdylib"])
            .args(self.locked.then_some("--locked"))
            .args(options)
            .args(["--", "--emit=asm"]);
        for attribute in self.attributes {
            cargo.arg(format!("-Zcrate-attr={attribute}"));
        }
        run(cargo, &format!("the nvptx64 build of {}", self.package))?;
        let assembly = self.product(toolchain, "deps/", ".s");
        if !assembly.is_file() {
            return Err(Error::NoOutput(assembly));
        }
        read(&assembly)
    }

    fn product(&self, toolchain: &Toolchain, folder: &str, end: &str) -> PathBuf {
        let name = self.package.replace('-', "_");
        let file = format!("nvptx64-nvidia-cuda/release/{folder}{name}{end}");
        self.target(toolchain).join(file)
    }

    /// Returns the files that the latest build was made of, none if there has been no build.
    pub(crate) fn sources(&self, toolchain: &Toolchain) -> Vec<PathBuf> {
        let text = read(&self.product(toolchain, "", ".d")).unwrap_or_default();
        let (_, files) = text.split_once(": ").unwrap_or_default();
        // A blank in a path has a backslash before it.
        let files = files.replace("\\ ", "\0");
        let paths = files.split_whitespace().map(|path| path.replace('\0', " "));
        paths.map(PathBuf::from).collect()
    }

    /// Returns what stands for all that the latest build was made of, if that is still there.
    fn fingerprint(&self, toolchain: &Toolchain) -> Option<String> {
        let folder = self.manifest.parent()?;
        let manifest = [folder.join("Cargo.toml"), folder.join("Cargo.lock")];
        let mut hasher = DefaultHasher::new();
        (self.features, self.attributes).hash(&mut hasher);
        let sources = self.sources(toolchain);
        let first = sources.first()?.clone();
        for path in manifest.iter().chain(&sources) {
            (path, std::fs::read(path).ok()?).hash(&mut hasher);
        }
        Some(format!("{:016x} {}", hasher.finish(), first.display()))
    }

    /// Returns the text of the latest build, if its sources are the same: cargo would build, for want of a link.
    pub(crate) fn latest(&self, toolchain: &Toolchain) -> Option<String> {
        let latest = read(&self.product(toolchain, "deps/", ".print")).ok()?;
        (self.fingerprint(toolchain)? == latest).then_some(())?;
        read(&self.product(toolchain, "deps/", ".s")).ok()
    }

    /// Does the same as [`Self::assemble`] in less time, and notes for [`Self::latest`] of what.
    pub(crate) fn assemble_and_note(&self, toolchain: &Toolchain) -> Result<String, Error> {
        let note = self.product(toolchain, "deps/", ".print");
        let _ = std::fs::remove_file(&note);
        let mut text = self.assemble_with(toolchain, &WITHOUT_CORE)?;
        if text.lines().any(is_missing) {
            text = self.assemble(toolchain)?;
        }
        if let Some(print) = self.fingerprint(toolchain) {
            std::fs::write(&note, print).map_err(Error::at(&note))?;
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::is_missing;

    #[test]
    fn a_module_lacks_functions_and_data_and_not_the_shared_memory_of_its_launch() {
        assert!(is_missing(".extern .func f();"));
        assert!(is_missing("\t.extern .global .align 1 .b8 TABLE[9];"));
        assert!(!is_missing(".extern .shared .align 16 .b8 words[];"));
        assert!(!is_missing(".func f();"));
    }
}
