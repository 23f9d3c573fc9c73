//! The command `soak`: for minutes or days, mixed workloads with random
//! launches and options, faults from which a memory recovers, and recorded
//! histories that are judged.
//!
//! | file | contains |
//! | --- | --- |
//! | `plan` | what is asked for |
//! | `step` | one step |
//! | `transfers` | transactions between accounts on one memory for as long as one likes |
//! | `state` | what was done: the file by which a soak is resumed |
//!
//! In each step, one of a few memories that live as long as the session runs
//! more transactions, whose totals are checked. Then a step makes one of three
//! things: a run of a workload that is verified; a fault, after which the memory must be whole, or
//! which the user of another process sees as he should; or a recording whose histories are judged.

mod plan;
mod state;
mod step;
mod transfers;

use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::out_file::make_folder;
pub use plan::Plan;
use state::State;
use std::io::{Write, stdout};
use std::time::{Duration, Instant};
use step::Bench;
use stm_core::host::Device;

/// The time between two lines.
const LINE_EVERY: Duration = Duration::from_mins(1);

/// Soaks, and returns whether nothing was wrong, in this session and before.
///
/// # Errors
/// A device that cannot be opened, a state that cannot be gone on with, or a
/// file that cannot be written.
pub fn soak(plan: &Plan) -> Result<bool> {
    let (device, note) = AnyDevice::open(plan.device)?;
    if let Some(note) = note {
        writeln!(
            stdout(),
            "no GPU can be used, so this runs on the CPU: {note}"
        )?;
    }
    let mut state = begin(plan, &device)?;
    make_folder(&plan.out)?;
    state.sessions += 1;
    state.write(&plan.out)?;
    let mut bench = Bench::new(&device, plan)?;
    let (start, before) = (Instant::now(), state.seconds);
    let mut next_line = LINE_EVERY;
    while start.elapsed() < plan.minutes {
        let step = state.next_step;
        if let Err(wrong) = bench.step(&mut state, step) {
            state.note_wrong(step, &wrong);
            writeln!(stdout(), "WRONG: step {step}: {wrong}")?;
        }
        state.next_step = step + 1;
        state.seconds = before + start.elapsed().as_secs_f64();
        if start.elapsed() >= next_line {
            next_line += LINE_EVERY;
            check_and_tell(&mut bench, &mut state)?;
            state.write(&plan.out)?;
        }
        if device.available_bytes().is_err() {
            // The device is lost, and every later step would say so.
            break;
        }
    }
    check_and_tell(&mut bench, &mut state)?;
    state.write(&plan.out)?;
    Ok(state.wrong_count == 0)
}

/// Checks the memories that live long in full, and prints a line.
fn check_and_tell(bench: &mut Bench<'_>, state: &mut State) -> Result<()> {
    if let Err(wrong) = bench.check_service() {
        state.note_wrong(state.next_step, &wrong);
    }
    let line = state.line();
    writeln!(stdout(), "{line}")?;
    state.lines.push(line);
    Ok(())
}

/// Begins a soak or goes on with one.
fn begin(plan: &Plan, device: &AnyDevice) -> Result<State> {
    let Some(path) = &plan.resume else {
        let seed = plan.seed.unwrap_or(1);
        return Ok(State::new(device.id(), device.name(), seed));
    };
    let state = State::read(path)?;
    let differs = |what: &str, was: &str, is: &str| {
        Err(Error::Usage(format!(
            "--resume {}: the {what} was {was} and is {is}",
            path.display()
        )))
    };
    let (was, is) = (&state.device_name, device.name());
    if *was != is {
        return differs("device", was, &is);
    }
    match plan.seed {
        Some(seed) if seed != state.seed => {
            differs("seed", &state.seed.to_string(), &seed.to_string())
        }
        _ => Ok(state),
    }
}
