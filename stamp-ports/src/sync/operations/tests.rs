use super::*;
use crate::sync::peers::{BINARY_SEMAPHORE, COUNTING_SEMAPHORE, GRID_SYNC};
use std::collections::BTreeSet;
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
fn a_peer_that_is_not_there_is_a_point_without_a_time_that_says_so() {
    let device = AnyDevice::cpu();
    for (part, name) in [
        (mutex::PART, BINARY_SEMAPHORE),
        (barrier::PART, GRID_SYNC),
        (semaphore::PART, COUNTING_SEMAPHORE),
    ] {
        let asked = Asked::new(part, name, (2, 1), &[("count", 1)]);
        let point = measure(&device, &asked, Effort::Quick).expect("a point");
        assert!(point.answers(&asked) && !point.verified);
        assert_eq!((point.repeat, point.operations), (0, 0));
        let note = point.note.expect("a note");
        assert!(note.contains(name) && note.contains("GPU"), "{note}");
    }
}

#[test]
fn a_grid_that_does_not_fit_is_a_point_with_the_number_that_would() {
    let device = AnyDevice::cpu();
    let asked = Asked::new(barrier::PART, BarrierKind::Tree.name(), (4097, 1), &[]);
    let point = measure(&device, &asked, Effort::Quick).expect("a point");
    let note = point.note.expect("a note");
    assert!(note.contains("4096") && !point.verified, "{note}");
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
    let runs = runs(SIZE, |operations| {
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
        let found = runs(SIZE, |operations| {
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
    // And once, after the trial, if it takes over two seconds.
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
        let runs = runs(SIZE, |_| {
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
