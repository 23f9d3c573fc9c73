//! What makes the launches of a point.
//!
//! | part | an operation is |
//! | --- | --- |
//! | mutex | a section on one lock: the first thread of each block makes them until all blocks together have made a given number; how many each has made shows how fair the lock is |
//! | barrier | a wait of the whole grid: all threads wait again and again, with nothing between |
//! | semaphore | an entry into one semaphore: the first thread of each block enters and leaves it, with nothing to do inside |

use crate::points::prelude::*;
use crate::sync::peers::{
    self, BINARY_SEMAPHORE, CHECKED_ENTRIES, CHECKED_MEETINGS, MEETINGS, SECTIONS, TIMED_ENTRIES,
};
use stm_core::host::Error;
use stm_core::internal::host::Watchdog;
use stm_kernels::launches;
use stm_kernels::machine::{Entries, EntriesParams, Meetings, MeetingsParams};
use stm_kernels::sections::{CombinedSections, CombinedSectionsParams, Sections, SectionsParams};
use stm_sync::host::{Combiners, Defaults, GridBarrier, Locks, Semaphores};
use stm_sync::series::IN_A_ROW;
use stm_sync::{Anderson, FetchAdd, LockKind, Mcs, Reserving, Ring, Tas, TasBackoff, Ticket, Ttas};
use stm_sync::{barrier, chosen::Kind, semaphore};

/// The time limit of a launch, which takes far less unless a thread waits for ever.
const LIMIT: Option<Duration> = Some(Duration::from_mins(2));

/// A launch: its time, the operations of each block, where blocks may differ, and what was wrong.
pub(super) type Run = (Duration, Vec<u32>, Option<String>);

/// What makes a launch with so many operations.
pub(super) type Launches<'d> = Box<dyn FnMut(u32) -> host::Result<Run> + 'd>;

/// The launches of a point, and what a check beside them has found wrong.
pub(super) type Checked<'d> = Result<(Option<String>, Launches<'d>)>;

type Words = Buffer<AnyDevice, u32>;

/// What a launch is to be: on which device, of what shape, and with how many sections.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'d> {
    pub(super) device: &'d AnyDevice,
    pub(super) shape: Launch,
    pub(super) sections: u32,
}

impl Wanted<'_> {
    /// Returns the number of threads, each of which is a user of the lock.
    fn users(&self) -> u64 {
        u64::from(self.shape.blocks) * u64::from(self.shape.threads)
    }
}

