//! Transactions of teams on the simulator: what their lanes may not do to each other. Programs have teams of warps, or of
//! blocks, beside single lanes, recorded and judged.

use crate::prelude::*;

/// What the lanes of a team do, one step after the other. `?o` reads the lane's own word, `?h` one that it
/// has in common with a neighbour, and `?9` word 9; `=o` writes there 1 more than it has read. Behind a comma is
/// what the last lane does in its place, with `-` for nothing. By `!` the last lane cancels.
fn steps<L: Lane, A: Algorithm, C: Crew>(
    tx: &mut TeamTx<'_, L, A, C>,
    words: &A::Array<u64>,
    how: &str,
) -> TxResult<()> {
    let last = tx.rank() + 1 == tx.size();
    let own = u64::from(tx.rank());
    let mut found = 0;
    for step in how.split(' ') {
        let (all, of_last) = step[1..]
            .split_once(',')
            .unwrap_or((&step[1..], &step[1..]));
        let at = match if last { of_last } else { all } {
            "" | "-" => None,
            "o" => Some(own),
            "h" => Some(own / 2),
            number => number.parse().ok(),
        };
        match &step[..1] {
            "?" => found = tx.read(words, at)?.unwrap_or(0),
            "=" => tx.write(words, at.map(|at| (at, found + 1)))?,
            _ if last => return tx.cancel(),
            _ => {}
        }
    }
    Ok(())
}

/// Two warps of four, or two blocks of five, on words with one lock for two; what came of it, and the words.
fn misuse<A: Algorithm>(how: &str, seed: u64, of_block: bool) -> (Result<u64, Error>, Vec<u64>) {
    let config = SimConfig::of(4, Schedule::Random).with_stale(30);
    let sim = Sim::new(config.with_seed(seed));
    let words = array::<A, u64, _>(&sim, &[0; 12], "words");
    let mut config = small(8, 4);
    config.stripe_bytes = 16;
    let shape = [Launch::new(1, 8), Launch::new(2, 5)][usize::from(of_block)];
    let view = words.view::<A>();
    let ended = ended::<A>(&sim, shape, config, |lane, stm| {
        if of_block {
            stm.for_each_block_team(lane, 0..6, |tx, _| steps(tx, &view, how));
        } else {
            stm.for_each_team(lane, 0..6, |tx, _| steps(tx, &view, how));
        }
    });
    (ended.map(|done| done.commits), words.download().unwrap())
}

fn misuses<A: Algorithm>(of_block: bool) {
    let members = if of_block { 5 } else { 4 };
    let misuse = |how, seed| misuse::<A>(how, seed, of_block);
    // More reads than the set of the last lane holds.
    let many = "?-,0 ?-,1 ?-,2 ?-,3 ?-,4 ?-,5 ?-,6 ?-,7 ?-,8 ?-,9";
    for seed in 0..40 {
        // What each member leaves in its own word, and the commits.
        for (how, value, commits) in [("?o =o", 6, 6), ("?9 =o", 1, 6), ("=o !", 0, 0)] {
            let (ended, words) = misuse(how, seed);
            assert_eq!(ended, Ok(commits), "{how}");
            let left = [[value].repeat(members), [0].repeat(12 - members)].concat();
            assert_eq!(words, left, "{how}");
        }
        // Two write one word, which they have read or not; one reads what another writes.
        for how in ["=h", "?h =h", "?-,0 =o,-"] {
            let (ended, words) = misuse(how, seed);
            assert_is!(ended, Err(Error::TeamOverlap { transaction: 0 | 1 }));
            assert_eq!(words, [0; 12], "{how}");
        }
        let (past, full) = (misuse("?o,77", seed).0, misuse(many, seed).0);
        assert_is!(past, Err(Error::OutOfRange { index: 77, .. }));
        assert_is!(full, Err(Error::CapacityExceeded { limit: 8, .. }));
    }
}

#[test]
fn lanes_that_get_into_each_others_way_are_a_fault() {
    for of_block in [false, true] {
        of_each!(misuses(of_block): Fast, FastTable);
    }
}

#[test]
fn an_algorithm_without_teams_says_so() {
    for of_block in [false, true] {
        let (ended, words) = misuse::<HvSorting>("?o =o", 1, of_block);
        assert_is!(ended, Err(Error::NoTeams));
        assert_eq!(words, [0; 12]);
    }
}

/// A loop that all lanes of a warp of four begin, or all but `gone`.
fn begun_without<A: Algorithm>(gone: u32, seed: u64) -> Result<u64, Error> {
    let sim = Sim::new(SimConfig::of(4, Schedule::Random).with_seed(seed));
    let words = array::<A, u64, _>(&sim, &[0; 12], "words");
    let view = words.view::<A>();
    let ended = ended::<A>(&sim, Launch::new(1, 8), small(8, 4), |lane, stm| {
        if lane.thread_index() != gone {
            stm.for_each(lane, 0..24, |tx, i| {
                let v = tx.read(&view, i % 12)?;
                tx.write(&view, i % 12, v + 1)
            });
        }
    });
    ended.map(|done| done.commits)
}

#[test]
fn a_loop_that_not_all_lanes_of_a_warp_begin_is_a_fault() {
    of_each!(A: Algorithm in Fast, FastTable, HvSorting => {
        for seed in 0..10 {
            assert_eq!(begun_without::<A>(8, seed), Ok(24));
            for gone in 0..8 {
                let expected = Error::TeamIncomplete {
                    first: u64::from(gone / 4 * 4),
                    present: 3,
                    size: 4,
                };
                assert_eq!(begun_without::<A>(gone, seed).unwrap_err(), expected);
            }
        }
    });
}
