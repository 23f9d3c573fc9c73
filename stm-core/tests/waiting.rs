//! Transactions that wait for a change, on the CPU and under every algorithm:
//! bounded queues between producers and consumers, by lanes and by teams, and
//! launches in which everybody waits, which end with an error that says so.
#![cfg(feature = "host")]

mod common;

use common::{array, launch, under_all};
use std::time::Duration;
use stm_core::algorithm::{Algorithm, Fast, Granule};
use stm_core::host::{Buffer, Cpu, Error, Launch, Statistics, Stm, StmConfig, Sums};
use stm_core::{Lane, StmRef, TArray, TSums, Tx, TxResult};

/// The items that go through a queue.
const ITEMS: u64 = 400;
/// The places of a queue.
const PLACES: u64 = 3;

#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    /// Even transactions put an item into the queue, odd ones take one out.
    Queue,
    /// The same by `atomically`.
    Alone,
    /// The same by teams.
    Teams,
    /// Everybody takes from the empty queue.
    Consumers,
    /// The same by `atomically`.
    ConsumersAlone,
    /// The same by teams.
    ConsumerTeams,
    /// Transaction i waits for transaction i + 1, and the last for the first.
    Circle,
    /// The last block puts items in, the others take them out.
    LastProduces,
    /// The first transaction waits until a sum has been added to.
    Sum,
    /// It retries before it has read anything.
    NothingRead,
}

struct P<A: Algorithm> {
    stm: StmRef<A>,
    /// Head and tail.
    ends: A::Array<u64>,
    items: A::Array<u32>,
    sums: TSums<u64>,
    /// The sum of the items taken.
    taken: TArray<u64>,
}

impl<A: Algorithm> P<A> {
    fn put<L: Lane>(&self, tx: &mut Tx<'_, L, A>, item: u32) -> TxResult<u64> {
        let [head, tail] = tx.read_many(&self.ends, [0, 1])?;
        if tail - head == PLACES {
            return tx.retry();
        }
        tx.write(&self.items, tail % PLACES, item)?;
        tx.write(&self.ends, 1, tail + 1)?;
        Ok(0)
    }

    fn take<L: Lane>(&self, tx: &mut Tx<'_, L, A>) -> TxResult<u64> {
        let [head, tail] = tx.read_many(&self.ends, [0, 1])?;
        if tail == head {
            return tx.retry();
        }
        tx.write(&self.ends, 0, head + 1)?;
        Ok(tx.read(&self.items, head % PLACES)?.into())
    }

    fn put_or_take<L: Lane>(&self, tx: &mut Tx<'_, L, A>, i: u64) -> TxResult<u64> {
        if i.is_multiple_of(2) {
            self.put(tx, i as u32 / 2 + 1)
        } else {
            self.take(tx)
        }
    }

    fn tell<L: Lane>(&self, lane: &L, item: u64) {
        // SAFETY: an element of a live array, which lanes alone access.
        unsafe { lane.add_relaxed_64(self.taken.get(0).unwrap(), item) };
    }

    fn teams<L: Lane>(&self, lane: &L, consumers_only: bool) {
        let items = if consumers_only { 4 } else { 2 * ITEMS };
        self.stm.for_each_team(lane, 0..items, |tx, i| {
            let leads = tx.rank() == 0;
            let [head, tail] =
                tx.read_many(&self.ends, [leads.then_some(0), leads.then_some(1)])?;
            let head = tx.told_by(0, head.unwrap_or(0));
            let tail = tx.told_by(0, tail.unwrap_or(0));
            if i.is_multiple_of(2) && !consumers_only {
                if tail - head == PLACES {
                    return tx.retry();
                }
                let item = leads.then_some((tail % PLACES, i as u32 / 2 + 1));
                tx.write(&self.items, item)?;
                tx.write(&self.ends, leads.then_some((1, tail + 1)))?;
            } else {
                if tail == head {
                    // One lane is enough, as no call on the transaction follows.
                    return if leads { tx.retry() } else { Ok(()) };
                }
                tx.write(&self.ends, leads.then_some((0, head + 1)))?;
                tx.read(&self.items, leads.then_some(head % PLACES))?;
                if leads {
                    tx.at_commit(Some(stm_core::Action::add(&self.taken, 0, 1)))?;
                } else {
                    tx.at_commit(None)?;
                }
            }
            Ok(())
        });
    }

    fn run<L: Lane>(&self, lane: &L, how: How) {
        let (thread, threads) = (lane.grid_thread(), lane.grid_threads());
        match how {
            How::Queue => self.stm.for_each_with(
                lane,
                0..2 * ITEMS,
                |tx, i| self.put_or_take(tx, i),
                |_, item| self.tell(lane, item),
                |_, _| {},
            ),
            How::Alone => {
                for i in (thread..2 * ITEMS).step_by(threads as usize) {
                    match self.stm.atomically(lane, |tx| self.put_or_take(tx, i)) {
                        Ok(item) => self.tell(lane, item),
                        Err(_) => return,
                    }
                }
            }
            How::Teams => self.teams(lane, false),
            How::ConsumerTeams => self.teams(lane, true),
            How::Consumers => self.stm.for_each(lane, 0..threads, |tx, _| {
                self.take(tx)?;
                Ok(())
            }),
            How::ConsumersAlone => {
                let _ = self.stm.atomically(lane, |tx| self.take(tx));
            }
            How::Circle => self.stm.for_each(lane, 0..PLACES, |tx, i| {
                if tx.read(&self.items, (i + 1) % PLACES)? == 0 {
                    return tx.retry();
                }
                tx.write(&self.items, i, 1)
            }),
            How::LastProduces => {
                let producer = thread + 1 == threads;
                let _ = self.stm.atomically(lane, |tx| {
                    if producer {
                        tx.write(&self.ends, 1, threads)
                    } else {
                        self.take(tx).map(|_| ())
                    }
                });
            }
            How::Sum => self.stm.for_each(lane, 0..2, |tx, i| {
                if i == 0 {
                    if tx.read_sum(&self.sums, 0, 1)? == 0 {
                        return tx.retry();
                    }
                    tx.write(&self.ends, 0, 5)
                } else {
                    tx.add(&self.sums, 0, 1, 7)
                }
            }),
            How::NothingRead => self.stm.for_each(lane, 2..3, |tx, _| {
                tx.write(&self.ends, 0, 1)?;
                tx.retry()
            }),
        }
    }
}

