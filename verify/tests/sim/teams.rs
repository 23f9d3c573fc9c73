//! Transactions of teams on the simulator: long audits by whole warps and whole blocks beside transfers by
//! single lanes and by teams, recorded and judged; and what the lanes of a team may not do to each other.

use crate::prelude::*;

const ACCOUNTS: u64 = 40;
const EACH: u32 = 100;
const AUDITS: u64 = 3;
const TRANSFERS: u64 = 6;

/// Sums all accounts up, by all lanes of a team, for all of them.
fn audit<L: Lane, A: Algorithm, C: Crew>(
    tx: &mut TeamTx<'_, L, A, C>,
    accounts: &A::Array<u32>,
) -> TxResult<u32> {
    let (size, rank) = (u64::from(tx.size()), u64::from(tx.rank()));
    let (mut sum, mut first) = (0, 0);
    while first < accounts.len() {
        let at = [first + rank, first + size + rank].map(|i| (i < accounts.len()).then_some(i));
        let [a, b] = tx.read_many(accounts, at)?;
        sum += a.unwrap_or(0) + b.unwrap_or(0);
        first += 2 * size;
    }
    assert!(tx.all(sum < 1 << 20) && tx.any(tx.rank() == 0));
    Ok((0..tx.size()).fold(0, |all, rank| all + tx.told_by(rank, sum.into()) as u32))
}

/// Moves money between pairs of accounts: even lanes give what odd ones take; a team of one moves nothing.
fn transfer<L: Lane, A: Algorithm, C: Crew>(
    tx: &mut TeamTx<'_, L, A, C>,
    accounts: &A::Array<u32>,
    k: u64,
) -> TxResult<()> {
    let len = accounts.len();
    let pairs = tx.size().min(len as u32) / 2 * 2;
    let mine = (tx.rank() < pairs).then(|| (u64::from(tx.rank()) + k) % len);
    let found = tx.read(accounts, mine)?;
    let change = [u32::MAX, 1][tx.rank() as usize % 2];
    let new = |(i, v): (u64, u32)| (i, v.wrapping_add(change));
    tx.write(accounts, mine.zip(found).map(new))
}

/// The first warp of each block audits all accounts, the second moves money between pairs of accounts as a
/// team, the others between two as single lanes. With teams of blocks, the first block audits and the second
/// moves, and only the third is as said. `sums` gets what each audit has found.
fn work<A: Algorithm>(
    lane: &SimLane<'_>,
    stm: &StmRef<A>,
    accounts: &A::Array<u32>,
    of_block: bool,
    sums: &RefCell<Vec<u32>>,
) {
    let (block, warp) = (lane.block_index(), lane.warp_index());
    let by_block = of_block && block < 2;
    match if by_block { block } else { warp } {
        0 => {
            for _ in 0..AUDITS {
                let (sum, rank) = if by_block {
                    let sum = stm.team_of_block(lane, |tx| audit(tx, accounts));
                    (sum, lane.thread_index())
                } else {
                    (stm.team(lane, |tx| audit(tx, accounts)), lane.lane_index())
                };
                let led = (rank == 0).then(|| sum.unwrap_or(0));
                sums.borrow_mut().extend(led);
            }
        }
        1 if by_block => {
            stm.for_each_block_team(lane, 0..3 * TRANSFERS, |tx, i| transfer(tx, accounts, i));
        }
        1 => {
            for k in 0..TRANSFERS {
                let done = stm.team(lane, |tx| transfer(tx, accounts, k));
                assert!(done.is_ok());
            }
        }
        _ => {
            let len = accounts.len();
            for k in 0..TRANSFERS {
                let from = (lane.grid_thread() * 5 + k) % len;
                let to = (from + 1 + k % (len - 1)) % len;
                let done = stm.atomically(lane, |tx| {
                    let [a, b] = tx.read_many(accounts, [from, to])?;
                    tx.write_many(accounts, [from, to], [a - 1, b + 1], 2)
                });
                assert!(done.is_ok());
            }
        }
    }
}

/// A run with blocks whose last warp may be short.
fn bank<A: Algorithm>(sim: &Sim, run: &mut Run, of_block: bool) -> Checked {
    let (width, schedule) = (sim.config().warp_width, sim.config().schedule);
    // The lanes that go alone wait for each other with no end there (`generate::simulation`).
    let together = matches!(schedule, Schedule::Lockstep | Schedule::Stack);
    let warps = if width == 1 || !together { 3 } else { 2 };
    let threads = warps * width - u32::from(of_block && width > 1);
    let launch = Launch::new(if of_block { 3 } else { 2 }, threads);
    let accounts = array::<A, u32, _>(sim, &[EACH; ACCOUNTS as usize], "accounts");
    run.name(&accounts)?;
    let (view, sums) = (accounts.view::<A>(), RefCell::default());
    let done = ended::<A>(sim, launch, run.config(), |lane, stm| {
        work(lane, stm, &view, of_block, &sums);
    })?;
    let total = EACH * ACCOUNTS as u32;
    let found = accounts.download()?.into_iter().fold(0, u32::wrapping_add);
    run.holds("the total stays", found == total)?;
    let sums = sums.into_inner();
    run.holds("audits see it", sums == [total; 2 * AUDITS as usize])?;
    let mixed = if of_block { 1 } else { 2 };
    let singles = u64::from(mixed * threads.saturating_sub(2 * width));
    let transactions = 2 * AUDITS + 2 * TRANSFERS + singles * TRANSFERS;
    run.holds("all of them commit", done.commits == transactions)
}

fn all<A: Algorithm>(of_block: bool) {
    // Runs with warps of 32 lanes are long.
    for (widths, cases) in [(&[1, 4, 8][..], times(30)), (&[32], times(1))] {
        let check = Check::new(|sim, run| bank::<A>(sim, run, of_block));
        let check = check.algorithms(&[A::VARIANT]).capacity(capacity(64, 8));
        contended(&check.warp_widths(widths).cases(cases as u32).seed(1));
    }
}

#[test]
fn audits_by_teams_of_warps_and_of_blocks_beside_transfers_are_opaque() {
    for of_block in [false, true] {
        of_each!(all(of_block): Fast, FastTable, Versioned<Cells, 0>, Versioned<Table, 0>);
    }
}

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
