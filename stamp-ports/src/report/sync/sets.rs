//! The records of the document, and the answers to the formulas of `page.json`.

use super::data::Data;
use super::shape::{At, Shape};
use crate::measure::machine::abstraction::Abstraction;
use crate::report::formula::{Answer, Source};
use crate::report::points::record;
use crate::report::records::{Record, Sets};
use crate::sync::bench::Bench;

/// A document as its page asks it.
#[derive(Debug)]
pub(super) struct Asked<'b> {
    data: Data<'b>,
    pub(super) sets: Sets,
}

impl<'b> Asked<'b> {
    /// Makes the records of a document: its points, the grids of the memory benchmarks, and what
    /// there is to say of peers.
    pub(super) fn new(bench: &'b Bench) -> Self {
        let grids = bench.machine.iter().flat_map(|machine| &machine.grids);
        let grids = grids.map(|grid| Record::default().with("blocks", grid.times_ns.blocks));
        let sets = [
            ("points", bench.points.iter().map(record).collect()),
            ("grids", grids.collect()),
            ("peers", peers(bench)),
        ];
        Self {
            data: Data::new(bench),
            sets: Sets(sets.into()),
        }
    }

    /// Returns a ratio of memory accesses at a grid.
    fn memory(&self, blocks: &str, kind: &str, ratio: &str) -> Option<f64> {
        let mut grids = self.data.bench().machine.as_ref()?.grids.iter();
        let grid = grids.find(|grid| grid.times_ns.blocks.to_string() == blocks)?;
        super::stuart::ratio(&Abstraction::of(&grid.times_ns)?, kind, ratio)
    }
}

fn peers(bench: &Bench) -> Vec<Record> {
    let peer = |name: &str| name.starts_with("cuda::") || name == "grid.sync";
    let all = || bench.points.iter().filter(|p| peer(&p.implementation));
    let missing = all().filter(|p| p.repeat == 0);
    let missing =
        missing.filter_map(|p| Some(format!("{}: {}", p.implementation, p.note.as_ref()?)));
    let mut said: Vec<String> = missing.collect();
    said.sort();
    said.dedup();
    if !all().any(|p| p.repeat > 0) {
        said.insert(0, "No peer was measured in this run.".into());
    }
    said.into_iter()
        .map(|said| Record::default().with("said", said))
        .collect()
}

impl Source for Asked<'_> {
    const CALLS: &'static [&'static str] = &["values", "grids", "sections", "memory_at"];

    fn number(&self, name: &str, arguments: &[&str]) -> Option<f64> {
        match (name, arguments) {
            ("sections", [kind, rounds]) => {
                At::new(self.data, Shape::PAPER).sections(kind, rounds.parse().ok()?)
            }
            ("memory_at", [blocks, kind, ratio]) => self.memory(blocks, kind, ratio),
            _ => None,
        }
    }

    /// `grids` are numbers of blocks; `p` stands for the device's multiprocessors.
    fn whole(&self, name: &str, arguments: &[&str]) -> Option<Answer> {
        let p = self.data.processors();
        let blocks = |grid: &&str| match grid.split_once('p') {
            Some(("", "/2")) => p.div_ceil(2).to_string(),
            Some(("", _)) => p.to_string(),
            Some((times, _)) => (times.parse().unwrap_or(1) * p).to_string(),
            None => (*grid).to_owned(),
        };
        if name == "grids" {
            return Some(Answer::Words(Ok(arguments.iter().map(blocks).collect())));
        }
        self.sets.answer(name, arguments)
    }

    fn shown(&self, name: &str, value: &str) -> String {
        let grid = value.parse().ok().filter(|_| name == "blocks");
        grid.map_or_else(|| value.to_owned(), super::data::blocks)
    }
}