struct Done {
    ends: Vec<u64>,
    taken: u64,
    statistics: Statistics,
}

fn go<A: Algorithm>(how: How, mut shape: Launch, cooperative: bool) -> Result<Done, Error> {
    let cpu = Cpu::new();
    shape.cooperative = cooperative;
    let config = StmConfig {
        locks: 64,
        time_limit: Some(Duration::from_mins(2)),
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&cpu, shape, config)?;
    let ends = array::<A, u64>(&[0; 2], "ends");
    let items = array::<A, u32>(&[0; PLACES as usize], "items");
    let sums = Sums::zeroed(&cpu, 1, 2, "sums")?;
    let taken = Buffer::<_, u64>::zeroed(&cpu, 1, "taken")?;
    let p = P {
        stm: stm.handle::<A>(),
        ends: ends.view::<A>(),
        items: items.view::<A>(),
        sums: sums.view(),
        taken: taken.tarray(),
    };
    let statistics = launch(&mut stm, |lane| p.run(lane, how))?;
    Ok(Done {
        ends: ends.download()?,
        taken: taken.download()?[0],
        statistics,
    })
}

/// Returns how many threads of a launch run transactions in a loop.
fn granules<A: Algorithm>(launch: &Launch) -> u64 {
    match A::GRANULE {
        Granule::Block => launch.blocks.into(),
        Granule::Lane | Granule::LaneInTurn => u64::from(launch.blocks * launch.threads),
    }
}

fn the_queue_passes_all<A: Algorithm>(how: How, total: u64) {
    for (blocks, threads) in [(2, 1), (2, 2), (4, 3)] {
        let done = go::<A>(how, Launch::new(blocks, threads), true)
            .unwrap_or_else(|error| panic!("{} {how:?} {blocks}x{threads}: {error}", A::NAME));
        assert_eq!(done.ends, [ITEMS, ITEMS], "{}", A::NAME);
        assert_eq!(done.taken, total, "{}", A::NAME);
        let statistics = done.statistics;
        assert_eq!(statistics.commits, 2 * ITEMS);
        assert_eq!(
            statistics.attempts,
            statistics.commits + statistics.aborted()
        );
        assert!(statistics.waits() != 0, "{}", A::NAME);
    }
}

#[test]
fn everything_goes_through_a_bounded_queue() {
    under_all!(A => the_queue_passes_all::<A>(How::Queue, ITEMS * (ITEMS + 1) / 2));
}

#[test]
fn everything_goes_through_a_bounded_queue_by_single_transactions() {
    under_all!(A => the_queue_passes_all::<A>(How::Alone, ITEMS * (ITEMS + 1) / 2));
}

#[test]
fn everything_goes_through_a_bounded_queue_by_teams() {
    under_all!(A => {
        if A::TEAMS {
            the_queue_passes_all::<A>(How::Teams, ITEMS);
        }
    });
}

#[test]
fn a_launch_in_which_all_threads_wait_ends_and_counts_them() {
    under_all!(A => {
        for (how, launch) in [
            (How::Consumers, Launch::new(1, 1)),
            (How::Consumers, Launch::new(3, 2)),
            (How::ConsumersAlone, Launch::new(2, 2)),
            (How::ConsumerTeams, Launch::new(4, 1)),
        ] {
            if how == How::ConsumerTeams && !A::TEAMS {
                continue;
            }
            let threads = u64::from(launch.blocks * launch.threads);
            let waiting = match how {
                How::ConsumersAlone => threads,
                _ => granules::<A>(&launch),
            };
            let ended = go::<A>(how, launch, true).err();
            let outside = threads - waiting;
            assert_eq!(ended, Some(Error::EverybodyWaits { waiting, outside }), "{}", A::NAME);
        }
    });
}

#[test]
fn a_circle_of_waits_is_found_beside_threads_that_have_ended() {
    under_all!(A => {
        let launch = Launch::new(4, 1);
        let ended = go::<A>(How::Circle, launch, true).err();
        assert_eq!(ended, Some(Error::EverybodyWaits { waiting: 3, outside: 1 }), "{}", A::NAME);
    });
}

#[test]
fn producers_that_are_never_resident_are_named() {
    let blocks = 4 * std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let Some(Error::EverybodyWaits { waiting, outside }) =
        go::<Fast>(How::LastProduces, Launch::new(blocks, 1), false).err()
    else {
        panic!("the producer was resident");
    };
    assert_eq!(waiting + outside, blocks.into());
    assert_eq!(waiting, u64::from(blocks / 4));
}

#[test]
fn an_addition_wakes_who_has_read_the_sum() {
    under_all!(A => {
        let done = go::<A>(How::Sum, Launch::new(2, 1), true).unwrap();
        assert_eq!(done.ends[0], 5, "{}", A::NAME);
    });
}

#[test]
fn a_retry_with_nothing_read_is_a_fault() {
    under_all!(A => {
        let ended = go::<A>(How::NothingRead, Launch::new(1, 1), true).err();
        assert_eq!(ended, Some(Error::RetryWithoutReads { transaction: 2 }), "{}", A::NAME);
    });
}