pub(super) type Make = fn(Wanted<'_>) -> Result<Run, Error>;

/// The mutexes; the first two are the one that suits the device, with sections in a row and acquired for each.
pub(super) const MUTEXES: &[(&str, Make)] = &[
    ("default", default::<IN_A_ROW>),
    ("default-single", default::<1>),
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
    (BINARY_SEMAPHORE, |of| {
        counted(of, |counter, made| {
            let memory = [Some(made), Some(counter)];
            peers::launch::<SECTIONS>(of.device, &of.shape, memory, (1, of.sections))
        })
    }),
];

/// Returns which the mutex is that suits the device, if that is what was measured.
pub(super) fn of_default(device: &AnyDevice, name: &str) -> Option<String> {
    let all = [("default", IN_A_ROW), ("default-single", 1)];
    let (_, most) = all.into_iter().find(|of| of.0 == name)?;
    let kind = Defaults::of_device_kind(device).mutex().name();
    Some(format!("{kind}, {most} in a row at most"))
}

/// Makes one launch of a kernel with a counter and a word for each block, and compares both with the sections.
fn counted(
    of: Wanted<'_>,
    launch: impl Fn(&Words, &Words) -> Result<Duration, Error>,
) -> Result<Run, Error> {
    // A line for the counter alone.
    let counter = Buffer::zeroed(of.device, 32, "the counter")?;
    let blocks = of.shape.blocks as usize;
    let made = Buffer::zeroed(of.device, blocks, "the sections of each block")?;
    let time = launch(&counter, &made)?;
    let (made, count) = (made.download()?, counter.download()?[0]);
    let fault = wrong_sections(of.sections, &made, count);
    Ok((time, made, fault))
}

/// Says what is wrong with what the blocks made of so many sections, and the counter.
fn wrong_sections(sections: u32, made: &[u32], count: u32) -> Option<String> {
    let sum: u64 = made.iter().map(|&n| u64::from(n)).sum();
    (count != sections || sum != u64::from(sections)).then(|| {
        format!("of {sections} sections the blocks made {sum} and the counter has {count}")
    })
}

fn of_kind<K: LockKind>(of: Wanted<'_>) -> Result<Run, Error>
where
    Sections<K>: Kernel<Params = SectionsParams<K>>,
{
    let locks = Locks::<_, K>::new(of.device, 1, of.users(), "the lock")?;
    made_on(of, &locks, 1)
}

pub(super) fn sections_of(of: Wanted<'_>, kind: Kind) -> Result<Run, Error> {
    let locks = Locks::chosen(of.device, kind, 1, of.users(), "the mutex")?;
    made_on(of, &locks, 1)
}

/// Makes sections on the mutex that suits the device, up to so many of a thread in a row.
fn default<const IN_A_ROW: u32>(of: Wanted<'_>) -> Result<Run, Error> {
    let kinds = Defaults::of_device_kind(of.device);
    let locks = kinds.mutexes(of.device, 1, of.users(), "the mutex")?;
    made_on(of, &locks, IN_A_ROW)
}

fn made_on<K>(of: Wanted<'_>, locks: &Locks<AnyDevice, K>, in_a_row: u32) -> Result<Run, Error>
where
    K: LockKind,
    Sections<K>: Kernel<Params = SectionsParams<K>>,
{
    let run = counted(of, |counter, made| {
        let params = SectionsParams {
            locks: locks.view(),
            counter: counter.tarray(),
            made: made.tarray(),
            sections: of.sections,
            in_a_row,
        };
        // SAFETY: the locks and the buffers live until the launch has ended.
        unsafe { of.device.launch::<Sections<K>>(&of.shape, &params) }
    })?;
    locks.check()?;
    Ok(run)
}

fn combined(of: Wanted<'_>) -> Result<Run, Error> {
    let combiners = Combiners::<_, 1>::new(of.device, 1, of.users(), "the combiner")?;
    let run = counted(of, |counter, made| {
        let params = CombinedSectionsParams {
            combiners: combiners.view(),
            counter: counter.tarray(),
            made: made.tarray(),
            sections: of.sections,
        };
        // SAFETY: as in `made_on`.
        unsafe { of.device.launch::<CombinedSections>(&of.shape, &params) }
    })?;
    combiners.check()?;
    Ok(run)
}

/// The waits of the launch with a check.
const WAITS: u32 = 100;

/// Returns the launches of a peer, whose launch with a check leaves `words` words; `counts` are that of a
/// semaphore, and how often the check enters or waits.
fn of_peer<const CHECKED: usize, const TIMED: usize>(
    device: &AnyDevice,
    shape: Launch,
    (words, counts): (usize, (u32, u32)),
    wrong: fn(&[u32]) -> Option<String>,
) -> Checked<'_> {
    let found = Buffer::zeroed(device, words, "the words of a check")?;
    peers::launch::<CHECKED>(device, &shape, [Some(&found), None], counts)?;
    let launch = move |times| peers::launch::<TIMED>(device, &shape, [None; 2], (counts.0, times));
    Ok((wrong(&found.download()?), alike(launch)))
}

/// Returns launches of which only the time is reported, as no block does more than another.
fn alike<'d>(mut launch: impl FnMut(u32) -> Result<Duration, Error> + 'd) -> Launches<'d> {
    Box::new(move |times| Ok((launch(times)?, Vec::new(), None)))
}

