//! Sections on one lock: the first thread of each block makes them until all blocks together have
//! made a given number. How many each block has made shows how fair the lock is.

use super::{Run, measured, shape, size, unknown};
use crate::devices::{AnyDevice, DeviceKind};
use crate::error::Result;
use crate::points::{Asked, Point};
use crate::sync::peers::{BINARY_SEMAPHORE, SectionsParams as PeerParams, SectionsPeer};
use std::time::Duration;
use stm_core::host::{Buffer, Device, Error, Launch};
use stm_core::{Kernel, TArray};
use stm_kernels::sections::{CombinedSections, CombinedSectionsParams, Sections, SectionsParams};
use stm_sync::chosen::Kind;
use stm_sync::host::{Combiners, Defaults, Locks};
use stm_sync::series::IN_A_ROW;
use stm_sync::{Anderson, FetchAdd, LockKind, Mcs, Reserving, Ring, Tas, TasBackoff, Ticket, Ttas};

pub(super) const PART: &str = "mutex";

/// The mutex that suits the kind of device, several sections of a thread in a row.
const DEFAULT: &str = "default";
/// The same, acquired for each section.
const DEFAULT_SINGLE: &str = "default-single";

/// Makes one launch with so many sections.
type Make = fn(&AnyDevice, &Launch, u32) -> Result<Run, Error>;

/// The implementations. A kind of lock with parameters has them in its name.
pub(super) const IMPLEMENTATIONS: &[(&str, Make)] = &[
    (DEFAULT, default::<IN_A_ROW>),
    (DEFAULT_SINGLE, default::<1>),
    (Tas::NAME, of_kind::<Tas>),
    (Ttas::NAME, of_kind::<Ttas>),
    (TasBackoff::NAME, of_kind::<TasBackoff>),
    (Ticket::NAME, of_kind::<Ticket>),
    (FetchAdd::NAME, of_kind::<FetchAdd>),
    (Ring::NAME, of_kind::<Ring>),
    (Anderson::NAME, of_kind::<Anderson>),
    (Mcs::NAME, of_kind::<Mcs>),
    ("reserving-16", of_kind::<Reserving<16>>),
    ("reserving-64", of_kind::<Reserving<64>>),
    ("combining", combined),
    (BINARY_SEMAPHORE, peer),
];

/// What stands before the name of a kind that is chosen at launch: it is measured by the kernel that
/// has all of them.
pub(crate) const CHOSEN: &str = "chosen:";

pub(super) fn measure(device: &AnyDevice, asked: &Asked, quick: bool) -> Result<Point> {
    let name = asked.implementation.as_str();
    let chosen = name.strip_prefix(CHOSEN).and_then(Kind::from_name);
    let named = IMPLEMENTATIONS.iter().find(|(known, _)| *known == name);
    let shape = &shape(asked);
    let make: &dyn Fn(u32) -> Result<Run, Error> = match (chosen, named) {
        (Some(kind), _) => &move |sections| of_choice(device, shape, kind, sections),
        (_, Some((_, make))) => &move |sections| make(device, shape, sections),
        _ => return Err(unknown(PART, name)),
    };
    let size = match (device.kind(), quick) {
        (DeviceKind::Cuda, true) => size(1 << 15, 15),
        (DeviceKind::Cuda, false) => size(1 << 18, 50),
        // A hand-over between threads that other processes hold up takes milliseconds.
        (DeviceKind::Cpu, true) => size(1 << 12, 15),
        (DeviceKind::Cpu, false) => size(1 << 14, 130),
    };
    let mut point = measured(asked, size, 1, None, &mut |sections| make(sections))?;
    let in_a_row = match name {
        DEFAULT => Some(IN_A_ROW),
        DEFAULT_SINGLE => Some(1),
        _ => None,
    };
    if let Some(most) = in_a_row.filter(|_| point.verified) {
        let kind = Defaults::of_device_kind(device).mutex().name();
        point.note = Some(format!("{kind}, {most} in a row at most"));
    }
    Ok(point)
}

/// Makes one launch, given what launches a kernel with a counter and a word for each block,
/// and compares both with the number of sections.
fn counted(
    device: &AnyDevice,
    shape: &Launch,
    sections: u32,
    launch: &dyn Fn(TArray<u32>, TArray<u32>) -> Result<Duration, Error>,
) -> Result<Run, Error> {
    // A line for the counter alone.
    let counter = Buffer::<_, u32>::zeroed(device, 32, "the counter")?;
    let blocks = shape.blocks as usize;
    let made = Buffer::<_, u32>::zeroed(device, blocks, "the sections of each block")?;
    let time = launch(counter.tarray(), made.tarray())?;
    let (made, count) = (made.download()?, counter.download()?[0]);
    let fault = judge(sections, &made, count);
    Ok(Run { time, made, fault })
}

