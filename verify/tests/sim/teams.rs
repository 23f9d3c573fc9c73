//! Transactions of teams on the simulator: long audits by whole warps and whole
//! blocks beside transfers by single lanes and by teams, recorded and judged;
//! and what the lanes of a team may not do to each other.

use crate::prelude::*;
use crate::recorded::{ended, recorded, small};
use stm_core::internal::Crew;
use stm_core::{Abort, TeamTx};
use verify::history::{InitialMemory, Rest};

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

/// Moves money between pairs of accounts: even lanes give what odd ones take; a team of one moves
/// nothing.
fn transfer<L: Lane, A: Algorithm, C: Crew>(
    tx: &mut TeamTx<'_, L, A, C>,
    accounts: &A::Array<u32>,
    k: u64,
) -> TxResult<()> {
    let len = accounts.len();
    let pairs = tx.size().min(len as u32) / 2 * 2;
    let mine = (tx.rank() < pairs).then(|| (u64::from(tx.rank()) + k) % len);
    let found = tx.read(accounts, mine)?;
    let change = if tx.rank().is_multiple_of(2) {
        u32::MAX
    } else {
        1
    };
    let new = |(i, v): (u64, u32)| (i, v.wrapping_add(change));
    tx.write(accounts, mine.zip(found).map(new))
}

/// Moves money so often, by transactions of a lane alone.
fn transfers<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    accounts: &A::Array<u32>,
    times: u64,
) {
    let len = accounts.len();
    for k in 0..times {
        let from = (lane.grid_thread() * 5 + k) % len;
        let to = (from + 1 + k % (len - 1)) % len;
        let done = stm.atomically(lane, |tx| {
            let [a, b] = tx.read_many(accounts, [from, to])?;
            tx.write_many(accounts, [from, to], [a - 1, b + 1], 2)
        });
        assert!(done.is_ok());
    }
}

/// The first warp of each block audits all accounts, the second moves money
/// between pairs of accounts as a team, the others between two as single lanes.
/// With teams of blocks, the first block audits and the second moves, and only
/// the third is as said. `sums` gets what each audit has found.
fn work<A: Algorithm>(
    lane: &SimLane<'_>,
    stm: &StmRef<A>,
    accounts: &A::Array<u32>,
    of_block: bool,
    sums: &RefCell<Vec<u32>>,
) {
    let found = |leads: bool, sum: Result<u32, Abort>| {
        let led = leads.then(|| sum.unwrap_or(0));
        sums.borrow_mut().extend(led);
    };
    match (lane.block_index(), lane.warp_index()) {
        (0, _) if of_block => {
            for _ in 0..AUDITS {
                let sum = stm.team_of_block(lane, |tx| audit(tx, accounts));
                found(lane.thread_index() == 0, sum);
            }
        }
        (1, _) if of_block => {
            stm.for_each_block_team(lane, 0..3 * TRANSFERS, |tx, i| transfer(tx, accounts, i));
        }
        (_, 0) => {
            for _ in 0..AUDITS {
                let sum = stm.team(lane, |tx| audit(tx, accounts));
                found(lane.lane_index() == 0, sum);
            }
        }
        (_, 1) => {
            for k in 0..TRANSFERS {
                let done = stm.team(lane, |tx| transfer(tx, accounts, k));
                assert!(done.is_ok());
            }
        }
        _ => transfers(lane, stm, accounts, TRANSFERS),
    }
}

/// A run with blocks of so many threads, whose last warp may be short; the attempts that aborted.
fn bank<A: Algorithm>(config: SimConfig, threads: u32, of_block: bool) -> usize {
    let sim = Sim::new(config);
    let accounts = array::<A, u32, _>(&sim, &[EACH; ACCOUNTS as usize], "accounts");
    let launch = Launch::new(if of_block { 3 } else { 2 }, threads);
    let view = accounts.view::<A>();
    let words = (0..ACCOUNTS).map(|i| (view.word(i).bits(), u64::from(EACH)));
    let initial = InitialMemory::of(words, Rest::Value(0));
    let sums = RefCell::default();
    let run = recorded::<A>(&sim, launch, small(64, 8), initial, |lane, stm| {
        work(lane, stm, &view, of_block, &sums);
    });
    let left = accounts.download().unwrap();
    let total = EACH * ACCOUNTS as u32;
    let found = left.iter().fold(0u32, |sum, &v| sum.wrapping_add(v));
    assert_eq!(found, total, "{config}");
    let sums = sums.into_inner();
    assert_eq!(sums, [total; 2 * AUDITS as usize], "{config}");
    let mixed = if of_block { 1 } else { 2 };
    let singles = u64::from(mixed * threads.saturating_sub(2 * config.warp_width));
    let transactions = 2 * AUDITS + 2 * TRANSFERS + singles * TRANSFERS;
    assert_eq!(run.statistics.commits, transactions, "{config}");
    let verdict = run.verdict;
    assert!(verdict.is_opaque(), "{}: {config}:\n{verdict}", A::NAME);
    run.history.len() - transactions as usize
}

const SCHEDULES: &str = "lockstep stack starve64 random pct3x4000";

