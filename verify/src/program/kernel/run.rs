//! What a kernel that interprets a program is given, and a transaction of it.

use crate::program::case::{Case, Op, Value};
use crate::program::silent::Watch;
use std::cell::{Cell, RefCell};
use stm_core::algorithm::Algorithm;
use stm_core::{StmRef, TNodes, TSums, record};

#[derive(Clone, Copy)]
pub(in crate::program) struct Params<'a, A: Algorithm> {
    pub(in crate::program) stm: StmRef<A>,
    pub(in crate::program) narrow: A::Array<u32>,
    pub(in crate::program) wide: A::Array<u64>,
    pub(in crate::program) narrow_sums: TSums<u32>,
    pub(in crate::program) wide_sums: TSums<u64>,
    pub(in crate::program) nodes: TNodes<A, Item>,
    /// What lanes read without an operation of the simulator, the launch, and the watch over a silent program.
    pub(in crate::program) case: &'a Case,
    pub(in crate::program) k: u32,
    pub(in crate::program) watch: Option<&'a RefCell<Watch>>,
}

record! {
    /// A node: narrow fields and a wide one that repeats them.
    pub(crate) struct Item {
        /// The word that names the node, plus one.
        pub(super) owner: u32,
        pub(super) both: u64,
        /// A number of the transaction that wrote the node.
        pub(super) writer: u32,
    }
}

impl Value {
    /// Returns the value to write after a read of `last`; all values last read have the bits `any`.
    pub(in crate::program) const fn after(self, last: u64, any: u64) -> u64 {
        match self {
            Self::Const(value) => value,
            Self::LastPlus(n) => last.wrapping_add(n),
            Self::Flip => last ^ 1,
            Self::Claim => (any == 0) as u64,
        }
    }
}

/// A word, and the value to write.
pub(super) type Write = (u8, u64);

/// A transaction that is interpreted, beside its [`Access`].
pub(super) struct Run<'a, A: Algorithm> {
    pub(super) params: &'a Params<'a, A>,
    pub(super) number: usize,
    /// The lanes that make it together, the lane's place among them, and the number of the first in the grid.
    pub(super) lanes: u32,
    pub(super) place: u32,
    pub(super) leader: u64,
    /// The value last read, and the bits of all of these.
    pub(super) last: Cell<u64>,
    pub(super) any: Cell<u64>,
}

impl<A: Algorithm> Run<'_, A> {
    /// Returns the word if it is the lane's.
    pub(super) fn own(&self, word: u8) -> Option<u64> {
        (u32::from(word) % self.lanes == self.place).then_some(word.into())
    }

    /// Returns what one or two operations write or add together, and to what, and how many they are.
    pub(super) fn values(&self, ops: &[Op]) -> ([Write; 2], usize) {
        let mut values = [(0, 0); 2];
        for (to, op) in values.iter_mut().zip(ops) {
            if let Op::Write(word, value) | Op::Add(word, value) = op {
                *to = (*word, value.after(self.last.get(), self.any.get()));
            }
        }
        (values, ops.len())
    }

    /// Tells whoever watches a silent program, with the lane that leads.
    pub(super) fn tell(&self, what: impl FnOnce(&mut Watch, u64)) {
        if let Some(watch) = self.params.watch {
            what(&mut watch.borrow_mut(), self.leader);
        }
    }
}
