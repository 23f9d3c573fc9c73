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

pub(crate) use mutex::made_on;

use super::peers::{self, Peers};
use crate::devices::{AnyDevice, DeviceKind};
use crate::error::{Error, Result};
use crate::measure::{ONCE, ms};
use crate::points::{Asked, Point};
use std::collections::BTreeSet;
use std::time::Duration;
use stm_core::host::{self, Launch};

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Few points and short launches, to see that all works.
    Quick,
    /// What the tables show.
    Full,
}

/// The timed launches of a point.
const REPEAT: usize = 5;

/// The time limit of a launch with barriers or semaphores, which takes far less unless a
/// thread waits for ever.
const LIMIT: Duration = Duration::from_mins(2);

/// The operations of a launch.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// The most.
    most: u32,
    /// The time that they may take, unless the fewest take longer.
    time: Duration,
}

/// The first trial launch makes the most operations divided by this, and at least one.
const FIRST: u32 = 4096;

/// Each trial launch makes so many times the operations of the one before.
const STEP: u32 = 4;

/// The trials end when one takes the time of a launch divided by this. It is not less, as
/// a thread of a busy CPU may lose milliseconds at once.
const ENOUGH: u32 = 2;

/// One launch.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) time: Duration,
    /// The operations of each block, where blocks may differ.
    pub(crate) made: Vec<u32>,
    /// What was wrong with the result.
    pub(crate) fault: Option<String>,
}

/// Makes a run of a launch in which all blocks do the same.
fn run_of(time: Result<Duration, host::Error>) -> Result<Run, host::Error> {
    Ok(Run {
        time: time?,
        made: Vec::new(),
        fault: None,
    })
}

/// The launches of a point.
#[derive(Debug)]
struct Runs {
    /// The operations that each was asked for.
    operations: u32,
    /// At least one, the fastest first.
    timed: Vec<Run>,
    /// What was wrong in any of them or in a trial.
    fault: Option<String>,
}

/// Makes the launches of a point, given what makes one with so many operations.
fn runs(
    size: Size,
    launch: &mut dyn FnMut(u32) -> Result<Run, host::Error>,
) -> Result<Runs, host::Error> {
    let few = (size.most / FIRST).max(1);
    let mut operations = few;
    let mut trial = launch(few)?;
    let mut fault = trial.fault.take();
    while operations < size.most && trial.time * ENOUGH < size.time {
        operations = operations.saturating_mul(STEP).min(size.most);
        trial = launch(operations)?;
        fault = fault.or(trial.fault.take());
    }
    let of_trial = u128::from(operations);
    let fits = |operations: u32| {
        trial.time.as_nanos() * u128::from(operations) <= size.time.as_nanos() * of_trial
    };
    // Where many at a time are far slower than few, the last trial was too long.
    while operations / 2 >= few && !fits(operations) {
        operations /= 2;
    }
    while operations <= size.most / 2 && fits(2 * operations) {
        operations *= 2;
    }
    let mut timed = vec![launch(operations)?];
    while timed.len() < REPEAT && timed[0].time <= ONCE {
        timed.push(launch(operations)?);
    }
    timed.sort_by_key(|run| run.time);
    let mut faults = timed.iter().map(|run| run.fault.clone());
    let fault = fault.or_else(|| faults.find_map(|fault| fault));
    Ok(Runs {
        operations,
        timed,
        fault,
    })
}

impl Runs {
    /// Returns the point, given how many operations there were for each one asked for, and
    /// what the check beside the launches has found wrong.
    fn point(&self, asked: &Asked, each: u32, fault: Option<String>) -> Point {
        let median = &self.timed[self.timed.len() / 2];
        let times: Vec<f64> = self.timed.iter().map(|run| ms(run.time)).collect();
        let operations = u64::from(self.operations) * u64::from(each);
        let fault = fault.or_else(|| self.fault.clone());
        Point {
            most: median.made.iter().max().map(|&n| n.into()),
            fewest: median.made.iter().min().map(|&n| n.into()),
            ..Point::timed(asked, operations, &times, fault)
        }
    }
}

/// Lists the points for a device. Barriers whose blocks would not be resident together
/// have as many blocks as are.
pub fn points(device: &AnyDevice, effort: Effort, peers: &Peers) -> Result<Vec<Asked>> {
    let mut all = mutex::points(device, effort, peers);
    all.extend(barrier::points(device, effort, peers)?);
    all.extend(semaphore::points(device, effort, peers));
    Ok(all)
}

