//! Entries into one semaphore: the first thread of each block enters and leaves it a number
//! of times, with nothing to do inside.

use super::{Effort, LIMIT, Size, TIMES, blocks, parameter, run_of, runs, shape, unknown};
use crate::devices::{AnyDevice, DeviceKind};
use crate::error::Result;
use crate::points::{Asked, Point};
use crate::sync::peers::{
    COUNTING_SEMAPHORE, CheckedEntriesPeer, EntriesPeer, Peers, SemaphoreParams,
};
use std::time::Duration;
use stm_core::host::{Buffer, Device, Error};
use stm_core::internal::host::Watchdog;
use stm_kernels::checked::{CheckedEntries, CheckedEntriesParams};
use stm_kernels::machine::{Entries, EntriesParams};
use stm_sync::host::Semaphores;
use stm_sync::semaphore::Kind;

/// The name of this part.
pub(super) const PART: &str = "semaphore";

/// The parameter that says how many threads may be inside.
const COUNT: &str = "count";

/// The entries of each thread in the launch with a check.
const CHECKED: u32 = 50;

/// Lists the points.
pub(super) fn points(device: &AnyDevice, effort: Effort, peers: &Peers) -> Vec<Asked> {
    let counts: &[u64] = match (device.kind(), effort) {
        (DeviceKind::Cpu, Effort::Quick) => &[1, 2],
        (DeviceKind::Cuda, Effort::Quick) => &[1, 10],
        (_, Effort::Full) => &[1, 2, 10, 120],
    };
    let mut all = Vec::new();
    let processors = device.limits().processors;
    for blocks in blocks(device.kind(), processors, effort, TIMES) {
        for &count in counts {
            let kinds = Kind::ALL.iter().map(|kind| kind.name());
            let peer = peers.has(COUNTING_SEMAPHORE).then_some(COUNTING_SEMAPHORE);
            let there = kinds.chain(peer);
            all.extend(there.map(|name| Asked::new(PART, name, (blocks, 1), &[(COUNT, count)])));
        }
    }
    all
}

/// Measures one point.
pub(super) fn measure(device: &AnyDevice, asked: &Asked, effort: Effort) -> Result<Point> {
    let (entries, ms) = match (device.kind(), effort) {
        (DeviceKind::Cuda, Effort::Quick) => (1 << 14, 10),
        (DeviceKind::Cuda, Effort::Full) => (1 << 17, 25),
        // A hand-over between threads that other processes hold up takes milliseconds.
        (DeviceKind::Cpu, Effort::Quick) => (1 << 12, 10),
        (DeviceKind::Cpu, Effort::Full) => (1 << 14, 25),
    };
    let time = Duration::from_millis(ms);
    let most = (entries / asked.blocks.max(1)).max(1);
    let (size, count) = (Size { most, time }, parameter(asked, COUNT)?);
    let shape = shape(asked);
    if asked.implementation == COUNTING_SEMAPHORE {
        return peer(device, asked, size, count);
    }
    let Some(kind) = Kind::from_name(&asked.implementation) else {
        return Err(unknown(PART, &asked.implementation));
    };
    let mut watchdog = Watchdog::new(device, Some(LIMIT))?;
    let semaphores = Semaphores::chosen(device, kind, 1, count, watchdog.stop())?;
    let fault = checked(device, |found| {
        let params = CheckedEntriesParams {
            semaphores: semaphores.view(),
            found: found.tarray(),
            count,
            times: CHECKED,
        };
        // SAFETY: all of them live until the launch has ended.
        unsafe { watchdog.launch::<CheckedEntries>(device, &shape, &params) }
    })?;
    let runs = runs(size, &mut |times| {
        let params = EntriesParams {
            semaphores: semaphores.view(),
            times,
        };
        // SAFETY: as above; after an error the semaphore is not used again.
        run_of(unsafe { watchdog.launch::<Entries>(device, &shape, &params) })
    })?;
    Ok(runs.point(asked, asked.blocks, fault))
}

/// Measures libcu++'s counting semaphore.
fn peer(device: &AnyDevice, asked: &Asked, size: Size, count: u32) -> Result<Point> {
    let shape = shape(asked);
    // Each launch makes its semaphore anew, on a line of its own.
    let params = |place: &Buffer<AnyDevice, u32>, found, times| SemaphoreParams {
        place: place.as_mut_ptr(),
        ready: place.as_mut_ptr().wrapping_add(32),
        found,
        count,
        times,
    };
    let make = || Buffer::<_, u32>::zeroed(device, 64, "the semaphore");
    let fault = checked(device, |found| {
        let place = make()?;
        let params = params(&place, found.as_mut_ptr(), CHECKED);
        // SAFETY: both buffers live until the launch has ended.
        unsafe { device.launch::<CheckedEntriesPeer>(&shape, &params) }
    })?;
    let runs = runs(size, &mut |times| {
        let place = make()?;
        let params = params(&place, std::ptr::null_mut(), times);
        // SAFETY: as above.
        run_of(unsafe { device.launch::<EntriesPeer>(&shape, &params) })
    })?;
    Ok(runs.point(asked, asked.blocks, fault))
}

/// Makes a launch with a check, given the two words for it. Returns what was wrong.
fn checked(
    device: &AnyDevice,
    launch: impl FnOnce(&Buffer<AnyDevice, u32>) -> Result<Duration, Error>,
) -> Result<Option<String>, Error> {
    let found = Buffer::zeroed(device, 2, "the threads inside of a semaphore")?;
    launch(&found)?;
    let words = found.download()?;
    let (inside, over) = (words[0], words[1]);
    Ok((inside != 0 || over != 0).then(|| {
        format!(
            "the semaphore let {over} threads in when it was full, and {inside} are left inside"
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::leaves;
    use super::*;

    #[test]
    fn a_semaphore_that_was_too_full_or_is_not_left_is_found() {
        let device = AnyDevice::cpu();
        let found = |words: [u32; 2]| checked(&device, leaves(&words)).expect("a launch");
        assert_eq!(found([0, 0]), None);
        assert!(found([0, 3]).expect("a fault").contains("let 3 threads"));
        assert!(found([2, 0]).expect("a fault").contains("2 are left"));
    }
}
