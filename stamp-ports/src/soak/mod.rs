//! The command `soak`: for minutes or days, mixed workloads with random launches and options, faults from
//! which a memory recovers, and recorded histories that are judged.
//!
//! In each step, one of a few memories that live as long as the session, so that versions may run out, runs
//! more transactions, and then transfers between accounts, whose totals and commits must be exact. Then a
//! step makes one of three things: a run of a workload that is verified; a fault, after which the memory must
//! be whole, or which the user of another process sees as he should; or a recording whose histories are
//! judged.

use crate::prelude::*;
pub(crate) use state::SoakSpec;
use state::State;
use step::Bench;

mod state;
mod step;
mod transfers;

const LINE_EVERY: Duration = Duration::from_mins(1);

/// Soaks, and returns whether nothing was wrong, in this session and before.
pub(crate) fn soak(plan: &SoakSpec) -> Result<bool> {
    let (device, note) = AnyDevice::open(plan.device)?;
    if let Some(note) = note {
        let why = "no GPU can be used, so this runs on the CPU";
        writeln!(stdout(), "{why}: {note}")?;
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

fn begin(plan: &SoakSpec, device: &AnyDevice) -> Result<State> {
    let there = plan.out.join("soak.json");
    let place = |path: &Path| fs::canonicalize(path).ok();
    if there.exists() && plan.resume.as_deref().and_then(place) != place(&there) {
        let (out, there) = (plan.out.display(), there.display());
        let fix = format!("--resume {there} goes on, or name another folder");
        return refuse(format!("--out {out}: a soak is there: {fix}"));
    }
    let Some(path) = &plan.resume else {
        return Ok(State {
            version: env!("CARGO_PKG_VERSION").into(),
            device: device.id(),
            device_name: device.name(),
            seed: plan.seed.unwrap_or(1),
            ..State::default()
        });
    };
    let state = State::read(path)?;
    let seed = plan.seed.unwrap_or(state.seed);
    for (what, was, is) in [
        ("device", state.device_name.clone(), device.name()),
        ("seed", state.seed.to_string(), seed.to_string()),
    ] {
        if was != is {
            let path = path.display();
            return refuse(format!(
                "--resume {path}: the {what} was {was} and is {is}: leave --{what} out, or give that one"
            ));
        }
    }
    Ok(state)
}
