//! Operations alone: sections on one mutex, waits at a barrier and entries into a semaphore,
//! a second (Stuart and Owens 2011, section 6), of each implementation and of its peer.
//!
//! [`points`] lists what is to be measured on a device, and [`measure`] measures one point,
//! whatever was measured before. Trial launches with more and more operations show how many
//! fit into the time of a launch, so that an implementation which is a thousand times slower
//! than another one takes as long. Results are checked: those of the mutex in each launch,
//! as its sections leave a count; those of barriers and semaphores in a launch beside the
//! timed ones, with a check in its loop (`stm_kernels::checked`).

mod barrier;
mod mutex;
mod semaphore;

pub(crate) use mutex::CHOSEN;

use super::peers::{self, COUNTING_SEMAPHORE, GRID_SYNC};
use crate::devices::{AnyDevice, DeviceKind};
use crate::error::{Error, Result};
use crate::measure::{ONCE, ms};
use crate::points::{Asked, Point};
use std::collections::BTreeSet;
use std::time::Duration;
use stm_core::host::{self, Device, Launch};

/// The timed launches of a point.
const REPEAT: usize = 5;

/// The time limit of a launch with barriers or semaphores, which takes far less unless a
/// thread waits for ever.
const LIMIT: Duration = Duration::from_mins(2);

/// The most operations of a launch, and the time that they may take, unless the fewest take longer.
type Size = (u32, Duration);

const fn size(most: u32, ms: u64) -> Size {
    (most, Duration::from_millis(ms))
}

/// The first trial launch makes the most operations divided by this, and at least one.
const FIRST: u32 = 4096;

/// Each trial launch makes so many times the operations of the one before.
const STEP: u32 = 4;

/// The trials end when one takes the time of a launch divided by this. It is not less, as
/// a thread of a busy CPU may lose milliseconds at once.
const ENOUGH: u32 = 2;

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) time: Duration,
    /// The operations of each block, where blocks may differ.
    pub(crate) made: Vec<u32>,
    /// What was wrong with the result.
    pub(crate) fault: Option<String>,
}

/// A launch in which all blocks do the same.
impl From<Duration> for Run {
    fn from(time: Duration) -> Self {
        Self {
            time,
            made: Vec::new(),
            fault: None,
        }
    }
}

/// Measures a point, given what makes a launch with so many operations, how many there are for each
/// one asked for, and what the check beside the launches has found wrong.
fn measured(
    asked: &Asked,
    (most, limit): Size,
    each: u32,
    mut fault: Option<String>,
    launch: &mut dyn FnMut(u32) -> Result<Run, host::Error>,
) -> Result<Point> {
    let mut made = |operations| -> Result<Run> {
        let mut run = launch(operations)?;
        fault = fault.take().or(run.fault.take());
        Ok(run)
    };
    let few = (most / FIRST).max(1);
    let mut operations = few;
    let mut trial = made(few)?;
    while operations < most && trial.time * ENOUGH < limit {
        operations = operations.saturating_mul(STEP).min(most);
        trial = made(operations)?;
    }
    let of_trial = u128::from(operations);
    let fits = |operations: u32| {
        trial.time.as_nanos() * u128::from(operations) <= limit.as_nanos() * of_trial
    };
    // Where many at a time are far slower than few, the last trial was too long.
    while operations / 2 >= few && !fits(operations) {
        operations /= 2;
    }
    while operations <= most / 2 && fits(2 * operations) {
        operations *= 2;
    }
    let mut timed = vec![made(operations)?];
    while timed.len() < REPEAT && timed[0].time <= ONCE {
        timed.push(made(operations)?);
    }
    timed.sort_by_key(|run| run.time);
    let times: Vec<f64> = timed.iter().map(|run| ms(run.time)).collect();
    let of_blocks = &timed[timed.len() / 2].made;
    Ok(Point {
        most: of_blocks.iter().max().map(|&n| n.into()),
        fewest: of_blocks.iter().min().map(|&n| n.into()),
        ..Point::timed(
            asked,
            u64::from(operations) * u64::from(each),
            &times,
            fault,
        )
    })
}

