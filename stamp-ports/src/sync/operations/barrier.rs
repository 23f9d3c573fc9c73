//! Waits at a barrier of the whole grid: all threads wait again and again, with nothing
//! between. An operation is a wait of the grid.

use super::{Effort, LIMIT, Size, blocks, run_of, runs, shape, unknown};
use crate::devices::{AnyDevice, DeviceKind};
use crate::error::Result;
use crate::points::{Asked, Point};
use crate::sync::peers::{BarrierParams, CheckedMeetingsPeer, GRID_SYNC, MeetingsPeer, Peers};
use std::time::Duration;
use stm_core::host::{Buffer, Device, Error, Launch};
use stm_core::internal::host::Watchdog;
use stm_kernels::checked::{CheckedMeetings, CheckedMeetingsParams};
use stm_kernels::machine::{Meetings, MeetingsParams};
use stm_sync::barrier::Kind;
use stm_sync::host::GridBarrier;

/// The name of this part.
pub(super) const PART: &str = "barrier";

/// The waits of the launch with a check.
const CHECKED: u32 = 100;

/// Returns the blocks and threads of all grids, as if any fitted.
fn shapes(kind: DeviceKind, processors: u32, effort: Effort) -> Vec<(u32, u32)> {
    // The usual threads of a block, and others.
    let (usual, other): (u32, &[u32]) = match kind {
        DeviceKind::Cuda => (128, &[32, 256]),
        DeviceKind::Cpu => (1, &[2]),
    };
    let blocks = blocks(kind, processors, effort, (&[1, 2, 4, 8], &[64, 128]));
    let mut shapes: Vec<(u32, u32)> = blocks.into_iter().map(|blocks| (blocks, usual)).collect();
    if effort == Effort::Full {
        shapes.extend(other.iter().map(|&threads| (processors, threads)));
    }
    shapes
}

/// Lists the points.
pub(super) fn points(device: &AnyDevice, effort: Effort, peers: &Peers) -> Result<Vec<Asked>> {
    let mut shapes = shapes(device.kind(), device.limits().processors, effort);
    for (blocks, threads) in &mut shapes {
        let launch = Launch::new(*blocks, *threads);
        *blocks = (*blocks).min(device.resident_blocks::<Meetings>(&launch)?);
    }
    shapes.dedup();
    let mut all = Vec::new();
    for shape in shapes {
        let kinds = Kind::ALL.iter().map(|kind| kind.name());
        let peer = peers.has(GRID_SYNC).then_some(GRID_SYNC);
        all.extend(
            kinds
                .chain(peer)
                .map(|name| Asked::new(PART, name, shape, &[])),
        );
    }
    Ok(all)
}

/// Measures one point.
pub(super) fn measure(device: &AnyDevice, asked: &Asked, effort: Effort) -> Result<Point> {
    let (most, ms) = match effort {
        Effort::Quick => (1 << 12, 10),
        Effort::Full => (1 << 13, 15),
    };
    let time = Duration::from_millis(ms);
    let size = Size { most, time };
    let shape = shape(asked);
    if asked.implementation == GRID_SYNC {
        let fault = checked(device, &shape, |words| {
            let params = BarrierParams {
                words: words.as_mut_ptr(),
                waits: CHECKED,
            };
            // SAFETY: the words live until the launch has ended.
            unsafe { device.launch::<CheckedMeetingsPeer>(&shape, &params) }
        })?;
        let runs = runs(size, &mut |waits| {
            let params = BarrierParams {
                words: std::ptr::null_mut(),
                waits,
            };
            // SAFETY: no memory is used.
            run_of(unsafe { device.launch::<MeetingsPeer>(&shape, &params) })
        })?;
        return Ok(runs.point(asked, 1, fault));
    }
    let Some(kind) = Kind::from_name(&asked.implementation) else {
        return Err(unknown(PART, &asked.implementation));
    };
    let mut watchdog = Watchdog::new(device, Some(LIMIT))?;
    let mut barrier = GridBarrier::chosen(device, kind, shape, watchdog.stop())?;
    let fault = checked(device, &shape, |words| {
        let params = CheckedMeetingsParams {
            barrier: barrier.view(),
            words: words.tarray(),
            waits: CHECKED,
        };
        // SAFETY: all of them live until the launch has ended.
        unsafe { barrier.launch::<CheckedMeetings>(&mut watchdog, &params) }
    })?;
    let runs = runs(size, &mut |waits| {
        let params = MeetingsParams {
            barrier: barrier.view(),
            waits,
        };
        // SAFETY: as above.
        run_of(unsafe { barrier.launch::<Meetings>(&mut watchdog, &params) })
    })?;
    Ok(runs.point(asked, 1, fault))
}

/// Makes a launch with a check, given words for it: one for each thread, in which it counts
/// its waits, and one for what was wrong. Returns what was.
fn checked(
    device: &AnyDevice,
    shape: &Launch,
    launch: impl FnOnce(&Buffer<AnyDevice, u32>) -> Result<Duration, Error>,
) -> Result<Option<String>, Error> {
    let threads = shape.blocks as usize * shape.threads as usize;
    let words = Buffer::zeroed(device, threads + 1, "the words of a barrier's threads")?;
    launch(&words)?;
    let words = words.download()?;
    let (wrong, short) = (words[threads], &words[..threads]);
    let short = short.iter().filter(|&&waits| waits != CHECKED).count();
    Ok((wrong != 0 || short != 0).then(|| {
        format!(
            "in {CHECKED} waits threads looked {wrong} times and found another one in another \
             round, and {short} did not come to the end"
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::leaves;
    use super::*;

    #[test]
    fn grids_of_an_h200_are_those_of_the_tables() {
        let of_128 = [1, 8, 32, 132, 264, 528, 1056, 64, 128].map(|blocks| (blocks, 128));
        let shapes = shapes(DeviceKind::Cuda, 132, Effort::Full);
        assert_eq!(shapes, [&of_128[..], &[(132, 32), (132, 256)]].concat());
        let others = blocks(DeviceKind::Cuda, 132, Effort::Full, super::super::TIMES);
        assert_eq!(others, [1, 8, 32, 132, 528, 64, 128, 240, 512]);
        // On a small GPU no grid is asked for twice.
        let small = blocks(DeviceKind::Cuda, 8, Effort::Full, super::super::TIMES);
        assert_eq!(small, [1, 8, 32, 64, 128, 240, 512]);
    }

    #[test]
    fn threads_that_did_not_wait_or_went_on_early_are_found() {
        let device = AnyDevice::cpu();
        let shape = Launch::new(2, 2);
        let found = |words: [u32; 5]| checked(&device, &shape, leaves(&words)).expect("a launch");
        let all = CHECKED;
        assert_eq!(found([all, all, all, all, 0]), None);
        let fault = found([all, all - 1, 0, all, 0]).expect("a fault");
        assert!(fault.contains("2 did not come"), "{fault}");
        let fault = found([all, all, all, all, 7]).expect("a fault");
        assert!(fault.contains("looked 7 times"), "{fault}");
    }
}
