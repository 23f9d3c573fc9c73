//! Payments between accounts, and audits that add all of them up meanwhile.

use stm_core::prelude::*;

/// An order: from which account, to which one, how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The account that pays.
    pub from: u32,
    /// The account that gets it.
    pub to: u32,
    /// The amount, from 0 to 65,535.
    pub amount: u16,
}

impl Order {
    /// Returns the order as a word of plain input: 24 bits for each account, 16 for the amount.
    pub const fn packed(self) -> u64 {
        (self.from as u64) << 40 | (self.to as u64) << 16 | self.amount as u64
    }

    const fn unpacked(word: u64) -> Self {
        Self {
            from: (word >> 40) as u32,
            to: (word >> 16 & 0xFF_FFFF) as u32,
            amount: word as u16,
        }
    }
}

/// Carries out the orders, one transaction each. An order that its account
/// cannot pay is cancelled, without effect.
#[kernel]
pub fn pay(stm: &Stm, accounts: Cells<u32>, orders: Input<u64>) {
    stm.each(0..orders.len(), |tx, i| {
        let Some(word) = orders.get(stm.lane(), i) else {
            return Ok(());
        };
        let order = Order::unpacked(word);
        let (from, to) = (u64::from(order.from), u64::from(order.to));
        let amount = u32::from(order.amount);
        // Both loads are in flight together.
        let [payer, payee] = tx.read_many(accounts, [from, to])?;
        if payer < amount || from == to {
            return tx.cancel();
        }
        tx.write(accounts, from, payer - amount)?;
        tx.write(accounts, to, payee + amount)
    });
}

/// Does the same, but one transaction in 64 is an audit: it reads all accounts
/// and returns their total. The others return 0.
#[kernel]
pub fn pay_and_audit(stm: &Stm, accounts: Cells<u32>, orders: Input<u64>, totals: Output<u32>) {
    stm.into(totals).each(0..orders.len(), |tx, i| {
        if i % 64 == 0 {
            let mut total = 0;
            for account in 0..accounts.len() {
                total += tx.read(accounts, account)?;
            }
            return Ok(total);
        }
        let order = Order::unpacked(orders.get(stm.lane(), i).unwrap_or(0));
        let (from, to) = (u64::from(order.from), u64::from(order.to));
        let amount = u32::from(order.amount);
        let [payer, payee] = tx.read_many(accounts, [from, to])?;
        if payer >= amount && from != to {
            tx.write(accounts, from, payer - amount)?;
            tx.write(accounts, to, payee + amount)?;
        }
        Ok(0)
    });
}
