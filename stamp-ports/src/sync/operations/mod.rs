//! Operations alone: sections on one mutex, waits at a barrier and entries into a semaphore, a second (Stuart
//! and Owens 2011, section 6), of each implementation and of its peer.
//!
//! Trial launches with more and more operations show how many fit into the time of a launch, so that an
//! implementation which is a thousand times slower than another one takes as long. Results are checked: those
//! of the mutex in each launch, as its sections leave a count; those of barriers and semaphores in a launch
//! beside the timed ones, with a check in its loop (`stm_kernels::checked`).

mod implementations;

use super::peers::{self, COUNTING_SEMAPHORE, GRID_SYNC};
use crate::measure::launches::Room;
use crate::measure::repeated;
use crate::points::prelude::*;
use implementations::{
    Checked, Launches, MUTEXES, Wanted, entries, of_default, sections_of, waits,
};
use stm_kernels::machine::Meetings;
use stm_sync::{barrier, chosen, semaphore};

pub(super) const MUTEX: &str = "mutex";
pub(super) const BARRIER: &str = "barrier";
pub(super) const SEMAPHORE: &str = "semaphore";

/// The part of `stamp device --measure` whose mutexes are of kinds that are chosen at launch, by the kernel of all of them.
pub(crate) const CHOSEN: &str = "chosen mutex";

