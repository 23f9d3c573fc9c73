//! What follows in the document from several of its sections.

use super::document::{Breakdown, Paper};
use std::collections::BTreeMap;

impl Paper {
    /// Sets what follows from other sections: each variant's ratios to `cgl` and to the
    /// critical sections with the same workload, and the share of the time inside transactions.
    pub fn compare(&mut self) {
        let cgl: BTreeMap<String, f64> = self
            .speedups
            .iter()
            .filter(|s| s.variant == "cgl" && s.tx_per_s > 0.0)
            .map(|s| (s.workload.clone(), s.tx_per_s))
            .collect();
        self.compare_kernels();
        for speedup in &mut self.speedups {
            let ratio = cgl.get(&speedup.workload).map(|cgl| speedup.tx_per_s / cgl);
            speedup.over_cgl = ratio.filter(|&ratio| ratio > 0.0);
            let mut sections = self.critical_sections.iter();
            let section = sections.find(|s| s.workload == speedup.workload && s.counts());
            let ratio = section.map(|section| speedup.tx_per_s / section.tx_per_s);
            speedup.over_critical_section = ratio.filter(|&ratio| ratio > 0.0);
        }
        for row in &mut self.characteristics {
            let of = |b: &&Breakdown| (&b.workload, &b.variant) == (&row.workload, &row.variant);
            let of = || self.breakdown.iter().filter(of);
            // As the paper's, where it was measured.
            let bar = of().find(|b| b.is_alone()).or_else(|| of().next());
            let native = bar.and_then(|b| b.shares.get("native"));
            row.time_in_tx = native.map(|native| 1.0 - native).or(row.time_in_tx);
        }
    }

    /// Sets the ratios of kernels, where a workload has several with transactions.
    fn compare_kernels(&mut self) {
        let cgl: BTreeMap<(String, String), f64> = (self.speedups.iter())
            .filter(|s| s.variant == "cgl")
            .flat_map(|s| s.kernels.iter().map(move |kernel| (s, kernel)))
            .map(|(s, kernel)| {
                (
                    (s.workload.clone(), kernel.work().into()),
                    kernel.tx_per_s(),
                )
            })
            .collect();
        for speedup in &mut self.speedups {
            for kernel in speedup.kernels.iter_mut().filter(|k| k.commits > 0) {
                let work = kernel.work().to_owned();
                let name = format!("{}/{work}", speedup.workload);
                let mut sections = self.critical_sections.iter();
                let section = sections.find(|s| s.workload == name && s.counts());
                let rate = kernel.tx_per_s();
                let over = |base: Option<f64>| {
                    let ratio = base.filter(|base| *base > 0.0).map(|base| rate / base);
                    ratio.filter(|&ratio| ratio > 0.0)
                };
                kernel.over_cgl = over(cgl.get(&(speedup.workload.clone(), work)).copied());
                kernel.over_critical_section = over(section.map(|section| section.tx_per_s));
            }
        }
    }
}
