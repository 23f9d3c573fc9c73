//! Checks of kernels as a user writes them: no workload and no program of this
//! crate has a part in them.

use verify::check::{Check, Checked, FailureKind, Found, Run};
use verify::sim::Sim;

mod bank;
mod findings;

/// Returns what a check finds, which is a failure of this kind, after it has found
/// the same by the line of the case alone.
fn found<F>(check: &Check<F>, kind: FailureKind) -> Box<Found>
where
    F: Fn(&Sim, &mut Run) -> Checked,
{
    let found = check.find().expect_err("nothing was found");
    assert_eq!(found.failure.kind, kind, "{found}");
    let line = found.case.to_string();
    let again = check.replay(&line).expect_err("the line finds nothing");
    assert_eq!(again.failure, found.failure, "{line}");
    assert_eq!(again.case, found.case, "{line}");
    // One line of the message has what replays it.
    let message = found.to_string();
    let lines = message.lines().filter(|text| text.contains(&line));
    assert_eq!(lines.count(), 1, "{message}");
    found
}
