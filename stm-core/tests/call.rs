//! Kernels made by `#[kernel]`, launched without `unsafe`.

use crate::common::prelude::*;
use crate::in_use::fail;

#[derive(Clone, Copy, Debug, Plain)]
#[repr(C)]
pub(crate) struct Plan {
    payers: u64,
    amount: u32,
}

#[kernel(all, name = "call_pay")]
fn pay<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    accounts: &A::Array<u32>,
    plan: Plan,
    payments: u64,
) {
    stm.for_each(lane, 0..payments, |tx, i| {
        let (from, to) = (i % plan.payers, plan.payers + i % 7);
        let [a, b] = tx.read_many(accounts, [from, to])?;
        if a < plan.amount {
            return tx.cancel();
        }
        tx.write(accounts, from, a - plan.amount)?;
        tx.write(accounts, to, b + plan.amount)
    });
}

#[kernel(name = "call_look_up")]
fn look_up(stm: &Stm, words: Cells<u64>, wanted: Input<u32>, found: Output<u64>) {
    stm.into(found).each(0..wanted.len(), |tx, i| {
        let at = wanted.get(stm.lane(), i).unwrap_or(0);
        tx.read(words, u64::from(at))
    });
}

const PLAN: Plan = Plan {
    payers: 100,
    amount: 1,
};

#[test]
fn a_launch_borrows_its_arguments_and_returns_its_statistics() {
    let mut stm = Stm::on(&Cpu::new()).unwrap();
    let accounts = stm.array("accounts", &[10u32; 200]).unwrap();
    let done = pay::launch(&mut stm, Launch::new(4, 8), &accounts, PLAN, 5_000).unwrap();
    assert_eq!(done.commits, 1_000);
    assert_eq!(accounts.download().unwrap().iter().sum::<u32>(), 2_000);
    // Another shape on the same data is another call, larger or smaller.
    for (blocks, threads) in [(1, 1), (33, 5), (2, 64), (8, 3)] {
        let shape = Launch::new(blocks, threads);
        let done = pay::launch(&mut stm, shape, &accounts, PLAN, 100).unwrap();
        assert_eq!((done.commits, done.statistics.attempts), (0, 100));
    }
}

/// Other tests launch kernels with every algorithm.
#[test]
fn one_memory_has_one_algorithm_and_an_array_the_layout_of_its_own() {
    let cpu = Cpu::new();
    let mut stm = Stm::on(&cpu).unwrap();
    let words = TxArray::from_slice(&cpu, Layout::Plain, &[10u32; 200], "accounts").unwrap();
    let shape = Launch::new(1, 1);
    pay::launch_with::<FastTable, _>(&mut stm, shape, &words, PLAN, 1).unwrap();
    let error = pay::launch_with::<HvSorting, _>(&mut stm, shape, &words, PLAN, 1).unwrap_err();
    let (first, asked) = ("fast-table", "hv-sorting");
    assert_eq!(error, Error::OtherAlgorithm { first, asked });
    // The layout of another algorithm.
    let mut stm = Stm::on(&cpu).unwrap();
    let error = pay::launch(&mut stm, shape, &words, PLAN, 1).unwrap_err();
    let (what, algorithm) = ("accounts", "the kernel's algorithm");
    assert_eq!(error, Error::WrongLayout { what, algorithm });
}

#[test]
fn results_come_back_and_input_is_read() {
    let cpu = Cpu::new();
    let mut stm = Stm::on(&cpu).unwrap();
    let words = stm.array("words", &[5u64, 6, 7]).unwrap();
    let wanted = Buffer::from_slice(&cpu, &[2u32, 0, 1, 2], "wanted").unwrap();
    let mut found = Buffer::zeroed(&cpu, 4, "found").unwrap();
    let shape = Launch::new(2, 2);
    look_up::launch(&mut stm, shape, &words, &wanted, &mut found).unwrap();
    assert_eq!(found.download().unwrap(), [7, 5, 6, 7]);
    // More transactions than places for their results.
    let mut few = Buffer::zeroed(&cpu, 3, "found").unwrap();
    let ended = look_up::launch(&mut stm, shape, &words, &wanted, &mut few);
    assert_past_the_end(ended, 3, 3);
    assert_eq!(few.download().unwrap(), [0, 0, 0], "no transaction ran");
}

#[test]
fn the_parameters_are_noted_by_name_and_type() {
    type K = pay::Kernel<Fast>;
    assert_eq!(K::NOTE, "accounts:A::Array<u32>,plan:Plan,payments:u64");
    assert_eq!(<K as Kernel>::PARAMETERS, K::NOTE);
    assert_eq!(<K as Kernel>::ENTRY, "call_pay_fast");
}

#[kernel(all, name = "call_raise")]
fn raise<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, words: &A::Array<u32>, by: u32) {
    stm.for_each(lane, 0..words.len(), |tx, i| {
        let word = tx.read(words, i)?;
        tx.write(words, i, word.wrapping_mul(3) + by)
    });
}

#[test]
fn launches_in_order_see_one_another_and_are_counted_together() {
    under_all!(A => {
        let cpu = Cpu::new();
        let mut stm = Stm::on(&cpu).unwrap();
        let mut words = TxArray::from_slice(&cpu, Layout::Plain, &[1u32; 50], "words").unwrap();
        words.arrange::<A>().unwrap();
        let shapes = [(1, 1), (4, 4), (2, 3), (2, 3)].map(|(b, t)| Launch::new(b, t));
        let done = stm.in_order(|queue| {
            let mut launches = (0..).zip(shapes);
            launches.try_for_each(|(by, shape)| raise::enqueue_with::<A, _>(queue, shape, &words, by))
        });
        assert_eq!(done.unwrap().1.commits, 200);
        let expected = (0..4).fold(1, |word, by| word * 3 + by);
        assert_eq!(words.download().unwrap(), [expected; 50]);
    });
}

#[test]
fn an_error_among_launches_in_order_is_returned_and_the_memory_goes_on() {
    let cpu = Cpu::new();
    let mut stm = Stm::on(&cpu).unwrap();
    let words = stm.array("words", &[1u32; 5]).unwrap();
    let plain = TxArray::from_slice(&cpu, Layout::Plain, &[1u32; 5], "plain").unwrap();
    let shape = Launch::new(1, 2);
    // A fault.
    let ended = stm.in_order(|queue| {
        raise::enqueue(queue, shape, &words, 1)?;
        fail::enqueue(queue, shape, &words, 0)
    });
    assert_past_the_end(ended, 5, 5);
    assert_eq!(words.download().unwrap(), [4; 5]);
    // An argument that does not fit, after a launch.
    let ended = stm.in_order(|queue| {
        raise::enqueue(queue, shape, &words, 1)?;
        raise::enqueue(queue, shape, &plain, 1)
    });
    assert_ends!(ended, Err(Error::WrongLayout { what: "plain", .. }));
    assert_eq!(words.download().unwrap(), [13; 5]);
    // The closure's own.
    let error = stm.in_order(|_| Err::<(), _>(Error::NoDriver)).unwrap_err();
    assert_eq!(error, Error::NoDriver);
    let done = raise::launch(&mut stm, shape, &words, 0).unwrap();
    assert_eq!(done.commits, 5);
}
