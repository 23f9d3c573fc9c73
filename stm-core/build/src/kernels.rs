//! What a package says of its kernels.

use std::path::{Path, PathBuf};

/// The kernels of a package, and how they are built.
#[derive(Clone, Debug)]
pub struct Kernels {
    pub(crate) source: PathBuf,
    pub(crate) dependencies: Vec<String>,
    pub(crate) features: Vec<String>,
    pub(crate) recorded: bool,
}

impl Default for Kernels {
    fn default() -> Self {
        Self::new()
    }
}

impl Kernels {
    /// The kernels of the package's library, `src/lib.rs`.
    pub fn new() -> Self {
        Self::of("src/lib.rs")
    }

    /// The kernels of a file, given by its path in the package, and of its modules.
    pub fn of(source: impl AsRef<Path>) -> Self {
        Self {
            source: source.as_ref().to_owned(),
            dependencies: Vec::new(),
            features: Vec::new(),
            recorded: false,
        }
    }

    /// Names a dependency that the kernels use, which must do without the standard library.
    #[must_use]
    pub fn dependency(mut self, name: &str) -> Self {
        self.dependencies.push(name.to_owned());
        self
    }

    /// Enables a feature of the package for the build of its kernels.
    #[must_use]
    pub fn feature(mut self, name: &str) -> Self {
        self.features.push(name.to_owned());
        self
    }

    /// Builds the kernels that record histories as well, which takes twice as long.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.recorded = true;
        self
    }
}
