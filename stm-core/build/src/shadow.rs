//! The package that is built for the device in place of the user's: the same source of the library,
//! and of its dependencies only those that kernels need. So the user's other dependencies, which
//! are for the host, need no conditions in the manifest, and the build script does not run again.

use crate::Error;
use serde_json::Value;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A package for the device.
#[derive(Debug)]
pub(crate) struct Shadow {
    pub(crate) manifest: PathBuf,
    pub(crate) name: String,
}

/// What is known of the user's package.
#[derive(Debug)]
pub(crate) struct User<'a> {
    /// The package's folder.
    pub(crate) root: &'a Path,
    /// The source of the library.
    pub(crate) source: &'a Path,
    /// The dependencies of its kernels besides `stm-core`.
    pub(crate) dependencies: &'a [String],
    pub(crate) features: &'a [String],
}

fn metadata(user: &User<'_>) -> Result<Value, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    command
        .args([
            "metadata",
            "--format-version",
            "1",
            "--quiet",
            "--manifest-path",
        ])
        .arg(user.root.join("Cargo.toml"))
        .stdin(Stdio::null());
    let output = command.output().map_err(|source| Error::Start {
        program: cargo.into(),
        source,
    })?;
    let wrong = |what: String| Error::Metadata {
        package: user.root.display().to_string(),
        what,
    };
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(wrong(text.trim().replace('\n', "; ")));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| wrong(error.to_string()))
}

/// The crates of this project that kernels link, as far as the user's package depends on them.
const OURS: [&str; 3] = ["stm-core", "stm-machine", "stm-sync"];

/// A dependency as the package for the device names it.
struct Dependency {
    name: String,
    /// What the kernels call it, if that is another name.
    package: String,
    folder: PathBuf,
}

/// Returns the package's edition, and what its kernels depend on.
fn dependencies(user: &User<'_>, metadata: &Value) -> Result<(String, Vec<Dependency>), Error> {
    let wrong = |what: String| Error::Metadata {
        package: user.root.display().to_string(),
        what,
    };
    let packages = metadata["packages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let manifest = user.root.join("Cargo.toml");
    let manifest = manifest.canonicalize().unwrap_or(manifest);
    let own = packages.iter().find(|package| {
        let path = Path::new(package["manifest_path"].as_str().unwrap_or(""));
        path.canonicalize().is_ok_and(|path| path == manifest)
    });
    let own = own.ok_or_else(|| wrong("cargo does not know the package".to_owned()))?;
    let edition = own["edition"].as_str().unwrap_or("2024").to_owned();
    let nodes = metadata["resolve"]["nodes"].as_array();
    let node = nodes
        .into_iter()
        .flatten()
        .find(|node| node["id"] == own["id"])
        .ok_or_else(|| wrong("cargo has not resolved its dependencies".to_owned()))?;
    let links = node["deps"].as_array().map_or(&[][..], Vec::as_slice);
    let mut found = Vec::new();
    let depends = |name: &str| {
        let name = name.replace('-', "_");
        links.iter().any(|l| l["name"].as_str() == Some(&name))
    };
    // A package without transactions has the machine, and perhaps locks, alone.
    let mut names: Vec<&str> = OURS.into_iter().filter(|name| depends(name)).collect();
    if !names.iter().any(|name| *name != "stm-sync") {
        names.insert(0, "stm-core");
    }
    for name in user.dependencies {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    for name in names {
        let crate_name = name.replace('-', "_");
        let link = links
            .iter()
            .find(|link| link["name"].as_str() == Some(&crate_name))
            .ok_or_else(|| wrong(format!("it does not depend on {name}: `cargo add {name}`")))?;
        let package = packages
            .iter()
            .find(|package| package["id"] == link["pkg"])
            .ok_or_else(|| wrong(format!("cargo does not describe {name}")))?;
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or(""));
        found.push(Dependency {
            name: name.to_owned(),
            package: package["name"].as_str().unwrap_or(name).to_owned(),
            folder: manifest.parent().unwrap_or(manifest).to_owned(),
        });
    }
    Ok((edition, found))
}

impl Shadow {
    /// Writes the package below `folder`.
    pub(crate) fn write(user: &User<'_>, folder: &Path) -> Result<Self, Error> {
        let metadata = metadata(user)?;
        let (edition, dependencies) = dependencies(user, &metadata)?;
        let mut hasher = DefaultHasher::new();
        user.source.hash(&mut hasher);
        // Its file of assembly is its own among those of other packages.
        let name = format!("kernels-{:016x}", hasher.finish());
        let folder = folder.join(&name);
        let mut text = format!(
            "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = {edition:?}\n\n\
             [workspace]\n\n[lib]\npath = {:?}\ndoctest = false\n\n[features]\n",
            user.source.display().to_string()
        );
        for feature in user.features {
            let _ = writeln!(text, "{feature} = []");
        }
        let observed = dependencies.iter().find(|d| d.name != "stm-sync");
        let observed = observed.map_or("stm-core", |d| &d.name);
        let _ = writeln!(
            text,
            "stm-observed = [\"{observed}/observed\"]\n\n[dependencies]"
        );
        for dependency in &dependencies {
            let _ = writeln!(
                text,
                "{} = {{ path = {:?}, package = {:?}, default-features = false }}",
                dependency.name,
                dependency.folder.display().to_string(),
                dependency.package
            );
        }
        let manifest = folder.join("Cargo.toml");
        std::fs::create_dir_all(&folder).map_err(Error::at(&folder))?;
        if std::fs::read_to_string(&manifest).ok().as_deref() != Some(&text) {
            std::fs::write(&manifest, text).map_err(Error::at(&manifest))?;
        }
        // The same versions of everything.
        let root = Path::new(metadata["workspace_root"].as_str().unwrap_or("")).join("Cargo.lock");
        let lock = folder.join("Cargo.lock");
        if root.is_file() && !lock.is_file() {
            std::fs::copy(&root, &lock).map_err(Error::at(&lock))?;
        }
        Ok(Self { manifest, name })
    }
}
