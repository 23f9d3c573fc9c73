//! What plain accesses may do before, beside and after transactions: the rules
//! of `docs/architecture.md`, "Plain accesses beside transactions". Each has a
//! test under every algorithm that it holds, and one that shows what breaks it.
// The simulator checks each operation, and all words are live.
#![allow(clippy::undocumented_unsafe_blocks)]

use crate::asserts::array;
use crate::recorded::small;
use crate::under_all;
use stm_core::algorithm::Algorithm;
use stm_core::host::{Buffer, Launch, Stm, StmConfig};
use stm_core::{Lane, StmRef, View};
use verify::sim::{Schedule, Sim, SimConfig, SimLane};

const SEEDS: u64 = 400;

/// What the lanes of a run share.
struct World<A: Algorithm> {
    stm: StmRef<A>,
    /// One transactional word, which says who may use the rest.
    link: A::Array<u32>,
    /// Two transactional words.
    data: A::Array<u32>,
    /// Two plain words.
    plain: *mut u32,
    /// Words in which lanes leave what they found.
    results: *mut u32,
}

impl<A: Algorithm> World<A> {
    fn load(&self, lane: &SimLane<'_>, i: usize) -> u32 {
        unsafe { lane.load_relaxed_32(self.plain.wrapping_add(i)) }
    }

    fn store(&self, lane: &SimLane<'_>, i: usize, v: u32) {
        unsafe { lane.store_relaxed_32(self.plain.wrapping_add(i), v) }
    }

    fn result(&self, lane: &SimLane<'_>, i: usize, v: u32) {
        unsafe { lane.store_relaxed_32(self.results.wrapping_add(i), v) }
    }

    fn peek(&self, lane: &SimLane<'_>, i: u64) -> u32 {
        self.data.peek(lane, i).unwrap()
    }

    /// Writes the link by a transaction.
    fn set_link(&self, lane: &SimLane<'_>, v: u32) {
        self.stm
            .atomically(lane, |tx| tx.write(&self.link, 0, v))
            .unwrap();
    }
}

/// What a run left.
struct Left {
    results: [u32; 8],
    data: Vec<u32>,
    plain: Vec<u32>,
}

/// The code of the lanes of one launch.
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
        let sizes = StmConfig {
            locks: 64,
            stripe_bytes: 4,
            ..small(8, 8)
        };
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

/// Returns in how many runs something held.
fn count(runs: &[Left], holds: impl Fn(&Left) -> bool) -> usize {
    runs.iter().filter(|left| holds(left)).count()
}

/// Rule 1: what the host wrote before the launch is there.
fn before_the_launch<A: Algorithm>() {
    let look = |lane: &SimLane<'_>, world: &World<A>| {
        let i = lane.block_index() as usize;
        let read = world.stm.atomically(lane, |tx| tx.read(&world.data, 1));
        world.result(lane, i, world.load(lane, 1) + read.unwrap());
    };
    let runs = runs::<A>(3, &[&look]);
    assert!(runs.iter().all(|left| left.results[..3] == [6; 3]));
}

/// What breaks rule 1: a store during the launch, which nothing publishes.
fn a_store_in_the_launch_is_no_store_before_it<A: Algorithm>() {
    let store = |lane: &SimLane<'_>, world: &World<A>| {
        world.store(lane, 0, 50);
        world.store(lane, 1, 60);
    };
    let runs = beside::<A>(2, &store, &|lane, world| {
        world.result(lane, 0, world.load(lane, 1));
        world.result(lane, 1, world.load(lane, 0));
    });
    assert!(count(&runs, |left| left.results[..2] == [60, 5]) > 0);
}

/// Writes the same number to both words of data, again and again.
fn counts_up<A: Algorithm>(lane: &SimLane<'_>, world: &World<A>) {
    for v in 1..=6 {
        let write = world.stm.atomically(lane, |tx| {
            tx.write(&world.data, 0, v)?;
            tx.write(&world.data, 1, v)
        });
        write.unwrap();
    }
}

/// Rule 2: a peek finds what the host or a commit left, and never goes back.
fn a_peek_beside_transactions<A: Algorithm>() {
    let runs = beside::<A>(2, &counts_up, &|lane, world| {
        (0..8).for_each(|i| world.result(lane, i, world.peek(lane, 0)));
    });
    let forwards = |left: &Left| left.results.is_sorted() && left.results[7] <= 6;
    assert!(runs.iter().all(forwards));
    assert!(count(&runs, |left| (1..6).contains(&left.results[7])) > 0);
}

/// Peeks at both words of data, and leaves what that found.
fn peek_twice<A: Algorithm>(lane: &SimLane<'_>, world: &World<A>) {
    world.result(lane, 0, world.peek(lane, 0));
    world.result(lane, 1, world.peek(lane, 1));
}

/// What breaks rule 2: two peeks are no transaction.
fn two_peeks_are_no_snapshot<A: Algorithm>() {
    let runs = beside::<A>(2, &counts_up, &peek_twice);
    assert!(count(&runs, |left| left.results[0] != left.results[1]) > 0);
}

/// Stores plainly, and then sets the link by a transaction.
fn publish<A: Algorithm>(lane: &SimLane<'_>, world: &World<A>) {
    world.store(lane, 0, 50);
    world.set_link(lane, 1);
}

