//! Transfers between accounts in cells of 32 and of 64 bits, to measure the cost of a 64-bit payload: each
//! transaction reads two random accounts together and moves an amount, so the total never changes. The entry
//! points for 64 bits exist twice: with atomics of 128 bits version and value are accessed together, else
//! with fences between. The bench `wide_cells` runs all three.

use crate::prelude::*;
use stm_core::kernels;

#[derive(Clone, Copy, Debug)]
pub struct Transfers<A, T>(PhantomData<(A, T)>);

pub type Transfers32<A> = Transfers<A, u32>;
pub type Transfers64<A> = Transfers<A, u64>;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TransferParams<A: Algorithm, T: Element> {
    pub stm: StmRef<A>,
    /// The accounts; from 2 to 2^32 - 1.
    pub accounts: A::Array<T>,
    pub transactions: u64,
    pub seed: u64,
}

pub type TransferParams32<A> = TransferParams<A, u32>;
pub type TransferParams64<A> = TransferParams<A, u64>;

/// Returns the two accounts of transaction `i`, among `accounts`, and the
/// amount that it moves from the first to the second.
pub const fn transfer(seed: u64, i: u64, accounts: u32) -> (u32, u32, u64) {
    let (bits, more) = (draw(seed, i, 0), draw(seed, i, 1));
    let from = below(bits, accounts);
    // The other account is 1 to `accounts - 1` further on, around the end.
    let to = from as u64 + 1 + below(more, accounts - 1) as u64;
    let to = if to >= accounts as u64 {
        to - accounts as u64
    } else {
        to
    };
    (from, to as u32, (bits & 15) + 1)
}

impl<A: Algorithm, T: Element> Transfers<A, T> {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &TransferParams<A, T>) {
        let accounts = p.accounts.len() as u32;
        p.stm.for_each(lane, 0..p.transactions, |tx, i| {
            let (from, to, amount) = transfer(p.seed, i, accounts);
            let at = [u64::from(from), u64::from(to)];
            let [a, b] = tx.read_many(&p.accounts, at)?;
            // The amounts wrap in as many bits as an account has.
            let new = [
                T::from_bits64(a.to_bits64().wrapping_sub(amount)),
                T::from_bits64(b.to_bits64().wrapping_add(amount)),
            ];
            tx.write_many(&p.accounts, at, new, 2)
        });
    }
}

kernels!(Transfers32, TransferParams32, "cells32", [Fast]);
kernels!(Transfers64, TransferParams64, "cells64", [Fast], wide);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_between_two_accounts_that_exist() {
        for accounts in [2, 3, 1000, u32::MAX] {
            for i in 0..1000 {
                let (from, to, amount) = transfer(5, i, accounts);
                assert!(from != to && from < accounts && to < accounts, "{i}");
                assert!((1..=16).contains(&amount));
            }
        }
    }
}
