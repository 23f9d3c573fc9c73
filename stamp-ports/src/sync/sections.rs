//! Workloads of the registry whose operations exclude each other. An implementation is one of the workload's
//! contenders, or an algorithm of the transactional memory, as `stm:fast`. [`points`] lists them in the order
//! in which they are measured: first what the targets and the claims of the papers need, and last what takes
//! long.

use crate::measure::ONCE;
use crate::measure::runner::Runner;
use crate::points::prelude::*;
use crate::workloads::counter::Counter;
use crate::workloads::ht::Ht;
use crate::workloads::sorted::Sorted;

/// Points of a workload: the part, the parameter in which they differ, and one that all of them share.
#[derive(Clone, Copy)]
struct Of(&'static str, &'static str, Option<(&'static str, u64)>);

const fn table(pairs: u64) -> Of {
    Of("table", "buckets", Some(("pairs", pairs)))
}

const fn list(keys: u64) -> Of {
    Of("list", "entry-points", Some(("keys", keys)))
}

const COUNTER: Of = Of("counter", "items", None);

const SECTION: Of = Of("sections", "rounds", None);

impl Of {
    /// Adds the points that are not there yet: of each value of the parameter, shape and kind in the lists.
    fn add(self, all: &mut Vec<Asked>, values: &[u64], shapes: &[Shape], kinds: &[&str]) {
        let Self(part, varied, shared) = self;
        for &value in values {
            let parameters: Vec<_> = [(varied, value)].into_iter().chain(shared).collect();
            for &shape in shapes {
                for kind in kinds.iter().flat_map(|list| list.split(' ')) {
                    let point = Asked::new(part, kind, shape, &parameters);
                    if !all.contains(&point) {
                        all.push(point);
                    }
                }
            }
        }
    }
}

/// The locks of Grote 2020, each lane by itself.
const OF_GROTE: &str = "tas/lane ttas/lane ticket mcs/lane";

const COUNTERS: &str = "tas ttas tas-backoff ticket-handoff fetch-add ring anderson mcs cohort \
                        combining added stm:fast stm:hv-sorting";

/// Those of the table that are measured with every number of buckets, and with the fewest.
const TABLES: &str = "lock-free mcs combining stm:fast";
const TABLES_FEW: &str = "tas ttas tas-backoff ticket-handoff fetch-add anderson";

const COUPLED: &str = "coupled:tas coupled:ttas coupled:ticket coupled:mcs2";

/// Coarse-grained locking, each lane by itself, by locks that are not fair and by those that are.
const COARSE: [&str; 2] = [
    "coarse:tas/lane coarse:ttas/lane",
    "coarse:ticket coarse:mcs/lane",
];

const SECTIONS: &str = "none tas tas-again spin-spin ticket anderson mcs combining stm:fast";

const LIST_KEYS: u64 = 262_000;

/// The pairs of the hash table: 100 MiB of keys, as in the code that Grote adapted.
const PAIRS: u64 = 26_214_400;

pub(crate) fn points(device: &AnyDevice, quick: bool) -> Vec<Asked> {
    match device.kind() {
        DeviceKind::Cuda if !quick => full(device.limits().processors),
        _ => small(),
    }
}

fn small() -> Vec<Asked> {
    let mut points = Vec::new();
    let all = &mut points;
    let shapes = [(1, 1), (1, 4), (2, 2)];
    COUNTER.add(all, &[2048], &shapes, &[OF_GROTE, COUNTERS]);
    let kinds = [OF_GROTE, TABLES, TABLES_FEW];
    table(1 << 16).add(all, &[256, 16], &[(2, 2)], &kinds);
    let ours = "coarse:ttas coarse:mcs stm:fast stm:hv-sorting";
    let kinds = [COUPLED, COARSE[0], COARSE[1], ours];
    list(4000).add(all, &[16, 128], &[(2, 2)], &kinds);
    SECTION.add(all, &[0, 100], &[(16, 2)], &[SECTIONS]);
    points
}

/// Numbers of entry points of the sorted list, the most first.
const ENTRY_POINTS: [u64; 9] = [4096, 2048, 1024, 512, 256, 128, 64, 32, 16];

const ITEMS: [u64; 1] = [32_768];

/// The points at the papers' shapes, and at those of a machine with so many multiprocessors.
pub(crate) fn full(processors: u32) -> Vec<Asked> {
    let mut points = Vec::new();
    let all = &mut points;
    // The hash table. The locks of Grote are at this machine's launch with the fewest buckets alone,
    // and of them those that end within seconds there.
    let (of, theirs, ours) = (table(PAIRS), [(30, 256)], [(processors, 256)]);
    of.add(all, &[16, 32, 64, 256], &theirs, &[TABLES, OF_GROTE]);
    of.add(all, &[64, 256], &theirs, &["stm:hv-sorting"]);
    of.add(all, &[16], &theirs, &[TABLES_FEW]);
    of.add(all, &[16], &ours, &[TABLES, "ticket mcs/lane"]);
    // The sorted list, as far as it does not take long.
    let (list, theirs, ours) = (list(LIST_KEYS), [(30, 128)], [(processors, 128)]);
    let first = "coupled:tas stm:fast";
    let then = "coupled:ttas coupled:ticket coupled:mcs2";
    list.add(all, &[16], &theirs, &[first, then]);
    list.add(all, &[16], &ours, &[first]);
    list.add(all, &ENTRY_POINTS[..8], &theirs, &[COUPLED, "stm:fast"]);
    let coarse = [COARSE[0], "coarse:ttas"];
    list.add(all, &ENTRY_POINTS[..7], &theirs, &coarse);
    list.add(all, &[4096, 1024], &theirs, &["stm:hv-sorting"]);
    let kinds = "coupled:ttas coarse:ttas stm:fast";
    list.add(all, &[4096, 1024, 256], &ours, &[kinds]);
    for threads in [32, 256, 1024] {
        list.add(all, &[128, 64], &[(30, threads)], &COARSE);
    }
    list.add(all, &[128, 64], &theirs, &COARSE[1..]);
    critical(all, processors);
    COUNTER.add(all, &ITEMS, &[(1, 1)], &[OF_GROTE]);
    let shapes = [(32, 1024), (32, 256), (32, 32), (processors, 256)];
    COUNTER.add(all, &ITEMS, &shapes, &[COUNTERS, OF_GROTE]);
    for threads in [1024, 32, 64, 128, 256, 384, 512, 192, 768] {
        let shapes = [1, 8, 16, 32].map(|blocks| (blocks, threads));
        COUNTER.add(all, &ITEMS, &shapes, &[OF_GROTE]);
    }
    // What the papers have at their shapes once more, at this machine's.
    for entry_points in ENTRY_POINTS {
        let coarse = &COARSE[..usize::from(entry_points >= 128)];
        let kinds = [&[COUPLED, "stm:fast"][..], coarse].concat();
        list.add(all, &[entry_points], &ours, &kinds);
    }
    for blocks in [processors.div_ceil(2), processors, 2 * processors] {
        let shapes = [32, 256, 1024].map(|threads| (blocks, threads));
        COUNTER.add(all, &ITEMS, &shapes, &[OF_GROTE]);
    }
    // The points of the sorted list that take long; with 16 entry points each takes half a minute.
    list.add(all, &[32], &theirs, &["coarse:ttas/lane coarse:tas/lane"]);
    points
}

/// Critical sections: at the paper's shape, and at this machine's.
fn critical(all: &mut Vec<Asked>, processors: u32) {
    for rounds in [0, 100, 100_000] {
        for blocks in [512, processors, 4 * processors] {
            for kind in SECTIONS.split(' ') {
                let is_stm = kind.starts_with("stm:");
                // The combiner's holder takes more registers than blocks of 1,024 threads
                // have, and so do transactions, each of which is to be in its own block.
                let threads = match kind {
                    "combining" => 256,
                    _ if is_stm => 1,
                    _ => 1024,
                };
                let is_usual = !["tas-again", "spin-spin"].contains(&kind);
                // An attempt takes as long as a section of a lock's holder, and nearly
                // all are in vain.
                if (blocks == 512 || is_usual) && !(is_stm && rounds > 100) {
                    SECTION.add(all, &[rounds], &[(blocks, threads)], &[kind]);
                }
            }
        }
    }
}

/// The timed launches of a point, after one that is not counted.
const REPEAT: u32 = 5;

/// A launch with transactions that takes longer is stopped.
const LIMIT: Duration = Duration::from_mins(1);

/// No further launch of a point is judged after this time, but for the last one.
const CHECKS: Duration = Duration::from_millis(500);

const LOCKS: u64 = 1 << 20;

fn workload(asked: &Asked) -> (AnyWorkload, u64) {
    let given = |name: &str| asked.parameters[name] as u32;
    let (workload, operations): (AnyWorkload, u32) = match asked.part.as_str() {
        "counter" => {
            let items = given("items");
            let counter = Counter::default();
            (Counter { items, ..counter }.into(), items)
        }
        "sections" => {
            let mut of = Counter::default();
            (of.items, of.rounds, of.first_only) = (asked.blocks, given("rounds"), true);
            (of.into(), asked.blocks)
        }
        "table" => {
            let mut of = Ht::default();
            (of.buckets, of.keys_per_tx) = (given("buckets"), 1);
            (of.into(), given("pairs"))
        }
        other => {
            assert_eq!(other, "list", "a part of no workload");
            let (keys, entry_points) = (given("keys"), given("entry-points"));
            (Sorted { keys, entry_points }.into(), keys)
        }
    };
    (workload, operations.into())
}

/// Measures one point. What this point alone cannot do is in its note.
pub(crate) fn measure(device: &AnyDevice, asked: &Asked, seed: u64) -> Result<Point> {
    let (workload, operations) = workload(asked);
    workload.sizes().check(operations)?;
    let measured = match asked.implementation.strip_prefix("stm:") {
        Some(variant) => {
            let variants = parse_variants(variant)?;
            transactions(device, &workload, asked, (seed, operations), variants[0])
        }
        None => excluding(device, &workload, asked, (seed, operations)),
    };
    Point::or_note(asked, measured)
}

fn excluding(
    device: &AnyDevice,
    workload: &AnyWorkload,
    asked: &Asked,
    (seed, operations): (u64, u64),
) -> Result<Point> {
    let name = match asked.implementation.as_str() {
        "none" => "added",
        // The same lock, measured twice.
        "tas-again" => "tas",
        other => other,
    };
    let contenders = workload.contenders();
    let Some(contender) = contenders.iter().find(|c| c.name == name) else {
        let (asked, of) = (&asked.implementation, workload.sizes().name());
        return refuse(format!("there is no implementation {asked:?} of {of}"));
    };
    let mut data = (contender.prepare)(device, seed, operations)?;
    let shape = (asked.blocks, asked.threads);
    // Each launch is judged, until that has taken as long as a point may.
    let (mut spent, mut wrong, mut is_judged) = (Duration::ZERO, None, false);
    let launch = || -> Result<Duration> {
        let time = data.launch(device, shape, operations)?;
        is_judged = wrong.is_none() && spent < CHECKS;
        if is_judged {
            let began = Instant::now();
            wrong = data.verify(operations)?;
            spent += began.elapsed();
        }
        Ok(time)
    };
    let times = timed(REPEAT as usize, launch)?;
    let ms: Vec<f64> = times.into_iter().map(ms).collect();
    // The last launch is judged in any case.
    if wrong.is_none() && !is_judged {
        wrong = data.verify(operations)?;
    }
    Ok(Point::timed(asked, operations, &ms, wrong).noted(data.note()?))
}

pub(crate) fn transactions(
    device: &AnyDevice,
    workload: &AnyWorkload,
    asked: &Asked,
    (seed, operations): (u64, u64),
    variant: AskedVariant,
) -> Result<Point> {
    let mut runner = Runner::new(device, workload, seed, operations)?;
    let shape = (asked.blocks, asked.threads);
    let mut spec = RunSpec::new(workload.sizes(), variant, shape, operations);
    (spec.config.locks, spec.config.time_limit) = (LOCKS, Some(LIMIT));
    let mut report = runner.measure(&spec)?;
    if report.verified && report.time_ms.median <= ms(ONCE) {
        spec.repeat = REPEAT;
        report = runner.measure(&spec)?;
    }
    let time = report.time_ms;
    if time.median <= 0.0 {
        let why = report.error;
        let why = why.unwrap_or_else(|| "no time was measured".into());
        return Ok(Point::without_time(asked, why));
    }
    let wrong = report.error.filter(|_| !report.verified);
    let mut found = Point::timed(asked, operations, &[time.min, time.median, time.max], wrong);
    found.repeat = spec.repeat;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_implementation_is_named() {
        let device = AnyDevice::cpu();
        let mut unknown = points(&device, true)[0].clone();
        unknown.implementation = "anderso".into();
        let point = measure(&device, &unknown, 3).expect("a note");
        assert!(!point.verified && point.note.unwrap().contains("\"anderso\""));
    }
}
