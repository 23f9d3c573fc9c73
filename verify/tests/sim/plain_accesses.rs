//! What plain accesses may do before, beside and after transactions: the rules
//! of `docs/architecture.md`, "Plain accesses beside transactions". Each has a
//! test under every algorithm that it holds, and one that shows what breaks it.
// The simulator checks each operation, and all words are live.
#![allow(clippy::undocumented_unsafe_blocks)]

use crate::prelude::*;
use crate::recorded::small;
use stm_core::algorithm::Vbv;

const SEEDS: u64 = 400;

/// What the lanes of a run share.
struct World<A: Algorithm> {
    stm: StmRef<A>,
    /// One transactional word, which says who may use the rest.
    link: A::Array<u32>,
    data: A::Array<u32>,
    plain: *mut u32,
    results: *mut u32,
}

impl<A: Algorithm> World<A> {
    fn load(&self, lane: &SimLane<'_>, i: usize) -> u32 {
        unsafe { lane.load_relaxed_32(self.plain.wrapping_add(i)) }
    }

    fn store(&self, lane: &SimLane<'_>, i: usize, v: u32) {
        unsafe { lane.store_relaxed_32(self.plain.wrapping_add(i), v) }
    }

    /// Leaves two results, from place `i` on.
    fn leave(&self, lane: &SimLane<'_>, i: usize, found: [u32; 2]) {
        for (i, found) in (i..).zip(found) {
            unsafe { lane.store_relaxed_32(self.results.wrapping_add(i), found) }
        }
    }

    fn peek(&self, lane: &SimLane<'_>, i: u64) -> u32 {
        self.data.peek(lane, i).unwrap()
    }

    fn set_link(&self, lane: &SimLane<'_>, v: u32) {
        let set = |tx: &mut Tx<'_, _, A>| tx.write(&self.link, 0, v);
        self.stm.atomically(lane, set).unwrap();
    }

    /// Writes a number to both words of data, if the link is as wanted.
    fn set_data(&self, lane: &SimLane<'_>, v: u32, wanted: Option<u32>) {
        let set = self.stm.atomically(lane, |tx| {
            if wanted.is_none() || Some(tx.read(&self.link, 0)?) == wanted {
                tx.write(&self.data, 0, v)?;
                tx.write(&self.data, 1, v)?;
            }
            Ok(())
        });
        set.unwrap();
    }
}

struct Left {
    results: [u32; 8],
    data: Vec<u32>,
    plain: Vec<u32>,
}

type Launched<'a, A> = dyn Fn(&SimLane<'_>, &World<A>) + 'a;

/// Runs launches of `lanes` lanes on one memory, one after the other, under many seeds, and returns
/// what each seed left. The two plain words are 5 and 6 before, all others 0.
fn runs<A: Algorithm>(lanes: u32, launches: &[&Launched<'_, A>]) -> Vec<Left> {
    let run = |seed: u64| {
        let schedule = match seed % 3 {
            0 => Schedule::starve(16),
            _ => Schedule::Random,
        };
        let sim = Sim::new(SimConfig::of(1, schedule).with_stale(50).with_seed(seed));
        let link = array::<A, u32, _>(&sim, &[0], "link");
        let data = array::<A, u32, _>(&sim, &[0; 2], "data");
        let plain = Buffer::<_, u32>::from_slice(&sim, &[5, 6], "plain").unwrap();
        let results = Buffer::<_, u32>::zeroed(&sim, 8, "results").unwrap();
        let shape = Launch::new(lanes, 1);
        let mut sizes = small(8, 8);
        (sizes.locks, sizes.stripe_bytes) = (64, 4);
        let stm = Stm::new(&sim, shape, sizes).unwrap();
        let world = World {
            stm: stm.handle::<A>(),
            link: link.view::<A>(),
            data: data.view::<A>(),
            plain: plain.as_mut_ptr(),
            results: results.as_mut_ptr(),
        };
        for launch in launches {
            sim.run(&shape, |lane| launch(lane, &world))
                .unwrap_or_else(|error| panic!("{} on {}: {error}", A::NAME, sim.config()));
        }
        Left {
            results: results.download().unwrap().try_into().unwrap(),
            data: data.download().unwrap(),
            plain: plain.download().unwrap(),
        }
    };
    (0..SEEDS).map(run).collect()
}

/// Runs one launch in which the first of `lanes` lanes does something else than the others.
fn beside<A: Algorithm>(
    lanes: u32,
    first: &Launched<'_, A>,
    others: &Launched<'_, A>,
) -> Vec<Left> {
    let both = |lane: &SimLane<'_>, world: &World<A>| match lane.block_index() {
        0 => first(lane, world),
        _ => others(lane, world),
    };
    runs(lanes, &[&both])
}

