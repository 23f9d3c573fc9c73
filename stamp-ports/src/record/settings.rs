//! How to record, and what a recording comes to.

use crate::error::Error;
use crate::variants::AskedVariant;
use crate::workloads::form::Form;
use crate::workloads::shared_options::SEED;
use std::ops::ControlFlow;
use std::time::Duration;
use stm_core::RetryLimits;
use stm_core::algorithm::Variant;
use stm_core::host::StmConfig;
use verify::history::History;

/// How to record.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Transactions in all, or some more: a run is not cut short.
    pub transactions: u64,
    /// Runs, at most: with one, as many transactions as its records fit the buffers.
    pub runs_max: Option<u64>,
    /// Blocks of a launch.
    pub blocks: u32,
    /// Threads of a block; `egpgv` is launched with one, as no other would run,
    /// unless threads work together on a transaction's input.
    pub threads: u32,
    /// Version locks, a power of two.
    pub locks: u64,
    /// Bytes of a stripe, a power of two.
    pub stripe_bytes: u64,
    /// Bounds of waits and tries.
    pub retry_limits: RetryLimits,
    /// The seed of the first run's data, and of the others' seeds.
    pub seed: u64,
    /// Attempts at each transaction that buffers have room for at first.
    pub attempts: u64,
    /// Most bytes of all recording buffers together.
    pub buffer_bytes: u64,
    /// How long one run may take.
    pub time_limit: Option<Duration>,
}

impl Default for Settings {
    /// What a small recording on the CPU has.
    fn default() -> Self {
        let config = StmConfig::default();
        Self {
            transactions: 1000,
            runs_max: None,
            blocks: 2,
            threads: 2,
            locks: 1 << 20,
            stripe_bytes: config.stripe_bytes,
            retry_limits: config.retry_limits,
            seed: SEED,
            attempts: 4,
            buffer_bytes: 1 << 30,
            time_limit: Some(Duration::from_mins(10)),
        }
    }
}

/// What one variant did, over all its runs.
#[derive(Clone, Debug)]
pub struct Row {
    /// The variant.
    pub variant: Variant,
    /// The form of its transactions.
    pub form: Form,
    /// Blocks of a launch.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Runs whose histories are all complete.
    pub runs: u64,
    /// Complete histories.
    pub histories: u64,
    /// Histories thrown away because a buffer was full.
    pub repeated: u64,
    /// Transactions committed, in the complete histories.
    pub transactions: u64,
    /// Attempts recorded.
    pub attempts: u64,
    /// Attempts that aborted.
    pub aborted: u64,
    /// Turns in which a warp, a team or a lane worked alone under contention.
    pub turns: u64,
    /// Time in kernels with transactions.
    pub kernel: Duration,
    /// Time for everything.
    pub wall: Duration,
    /// What is wrong with the memory that a run left.
    pub wrong_state: Option<String>,
}

impl Row {
    /// Returns the name of the variant and its form.
    pub const fn name(&self) -> &'static str {
        self.form.name(AskedVariant::Algorithm(self.variant))
    }
}

/// Takes the histories, and breaks when it has seen enough.
pub(super) type Sink<'a> = dyn FnMut(History) -> Result<ControlFlow<()>, Error> + 'a;
