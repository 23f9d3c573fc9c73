//! Launches in which everybody waits, under every algorithm and schedule. Programs have waits of lanes and of teams, also
//! for either of two words (`silent-turns`), and catch the seeded defects; containers have queues.

use crate::prelude::*;

fn config(k: u64) -> SimConfig {
    let config = numbered(k, "lockstep stack random starve64 pct3x4000", [1, 2, 4, 8]);
    config.with_limits(5_000_000, 1_000_000)
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