fn count(runs: &[Left], holds: impl Fn(&Left) -> bool) -> usize {
    runs.iter().filter(|left| holds(left)).count()
}

/// Rule 1. What breaks it is a store during the launch, which nothing publishes.
#[test]
fn what_the_host_wrote_before_the_launch_is_there() {
    under_all!(A => {
        let before = runs::<A>(2, &[&|lane, world| {
            let read = world.stm.atomically(lane, |tx| tx.read(&world.data, 1));
            let found = [world.load(lane, 1), read.unwrap()];
            world.leave(lane, 2 * lane.block_index() as usize, found);
        }]);
        assert!(before.iter().all(|left| left.results[..4] == [6, 0, 6, 0]));
        let store = |lane: &SimLane<'_>, world: &World<A>| {
            world.store(lane, 0, 50);
            world.store(lane, 1, 60);
        };
        let during = beside::<A>(2, &store, &|lane, world| {
            let second = world.load(lane, 1);
            world.leave(lane, 0, [second, world.load(lane, 0)]);
        });
        assert!(count(&during, |left| left.results[..2] == [60, 5]) > 0);
    });
}

fn counts_up<A: Algorithm>(lane: &SimLane<'_>, world: &World<A>) {
    (1..=6).for_each(|v| world.set_data(lane, v, None));
}

fn peek_twice<A: Algorithm>(lane: &SimLane<'_>, world: &World<A>) {
    let first = world.peek(lane, 0);
    world.leave(lane, 0, [first, world.peek(lane, 1)]);
}

/// Rule 2: a peek finds what the host or a commit left. What breaks it: two are no transaction.
#[test]
fn a_peek_never_goes_back_and_two_are_no_snapshot() {
    under_all!(A => {
        let runs = beside::<A>(2, &counts_up, &|lane, world| for i in 0..4 {
            let first = world.peek(lane, 0);
            world.leave(lane, 2 * i, [first, world.peek(lane, 0)]);
        });
        let forwards = |left: &Left| left.results.is_sorted() && left.results[7] <= 6;
        assert!(runs.iter().all(forwards));
        assert!(count(&runs, |left| (1..6).contains(&left.results[7])) > 0);
        let twice = beside::<A>(2, &counts_up, &peek_twice);
        assert!(count(&twice, |left| left.results[0] != left.results[1]) > 0);
    });
}

/// Rule 3: a plain store before a transaction is seen by whoever reads, in a transaction, a word
/// that its commit wrote. What breaks it: the link is peeked at and not read.
#[test]
fn a_commit_publishes_to_transactions_and_not_to_peeks() {
    under_all!(A => {
        let publish = |lane: &SimLane<'_>, world: &World<A>| {
            world.store(lane, 0, 50);
            world.set_link(lane, 1);
        };
        let runs = beside::<A>(3, &publish, &|lane, world| {
            let found = world.stm.atomically(lane, |tx| {
                let link = tx.read(&world.link, 0)?;
                Ok([link, world.load(lane, 0)])
            });
            world.leave(lane, 2 * lane.block_index() as usize, found.unwrap());
        });
        let published = |left: &Left| left.results[2] == 1 || left.results[4] == 1;
        assert!(count(&runs, published) > SEEDS as usize / 20);
        for found in runs.iter().flat_map(|left| left.results[2..6].chunks(2)) {
            assert!(found[0] == 0 || found[1] == 50, "{}: {found:?}", A::NAME);
        }
        let runs = beside::<A>(2, &publish, &|lane, world| {
            let link = world.link.peek(lane, 0).unwrap();
            world.leave(lane, 0, [link, world.load(lane, 0)]);
        });
        assert!(count(&runs, |left| left.results[..2] == [1, 5]) > 0);
    });
}

