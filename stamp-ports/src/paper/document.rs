//! `paper.json`: what `stamp bench paper` writes and `stamp report` reads.
//!
//! The sections are lists that grow as points are measured, and what the device or the program does not know
//! is absent. A rate counts transactions that committed, by the kernel's own time; a share is from 0 to 1; an
//! abort rate is attempts that aborted over all attempts.

use super::plan::Piece;
use crate::measure::search::Tried;
use crate::prelude::*;

/// The whole document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Paper {
    /// Where it comes from.
    #[serde(flatten)]
    pub head: Head,
    /// What each command measured. Earlier versions have none, nor critical sections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) pieces: Vec<Piece>,
    /// Figure 2 and Table 2: each variant at its best launch.
    pub(crate) speedups: Vec<Speedup>,
    /// Beside it, the same transactions as critical sections of one hand-written lock.
    pub(crate) critical_sections: Vec<Best>,
    /// Figure 3: throughput by threads.
    pub(crate) threads: Vec<LaunchPoint>,
    /// Figure 4: `EigenBench` by shared words, locks and threads.
    pub(crate) eigenbench: Vec<LaunchPoint>,
    /// Figure 5: where the time goes.
    pub(crate) breakdown: Vec<Breakdown>,
    /// Table 1, measured.
    pub(crate) characteristics: Vec<Characteristics>,
    /// Every launch that the searches of Figure 2 tried.
    pub(crate) search: Vec<Tried>,
}

/// What a workload reaches at its best launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Best {
    /// The workload; of critical sections of one of several kernels with it: `genome/gn1`.
    pub(crate) workload: String,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) transactions: u64,
    /// Transactions of the workload at its full size; what is slow has fewer.
    pub(crate) transactions_full: u64,
    pub(crate) repeat: u32,
    /// The median of the timed runs; below, the slowest and the fastest.
    pub(crate) tx_per_s: f64,
    pub(crate) tx_per_s_min: f64,
    pub(crate) tx_per_s_max: f64,
    pub(crate) verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    pub(crate) tried: u64,
}

impl Best {
    pub(crate) fn counts(&self) -> bool {
        self.verified && self.tx_per_s.is_finite() && self.tx_per_s > 0.0
    }
}

/// A variant at its best launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Speedup {
    #[serde(flatten)]
    pub(crate) best: Best,
    pub(crate) variant: String,
    /// The algorithm that ran: another name only for `optimized`.
    pub(crate) resolved: String,
    pub(crate) locks: u64,
    /// The median over that of `cgl`, and of critical sections, with the same workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) over_cgl: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) over_critical_section: Option<f64>,
    /// What the verification covers: `final state`, or `final state and isolation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verifies: Option<String>,
    /// What `stamp isolation` found in a recorded run of the same launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) isolation: Option<Isolation>,
    /// Of the median run, as what follows.
    pub(crate) commits: u64,
    pub(crate) aborts: BTreeMap<String, u64>,
    /// Mean lanes of a warp that ran a transaction together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) active_lanes: Option<f64>,
    pub(crate) warp_width: u32,
    pub(crate) metadata_bytes: u64,
    /// What the driver took to compile the kernels; 0 on the CPU.
    pub(crate) jit_ms: f64,
    pub(crate) launches: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) registers: Option<u32>,
    /// The kernels of a workload with several, such as GN-1 and GN-2.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) kernels: Vec<KernelPart>,
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, Value>,
}

impl Deref for Speedup {
    type Target = Best;

    fn deref(&self) -> &Best {
        &self.best
    }
}

/// Returns whether a point's workload, which may be a kernel's as `genome/gn1`, is this one.
pub(crate) fn is_of(of: &str, workload: &str) -> bool {
    of.split('/').next() == Some(workload)
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KernelPart {
    pub(crate) kernel: String,
    pub(crate) launches: u64,
    pub(crate) time_ms: f64,
    pub(crate) commits: u64,
    pub(crate) aborts: u64,
    /// Its rate over that of `cgl`, and of critical sections, in the same kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) over_cgl: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) over_critical_section: Option<f64>,
}

impl KernelPart {
    /// Transactions a second; 0 if the time is not known.
    pub(crate) fn tx_per_s(&self) -> f64 {
        if self.time_ms > 0.0 {
            self.commits as f64 / (self.time_ms * 1e-3)
        } else {
            0.0
        }
    }

    /// What it does: `gn1` for the kernel `gn1_hv_sorting`.
    pub(crate) fn work(&self) -> &str {
        self.kernel.split('_').next().unwrap_or(&self.kernel)
    }
}

/// A point of Figure 3 or of Figure 4: a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LaunchPoint {
    /// The workload; absent in Figure 4, which has `EigenBench` alone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) workload: String,
    pub(crate) variant: String,
    /// Words of the shared data; they and the locks are those of Figure 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hot_words: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) locks: Option<u64>,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) transactions: u64,
    /// 0 for a launch that did not run.
    pub(crate) tx_per_s: f64,
    pub(crate) abort_rate: f64,
    /// Whether the launch left the right result, in Figure 3; absent where it did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verified: Option<bool>,
    /// Why the figures are not those of a whole launch, if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// A bar of Figure 5.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Breakdown {
    pub(crate) workload: String,
    pub(crate) variant: String,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    /// Documents of earlier versions do not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) transactions: Option<u64>,
    /// The workload's parameters, where they are not those of Figure 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<String>,
    /// Shares of the lanes' time by the paper's phases and `warp`, waiting for other lanes; the sum is 1.
    pub(crate) shares: BTreeMap<String, f64>,
    /// The kernel's time with the measuring over the time without.
    pub(crate) cost: f64,
}

