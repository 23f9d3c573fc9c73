//! What `bench floor` measures: the transactional memory beside kernels without transactions
//! ([`ContenderKind`]), in one run. Of each, the best launch is searched and measured: the median of repeats,
//! the data put back before each. All are verified but those without synchronisation, which may lose updates.

use super::launches::Room;
use super::machine::Rate;
use super::run_report::resolve;
use super::search::{Found, SearchSpec};
use crate::prelude::*;
use crate::workloads::contender::{ContenderKind, UNSYNCHRONISED};
use crate::workloads::workload::{Accesses, Verifies};
use bound::Bound;
use search::{ContenderReport, Setting, TriedContender};

pub(crate) mod bound;
pub(crate) mod report;
pub(crate) mod search;

#[derive(Debug, Default, Serialize)]
pub(crate) struct Measured {
    pub(crate) runs: Vec<ContenderReport>,
    pub(crate) search: Vec<TriedContender>,
    #[serde(flatten)]
    pub(crate) stm: Found,
    pub(crate) rates: Vec<Rate>,
    pub(crate) verifies: BTreeMap<&'static str, Verifies>,
    /// The workloads in their order, and the transactions that were asked for in a launch of each.
    #[serde(skip)]
    pub(crate) asked: Vec<(&'static str, u64)>,
    pub(crate) bounds: Vec<BoundOf>,
}

#[derive(Debug, Serialize)]
pub(crate) struct BoundOf {
    pub(crate) workload: &'static str,
    pub(crate) name: &'static str,
    #[serde(flatten)]
    pub(crate) bound: Bound,
    /// The rate measured over the bound.
    pub(crate) reached: f64,
}

const FAST_ADDS: &str = "fast, adds";

impl Measured {
    /// Measures one workload, the contenders first; `quick` is with few launch shapes.
    pub(crate) fn add(
        &mut self,
        device: &AnyDevice,
        workload: &AnyWorkload,
        spec: &SearchSpec,
        quick: bool,
    ) -> Result<()> {
        let (room, sizes) = (Room::of(device), workload.sizes());
        self.verifies.insert(sizes.name(), sizes.verifies());
        self.asked.push((sizes.name(), spec.transactions_of(sizes)));
        for contender in workload.contenders() {
            let shapes = match contender.kind {
                ContenderKind::Excluding => continue,
                ContenderKind::CriticalSection => {
                    room.shapes_of_critical_sections(sizes.by_blocks(), quick)
                }
                _ => room.wide_shapes(quick),
            };
            let setting = Setting {
                seed: spec.seed,
                transactions: spec.transactions_of(sizes),
                repeat: spec.repeat,
                measure: search::MEASURE,
            };
            let (run, tried) = search::measure(device, sizes, &contender, (&shapes, setting))?;
            self.runs.push(run);
            self.search.extend(tried);
        }
        if !spec.variants.is_empty() {
            let shapes = stm_shapes(&room, sizes, spec, quick);
            self.add_stm(device, workload, spec, &shapes)?;
        }
        if let Some(accesses) = sizes.accesses() {
            self.add_bounds(sizes.name(), accesses);
        }
        Ok(())
    }

    fn add_bounds(&mut self, workload: &'static str, accesses: Accesses) {
        let plain = (self.runs.iter()).filter(|run| run.workload == workload);
        // The words have the workload's width.
        let plain = plain.filter(|run| run.name == UNSYNCHRONISED.1);
        let plain = plain.map(|run| ([run.name; 2], 0, run.tx_per_s));
        let stm = (self.stm.runs.iter()).filter(|run| run.workload == workload);
        // Additions have a protocol of their own.
        let stm = stm.filter(|run| run.verified && run.variant != FAST_ADDS);
        let stm = stm.map(|run| ([run.variant, run.resolved], run.locks, run.tx_per_s));
        let bounds = plain.chain(stm).filter_map(|(names, locks, tx_per_s)| {
            let bound = |of: &&str| Bound::of(of, locks, accesses, &self.rates);
            let bound = names.iter().find_map(bound)?;
            let (name, reached) = (names[0], tx_per_s / bound.tx_per_s);
            Some(BoundOf {
                workload,
                name,
                bound,
                reached,
            })
        });
        self.bounds.extend(bounds.collect::<Vec<_>>());
    }

    /// Measures the transactional memory, in which `fast` where transactions add is a variant of its own.
    fn add_stm(
        &mut self,
        device: &AnyDevice,
        workload: &AnyWorkload,
        spec: &SearchSpec,
        shapes: &[Shape],
    ) -> Result<()> {
        spec.search(device, workload, shapes, &mut self.stm)?;
        let fast = Variant::Fast.into();
        let adds = workload.with_adds();
        if let Some(adds) = adds.filter(|_| spec.variants.contains(&fast)) {
            let of_fast = SearchSpec {
                variants: vec![fast],
                ..spec.clone()
            };
            let (runs, tried) = (self.stm.runs.len(), self.stm.tried.len());
            of_fast.search(device, &adds, shapes, &mut self.stm)?;
            for run in &mut self.stm.runs[runs..] {
                run.variant = FAST_ADDS;
            }
            for tried in &mut self.stm.tried[tried..] {
                tried.variant = FAST_ADDS.into();
            }
        }
        Ok(())
    }

    pub(crate) fn is_verified(&self) -> bool {
        self.runs.iter().all(|run| run.verified != Some(false))
            && self.stm.runs.iter().all(|report| report.verified)
    }
}

fn stm_shapes(room: &Room, workload: &dyn Sizes, spec: &SearchSpec, quick: bool) -> Vec<Shape> {
    if !quick {
        return room.more_shapes(workload.by_blocks());
    }
    let config = (spec.memory).config(spec.locks[0], workload.capacity(), None);
    let shapes = spec.variants.iter().map(|&variant| {
        let transactions = spec.transactions_of(workload);
        room.launch(workload, resolve(workload, variant, &config, transactions))
    });
    let mut shapes: Vec<_> = shapes.collect();
    shapes.dedup();
    shapes
}
