//! The kernel that interprets a program.

use super::case::{Loop, Op, Program, Value, Words};
use std::marker::PhantomData;
use stm_core::algorithm::Algorithm;
use stm_core::{Crew, Element, Kernel, Lane, StmRef, Summand, TSums, TeamTx, Tx, TxResult};

/// Runs a [`Program`] with transactions of algorithm `A` on words of type `T`.
pub(super) struct Interpreter<A, T>(PhantomData<(A, T)>);

/// A program in the host's memory, which lanes that run on the host can read
/// without an operation that the simulator would schedule.
#[derive(Clone, Copy)]
pub(super) struct ProgramRef(*const Program);

// SAFETY: nothing writes the program while a reference is in use (`new`).
unsafe impl Send for ProgramRef {}
// SAFETY: as above.
unsafe impl Sync for ProgramRef {}

impl ProgramRef {
    /// Makes a reference for a kernel's parameters.
    ///
    /// # Safety
    /// While the kernel runs the program lives and nobody changes it; the
    /// kernel runs on the host.
    pub(super) const unsafe fn new(program: &Program) -> Self {
        Self(program)
    }

    const fn get(&self) -> &Program {
        // SAFETY: live and unchanged (`new`).
        unsafe { &*self.0 }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Params<A: Algorithm, T: Summand> {
    pub(super) stm: StmRef<A>,
    pub(super) words: A::Array<T>,
    pub(super) sums: TSums<T>,
    pub(super) program: ProgramRef,
}

impl Value {
    /// Returns the value to write after a read of `last`.
    pub(super) const fn after(self, last: u64) -> u64 {
        match self {
            Self::Const(value) => value,
            Self::LastPlus(n) => last.wrapping_add(n),
            Self::Flip => last ^ 1,
        }
    }
}

/// Returns whether these sums are read, or added to, together.
pub(super) fn together(row: u32, sums: &[u8]) -> bool {
    let row_of = |sum: &u8| u32::from(*sum) / row;
    sums.windows(2)
        .all(|pair| pair[0] + 1 == pair[1] && row_of(&pair[0]) == row_of(&pair[1]))
}

/// Returns where a sum is: its row, and its number there.
fn place<T: Summand>(sums: &TSums<T>, sum: u8) -> (u64, u32) {
    let (sum, row) = (u32::from(sum), sums.row_len());
    ((sum / row).into(), sum % row)
}

/// Reads sums, and returns the value of the last.
#[inline(never)]
fn read_sums<L: Lane, A: Algorithm, T: Summand>(
    tx: &mut Tx<'_, L, A>,
    sums: &TSums<T>,
    list: Words,
) -> TxResult<T> {
    let list = list.as_slice();
    if together(sums.row_len(), list) {
        let (row, first) = place(sums, list[0]);
        // No more than there are: the read of a plain word is an event.
        return Ok(match list.len() {
            1 => tx.read_sum(sums, row, first)?,
            2 => tx.read_sum_many::<T, 2>(sums, row, first, 2)?[1],
            _ => tx.read_sum_many::<T, 3>(sums, row, first, 3)?[2],
        });
    }
    let mut last = T::from_bits64(0);
    for &sum in list {
        let (row, column) = place(sums, sum);
        last = tx.read_sum(sums, row, column)?;
    }
    Ok(last)
}

/// Runs one transaction.
#[inline(never)]
fn body<L: Lane, A: Algorithm, T: Summand>(
    tx: &mut Tx<'_, L, A>,
    words: &A::Array<T>,
    sums: &TSums<T>,
    ops: &[Op],
) -> TxResult<()> {
    let mut last = 0;
    let mut ops = ops.iter().peekable();
    while let Some(op) = ops.next() {
        match op {
            Op::Read(list) => {
                let found = match *list.as_slice() {
                    [a] => tx.read(words, a.into())?,
                    [a, b] => tx.read_many(words, [a.into(), b.into()])?[1],
                    [a, b, c] => tx.read_many(words, [a.into(), b.into(), c.into()])?[2],
                    _ => continue,
                };
                last = found.to_bits64();
            }
            Op::ReadSums(list) => last = read_sums(tx, sums, *list)?.to_bits64(),
            Op::Add(sum, value) => {
                let new = |value: &Value| T::from_bits64(value.after(last));
                let (row, column) = place(sums, *sum);
                // Two in a row together, else one after the other.
                if let Some(Op::Add(next, after)) = ops.peek()
                    && together(sums.row_len(), &[*sum, *next])
                {
                    tx.add_many(sums, row, column, [new(value), new(after)], 2)?;
                    ops.next();
                } else {
                    tx.add(sums, row, column, new(value))?;
                }
            }
            Op::Write(word, value) => {
                let new = |value: &Value| T::from_bits64(value.after(last));
                // In ascending order together, else one after the other.
                if let Some(Op::Write(next, after)) = ops.peek()
                    && word < next
                {
                    let at = [(*word).into(), (*next).into()];
                    tx.write_many(words, at, [new(value), new(after)], 2)?;
                    ops.next();
                } else {
                    tx.write(words, (*word).into(), new(value))?;
                }
            }
        }
    }
    Ok(())
}

/// Runs one transaction by a team. Each lane accesses the words that belong to
/// it, and all lanes learn the value last read.
#[inline(never)]
fn team_body<L: Lane, A: Algorithm, C: Crew, T: Element>(
    tx: &mut TeamTx<'_, L, A, C>,
    words: &A::Array<T>,
    ops: &[Op],
) -> TxResult<()> {
    let (size, rank) = (tx.size(), tx.rank());
    let own = |word: u8| (u32::from(word) % size == rank).then_some(u64::from(word));
    let mut last = 0;
    let mut ops = ops.iter().peekable();
    while let Some(op) = ops.next() {
        match op {
            Op::Read(list) => {
                let found = match *list.as_slice() {
                    [a] => tx.read(words, own(a))?,
                    [a, b] => tx.read_many(words, [own(a), own(b)])?[1],
                    [a, b, c] => tx.read_many(words, [own(a), own(b), own(c)])?[2],
                    _ => continue,
                };
                let newest = list.as_slice().last().map_or(0, |&w| u32::from(w) % size);
                last = tx.told_by(newest, found.map_or(0, Element::to_bits64));
            }
            Op::Write(word, value) => {
                let new = |value: &Value| T::from_bits64(value.after(last));
                if let Some(Op::Write(next, after)) = ops.peek()
                    && word < next
                {
                    let first = own(*word).map(|at| (at, new(value)));
                    let second = own(*next).map(|at| (at, new(after)));
                    tx.write_many(words, [first, second])?;
                    ops.next();
                } else {
                    tx.write(words, own(*word).map(|at| (at, new(value))))?;
                }
            }
            // Teams have no sums (`generate`, and a line says so).
            Op::Add(..) | Op::ReadSums(_) => {}
        }
    }
    Ok(())
}

/// Runs all transactions by teams of warps. The constant keeps an algorithm
/// without teams from compiling what it cannot run.
fn teams_of_warps<L: Lane, A: Algorithm, T: Summand>(
    lane: &L,
    params: &Params<A, T>,
    transactions: &[Vec<Op>],
) {
    if A::TEAMS {
        let range = 0..transactions.len() as u64;
        params.stm.for_each_team(lane, range, |tx, i| {
            team_body(tx, &params.words, &transactions[i as usize])
        });
    }
}

/// Runs all transactions by teams of blocks, under the same condition.
fn teams_of_blocks<L: Lane, A: Algorithm, T: Summand>(
    lane: &L,
    params: &Params<A, T>,
    transactions: &[Vec<Op>],
) {
    if A::TEAMS {
        let range = 0..transactions.len() as u64;
        params.stm.for_each_block_team(lane, range, |tx, i| {
            team_body(tx, &params.words, &transactions[i as usize])
        });
    }
}

impl<A: Algorithm, T: Summand> Kernel for Interpreter<A, T> {
    const ENTRY: &'static str = "program";
    type Params = Params<A, T>;

    fn run<L: Lane>(lane: &L, params: &Params<A, T>) {
        let program = params.program.get();
        let transactions = &program.transactions;
        match program.calls {
            Loop::Each => params
                .stm
                .for_each(lane, 0..transactions.len() as u64, |tx, i| {
                    body(tx, &params.words, &params.sums, &transactions[i as usize])
                }),
            Loop::Team | Loop::Block if !A::TEAMS => panic!("{} has no teams", A::NAME),
            Loop::Team => teams_of_warps(lane, params, transactions),
            Loop::Block => teams_of_blocks(lane, params, transactions),
            Loop::Own => {
                let (first, lanes) = (lane.grid_thread() as usize, lane.grid_threads() as usize);
                for ops in transactions.iter().skip(first).step_by(lanes) {
                    let end = params
                        .stm
                        .atomically(lane, |tx| body(tx, &params.words, &params.sums, ops));
                    if end.is_err() {
                        return; // the launch is being stopped
                    }
                }
            }
        }
    }
}
