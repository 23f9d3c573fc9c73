//! The times of barriers and the rates of semaphores, each measured and checked as a point of
//! `bench sync`.

use super::document::{Barrier, Semaphore};
use super::sizes::Sizes;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::points::{Asked, Point};
use crate::sync::operations::{self, Effort};
use stm_core::host;
use stm_sync::barrier::Kind as BarrierKind;
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
    for &blocks in &sizes.meetings {
        for &kind in BarrierKind::ALL {
            let shape = (blocks, sizes.meeting_threads);
            let asked = Asked::new("barrier", kind.name(), shape, &[]);
            found.extend(point(device, &asked, say)?.map(|point| Barrier {
                blocks,
                threads: asked.threads,
                algorithm: asked.implementation,
                ns: 1e9 / point.per_s,
            }));
        }
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
