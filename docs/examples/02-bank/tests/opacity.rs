//! Payments and audits in hundreds of simulations.

use bank::{Order, pay_and_audit};
use stm_core::algorithm::Variant;
use stm_core::prelude::*;
use stm_core::with_algorithm;
use verify::Check;

const ACCOUNTS: u32 = 5;
const START: u32 = 20;

#[test]
fn no_audit_sees_a_payment_in_the_middle() {
    Check::new(|sim, run| {
        let accounts =
            TxArray::from_slice(sim, run.layout(), &[START; ACCOUNTS as usize], "accounts")?;
        run.name(&accounts)?;
        let order = |i| {
            let (from, to, amount) = (i % ACCOUNTS, (i / 2 + 1) % ACCOUNTS, i as u16 % 9);
            Order { from, to, amount }.packed()
        };
        let orders: Vec<u64> = (0..run.transactions() as u32).map(order).collect();
        let input = Buffer::from_slice(sim, &orders, "orders")?;
        let mut totals = Buffer::zeroed(sim, orders.len(), "totals")?;
        let (shape, mut stm) = (run.shape(), run.stm(sim)?);
        with_algorithm!(run.algorithm(), A => {
            pay_and_audit::launch_with::<A, _>(&mut stm, shape, &accounts, &input, &mut totals)?;
        });
        for (i, total) in totals.download()?.into_iter().enumerate() {
            let expected = if i % 64 == 0 { START * ACCOUNTS } else { 0 };
            run.holds("an audit finds it all", total == expected)?;
        }
        let total: u32 = accounts.download()?.iter().sum();
        run.holds("the total stays", total == START * ACCOUNTS)
    })
    .algorithms(&[Variant::Fast, Variant::FastTable])
    .transactions(1..=130)
    .cases(128)
    .run();
}