/// Measures one point. What cannot be measured alone, as a peer that was not compiled or a
/// grid that is not resident, is a point without a time, whose note says why.
///
/// # Errors
/// A part or an implementation of another name, or an error of the device after which
/// nothing else can be measured.
pub fn measure(device: &AnyDevice, asked: &Asked, effort: Effort) -> Result<Point> {
    if let Some(why) = peers::why_missing(device, &asked.implementation) {
        return Ok(Point::without_time(asked, why));
    }
    let measured = match asked.part.as_str() {
        mutex::PART => mutex::measure(device, asked, effort),
        barrier::PART => barrier::measure(device, asked, effort),
        semaphore::PART => semaphore::measure(device, asked, effort),
        _ => return Err(unknown("part", &asked.part)),
    };
    match measured {
        Err(Error::Host(error)) if is_of_this_point(&error) => {
            let why = Error::Host(error).to_string();
            Ok(Point::without_time(asked, why))
        }
        measured => measured,
    }
}

/// Returns whether other points can be measured after this error.
const fn is_of_this_point(error: &host::Error) -> bool {
    use host::Error as E;
    matches!(
        error,
        E::LaunchTooLarge { .. }
            | E::StillWaiting { .. }
            | E::LockMisused { .. }
            | E::LockTimeout { .. }
            | E::OtherGrid { .. }
            | E::OutOfMemory { .. }
            | E::NotCooperative
            | E::NoThreads { .. }
            | E::NoPtx { .. }
            | E::BadPtx { .. }
            | E::StalePtx { .. }
            | E::OtherParameters { .. }
    )
}

/// The error for a name that nothing has.
fn unknown(what: &str, name: &str) -> Error {
    Error::Usage(format!("there is no {what} {name:?} in `bench sync`"))
}

/// Returns a parameter of a point.
fn parameter(asked: &Asked, name: &str) -> Result<u32> {
    let value = asked.parameters.get(name);
    let value = value.and_then(|&n| u32::try_from(n).ok());
    value.ok_or_else(|| {
        let part = &asked.part;
        Error::Usage(format!("a point of the {part} needs a number for {name:?}"))
    })
}

