//! A workload with its data on a device, whatever the workload and the
//! algorithm. Measuring, searching, profiling and recording work on this, and
//! are compiled once.

use super::launcher::{Launched, Launcher, Observes, Observing};
use super::workload::{Launches, Sizes, Workload};
use crate::error::Result;
use crate::variants::{Variant, no_clocks_for};
use serde_json::Value;
use std::time::Duration;
use stm_core::algorithm::{
    Algorithm, Cgl, Egpgv, Fast, FastTable, Granule, HvBackoff, HvSorting, TbvSorting, Vbv,
};
use stm_core::host::{Device, Launch};
use stm_core::probe::{Recorder, Silent};
use stm_core::profile::Profiler;
use stm_core::view::{Layout, View};
use stm_core::word::WordAddress;

/// A workload with its data on a device. The methods are those of
/// [`Workload`]; algorithms are told apart at run time, and
/// [`Variant::Optimized`] is none.
pub trait Prepared<D: Device> {
    /// The workload.
    fn of(&self) -> &dyn Sizes;

    /// Makes the data fit for launches of this shape with an algorithm.
    ///
    /// # Errors
    /// Too little memory on the host or the device, or an error of the device.
    fn fit(&mut self, algorithm: Variant, launch: Launch) -> Result<()>;

    /// As [`Workload::initial`].
    ///
    /// # Errors
    /// The device's errors.
    fn initial(&self) -> Result<Vec<(WordAddress, u64)>>;

    /// As [`Workload::clear`].
    ///
    /// # Errors
    /// The device's errors.
    fn clear(&mut self) -> Result<()>;

    /// As [`Workload::reset`].
    ///
    /// # Errors
    /// The device's errors.
    fn reset(&mut self) -> Result<()>;

    /// Compiles all kernels for an algorithm, and returns the time that took.
    ///
    /// # Errors
    /// The device's errors.
    fn compile(&self, algorithm: Variant, observing: Observing) -> Result<Duration>;

    /// Makes one run of so many transactions, all of its launches.
    ///
    /// # Errors
    /// A launch's errors.
    fn run(
        &mut self,
        algorithm: Variant,
        launcher: Launcher<'_, D>,
        transactions: u64,
    ) -> Result<Launched>;

    /// Checks what a run left: `None` if it is right, else what is wrong, on one
    /// line.
    ///
    /// # Errors
    /// The device's errors.
    fn verify(&mut self, commits: u64, transactions: u64) -> Result<Option<String>>;

    /// As [`Workload::observed`].
    fn observed(&self) -> Vec<(&'static str, Value)>;

    /// As [`Workload::remarks`].
    fn remarks(&self) -> Vec<(&'static str, String)>;
}

/// Allocates the data of a workload whose parameters have been checked, for up
/// to `transactions_max` transactions.
///
/// # Errors
/// Too little memory on the host or the device, or an error of the device.
pub fn prepare<'a, D: Device, W: AllAlgorithms>(
    of: &'a W,
    device: &'a D,
    seed: u64,
    transactions_max: u64,
) -> Result<Box<dyn Prepared<D> + 'a>> {
    Ok(Box::new(OnDevice {
        of,
        device,
        data: of.prepare(device, seed, transactions_max)?,
    }))
}

/// A workload whose kernels run with every algorithm, however observed.
pub trait AllAlgorithms:
    Launches<Cgl>
    + Launches<Egpgv>
    + Launches<Vbv>
    + Launches<TbvSorting>
    + Launches<HvSorting>
    + Launches<HvBackoff>
    + Launches<Fast>
    + Launches<FastTable>
    + Launches<Cgl<Recorder>>
    + Launches<Egpgv<Recorder>>
    + Launches<Vbv<Recorder>>
    + Launches<TbvSorting<Recorder>>
    + Launches<HvSorting<Recorder>>
    + Launches<HvBackoff<Recorder>>
    + Launches<Fast<Recorder>>
    + Launches<FastTable<Recorder>>
    + Launches<Cgl<Profiler>>
    + Launches<Egpgv<Profiler>>
    + Launches<Vbv<Profiler>>
    + Launches<TbvSorting<Profiler>>
    + Launches<HvSorting<Profiler>>
    + Launches<HvBackoff<Profiler>>
{
}

impl<W> AllAlgorithms for W where
    W: Launches<Cgl>
        + Launches<Egpgv>
        + Launches<Vbv>
        + Launches<TbvSorting>
        + Launches<HvSorting>
        + Launches<HvBackoff>
        + Launches<Fast>
        + Launches<FastTable>
        + Launches<Cgl<Recorder>>
        + Launches<Egpgv<Recorder>>
        + Launches<Vbv<Recorder>>
        + Launches<TbvSorting<Recorder>>
        + Launches<HvSorting<Recorder>>
        + Launches<HvBackoff<Recorder>>
        + Launches<Fast<Recorder>>
        + Launches<FastTable<Recorder>>
        + Launches<Cgl<Profiler>>
        + Launches<Egpgv<Profiler>>
        + Launches<Vbv<Profiler>>
        + Launches<TbvSorting<Profiler>>
        + Launches<HvSorting<Profiler>>
        + Launches<HvBackoff<Profiler>>
{
}

