//! The sizes of a clustering whose points were made.

use super::input::{DIMS_MAX, Kmeans, Source};
use crate::error::{Error, Result};
use crate::numbers::of;
use crate::workloads::workload::{Sizes, Verifies};
use serde_json::Value;
use stm_core::Capacity;
use stm_core::algorithm::Variant;

impl Kmeans {
    /// The coordinates of a point.
    pub(super) fn dims(&self) -> u32 {
        self.points.dims() as u32
    }

    /// The source and how to name more points, for errors.
    fn fix(&self) -> String {
        match &self.source {
            Source::File(name) => format!("the points of {name}"),
            Source::Generated(_) => "--points".into(),
        }
    }
}

impl Sizes for Kmeans {
    fn name(&self) -> &'static str {
        "kmeans"
    }

    fn by_warps(&self) -> bool {
        !self.adds
    }

    fn parameters(&self) -> Vec<(&'static str, Value)> {
        let mut parameters = vec![
            ("points", self.points.len().into()),
            ("dims", self.dims().into()),
        ];
        if let Source::Generated(centres) = self.source {
            parameters.push(("centres", centres.into()));
        }
        parameters.extend([
            ("clusters_min", self.clusters_min.into()),
            ("clusters_max", self.clusters_max.into()),
            ("passes_max", self.passes_max.into()),
            ("threshold", self.threshold.into()),
            ("normalised", self.normalised.into()),
        ]);
        if self.adds {
            parameters.push(("adds", true.into()));
        }
        if let Source::File(name) = &self.source {
            parameters.push(("input", name.as_str().into()));
        }
        parameters
    }

    fn summary(&self) -> String {
        let mut text = format!(
            "{}, {}, {}",
            of(self.points.len() as u64, "point"),
            of(self.dims().into(), "coordinate"),
            of(self.clusters_max.into(), "cluster")
        );
        if self.adds {
            text += ", transactions add";
        }
        text
    }

    /// Transactions of one launch.
    fn transactions(&self) -> Option<u64> {
        Some(self.points.len() as u64)
    }

    /// The sums are cleared before each pass.
    fn is_reset_between_launches(&self) -> bool {
        true
    }

    fn capacity(&self) -> Capacity {
        Capacity {
            reads: self.dims() + 1,
            writes: self.dims() + 1,
            actions: 0,
        }
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        u64::from(self.clusters_max) * (u64::from(self.dims()) + 1)
    }

    fn verifies(&self) -> Verifies {
        if self.adds {
            Verifies::final_state("members and counts exactly, sums within rounding")
        } else {
            Verifies::isolation(
                "each transaction saw the count that the one before it left, and sums are equal \
                 bit for bit in that order",
            )
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        let (least, most, n) = (self.clusters_min, self.clusters_max, self.points.len());
        if least == 0 {
            return Err(Error::Usage(
                "-n 0 or -m 0 leaves the points no cluster: give 1 or more".into(),
            ));
        }
        if least > most {
            return Err(Error::Usage(format!(
                "-n {least} is more than -m {most}: clusters go from -n up to -m"
            )));
        }
        if most as usize > n {
            return Err(Error::Usage(format!(
                "-m {most} clusters are more than {}, {n}: each starts from a point of its own, \
                 so give -m {n} or less",
                self.fix()
            )));
        }
        if self.dims() > DIMS_MAX {
            return Err(Error::Usage(format!(
                "{} coordinates are too many for a transaction: at most {DIMS_MAX}",
                self.dims()
            )));
        }
        if self.passes_max == 0 {
            return Err(Error::Usage(
                "--passes-max 0 leaves nothing to run: give 1 or more".into(),
            ));
        }
        Ok(())
    }

    fn gpu_shape(&self, algorithm: Variant, processors: u32) -> Option<(u32, u32)> {
        // Few rows, and every transaction writes all of one.
        let without = matches!(algorithm, Variant::Cgl | Variant::Egpgv);
        (!without).then_some((processors, 64))
    }
}
