//! Waits at a barrier of the whole grid: all threads wait again and again, with nothing
//! between. An operation is a wait of the grid.

use super::{LIMIT, blocks, measured, shape, size, unknown};
use crate::devices::{AnyDevice, DeviceKind};
use crate::error::Result;
use crate::points::{Asked, Point};
use crate::sync::peers::{BarrierParams, CheckedMeetingsPeer, GRID_SYNC, MeetingsPeer};
use stm_core::host::{Buffer, Device, Launch};
use stm_core::internal::host::Watchdog;
use stm_kernels::launches::meetings;
use stm_kernels::machine::{Meetings, MeetingsParams};
pub(super) use stm_sync::barrier::Kind;
use stm_sync::host::GridBarrier;

pub(super) const PART: &str = "barrier";

/// The waits of the launch with a check.
const CHECKED: u32 = 100;

/// Returns the blocks and threads of all grids, as if any fitted.
fn shapes(kind: DeviceKind, processors: u32, quick: bool) -> Vec<(u32, u32)> {
    // The usual threads of a block, and others.
    let (usual, other): (u32, &[u32]) = match kind {
        DeviceKind::Cuda => (128, &[32, 256]),
        DeviceKind::Cpu => (1, &[2]),
    };
    let blocks = blocks(kind, processors, quick, (&[1, 2, 4, 8], &[64, 128]));
    let mut shapes: Vec<(u32, u32)> = blocks.into_iter().map(|blocks| (blocks, usual)).collect();
    if !quick {
        shapes.extend(other.iter().map(|&threads| (processors, threads)));
    }
    shapes
}

/// Returns the blocks and threads of the grids of a device. Where they would not be resident together
/// there are as many blocks as are.
pub(super) fn shapes_on(device: &AnyDevice, quick: bool) -> Result<Vec<(u32, u32)>> {
    let mut shapes = shapes(device.kind(), device.limits().processors, quick);
    for (blocks, threads) in &mut shapes {
        let launch = Launch::new(*blocks, *threads);
        *blocks = (*blocks).min(device.resident_blocks::<Meetings>(&launch)?);
    }
    shapes.dedup();
    Ok(shapes)
}

pub(super) fn measure(device: &AnyDevice, asked: &Asked, quick: bool) -> Result<Point> {
    let size = if quick {
        size(1 << 12, 10)
    } else {
        size(1 << 13, 15)
    };
    let shape = shape(asked);
    if asked.implementation == GRID_SYNC {
        let threads = shape.blocks as usize * shape.threads as usize;
        let words = Buffer::zeroed(device, threads + 1, "the words of a barrier's threads")?;
        let params = BarrierParams {
            words: words.as_mut_ptr(),
            waits: CHECKED,
        };
        // SAFETY: the words live until the launch has ended.
        unsafe { device.launch::<CheckedMeetingsPeer>(&shape, &params)? };
        let fault = judge(&words.download()?);
        return measured(asked, size, 1, fault, &mut |waits| {
            let words = std::ptr::null_mut();
            let params = BarrierParams { words, waits };
            // SAFETY: no memory is used.
            Ok(unsafe { device.launch::<MeetingsPeer>(&shape, &params)? }.into())
        });
    }
    let Some(kind) = Kind::from_name(&asked.implementation) else {
        return Err(unknown(PART, &asked.implementation));
    };
    let fault = judge(&meetings(device, Some(LIMIT), kind, shape, CHECKED)?);
    let mut watchdog = Watchdog::new(device, Some(LIMIT))?;
    let mut barrier = GridBarrier::chosen(device, kind, shape, watchdog.stop())?;
    measured(asked, size, 1, fault, &mut |waits| {
        let params = MeetingsParams {
            barrier: barrier.view(),
            waits,
        };
        // SAFETY: all of them live until the launch has ended.
        Ok(unsafe { barrier.launch::<Meetings>(&mut watchdog, &params)? }.into())
    })
}

/// Says what is wrong with a launch with a check, whose words are one for each thread, in which it
/// counts its waits, and one for what was wrong.
fn judge(words: &[u32]) -> Option<String> {
    let (wrong, waits) = words.split_last()?;
    let short = waits.iter().filter(|&&waits| waits != CHECKED).count();
    (*wrong != 0 || short != 0).then(|| {
        format!(
            "in {CHECKED} waits threads looked {wrong} times and found another one in another \
             round, and {short} did not come to the end"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::TIMES;
    use super::*;

    #[test]
    fn grids_of_an_h200_are_those_of_the_tables() {
        let of_128 = [1, 8, 32, 132, 264, 528, 1056, 64, 128].map(|blocks| (blocks, 128));
        let shapes = shapes(DeviceKind::Cuda, 132, false);
        assert_eq!(shapes, [&of_128[..], &[(132, 32), (132, 256)]].concat());
        let others = blocks(DeviceKind::Cuda, 132, false, TIMES);
        assert_eq!(others, [1, 8, 32, 132, 528, 64, 128, 240, 512]);
        // On a small GPU no grid is asked for twice.
        let small = blocks(DeviceKind::Cuda, 8, false, TIMES);
        assert_eq!(small, [1, 8, 32, 64, 128, 240, 512]);
    }

    #[test]
    fn threads_that_did_not_wait_or_went_on_early_are_found() {
        let all = CHECKED;
        assert_eq!(judge(&[all, all, all, all, 0]), None);
        let fault = judge(&[all, all - 1, 0, all, 0]).expect("a fault");
        assert!(fault.contains("2 did not come"), "{fault}");
        let fault = judge(&[all, all, all, all, 7]).expect("a fault");
        assert!(fault.contains("looked 7 times"), "{fault}");
    }
}
