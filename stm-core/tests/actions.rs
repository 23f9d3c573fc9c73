//! Deferred actions on the CPU: each is executed once, after the end of the
//! attempt that it belongs to, under every algorithm, by lanes and by teams.
#![cfg(feature = "host")]

mod common;

use common::{array, assert_ends, config, launch, under_all};
use stm_core::host::Error;
use stm_core::internal::lane::cpu::CpuLane;
use stm_core::prelude::*;
use stm_core::{Action, TArray};

/// The transactions of a launch.
const TRANSACTIONS: u64 = 400;

/// What the actions of a launch change. Of `counts`, 0 are commits, 1 aborts, 2 commits
/// told, and 3 aborts told; `float` has the bits of an `f32`.
struct Arrays<A: Algorithm> {
    counter: A::Array<u64>,
    counts: TArray<u64>,
    small: TArray<u32>,
    float: TArray<f32>,
}

struct Left {
    counter: u64,
    counts: Vec<u64>,
    small: u32,
    float: f32,
    aborted: u64,
}

fn go<A: Algorithm>(
    before: u64,
    kernel: impl Fn(&CpuLane<'_>, &StmRef<A>, &Arrays<A>),
) -> Result<Left, Error> {
    let cpu = Cpu::new();
    let config = config(|c| c.capacity.actions = 8);
    let mut stm = Stm::new(&cpu, Launch::new(2, 2), config)?;
    let counter = array::<A, u64>(&[0], "counter");
    let counts = Buffer::from_slice(&cpu, &[before, 0, 0, 0], "counts")?;
    let small = Buffer::<_, u32>::zeroed(&cpu, 1, "small")?;
    let float = Buffer::<_, f32>::zeroed(&cpu, 1, "float")?;
    let arrays = Arrays {
        counter: counter.view::<A>(),
        counts: counts.tarray(),
        small: small.tarray(),
        float: float.tarray(),
    };
    let handle = stm.handle::<A>();
    let statistics = launch(&mut stm, |lane| kernel(lane, &handle, &arrays))?;
    Ok(Left {
        counter: counter.download()?[0],
        counts: counts.download()?,
        small: small.download()?[0],
        float: float.download()?[0],
        aborted: statistics.aborted(),
    })
}

/// Each transaction adds to a counter and defers one action of each kind; every third one
/// cancels itself.
#[test]
fn every_commit_and_every_abort_executes_its_actions_once() {
    under_all!(A => {
        let done = go::<A>(0, |lane, stm, Arrays { counter, counts, small, float }| {
            // SAFETY: an element of a live array, which lanes alone access.
            let tell = |i, n| unsafe { lane.add_relaxed_64(counts.get(i).unwrap(), n) };
            let count = |tx: &mut Tx<'_, _, A>, i| {
                tx.at_abort(Action::add(counts, 1, 1))?;
                let old = tx.read(counter, 0)?;
                tx.at_commit(Action::add(counts, 0, 1))?;
                tx.at_commit(Action::add(small, 0, 1))?;
                tx.at_commit(Action::add(float, 0, 0.5))?;
                tx.write(counter, 0, old + 1)?;
                if i % 3 == 0 { tx.cancel() } else { Ok(2) }
            };
            let (committed, aborted) = (|_, result| tell(2, result), |_, _| tell(3, 1));
            stm.loops(lane).with(committed, aborted).each(0..TRANSACTIONS, count);
        });
        let done = done.unwrap();
        let commits = TRANSACTIONS - TRANSACTIONS.div_ceil(3);
        assert_eq!(done.counter, commits);
        assert_eq!(done.counts, [commits, done.aborted, 2 * commits, done.aborted]);
        assert_eq!(u64::from(done.small), commits);
        assert_eq!(done.float.to_bits(), (commits as f32 / 2.0).to_bits());
    });
}

#[test]
fn teams_execute_the_actions_of_their_lanes() {
    under_all!(A => {
        let done = go::<A>(0, |lane, stm, Arrays { counter, counts, .. }| {
            if A::TEAMS {
                stm.for_each_team(lane, 0..TRANSACTIONS, |tx, i| {
                    tx.at_abort(Some(Action::add(counts, 1, 1)))?;
                    let leads = tx.rank() == 0;
                    let old = tx.read(counter, leads.then_some(0))?;
                    tx.at_commit(leads.then(|| Action::add(counts, 0, 1)))?;
                    tx.write(counter, old.map(|old| (0, old + 1)))?;
                    if i % 3 == 0 { tx.cancel() } else { Ok(()) }
                });
            }
        });
        if A::TEAMS {
            let done = done.unwrap();
            let commits = TRANSACTIONS - TRANSACTIONS.div_ceil(3);
            assert_eq!((done.counter, done.counts[0]), (commits, commits));
            assert_eq!(done.counts[1], done.aborted);
        }
    });
}

/// Three actions on one word, after a commit or after an abort.
#[test]
fn actions_of_a_commit_go_forwards_and_those_of_an_abort_backwards() {
    under_all!(A => {
        let done = go::<A>(0, |lane, stm, Arrays { counts, .. }| {
            stm.for_each(lane, 0..2, |tx, i| {
                for n in 1..=3 {
                    tx.at_commit(Action::store(counts, 0, n))?;
                    tx.at_abort(Action::store(counts, 1, n))?;
                }
                tx.at_commit(Action::set_bits(counts, 2, 0b110))?;
                tx.at_commit(Action::clear_bits(counts, 2, 0b010))?;
                if i == 1 { tx.cancel() } else { Ok(()) }
            });
        });
        assert_eq!(done.unwrap().counts, [3, 1, 0b100, 0]);
    });
}

#[test]
fn a_bit_released_twice_is_a_fault_that_names_its_subject() {
    under_all!(A => {
        let done = go::<A>(0b111, |lane, stm, Arrays { counter, counts, .. }| {
            stm.for_each(lane, 0..2, |tx, i| {
                let old = tx.read(counter, 0)?;
                tx.write(counter, 0, old + 1)?;
                tx.at_commit(Action::release_bits(counts, 0, 0b100, 70 + i))
            });
        });
        assert_ends!(done.err(), Some(Error::FreedTwice { subject: 70 | 71, .. }));
    });
}

#[test]
fn a_full_log_of_actions_and_a_wrong_index_are_faults() {
    under_all!(A => {
        let full = go::<A>(0, |lane, stm, Arrays { counts, .. }| {
            stm.for_each(lane, 7..8, |tx, _| {
                (0..9).try_for_each(|_| tx.at_commit(Action::add(counts, 0, 1)))
            });
        });
        assert_eq!(full.err(), Some(Error::CapacityExceeded {
            set: "action log", limit: 8, transaction: 7,
        }));
        let outside = go::<A>(0, |lane, stm, Arrays { counts, .. }| {
            stm.for_each(lane, 3..4, |tx, _| {
                tx.at_abort(Action::add(counts, 1, 1))?;
                tx.at_commit(Action::add(counts, 4, 1))
            });
        });
        assert_eq!(outside.err(), Some(Error::OutOfRange {
            index: 4, len: 4, transaction: 3,
        }));
    });
}
