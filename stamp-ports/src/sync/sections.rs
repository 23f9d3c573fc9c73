//! Workloads of the registry whose operations exclude each other. An implementation is one of the workload's
//! contenders, or an algorithm of the transactional memory, as `stm:fast`. [`points`] lists them in the order
//! in which they are measured: first what the targets and the claims of the papers need, and last what takes
//! long.

use crate::measure::ONCE;
use crate::measure::runner::Runner;
use crate::points::prelude::*;
use crate::workloads::AnyWorkload;
use crate::workloads::counter::Counter;
use crate::workloads::ht::Ht;
use crate::workloads::sorted::Sorted;

/// Lists of implementations, for which rows have these names. GROTE: the locks of Grote 2020, each lane by itself.
/// TABLES: those of the table that are measured with every number of buckets; FEW: with the fewest. COARSE and FAIR:
/// coarse-grained locking, each lane by itself, by locks that are not fair and by those that are. ALL and USUAL:
/// critical sections; the combiner's holder takes more registers than blocks of 1,024 threads have.
#[rustfmt::skip]
const LISTS: [(&str, &str); 10] = [
    ("GROTE", "tas/lane ttas/lane ticket mcs/lane"),
    ("COUNTERS", "tas ttas tas-backoff ticket-handoff fetch-add ring anderson mcs cohort combining added stm:fast stm:hv-sorting"),
    ("TABLES", "lock-free mcs combining stm:fast"),
    ("FEW", "tas ttas tas-backoff ticket-handoff fetch-add anderson"),
    ("COUPLED", "coupled:tas coupled:ttas coupled:ticket coupled:mcs2"),
    ("COARSE", "coarse:tas/lane coarse:ttas/lane"),
    ("FAIR", "coarse:ticket coarse:mcs/lane"),
    ("ALL", "none tas tas-again spin-spin ticket anderson mcs combining@256"),
    ("USUAL", "none tas ticket anderson mcs combining@256"),
    ("MOST", "4096,2048,1024,512,256,128"),
];

/// Points: a part, its parameters, of which the last may have several values, blocks x threads, and
/// implementations, some with other threads.
const SMALL: &str = "\
counter items=2K at 1 x 1 4; 2 x 2: GROTE COUNTERS
table pairs=64K buckets=256,16 at 2 x 2: GROTE TABLES FEW
list keys=4000 entry-points=16,128 at 2 x 2: COUPLED COARSE FAIR coarse:ttas coarse:mcs stm:fast stm:hv-sorting
sections rounds=0,100 at 16 x 2: none tas tas-again spin-spin ticket anderson mcs combining stm:fast
";

/// The points at the papers' shapes, and at those of a machine with `p` multiprocessors.
///
/// - The hash table has 100 MiB of keys, as in the code that Grote adapted. His locks are at this machine's launch
///   with the fewest buckets alone, and of them those that end within seconds there.
/// - Of the sorted list first what does not take long, and at the end what does; with 16 entry points each takes
///   half a minute.
/// - Critical sections are at the paper's shape, and at this machine's. Each transaction is to be in its own block.
///   An attempt takes as long as a section of a lock's holder, and nearly all are in vain, so none is long.
/// - At the end is what the papers have at their shapes once more, at this machine's.
const FULL: &str = "\
table pairs=25M buckets=16,32,64,256 at 30 x 256: TABLES GROTE
table pairs=25M buckets=64,256 at 30 x 256: stm:hv-sorting
table pairs=25M buckets=16 at 30 x 256: FEW
table pairs=25M buckets=16 at p x 256: TABLES ticket mcs/lane
list keys=262000 entry-points=16 at 30 x 128: coupled:tas stm:fast coupled:ttas coupled:ticket coupled:mcs2
list keys=262000 entry-points=16 at p x 128: coupled:tas stm:fast
list keys=262000 entry-points=MOST,64,32 at 30 x 128: COUPLED stm:fast
list keys=262000 entry-points=MOST,64 at 30 x 128: COARSE coarse:ttas
list keys=262000 entry-points=4096,1024 at 30 x 128: stm:hv-sorting
list keys=262000 entry-points=4096,1024,256 at p x 128: coupled:ttas coarse:ttas stm:fast
list keys=262000 entry-points=128,64 at 30 x 32: COARSE FAIR
list keys=262000 entry-points=128,64 at 30 x 256: COARSE FAIR
list keys=262000 entry-points=128,64 at 30 x 1024: COARSE FAIR
list keys=262000 entry-points=128,64 at 30 x 128: FAIR
sections rounds=0 at 512 x 1024: ALL stm:fast@1
sections rounds=0 at p 4p x 1024: USUAL stm:fast@1
sections rounds=100 at 512 x 1024: ALL stm:fast@1
sections rounds=100 at p 4p x 1024: USUAL stm:fast@1
sections rounds=100000 at 512 x 1024: ALL
sections rounds=100000 at p 4p x 1024: USUAL
counter items=32K at 1 x 1: GROTE
counter items=32K at 32 x 1024 256 32; p x 256: COUNTERS GROTE
counter items=32K at 1 8 16 32 x 1024 32 64 128 256: GROTE
counter items=32K at 1 8 16 32 x 384 512 192 768: GROTE
list keys=262000 entry-points=MOST at p x 128: COUPLED stm:fast COARSE
list keys=262000 entry-points=64,32,16 at p x 128: COUPLED stm:fast
counter items=32K at p/2 p 2p x 32 256 1024: GROTE
list keys=262000 entry-points=32 at 30 x 128: coarse:ttas/lane coarse:tas/lane
";

pub(crate) fn points(device: &AnyDevice, quick: bool) -> Vec<Asked> {
    match device.kind() {
        DeviceKind::Cuda if !quick => full(device.limits().processors),
        _ => all(SMALL, 0),
    }
}

pub(crate) fn full(processors: u32) -> Vec<Asked> {
    all(FULL, processors)
}

/// Returns the points of rows, each once.
fn all(rows: &str, processors: u32) -> Vec<Asked> {
    let named = |rows: String, (name, list): &(&str, &str)| rows.replace(name, list);
    let rows = LISTS.iter().fold(rows.to_owned(), named);
    let mut all = Vec::new();
    listed(&rows, processors, |part, given, (blocks, threads), kind| {
        let (kind, own) = kind.split_once('@').unwrap_or((kind, ""));
        let point = Asked::new(part, kind, (blocks, own.parse().unwrap_or(threads)), given);
        if !all.contains(&point) {
            all.push(point);
        }
    });
    all
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
    match asked.part.as_str() {
        "counter" => {
            let items = given("items");
            let counter = Counter::default();
            (Counter { items, ..counter }.into(), items.into())
        }
        "sections" => {
            let mut of = Counter::default();
            (of.items, of.rounds, of.first_only) = (asked.blocks, given("rounds"), true);
            (of.into(), asked.blocks.into())
        }
        "table" => {
            let mut of = Ht::default();
            (of.buckets, of.keys_per_tx) = (given("buckets"), 1);
            (of.into(), given("pairs").into())
        }
        other => {
            assert_eq!(other, "list", "a part of no workload");
            let (keys, entry_points) = (given("keys"), given("entry-points"));
            (Sorted { keys, entry_points }.into(), keys.into())
        }
    }
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
