//! Operations on the nodes of a pool, each of which a word names.

use super::single::Single;
use crate::program::case::{NodeOp, Words};
use stm_core::algorithm::Algorithm;
use stm_core::{Lane, Node, TxResult, record};

record! {
    /// A node: narrow fields and a wide one that repeats them.
    pub(crate) struct Item {
        /// The word that names the node, plus one.
        owner: u32,
        both: u64,
        /// A number of the transaction that wrote the node.
        writer: u32,
    }
}

impl<L: Lane, A: Algorithm> Single<'_, '_, '_, L, A> {
    /// Does an operation on the node that a word names.
    pub(super) fn node(&mut self, word: u8, op: NodeOp) -> TxResult<()> {
        self.last = self.read(Words::new(&[word]))?;
        let node = Node::from_bits(self.last as u32);
        let nodes = &self.params.nodes;
        let (owner, writer) = (u32::from(word) + 1, self.number as u32 + 1);
        let item = Item {
            owner,
            both: u64::from(owner) << 32 | u64::from(writer),
            writer,
        };
        if !node.is_nil() {
            self.visit(word, node)?;
        }
        let frees = matches!(op, NodeOp::Toggle | NodeOp::Replace) && !node.is_nil();
        let allocates = op == NodeOp::Replace || op == NodeOp::Toggle && node.is_nil();
        if frees {
            self.tx.free(nodes.pool(), node)?;
        }
        if allocates {
            let new = self.tx.alloc_record(nodes, item)?;
            self.write([word; 2], [new.bits().into(), 0], 1)?;
        } else if frees {
            self.write([word; 2], [0; 2], 1)?;
        } else if op == NodeOp::Update && !node.is_nil() {
            self.tx.write_node(nodes, node, item)?;
        }
        Ok(())
    }

    /// Reads a node, which must be the word's and whole.
    fn visit(&mut self, word: u8, node: Node) -> TxResult<()> {
        let Item {
            owner,
            both,
            writer,
        } = self.tx.read_node(&self.params.nodes, node)?;
        let whole = both == u64::from(owner) << 32 | u64::from(writer);
        if (owner != u32::from(word) + 1 || !whole)
            && let Some(watch) = self.params.program.watch()
        {
            let found = format!("{owner}, {both:#x} and {writer}");
            watch.broken(format!("the node of word {word} has {found}"));
        }
        Ok(())
    }
}
