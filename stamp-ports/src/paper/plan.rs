//! What `stamp bench paper` measures: inputs and launches, and what one command measured, a [`Piece`].
//!
//! Figures that are compared with each other are a *unit*: the search and the variants of a workload in
//! Figure 2, the lines of a workload in Figure 3, all of Figure 4, a workload's bars of Figure 5 and its rows
//! of Table 1. A unit is of one piece: one that a piece ended within is measured again, whole.

use crate::measure::launches::{QUICK_TRANSACTIONS, Room, TRANSACTIONS};
use crate::measure::search::{Effort, effort};
use crate::points::parse_names;
use crate::prelude::*;
use crate::store::row;
use crate::workloads::AnyWorkload;

/// The sections of the document that can be measured alone, and what they show.
#[rustfmt::skip]
pub(crate) const SECTIONS: [(&str, &str); 5] = [
    ("fig2", "Figure 2 and Table 2: every variant over coarse locking at its best launch, which is searched"),
    ("fig3", "Figure 3: throughput by threads"),
    ("fig4", "Figure 4: EigenBench by shared words and locks"),
    ("fig5", "Figure 5: where the time goes"),
    ("table1", "Table 1: what the workloads' transactions are like"),
];

/// Reads `all` or names separated by commas; `table2` is found with `fig2`.
pub(super) fn parse_sections(text: &str) -> Result<NameList> {
    let text = text.replace("table2", "fig2");
    parse_names(&text, "figure", &SECTIONS.map(|section| section.0))
}

pub(crate) const FIG4_VARIANTS: [Variant; 4] = [
    Variant::TbvSorting,
    Variant::HvSorting,
    Variant::Fast,
    Variant::FastTable,
];
/// The variant that Table 1 and Figure 5 describe.
pub(crate) const DESCRIBED: AskedVariant = AskedVariant::OPTIMIZED;

/// Version locks, but for Figure 4: the paper's.
pub(crate) const LOCKS: u64 = 1 << 20;

const SEARCH: [Effort; 2] = [effort([10, 120], 3, 60), effort([8, 200], 1, 20)];
pub(super) const POINT: [Effort; 2] = [effort([25, 300], 0, 0), effort([8, 200], 0, 0)];
/// The kernel's time in a run of Figure 2, for which slow variants have fewer transactions.
pub(super) const MEASURE: [Duration; 2] = [Duration::from_millis(250), Duration::from_millis(50)];
/// No further repeat begins after this time, verification included.
pub(super) const MEASURE_WALL: [Duration; 2] = [Duration::from_secs(2), Duration::from_millis(400)];
/// A run that takes longer is stopped.
pub(super) const LIMIT: Duration = Duration::from_secs(30);
/// Timed runs of each variant at its best launch, at most.
pub(super) const REPEAT: [u32; 2] = [5, 3];
/// Profiled runs of Figure 5, and as many without clocks.
pub(super) const PROFILES: [u32; 2] = [3, 1];
/// The kernel's time in a run of one thread alone, about.
pub(super) const ALONE: [Duration; 2] = [Duration::from_secs(10), Duration::from_millis(100)];
/// Transactions of a recorded run, where the input leaves them open.
pub(super) const RECORDED: [u64; 2] = [64 << 10, 4 << 10];
pub(super) const RECORD_BYTES: [u64; 2] = [8 << 30, 256 << 20];

/// What is measured on a device, and the launches that it can hold.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) quick: bool,
    pub(crate) room: Room,
}

impl Plan {
    /// Returns an amount, which is one for the full run, and one for the quick one.
    pub(super) fn of<T>(&self, [full, quick]: [T; 2]) -> T {
        if self.quick { quick } else { full }
    }

    /// A workload: the full one is the paper's Table 1, which the defaults are.
    pub(crate) fn workload(&self, name: &str, seed: u64) -> Result<AnyWorkload> {
        let occasion = self.of([Occasion::Paper, Occasion::Quick]);
        AnyWorkload::sized(name, occasion, seed)
    }

