//! The GPUs and drivers that a file is for.

/// The GPUs and drivers that a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The PTX ISA version.
    pub isa: &'static str,
    /// The oldest GPU.
    pub gpu: &'static str,
}

/// Of most files: the first PTX with what the kernels use, so that every driver
/// since CUDA 11 loads it, and the oldest GPU with independent thread scheduling.
pub const BASE: Target = Target {
    isa: "7.0",
    gpu: "sm_70",
};

/// Of files with accesses of 128 bits, waits at barriers that count arrivals, or clusters: the
/// first with `atom.cas.b128`, which has `mbarrier.try_wait` too.
pub const WIDE: Target = Target {
    isa: "8.3",
    gpu: "sm_90",
};

impl Target {
    /// The directive of the header that names the PTX ISA.
    pub fn version(self) -> String {
        format!(".version {}", self.isa)
    }

    /// The one that names the GPU.
    pub fn target(self) -> String {
        format!(".target {}", self.gpu)
    }
}

/// Whether a text has instructions that need [`WIDE`].
pub fn is_wide(text: &str) -> bool {
    [
        ".b128",
        "mbarrier.",
        "::cluster",
        "barrier.cluster",
        "%cluster_",
    ]
    .iter()
    .any(|newer| text.contains(newer))
}

/// What a file must be for.
pub fn target_of(text: &str) -> Target {
    if is_wide(text) { WIDE } else { BASE }
}