/// Returns the launch of a point. All blocks are resident, so each of them takes part from
/// the beginning, and a peer may wait for what the first one makes.
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
    effort: Effort,
    (times, others): (&[u32], &[u32]),
) -> Vec<u32> {
    let mut all = vec![1];
    match (kind, effort) {
        (_, Effort::Quick) | (DeviceKind::Cpu, _) => all.push(processors),
        (DeviceKind::Cuda, Effort::Full) => {
            all.extend([8, 32]);
            all.extend(times.iter().map(|n| n * processors));
            all.extend(others);
        }
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
    use crate::sync::peers::{BINARY_SEMAPHORE, COUNTING_SEMAPHORE, GRID_SYNC};
    use stm_core::host::{Buffer, Device};
    use stm_sync::barrier::Kind as BarrierKind;
    use stm_sync::semaphore::Kind as SemaphoreKind;

    /// Makes a run of so many milliseconds.
    fn run(ms: u64) -> Run {
        Run {
            time: Duration::from_millis(ms),
            made: Vec::new(),
            fault: None,
        }
    }

    /// A launch that leaves these words.
    pub(super) fn leaves(
        words: &[u32],
    ) -> impl FnOnce(&Buffer<AnyDevice, u32>) -> Result<Duration, host::Error> {
        |buffer| {
            for (i, n) in words.iter().enumerate() {
                // SAFETY: on the CPU this is memory of this program, and live.
                unsafe { buffer.as_mut_ptr().add(i).write(*n) };
            }
            Ok(Duration::ZERO)
        }
    }

    /// The size in the tests of launches that are made up. The first trial makes 4 operations.
    const SIZE: Size = Size {
        most: 1 << 14,
        time: Duration::from_millis(80),
    };

    #[test]
    fn every_quick_point_of_the_cpu_is_verified_and_answers_what_was_asked() {
        let device = AnyDevice::cpu();
        let points = points(&device, Effort::Quick, &Peers::default()).expect("points");
        let names = |part: &str| -> BTreeSet<&str> {
            let of = points.iter().filter(|asked| asked.part == part);
            of.map(|asked| asked.implementation.as_str()).collect()
        };
        let barriers = BarrierKind::ALL.iter().map(|kind| kind.name());
        assert_eq!(names(barrier::PART), barriers.collect());
        let semaphores = SemaphoreKind::ALL.iter().map(|kind| kind.name());
        assert_eq!(names(semaphore::PART), semaphores.collect());
        let ours = mutex::IMPLEMENTATIONS.iter().map(|(name, _)| *name);
        let ours: BTreeSet<_> = ours.filter(|&name| name != BINARY_SEMAPHORE).collect();
        assert!(names(mutex::PART) == ours && ours.len() >= 11);
        // Backwards, as one that goes on after an interruption begins anywhere.
        for asked in points.iter().rev() {
            let text = serde_json::to_string(asked).expect("JSON");
            let asked: Asked = serde_json::from_str(&text).expect("what was asked");
            let point = measure(&device, &asked, Effort::Quick).expect("a measurement");
            assert!(point.verified, "{point:?}");
            // What suits the device is said, and nothing else is to be.
            let is_default = asked.implementation.starts_with("default");
            assert_eq!(point.note.is_some(), is_default, "{point:?}");
            assert!(point.per_s > 0.0 && point.ms_min > 0.0, "{point:?}");
            assert!(point.ms_min <= point.ms && point.ms <= point.ms_max);
            assert!(point.repeat == 5 || point.repeat == 1);
            let text = serde_json::to_string(&point).expect("JSON");
            assert_eq!(
                serde_json::from_str::<Point>(&text).expect("a point"),
                point
            );
            // One point answers it, and no other one.
            assert!(points.iter().filter(|asked| point.answers(asked)).count() == 1);
            assert!(point.answers(&asked));
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
        let points = points(&device, Effort::Full, &Peers::default()).expect("points");
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
        let again = super::points(&device, Effort::Full, &Peers::default()).expect("points");
        assert_eq!(points, again);
    }

    #[test]
    fn what_this_device_cannot_measure_is_a_point_without_a_time_that_says_why() {
        let device = AnyDevice::cpu();
        let tree = BarrierKind::Tree.name();
        for (part, name, blocks, why) in [
            (mutex::PART, BINARY_SEMAPHORE, 2, BINARY_SEMAPHORE),
            (barrier::PART, GRID_SYNC, 2, GRID_SYNC),
            (semaphore::PART, COUNTING_SEMAPHORE, 2, "GPU"),
            // The number of blocks that would fit.
            (barrier::PART, tree, 4097, "4096"),
        ] {
            let asked = Asked::new(part, name, (blocks, 1), &[("count", 1)]);
            let point = measure(&device, &asked, Effort::Quick).expect("a point");
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
            let error = measure(&device, &asked, Effort::Quick);
            assert!(matches!(error, Err(Error::Usage(_))), "{part} {name}");
        }
    }

    #[test]
    fn fast_launches_make_the_most_operations_five_times() {
        let mut asked_for = Vec::new();
        let runs = runs(SIZE, &mut |operations| {
            asked_for.push(operations);
            Ok(run([1, 3, 2, 1, 2, 3][asked_for.len() % 6]))
        });
        assert_eq!(asked_for[..7], [4, 16, 64, 256, 1024, 4096, 1 << 14]);
        // Of 2, 3, 1, 3 and 2 ms.
        assert_eq!(asked_for[7..], [1 << 14; 5]);
        let asked = Asked::new("mutex", "", (1, 1), &[]);
        let point = runs.expect("runs").point(&asked, 3, None);
        assert_eq!((point.operations, point.repeat), (3 << 14, 5));
        let times = [point.ms_min, point.ms, point.ms_max];
        let mut is = times.iter().zip([1.0, 2.0, 3.0]);
        assert!(is.all(|(ms, of)| (ms - of).abs() < 1e-9), "{times:?}");
        let per_s = f64::from(3 << 14) / 2e-3;
        assert!((point.per_s - per_s).abs() < 1.0);
    }

    #[test]
    fn slow_launches_make_as_many_as_fit_into_the_time() {
        let of = |ms_of: &dyn Fn(u32) -> u64| {
            let mut asked_for = Vec::new();
            let found = runs(SIZE, &mut |operations| {
                asked_for.push(operations);
                Ok(run(ms_of(operations)))
            });
            (found.expect("runs").operations, asked_for)
        };
        // 256 of them take 25 ms, and 1,024 take 102: too long, but 512 fit.
        let (operations, asked_for) = of(&|n| u64::from(n) / 10);
        assert_eq!(operations, 512);
        assert_eq!(asked_for, [4, 16, 64, 256, 1024, 512, 512, 512, 512, 512]);
        // The least is made in any case, though it takes longer.
        assert_eq!(of(&|n| u64::from(n) * 30), (4, vec![4; 6]));
        // And once, after the trial, if it takes longer than [`ONCE`].
        assert_eq!(of(&|n| u64::from(n) * 501), (4, vec![4; 2]));
        // Beyond 64 it goes a thousand times slower, which the next trial shows.
        let (operations, asked_for) = of(&|n| if n <= 64 { 1 } else { u64::from(n) * 10 });
        assert_eq!(operations, 8);
        assert_eq!(asked_for, [4, 16, 64, 256, 8, 8, 8, 8, 8]);
    }

    #[test]
    fn a_wrong_result_of_any_launch_is_not_verified() {
        // Of seven trials and five launches.
        for wrong in 0..12 {
            let mut launches = 0;
            let runs = runs(SIZE, &mut |_| {
                let mut run = run(1);
                run.fault = (launches == wrong).then(|| "a section is lost".into());
                launches += 1;
                Ok(run)
            });
            let point = runs
                .expect("runs")
                .point(&Asked::new("mutex", "", (1, 1), &[]), 1, None);
            assert_eq!(point.note.as_deref(), Some("a section is lost"));
            assert!(!point.verified);
        }
    }
}
