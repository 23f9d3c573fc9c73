//! The kernel that interprets a program.

use super::{Loop, Op, Program, Value};
use std::marker::PhantomData;
use stm_core::algorithm::Algorithm;
use stm_core::{Element, Kernel, Lane, StmRef, TeamTx, Tx, TxResult};

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
    /// A reference for a kernel's parameters.
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
pub(super) struct Params<A: Algorithm, T: Element> {
    pub(super) stm: StmRef<A>,
    pub(super) words: A::Array<T>,
    pub(super) program: ProgramRef,
}

impl Value {
    /// The value to write after a read of `last`.
    pub(super) const fn after(self, last: u64) -> u64 {
        match self {
            Self::Const(value) => value,
            Self::LastPlus(n) => last.wrapping_add(n),
            Self::Flip => last ^ 1,
        }
    }
}

/// Runs one transaction.
fn body<L: Lane, A: Algorithm, T: Element>(
    tx: &mut Tx<'_, L, A>,
    words: &A::Array<T>,
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

/// Runs one transaction by a team: each word by the lane whose it is, and the
/// value last read known to all.
fn team_body<L: Lane, A: Algorithm, T: Element>(
    tx: &mut TeamTx<'_, L, A>,
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
                let bits = found.map_or(0, Element::to_bits64);
                let half = |half: u64| tx.lane().shuffle_32(tx.mask(), half as u32, newest);
                last = u64::from(half(bits)) | u64::from(half(bits >> 32)) << 32;
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
        }
    }
    Ok(())
}

impl<A: Algorithm, T: Element> Kernel for Interpreter<A, T> {
    const ENTRY: &'static str = "program";
    type Params = Params<A, T>;

    fn run<L: Lane>(lane: &L, params: &Params<A, T>) {
        let program = params.program.get();
        let transactions = &program.transactions;
        match program.calls {
            Loop::Each => params
                .stm
                .for_each(lane, 0..transactions.len() as u64, |tx, i| {
                    body(tx, &params.words, &transactions[i as usize])
                }),
            Loop::Team => params
                .stm
                .for_each_team(lane, 0..transactions.len() as u64, |tx, i| {
                    team_body(tx, &params.words, &transactions[i as usize])
                }),
            Loop::Own => {
                let (first, lanes) = (lane.grid_thread() as usize, lane.grid_threads() as usize);
                for ops in transactions.iter().skip(first).step_by(lanes) {
                    let end = params
                        .stm
                        .atomically(lane, |tx| body(tx, &params.words, ops));
                    if end.is_err() {
                        return; // the launch was told to stop
                    }
                }
            }
        }
    }
}
