//! Checks of kernels with everything that a history may name: sums, records, nodes,
//! several launches with the host between them, and transactions that wait.

use crate::found;
use stm_core::algorithm::Variant;
use stm_core::observe::Mutant;
use stm_core::prelude::*;
use stm_core::with_algorithm;
use verify::check::{Check, Checked, FailureKind, Run};
use verify::sim::Sim;

stm_core::record! {
    /// An account with its history.
    pub(crate) struct Account {
        balance: u32,
        moved: u64,
    }
    /// An entry of a stack.
    pub(crate) struct Entry {
        below: u32,
        number: u32,
    }
}

/// Makes transfers between records, counted in sums, remembered on a stack of nodes.
#[kernel(all)]
pub(crate) fn ledger<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    accounts: &TRecords<A, Account>,
    totals: &TSums<u32>,
    head: &A::Array<u32>,
    entries: &TNodes<A, Entry>,
    n: u64,
) {
    stm.for_each(lane, 0..n, |tx, i| {
        let (from, to) = (i % 3, (i + 1) % 3);
        let giver = tx.read_record(accounts, from)?;
        let taker = tx.read_field(accounts, to, Account::balance())?;
        tx.write_record(
            accounts,
            from,
            Account {
                balance: giver.balance.wrapping_sub(1),
                moved: giver.moved + 1,
            },
        )?;
        tx.write_field(accounts, to, Account::balance(), taker.wrapping_add(1))?;
        tx.add(totals, i % 2, (i % 3) as u32, 1)?;
        let top = Node::from_bits(tx.read(head, 0)?);
        let number = i as u32;
        if i % 3 != 2 || top.is_nil() {
            let entry = Entry {
                below: top.bits(),
                number,
            };
            let new = tx.alloc_record(entries, entry)?;
            tx.write(head, 0, new.bits())
        } else {
            let below = tx.get(entries, top, Entry::below())?;
            tx.free(entries.pool(), top)?;
            tx.write(head, 0, below)
        }
    });
}

fn accounts<A: Algorithm>(sim: &Sim, run: &mut Run) -> Checked {
    let balance = 10 + run.below(20);
    let account = Account { balance, moved: 0 };
    let mut accounts = Records::from_slice(sim, run.layout(), &[account; 3], "accounts")?;
    let totals = Sums::<_, u32>::zeroed(sim, 2, 3, "totals")?;
    let top = TxArray::from_slice(sim, run.layout(), &[0_u32], "top")?;
    let mut entries = Nodes::<_, Entry>::new(sim, run.layout(), 200, "entries")?;
    run.name(&accounts)?;
    run.name(&totals)?;
    run.name(&top)?;
    run.name(&entries)?;
    let mut stm = run.stm(sim)?;
    for launch in 1..=2 {
        let n = run.transactions();
        ledger::launch_with::<A, _>(&mut stm, run.shape(), &accounts, &totals, &top, &entries, n)?;
        let after = accounts.download()?;
        let money: u32 = after.iter().map(|a| a.balance).sum();
        run.holds("the money stays", money == 3 * balance)?;
        let moved: u64 = after.iter().map(|a| a.moved).sum();
        run.holds("each transfer is counted", moved == run.transactions())?;
        let counted: u32 = totals.download()?.iter().sum();
        let expected = launch * run.transactions();
        run.holds("each transfer is added", u64::from(counted) == expected)?;
        // The host between two launches: what it writes is no violation.
        let mut fresh = after;
        for account in &mut fresh {
            account.moved = 0;
        }
        accounts.upload(&fresh)?;
        entries.pool_mut().refresh()?;
    }
    let (records, pool) = (entries.records().download()?, entries.pool());
    let (mut link, mut there) = (top.download()?[0], 0);
    while let Some(index) = pool.view().index(Node::from_bits(link)) {
        link = records[index as usize].below;
        there += 1;
    }
    Ok(pool.check(there)?)
}

fn check() -> Check<impl Fn(&Sim, &mut Run) -> Checked> {
    Check::new(|sim, run| with_algorithm!(run.algorithm(), A => accounts::<A>(sim, run)))
}

#[test]
fn sums_records_nodes_and_several_launches_are_right_under_any_algorithm() {
    let report = check().algorithms(Variant::ALL).cases(300).run();
    assert!(report.launches >= 500, "{report}");
}

#[test]
fn words_of_sums_records_and_nodes_are_named() {
    for (defect, name) in [
        (Mutant::ExtensionUnchecked, "accounts["),
        (Mutant::LockedByStore, "accounts["),
    ] {
        let check = check().defect(defect).cases(400).seed(11);
        let found = check.find().unwrap_err();
        assert_eq!(found.failure.kind, FailureKind::NotOpaque, "{found}");
        let text = &found.failure.text;
        assert!(text.contains(name) || text.contains("top[0]"), "{text}");
        assert!(text.starts_with("transaction "), "{text}");
        assert!(!text.contains("word 0x"), "{text}");
    }
}

/// Uses a buffer of one place: even transactions put, odd ones take, and each waits for
/// the other.
#[kernel]
pub(crate) fn turns<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    place: &A::Array<u32>,
    n: u64,
    all_put: bool,
) {
    stm.for_each(lane, 0..n, |tx, i| {
        let found = tx.read(place, 0)?;
        let puts = all_put || i % 2 == 0;
        if (found == 0) != puts {
            return tx.retry();
        }
        tx.write(place, 0, u32::from(puts))
    });
}

fn take_turns(sim: &Sim, run: &mut Run, puts: bool) -> Checked {
    let place = TxArray::from_slice(sim, run.layout(), &[0_u32], "place")?;
    run.name(&place)?;
    let mut stm = run.stm(sim)?;
    turns::launch(&mut stm, run.shape(), &place, 2 * run.transactions(), puts)?;
    run.holds("the place is empty", place.download()? == [0])
}

#[test]
fn transactions_that_wait_end_and_those_that_wait_for_ever_are_reported() {
    // Each put is taken, whatever the order. A lane that puts twice in a row waits
    // for one that takes, so each needs a thread of its own.
    let check = |puts| {
        Check::new(move |sim: &Sim, run: &mut Run| take_turns(sim, run, puts))
            .with_waiting()
            .transactions(1..=2)
            .blocks(4..=4)
            .threads(1..=2)
            .cases(60)
    };
    check(false).run();
    let found = found(&check(true), FailureKind::Error);
    assert!(found.failure.text.starts_with("everybody waits"), "{found}");
}
