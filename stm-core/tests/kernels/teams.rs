//! A bank in which teams audit and transfer beside single lanes, for tests on the CPU and on the
//! simulator.

use stm_core::algorithm::Algorithm;
use stm_core::internal::Crew;
use stm_core::{Lane, StmRef, TeamTx, TxResult, View};

/// Sums all accounts up, by all lanes of a team, for all of them.
pub(crate) fn audit<L: Lane, A: Algorithm, C: Crew>(
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
pub(crate) fn transfer<L: Lane, A: Algorithm, C: Crew>(
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
pub(crate) fn transfers<L: Lane, A: Algorithm>(
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
