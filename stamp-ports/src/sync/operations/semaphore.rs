//! Entries into one semaphore: the first thread of each block enters and leaves it a number
//! of times, with nothing to do inside.

use super::{LIMIT, Size, measured, parameter, shape, size, unknown};
use crate::devices::{AnyDevice, DeviceKind};
use crate::error::Result;
use crate::points::{Asked, Point};
use crate::sync::peers::{COUNTING_SEMAPHORE, CheckedEntriesPeer, EntriesPeer, SemaphoreParams};
use stm_core::host::{Buffer, Device};
use stm_core::internal::host::Watchdog;
use stm_kernels::launches::entries;
use stm_kernels::machine::{Entries, EntriesParams};
use stm_sync::host::Semaphores;
pub(super) use stm_sync::semaphore::Kind;

pub(super) const PART: &str = "semaphore";

/// The parameter of a point.
pub(super) const COUNT: &str = "count";

/// The entries of each thread in the launch with a check.
const CHECKED: u32 = 50;

pub(super) const fn counts(kind: DeviceKind, quick: bool) -> &'static [u64] {
    match (kind, quick) {
        (DeviceKind::Cpu, true) => &[1, 2],
        (DeviceKind::Cuda, true) => &[1, 10],
        (_, false) => &[1, 2, 10, 120],
    }
}

pub(super) fn measure(device: &AnyDevice, asked: &Asked, quick: bool) -> Result<Point> {
    let (most, ms) = match (device.kind(), quick) {
        (DeviceKind::Cuda, true) => (1 << 14, 10),
        (DeviceKind::Cuda, false) => (1 << 17, 25),
        // A hand-over between threads that other processes hold up takes milliseconds.
        (DeviceKind::Cpu, true) => (1 << 12, 10),
        (DeviceKind::Cpu, false) => (1 << 14, 25),
    };
    let size = size((most / asked.blocks.max(1)).max(1), ms);
    let count = parameter(asked, COUNT)?;
    let shape = shape(asked);
    if asked.implementation == COUNTING_SEMAPHORE {
        return peer(device, asked, size, count);
    }
    let Some(kind) = Kind::from_name(&asked.implementation) else {
        return Err(unknown(PART, &asked.implementation));
    };
    let fault = judge(&entries(
        device,
        Some(LIMIT),
        kind,
        shape,
        (count, CHECKED),
    )?);
    let mut watchdog = Watchdog::new(device, Some(LIMIT))?;
    let semaphores = Semaphores::chosen(device, kind, 1, count, watchdog.stop())?;
    measured(asked, size, asked.blocks, fault, &mut |times| {
        let params = EntriesParams {
            semaphores: semaphores.view(),
            times,
        };
        // SAFETY: all of them live until the launch has ended; after an error the semaphore is not
        // used again.
        Ok(unsafe { watchdog.launch::<Entries>(device, &shape, &params)? }.into())
    })
}

fn peer(device: &AnyDevice, asked: &Asked, size: Size, count: u32) -> Result<Point> {
    let shape = shape(asked);
    // Each launch makes its semaphore anew, on a line of its own.
    let make = || Buffer::<_, u32>::zeroed(device, 64, "the semaphore");
    let params = |place: &Buffer<AnyDevice, u32>, found, times| SemaphoreParams {
        place: place.as_mut_ptr(),
        ready: place.as_mut_ptr().wrapping_add(32),
        found,
        count,
        times,
    };
    let found = Buffer::zeroed(device, 2, "the threads inside of a semaphore")?;
    let place = make()?;
    let checked = params(&place, found.as_mut_ptr(), CHECKED);
    // SAFETY: both buffers live until the launch has ended.
    unsafe { device.launch::<CheckedEntriesPeer>(&shape, &checked)? };
    let fault = judge(&found.download()?);
    measured(asked, size, asked.blocks, fault, &mut |times| {
        let place = make()?;
        let params = params(&place, std::ptr::null_mut(), times);
        // SAFETY: as above.
        Ok(unsafe { device.launch::<EntriesPeer>(&shape, &params)? }.into())
    })
}

/// Says what is wrong with how many are inside, and how often there were too many.
fn judge(words: &[u32]) -> Option<String> {
    let (inside, over) = (words[0], words[1]);
    (inside != 0 || over != 0).then(|| {
        format!(
            "the semaphore let {over} threads in when it was full, and {inside} are left inside"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semaphore_that_was_too_full_or_is_not_left_is_found() {
        assert_eq!(judge(&[0, 0]), None);
        assert!(judge(&[0, 3]).expect("a fault").contains("let 3 threads"));
        assert!(judge(&[2, 0]).expect("a fault").contains("2 are left"));
    }
}
