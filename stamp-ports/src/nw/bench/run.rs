//! The whole measurement: the points that the document lacks, one after the other, and the
//! document written after each.

use super::document::NwBench;
use super::measure::Measuring;
use super::plan::{self, PARTS};
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::points;
use crate::store::{BenchSpec, Document, NameList, Store};
use clap::Args;
use std::time::Instant;

/// What `bench nw` is asked for.
#[derive(Args, Debug, Clone)]
pub struct NwSpec {
    /// What all such commands are asked for.
    #[command(flatten)]
    pub bench: BenchSpec,
    /// A part, several separated by commas, or all
    #[arg(long, value_name = "PART,...", value_parser = parse_parts, default_value = "all")]
    pub only: NameList,
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
    let mut head = spec.bench.head(NwBench::FORMAT, device, command)?;
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
    let mut store = Store::<NwBench>::open(&spec.bench, head)?;
    let began = Instant::now();
    let everything = plan::points(device, spec.bench.quick);
    let mut measuring = Measuring::new(device, spec.bench.seed);
    store.document.0.head.complete = points::add_missing(
        &mut store,
        |document| &mut document.0.points,
        (&everything, &spec.only),
        || spec.bench.has_time(began),
        |asked| measuring.measure(asked),
    )?;
    store.save()?;
    Ok(store)
}
