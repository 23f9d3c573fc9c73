//! What `h200/paper.json`, the paper's evaluation measured again, says about a
//! workload and a variant.

use super::data::Data;

const FILE: &str = "h200/paper.json";

/// The paper's variants without its baseline `cgl`, in the order of its Figure 2.
pub(super) const VARIANTS: [&str; 6] = [
    "egpgv",
    "vbv",
    "tbv-sorting",
    "hv-sorting",
    "hv-backoff",
    "optimized",
];

/// The paper's workloads, as the file and as the paper name them.
pub(super) const WORKLOADS: [(&str, &str); 6] = [
    ("ra", "RA"),
    ("ht", "HT"),
    ("genome", "GN"),
    ("labyrinth", "LB"),
    ("kmeans", "KM"),
    ("eigenbench", "EigenBench"),
];

/// The measurements of the paper's evaluation.
pub(super) struct Paper<'a>(pub(super) &'a Data);

impl Paper<'_> {
    /// Figure 2: committed transactions a second, at the variant's best launch.
    pub(super) fn rate(&self, workload: &str, variant: &str) -> Result<f64, String> {
        self.speedup(workload, variant, "tx_per_s")
    }

    /// Figure 2: a field of one measurement.
    pub(super) fn speedup(
        &self,
        workload: &str,
        variant: &str,
        field: &str,
    ) -> Result<f64, String> {
        let row = format!("speedups[workload={workload} variant={variant}]");
        self.0.number(&format!("{FILE}:{row}.{field}"))
    }

    /// Figure 2: the rate over the rate of the project's `cgl`.
    pub(super) fn gain(&self, workload: &str, variant: &str) -> Result<f64, String> {
        Ok(self.rate(workload, variant)? / self.rate(workload, "cgl")?)
    }

    /// The time of one kernel of genome (`gn1`, `gn2`), in milliseconds.
    pub(super) fn kernel_ms(&self, kernel: &str, variant: &str) -> Result<f64, String> {
        let resolved = if variant == "optimized" {
            "tbv-sorting"
        } else {
            variant
        };
        let name = format!("{kernel}_{}", resolved.replace('-', "_"));
        let row = format!("speedups[workload=genome variant={variant}]");
        // `_` in a path stands for a blank or for itself.
        self.0
            .number(&format!("{FILE}:{row}.kernels[kernel={name}].time_ms"))
    }

    /// The gain over `cgl` in one kernel of genome.
    pub(super) fn kernel_gain(&self, kernel: &str, variant: &str) -> Result<f64, String> {
        Ok(self.kernel_ms(kernel, "cgl")? / self.kernel_ms(kernel, variant)?)
    }
}
