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
use crate::workloads::contender::ContenderKind;
use crate::workloads::exclusion::UNSYNCHRONISED;
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
    /// Everything without transactions.
    pub(crate) runs: Vec<ContenderReport>,
    /// The transactional memory.
    pub(crate) stm: Vec<RunReport>,
    /// Every launch of the searches.
    pub(crate) search: Vec<TriedContender>,
    /// Every launch of the transactional memory's searches.
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
    /// The variant, or the contender.
    pub(crate) name: &'static str,
    #[serde(flatten)]
    pub(crate) bound: Bound,
    /// The rate measured over the bound.
    pub(crate) reached: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct FloorSpec {
    /// The transactional memory, and how it is searched.
    pub(crate) stm: SearchSpec,
    /// Whether it takes part.
    pub(crate) with_stm: bool,
    /// Whether few launch shapes are tried.
    pub(crate) quick: bool,
}

/// The name of `fast` where transactions add.
const FAST_ADDS: &str = "fast, adds";

impl Measured {
    /// Measures one workload, the contenders first.
    pub(crate) fn add(
        &mut self,
        device: &AnyDevice,
        workload: &AnyWorkload,
        spec: &FloorSpec,
    ) -> Result<()> {
        let (runs, stm) = (self.runs.len(), self.stm.len());
        let sizes = workload.sizes();
        self.verifies.insert(sizes.name(), sizes.verifies());
        let asked = spec.stm.transactions_of(sizes);
        self.asked.push((sizes.name(), asked));
        self.add_contenders(device, workload, spec)?;
        if spec.with_stm {
            self.add_stm(device, workload, spec)?;
        }
        if let Some(accesses) = workload.sizes().accesses() {
            self.add_bounds(accesses, runs, stm);
        }
        Ok(())
    }

    /// Computes the bounds of the contenders and of the transactional memory from these numbers on.
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
                Some(BoundOf {
                    workload,
                    name: names[0],
                    reached: tx_per_s / bound.tx_per_s,
                    bound,
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
        spec: &FloorSpec,
    ) -> Result<()> {
        let shapes = stm_shapes(device, workload, spec);
        let found = spec.stm.search(device, workload, &shapes)?;
        self.stm.extend(found.runs);
        self.stm_search.extend(found.tried);
        let fast = Variant::Fast.into();
        let adds = workload.with_adds();
        if let Some(adds) = adds.filter(|_| spec.stm.variants.contains(&fast)) {
            let stm = SearchSpec {
                variants: vec![fast],
                ..spec.stm.clone()
            };
            let found = stm.search(device, &adds, &shapes)?;
            self.stm.extend(found.runs.into_iter().map(|run| RunReport {
                variant: FAST_ADDS,
                ..run
            }));
            self.stm_search
                .extend(found.tried.into_iter().map(|tried| Tried {
                    variant: FAST_ADDS.into(),
                    ..tried
                }));
        }
        Ok(())
    }

    fn add_contenders(
        &mut self,
        device: &AnyDevice,
        workload: &AnyWorkload,
        spec: &FloorSpec,
    ) -> Result<()> {
        let (kind, limits) = (device.kind(), device.limits());
        let sizes = workload.sizes();
        let of_sections =
            search::shapes_of_critical_sections(kind, &limits, sizes.by_blocks(), spec.quick);
        let shapes = search::shapes(kind, &limits, device.resident_threads(), spec.quick);
        for contender in workload.contenders() {
            let setting = Setting {
                seed: spec.stm.seed,
                transactions: spec.stm.transactions_of(sizes),
                repeat: spec.stm.repeat,
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

    /// Whether a contender of this kind was measured.
    pub(crate) fn has(&self, kind: ContenderKind) -> bool {
        self.runs.iter().any(|run| run.kind == kind)
    }

    /// Whether all that can be verified was.
    pub(crate) fn is_verified(&self) -> bool {
        self.runs.iter().all(|run| run.verified != Some(false))
            && self.stm.iter().all(|report| report.verified)
    }
}

/// The launch shapes of the transactional memory.
fn stm_shapes(device: &AnyDevice, workload: &AnyWorkload, spec: &FloorSpec) -> Vec<(u32, u32)> {
    let (kind, limits) = (device.kind(), device.limits());
    let sizes = workload.sizes();
    if !spec.quick {
        let mut shapes = launches::shapes(kind, &limits, device.resident_threads());
        shapes.extend(launches::between(kind, &limits));
        if kind == DeviceKind::Cuda && sizes.by_blocks() {
            shapes.retain(|&(_, threads)| threads == launches::BLOCK_OF_ONE_WORKER);
        }
        return shapes;
    }
    let transactions = spec.stm.transactions_of(sizes);
    let memory = spec.stm.memory;
    let config = memory.config(spec.stm.locks[0], sizes.capacity(), None);
    let shapes = spec.stm.variants.iter().map(|&variant| {
        let algorithm = resolve(sizes, variant, &config, transactions);
        launches::launch(sizes, algorithm, kind, &limits)
    });
    let mut shapes: Vec<_> = shapes.collect();
    shapes.dedup();
    shapes
}
