//! `stamp bench sync`: locks, barriers and semaphores alone, and workloads under locks and with transactions
//! in their place, in one run that can be interrupted and gone on with.

use crate::measure::machine::{self, Measurement};
use crate::points::prelude::*;
use operations::{BARRIER, MUTEX, SEMAPHORE};

pub(crate) mod operations;
pub(crate) mod peers;
pub(crate) mod sections;

/// A document of points: `sync.json`, or `nw.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bench<const OF_NW: bool = false> {
    #[serde(flatten)]
    pub head: Head,
    #[serde(default)]
    pub points: Vec<Point>,
    /// What the memory of the machine does, in that of `bench sync`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Measurement>,
}

impl<const OF_NW: bool> Document for Bench<OF_NW> {
    const FORMAT: &'static str = ["stamp-sync/1", "stamp-nw/1"][OF_NW as usize];
    const FILE_NAME: &'static str = ["sync.json", "nw.json"][OF_NW as usize];

    fn head(&mut self) -> &mut Head {
        &mut self.head
    }
}

#[derive(Args, Debug, Clone)]
pub(crate) struct SyncSpec {
    #[command(flatten)]
    pub bench: BenchSpec,
    /// A part, several separated by commas, or all
    #[arg(long, value_name = "PART,...", default_value = "all",
          value_parser = |text: &str| parse_names(text, "part", &PARTS.map(|part| part.0)))]
    pub only: NameList,
    /// CUDA's compiler, for the peers [default: NVCC, or nvcc on the path or in
    /// /usr/local/cuda/bin]
    #[arg(long, value_name = "PATH")]
    pub nvcc: Option<PathBuf>,
}

/// The part that is not points: what the memory of the machine does.
pub(crate) const MACHINE: &str = "machine";

/// The parts, and what each is. The last four are measured by [`sections`].
#[rustfmt::skip]
pub(crate) const PARTS: [(&str, &str); 8] = [
    (MUTEX, "sections on one lock, of every kind (Stuart and Owens 2011)"),
    (BARRIER, "barriers across blocks (Stuart and Owens 2011)"),
    (SEMAPHORE, "semaphores of counts 1, 2, 10 and 120 (Stuart and Owens 2011)"),
    (MACHINE, "twelve benchmarks of the memory, as `stamp device --measure` makes them"),
    ("counter", "one counter, incremented by all threads (Grote 2020)"),
    ("table", "pairs inserted into a hash table of few buckets (Grote 2020)"),
    ("list", "keys inserted into a sorted list with entry points (Grote 2020)"),
    ("sections", "short and long critical sections (Gattani and Anickode 2024)"),
];

/// Measures what the document lacks; `command` is how the program was called. What a single point
/// cannot do is written into the document and is no error.
pub(crate) fn sync(device: &AnyDevice, spec: &SyncSpec, command: &str) -> Result<Store<Bench>> {
    let missing = peers::prepare(device, spec.nvcc.as_deref());
    let mut notes = vec![
        "Times are the device's for a launch. A point that takes more than 0.2 s is measured once, \
         any other is the median of 5 after one that does not count."
            .to_owned(),
    ];
    notes.extend(missing.clone());
    let head = spec.bench.head(<Bench>::FORMAT, device, command)?;
    let mut store = Store::<Bench>::open(&spec.bench, head)?;
    // The peers may be other ones than when it was begun.
    store.document.head.notes = notes;
    let quick = spec.bench.quick;
    let mut everything = operations::points(device, quick)?;
    everything.extend(sections::points(device, quick));
    store.document.head.complete = false;
    let lacks_machine = spec.only.contains(&MACHINE) && store.document.machine.is_none();
    if lacks_machine && store.has_time() {
        match machine::measure(device) {
            Ok(found) => store.document.machine = Some(found),
            Err(error) => {
                let note = format!("The memory could not be measured: {error}");
                store.document.head.notes.push(note);
            }
        }
        store.save()?;
    }
    let has_all = add_missing(&mut store, &everything, &spec.only, |asked| {
        match asked.part.as_str() {
            MUTEX | BARRIER | SEMAPHORE => operations::measure(device, asked, quick),
            _ => sections::measure(device, asked, spec.bench.seed),
        }
    })?;
    store.document.head.complete = has_all && store.document.machine.is_some() && missing.is_none();
    store.save()?;
    Ok(store)
}

/// Measures the points of some parts that a document lacks, while there is time, and writes the document after
/// each. Returns whether it has every point then.
pub(crate) fn add_missing<const OF_NW: bool>(
    store: &mut Store<Bench<OF_NW>>,
    everything: &[Asked],
    parts: &[&str],
    mut measure: impl FnMut(&Asked) -> Result<Point>,
) -> Result<bool> {
    let there = &store.document.points;
    // What was not verified, or could not be measured, is tried again.
    let lacks = |asked: &Asked| !there.iter().any(|p| p.verified && p.asked == *asked);
    let mut wanted: Vec<&Asked> = everything.iter().collect();
    wanted.retain(|asked| parts.contains(&asked.part.as_str()) && lacks(asked));
    let mut meter = Meter::new(wanted.iter().map(|asked| asked.part.as_str()));
    for asked in wanted {
        if !store.has_time() {
            break;
        }
        let began = Instant::now();
        let point = measure(asked)?;
        meter.done(&asked.part, began.elapsed(), &point.summary());
        let points = &mut store.document.points;
        points.retain(|before| before.asked != *asked);
        points.push(point);
        store.document.head.complete = false;
        store.save()?;
    }
    let has = |asked: &Asked| store.document.points.iter().any(|p| p.asked == *asked);
    Ok(everything.iter().all(has))
}