    /// The workload for one thread alone where it is another, as all would take one thread minutes.
    pub(super) fn alone(&self, name: &str, seed: u64) -> Result<Option<AnyWorkload>> {
        let small = AnyWorkload::sized(name, Occasion::Quick, seed)?;
        let fixed = small.sizes().transactions().is_some();
        Ok((fixed && !self.quick).then_some(small))
    }

    pub(crate) fn transactions(&self, workload: &dyn Sizes) -> u64 {
        let usual = self.of([TRANSACTIONS, QUICK_TRANSACTIONS]);
        workload.transactions().unwrap_or(usual)
    }

    /// How long the search tries a launch: longer where fewer transactions than all cannot be tried.
    pub(crate) fn search_effort(&self, whole: bool) -> Effort {
        let mut effort = self.of(SEARCH);
        effort.probe_limit *= if whole { 2 } else { 1 };
        effort
    }

    /// The launches for a purpose.
    pub(crate) fn shapes(&self, purpose: &str, by_blocks: bool) -> Vec<Shape> {
        self.room.shapes(purpose, by_blocks, self.quick)
    }

    /// Figure 4: the shared words, which are the numbers of locks, too.
    pub(super) fn fig4_sizes(&self) -> &'static [u32] {
        self.of([
            &[1 << 20, 4 << 20, 16 << 20, 64 << 20][..],
            &[64 << 10, 1 << 20],
        ])
    }
}

/// What one command measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Piece {
    pub(crate) started: String,
    pub(crate) seconds: f64,
    pub(crate) command: String,
    pub(crate) commit: String,
    pub(crate) ptx: String,
    pub(crate) driver: String,
    /// The units that it measured, each whole: `fig2 ra`.
    pub(crate) units: Vec<String>,
}

impl Piece {
    pub(crate) fn new(head: &Head) -> Result<Self> {
        row(head, json!({"units": []}))
    }

    /// Returns what of this piece is not of the build and driver that the document's head says.
    pub(super) fn foreign(&self, head: &Head) -> Option<String> {
        let pairs = [
            ("commit", &self.commit, &head.commit),
            ("PTX", &self.ptx, &head.ptx),
            ("driver", &self.driver, &head.driver),
        ];
        pairs.into_iter().find_map(|(what, here, there)| {
            let there = there.as_deref().unwrap_or_default();
            let piece = format!("the piece of {} is of {what} {here}", self.started);
            (here != there).then(|| format!("{piece}, and the document of {there}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::WORKLOADS;

    fn plan(quick: bool, kind: DeviceKind, processors: u32, resident: u64) -> Plan {
        let mut room = Room::of(&AnyDevice::cpu());
        (room.kind, room.resident) = (kind, resident);
        room.limits.processors = processors;
        Plan { quick, room }
    }

    #[test]
    fn threads_grow_from_a_warp_to_what_the_gpu_holds_and_beyond() {
        let gpu = plan(false, DeviceKind::Cuda, 132, 132 * 2048);
        for by_blocks in [false, true] {
            let shapes = gpu.shapes("threads", by_blocks);
            let threads: Vec<u64> = shapes.into_iter().map(lanes).collect();
            assert!(threads.is_sorted_by(|a, b| a < b), "{threads:?}");
            assert!(threads.contains(&gpu.room.resident));
            let beyond = if by_blocks { 1 } else { 2 };
            assert_eq!(threads.last(), Some(&(beyond * gpu.room.resident)));
        }
        assert_eq!(gpu.shapes("threads", false)[0], (1, 32));
    }

    #[test]
    fn every_plan_has_points_on_every_device_and_an_input_of_every_workload() {
        for quick in [true, false] {
            for (kind, resident) in [(DeviceKind::Cpu, 0), (DeviceKind::Cuda, 1024)] {
                let plan = plan(quick, kind, 1, resident);
                let purposes = "search threads fig4 critical recorded tune mutex barrier";
                for purpose in purposes.split(' ') {
                    assert!(!plan.shapes(purpose, true).is_empty(), "{purpose}");
                }
                for &(name, _) in WORKLOADS {
                    assert!(plan.workload(name, 1).is_ok(), "{name}");
                }
            }
        }
    }
}