/// Lists the points for a device, without the peers that are not there. Barriers whose blocks would
/// not be resident together have as many blocks as are.
pub(crate) fn points(device: &AnyDevice, quick: bool) -> Result<Vec<Asked>> {
    let kind = device.kind();
    let blocks = blocks(kind, device.limits().processors, quick, TIMES);
    let grids: Vec<(u32, u32)> = blocks.into_iter().map(|blocks| (blocks, 1)).collect();
    let mutexes = mutex::IMPLEMENTATIONS.iter().map(|(name, _)| *name);
    let barriers = barrier::Kind::ALL.iter().map(|kind| kind.name());
    let semaphores = semaphore::Kind::ALL.iter().map(|kind| kind.name());
    let barriers = barriers.chain([GRID_SYNC]).collect();
    let semaphores = semaphores.chain([COUNTING_SEMAPHORE]).collect();
    let shapes = barrier::shapes_on(device, quick)?;
    let counts = semaphore::counts(kind, quick).iter();
    let counts = counts
        .map(|&count| vec![(semaphore::COUNT, count)])
        .collect();
    let mut all = Vec::new();
    for (part, shapes, parameters, names) in [
        (mutex::PART, &grids, vec![vec![]], mutexes.collect()),
        (barrier::PART, &shapes, vec![vec![]], barriers),
        (semaphore::PART, &grids, counts, semaphores),
    ] {
        let names: Vec<&str> = names;
        for &shape in shapes {
            for of in &parameters {
                all.extend(names.iter().map(|name| Asked::new(part, name, shape, of)));
            }
        }
    }
    all.retain(|asked| peers::why_missing(device, &asked.implementation).is_none());
    Ok(all)
}

/// Measures one point. What cannot be measured alone, as a peer that was not compiled or a
/// grid that is not resident, is a point without a time, whose note says why.
pub(crate) fn measure(device: &AnyDevice, asked: &Asked, quick: bool) -> Result<Point> {
    if let Some(why) = peers::why_missing(device, &asked.implementation) {
        return Ok(Point::without_time(asked, why));
    }
    let measured = match asked.part.as_str() {
        mutex::PART => mutex::measure(device, asked, quick),
        barrier::PART => barrier::measure(device, asked, quick),
        semaphore::PART => semaphore::measure(device, asked, quick),
        _ => return Err(unknown("part", &asked.part)),
    };
    match measured {
        // There is no such point.
        Err(error @ Error::Usage(_)) => Err(error),
        // A peer's compiler may be newer than the driver.
        Err(error @ Error::Host(host::Error::BadPtx { .. })) => {
            Ok(Point::without_time(asked, error.to_string()))
        }
        measured => Point::or_note(asked, measured),
    }
}

fn unknown(what: &str, name: &str) -> Error {
    Error::Usage(format!("there is no {what} {name:?} in `bench sync`"))
}

fn parameter(asked: &Asked, name: &str) -> Result<u32> {
    let value = asked.parameters.get(name);
    let value = value.and_then(|&n| u32::try_from(n).ok());
    value.ok_or_else(|| {
        let part = &asked.part;
        Error::Usage(format!("a point of the {part} needs a number for {name:?}"))
    })
}

/// Returns the launch of a point. All blocks are resident, so each of them takes part from the
/// beginning, and a peer may wait for what the first one makes.
const fn shape(asked: &Asked) -> Launch {
    Launch {
        cooperative: true,
        ..Launch::new(asked.blocks, asked.threads)
    }
}

/// Returns numbers of blocks: on a GPU small ones, so many times the number of its
/// multiprocessors, and after these `others`, which the figures of Stuart and Owens 2011
/// have. On the CPU there is a block for each core and no more: threads that wait
/// in turn for one that does not run show the scheduler of the system.
fn blocks(
    kind: DeviceKind,
    processors: u32,
    quick: bool,
    (times, others): (&[u32], &[u32]),
) -> Vec<u32> {
    let mut all = vec![1];
    match kind {
        DeviceKind::Cuda if !quick => {
            all.extend([8, 32]);
            all.extend(times.iter().map(|n| n * processors));
            all.extend(others);
        }
        _ => all.push(processors),
    }
    let mut seen = BTreeSet::new();
    all.retain(|&blocks| seen.insert(blocks));
    all
}

