//! The package that is built for the device in place of the user's: the same source of the library, with
//! those dependencies only that kernels need. So other dependencies, for the host, need no conditions in the
//! manifest, and the build script does not run again.

use crate::error::Error;
use crate::files;
use crate::kernels::Kernels;
use serde_json::Value;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Debug)]
pub(crate) struct Shadow {
    pub(crate) manifest: PathBuf,
    pub(crate) name: String,
}

fn wrong(root: &Path, what: String) -> Error {
    let package = root.display().to_string();
    Error::Metadata { package, what }
}

fn metadata(root: &Path) -> Result<Value, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let options = "metadata --format-version 1 --quiet --manifest-path";
    let mut command = Command::new(&cargo);
    command
        .args(options.split(' '))
        .arg(root.join("Cargo.toml"));
    let program = cargo.into();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|source| Error::Start { program, source })?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(wrong(root, text.trim().replace('\n', "; ")));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| wrong(root, error.to_string()))
}

/// The crates of this project that kernels link, as far as the user's package depends on them.
const OURS: [&str; 3] = ["stm-core", "stm-machine", "stm-sync"];

fn rows(array: &Value) -> impl Iterator<Item = &Value> {
    array.as_array().into_iter().flatten()
}

fn path(of: &Value) -> &Path {
    Path::new(of.as_str().unwrap_or(""))
}

type Dependency<'k> = (&'k str, String);

fn dependencies<'k>(
    kernels: &'k Kernels,
    root: &Path,
    metadata: &Value,
) -> Result<(String, Vec<Dependency<'k>>), Error> {
    let wrong = |what: &str| wrong(root, what.to_owned());
    let packages = &metadata["packages"];
    let manifest = root.join("Cargo.toml");
    let manifest = manifest.canonicalize().unwrap_or(manifest);
    let is_own = |package: &&Value| {
        let path = path(&package["manifest_path"]).canonicalize();
        path.is_ok_and(|path| path == manifest)
    };
    let own = rows(packages).find(is_own);
    let own = own.ok_or_else(|| wrong("cargo does not know the package"))?;
    let node = rows(&metadata["resolve"]["nodes"]).find(|node| node["id"] == own["id"]);
    let node = node.ok_or_else(|| wrong("cargo has not resolved its dependencies"))?;
    let link = |name: &str| {
        let name = name.replace('-', "_");
        rows(&node["deps"]).find(|link| link["name"] == *name)
    };
    // A package without transactions has the machine, and perhaps locks, alone.
    let ours = OURS.into_iter().filter(|name| link(name).is_some());
    let mut names: Vec<&str> = ours.collect();
    if names.iter().all(|name| *name == "stm-sync") {
        names.insert(0, "stm-core");
    }
    for name in &kernels.dependencies {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let found = names.into_iter().map(|name| {
        let link = link(name)
            .ok_or_else(|| wrong(&format!("it does not depend on {name}: `cargo add {name}`")))?;
        let package = rows(packages).find(|package| package["id"] == link["pkg"]);
        let package = package.ok_or_else(|| wrong(&format!("cargo does not describe {name}")))?;
        let manifest = path(&package["manifest_path"]);
        let folder = manifest.parent().unwrap_or(manifest).display().to_string();
        // The kernels may call it by another name than its own.
        let package = package["name"].as_str().unwrap_or(name);
        let source = format!("path = {folder:?}, package = {package:?}");
        let line = format!("{name} = {{ {source}, default-features = false }}");
        Ok((name, line))
    });
    let edition = own["edition"].as_str().unwrap_or("2024");
    Ok((edition.to_owned(), found.collect::<Result<_, Error>>()?))
}

impl Shadow {
    pub(crate) fn write(kernels: &Kernels, root: &Path, folder: &Path) -> Result<Self, Error> {
        let metadata = metadata(root)?;
        let (edition, dependencies) = dependencies(kernels, root, &metadata)?;
        let source = root.join(&kernels.source);
        let mut hasher = DefaultHasher::new();
        source.hash(&mut hasher);
        // Its file of assembly is its own among those of other packages.
        let name = format!("kernels-{:016x}", hasher.finish());
        let folder = folder.join(&name);
        let mut text = format!(
            "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = {edition:?}\n\n\
             [workspace]\n\n[lib]\npath = {:?}\ndoctest = false\n\n[features]\n",
            source.display().to_string()
        );
        for feature in &kernels.features {
            let _ = writeln!(text, "{feature} = []");
        }
        let observed = dependencies.iter().find(|(name, _)| *name != "stm-sync");
        let observed = observed.map_or("stm-core", |(name, _)| name);
        let _ = writeln!(text, "stm-observed = [\"{observed}/observed\"]\n");
        text += "[dependencies]\n";
        for (_, line) in &dependencies {
            let _ = writeln!(text, "{line}");
        }
        let manifest = folder.join("Cargo.toml");
        if std::fs::read_to_string(&manifest).ok().as_deref() != Some(&text) {
            files::write(&manifest, text)?;
        }
        // The same versions of everything.
        let root = path(&metadata["workspace_root"]).join("Cargo.lock");
        let lock = folder.join("Cargo.lock");
        if root.is_file() && !lock.is_file() {
            std::fs::copy(&root, &lock).map_err(Error::at(&lock))?;
        }
        Ok(Self { manifest, name })
    }
}
