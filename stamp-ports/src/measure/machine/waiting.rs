//! The times of barriers and the rates of semaphores, each measured and checked as a point of
//! `bench sync`.
//!
//! With them are the rates of mutexes: the first thread of each block makes sections until all have made a
//! given number together, so that a mutex which serves some blocks first is seen to.

use super::{Barrier, Mutex, Semaphore, Sizes, median, net};
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::points::{Asked, Point};
use crate::sync::operations::{self, Effort, made_on};
use std::time::Duration;
use stm_core::host::{self, Device, Launch};
use stm_core::internal::observe::Observation;
use stm_kernels::sections::SectionsChosen;
use stm_sync::barrier::Kind as BarrierKind;
use stm_sync::chosen::Kind;
use stm_sync::host::Locks;
use stm_sync::semaphore::Kind as SemaphoreKind;

/// Measures a point. There is none of blocks that are not resident together.
fn point(device: &AnyDevice, asked: &Asked, say: &impl Fn(String)) -> Result<Option<Point>> {
    let (part, of, blocks) = (&asked.part, &asked.implementation, asked.blocks);
    say(format!("the {part} {of} of {blocks} blocks"));
    let point = operations::measure(device, asked, Effort::Quick)?;
    match (point.repeat, point.verified) {
        (0, _) => Ok(None),
        (_, true) => Ok(Some(point)),
        (_, false) => {
            let what = point.note.unwrap_or_default();
            Err(host::Error::Corrupt { what }.into())
        }
    }
}

/// Measures every barrier with every number of blocks that are resident together.
pub(super) fn barriers(
    device: &AnyDevice,
    sizes: &Sizes,
    say: &impl Fn(String),
) -> Result<Vec<Barrier>> {
    let mut found = Vec::new();
    let kinds = || BarrierKind::ALL.iter().map(|kind| kind.name());
    let all = sizes
        .meetings
        .iter()
        .flat_map(|&n| kinds().map(move |kind| (n, kind)));
    for (blocks, kind) in all {
        let asked = Asked::new("barrier", kind, (blocks, sizes.meeting_threads), &[]);
        found.extend(point(device, &asked, say)?.map(|point| Barrier {
            blocks,
            threads: asked.threads,
            algorithm: asked.implementation,
            ns: 1e9 / point.per_s,
        }));
    }
    Ok(found)
}

/// Measures every semaphore with every count and number of blocks that are resident together.
pub(super) fn semaphores(
    device: &AnyDevice,
    sizes: &Sizes,
    say: &impl Fn(String),
) -> Result<Vec<Semaphore>> {
    let mut found = Vec::new();
    for &blocks in &sizes.entering {
        for &count in &sizes.counts {
            for &kind in SemaphoreKind::ALL {
                let (shape, count_of) = ((blocks, sizes.meeting_threads), ("count", count.into()));
                let asked = Asked::new("semaphore", kind.name(), shape, &[count_of]);
                found.extend(point(device, &asked, say)?.map(|point| Semaphore {
                    blocks,
                    threads: asked.threads,
                    count,
                    algorithm: asked.implementation,
                    per_s: point.per_s,
                }));
            }
        }
    }
    Ok(found)
}

/// Measures every mutex with every number of blocks that are resident together.
pub(super) fn mutexes(
    device: &AnyDevice,
    sizes: &Sizes,
    say: &impl Fn(String),
) -> Result<Vec<Mutex>> {
    say("compiling the mutexes".into());
    device.prepare::<SectionsChosen>(Observation::Silent)?;
    let mut found = Vec::new();
    for &blocks in &sizes.locking {
        // All blocks come from the beginning.
        let launch = Launch {
            cooperative: true,
            ..Launch::new(blocks, 1)
        };
        if device.resident_blocks::<SectionsChosen>(&launch)? < blocks {
            continue;
        }
        for &kind in Kind::ALL {
            say(format!("the mutex {}, {blocks} blocks", kind.name()));
            let (mut ratio, mut unfairest) = (0.0, (0, 0));
            let with = median(sizes.times, || {
                let (time, made) = sections(device, &launch, kind, sizes.sections)?;
                let most = made.iter().copied().max().unwrap_or(0);
                let fewest = made.iter().copied().min().unwrap_or(0);
                if f64::from(most) / f64::from(fewest) > ratio {
                    ratio = f64::from(most) / f64::from(fewest);
                    unfairest = (most, fewest);
                }
                Ok(time)
            })?;
            let without = median(sizes.times, || {
                sections(device, &launch, kind, 0).map(|(time, _)| time)
            })?;
            found.push(Mutex {
                blocks,
                algorithm: kind.name().into(),
                per_s: f64::from(sizes.sections) / net(with, without) * 1e9,
                most: unfairest.0,
                fewest: unfairest.1,
            });
        }
    }
    Ok(found)
}

/// Makes so many sections, and returns the time and how many each block has made.
fn sections(
    device: &AnyDevice,
    launch: &Launch,
    kind: Kind,
    sections: u32,
) -> std::result::Result<(Duration, Vec<u32>), host::Error> {
    let locks = Locks::chosen(device, kind, 1, launch.blocks.into(), "the mutex")?;
    let run = made_on(device, launch, sections, &locks, 1)?;
    match run.fault {
        None => Ok((run.time, run.made)),
        Some(what) => Err(host::Error::Corrupt { what }),
    }
}
