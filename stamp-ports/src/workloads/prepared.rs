//! A workload with its data on a device, whatever the workload and the algorithm.

use super::compare::Verdict;
use super::launcher::Launched;
use crate::workloads::prelude::*;
use stm_core::algorithm::Granule;
use stm_core::internal::WordAddress;

/// A workload with its data on a device. The methods are those of [`Workload`]; the algorithm is an
/// argument, so what measures or records is compiled once.
pub trait Prepared<D: Device> {
    /// Makes the data fit for launches with an algorithm, which must have kernels for the workload's form;
    /// before they are cleared or reset.
    fn fit(&mut self, algorithm: Variant, launch: Launch) -> Result<()>;

    /// Returns the words that are not zero after a reset, with their values: a history starts from these.
    fn initial(&mut self) -> Result<Vec<(WordAddress, u64)>>;

    fn clear(&mut self) -> Result<()>;

    fn reset(&mut self) -> Result<()>;

    fn compile(&self, algorithm: Variant, observation: Observation) -> Result<Duration>;

    fn run(
        &mut self,
        algorithm: Variant,
        launcher: Launcher<'_, D>,
        transactions: u64,
    ) -> Result<Launched>;

    /// Checks the number of commits, too.
    fn verify(&mut self, commits: u64, transactions: u64) -> Verdict;

    /// What the last run found beside its verification, if it is right.
    fn observed(&self) -> Observed;

    fn remarks(&self) -> Vec<(&'static str, String)>;
}

/// Allocates the data of a workload whose parameters have been checked, for another kernel if there is one.
pub fn prepare<'a, D: Device, W: Workload>(
    of: &'a W,
    device: &'a D,
    made_for: MadeFor,
    other: Option<OtherKernel<D, W>>,
) -> Result<Box<dyn Prepared<D> + 'a>> {
    Ok(Box::new(OnDevice {
        of,
        device,
        data: Some(of.prepare(device, made_for)?),
        made_for,
        other,
        observed: Observed::new(),
    }))
}

/// A kernel that works on a workload's data and is not its own, whatever the algorithm.
pub struct OtherKernel<D: Device, W: Workload> {
    pub compile: fn(&D, Observation) -> Result<Duration>,
    pub launch: LaunchOf<D, W, W::Data<D>>,
}

type LaunchOf<D, W, T> = fn(&W, &T, &mut Launcher<'_, D>, u64) -> Result<()>;

struct OnDevice<'a, D: Device, W: Workload> {
    of: &'a W,
    device: &'a D,
    /// The data, but while others take their place.
    data: Option<W::Data<D>>,
    made_for: MadeFor,
    other: Option<OtherKernel<D, W>>,
    observed: Observed,
}

impl<D: Device, W: Workload> OnDevice<'_, D, W> {
    fn data(&mut self) -> &mut W::Data<D> {
        self.data.as_mut().expect(MADE)
    }
}

const MADE: &str = "`fit` has made data";

impl<D: Device, W: Workload> Prepared<D> for OnDevice<'_, D, W> {
    fn fit(&mut self, algorithm: Variant, launch: Launch) -> Result<()> {
        self.of.form().check(algorithm.into())?;
        let (layout, granule) = with_algorithm!(algorithm, A => {
            (<<A as Algorithm>::Array<u32> as View<u32>>::LAYOUT, A::GRANULE)
        });
        let lanes = match granule {
            Granule::Lane | Granule::LaneInTurn => lanes((launch.blocks, launch.threads)),
            Granule::Block => u64::from(launch.blocks),
        };
        let made_for = self.made_for.launched(launch.blocks, lanes, layout);
        if self.of.is_for_lanes() && (self.data.is_none() || self.made_for != made_for) {
            // Given back before the next are made: memory.
            self.data = None;
            self.made_for = made_for;
            self.data = Some(self.of.prepare(self.device, made_for)?);
        }
        self.of.arrange(self.data(), layout)
    }

    fn initial(&mut self) -> Result<Vec<(WordAddress, u64)>> {
        let parts = self.data().accessed().into_iter();
        let words: Result<Vec<_>> = parts.map(|accessed| accessed.words()).collect();
        Ok(words?.concat())
    }

    fn clear(&mut self) -> Result<()> {
        self.of.clear(self.data())
    }

    fn reset(&mut self) -> Result<()> {
        self.of.reset(self.data())
    }

    fn compile(&self, algorithm: Variant, observation: Observation) -> Result<Duration> {
        if let Some(other) = &self.other {
            return (other.compile)(self.device, observation);
        }
        with_algorithm!(algorithm, A => self.of.compile::<D, A>(self.device, observation))
    }

    fn run(
        &mut self,
        algorithm: Variant,
        mut launcher: Launcher<'_, D>,
        transactions: u64,
    ) -> Result<Launched> {
        let (of, data) = (self.of, self.data.as_mut().expect(MADE));
        if let Some(other) = &self.other {
            (other.launch)(of, data, &mut launcher, transactions)?;
            return Ok(launcher.done);
        }
        for accessed in data.accessed() {
            accessed.watch(launcher.stm);
        }
        with_algorithm!(algorithm, A => of.run::<D, A>(data, &mut launcher, transactions))?;
        Ok(launcher.done)
    }

    fn verify(&mut self, commits: u64, transactions: u64) -> Verdict {
        self.observed.clear();
        let expected = self.of.commits_expected(self.data(), transactions)?;
        let checked = if commits == expected {
            self.of.verify(self.data(), transactions)
        } else {
            Err(format!("{commits} of {expected} transactions committed").into())
        };
        verdict(checked.map(|found| self.observed = found))
    }

    fn observed(&self) -> Observed {
        let known = self.data.iter().flat_map(|data| self.of.observed(data));
        known.chain(self.observed.clone()).collect()
    }

    fn remarks(&self) -> Vec<(&'static str, String)> {
        let data = self.data.iter();
        data.flat_map(|data| self.of.remarks(data)).collect()
    }
}