/// Says what is wrong with what the blocks made of so many sections, and the counter.
fn judge(sections: u32, made: &[u32], count: u32) -> Option<String> {
    let sum: u64 = made.iter().map(|&n| u64::from(n)).sum();
    (count != sections || sum != u64::from(sections)).then(|| {
        format!("of {sections} sections the blocks made {sum} and the counter has {count}")
    })
}

/// Returns the number of threads, each of which is a user of the lock.
fn users(shape: &Launch) -> u64 {
    u64::from(shape.blocks) * u64::from(shape.threads)
}

/// Makes sections on a lock of one kind, which is acquired for each.
fn of_kind<K: LockKind>(device: &AnyDevice, shape: &Launch, sections: u32) -> Result<Run, Error>
where
    Sections<K>: Kernel<Params = SectionsParams<K>>,
{
    let locks = Locks::<_, K>::new(device, 1, users(shape), "the lock")?;
    made_on(device, shape, sections, &locks, 1)
}

/// Makes sections on a lock whose kind is chosen at launch.
fn of_choice(device: &AnyDevice, shape: &Launch, kind: Kind, sections: u32) -> Result<Run, Error> {
    let locks = Locks::chosen(device, kind, 1, users(shape), "the mutex")?;
    made_on(device, shape, sections, &locks, 1)
}

/// Makes sections on the mutex that suits the device, which a thread keeps for some of
/// its sections in a row.
fn default<const IN_A_ROW: u32>(
    device: &AnyDevice,
    shape: &Launch,
    sections: u32,
) -> Result<Run, Error> {
    let locks = Defaults::of_device_kind(device).mutexes(device, 1, users(shape), "the mutex")?;
    made_on(device, shape, sections, &locks, IN_A_ROW)
}

/// Makes sections on a lock, up to so many of a thread in a row.
fn made_on<K: LockKind>(
    device: &AnyDevice,
    shape: &Launch,
    sections: u32,
    locks: &Locks<AnyDevice, K>,
    in_a_row: u32,
) -> Result<Run, Error>
where
    Sections<K>: Kernel<Params = SectionsParams<K>>,
{
    let run = counted(device, shape, sections, &|counter, made| {
        let params = SectionsParams {
            locks: locks.view(),
            counter,
            made,
            sections,
            in_a_row,
        };
        // SAFETY: the locks and the buffers live until the launch has ended.
        unsafe { device.launch::<Sections<K>>(shape, &params) }
    })?;
    locks.check()?;
    Ok(run)
}

/// Makes sections that whoever holds a combiner executes.
fn combined(device: &AnyDevice, shape: &Launch, sections: u32) -> Result<Run, Error> {
    let combiners = Combiners::<_, 1>::new(device, 1, users(shape), "the combiner")?;
    let run = counted(device, shape, sections, &|counter, made| {
        let params = CombinedSectionsParams {
            combiners: combiners.view(),
            counter,
            made,
            sections,
        };
        // SAFETY: as in `made_on`.
        unsafe { device.launch::<CombinedSections>(shape, &params) }
    })?;
    combiners.check()?;
    Ok(run)
}

/// Makes sections under libcu++'s binary semaphore.
fn peer(device: &AnyDevice, shape: &Launch, sections: u32) -> Result<Run, Error> {
    let lock = Buffer::<_, u32>::zeroed(device, 64, "the semaphore")?;
    counted(device, shape, sections, &|counter, made| {
        let first = lock.as_mut_ptr();
        let params = PeerParams {
            lock: first,
            ready: first.wrapping_add(32),
            counter: counter.get(0).unwrap_or(std::ptr::null_mut()),
            made: made.get(0).unwrap_or(std::ptr::null_mut()),
            sections,
        };
        // SAFETY: as in `made_on`; the counter and the words are there.
        unsafe { device.launch::<SectionsPeer>(shape, &params) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;

    #[test]
    fn sections_that_are_missing_or_lost_are_found() {
        assert_eq!(judge(10, &[4, 6], 10), None);
        let fault = |made, count| judge(10, made, count).expect("a fault");
        has(&fault(&[0, 0], 0), "of 10 | made 0");
        has(&fault(&[4, 6], 9), "made 10 | has 9");
    }
}
