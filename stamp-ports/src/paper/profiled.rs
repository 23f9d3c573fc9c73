//! A bar of Figure 5: where the time of a full launch goes, or that of one thread alone.

use super::document::{Breakdown, Speedup};
use super::measure::Bench;
use super::plan::{DESCRIBED, LOCKS};
use crate::error::{Result, given_up};

impl Bench<'_, '_> {
    /// A bar of Figure 5: of a full launch, or of one thread alone, which has as many
    /// transactions as take it about the plan's time.
    ///
    /// # Errors
    /// The same as of [`Self::speedup`]. The inner error says why there is none.
    pub(super) fn breakdown(
        &mut self,
        known: &[Speedup],
        alone: bool,
    ) -> Result<std::result::Result<Breakdown, String>> {
        let resolved = self.resolved(DESCRIBED);
        let mut spec = self.described(known);
        spec.repeat = self.plan.profiles;
        if alone {
            spec.shape = (1, 1);
            spec.repeat = 1;
            match given_up(self.search.probe(resolved, LOCKS, spec.shape))? {
                Ok(tried) => {
                    spec.transactions = self.search.fill(self.plan.alone, tried.tx_per_s);
                }
                Err(why) => return Ok(Err(why)),
            }
        }
        let (report, _) = match given_up(self.search.runner.profile(&spec))? {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let Some(profile) = report.profile.filter(|_| report.verified) else {
            return Ok(Err(report.error.unwrap_or_else(|| "no lane ran".into())));
        };
        let own = self.plan.input(report.workload);
        let own = own.map(|input| input.make(self.seed)).transpose()?;
        let parameters = self.workload.sizes().parameters();
        let other = own.filter(|own| own.sizes().parameters() != parameters);
        Ok(Ok(Breakdown {
            workload: report.workload.into(),
            variant: report.variant.into(),
            blocks: report.blocks,
            threads: report.threads,
            transactions: Some(report.commits),
            input: other.map(|_| self.workload.sizes().summary()),
            shares: profile
                .shares
                .iter()
                .map(|(&phase, &share)| (phase.to_owned(), share))
                .collect(),
            cost: profile.cost,
        }))
    }
}
