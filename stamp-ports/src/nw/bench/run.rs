//! The whole measurement: the points that the document lacks, one after the other, and the
//! document written after each.

use super::document::{FORMAT, NwBench};
use super::measure::Measuring;
use super::plan::{self, PARTS};
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::head::Head;
use crate::points::{self, Asked, Meter, Point};
use crate::store::{Store, published};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What `bench nw` is asked for.
#[derive(Clone, Debug)]
pub struct NwSpec {
    /// Small inputs, few points.
    pub quick: bool,
    /// The parts to measure.
    pub parts: Vec<&'static str>,
    /// No further point is begun after this time.
    pub time: Option<Duration>,
    /// The seed of all sequences.
    pub seed: u64,
    /// The folder of the document, made if it is not there.
    pub out: PathBuf,
    /// Whether the document is begun anew, whatever there is.
    pub fresh: bool,
}

/// Reads `all`, or names of parts separated by commas.
///
/// # Errors
/// An unknown name, with those that there are.
pub fn parse_parts(text: &str) -> Result<Vec<&'static str>> {
    points::parse_parts(text, &PARTS.map(|(part, _)| part))
}

/// Measures what the document lacks; `command` is how the program was called.
///
/// # Errors
/// The folder's errors or the device's. What a single point cannot do is written into the
/// document and is no error.
pub fn bench(device: &AnyDevice, spec: &NwSpec, command: &str) -> Result<Store<NwBench>> {
    let command = published(command, &spec.out);
    let mut head = Head::new(FORMAT, device, &command, (spec.quick, spec.seed))?;
    head.notes = vec![
        "Times are the device's, from the beginning of the first launch to the end of the last. A \
         point that takes more than 2 s is measured once, any other is the median of 5 after one \
         that does not count. A point of the reduction is one launch after one that does not count; \
         its cycles are the median of the launch's rounds. Operations are cells of the tables, and \
         hand-overs in the reduction."
            .to_owned(),
        "Sequences are random letters drawn from the seed. Of up to 1 G cells the last row of each \
         table is compared with the host's, of more with that of tiles of another size."
            .to_owned(),
    ];
    let mut store = Store::<NwBench>::open(&spec.out, head, spec.fresh)?;
    let began = Instant::now();
    let everything = plan::points(device, spec.quick);
    // What was not verified, or could not be measured, is tried again.
    let there = |p: &Point, asked: &Asked| p.verified && p.answers(asked);
    let found = &store.document.0.points;
    let lacking = |asked: &&Asked| !found.iter().any(|p| there(p, asked));
    let wanted: Vec<Asked> = everything
        .iter()
        .filter(|asked| spec.parts.contains(&asked.part.as_str()))
        .filter(lacking)
        .cloned()
        .collect();
    let meter = Meter::new(wanted.len());
    let mut measuring = Measuring::new(device, spec.seed);
    for (i, asked) in wanted.iter().enumerate() {
        if spec.time.is_some_and(|time| began.elapsed() >= time) {
            break;
        }
        let point = measuring.measure(asked)?;
        meter.done(i + 1, &point);
        let points = &mut store.document.0.points;
        points.retain(|before| !before.answers(asked));
        points.push(point);
        store.document.0.head.complete = false;
        store.save()?;
    }
    let points = &store.document.0.points;
    let complete = |asked: &Asked| points.iter().any(|p| p.answers(asked));
    store.document.0.head.complete = everything.iter().all(complete);
    store.save()?;
    Ok(store)
}
