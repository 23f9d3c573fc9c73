//! Records the workloads on any device and judges what they did, by the checker that the simulator's histories
//! go through. Each run's result passes the workload's own verification as well.
//!
//! Many transactions take several runs, each with an input from another seed. Of a workload whose input says
//! how many there are, a run is the whole of it; of the others, as much as [`Settings::buffer_bytes`] hold. A
//! history with its checker takes about one and a half times as much again, and is let go before the next.
//!
//! A run of several launches is one history, as the clock goes on, unless the host changes the transactions'
//! words between them. A lane's buffer has room for [`Settings::attempts`] attempts at each of its
//! transactions. The history of a launch that needed more is thrown away, and the run is made again with more
//! room, if that fits the bytes.

use crate::prelude::*;
use crate::workloads::prepared::OtherKernel;
use crate::workloads::ra::Ra;
use stm_core::algorithm::Algorithm;
use stm_core::host::RetryLimits;
use stm_core::internal::observe::Mutant;
use stm_history::history::History;
use stm_history::opacity;
pub(crate) use stm_kernels::mutants::RA_MUTANTS;
use stm_kernels::mutants::RaMutant;

mod session;

/// Records a variant and hands each history on, until `sink` breaks or the settings have enough. It is an error
/// if the records of a launch do not fit [`Settings::buffer_bytes`].
pub fn record<D: Device>(
    device: &D,
    variant: Variant,
    workload: &AnyWorkload,
    settings: &Settings,
    mut sink: impl FnMut(History) -> Flow,
) -> Result<Row> {
    session::record(device, (variant, None), (workload, settings), &mut sink)
}

/// Records, and judges every history. Returns the row and what is wrong, if anything.
pub(crate) fn record_judged(
    device: &AnyDevice,
    variant: Variant,
    workload: &AnyWorkload,
    settings: &Settings,
) -> Result<(Row, Option<String>)> {
    let mut violations = 0;
    let row = record(device, variant, workload, settings, |history| {
        violations += opacity::check(&history)?.violations_total;
        Ok(ControlFlow::Continue(()))
    })?;
    let opaque = (violations > 0).then(|| format!("{violations} attempts are not opaque"));
    let wrong = row.wrong_state.clone().or(opaque);
    Ok((row, wrong))
}

type Kernel = OtherKernel<AnyDevice, Ra>;

const fn kernel<A: Algorithm, const MUTANT: u32, const DELAYED: bool>() -> Kernel {
    OtherKernel {
        compile: |device, observation| {
            Ok(device.prepare::<RaMutant<A, MUTANT, DELAYED>>(observation)?)
        },
        launch: |_, data, launcher, transactions| {
            let params = data.params(launcher.run::<A>(transactions));
            // SAFETY: these are the parameters of the random array, as this kernel is. They hold this memory's
            // handle, for one algorithm alone, and views of buffers that `data` keeps and nothing else uses.
            unsafe { launcher.launch::<RaMutant<A, MUTANT, DELAYED>>(&params)? };
            Ok(())
        },
    }
}

fn kernel_of(mutant: Mutant, delayed: bool) -> Option<(Variant, fn() -> Kernel)> {
    macro_rules! dispatch {
        ($name:ident, $type:ident) => {
            if mutant == Mutant::$name {
                const NUMBER: u32 = Mutant::$name as u32;
                let kernel = if delayed {
                    kernel::<stm_core::algorithm::$type, NUMBER, true>
                } else {
                    kernel::<stm_core::algorithm::$type, NUMBER, false>
                };
                return Some((Variant::$type, kernel));
            }
        };
    }
    stm_kernels::for_each_ra_mutant!(dispatch);
    None
}

/// Records the random array with a seeded defect, with delays at the fences or without, which shows what the
/// hardware does of it. A memory that the defect spoils ends the recording: [`Row::wrong_state`].
pub(crate) fn record_mutant(
    device: &AnyDevice,
    mutant: Mutant,
    delayed: bool,
    workload: &AnyWorkload,
    settings: &Settings,
    mut sink: impl FnMut(History) -> Flow,
) -> Result<Row> {
    let Some((variant, kernel)) = kernel_of(mutant, delayed) else {
        return Err(Error::Usage(format!(
            "there is no kernel with the defect {}: `verify mutants` tries it in the simulator",
            mutant.name()
        )));
    };
    let other = (variant, Some(kernel));
    session::record(device, other, (workload, settings), &mut sink)
}

/// How to record. By default as a small recording on the CPU.
#[derive(Parser, Clone, Copy, Debug)]
pub struct Settings {
    /// Version locks, a power of two
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "1M")]
    pub locks: u64,
    /// Bytes that share a version lock, a power of two
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "4")]
    pub stripe_bytes: u64,
    /// With fast and fast-table, conflicts in a row before a transaction waits for
    /// a turn alone, at most; with few the histories have such turns
    #[arg(long = "queue-after", value_name = "N", value_parser = parse_queue_after, default_value = "1K")]
    pub retry_limits: RetryLimits,
    /// Attempts at each transaction that there is room to record, at first
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "4")]
    pub attempts: u64,
    /// Bytes of all recording buffers; longer runs take more launches
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "1G")]
    pub buffer_bytes: u64,
    /// Transactions in all, or some more: a run is not cut short.
    #[arg(skip = 1000u64)]
    pub transactions: u64,
    /// Runs, at most: with one, as many transactions as its records fit the buffers.
    #[arg(skip)]
    pub runs_max: Option<u64>,
    /// Blocks of a launch.
    #[arg(skip = 2u32)]
    pub blocks: u32,
    /// Threads of a block; `egpgv` is launched with one, as no other would run,
    /// unless threads work together on a transaction's input.
    #[arg(skip = 2u32)]
    pub threads: u32,
    /// The seed of the first run's data, and of the others' seeds.
    #[arg(skip = SEED)]
    pub seed: u64,
    /// How long one run may take.
    #[arg(skip = Some(Duration::from_mins(10)))]
    pub time_limit: Option<Duration>,
}

fn parse_queue_after(text: &str) -> Result<RetryLimits, String> {
    Ok(RetryLimits {
        queue_after: parse_count_32(text)?,
        ..RetryLimits::DEFAULT
    })
}

impl Default for Settings {
    fn default() -> Self {
        Self::parse_from([""])
    }
}

/// What one variant did, over all its runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub(crate) workload: &'static str,
    /// The variant's, in the form of its transactions.
    pub(crate) variant: &'static str,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) runs: u64,
    #[serde(rename = "launches")]
    pub(crate) histories: u64,
    /// Histories thrown away because a buffer was full.
    #[serde(rename = "launches_repeated")]
    pub repeated: u64,
    /// Transactions committed, in the complete histories.
    pub transactions: u64,
    /// Attempts recorded.
    pub attempts: u64,
    /// Those of them that aborted.
    pub aborted: u64,
    /// Turns in which a warp, a team or a lane worked alone under contention.
    pub(crate) turns: u64,
    /// Time in kernels with transactions.
    pub(crate) kernel_seconds: f64,
    pub(crate) seconds: f64,
    /// What is wrong with the memory that a run left.
    pub wrong_state: Option<String>,
}

/// Whether to go on.
type Flow = Result<ControlFlow<()>>;

type Sink<'a> = dyn FnMut(History) -> Flow + 'a;