/// The numbers of multiprocessors by which mutexes and semaphores have blocks, and the
/// numbers of blocks of the papers' figures: those of half a Fermi and of all of it, of a
/// Tesla, and of Gattani and Anickode.
const TIMES: (&[u32], &[u32]) = (&[1, 4], &[64, 128, 240, 512]);

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
        let point = measured(&asked, size(1 << 14, 80), 3, None, &mut |operations| {
            asked_for.push(operations);
            let found = run(asked_for.len(), operations);
            Ok(Run {
                fault: found.err().map(str::to_owned),
                ..Duration::from_millis(found.unwrap_or(1)).into()
            })
        });
        (point.expect("launches"), asked_for)
    }

    #[test]
    fn every_quick_point_of_the_cpu_is_verified_and_answers_what_was_asked() {
        let device = AnyDevice::cpu();
        let points = points(&device, true).expect("points");
        let ours = mutex::IMPLEMENTATIONS.len() - 1;
        let kinds = [barrier::Kind::ALL.len(), semaphore::Kind::ALL.len()];
        let parts = [mutex::PART, barrier::PART, semaphore::PART];
        for (part, count) in parts.into_iter().zip([ours, kinds[0], kinds[1]]) {
            let of = points.iter().filter(|asked| asked.part == part);
            let names: BTreeSet<&str> = of.map(|asked| asked.implementation.as_str()).collect();
            // Peers are not there.
            assert_eq!(names.len(), count, "{names:?}");
        }
        // Backwards, as one that goes on after an interruption begins anywhere.
        for asked in points.iter().rev() {
            let point = measure(&device, asked, true).expect("a measurement");
            assert!(point.verified, "{point:?}");
            // What suits the device is said, and nothing else is to be.
            let is_default = asked.implementation.starts_with("default");
            assert_eq!(point.note.is_some(), is_default, "{point:?}");
            assert!(point.per_s > 0.0 && point.ms_min > 0.0, "{point:?}");
            assert!(point.ms_min <= point.ms && point.ms <= point.ms_max);
            assert!(point.repeat == 5 || point.repeat == 1);
            // One point answers it, and no other one.
            assert!(points.iter().filter(|asked| point.answers(asked)).count() == 1);
            assert!(point.answers(asked));
            match (asked.part.as_str(), point.most, point.fewest) {
                (mutex::PART, Some(most), Some(fewest)) => {
                    assert!(fewest <= most && most <= point.operations);
                    if asked.blocks == 1 {
                        assert_eq!((most, fewest), (point.operations, point.operations));
                    }
                }
                (part, None, None) => assert_ne!(part, mutex::PART),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_full_run_has_the_points_of_the_tables() {
        let device = AnyDevice::cpu();
        let points = points(&device, false).expect("points");
        let cores = device.limits().processors;
        let counts: BTreeSet<u64> = (points.iter())
            .filter_map(|asked| asked.parameters.get("count").copied())
            .collect();
        assert_eq!(counts, BTreeSet::from([1, 2, 10, 120]));
        for part in [mutex::PART, barrier::PART, semaphore::PART] {
            let of = points.iter().filter(|asked| asked.part == part);
            let blocks: BTreeSet<u32> = of.map(|asked| asked.blocks).collect();
            assert_eq!(blocks, BTreeSet::from([1, cores]), "{part}");
        }
    }

    #[test]
    fn what_this_device_cannot_measure_is_a_point_without_a_time_that_says_why() {
        let device = AnyDevice::cpu();
        let tree = barrier::Kind::Tree.name();
        for (part, name, blocks, why) in [
            (mutex::PART, BINARY_SEMAPHORE, 2, BINARY_SEMAPHORE),
            (barrier::PART, GRID_SYNC, 2, GRID_SYNC),
            (semaphore::PART, COUNTING_SEMAPHORE, 2, "GPU"),
            // The number of blocks that would fit.
            (barrier::PART, tree, 4097, "4096"),
        ] {
            let asked = Asked::new(part, name, (blocks, 1), &[("count", 1)]);
            let point = measure(&device, &asked, true).expect("a point");
            assert!(point.answers(&asked) && !point.verified, "{name}");
            assert_eq!((point.repeat, point.operations), (0, 0), "{name}");
            let note = point.note.expect("a note");
            assert!(note.contains(why), "{note}");
        }
    }

    #[test]
    fn unknown_names_and_missing_parameters_are_refused() {
        let device = AnyDevice::cpu();
        for (part, name) in [
            ("mutexes", "tas"),
            (mutex::PART, "tass"),
            (barrier::PART, "tas"),
            (semaphore::PART, "tas"),
            // It has no count.
            (semaphore::PART, "spin"),
        ] {
            let asked = Asked::new(part, name, (1, 1), &[]);
            let error = measure(&device, &asked, true);
            assert!(matches!(error, Err(Error::Usage(_))), "{part} {name}");
        }
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
        // And once, after the trial, if it takes longer than [`ONCE`].
        assert_eq!(of(|n| n * 501), (4, vec![4; 2]));
        // Beyond 64 it goes a thousand times slower, which the next trial shows.
        let few = vec![4, 16, 64, 256, 8, 8, 8, 8, 8];
        assert_eq!(of(|n| if n <= 64 { 1 } else { n * 10 }), (8, few));
    }

    #[test]
    fn a_wrong_result_of_any_launch_is_not_verified() {
        // Of seven trials and five launches.
        for wrong in 1..=12 {
            let (point, _) = made_up(|i, _| {
                if i == wrong {
                    Err("a section is lost")
                } else {
                    Ok(1)
                }
            });
            assert_eq!(point.note.as_deref(), Some("a section is lost"));
            assert!(!point.verified);
        }
    }
}
