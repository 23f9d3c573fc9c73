//! The rates of semaphores, as in Stuart and Owens 2011 (section 6): one thread of each block
//! enters and leaves, with nothing to do inside.

use super::document::Semaphore;
use super::sizes::Sizes;
use super::{LIMIT, median, net};
use crate::devices::AnyDevice;
use crate::error::Result;
use stm_core::host::{Device, Launch, Watchdog};
use stm_core::observe::Observation;
use stm_kernels::machine::{Entries, EntriesParams};
use stm_sync::host::Semaphores;
use stm_sync::semaphore::Kind;

/// Measures every semaphore with every count and number of blocks that are resident together.
pub(super) fn measure(
    device: &AnyDevice,
    sizes: &Sizes,
    say: &impl Fn(String),
) -> Result<Vec<Semaphore>> {
    say("compiling the semaphores".into());
    device.prepare::<Entries>(Observation::Silent)?;
    let mut watchdog = Watchdog::new(device, Some(LIMIT))?;
    let mut found = Vec::new();
    for &blocks in &sizes.entering {
        let launch = Launch {
            cooperative: true,
            ..Launch::new(blocks, sizes.meeting_threads)
        };
        if device.resident_blocks::<Entries>(&launch)? < blocks {
            continue;
        }
        for &count in &sizes.counts {
            for &kind in Kind::ALL {
                let name = kind.name();
                say(format!("the semaphore {name} of {count}, {blocks} blocks"));
                let semaphores = Semaphores::chosen(device, kind, 1, count, watchdog.stop())?;
                let mut time = |times| {
                    let params = EntriesParams {
                        semaphores: semaphores.view(),
                        times,
                    };
                    median(sizes.times, || {
                        // SAFETY: the semaphore and its watchdog live until the launch has
                        // ended; after an error the semaphore is not used again.
                        unsafe { watchdog.launch::<Entries>(device, &launch, &params) }
                    })
                };
                let ns = net(time(sizes.entries)?, time(0)?);
                found.push(Semaphore {
                    blocks,
                    threads: sizes.meeting_threads,
                    count,
                    algorithm: name.into(),
                    per_s: f64::from(blocks) * f64::from(sizes.entries) / ns * 1e9,
                });
            }
        }
    }
    Ok(found)
}