pub(super) fn waits(device: &AnyDevice, shape: Launch, kind: Option<barrier::Kind>) -> Checked<'_> {
    let Some(kind) = kind else {
        let words = shape.blocks as usize * shape.threads as usize + 1;
        let checked = (words, (0, WAITS));
        return of_peer::<CHECKED_MEETINGS, MEETINGS>(device, shape, checked, wrong_waits);
    };
    let fault = wrong_waits(&launches::meetings(device, LIMIT, kind, shape, WAITS)?);
    let mut watchdog = Watchdog::new(device, LIMIT)?;
    let mut barrier = GridBarrier::chosen(device, kind, shape, watchdog.stop())?;
    let launch = move |waits| {
        let params = MeetingsParams {
            barrier: barrier.view(),
            waits,
        };
        // SAFETY: all of them live until the launch has ended.
        unsafe { barrier.launch::<Meetings>(&mut watchdog, &params) }
    };
    Ok((fault, alike(launch)))
}

/// Says what is wrong with a launch with a check: its words are the waits of each thread, and what was wrong.
fn wrong_waits(words: &[u32]) -> Option<String> {
    let (wrong, waits) = words.split_last()?;
    let short = waits.iter().filter(|&&waits| waits != WAITS).count();
    (*wrong != 0 || short != 0).then(|| {
        format!(
            "in {WAITS} waits threads looked {wrong} times and found another one in another \
             round, and {short} did not come to the end"
        )
    })
}

/// The entries of each thread in the launch with a check.
const ENTRIES: u32 = 50;

pub(super) fn entries(
    device: &AnyDevice,
    shape: Launch,
    kind: Option<semaphore::Kind>,
    count: u32,
) -> Checked<'_> {
    let counts = (count, ENTRIES);
    let Some(kind) = kind else {
        let (of, checked) = (of_peer::<CHECKED_ENTRIES, TIMED_ENTRIES>, (2, counts));
        return of(device, shape, checked, wrong_entries);
    };
    let fault = wrong_entries(&launches::entries(device, LIMIT, kind, shape, counts)?);
    let mut watchdog = Watchdog::new(device, LIMIT)?;
    let semaphores = Semaphores::chosen(device, kind, 1, count, watchdog.stop())?;
    let launch = move |times| {
        let params = EntriesParams {
            semaphores: semaphores.view(),
            times,
        };
        // SAFETY: all of them live until the launch has ended; after an error the semaphore is not
        // used again.
        unsafe { watchdog.launch::<Entries>(device, &shape, &params) }
    };
    Ok((fault, alike(launch)))
}

/// Says what is wrong with how many are inside, and how often there were too many.
fn wrong_entries(words: &[u32]) -> Option<String> {
    let (inside, over) = (words[0], words[1]);
    let full = format!("the semaphore let {over} threads in when it was full");
    (inside != 0 || over != 0).then(|| format!("{full}, and {inside} are left inside"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_or_one_too_many_or_too_early_is_found() {
        assert_eq!(wrong_sections(10, &[4, 6], 10), None);
        assert_eq!(wrong_waits(&[WAITS, WAITS, WAITS, WAITS, 0]), None);
        assert_eq!(wrong_entries(&[0, 0]), None);
        for (fault, parts) in [
            (wrong_sections(10, &[0, 0], 0), "of 10 | made 0"),
            (wrong_sections(10, &[4, 6], 9), "made 10 | has 9"),
            (wrong_waits(&[WAITS, 99, 0, WAITS, 0]), "2 did not come"),
            (wrong_waits(&[WAITS, WAITS, 7]), "looked 7 times"),
            (wrong_entries(&[0, 3]), "let 3 threads"),
            (wrong_entries(&[2, 0]), "2 are left"),
        ] {
            has(&fault.expect("a fault"), parts);
        }
    }
}
