//! Transactions that wait for either of two bounded queues, in rounds and by teams, recorded and judged under every
//! algorithm and schedule. Programs have other waits (`silent-turns`), and catch the seeded defects.

use crate::prelude::*;
use stm_core::Action;
use stm_core::collections::Queue;

const ITEMS: u64 = 10;
const PLACES: u64 = 2;

fn config(k: u64) -> SimConfig {
    let config = numbered(k, "lockstep stack random starve64 pct3x4000", [1, 2, 4, 8]);
    config.with_limits(5_000_000, 1_000_000)
}

/// Sends the items by a kernel, which adds those taken to a word, and notes how often it waited.
fn sends<A: Algorithm>(
    (sim, run): (&Sim, &Run),
    launch: Launch,
    waits: &Cell<u64>,
    kernel: impl Fn(&SimLane<'_>, &StmRef<A>, &stm_core::TArray<u64>),
) -> Checked {
    let tally = Buffer::<_, u64>::zeroed(sim, 1, "tally")?;
    let taken = tally.tarray();
    let done = ended::<A>(sim, launch, run.config(), |lane, stm| {
        kernel(lane, stm, &taken);
    })?;
    waits.set(waits.get() + done.waits());
    let attempts = done.commits + done.aborted();
    run.holds("all attempts end", done.attempts == attempts)?;
    run.holds("all of them commit", done.commits == 2 * ITEMS)?;
    let sum = ITEMS * (ITEMS + 1) / 2;
    run.holds("all items are taken", tally.download()? == [sum])
}

/// Even transactions put an item into one of two queues, odd ones take one out.
fn in_rounds<A: Algorithm>(sim: &Sim, run: &mut Run, waits: &Cell<u64>) -> Checked {
    let queue = |what| Queue::<_, u64>::new(sim, layout::<A>(), PLACES as u32, what);
    let queues = [queue("one queue")?, queue("the other")?];
    let undone = array::<A, u32, _>(sim, &[0; 2], "undone words");
    let (views, words) = (queues.each_ref().map(Queue::view::<A>), undone.view::<A>());
    let turn = |tx: &mut SimTx<'_, '_, A>, queue: u64, i: u64| {
        // An attempt that writes first, so that there is something to undo.
        tx.write(&words, queue, i as u32)?;
        if i.is_multiple_of(2) {
            views[queue as usize].push(tx, i / 2 + 1).map(|_| 0)
        } else {
            views[queue as usize].pop(tx)
        }
    };
    sends::<A>((sim, run), eight::<A>(), waits, |lane, stm, taken| {
        // SAFETY: an element of a live array, which lanes alone access.
        let tell = |_, item| unsafe { lane.add_relaxed_64(taken.get(0).unwrap(), item) };
        let stm = stm.loops(lane).with(tell, |_, _| {});
        stm.each(0..2 * ITEMS, |tx, i| {
            tx.or_else(|tx| turn(tx, 0, i), |tx| turn(tx, 1, i))
        });
    })?;
    let left = queues[0].download()?.len() + queues[1].download()?.len();
    run.holds("the queues are empty", left == 0)
}

/// Puts an item into one of two places, or takes the one there, by a team: its first lane has the one place, its last
/// lane the other.
fn team_turn<L: Lane, A: Algorithm, C: Crew>(
    tx: &mut TeamTx<'_, L, A, C>,
    places: &A::Array<u64>,
    place: u64,
    i: u64,
) -> TxResult<u64> {
    let owner = if place == 0 { 0 } else { tx.size() - 1 };
    let mine = (tx.rank() == owner).then_some(place);
    let found = tx.read(places, mine)?;
    let found = tx.told_by(owner, found.unwrap_or(0));
    let puts = i.is_multiple_of(2);
    // It is undone where the place is not as it must be.
    let left = if puts { i / 2 + 1 } else { 0 };
    tx.write(places, mine.map(|place| (place, left)))?;
    if puts == (found != 0) {
        return tx.retry();
    }
    Ok(found)
}

fn by_teams<A: Algorithm>(sim: &Sim, run: &mut Run, waits: &Cell<u64>) -> Checked {
    let places = array::<A, u64, _>(sim, &[0; 2], "places");
    run.name(&places)?;
    let view = &places.view::<A>();
    let launch = Launch::new(4, sim.config().warp_width);
    sends::<A>((sim, run), launch, waits, |lane, stm, taken| {
        stm.for_each_team(lane, 0..2 * ITEMS, |tx, i| {
            let [one, other] = [0, 1].map(|place| move |tx: &mut _| team_turn(tx, view, place, i));
            let item = tx.or_else(one, other)?;
            let leads = tx.rank() == 0;
            tx.at_commit(leads.then(|| Action::add(taken, 0, item)))
        });
    })?;
    run.holds("the places are empty", places.download()? == [0, 0])
}

#[test]
fn queues_with_alternatives_are_opaque_and_lose_nothing() {
    fn some_wait<A: Algorithm>(run: impl Fn(&Sim, &mut Run, &Cell<u64>) -> Checked) {
        let waits = Cell::new(0);
        let check = Check::new(|sim, r| run(sim, r, &waits)).with_waiting();
        check.algorithms(&[A::VARIANT]).cases(60).seed(1).run();
        assert_ne!(waits.get(), 0);
    }
    under_all!(A => {
        some_wait::<A>(in_rounds::<A>);
        if A::TEAMS {
            some_wait::<A>(by_teams::<A>);
        }
    });
    some_wait::<Fast>(in_rounds::<Versioned<Cells, 0>>);
}

/// Returns the error that ends a launch of one transaction for each thread, on two words.
fn error<A: Algorithm>(
    launch: Launch,
    config: SimConfig,
    body: impl Fn(&mut SimTx<'_, '_, A>, &A::Array<u64>, u64) -> TxResult<()>,
) -> Option<Error> {
    let sim = Sim::new(config);
    let words = array::<A, u64, _>(&sim, &[0; 2], "words");
    let view = words.view::<A>();
    let run = |lane: &SimLane<'_>, stm: &StmRef<A>| {
        stm.for_each(lane, 0..lane.grid_threads(), |tx, i| body(tx, &view, i));
    };
    ended::<A>(&sim, launch, small(8, 8), run).err()
}

