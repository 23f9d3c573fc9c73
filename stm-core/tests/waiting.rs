//! Transactions that wait for a change, alternatives and deferred actions, by real threads of the CPU, under every
//! algorithm. The random programs of `verify/tests/sim` wait under every schedule.

use crate::common::prelude::*;

/// Asserts that a launch ended as everybody waits, so many of its threads in a loop.
#[track_caller]
fn assert_waits<T>(ended: Result<T>, threads: u64, waiting: u64) {
    let outside = threads - waiting;
    assert_eq!(
        ended.err(),
        Some(Error::EverybodyWaits { waiting, outside })
    );
}

/// Makes a memory whose launches are of threads that all run at the same time.
fn world<A: Algorithm>(blocks: u32, threads: u32) -> World<A> {
    World::new(together(blocks, threads), |c| {
        (c.capacity.actions, c.time_limit) = (8, Some(Duration::from_mins(2)));
    })
}

/// Takes from an empty queue, whose head and tail are words 0 and 1.
fn take<A: Algorithm>(tx: &mut CpuTx<'_, '_, A>, v: &Views<A>) -> TxResult<()> {
    let head = tx.read(&v.words, 0)?;
    tx.write(&v.words, 0, head + 1)?;
    if tx.read(&v.words, 1)? == head {
        return tx.retry();
    }
    Ok(())
}

/// Those that wait in rounds are counted in `verify/tests/sim/waiting.rs`.
#[test]
fn a_launch_in_which_all_threads_wait_ends_and_counts_them() {
    under_all!(A => {
        let ended = world::<A>(2, 2).launch(|lane, v| {
            let _ = v.stm.atomically(lane, |tx| take(tx, v));
        });
        assert_waits(ended, 4, 4);
        if A::TEAMS {
            let ended = world::<A>(4, 1).launch(|lane, v| v.stm.for_each_team(lane, 0..4, |tx, _| {
                let leads = tx.rank() == 0;
                tx.read_many(&v.words, [leads.then_some(0), leads.then_some(1)])?;
                // One lane is enough, as no call on the transaction follows.
                if leads { tx.retry() } else { Ok(()) }
            }));
            assert_waits(ended, 4, 4);
        }
    });
}

/// The last block puts items in, the others take them out.
#[test]
fn producers_that_are_never_resident_are_named() {
    let blocks = 4 * std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let mut world = World::<Fast>::new(Launch::new(blocks, 1), |_| ());
    let ended = world.launch(|lane, v| {
        let last = lane.grid_thread() + 1 == lane.grid_threads();
        let put = |tx: &mut CpuTx<'_, '_, Fast>| tx.write(&v.words, 1, blocks);
        let _ = (v.stm).atomically(lane, |tx| if last { put(tx) } else { take(tx, v) });
    });
    assert_waits(ended, blocks.into(), u64::from(blocks / 4));
}

/// The first transaction waits until the other changes what either alternative has read.
#[test]
fn a_transaction_that_waits_is_woken_by_what_either_alternative_has_read() {
    under_all!(A => for which in 0..2 {
        let mut world = world::<A>(2, 1);
        let took = |tx: &mut CpuTx<'_, '_, A>, v: &Views<A>, found: u32| match found {
            0 => tx.retry(),
            found => tx.write(&v.words, 3, found),
        };
        let ended = world.each(2, |tx, v, i| match (i, which) {
            (0, _) => tx.or_else(
                |tx| {
                    // It must be undone.
                    tx.write(&v.words, 2, 100)?;
                    let found = tx.read(&v.words, 0)?;
                    took(tx, v, found)
                },
                |tx| {
                    let found = tx.read_sum(&v.sums, 0, 1)?;
                    took(tx, v, found)
                },
            ),
            (_, 0) => tx.write(&v.words, 0, 9),
            _ => tx.add(&v.sums, 0, 1, 9),
        });
        ended.unwrap();
        assert_eq!(world.words()[2..4], [if which == 0 { 100 } else { 0 }, 9]);
    });
}

#[test]
fn a_retry_with_nothing_read_is_a_fault() {
    under_all!(A => {
        let ended = world::<A>(1, 1).each(1, |tx, v, _| {
            tx.write(&v.words, 0, 1)?;
            tx.retry()
        });
        assert_eq!(ended.err(), Some(Error::RetryWithoutReads { transaction: 0 }));
    });
}

const TRANSACTIONS: u64 = 400;
const COMMITS: u64 = TRANSACTIONS - TRANSACTIONS.div_ceil(3);

