//! What `stamp bench paper` measures: inputs and launches, and what one command measured, a [`Piece`].
//!
//! Figures that are compared with each other are a *unit*: the search and the variants of a workload in
//! Figure 2, the lines of a workload in Figure 3, all of Figure 4, a workload's bars of Figure 5 and its rows
//! of Table 1. A unit is of one piece: one that a piece ended within is measured again, whole.

use crate::measure::launches::{BLOCK_OF_ONE_WORKER, QUICK_TRANSACTIONS, Room, TRANSACTIONS};
use crate::measure::search::{Effort, effort};
use crate::points::parse_names;
use crate::prelude::*;

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

/// What is measured on a device: how much, and the launches that it can hold.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) quick: bool,
    pub(crate) room: Room,
    search: Effort,
    pub(crate) point: Effort,
    /// The kernel's time in a run of Figure 2, for which slow variants have fewer transactions.
    pub(crate) measure: Duration,
    /// No further repeat begins after this time, verification included.
    pub(crate) measure_wall: Duration,
    /// A run that takes longer is stopped.
    pub(crate) limit: Duration,
    /// Timed runs of each variant at its best launch, at most.
    pub(crate) repeat: u32,
    /// Profiled runs of Figure 5, and as many without clocks.
    pub(crate) profiles: u32,
    /// The kernel's time in a run of one thread alone, about.
    pub(crate) alone: Duration,
    /// Transactions of a run, and of a recorded one, where the input leaves them open.
    transactions: u64,
    pub(crate) recorded: u64,
    pub(crate) record_bytes: u64,
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

impl Plan {
    /// Each amount is for the full run, and for the quick one.
    pub(crate) fn new(quick: bool, room: Room) -> Self {
        let i = usize::from(quick);
        Self {
            quick,
            room,
            search: [effort([10, 120], 3, 60), effort([8, 200], 1, 20)][i],
            point: [effort([25, 300], 0, 0), effort([8, 200], 0, 0)][i],
            measure: [ms(250), ms(50)][i],
            measure_wall: [ms(2000), ms(400)][i],
            limit: ms(30_000),
            repeat: [5, 3][i],
            profiles: [3, 1][i],
            alone: [ms(10_000), ms(100)][i],
            transactions: [TRANSACTIONS, QUICK_TRANSACTIONS][i],
            recorded: [64 << 10, 4 << 10][i],
            record_bytes: [8 << 30, 256 << 20][i],
        }
    }

    /// A workload: the full one is the paper's Table 1, which the defaults are.
    pub(crate) fn workload(&self, name: &str, seed: u64) -> Result<AnyWorkload> {
        let occasion = [Occasion::Paper, Occasion::Quick][usize::from(self.quick)];
        AnyWorkload::sized(name, occasion, seed)
    }

    /// The workload for one thread alone where it is another, as all would take one thread minutes.
    pub(super) fn alone(&self, name: &str, seed: u64) -> Result<Option<AnyWorkload>> {
        let small = AnyWorkload::sized(name, Occasion::Quick, seed)?;
        let fixed = small.sizes().transactions().is_some();
        Ok((fixed && !self.quick).then_some(small))
    }

    pub(crate) fn transactions(&self, workload: &dyn Sizes) -> u64 {
        workload.transactions().unwrap_or(self.transactions)
    }

    /// How long the search tries a launch: longer where fewer transactions than all cannot be tried.
    pub(crate) fn search_effort(&self, whole: bool) -> Effort {
        let times = if whole { 2 } else { 1 };
        Effort {
            probe_limit: self.search.probe_limit * times,
            ..self.search
        }
    }

    pub(crate) fn search_shapes(&self, by_blocks: bool) -> Vec<Shape> {
        let (room, p) = (&self.room, self.room.limits.processors);
        match (room.kind, self.quick) {
            (DeviceKind::Cuda, false) if by_blocks => {
                room.grid(&[16, p, 4 * p, 8 * p], &[BLOCK_OF_ONE_WORKER])
            }
            (DeviceKind::Cpu, true) => room.grid(&[1, p], &[1, 2]),
            (DeviceKind::Cpu, false) => room.shapes(),
            (DeviceKind::Cuda, true) => room.grid(&[1, p, 4 * p], &[32, 64]),
            (DeviceKind::Cuda, false) => {
                // Few threads are the best launch where all want the same words, and then less
                // than a warp a block: the paper's for k-means has 64 blocks of 4.
                let few = [room.grid(&[1], &[1, 32]), room.grid(&[16], &[4, 32])];
                let many = room.grid(&[p, 4 * p, 8 * p], &[32, 64, 256]);
                [many, few.concat(), room.grid(&[64, p], &[4])].concat()
            }
        }
    }

