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

/// One point of Figure 4: words, locks and threads.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) words: f64,
    pub(super) locks: f64,
    pub(super) threads: f64,
    /// The rate of `hv-sorting` over the rate of `tbv-sorting`.
    pub(super) gain: f64,
}

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

    /// The largest gain of the paper's variants in a workload, and whose it is.
    pub(super) fn best(&self, workload: &str) -> Result<(f64, &'static str), String> {
        let mut best = (0.0, "");
        for variant in VARIANTS {
            let gain = self.gain(workload, variant)?;
            if gain > best.0 {
                best = (gain, variant);
            }
        }
        Ok(best)
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

    /// Table 1: a field of a workload.
    pub(super) fn characteristic(&self, workload: &str, field: &str) -> Result<f64, String> {
        self.0.number(&format!(
            "{FILE}:characteristics[workload={workload}].{field}"
        ))
    }

    /// Figure 3: threads and rate, in ascending order of threads.
    pub(super) fn scaling(&self, workload: &str, variant: &str) -> Result<Vec<(f64, f64)>, String> {
        let rows = format!("{FILE}:threads[workload={workload} variant={variant}]");
        let blocks = self.0.numbers(&format!("{rows}.blocks"))?;
        let threads = self.0.numbers(&format!("{rows}.threads"))?;
        let rates = self.0.numbers(&format!("{rows}.tx_per_s"))?;
        let all = blocks
            .iter()
            .zip(threads)
            .map(|(blocks, threads)| blocks * threads);
        let mut points: Vec<_> = all.zip(rates).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(points)
    }

    /// Figure 3: the rate at one number of threads.
    pub(super) fn rate_at(
        &self,
        workload: &str,
        variant: &str,
        threads: f64,
    ) -> Result<f64, String> {
        let points = self.scaling(workload, variant)?;
        let found = points
            .iter()
            .find(|point| point.0.total_cmp(&threads).is_eq());
        found
            .map(|point| point.1)
            .ok_or_else(|| format!("{workload} has no point of {threads} threads"))
    }

    /// Figure 4: the field of a variant at one point.
    pub(super) fn eigenbench(
        &self,
        variant: &str,
        (words, locks, blocks): (u64, u64, u64),
        field: &str,
    ) -> Result<f64, String> {
        let row = format!("variant={variant} hot_words={words} locks={locks} blocks={blocks}");
        self.0.number(&format!("{FILE}:eigenbench[{row}].{field}"))
    }

    /// Figure 4: every point at which both variants were measured.
    pub(super) fn points(&self) -> Result<Vec<Point>, String> {
        let column = |variant: &str, field: &str| {
            self.0
                .numbers(&format!("{FILE}:eigenbench[variant={variant}].{field}"))
        };
        let mut sides = Vec::new();
        for variant in ["tbv-sorting", "hv-sorting"] {
            let [words, locks, blocks, threads, rate] =
                ["hot_words", "locks", "blocks", "threads", "tx_per_s"]
                    .map(|field| column(variant, field));
            let (words, locks, blocks, threads, rate) = (words?, locks?, blocks?, threads?, rate?);
            let rows: Vec<_> = (0..rate.len())
                .map(|i| (words[i], locks[i], blocks[i] * threads[i], rate[i]))
                .collect();
            sides.push(rows);
        }
        let mut points = Vec::new();
        for &(words, locks, threads, tbv) in &sides[0] {
            let key = [words, locks, threads].map(f64::to_bits);
            let other = sides[1]
                .iter()
                .find(|row| [row.0, row.1, row.2].map(f64::to_bits) == key);
            let (_, _, _, hv) = other.ok_or("a point of Figure 4 lacks hv-sorting")?;
            let gain = hv / tbv;
            points.push(Point {
                words,
                locks,
                threads,
                gain,
            });
        }
        Ok(points)
    }
}