/// The workload, and its data.
struct OnDevice<'a, D: Device, W: Workload> {
    of: &'a W,
    device: &'a D,
    data: W::Data<D>,
}

/// Evaluates `$body` with the type `$A` standing for the algorithm, observed by
/// the probe `$P`.
macro_rules! with_probe {
    ($algorithm:expr, $P:ty, $A:ident => $body:expr, $none:expr) => {
        match $algorithm {
            Variant::Cgl => {
                type $A = Cgl<$P>;
                $body
            }
            Variant::Egpgv => {
                type $A = Egpgv<$P>;
                $body
            }
            Variant::Vbv => {
                type $A = Vbv<$P>;
                $body
            }
            Variant::TbvSorting => {
                type $A = TbvSorting<$P>;
                $body
            }
            Variant::HvSorting => {
                type $A = HvSorting<$P>;
                $body
            }
            Variant::HvBackoff => {
                type $A = HvBackoff<$P>;
                $body
            }
            _ => $none,
        }
    };
}

/// As [`with_probe!`], with `fast` and `fast-table`.
macro_rules! with_any {
    ($algorithm:expr, $P:ty, $A:ident => $body:expr) => {
        match $algorithm {
            Variant::Fast => {
                type $A = Fast<$P>;
                $body
            }
            Variant::FastTable => {
                type $A = FastTable<$P>;
                $body
            }
            other => with_probe!(other, $P, $A => $body, unreachable!("`optimized` is no algorithm")),
        }
    };
}

/// Evaluates `$body` with the type `$A` standing for the algorithm, observed as
/// the run is. The clocks have no kernels of some algorithms.
macro_rules! with_observed {
    ($algorithm:expr, $observing:expr, $A:ident => $body:expr) => {
        match $observing {
            Observing::Nothing => with_any!($algorithm, Silent, $A => $body),
            Observing::Records(_) => with_any!($algorithm, Recorder, $A => $body),
            Observing::Clocks(_) => {
                with_probe!($algorithm, Profiler, $A => $body, Err(no_clocks_for($algorithm)))
            }
        }
    };
}

/// How an algorithm lays out arrays, and which lanes run its transactions.
fn traits_of(algorithm: Variant) -> (Layout, Granule) {
    const fn of<A: Algorithm<Probe: Observes>>() -> (Layout, Granule) {
        (<A::Array<u32> as View<u32>>::LAYOUT, A::GRANULE)
    }
    with_any!(algorithm, Silent, A => of::<A>())
}

impl<D: Device, W: AllAlgorithms> Prepared<D> for OnDevice<'_, D, W> {
    fn of(&self) -> &dyn Sizes {
        self.of
    }

    fn fit(&mut self, algorithm: Variant, launch: Launch) -> Result<()> {
        let (layout, granule) = traits_of(algorithm);
        let lanes = match granule {
            Granule::Lane | Granule::LaneInTurn => {
                u64::from(launch.blocks) * u64::from(launch.threads)
            }
            Granule::Block => u64::from(launch.blocks),
        };
        self.of.fit(self.device, &mut self.data, lanes)?;
        self.of.arrange(&mut self.data, layout)
    }

    fn initial(&self) -> Result<Vec<(WordAddress, u64)>> {
        self.of.initial(&self.data)
    }

    fn clear(&mut self) -> Result<()> {
        self.of.clear(&mut self.data)
    }

    fn reset(&mut self) -> Result<()> {
        self.of.reset(&mut self.data)
    }

    fn compile(&self, algorithm: Variant, observing: Observing) -> Result<Duration> {
        with_observed!(algorithm, observing, A => Launches::<A>::compile(self.of, self.device))
    }

    fn run(
        &mut self,
        algorithm: Variant,
        mut launcher: Launcher<'_, D>,
        transactions: u64,
    ) -> Result<Launched> {
        let (of, data, observing) = (self.of, &mut self.data, launcher.observing());
        with_observed!(algorithm, observing, A => {
            Launches::<A>::run(of, data, &mut launcher, transactions)
        })?;
        Ok(launcher.finish())
    }

    fn verify(&mut self, commits: u64, transactions: u64) -> Result<Option<String>> {
        match self.of.commits_expected(&self.data, transactions)? {
            Some(expected) if commits != expected => Ok(Some(format!(
                "{commits} of {expected} transactions committed"
            ))),
            _ => self.of.verify(&mut self.data, transactions),
        }
    }

    fn observed(&self) -> Vec<(&'static str, Value)> {
        self.of.observed(&self.data)
    }

    fn remarks(&self) -> Vec<(&'static str, String)> {
        self.of.remarks(&self.data)
    }
}
