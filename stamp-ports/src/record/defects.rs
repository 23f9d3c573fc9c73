//! The random array with a seeded defect, on a device: what its hardware shows
//! of a fence that is left out.

use super::input::Input;
use super::session::Session;
use super::settings::{Row, Settings};
use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::workloads::AnyWorkload;
use crate::workloads::prepared::{OtherKernel, prepare_for};
use crate::workloads::ra::Ra;
use crate::workloads::workload::Workload;
use std::ops::ControlFlow;
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::host::Device;
use stm_core::observe::Mutant;
use stm_kernels::mutants::RaMutant;
use verify::history::History;

type Kernel = OtherKernel<AnyDevice, Ra>;

/// The kernel of an algorithm with a defect.
const fn kernel<A: Algorithm, const MUTANT: u32, const DELAYED: bool>() -> Kernel {
    OtherKernel {
        compile: |device, observation| {
            Ok(device.prepare::<RaMutant<A, MUTANT, DELAYED>>(observation)?)
        },
        launch: |ra, data, launcher, transactions| {
            let params = ra.params(data, launcher.run::<A>(transactions));
            // SAFETY: the kernel is that of the random array, whose parameters these are; they
            // hold this memory's handle, for one algorithm alone, and views of buffers that
            // `data` keeps and nothing else uses.
            unsafe { launcher.launch::<RaMutant<A, MUTANT, DELAYED>>(&params)? };
            Ok(())
        },
    }
}

/// The kernel with a defect and its variant, if there is one.
fn kernel_of(mutant: Mutant, delayed: bool) -> Option<(Variant, fn() -> Kernel)> {
    macro_rules! dispatch {
        ($name:ident, $type:ident) => {
            if mutant == Mutant::$name {
                const NUMBER: u32 = Mutant::$name as u32;
                let kernel = if delayed {
                    kernel::<stm_core::algorithm::$type, NUMBER, true>
                } else {
                    kernel::<stm_core::algorithm::$type, NUMBER, false>
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
        let prepare = |transactions| prepare_for(&ra, device, (seed, transactions), Some(kernel()));
        session.run(&ra, seed, &prepare, &mut sink)
    })
}
