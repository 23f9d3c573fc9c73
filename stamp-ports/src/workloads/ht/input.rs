//! The sizes of the hash table.

use crate::workloads::prelude::*;
use stm_kernels::ht::BATCH;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum NodeSource {
    /// They belong to the transactions' numbers.
    #[default]
    Preassigned,
    /// Each transaction allocates them from a pool.
    Pool,
}

sizes! {
    Ht, options of "ht" {
        buckets: u32 = 256 << 10, count "Buckets of the table" ["256K"],
            when Occasion::Quick => 16 << 10;
        // In the paper, eight heads are read and written.
        keys_per_tx: u32 = 4, count "Keys that a transaction inserts" ["4"],
            when Occasion::Paper => 8;
        nodes: NodeSource = NodeSource::Preassigned, option
            /// Nodes that belong to the transactions' numbers (preassigned), or that
            /// each transaction allocates (pool) [default: preassigned]
            #[arg(long, value_name = "SOURCE", hide_possible_values = true)]
            nodes;
        form: Form = Form::Dynamic, by |_, shared| Form::given(shared);
    } takes [transactions, is_static]
}

impl Sizes for Ht {
    fn facts(&self, transactions: u64) -> Facts {
        let (keys, is_pool) = (self.keys_per_tx, self.nodes == NodeSource::Pool);
        let mut parameters = self.named();
        if is_pool {
            parameters.push(("nodes", "pool".into()));
        }
        // Of each key the head and the words of its node are written.
        let (written, allocated) = if is_pool { (3, keys) } else { (2, 0) };
        // Nobody but the transaction that a preassigned node belongs to reads or writes it.
        let shared_nodes = if is_pool { transactions } else { 0 }.saturating_mul(keys.into());
        Facts {
            summary: format!(
                "{}, {} a transaction{}",
                of(self.buckets.into(), "bucket"),
                of(keys.into(), "key"),
                if is_pool { ", nodes from a pool" } else { "" }
            ),
            form: self.form,
            capacity: sets(keys, keys.saturating_mul(written), allocated),
            shared_words: shared_nodes.saturating_add(self.buckets.into()),
            is_for_lanes: is_pool,
            verifies: Covers::FinalState
                .that("each key is once in its bucket's chain, all of a transaction or none"),
            // The first link of each key's bucket. The nodes lie together.
            accesses: Some(Accesses::of(keys.into(), keys.into(), self.buckets)),
            ..Facts::of(parameters)
        }
    }

    fn check(&self, transactions: u64) -> Result<()> {
        let nodes = transactions.checked_mul(self.keys_per_tx.into());
        refuse! {
            self.buckets == 0 => "--buckets 0 leaves the keys no place: give 1 or more";
            self.keys_per_tx == 0 =>
                "--keys-per-tx 0 leaves a transaction nothing to do: give 1 or more";
            self.form.is_static() && self.keys_per_tx != BATCH as u32 =>
                "--keys-per-tx {} has no static form, which inserts {BATCH} keys: leave --static or \
                 --keys-per-tx out", self.keys_per_tx;
            self.form.is_static() && self.nodes == NodeSource::Pool =>
                "--nodes pool has no static form, whose nodes are preassigned: leave --static or \
                 --nodes out";
            nodes.is_none_or(|n| n > u64::from(u32::MAX - 1)) =>
                "{transactions} transactions of {} keys are too many: links of 32 bits name {} \
                 nodes, so use fewer --transactions or --keys-per-tx", self.keys_per_tx,
                u32::MAX - 1;
        }
        Ok(())
    }
}

impl Ht {
    /// Returns the keys of all transactions, each of which is linked once.
    pub(super) fn links(&self, made_for: MadeFor) -> u64 {
        made_for.transactions * u64::from(self.keys_per_tx)
    }
}