/// Rule 3: a plain store before a transaction is seen by whoever reads, in a
/// transaction, a word that its commit wrote.
fn publication_by_a_commit<A: Algorithm>() {
    let runs = beside::<A>(3, &publish, &|lane, world| {
        let i = 2 * lane.block_index() as usize;
        let found = world.stm.atomically(lane, |tx| {
            let link = tx.read(&world.link, 0)?;
            Ok((link, world.load(lane, 0)))
        });
        let (link, plain) = found.unwrap();
        world.result(lane, i, link);
        world.result(lane, i + 1, plain);
    });
    let published = |left: &Left| left.results[2] == 1 || left.results[4] == 1;
    assert!(count(&runs, published) > SEEDS as usize / 20);
    for left in &runs {
        for found in left.results[2..6].chunks(2) {
            assert!(found[0] == 0 || found[1] == 50, "{}: {found:?}", A::NAME);
        }
    }
}

/// What breaks rule 3: the link is peeked at and not read.
fn a_peek_at_the_link_publishes_nothing<A: Algorithm>() {
    let runs = beside::<A>(2, &publish, &|lane, world| {
        world.result(lane, 0, world.link.peek(lane, 0).unwrap());
        world.result(lane, 1, world.load(lane, 0));
    });
    assert!(count(&runs, |left| left.results[..2] == [1, 5]) > 0);
}

/// Takes the link by a transaction, and returns whether it was free. If
/// `inside`, the attempt itself counts in the plain word.
fn take<A: Algorithm>(lane: &SimLane<'_>, world: &World<A>, inside: bool) -> bool {
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
}

fn hand_over<A: Algorithm>(inside: bool) -> usize {
    let count_twice = |lane: &SimLane<'_>, world: &World<A>| {
        for _ in 0..2 {
            while !take(lane, world, inside) {
                lane.pause(1);
            }
            if !inside {
                world.store(lane, 0, world.load(lane, 0) + 1);
            }
            world.set_link(lane, 0);
        }
    };
    count(&runs::<A>(3, &[&count_twice]), |left| {
        left.plain[0] != 5 + 6
    })
}

/// Rule 4: plain words belong to whoever has taken their link by a transaction
/// that has committed, until a commit gives it back.
fn plain_words_of_the_owner_of_a_link<A: Algorithm>() {
    assert_eq!(hand_over::<A>(false), 0);
}

/// What breaks rule 4: an access before the commit, by an attempt that may abort.
fn an_access_before_the_commit_is_nobodys<A: Algorithm>() {
    assert!(hand_over::<A>(true) > 0);
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
        for k in 0..2 {
            let v = 10 * lane.block_index() + k;
            let write = world.stm.atomically(lane, |tx| {
                if tx.read(&world.link, 0)? == 0 {
                    tx.write(&world.data, 0, v)?;
                    tx.write(&world.data, 1, v)?;
                }
                Ok(())
            });
            write.unwrap();
        }
    });
    assert!(count(&runs, |left| left.results[0] != 0) > 0);
    count(&runs, |left| left.results[..2] != left.data)
}

/// Rule 5: once a commit has removed the last link to transactional words that
/// it has read, a peek finds what they are from then on.
fn privatised_words_that_were_read<A: Algorithm>() {
    assert_eq!(privatised::<A>(true), 0, "{}", A::NAME);
}

/// Rule 6: after a launch, the host and the next launch see everything.
fn after_the_launch<A: Algorithm>() {
    let write = |lane: &SimLane<'_>, world: &World<A>| {
        if lane.block_index() == 0 {
            world.store(lane, 0, 50);
            counts_up(lane, world);
            world.store(lane, 1, 60);
        }
    };
    let look = |lane: &SimLane<'_>, world: &World<A>| {
        let i = 2 * lane.block_index() as usize;
        world.result(lane, i, world.load(lane, 0) + world.load(lane, 1));
        world.result(lane, i + 1, world.peek(lane, 1));
    };
    for left in &runs::<A>(3, &[&write, &look]) {
        assert_eq!(left.results[..6], [110, 6, 110, 6, 110, 6]);
        assert_eq!(
            (&left.plain[..], &left.data[..]),
            (&[50, 60][..], &[6, 6][..])
        );
    }
}

/// Makes a test of each rule, and of what breaks it where that shows under every algorithm.
macro_rules! rules {
    ($($test:ident: $($rule:ident)*;)*) => {
        $(
            #[test]
            fn $test() {
                under_all!(A => { $($rule::<A>();)* });
            }
        )*
    };
}

rules! {
    what_the_host_wrote_before_the_launch_is_there:
        before_the_launch a_store_in_the_launch_is_no_store_before_it;
    a_peek_never_goes_back_and_two_are_no_snapshot:
        a_peek_beside_transactions two_peeks_are_no_snapshot;
    a_commit_publishes_to_transactions_and_not_to_peeks:
        publication_by_a_commit a_peek_at_the_link_publishes_nothing;
    plain_words_belong_to_the_owner_of_their_link_after_its_commit:
        plain_words_of_the_owner_of_a_link;
    a_peek_at_privatised_words_that_were_read_is_final: privatised_words_that_were_read;
    the_next_launch_and_the_host_see_everything: after_the_launch;
}

// Under the coarse lock no attempt aborts, and whoever locks or validates all
// that it has read waits for those that write back. So what breaks the rules 4
// and 5 need not show under every algorithm.

#[test]
fn a_plain_access_before_the_commit_is_of_nobody() {
    an_access_before_the_commit_is_nobodys::<stm_core::algorithm::Fast>();
    an_access_before_the_commit_is_nobodys::<stm_core::algorithm::HvSorting>();
    an_access_before_the_commit_is_nobodys::<stm_core::algorithm::Vbv>();
}

#[test]
fn privatised_words_that_were_not_read_may_still_be_written_back() {
    assert!(privatised::<stm_core::algorithm::Fast>(false) > 0);
}