/// A row of Table 1, measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Characteristics {
    /// The workload, or one kernel of it.
    pub(crate) workload: String,
    pub(crate) variant: String,
    /// 32-bit words that transactions share.
    pub(crate) shared_words: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reads_per_tx: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) writes_per_tx: Option<f64>,
    pub(crate) transactions: u64,
    /// Share of the time that is inside transactions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) time_in_tx: Option<f64>,
    /// At the best launch.
    pub(crate) abort_rate: f64,
}

impl Document for Paper {
    const FORMAT: &'static str = "stamp-paper/1";
    const FILE_NAME: &'static str = "paper.json";
    const SECTIONS: &'static str = "pieces speedups critical_sections threads eigenbench breakdown";

    fn head(&mut self) -> &mut Head {
        &mut self.head
    }

    fn finish(&mut self) {
        self.relate();
        for row in &mut self.characteristics {
            let of = |b: &&Breakdown| (&b.workload, &b.variant) == (&row.workload, &row.variant);
            // Of one thread alone, as the paper's, where it was measured.
            let bars = self.breakdown.iter().filter(of);
            let bar = bars.min_by_key(|b| (b.blocks, b.threads) != (1, 1));
            let native = bar.and_then(|b| b.shares.get("native"));
            row.time_in_tx = native.map(|native| 1.0 - native).or(row.time_in_tx);
        }
    }
}

impl Paper {
    /// Why the figures of this document must not be compared with one another, if they must not.
    pub(crate) fn mixed(&self) -> Option<String> {
        let mut pieces = self.pieces.iter();
        pieces.find_map(|piece| piece.foreign(&self.head))
    }

    /// Returns what was measured at best launches, with its name: the variants, and then critical sections.
    pub(crate) fn results(&self) -> impl Iterator<Item = (&str, &Best)> {
        let variants = self.speedups.iter().map(|s| (s.variant.as_str(), &s.best));
        let sections = self.critical_sections.iter();
        variants.chain(sections.map(|best| (CRITICAL_SECTION, best)))
    }

    /// Sets the ratios of variants and of their kernels to `cgl` and to critical sections.
    pub(crate) fn relate(&mut self) {
        // By workload, and by `workload/kernel`.
        let mut cgl: BTreeMap<String, f64> = BTreeMap::new();
        let counts = |s: &&Speedup| s.variant == "cgl" && s.counts();
        for s in self.speedups.iter().filter(counts) {
            cgl.insert(s.workload.clone(), s.tx_per_s);
            let kernels = s.kernels.iter();
            cgl.extend(kernels.map(|k| (format!("{}/{}", s.workload, k.work()), k.tx_per_s())));
        }
        let sections = self.critical_sections.iter().filter(|s| s.counts()).rev();
        let sections = sections.map(|s| (s.workload.clone(), s.tx_per_s));
        let sections: BTreeMap<String, f64> = sections.collect();
        let over = |rate: f64, name: &str| {
            [&cgl, &sections].map(|all| {
                let base = all.get(name).filter(|base| **base > 0.0);
                base.map(|base| rate / base).filter(|ratio| *ratio > 0.0)
            })
        };
        for s in &mut self.speedups {
            [s.over_cgl, s.over_critical_section] = over(s.tx_per_s, &s.workload);
            for kernel in s.kernels.iter_mut().filter(|k| k.commits > 0) {
                let name = format!("{}/{}", s.best.workload, kernel.work());
                [kernel.over_cgl, kernel.over_critical_section] = over(kernel.tx_per_s(), &name);
            }
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Isolation {
    /// Whether every attempt saw a state that existed, in one order; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) opaque: Option<bool>,
    pub(crate) transactions: u64,
    pub(crate) attempts: u64,
    /// Histories, one after the other, of which each was judged.
    pub(crate) histories: u64,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    /// The input, where it is not that of the result, as its records do not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<String>,
    /// What was found, or why it could not be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

impl Isolation {
    /// The verdict in words: `opaque, 1M transactions`.
    pub(crate) fn summary(&self) -> String {
        let verdict = self
            .opaque
            .map(|opaque| ["NOT opaque", "opaque"][usize::from(opaque)]);
        let mut parts = vec![verdict.unwrap_or("not judged").to_owned()];
        if self.transactions > 0 {
            let (n, blocks, threads) = (count(self.transactions), self.blocks, self.threads);
            parts.push(format!("{n} transactions at {blocks} x {threads}"));
        }
        parts.extend(self.input.iter().chain(&self.note).cloned());
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../tests/data/paper-sample.json");

    #[test]
    fn the_sample_is_read_and_written_without_loss() {
        let paper = Paper::parse(SAMPLE).unwrap();
        assert!(!paper.speedups.is_empty() && !paper.breakdown.is_empty());
        assert_eq!(Paper::parse(&paper.to_text().unwrap()).unwrap(), paper);
        let phases = BTreeSet::from(Phase::ALL.map(Phase::name));
        for shares in paper.breakdown.iter().map(|bar| &bar.shares) {
            assert!(shares.keys().eq(&phases));
            assert!((shares.values().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}
