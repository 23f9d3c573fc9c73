//! Alignment scores by transactions: each computes a cell of the matrix, and waits by `retry` for its three
//! neighbours. Gaps are linear. Threads draw cells in the order of their diagonals: what the first cell that
//! is not there needs is there, and its thread is running, so none waits for a block that is not resident.

use super::{score, word};
use crate::prelude::*;

transactional! {
    Matrix<A>(MatrixWork<A>) = matrix ["nw"];
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MatrixWork<A: Algorithm> {
    /// The cells, row by row, with row 0 and column 0, which are there before the launch.
    pub cells: A::Array<u32>,
    /// The cell of each transaction: row in the upper half, column in the lower, from 1; constant.
    pub order: TArray<u32>,
    /// The letters of the rows, and behind them those of the columns; constant.
    pub letters: TArray<u32>,
    /// The transformed score of row letter `i` with column letter `j`, at `i * alphabet + j`; constant.
    pub scores: TArray<u32>,
    /// One word, 0 before the launch: the next cell.
    pub next: TArray<u64>,
    pub transactions: u64,
    /// The number of letters of the rows, and of the columns.
    pub rows: u32,
    pub columns: u32,
    pub alphabet: u32,
}

#[inline(always)]
fn matrix<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &MatrixWork<A>) {
    let stride = u64::from(p.columns) + 1;
    let Some(next) = p.next.get(0) else { return };
    // The lane's transaction, and the cell drawn for it, the same for all its attempts.
    let mut drawn = (u64::MAX, 0);
    stm.for_each(lane, 0..p.transactions, |tx, i| {
        if drawn.0 != i {
            // SAFETY: a live word. Relaxed: it only counts.
            drawn = (i, unsafe { lane.fetch_add_relaxed_64(next, 1) });
        }
        let at = load(lane, &p.order, drawn.1);
        let (row, column) = (u64::from(at >> 16), u64::from(at & 0xFFFF));
        let cell = row * stride + column;
        if row == 0 || column == 0 {
            return tx.cancel();
        }
        let found = tx.read_many(&p.cells, [cell - stride - 1, cell - stride, cell - 1])?;
        let [Some(north_west), Some(north), Some(west)] = found.map(score) else {
            return tx.retry();
        };
        let of_row = load(lane, &p.letters, row - 1);
        let of_column = load(lane, &p.letters, u64::from(p.rows) + column - 1);
        let pair = load(lane, &p.scores, u64::from(of_row * p.alphabet + of_column));
        let best = (north_west + pair.cast_signed()).max(north).max(west);
        tx.write(&p.cells, cell, word(best))
    });
}
