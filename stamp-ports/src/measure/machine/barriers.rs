//! The times of barriers across blocks.

use super::document::Barrier;
use super::sizes::Sizes;
use super::{LIMIT, median, net};
use crate::devices::AnyDevice;
use crate::error::Result;
use stm_core::host::{Device, Launch, Watchdog};
use stm_core::observe::Observation;
use stm_kernels::machine::{Meetings, MeetingsParams};
use stm_sync::barrier::Kind;
use stm_sync::host::GridBarrier;

/// Measures every barrier with every number of blocks that are resident together.
pub(super) fn measure(
    device: &AnyDevice,
    sizes: &Sizes,
    say: &impl Fn(String),
) -> Result<Vec<Barrier>> {
    say("compiling the barriers".into());
    device.prepare::<Meetings>(Observation::Silent)?;
    let mut watchdog = Watchdog::new(device, Some(LIMIT))?;
    let mut found = Vec::new();
    for &blocks in &sizes.meetings {
        let launch = Launch::new(blocks, sizes.meeting_threads);
        if device.resident_blocks::<Meetings>(&launch)? < blocks {
            continue;
        }
        for &kind in Kind::ALL {
            say(format!("the barrier {} of {blocks} blocks", kind.name()));
            let mut barrier = GridBarrier::chosen(device, kind, launch, watchdog.stop())?;
            let mut time = |waits| {
                median(sizes.times, || {
                    let barrier_of = barrier.view();
                    let params = MeetingsParams {
                        barrier: barrier_of,
                        waits,
                    };
                    // SAFETY: the barrier and its watchdog live until the launch has ended.
                    unsafe { barrier.launch::<Meetings>(&mut watchdog, &params) }
                })
            };
            let ns = net(time(sizes.waits)?, time(0)?);
            found.push(Barrier {
                blocks,
                threads: sizes.meeting_threads,
                algorithm: kind.name().into(),
                ns: ns / f64::from(sizes.waits),
            });
        }
    }
    Ok(found)
}