fn wait_for<A: Algorithm>(
    tx: &mut SimTx<'_, '_, A>,
    words: &A::Array<u64>,
    at: u64,
) -> TxResult<()> {
    if tx.read(words, at)? == 0 {
        return tx.retry();
    }
    tx.write(words, 1 - at, 1)
}

/// Everybody waits for one of two words; or the first two transactions wait for each other, and the others end.
#[test]
fn a_launch_in_which_everybody_waits_ends_and_says_how_many() {
    under_all!(A => {
        let launch = eight::<A>();
        for config in (0..20).map(config) {
            let all = u64::from(launch.blocks * launch.threads);
            let each = if A::GRANULE == Granule::Block { launch.blocks.into() } else { all };
            let all_wait = error::<A>(launch, config, |tx, words, _| {
                tx.or_else(|tx| wait_for(tx, words, 0), |tx| wait_for(tx, words, 1))
            });
            let expected = Error::EverybodyWaits { waiting: each, outside: all - each };
            assert_eq!(all_wait, Some(expected), "{config}");
            let circle = error::<A>(launch, config, |tx, words, i| match i {
                0 | 1 => wait_for(tx, words, 1 - i),
                _ => Ok(()),
            });
            let Some(Error::EverybodyWaits { waiting, outside }) = circle else {
                panic!("{config}: {circle:?}");
            };
            // Lanes of a warp without work count as waiting with it.
            assert!(waiting >= 2 && waiting + outside == all, "{config}");
        }
    });
}
