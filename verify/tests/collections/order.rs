//! Whether results can be those of transactions that ran one after the other.

use crate::kernel::Done;
use crate::model::Model;
use std::collections::HashSet;

/// Returns whether there is an order of the transactions, with those of a lane in
/// their own order, in which containers of `std` give the same results and end
/// with the same entries. It tries all orders, except those that come to a state
/// that was tried before.
pub(crate) fn is_serializable(before: &Model, done: &Done) -> bool {
    let mut tried = HashSet::new();
    let mut open = vec![(vec![0; done.lanes.len()], before.clone())];
    while let Some((at, model)) = open.pop() {
        let mut ended = true;
        for (lane, transactions) in done.lanes.iter().enumerate() {
            let Some((transaction, outcomes)) = transactions.get(at[lane]) else {
                continue;
            };
            ended = false;
            let mut next = model.clone();
            if (transaction.iter().zip(outcomes)).all(|(op, outcome)| next.apply(op) == *outcome) {
                let mut at = at.clone();
                at[lane] += 1;
                if tried.insert((at.clone(), next.clone())) {
                    open.push((at, next));
                }
            }
        }
        if ended && model == done.left {
            return true;
        }
    }
    false
}