/// Three lanes count twice each in the plain word, whenever they have taken the link; or already in
/// the attempt that takes it. Returns in how many runs a count is lost or one too many.
fn hand_over<A: Algorithm>(inside: bool) -> usize {
    let count_twice = |lane: &SimLane<'_>, world: &World<A>| {
        let take = || {
            let taken = world.stm.atomically(lane, |tx| {
                if tx.read(&world.link, 0)? != 0 {
                    return Ok(false);
                }
                if inside {
                    world.store(lane, 0, world.load(lane, 0) + 1);
                }
                tx.write(&world.link, 0, 1)?;
                Ok(true)
            });
            taken.unwrap()
        };
        for _ in 0..2 {
            while !take() {
                lane.pause(1);
            }
            if !inside {
                world.store(lane, 0, world.load(lane, 0) + 1);
            }
            world.set_link(lane, 0);
        }
    };
    let runs = runs::<A>(3, &[&count_twice]);
    count(&runs, |left| left.plain[0] != 5 + 6)
}

/// Rule 4. What breaks it is an access before the commit, by an attempt that may abort. Under the
/// coarse lock none aborts.
#[test]
fn plain_words_belong_to_the_owner_of_their_link_after_its_commit() {
    under_all!(A => assert_eq!(hand_over::<A>(false), 0));
    let early = [hand_over::<Fast>, hand_over::<HvSorting>, hand_over::<Vbv>];
    assert!(early.iter().all(|hand_over| hand_over(true) > 0));
}

/// Two lanes write the data as long as the link is 0. A third one removes the link and then peeks
/// at the data. Returns in how many runs that was not what the data were in the end.
fn privatised<A: Algorithm>(read: bool) -> usize {
    let remove = |lane: &SimLane<'_>, world: &World<A>| {
        let remove = world.stm.atomically(lane, |tx| {
            if read {
                tx.read_many(&world.data, [0, 1])?;
            }
            tx.write(&world.link, 0, 1)
        });
        remove.unwrap();
        peek_twice(lane, world);
    };
    let runs = beside::<A>(3, &remove, &|lane, world| {
        (0..2).for_each(|k| world.set_data(lane, 10 * lane.block_index() + k, Some(0)));
    });
    assert!(count(&runs, |left| left.results[0] != 0) > 0);
    count(&runs, |left| left.results[..2] != left.data)
}

/// Rule 5: once a commit has removed the last link to transactional words that it has read, a peek
/// finds what they are from then on. Those that were not read may still be written back, unless an
/// algorithm waits for those that write back.
#[test]
fn a_peek_at_privatised_words_that_were_read_is_final() {
    under_all!(A => assert_eq!(privatised::<A>(true), 0, "{}", A::NAME));
    assert!(privatised::<Fast>(false) > 0);
}

/// Rule 6.
#[test]
fn the_next_launch_and_the_host_see_everything_after_the_launch() {
    under_all!(A => {
        let write = |lane: &SimLane<'_>, world: &World<A>| if lane.block_index() == 0 {
            world.store(lane, 0, 50);
            counts_up(lane, world);
            world.store(lane, 1, 60);
        };
        let look = |lane: &SimLane<'_>, world: &World<A>| {
            let sum = world.load(lane, 0) + world.load(lane, 1);
            world.leave(lane, 2 * lane.block_index() as usize, [sum, world.peek(lane, 1)]);
        };
        for left in &runs::<A>(3, &[&write, &look]) {
            assert_eq!(left.results[..6], [110, 6, 110, 6, 110, 6]);
            assert_eq!((&left.plain[..], &left.data[..]), (&[50, 60][..], &[6, 6][..]));
        }
    });
}