    /// Figure 3: the launches; on a GPU from a warp to twice what it holds, and by blocks to what it holds.
    pub(crate) fn thread_shapes(&self, by_blocks: bool) -> Vec<Shape> {
        let (room, p) = (&self.room, self.room.limits.processors);
        match (room.kind, self.quick, by_blocks) {
            (DeviceKind::Cpu, true, _) => room.grid(&[1, p, 2 * p], &[1]),
            // Blocks beyond the cores wait; threads do not.
            (DeviceKind::Cpu, false, _) => {
                [room.grid(&[1], &[1]), room.grid(&[p], &[1, 2, 4, 8])].concat()
            }
            (DeviceKind::Cuda, true, _) => room.grid(&[1, p, 4 * p], &[64]),
            // A block is one worker, whatever its threads, and the last has more blocks than there
            // are transactions.
            (DeviceKind::Cuda, false, true) => room.grid(&[4, 16, p, 4 * p, 8 * p], &[256]),
            (DeviceKind::Cuda, false, _) => {
                let blocks = [16, p, 4 * p, 16 * p, 32 * p, 64 * p];
                [room.grid(&[1], &[32]), room.grid(&blocks, &[64])].concat()
            }
        }
    }

    /// Figure 4: the shared words, which are the numbers of locks, too.
    pub(super) const fn fig4_sizes(&self) -> &'static [u32] {
        if self.quick {
            return &[64 << 10, 1 << 20];
        }
        &[1 << 20, 4 << 20, 16 << 20, 64 << 20]
    }

    pub(crate) fn fig4_shapes(&self) -> Vec<Shape> {
        let (room, p) = (&self.room, self.room.limits.processors);
        match (room.kind, self.quick) {
            (DeviceKind::Cpu, true) => room.grid(&[p], &[1]),
            (DeviceKind::Cpu, false) => room.grid(&[p], &[1, 4]),
            (DeviceKind::Cuda, true) => room.grid(&[p], &[64]),
            // The first has fewer than the thousand threads below which the paper says that
            // two variants are level.
            (DeviceKind::Cuda, false) => room.grid(&[8, p, 4 * p, 16 * p], &[64]),
        }
    }

    /// Table 1: the launch that is recorded: few threads, as aborted attempts take room in the records.
    pub(super) const fn recorded_shape(&self, by_blocks: bool) -> Shape {
        let p = self.room.limits.processors;
        match (self.room.kind, by_blocks) {
            (DeviceKind::Cpu, _) => (p, 1),
            // Its threads work together, but one runs transactions.
            (DeviceKind::Cuda, true) => (p, 128),
            (DeviceKind::Cuda, _) => (1, 32),
        }
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
    pub(crate) fn new(head: &Head) -> Self {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        Self {
            started: head.started.clone(),
            seconds: 0.0,
            command: head.command.clone(),
            commit: text(&head.commit),
            ptx: text(&head.ptx),
            driver: text(&head.driver),
            units: Vec::new(),
        }
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

    fn plan(quick: bool, kind: DeviceKind, processors: u32, resident: u64) -> Plan {
        let mut room = Room::of(&AnyDevice::cpu());
        (room.kind, room.resident) = (kind, resident);
        room.limits.processors = processors;
        Plan::new(quick, room)
    }

    #[test]
    fn threads_grow_from_a_warp_to_what_the_gpu_holds_and_beyond() {
        let gpu = plan(false, DeviceKind::Cuda, 132, 132 * 2048);
        for by_blocks in [false, true] {
            let shapes = gpu.thread_shapes(by_blocks);
            let threads: Vec<u64> = shapes.into_iter().map(lanes).collect();
            assert!(threads.is_sorted_by(|a, b| a < b), "{threads:?}");
            assert!(threads.contains(&gpu.room.resident));
            let beyond = if by_blocks { 1 } else { 2 };
            assert_eq!(threads.last(), Some(&(beyond * gpu.room.resident)));
        }
        assert_eq!(gpu.thread_shapes(false)[0], (1, 32));
    }

    #[test]
    fn every_plan_has_points_on_every_device_and_an_input_of_every_workload() {
        for quick in [true, false] {
            for (kind, resident) in [(DeviceKind::Cpu, 0), (DeviceKind::Cuda, 1024)] {
                let plan = plan(quick, kind, 1, resident);
                assert!(!plan.search_shapes(false).is_empty());
                assert!(!plan.thread_shapes(true).is_empty());
                assert!(!plan.fig4_shapes().is_empty());
                for &(name, _) in WORKLOADS {
                    assert!(plan.workload(name, 1).is_ok(), "{name}");
                }
            }
        }
    }
}
