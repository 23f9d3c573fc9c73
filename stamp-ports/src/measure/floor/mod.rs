//! What `bench floor` measures: the transactional memory beside kernels without
//! transactions, in the same run on the same device.
//!
//! | kind | is | result |
//! | --- | --- | --- |
//! | unsynchronised | the same accesses without synchronisation | unsafe: not verified, updates may be lost |
//! | special-purpose | what one writes by hand for this workload and no other | verified |
//! | critical-section | the transactions as critical sections of one lock, written by hand | verified |
//! | stm | transactions | verified |
//!
//! The same accesses without synchronisation are no bound: a kernel that needs fewer
//! accesses can be faster.
//!
//! For each, the best launch is searched and then measured: median of the
//! repeats, the data put back before each.
//!
//! | file | is |
//! | --- | --- |
//! | `bound` | the time that the memory system needs for a protocol's own accesses |
//! | `search` | the search of a contender's best launch, and its measurement |
//! | `report` | the table and the document |

use super::launches;
use super::machine::Rate;
use super::run_report::{RunReport, resolve};
use super::search::{SearchSpec, Tried};
use crate::devices::{AnyDevice, DeviceKind};
use crate::error::Result;
use crate::workloads::AnyWorkload;
use crate::workloads::contender::{ContenderKind, UNSYNCHRONISED};
use crate::workloads::workload::{Accesses, Verifies};
use bound::Bound;
use search::{ContenderReport, Setting, TriedContender};
use serde::Serialize;
use std::collections::BTreeMap;
use stm_core::algorithm::Variant;
use stm_core::host::Device;

pub(crate) mod bound;
pub(crate) mod report;
pub(crate) mod search;

#[derive(Debug, Default, Serialize)]
pub(crate) struct Measured {
    pub(crate) runs: Vec<ContenderReport>,
    pub(crate) stm: Vec<RunReport>,
    pub(crate) search: Vec<TriedContender>,
    pub(crate) stm_search: Vec<Tried>,
    pub(crate) rates: Vec<Rate>,
    /// What the verification of each workload covers.
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
        let (runs, stm) = (self.runs.len(), self.stm.len());
        let sizes = workload.sizes();
        self.verifies.insert(sizes.name(), sizes.verifies());
        self.asked.push((sizes.name(), spec.transactions_of(sizes)));
        self.add_contenders(device, workload, spec, quick)?;
        if !spec.variants.is_empty() {
            self.add_stm(device, workload, spec, quick)?;
        }
        if let Some(accesses) = sizes.accesses() {
            self.add_bounds(accesses, runs, stm);
        }
        Ok(())
    }

    /// Computes the bounds of what was measured from these numbers on.
    fn add_bounds(&mut self, accesses: Accesses, runs: usize, stm: usize) {
        // Those whose words have the workload's width.
        let plain = self.runs[runs..]
            .iter()
            .filter(|run| run.name == UNSYNCHRONISED.1);
        let plain = plain.map(|run| (run.workload, [run.name; 2], 0, run.tx_per_s));
        // Additions have a protocol of their own.
        let stm = self.stm[stm..]
            .iter()
            .filter(|run| run.verified && run.variant != FAST_ADDS);
        let stm = stm.map(|run| {
            (
                run.workload,
                [run.variant, run.resolved],
                run.locks,
                run.tx_per_s,
            )
        });
        let bounds = plain
            .chain(stm)
            .filter_map(|(workload, names, locks, tx_per_s)| {
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
        let bounds: Vec<BoundOf> = bounds.collect();
        self.bounds.extend(bounds);
    }

    /// Measures the transactional memory; `fast` where transactions add is a variant of its own.
    fn add_stm(
        &mut self,
        device: &AnyDevice,
        workload: &AnyWorkload,
        spec: &SearchSpec,
        quick: bool,
    ) -> Result<()> {
        let shapes = stm_shapes(device, workload, spec, quick);
        let found = spec.search(device, workload, &shapes)?;
        self.stm.extend(found.runs);
        self.stm_search.extend(found.tried);
        let fast = Variant::Fast.into();
        let adds = workload.with_adds();
        if let Some(adds) = adds.filter(|_| spec.variants.contains(&fast)) {
            let of_fast = SearchSpec {
                variants: vec![fast],
                ..spec.clone()
            };
            let mut found = of_fast.search(device, &adds, &shapes)?;
            found
                .runs
                .iter_mut()
                .for_each(|run| run.variant = FAST_ADDS);
            found
                .tried
                .iter_mut()
                .for_each(|tried| tried.variant = FAST_ADDS.into());
            self.stm.extend(found.runs);
            self.stm_search.extend(found.tried);
        }
        Ok(())
    }

    fn add_contenders(
        &mut self,
        device: &AnyDevice,
        workload: &AnyWorkload,
        spec: &SearchSpec,
        quick: bool,
    ) -> Result<()> {
        let (kind, limits, sizes) = (device.kind(), device.limits(), workload.sizes());
        let by_blocks = sizes.by_blocks();
        let of_sections = search::shapes_of_critical_sections(kind, &limits, by_blocks, quick);
        let shapes = search::shapes(kind, &limits, device.resident_threads(), quick);
        for contender in workload.contenders() {
            let setting = Setting {
                seed: spec.seed,
                transactions: spec.transactions_of(sizes),
                repeat: spec.repeat,
                measure_ms: search::MEASURE_MS,
                shapes: match contender.kind {
                    ContenderKind::Excluding => continue,
                    ContenderKind::CriticalSection => &of_sections,
                    _ => &shapes,
                },
            };
            let (run, tried) = search::measure(device, sizes, &contender, &setting)?;
            self.runs.push(run);
            self.search.extend(tried);
        }
        Ok(())
    }

    pub(crate) fn has(&self, kind: ContenderKind) -> bool {
        self.runs.iter().any(|run| run.kind == kind)
    }

    pub(crate) fn is_verified(&self) -> bool {
        self.runs.iter().all(|run| run.verified != Some(false))
            && self.stm.iter().all(|report| report.verified)
    }
}

fn stm_shapes(
    device: &AnyDevice,
    workload: &AnyWorkload,
    spec: &SearchSpec,
    quick: bool,
) -> Vec<(u32, u32)> {
    let (kind, limits, sizes) = (device.kind(), device.limits(), workload.sizes());
    if !quick {
        let mut shapes = launches::shapes(kind, &limits, device.resident_threads());
        shapes.extend(launches::between(kind, &limits));
        if kind == DeviceKind::Cuda && sizes.by_blocks() {
            shapes.retain(|&(_, threads)| threads == launches::BLOCK_OF_ONE_WORKER);
        }
        return shapes;
    }
    let config = (spec.memory).config(spec.locks[0], sizes.capacity(), None);
    let shapes = spec.variants.iter().map(|&variant| {
        let algorithm = resolve(sizes, variant, &config, spec.transactions_of(sizes));
        launches::launch(sizes, algorithm, kind, &limits)
    });
    let mut shapes: Vec<_> = shapes.collect();
    shapes.dedup();
    shapes
}
