//! The whole measurement: the points that the document lacks, one after the other, and the
//! document written after each.

use super::bench::{Bench, FORMAT};
use super::document::{Asked, Point};
use super::operations::{self, Effort};
use super::peers::Peers;
use super::{plan, sections};
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::head::Head;
use crate::measure::machine;
use crate::points::{self, Meter};
use crate::store::{Store, published};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What `bench sync` is asked for.
#[derive(Clone, Debug)]
pub struct SyncSpec {
    /// Small inputs, few points.
    pub quick: bool,
    /// The parts to measure.
    pub parts: Vec<&'static str>,
    /// No further point is begun after this time.
    pub time: Option<Duration>,
    /// The seed of all data.
    pub seed: u64,
    /// The folder of the document, made if it is not there.
    pub out: PathBuf,
    /// Whether the document is begun anew, whatever there is.
    pub fresh: bool,
    /// CUDA's compiler, for the peers.
    pub nvcc: Option<PathBuf>,
}

/// The part that is not points: what the memory of the machine does.
pub const MACHINE: &str = "machine";

/// The parts of operations alone.
pub const OPERATIONS: [(&str, &str); 4] = [
    (
        "mutex",
        "sections on one lock, of every kind (Stuart and Owens 2011)",
    ),
    ("barrier", "barriers across blocks (Stuart and Owens 2011)"),
    (
        "semaphore",
        "semaphores of counts 1, 2, 10 and 120 (Stuart and Owens 2011)",
    ),
    (
        MACHINE,
        "twelve benchmarks of the memory, as `stamp device --measure` makes them",
    ),
];

/// Reads `all`, or names of parts separated by commas.
///
/// # Errors
/// An unknown name, with those that there are.
pub fn parse_parts(text: &str) -> Result<Vec<&'static str>> {
    let known = OPERATIONS.iter().chain(&sections::PARTS);
    points::parse_parts(text, &known.map(|part| part.0).collect::<Vec<_>>())
}

/// Measures what the document lacks; `command` is how the program was called.
///
/// # Errors
/// The folder's errors or the device's. What a single point cannot do is written into the
/// document and is no error.
pub fn sync(device: &AnyDevice, spec: &SyncSpec, command: &str) -> Result<Store<Bench>> {
    let peers = Peers::of(device, spec.nvcc.as_deref());
    let mut notes = vec![
        "Times are the device's for a launch. A point that takes more than 2 s is measured once, \
         any other is the median of 5 after one that does not count."
            .to_owned(),
    ];
    notes.extend(peers.note().map(str::to_owned));
    let command = published(command, &spec.out);
    let mut head = Head::new(FORMAT, device, &command, (spec.quick, spec.seed))?;
    head.notes.clone_from(&notes);
    let mut store = Store::<Bench>::open(&spec.out, head, spec.fresh)?;
    // The peers may be other ones than when it was begun.
    store.document.head.notes = notes;
    let began = Instant::now();
    let time_left = || spec.time.is_none_or(|time| began.elapsed() < time);
    let everything = all_points(device, spec, &peers)?;
    let here = |part: &str| spec.parts.contains(&part);
    // What was not verified, or could not be measured, is tried again.
    let there = |p: &Point, asked: &Asked| p.verified && p.answers(asked);
    let lacking = |asked: &&Asked| !store.document.points.iter().any(|p| there(p, asked));
    let missing: Vec<Asked> = everything.iter().filter(lacking).cloned().collect();
    let wanted: Vec<&Asked> = missing.iter().filter(|asked| here(&asked.part)).collect();
    store.document.head.complete = false;
    let meter = Meter::new(wanted.len());
    if here(MACHINE) && store.document.machine.is_none() && time_left() {
        match machine::measure(device, &meter.progress) {
            Ok(found) => store.document.machine = Some(found),
            Err(error) => store
                .document
                .head
                .notes
                .push(format!("The memory could not be measured: {error}")),
        }
        store.save()?;
    }
    for (i, asked) in wanted.into_iter().enumerate() {
        if !time_left() {
            break;
        }
        let point = if sections::PARTS.iter().any(|part| part.0 == asked.part) {
            sections::measure(device, asked, spec.seed)?
        } else {
            operations::measure(device, asked, effort(spec))?
        };
        meter.done(i + 1, &point);
        let points = &mut store.document.points;
        points.retain(|before| !before.answers(asked));
        points.push(point);
        store.save()?;
    }
    let points = &store.document.points;
    store.document.head.complete = store.document.machine.is_some()
        && peers.note().is_none()
        && everything
            .iter()
            .all(|asked| points.iter().any(|p| p.answers(asked)));
    store.save()?;
    Ok(store)
}

const fn effort(spec: &SyncSpec) -> Effort {
    if spec.quick {
        Effort::Quick
    } else {
        Effort::Full
    }
}

/// All points of a device.
fn all_points(device: &AnyDevice, spec: &SyncSpec, peers: &Peers) -> Result<Vec<Asked>> {
    let mut all = operations::points(device, effort(spec), peers)?;
    all.extend(plan::sections(device, spec.quick));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_by_name() {
        assert_eq!(
            parse_parts("table, mutex,table").unwrap(),
            ["table", "mutex"]
        );
        assert_eq!(parse_parts("all").unwrap().len(), 8);
        let error = parse_parts("mutx").unwrap_err().to_string();
        assert!(
            error.contains("\"mutx\"") && error.contains("barrier"),
            "{error}"
        );
    }
}
