//! The random array with a seeded defect, on a device: what its hardware shows
//! of a fence that is left out.

use super::input::Input;
use super::session::Session;
use super::settings::{Row, Settings};
use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::workloads::AnyWorkload;
use crate::workloads::launcher::{Launched, Launcher};
use crate::workloads::prepared::{Prepared, words_of};
use crate::workloads::ra::{Ra, RaData};
use crate::workloads::workload::{Sizes, Workload};
use serde_json::Value;
use std::ops::ControlFlow;
use std::time::Duration;
use stm_core::View;
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::host::{Device, Launch};
use stm_core::memory::WordAddress;
use stm_core::observe::Mutant;
use stm_core::observe::Observation;
use stm_kernels::mutants::RaMutant;
use verify::history::History;

/// How a defective kernel is compiled and launched.
#[derive(Clone, Copy)]
struct Kernel {
    compile: fn(&AnyDevice, Observation) -> Result<Duration>,
    launch: fn(&Ra, &RaData<AnyDevice>, &mut Launcher<'_, AnyDevice>, u64) -> Result<()>,
}

impl Kernel {
    /// The kernel of an algorithm with a defect.
    const fn of<A: Algorithm, const MUTANT: u32, const DELAYED: bool>() -> Self {
        Self {
            compile: |device, observation| {
                Ok(device.prepare::<RaMutant<A, MUTANT, DELAYED>>(observation)?)
            },
            launch: |ra, data, launcher, transactions| {
                let params = ra.params(data, launcher.run::<A>(transactions));
                // SAFETY: the kernel is that of the random array, whose parameters
                // these are; they hold this memory's handle, for one algorithm
                // alone, and views of buffers that `data` keeps and nothing else
                // uses.
                unsafe { launcher.launch::<RaMutant<A, MUTANT, DELAYED>>(&params)? };
                Ok(())
            },
        }
    }
}

/// The random array on a device, and the defective kernel that works on it.
struct Defective<'a> {
    of: &'a Ra,
    data: RaData<AnyDevice>,
    device: &'a AnyDevice,
    kernel: Kernel,
}

impl Prepared<AnyDevice> for Defective<'_> {
    fn of(&self) -> &dyn Sizes {
        self.of
    }

    fn fit(&mut self, algorithm: Variant, _launch: Launch) -> Result<()> {
        let layout = stm_core::with_algorithm!(algorithm, A => {
            <<A as Algorithm>::Array<u32> as View<u32>>::LAYOUT
        });
        self.of.arrange(&mut self.data, layout)
    }

    fn initial(&mut self) -> Result<Vec<(WordAddress, u64)>> {
        words_of(self.of, &mut self.data)
    }

    fn clear(&mut self) -> Result<()> {
        self.of.clear(&mut self.data)
    }

    fn reset(&mut self) -> Result<()> {
        self.of.reset(&mut self.data)
    }

    fn compile(&self, _algorithm: Variant, observation: Observation) -> Result<Duration> {
        (self.kernel.compile)(self.device, observation)
    }

    fn run(
        &mut self,
        _algorithm: Variant,
        mut launcher: Launcher<'_, AnyDevice>,
        transactions: u64,
    ) -> Result<Launched> {
        (self.kernel.launch)(self.of, &self.data, &mut launcher, transactions)?;
        Ok(launcher.finish())
    }

    fn verify(&mut self, commits: u64, transactions: u64) -> Result<Option<String>> {
        if commits != transactions {
            let wrong = format!("{commits} of {transactions} transactions committed");
            return Ok(Some(wrong));
        }
        self.of.verify(&mut self.data, transactions)
    }

    fn observed(&self) -> Vec<(&'static str, Value)> {
        self.of.observed(&self.data)
    }

    fn remarks(&self) -> Vec<(&'static str, String)> {
        self.of.remarks(&self.data)
    }
}

/// The kernel with a defect and its variant, if there is one.
fn kernel_of(mutant: Mutant, delayed: bool) -> Option<(Variant, Kernel)> {
    macro_rules! dispatch {
        ($name:ident, $type:ident) => {
            if mutant == Mutant::$name {
                const NUMBER: u32 = Mutant::$name as u32;
                let kernel = if delayed {
                    Kernel::of::<stm_core::algorithm::$type, NUMBER, true>()
                } else {
                    Kernel::of::<stm_core::algorithm::$type, NUMBER, false>()
                };
                return Some((Variant::$type, kernel));
            }
        };
    }
    stm_kernels::for_each_ra_mutant!(dispatch);
    None
}

/// Records the random array with a seeded defect, on a device with PTX for it,
/// with delays at the fences or without.
/// A memory that the defect spoils ends the recording: [`Row::wrong_state`].
///
/// # Errors
/// As [`record`](super::record); [`Error::Usage`] for a defect without a kernel,
/// or a workload that is not the random array.
pub fn record_mutant(
    device: &AnyDevice,
    mutant: Mutant,
    delayed: bool,
    input: &Input,
    settings: &Settings,
    mut sink: impl FnMut(History) -> Result<ControlFlow<()>, Error>,
) -> Result<Row, Error> {
    let Some((variant, kernel)) = kernel_of(mutant, delayed) else {
        return Err(Error::Usage(format!(
            "there is no kernel with the defect {}: `verify mutants` tries it in the simulator",
            mutant.name()
        )));
    };
    let mut session = Session::new(device, variant, settings);
    session.until_enough(|session, seed| {
        let AnyWorkload::Ra(ra) = input.make(seed)? else {
            return Err(Error::Usage(
                "seeded defects on a device run ra: record it alone".into(),
            ));
        };
        let prepare = |transactions| {
            let prepared: Box<dyn Prepared<AnyDevice>> = Box::new(Defective {
                of: &ra,
                data: ra.prepare(device, seed, transactions)?,
                device,
                kernel,
            });
            Ok(prepared)
        };
        session.run(&ra, seed, &prepare, &mut sink)
    })
}
