//! The kernel that interprets a program.

mod nodes;
mod single;
mod team;

pub(super) use nodes::Item;

use super::case::{Loop, Program, Value, update};
use super::silent::Watch;
use std::marker::PhantomData;
use std::ops::Range;
use stm_core::algorithm::Algorithm;
use stm_core::{Element, Kernel, Lane, StmRef, TNodes, TSums};

/// Runs a [`Program`] with transactions of algorithm `A`.
pub(super) struct Interpreter<A>(PhantomData<A>);

/// A program in the host's memory, which lanes that run on the host can read
/// without an operation that the simulator would schedule, and the watch over a
/// silent one.
#[derive(Clone, Copy)]
pub(super) struct ProgramRef {
    program: *const Program,
    watch: *const Watch,
}

// SAFETY: nothing writes the program while a reference is in use, and all lanes
// run on one thread (`new`).
unsafe impl Send for ProgramRef {}
// SAFETY: as above.
unsafe impl Sync for ProgramRef {}

impl ProgramRef {
    /// Makes a reference for a kernel's parameters.
    ///
    /// # Safety
    /// While the kernel runs the program and the watch live and nobody changes
    /// the program; all lanes of the kernel run on the calling thread.
    pub(super) unsafe fn new(program: &Program, watch: Option<&Watch>) -> Self {
        Self {
            program,
            watch: watch.map_or(std::ptr::null(), std::ptr::from_ref),
        }
    }

    const fn get(&self) -> &Program {
        // SAFETY: live and unchanged (`new`).
        unsafe { &*self.program }
    }

    const fn watch(&self) -> Option<&Watch> {
        // SAFETY: null or live, and of this thread (`new`).
        unsafe { self.watch.as_ref() }
    }
}

/// The parameters of one launch.
#[derive(Clone, Copy)]
pub(super) struct Params<A: Algorithm> {
    pub(super) stm: StmRef<A>,
    /// The words of 32 bits, each at its number.
    pub(super) narrow: A::Array<u32>,
    /// The words of 64 bits, each at its number.
    pub(super) wide: A::Array<u64>,
    pub(super) narrow_sums: TSums<u32>,
    pub(super) wide_sums: TSums<u64>,
    pub(super) nodes: TNodes<A, Item>,
    pub(super) program: ProgramRef,
    /// The transactions of the launch: the first one, and how many.
    pub(super) launch: (usize, usize),
    /// How many of them are static updates.
    pub(super) updates: usize,
    /// Whether the warps of a block go in step.
    pub(super) in_step: bool,
}

impl Value {
    /// Returns the value to write after a read of `last`; all values last read
    /// have the bits `any`.
    pub(super) const fn after(self, last: u64, any: u64) -> u64 {
        match self {
            Self::Const(value) => value,
            Self::LastPlus(n) => last.wrapping_add(n),
            Self::Flip => last ^ 1,
            Self::Claim => (any == 0) as u64,
        }
    }
}

/// Returns whether these sums are read, or added to, together.
pub(super) fn together(row: u32, sums: &[u8]) -> bool {
    let row_of = |sum: &u8| u32::from(*sum) / row;
    sums.windows(2)
        .all(|pair| pair[0] + 1 == pair[1] && row_of(&pair[0]) == row_of(&pair[1]))
}

/// Calls `each` with the longest stretches of words of one width: whether they
/// are wide, and their positions.
fn stretches<E>(
    program: &Program,
    list: &[u8],
    mut each: impl FnMut(bool, Range<usize>) -> Result<(), E>,
) -> Result<(), E> {
    let mut from = 0;
    while from < list.len() {
        let wide = program.is_wide(list[from]);
        let rest = list[from..].iter();
        let to = from + rest.take_while(|&&w| program.is_wide(w) == wide).count();
        each(wide, from..to)?;
        from = to;
    }
    Ok(())
}

/// Runs the static updates of a launch.
fn updated<L: Lane, A: Algorithm, T: Element>(
    lane: &L,
    params: &Params<A>,
    array: &A::Array<T>,
    updates: u64,
) {
    let transactions = &params.program.get().transactions[params.launch.0..];
    let of = |i: u64| update(&transactions[i as usize]).expect("a static update");
    let at = |i| of(i).0.map(u64::from);
    let change = |i, read: [T; 3]| {
        let last = read[2].to_bits64();
        let new = |value: Value| T::from_bits64(value.after(last, last));
        of(i).1.map(|values| values.map(new))
    };
    params.stm.update_each(lane, 0..updates, array, at, change);
}

impl<A: Algorithm> Kernel for Interpreter<A> {
    const ENTRY: &'static str = "program";
    type Params = Params<A>;

    fn run<L: Lane>(lane: &L, params: &Params<A>) {
        let (first, len) = params.launch;
        let range = 0..len as u64;
        match params.program.get().calls {
            Loop::Each => {
                let stm = params.stm.in_step_if(params.in_step);
                stm.for_each(lane, range, |tx, i| {
                    single::body(lane, tx, params, first + i as usize)
                });
            }
            Loop::Team | Loop::Block if !A::TEAMS => panic!("{} has no teams", A::NAME),
            Loop::Team => team::of_warps(lane, params, range),
            Loop::Block => team::of_blocks(lane, params, range),
            Loop::Update => {
                let program = params.program.get();
                let updates = params.updates as u64;
                if program.is_wide(0) {
                    updated(lane, params, &params.wide, updates);
                } else {
                    updated(lane, params, &params.narrow, updates);
                }
                params.stm.for_each(lane, updates..range.end, |tx, i| {
                    single::body(lane, tx, params, first + i as usize)
                });
            }
            Loop::Own => {
                let lanes = lane.grid_threads() as usize;
                for i in (lane.grid_thread() as usize..len).step_by(lanes) {
                    let end = params
                        .stm
                        .atomically(lane, |tx| single::body(lane, tx, params, first + i));
                    if end.is_err() {
                        return; // the launch is being stopped
                    }
                }
            }
        }
    }
}
