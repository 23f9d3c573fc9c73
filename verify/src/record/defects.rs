//! The random array with a seeded defect, on a device: what its hardware shows
//! of a fence that is left out.

use super::input::Input;
use super::{Go, Row, Session, Settings};
use crate::error::Error;
use crate::history::History;
use crate::variant::Variant;
use stamp_ports::workload::Launches;
use stamp_ports::workloads::AnyWorkload;
use std::ops::ControlFlow;
use stm_core::algorithm::HvSorting;
use stm_core::host::Device;
use stm_core::mutant::Mutant;
use stm_core::probe::Recorder;
use stm_kernels::mutants::RaMutant;

/// The seeded defects that have a kernel for a GPU.
pub const MUTANTS: [Mutant; 10] = [
    Mutant::NoE1,
    Mutant::NoE2,
    Mutant::NoE2Extension,
    Mutant::NoE3,
    Mutant::NoE4,
    Mutant::NoE4Extension,
    Mutant::NoE5,
    Mutant::LockWordBeforeValue,
    Mutant::ExtensionWithoutLocks,
    Mutant::VersionBeforeLocking,
];

/// Records the random array with a seeded defect, on a device with PTX for it.
/// A memory that the defect spoils ends the recording: [`Row::wrong_state`].
///
/// # Errors
/// As [`record`](super::record); [`Error::Usage`] for a defect without a kernel, or a
/// workload that is not the random array.
pub fn record_mutant<D: Device>(
    device: &D,
    mutant: Mutant,
    input: &Input,
    settings: &Settings,
    mut sink: impl FnMut(History) -> Result<ControlFlow<()>, Error>,
) -> Result<Row, Error> {
    /// The algorithm that the defects are of.
    type Defective = HvSorting<Recorder>;
    let mut session = Session::new(device, Variant::HvSorting, settings);
    macro_rules! dispatch {
        ($name:ident) => {
            if mutant == Mutant::$name {
                return session.until_enough(|session, seed| {
                    let AnyWorkload::Ra(ra) = input.make(seed)? else {
                        return Err(Error::Usage(
                            "seeded defects on a device run ra: give --workload ra".into(),
                        ));
                    };
                    let go: &Go<'_, D, _> = &|ra, data, timed, n| {
                        let params = Launches::<Defective>::params(ra, data, timed.handle(), n);
                        // SAFETY: the kernel is that of the random array, whose
                        // parameters these are; as in `Launches::run`.
                        unsafe {
                            timed.launch::<RaMutant<{ Mutant::$name as u32 }>>(&params)?;
                        }
                        Ok(())
                    };
                    session.run::<_, Defective>(&ra, seed, go, &mut sink)
                });
            }
        };
    }
    stm_kernels::for_each_ra_mutant!(dispatch);
    Err(Error::Usage(format!(
        "there is no kernel with the defect {}: `verify mutants` tries it in the simulator",
        mutant.name()
    )))
}