/// Each transaction defers an action of each kind; the counts are commits, aborts, and both as `with` reports
/// them. With one poll, `vbv` may also abort as it begins, before the closure has deferred anything.
#[test]
fn every_commit_and_every_abort_executes_its_actions_once() {
    under_all!(A => {
        let cpu = Cpu::new();
        let small = Buffer::<_, u32>::zeroed(&cpu, 1, "small").unwrap();
        let float = Buffer::<_, f32>::zeroed(&cpu, 1, "float").unwrap();
        let entered = Buffer::<_, u64>::zeroed(&cpu, 1, "entered").unwrap();
        let (one, half, entries) = (small.tarray(), float.tarray(), entered.tarray());
        let mut world = World::<A>::new(together(2, 2), |c| {
            (c.capacity.actions, c.retry_limits.read_polls) = (8, 1);
        });
        let done = world.launch(|lane, v| {
            // SAFETY: an element of a live array, which lanes alone access.
            let tell = |to: &TArray<u64>, i, n| unsafe { lane.add_relaxed_64(to.get(i).unwrap(), n) };
            let count = |tx: &mut CpuTx<'_, '_, A>, i| {
                tell(&entries, 0, 1);
                tx.at_abort(Action::add(&v.counts, 1, 1))?;
                let old = tx.read(&v.wide, 0)?;
                tx.at_commit(Action::add(&v.counts, 0, 1))?;
                tx.at_commit(Action::add(&one, 0, 1))?;
                tx.at_commit(Action::add(&half, 0, 0.5))?;
                tx.write(&v.wide, 0, old + 1)?;
                if i % 3 == 0 { tx.cancel() } else { Ok(2) }
            };
            let (committed, aborted) = (|_, result| tell(&v.counts, 2, result), |_, _| tell(&v.counts, 3, 1));
            v.stm.loops(lane).with(committed, aborted).each(0..TRANSACTIONS, count);
        });
        let done = done.unwrap();
        let aborted = done.aborted();
        assert_eq!(done.aborted_for("user"), TRANSACTIONS - COMMITS);
        assert_eq!(world.wide()[0], COMMITS);
        let entered = entered.download().unwrap()[0];
        assert_eq!(world.counts(), [COMMITS, entered - COMMITS, 2 * COMMITS, aborted]);
        assert!(entered == done.attempts || A::NAME == "vbv" && entered < done.attempts);
        assert_eq!(small.download().unwrap(), [COMMITS as u32]);
        assert_eq!(float.download().unwrap(), [COMMITS as f32 / 2.0]);
    });
}

#[test]
fn teams_execute_the_actions_of_their_lanes() {
    under_all!(A => if A::TEAMS {
        let mut world = world::<A>(2, 2);
        let done = world.launch(|lane, v| v.stm.for_each_team(lane, 0..TRANSACTIONS, |tx, i| {
            tx.at_abort(Some(Action::add(&v.counts, 1, 1)))?;
            let leads = tx.rank() == 0;
            let old = tx.read(&v.wide, leads.then_some(0))?;
            tx.at_commit(leads.then(|| Action::add(&v.counts, 0, 1)))?;
            tx.write(&v.wide, old.map(|old| (0, old + 1)))?;
            if i % 3 == 0 { tx.cancel() } else { Ok(()) }
        }));
        let aborted = done.unwrap().aborted();
        assert_eq!((world.wide()[0], &world.counts()[..2]), (COMMITS, &[COMMITS, aborted][..]));
    });
}

/// Several actions on one word, after a commit or an abort, which may be of a first alternative alone.
#[test]
fn actions_of_a_commit_go_forwards_and_those_of_an_abort_backwards() {
    under_all!(A => {
        let mut world = world::<A>(1, 1);
        let ended = world.each(2, |tx, v, i| {
            for n in 1..=2 {
                tx.at_commit(Action::store(&v.counts, 0, n))?;
                tx.at_abort(Action::store(&v.counts, 1, n))?;
            }
            if i == 1 {
                return tx.cancel();
            }
            tx.at_commit(Action::set_bits(&v.counts, 2, 0b110))?;
            tx.or_else(
                |tx| {
                    tx.at_commit(Action::store(&v.counts, 2, 0))?;
                    tx.at_abort(Action::add(&v.counts, 3, 1))?;
                    tx.read(&v.words, 0)?;
                    tx.retry()
                },
                |tx| tx.at_commit(Action::clear_bits(&v.counts, 2, 0b010)),
            )
        });
        ended.unwrap();
        assert_eq!(world.counts(), [2, 1, 0b100, 1]);
    });
}

#[test]
fn a_bit_released_twice_a_full_log_and_a_wrong_index_are_faults() {
    under_all!(A => {
        let mut twice = world::<A>(1, 2);
        twice.counts.upload(&[0b111, 0, 0, 0]).unwrap();
        let ended = twice.each(2, |tx, v, i| {
            let old = tx.read(&v.wide, 0)?;
            tx.write(&v.wide, 0, old + 1)?;
            tx.at_commit(Action::release_bits(&v.counts, 0, 0b100, 70 + i))
        });
        assert_ends!(ended, Err(Error::FreedTwice { subject: 70 | 71, .. }));
        let full = world::<A>(1, 1).each(1, |tx, v, _| {
            (0..9).try_for_each(|_| tx.at_commit(Action::add(&v.counts, 0, 1)))
        });
        let (set, limit, transaction) = ("action log", 8, 0);
        assert_eq!(full.err(), Some(Error::CapacityExceeded { set, limit, transaction }));
        let outside = world::<A>(1, 1).each(1, |tx, v, _| {
            tx.at_abort(Action::add(&v.counts, 1, 1))?;
            tx.at_commit(Action::add(&v.counts, 4, 1))
        });
        let (index, len) = (4, 4);
        assert_eq!(outside.err(), Some(Error::OutOfRange { index, len, transaction }));
    });
}