/// The name of an implementation, and the count of a semaphore.
pub(crate) type Named = (&'static str, Option<u64>);

pub(crate) fn barriers() -> impl Iterator<Item = Named> {
    let kinds = barrier::Kind::ALL.iter();
    kinds.map(|kind| (kind.name(), None))
}

pub(crate) fn semaphores(count: u64) -> impl Iterator<Item = Named> {
    let kinds = semaphore::Kind::ALL.iter();
    kinds.map(move |kind| (kind.name(), Some(count)))
}

const REPEAT: usize = 5;

/// The first trial launch makes the most operations divided by this, and each next one so many times as many.
const FIRST: u32 = 4096;
const STEP: u32 = 4;

/// The trials end when one takes the time of a launch divided by this. It is not less, as a thread of a busy
/// CPU may lose milliseconds at once.
const ENOUGH: u32 = 2;

/// The most operations of a launch, and the time that they may take, unless the fewest take longer.
type Size = (u32, Duration);

fn size(part: &str, kind: DeviceKind, quick: bool) -> Size {
    let (most, ms) = match (part, kind, quick) {
        (BARRIER, _, true) => (1 << 12, 10),
        (BARRIER, _, false) => (1 << 13, 15),
        (MUTEX | CHOSEN, DeviceKind::Cuda, true) => (1 << 15, 15),
        (MUTEX | CHOSEN, DeviceKind::Cuda, false) => (1 << 18, 50),
        (_, DeviceKind::Cuda, true) => (1 << 14, 10),
        (_, DeviceKind::Cuda, false) => (1 << 17, 25),
        // A hand-over between threads that other processes hold up takes milliseconds.
        (MUTEX | CHOSEN, DeviceKind::Cpu, true) => (1 << 12, 15),
        (MUTEX | CHOSEN, DeviceKind::Cpu, false) => (1 << 14, 130),
        (_, DeviceKind::Cpu, true) => (1 << 12, 10),
        (_, DeviceKind::Cpu, false) => (1 << 14, 25),
    };
    (most, Duration::from_millis(ms))
}

/// Measures a point by its launches, given how many operations there are for each one asked for.
fn measured(
    asked: &Asked,
    (most, limit): Size,
    each: u32,
    (mut fault, mut launch): (Option<String>, Launches<'_>),
) -> Result<Point> {
    let mut made = |operations| -> Result<(Duration, Vec<u32>)> {
        let (time, of_blocks, wrong) = launch(operations)?;
        fault = fault.take().or(wrong);
        Ok((time, of_blocks))
    };
    let few = (most / FIRST).max(1);
    let mut operations = few;
    let mut trial = made(few)?.0;
    while operations < most && trial * ENOUGH < limit {
        operations = operations.saturating_mul(STEP).min(most);
        trial = made(operations)?.0;
    }
    let of_trial = u128::from(operations);
    let fits =
        |operations: u32| trial.as_nanos() * u128::from(operations) <= limit.as_nanos() * of_trial;
    // Where many at a time are far slower than few, the last trial was too long.
    while operations / 2 >= few && !fits(operations) {
        operations /= 2;
    }
    while operations <= most / 2 && fits(2 * operations) {
        operations *= 2;
    }
    // The trials have warmed up.
    let timed = repeated(REPEAT, false, || made(operations))?;
    let times: Vec<f64> = timed.iter().map(|run| ms(run.0)).collect();
    let of_blocks = &timed[timed.len() / 2].1;
    let operations = u64::from(operations) * u64::from(each);
    Ok(Point {
        most: of_blocks.iter().max().map(|&n| n.into()),
        fewest: of_blocks.iter().min().map(|&n| n.into()),
        ..Point::timed(asked, operations, &times, fault)
    })
}

/// Lists the points for a device, without the peers that are not there and blocks that are not resident.
pub(crate) fn points(device: &AnyDevice, quick: bool) -> Result<Vec<Asked>> {
    let room = Room::of(device);
    let [single, mut grids] = [MUTEX, BARRIER].map(|part| room.shapes(part, false, quick));
    for (blocks, threads) in &mut grids {
        let launch = Launch::new(*blocks, *threads);
        *blocks = (*blocks).min(device.resident_blocks::<Meetings>(&launch)?);
    }
    grids.dedup();
    let counts: &[u64] = match (room.kind, quick) {
        (DeviceKind::Cpu, true) => &[1, 2],
        (DeviceKind::Cuda, true) => &[1, 10],
        (_, false) => &[1, 2, 10, 120],
    };
    let mutexes = MUTEXES.iter().map(|&(name, _)| (name, None));
    let barriers = barriers().chain([(GRID_SYNC, None)]);
    let of = |&count| semaphores(count).chain([(COUNTING_SEMAPHORE, Some(count))]);
    let semaphores = counts.iter().flat_map(of);
    let parts: [(_, _, Vec<Named>); 3] = [
        (MUTEX, &single, mutexes.collect()),
        (BARRIER, &grids, barriers.collect()),
        (SEMAPHORE, &single, semaphores.collect()),
    ];
    let mut all = Vec::new();
    for (part, shapes, named) in parts {
        for &shape in shapes {
            all.extend(named.iter().map(|of| asked(part, shape, *of)));
        }
    }
    all.retain(|asked| peers::why_missing(device, &asked.implementation).is_none());
    Ok(all)
}

pub(crate) fn asked(part: &str, shape: Shape, (name, count): Named) -> Asked {
    let count = count.map(|count| ("count", count));
    Asked::new(part, name, shape, count.as_slice())
}

/// Measures one point. What cannot be measured alone, as a peer that was not compiled or a grid that is not
/// resident, is a point without a time, whose note says why.
pub(crate) fn measure(device: &AnyDevice, asked: &Asked, quick: bool) -> Result<Point> {
    if let Some(why) = peers::why_missing(device, &asked.implementation) {
        return Ok(Point::without_time(asked, why));
    }
    // All blocks are resident, so each of them takes part from the beginning, and a peer may wait
    // for what the first one makes.
    let shape = Launch {
        cooperative: true,
        ..Launch::new(asked.blocks, asked.threads)
    };
    let wanted = move |sections| Wanted {
        device,
        shape,
        sections,
    };
    let (mut size, mut each) = (size(&asked.part, device.kind(), quick), 1);
    let name = asked.implementation.as_str();
    let launches: Checked<'_> = match asked.part.as_str() {
        // A name of no kind is that of the peer.
        BARRIER => waits(device, shape, barrier::Kind::from_name(name)),
        SEMAPHORE => {
            each = asked.blocks;
            size.0 = (size.0 / each.max(1)).max(1);
            let (kind, count) = (semaphore::Kind::from_name(name), asked.parameters["count"]);
            entries(device, shape, kind, count as u32)
        }
        CHOSEN => {
            let kind = chosen::Kind::from_name(name).expect("a kind of mutexes");
            Ok((None, Box::new(move |n| sections_of(wanted(n), kind))))
        }
        _ => {
            let (_, make) = (MUTEXES.iter().find(|of| of.0 == name)).expect("a mutex");
            Ok((None, Box::new(move |n| make(wanted(n)))))
        }
    };
    match launches.and_then(|launches| measured(asked, size, each, launches)) {
        Ok(point) => Ok(point.noted(of_default(device, &asked.implementation))),
        // A peer's compiler may be newer than the driver.
        Err(error @ Error::Host(host::Error::BadPtx { .. })) => {
            Ok(Point::without_time(asked, error.to_string()))
        }
        Err(error) => Point::or_note(asked, Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::peers::BINARY_SEMAPHORE;

    /// Makes up the launches of a point, of three operations for each one asked for, of which the
    /// i-th with so many operations takes so many milliseconds or leaves something wrong. The first
    /// trial makes 4. Returns the point, and the operations that were asked for.
    fn made_up(run: impl Fn(usize, u32) -> Result<u64, &'static str>) -> (Point, Vec<u32>) {
        let mut asked_for = Vec::new();
        let asked = Asked::new("mutex", "", (1, 1), &[]);
        let size = (1 << 14, Duration::from_millis(80));
        let launch = |operations| {
            asked_for.push(operations);
            let found = run(asked_for.len(), operations);
            let time = Duration::from_millis(found.unwrap_or(1));
            Ok((time, Vec::new(), found.err().map(str::to_owned)))
        };
        let point = measured(&asked, size, 3, (None, Box::new(launch)));
        (point.expect("launches"), asked_for)
    }

    #[test]
    fn a_full_run_has_the_points_of_the_tables() {
        let device = AnyDevice::cpu();
        let points = points(&device, false).expect("points");
        let cores = device.limits().processors;
        let counts = points.iter().filter_map(|of| of.parameters.get("count"));
        let counts: BTreeSet<u64> = counts.copied().collect();
        assert_eq!(counts, BTreeSet::from([1, 2, 10, 120]));
        for part in [MUTEX, BARRIER, SEMAPHORE] {
            let of = points.iter().filter(|asked| asked.part == part);
            let blocks: BTreeSet<u32> = of.map(|asked| asked.blocks).collect();
            assert_eq!(blocks, BTreeSet::from([1, cores]), "{part}");
        }
    }

    #[test]
    fn what_this_device_cannot_measure_is_a_point_without_a_time_that_says_why() {
        let device = AnyDevice::cpu();
        let tree = barrier::Kind::Tree.name();
        for (part, name, count, blocks, why) in [
            (MUTEX, BINARY_SEMAPHORE, None, 2, BINARY_SEMAPHORE),
            (BARRIER, GRID_SYNC, None, 2, GRID_SYNC),
            (SEMAPHORE, COUNTING_SEMAPHORE, Some(1), 2, "GPU"),
            // The number of blocks that would fit.
            (BARRIER, tree, None, 4097, "4096"),
        ] {
            let asked = asked(part, (blocks, 1), (name, count));
            let point = measure(&device, &asked, true).expect("a point");
            assert!(point.asked == asked && !point.verified, "{name}");
            assert_eq!((point.repeat, point.operations), (0, 0), "{name}");
            let note = point.note.expect("a note");
            assert!(note.contains(why), "{note}");
        }
    }

    #[test]
    fn grids_of_an_h200_are_those_of_the_tables() {
        let shapes = |part, processors| {
            let mut room = Room::of(&AnyDevice::cpu());
            (room.kind, room.resident) = (DeviceKind::Cuda, 2048 * u64::from(processors));
            room.limits.processors = processors;
            room.shapes(part, false, false)
        };
        let of_128 = [1, 8, 32, 132, 264, 528, 1056, 64, 128].map(|blocks| (blocks, 128));
        let others = [(132, 32), (132, 256)];
        assert_eq!(shapes(BARRIER, 132), [&of_128[..], &others].concat());
        let single = [1, 8, 32, 132, 528, 64, 128, 240, 512].map(|blocks| (blocks, 1));
        assert_eq!(shapes(MUTEX, 132), single);
        // On a small GPU no grid is asked for twice.
        let small = [1, 8, 32, 64, 128, 240, 512].map(|blocks| (blocks, 1));
        assert_eq!(shapes(MUTEX, 8), small);
    }

    #[test]
    fn fast_launches_make_the_most_operations_five_times() {
        let (point, asked_for) = made_up(|i, _| Ok([1, 3, 2, 1, 2, 3][i % 6]));
        assert_eq!(asked_for[..7], [4, 16, 64, 256, 1024, 4096, 1 << 14]);
        // Of 2, 3, 1, 3 and 2 ms.
        assert_eq!(asked_for[7..], [1 << 14; 5]);
        assert_eq!((point.operations, point.repeat), (3 << 14, 5));
        let times = [point.ms_min, point.ms, point.ms_max];
        let mut is = times.iter().zip([1.0, 2.0, 3.0]);
        assert!(is.all(|(ms, of)| (ms - of).abs() < 1e-9), "{times:?}");
        let per_s = f64::from(3 << 14) / 2e-3;
        assert!((point.per_s - per_s).abs() < 1.0);
    }

    #[test]
    fn slow_launches_make_as_many_as_fit_into_the_time() {
        let of = |ms_of: fn(u64) -> u64| {
            let (point, asked_for) = made_up(|_, operations| Ok(ms_of(operations.into())));
            (point.operations / 3, asked_for)
        };
        // 256 of them take 25 ms, and 1,024 take 102: too long, but 512 fit.
        let some = vec![4, 16, 64, 256, 1024, 512, 512, 512, 512, 512];
        assert_eq!(of(|n| n / 10), (512, some));
        // The least is made in any case, though it takes longer.
        assert_eq!(of(|n| n * 30), (4, vec![4; 6]));
        // And once, after the trial, if it takes longer than `ONCE`.
        assert_eq!(of(|n| n * 501), (4, vec![4; 2]));
        // Beyond 64 it goes a thousand times slower, which the next trial shows.
        let few = vec![4, 16, 64, 256, 8, 8, 8, 8, 8];
        assert_eq!(of(|n| if n <= 64 { 1 } else { n * 10 }), (8, few));
    }

    #[test]
    fn a_wrong_result_of_any_launch_is_not_verified() {
        // Of seven trials and five launches.
        for wrong in 1..=12 {
            let of = |i, _| (i != wrong).then_some(1).ok_or("a section is lost");
            let (point, _) = made_up(of);
            assert_eq!(point.note.as_deref(), Some("a section is lost"));
            assert!(!point.verified);
        }
    }
}