fn all<A: Algorithm>(of_block: bool) {
    let mut aborted = 0;
    for (width, seeds) in [(1, 12), (4, 10), (8, 6), (32, 1)] {
        for schedule in Schedule::named(SCHEDULES) {
            // The lanes that go alone wait for each other with no end there
            // (`generate::simulation`).
            let alone = width == 1 || !matches!(schedule, Schedule::Lockstep | Schedule::Stack);
            for seed in 0..seeds {
                let config = SimConfig {
                    votes_order: seed % 2 == 0,
                    seed,
                    ..SimConfig::of(width, schedule).with_stale(30)
                };
                let short = u32::from(of_block && width > 1);
                let threads = if alone { 3 } else { 2 } * width - short;
                aborted += bank::<A>(config, threads, of_block);
            }
        }
    }
    assert!(aborted > 100, "{aborted} aborts: not contended");
}

#[test]
fn audits_by_teams_of_warps_and_of_blocks_beside_transfers_are_opaque() {
    for of_block in [false, true] {
        of_each!(all(of_block): Fast, FastTable, Versioned<Cells, 0>, Versioned<Table, 0>);
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    /// Each writes its own word: nothing wrong.
    Right,
    /// All read one word, and each writes its own: nothing wrong either.
    AllReadOne,
    /// Two write one word, which neither has read.
    BothWriteBlind,
    /// Two read one word and write it.
    BothWrite,
    /// One reads what another writes.
    OneReads,
    /// One lane's index is past the end.
    PastTheEnd,
    /// One lane reads more than its set holds.
    TooMuch,
    /// The last lane returns an error of its own.
    Cancels,
}

fn misused<L: Lane, A: Algorithm, C: Crew>(
    tx: &mut TeamTx<'_, L, A, C>,
    words: &A::Array<u64>,
    how: How,
) -> TxResult<()> {
    let rank = u64::from(tx.rank());
    let last = tx.rank() + 1 == tx.size();
    let own = Some(rank);
    match how {
        How::Right => {
            let v = tx.read(words, own)?;
            tx.write(words, own.zip(v).map(|(i, v)| (i, v + 1)))
        }
        How::AllReadOne => {
            let v = tx.read(words, Some(9))?.unwrap_or(0);
            tx.write(words, Some((rank, v + 1)))
        }
        How::BothWriteBlind => tx.write(words, Some((rank / 2, 1))),
        How::BothWrite => {
            let v = tx.read(words, Some(rank / 2))?.unwrap_or(0);
            tx.write(words, Some((rank / 2, v + 1)))
        }
        How::OneReads => {
            tx.read(words, last.then_some(0))?;
            tx.write(words, (!last).then_some((rank, 1)))
        }
        How::PastTheEnd => {
            tx.read(words, Some(if last { 77 } else { rank }))?;
            Ok(())
        }
        How::TooMuch => {
            for i in 0..10 {
                tx.read(words, last.then_some(i))?;
            }
            Ok(())
        }
        How::Cancels => {
            tx.write(words, Some((rank, 1)))?;
            if last { tx.cancel() } else { Ok(()) }
        }
    }
}

/// Two warps of four, or two blocks of five, on words with one lock for two;
/// what came of it, and the words.
fn misuse<A: Algorithm>(how: How, seed: u64, of_block: bool) -> (Result<u64, Error>, Vec<u64>) {
    let config = SimConfig::of(4, Schedule::Random).with_stale(30);
    let sim = Sim::new(config.with_seed(seed));
    let words = array::<A, u64, _>(&sim, &[0; 12], "words");
    let mut config = small(8, 4);
    config.stripe_bytes = 16;
    let shape = [Launch::new(1, 8), Launch::new(2, 5)][usize::from(of_block)];
    let view = words.view::<A>();
    let ended = ended::<A>(&sim, shape, config, |lane, stm| {
        if of_block {
            stm.for_each_block_team(lane, 0..6, |tx, _| misused(tx, &view, how));
        } else {
            stm.for_each_team(lane, 0..6, |tx, _| misused(tx, &view, how));
        }
    });
    (ended.map(|done| done.commits), words.download().unwrap())
}

fn misuses<A: Algorithm>(of_block: bool) {
    let members = if of_block { 5 } else { 4 };
    let misuse = |how, seed| misuse::<A>(how, seed, of_block);
    // What each member leaves in its own word, and the commits.
    let right = |how, seed, value, commits| {
        let (ended, words) = misuse(how, seed);
        assert_eq!(ended, Ok(commits), "{how:?}");
        let left = [[value].repeat(members), [0].repeat(12 - members)].concat();
        assert_eq!(words, left, "{how:?}");
    };
    for seed in 0..40 {
        right(How::Right, seed, 6, 6);
        right(How::AllReadOne, seed, 1, 6);
        right(How::Cancels, seed, 0, 0);
        for how in [How::BothWriteBlind, How::BothWrite, How::OneReads] {
            let (ended, words) = misuse(how, seed);
            assert_is!(ended, Err(Error::TeamOverlap { transaction: 0 | 1 }));
            assert_eq!(words, [0; 12], "{how:?}");
        }
        let past = misuse(How::PastTheEnd, seed).0;
        assert_is!(past, Err(Error::OutOfRange { index: 77, .. }));
        let full = misuse(How::TooMuch, seed).0;
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
        let (ended, words) = misuse::<HvSorting>(How::Right, 1, of_block);
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
