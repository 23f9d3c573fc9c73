//! Claims about Figure 5: where the time goes.

use super::{Claim, Verdict, judged};
use crate::paper::document::{Breakdown, PHASES, Paper};
use crate::report::published::plain;
use crate::report::view::{label, percent, total};

/// The workloads of the paper's Figure 5.
const THEIRS: [&str; 5] = ["genome", "gn1", "gn2", "labyrinth", "kmeans"];

fn share(bar: &Breakdown, phase: &str) -> f64 {
    bar.shares.get(phase).copied().unwrap_or(0.0)
}

/// The phases of a bar, the largest first.
fn largest(bar: &Breakdown) -> Vec<(&'static str, f64)> {
    let mut phases: Vec<_> = PHASES.map(|phase| (phase, share(bar, phase))).into();
    phases.sort_by(|a, b| b.1.total_cmp(&a.1));
    phases
}

/// Whether a bar shows what the paper says of its workload; `None` if the paper
/// says nothing of it.
fn as_claimed(bar: &Breakdown) -> Option<bool> {
    match plain(&bar.workload).as_str() {
        // Where only the whole program was profiled, it stands for its kernels.
        "genome" | "gn2" => Some(share(bar, "native") < 0.5),
        "labyrinth" | "kmeans" => {
            let own = largest(bar).into_iter().find(|phase| phase.0 != "native");
            Some(own.is_some_and(|phase| phase.0 == "buffering"))
        }
        _ => None,
    }
}

/// The paper profiles one thread alone, so no other profile can decide.
pub(super) fn one_thread(paper: &Paper) -> Claim {
    let bars: Vec<&Breakdown> = paper
        .breakdown
        .iter()
        .filter(|bar| THEIRS.contains(&plain(&bar.workload).as_str()))
        .collect();
    let alone: Vec<&Breakdown> = bars
        .iter()
        .copied()
        .filter(|bar| total(bar.blocks, bar.threads) == 1)
        .collect();
    let verdict = Verdict::of_all(alone.iter().filter_map(|bar| as_claimed(bar)));
    let told = |bars: &[&Breakdown]| -> String {
        let each = bars.iter().map(|bar| {
            let [first, second, ..] = largest(bar)[..] else {
                return String::new();
            };
            format!(
                "{} {} {} and {} {}",
                label(&bar.workload),
                percent(first.1),
                first.0,
                percent(second.1),
                second.0
            )
        });
        each.collect::<Vec<_>>().join(", ")
    };
    let found = match (bars.is_empty(), verdict) {
        (true, _) => super::NONE.into(),
        (_, Verdict::Unknown) => format!(
            "The document has no profile of one thread. The two largest phases of larger \
             launches: {}.",
            told(&bars)
        ),
        _ => format!("The two largest phases: {}.", told(&alone)),
    };
    judged(
        (
            "GN-2 is dominated by the STM's own work, LB and KM by buffering",
            "4.4",
            "in a profile of one thread alone, as the paper's, GN spends less than half of its \
             time in its own code, and buffering is the largest phase of LB and KM except their \
             own code",
        ),
        verdict,
        found,
    )
}
