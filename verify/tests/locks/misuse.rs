//! Misuse is an error and not a hang. So is a panic of a section, as on the CPU: the lock stays held,
//! and nobody waits for it for ever.

use super::{FAIR, World, config, each_kind, fair};
use crate::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use stm_sync::host::Locks;
use stm_sync::{
    Anderson, Checked, Cohort, LockFault, LockKind, Mcs, Mcs2, Reserving, Ring, Step, TLocks, Tas,
    Ticket, TicketHandoff, Timeout,
};

/// What a kind of locks has beside sections: the call `kind` of a lock.
type Call<K> = fn(&SimLane<'_>, &TLocks<K>, kind: &str, lock: u64) -> Result<(), LockFault>;

fn none<K>(_: &SimLane<'_>, _: &TLocks<K>, kind: &str, _: u64) -> Result<(), LockFault> {
    panic!("{kind} is no call")
}

/// Whether a section is refused at once, so that no `)` ends it.
fn is_refused(text: &str) -> bool {
    text.contains('!') && !text.ends_with("!Panicked")
}

fn acts<K: LockKind>(
    at: (&World<K>, &Flag, Call<K>),
    (lane, view): (&SimLane<'_>, &TLocks<K>),
    mut texts: &[&str],
) {
    let (world, flag, call) = at;
    while let Some((text, rest)) = texts.split_first() {
        texts = rest;
        let (kind, behind) = text.split_at(1);
        let end = behind.find(|c: char| !c.is_ascii_digit());
        let (number, expected) = behind.split_at(end.unwrap_or(behind.len()));
        let number: u64 = number.parse().unwrap_or(0);
        let ended = match kind {
            "i" | "=" | "@" | "+" => {
                match kind {
                    "i" => world.section(lane, &[number]),
                    "=" => flag.set(lane, number as u32),
                    "@" => flag.wait_for(lane, number as u32),
                    _ => flag.count(lane),
                }
                Ok(())
            }
            "p" => panics(),
            "(" if is_refused(text) => view.with(lane, number, || ()),
            "(" => {
                let (mut depth, mut close) = (1, 0);
                while depth != 0 {
                    let opens = rest[close].starts_with('(') && !is_refused(rest[close]);
                    depth += i32::from(opens) - i32::from(rest[close] == ")");
                    close += 1;
                }
                texts = &rest[close..];
                let section = || acts(at, (lane, view), &rest[..close - 1]);
                match caught(|| view.with(lane, number, section)) {
                    None if expected == "!Panicked" => continue,
                    ended => ended.expect("no panic"),
                }
            }
            _ => call(lane, view, kind, number),
        };
        let found = ended.map_or_else(|fault| format!("!{fault:?}"), |()| String::new());
        let may_be = match expected {
            "~" => found.is_empty() || found == "!TimedOut",
            "~F" => found.is_empty() || found == "!HolderFailed",
            "~~" => true,
            _ => false,
        };
        assert!(expected == found || may_be, "{text}: {found}");
    }
}

fn group<K: LockKind>(group: &str, call: Call<K>) {
    let mut parts = include_str!("misuse.txt").split("\n\n");
    let part = parts.find_map(|part| part.strip_prefix(&format!("> {group} ")));
    let (head, rows) = part.unwrap().split_once('\n').unwrap();
    let [schedules, seeds, width] = head.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{head}")
    };
    let schedules = Schedule::named(&schedules.replace("fair", FAIR)).into_iter();
    let (seeds, width) = (seeds.parse().unwrap(), width.parse().unwrap());
    let configs = |schedule| (0..seeds).map(move |seed| config(width, schedule, seed));
    for config in schedules.flat_map(configs) {
        rows.lines().for_each(|row| is_as_said(row, config, call));
    }
}

fn is_as_said<K: LockKind>(row: &str, config: SimConfig, call: Call<K>) {
    let [shape, threads, reported, counters] = row.split(" : ").collect::<Vec<_>>()[..] else {
        panic!("{row}")
    };
    let number = |text: &str| text.parse::<u64>().unwrap();
    let (shape, locks) = shape.split_once(' ').unwrap();
    let (blocks, threads_each) = shape.split_once('x').unwrap();
    let (blocks, threads_each) = (number(blocks), number(threads_each));
    let (locks, users) = match locks.split_once('/') {
        Some((locks, users)) => (number(locks), number(users)),
        None => (number(locks), blocks * threads_each),
    };
    let launch = Launch::new(blocks as u32, threads_each as u32);
    let mut world = World::<K>::of(config, &launch, locks, |sim| {
        Locks::new(sim, locks, users, "locks").unwrap()
    });
    let part = |part| {
        let (times, texts) = str::split_once(part, " x ").unwrap_or(("1", part));
        (number(times), texts.split(' ').collect::<Vec<_>>())
    };
    let threads = threads.split(" | ");
    let threads: Vec<Vec<_>> = threads
        .map(|thread| thread.split(" ; ").map(part).collect())
        .collect();
    let flag = Flag::new(&world.sim);
    world.ends(|lane, view| {
        for (times, texts) in &threads[lane.grid_thread() as usize % threads.len()] {
            (0..*times).for_each(|_| acts((&world, &flag, call), (lane, view), texts));
        }
    });
    let counted = world.counted().unwrap();
    let right = match counters {
        "_" => true,
        "n+1 n" => counted[0] == counted[1] + 1,
        known => known
            .split(' ')
            .map(number)
            .eq(counted.iter().map(|&n| u64::from(n))),
    };
    assert!(right, "{row}: {} {config}: {counted:?}", K::NAME);
    if reported.is_empty() {
        world.locks.check().unwrap();
    } else {
        world.is_reset_after(&reported.split(" & ").collect::<Vec<_>>());
    }
}

#[test]
fn misuse_is_refused_and_reported_as_the_table_says() {
    of_each!(
        group("checked", |lane, view, kind, lock| match kind {
            "?" => view.try_with(lane, lock, || ()).map(|_| ()),
            "[" => view.lock(lane, lock),
            "]" => view.unlock(lane, lock),
            _ => none(lane, view, kind, lock),
        }):
        Checked<Tas>, Checked<Ticket>, Checked<Mcs>, Checked<Mcs2>, Checked<Reserving<3>>
    );
    of_each!(
        group("checked-inside", |lane, view, kind, lock| match kind {
            "[" => view.lock(lane, lock),
            "]" => view.unlock(lane, lock),
            _ => view.walk(lane, lock, |_, at| Step::Done(view.unlock(lane, at)))?,
        }):
        Checked<Tas>, Checked<Ticket>, Checked<Mcs2>, Checked<Reserving<3>>
    );
    group::<Ring>("ring", none);
    of_each!(
        group("timeout", none):
        Timeout<Mcs, 4_000>, Timeout<Ring, 4_000>, Timeout<Ticket, 4_000>, Checked<Timeout<Mcs2, 4_000>>
    );
    group::<Timeout<Tas, 2_000>>("timeout-walk", |lane, view, _, lock| {
        view.walk(lane, lock, |_, here| Step::Next(here + 1))
    });
    of_each!(
        group("timeout-circle", none):
        Timeout<Tas, 4_000>, Timeout<Ticket, 4_000>, Timeout<Mcs2, 4_000>, Timeout<Anderson, 4_000>,
        Timeout<Reserving<4>, 4_000>, Checked<Timeout<Mcs2, 4_000>>
    );
    of_each!(group("one-node", none): Mcs, Checked<Mcs>);
    of_each!(
        group("two-nodes", |lane, view, _, lock| view.walk(lane, lock, |_, here| Step::Next(here + 1))):
        Mcs2, Checked<Mcs2>
    );
    // Checked locks have a number for each user, whatever the kind.
    of_each!(group("few-users", none): Mcs, Ring, Checked<Anderson>, Checked<Ticket>);
    of_each!(group("nested", none): Mcs2, TicketHandoff, Tas);
    of_each!(group("nested-by-four", none): Mcs2, TicketHandoff, Tas);
    of_each!(group("nested-by-warps", none): Mcs2, TicketHandoff, Tas);
    group::<Timeout<Tas, 2_000>>("timeout-warp", none);
    // The lock itself stays correct: users take turns at a slot.
    group::<Anderson>("few-slots", none);
    each_kind!(group("panics", none));
}

#[test]
fn a_cohort_lock_that_is_not_set_up_or_has_no_shared_memory_is_refused() {
    let config = config(1, Schedule::Random, 1);
    let mut world = World::<Cohort<2>>::of(config, &Launch::new(1, 2), 3, |sim| {
        let locks = Locks::new(sim, 3, 4, "locks").unwrap();
        locks.behind_shared_words(4)
    });
    assert_eq!(world.locks.shared_bytes(), (4 + 3 * 5) * 4);
    let view = world.locks.view();
    let ran = world.sim.run(&world.launch, |lane| {
        assert_eq!(view.with(lane, 0, || ()), Err(LockFault::NotSetUp));
    });
    ran.unwrap();
    let error = world.locks.check().unwrap_err();
    assert_says(error, &["before its block had set it up"]);
    // The words before the locks stay as they are.
    let ran = world.sim.run(&world.launch, |lane| {
        // SAFETY: all threads of the block call it; the words are inside.
        unsafe {
            lane.shared_store_32(3, 77);
            view.set_up_block(lane);
            assert_eq!(view.with(lane, 2, || 5), Ok(5));
            assert_eq!(lane.shared_load_32(3), 77);
        }
    });
    ran.unwrap();
    // The third lock is past the end.
    world.launch.shared_bytes -= 4;
    world.ends(|lane, view| {
        assert_eq!(view.with(lane, 1, || ()), Ok(()));
        assert_eq!(view.with(lane, 2, || ()), Err(LockFault::NotSetUp));
    });
}

fn panics<R>() -> R {
    resume_unwind(Box::new(()))
}

/// Returns nothing if a section panics, so that the launch goes on.
fn caught<R>(run: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(ended) => Some(ended),
        Err(panic) if panic.is::<()>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

const FAILED: LockFault = LockFault::HolderFailed;

impl<K: LockKind> World<K> {
    /// Asserts that the host reports what says all of this, and that the locks can be used again after a reset.
    #[track_caller]
    fn is_reset_after(&mut self, parts: &[&str]) {
        assert_says(self.locks.check().unwrap_err(), parts);
        self.locks.reset().unwrap();
        let last = self.counters.len() as u64 - 1;
        self.ends(|lane, view| {
            if lane.grid_thread() == 0 {
                assert_eq!(view.with(lane, last, || ()), Ok(()));
            }
        });
        self.locks.check().unwrap();
    }
}

#[test]
fn a_series_and_a_walk_that_panic_are_seen_by_those_who_wait() {
    for config in fair(1, 1) {
        let mut world = World::<Mcs2>::new(config, &Launch::new(3, 1), 3);
        for (walks, lock) in [(false, "lock 1"), (true, "lock 2")] {
            world.ends(|lane, view| {
                let steps = |end: fn() -> Step<()>| {
                    move |_, at| if at == 2 { end() } else { Step::Next(at + 1) }
                };
                if lane.grid_thread() != 0 {
                    while view.walk(lane, 0, steps(|| Step::Done(()))) != Err(FAILED) {}
                } else if walks {
                    assert_eq!(caught(|| view.walk(lane, 0, steps(panics))), None);
                } else {
                    let mut left = 3;
                    let series = || {
                        left -= 1;
                        if left == 0 { panics() } else { true }
                    };
                    assert_eq!(caught(|| view.with_many(lane, 1, 2, series)), None);
                }
            });
            world.is_reset_after(&["thread 0 panicked", lock]);
        }
    }
}
