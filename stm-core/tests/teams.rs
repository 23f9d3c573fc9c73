//! Tests of team transactions on the CPU, where a warp, and so a team, is one
//! lane: they cover what holds for any size.
#![cfg(feature = "host")]

use std::marker::PhantomData;
use stm_core::algorithm::{Algorithm, Fast, FastTable};
use stm_core::host::{Buffer, Capacity, Cpu, Error, Launch, Statistics, Stm, StmConfig, TxArray};
use stm_core::{Abort, Kernel, Lane, StmRef, TArray, View};

const ACCOUNTS: u64 = 64;
const AUDITS: u64 = 200;
const TRANSFERS: u64 = 4000;

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// Thread 0 of each block audits, the others make transfers.
    Audit,
    /// Begins a transaction inside a team's.
    Nest,
    /// Runs numbers 0 to 99, of which the odd ones cancel themselves.
    Cancel,
    /// Swallows a failure in the closure.
    Swallow,
}

struct Teams<A>(PhantomData<A>);

#[derive(Clone, Copy)]
struct P<A: Algorithm> {
    stm: StmRef<A>,
    accounts: A::Array<u64>,
    sums: TArray<u64>,
    how: How,
}

impl<A: Algorithm> Kernel for Teams<A> {
    const ENTRY: &'static str = "teams";
    type Params = P<A>;

    fn run<L: Lane>(lane: &L, p: &P<A>) {
        match p.how {
            How::Audit if lane.thread_index() == 0 => {
                let first = u64::from(lane.block_index()) * AUDITS;
                for k in 0..AUDITS {
                    let sum = p.stm.team(lane, |tx| {
                        let mut sum = 0;
                        for i in 0..ACCOUNTS {
                            sum += tx.read(&p.accounts, Some(i))?.unwrap_or(0);
                        }
                        Ok(sum)
                    });
                    let place = p.sums.get(first + k).unwrap();
                    // SAFETY: live, and only this thread stores there.
                    unsafe { lane.store_relaxed_64(place, sum.unwrap()) };
                }
            }
            How::Audit => {
                for k in 0..TRANSFERS {
                    let (from, to) = ((lane.grid_thread() + k) % ACCOUNTS, k * 7 % ACCOUNTS);
                    let done = p.stm.atomically(lane, |tx| {
                        let a = tx.read(&p.accounts, from)?;
                        tx.write(&p.accounts, from, a - 1)?;
                        let b = tx.read(&p.accounts, to)?;
                        tx.write(&p.accounts, to, b + 1)
                    });
                    assert_eq!(done, Ok(()));
                }
            }
            How::Nest => {
                let ended = p.stm.team(lane, |tx| {
                    tx.write(&p.accounts, Some((0, 1)))?;
                    p.stm.team(lane, |tx| tx.read(&p.accounts, Some(0)))
                });
                assert!(ended.is_err());
            }
            How::Cancel => p.stm.for_each_team(lane, 0..100, |tx, i| {
                let old = tx.read(&p.accounts, Some(0))?.unwrap_or(0);
                tx.write_many(&p.accounts, [Some((0, old + 1)), None])?;
                // The lane finds its own write, and nothing where it has no
                // index.
                let [own, none] = tx.read_many(&p.accounts, [Some(0), None])?;
                assert_eq!((own, none), (Some(old + 1), None));
                if i % 2 == 1 { tx.cancel() } else { Ok(()) }
            }),
            How::Swallow => {
                let ended = p.stm.team(lane, |tx| {
                    tx.write(&p.accounts, Some((1, 7)))?;
                    let _swallowed: Result<(), Abort> = tx.cancel();
                    assert!(matches!(
                        tx.read(&p.accounts, Some(1)),
                        Err(Abort::User { .. })
                    ));
                    assert!(matches!(
                        tx.write(&p.accounts, Some((1, 8))),
                        Err(Abort::User { .. })
                    ));
                    Ok(())
                });
                assert!(matches!(ended, Err(Abort::User { .. })));
            }
        }
    }
}

type Ended = Result<(Statistics, Vec<u64>, Vec<u64>), Error>;

fn go<A: Algorithm>(how: How, blocks: u32, threads: u32) -> Ended {
    let cpu = Cpu::new();
    let config = StmConfig {
        locks: 64,
        capacity: Capacity {
            reads: ACCOUNTS as u32,
            writes: 4,
            ..Capacity::DEFAULT
        },
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&cpu, Launch::new(blocks, threads), config)?;
    let layout = <A::Array<u64> as View<u64>>::LAYOUT;
    let accounts = TxArray::from_slice(&cpu, layout, &[1000u64; ACCOUNTS as usize], "accounts")?;
    let sums =
        Buffer::<_, u64>::zeroed(&cpu, u64::from(blocks) as usize * AUDITS as usize, "sums")?;
    let params = P {
        stm: stm.handle::<A>(),
        accounts: accounts.view::<A>(),
        sums: sums.tarray(),
        how,
    };
    // SAFETY: the buffers live, and only these transactions access them.
    let (_, statistics) = unsafe { stm.launch::<Teams<A>>(&params)? };
    Ok((statistics, accounts.download()?, sums.download()?))
}

fn audits_agree<A: Algorithm>() {
    let (statistics, accounts, sums) = go::<A>(How::Audit, 2, 3).unwrap();
    assert_eq!(accounts.iter().sum::<u64>(), 1000 * ACCOUNTS);
    assert!(sums.iter().all(|&sum| sum == 1000 * ACCOUNTS), "{sums:?}");
    assert_eq!(statistics.commits, 2 * AUDITS + 4 * TRANSFERS);
    assert_eq!(statistics.read_only_commits, 2 * AUDITS);
}

#[test]
fn audits_beside_transfers_see_the_total_with_fast() {
    audits_agree::<Fast>();
}

#[test]
fn audits_beside_transfers_see_the_total_with_fast_table() {
    audits_agree::<FastTable>();
}

#[test]
fn a_transaction_inside_a_teams_is_reported() {
    let ended = go::<Fast>(How::Nest, 1, 1);
    assert!(matches!(ended, Err(Error::Nested { .. })), "{ended:?}");
}

#[test]
fn a_transaction_that_cancels_itself_has_no_effect_and_the_others_do() {
    let (statistics, accounts, _) = go::<FastTable>(How::Cancel, 2, 2).unwrap();
    assert_eq!(accounts[0], 1050);
    assert_eq!(statistics.commits, 50);
    assert_eq!(statistics.aborted_for("user"), 50);
    assert_eq!(statistics.rounds, statistics.round_lanes);
}

#[test]
fn a_closure_that_swallows_its_failure_does_not_commit() {
    let (statistics, accounts, _) = go::<Fast>(How::Swallow, 1, 2).unwrap();
    assert_eq!(accounts[1], 1000);
    assert_eq!(statistics.commits, 0);
}
