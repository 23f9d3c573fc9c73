//! Records the workloads on any device and judges what they did: histories of
//! real hardware, by the checker that the simulator's go through. They are
//! driven as `stamp` drives them, and each run's result passes the workload's
//! own verification as well.
//!
//! # Runs, launches, histories
//! Many transactions take several runs, each with an input from another seed.
//! Of a workload whose input says how many transactions there are, a run is the
//! whole of it; of the others, as much as the recording buffers hold: at most
//! [`Settings::buffer_bytes`], and a history with its checker takes about one
//! and a half times as much again. A history is checked and let go before the
//! next.
//!
//! A run of several launches is one history, as the clock goes on from launch
//! to launch, unless the host changes the transactions' words between them:
//! then each launch is one. Where every history starts is known from the
//! workload ([`crate::workloads::prepared::Prepared::initial`]).
//!
//! # A full buffer
//! A lane's buffer has room for [`Settings::attempts`] attempts at each of its
//! transactions. The history of a launch that needed more is thrown away, and
//! the run is made again with more room. If that does not fit the bytes, the
//! error says what it needs.

mod defects;
pub mod input;
mod recording;
mod session;
mod settings;

pub use defects::record_mutant;
pub use settings::{Row, Settings};
pub use stm_kernels::mutants::RA_MUTANTS;

use crate::devices::AnyDevice;
use crate::error::Error;
use crate::workloads::prepared::prepare;
use crate::workloads::workload::Workload;
use input::Input;
use session::Session;
use std::ops::ControlFlow;
use stm_core::algorithm::Variant;
use stm_core::host::Device;
use verify::history::History;
use verify::opacity;

/// Records a variant and hands each history on, until `sink` breaks.
///
/// # Errors
/// Those of the input, the device or a launch; [`verify::error::Error::BufferFull`] if the
/// records of a launch do not fit [`Settings::buffer_bytes`]; whatever `sink`
/// returns.
pub fn record(
    device: &AnyDevice,
    variant: Variant,
    input: &Input,
    settings: &Settings,
    mut sink: impl FnMut(History) -> Result<ControlFlow<()>, Error>,
) -> Result<Row, Error> {
    let mut session = Session::new(device, variant, settings);
    session.until_enough(|session, seed| {
        let workload = input.make(seed)?;
        let prepare = |transactions| workload.prepare(device, seed, transactions);
        session.run(workload.sizes(), seed, &prepare, &mut sink)
    })
}

/// Records as [`record`] does, and judges every history. Returns the row and the number of attempts
/// that are not opaque.
///
/// # Errors
/// As [`record`], and a history that cannot be judged.
pub fn record_judged(
    device: &AnyDevice,
    variant: Variant,
    input: &Input,
    settings: &Settings,
) -> Result<(Row, u64), Error> {
    let mut violations = 0;
    let row = record(device, variant, input, settings, |history| {
        violations += opacity::check(&history)?.violations_total;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok((row, violations))
}

/// Records as [`record`] does, from a workload that `make` makes from a seed for
/// each run.
///
/// # Errors
/// As [`record`].
pub fn record_made<D: Device, W: Workload>(
    device: &D,
    variant: Variant,
    make: impl Fn(u64) -> Result<W, Error>,
    settings: &Settings,
    mut sink: impl FnMut(History) -> Result<ControlFlow<()>, Error>,
) -> Result<Row, Error> {
    let mut session = Session::new(device, variant, settings);
    session.until_enough(|session, seed| {
        let workload = make(seed)?;
        let data = |transactions| prepare(&workload, device, seed, transactions);
        session.run(&workload, seed, &data, &mut sink)
    })
}
