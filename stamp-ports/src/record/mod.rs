//! Records the workloads on any device and judges what they did: histories of real hardware, by the
//! checker that the simulator's go through. They are driven as `stamp` drives them, and each run's
//! result passes the workload's own verification as well.
//!
//! # Runs, launches, histories
//! Many transactions take several runs, each with an input from another seed. Of a workload whose
//! input says how many transactions there are, a run is the whole of it; of the others, as much as
//! the recording buffers hold: at most [`Settings::buffer_bytes`], and a history with its checker
//! takes about one and a half times as much again. A history is checked and let go before the next.
//!
//! A run of several launches is one history, as the clock goes on from launch to launch, unless the
//! host changes the transactions' words between them: then each launch is one. Where every history
//! starts is known from the workload ([`crate::workloads::prepared::Prepared::initial`]).
//!
//! # A full buffer
//! A lane's buffer has room for [`Settings::attempts`] attempts at each of its transactions. The
//! history of a launch that needed more is thrown away, and the run is made again with more room.
//! If that does not fit the bytes, the error says what it needs.
//!
//! # A seeded defect
//! The random array with a seeded defect, on a device, shows what its hardware
//! does of a fence that is left out.

use crate::devices::{AnyDevice, DeviceKind};
use crate::error::{Error, Result};
use crate::workloads::AnyWorkload;
use crate::workloads::input::{Occasion, SEED};
use crate::workloads::options::WorkloadArgs;
use crate::workloads::prepared::{OtherKernel, prepare};
use crate::workloads::ra::Ra;
use session::Session;
use std::ops::ControlFlow;
use std::time::Duration;
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::host::{Device, RetryLimits, StmConfig};
use stm_core::internal::observe::Mutant;
use stm_history::history::History;
use stm_history::opacity;
pub(crate) use stm_kernels::mutants::RA_MUTANTS;
use stm_kernels::mutants::RaMutant;

mod session;

/// Records a variant and hands each history on, until `sink` breaks.
///
/// # Errors
/// Those of the input, the device or a launch; [`stm_history::error::Error::BufferFull`] if the records
/// of a launch do not fit [`Settings::buffer_bytes`]; whatever `sink` returns.
pub fn record<D: Device>(
    device: &D,
    variant: Variant,
    workload: &AnyWorkload,
    settings: &Settings,
    mut sink: impl FnMut(History) -> Result<ControlFlow<()>, Error>,
) -> Result<Row, Error> {
    let mut session = Session::new(device, variant, settings);
    session.until_enough(|session, seed| {
        let workload = workload.redrawn(seed)?;
        let prepare = |transactions| workload.prepare(device, seed, transactions);
        session.run(workload.sizes(), seed, &prepare, &mut sink)
    })
}

/// Records, and judges every history. Returns the row and what is wrong, if anything.
pub(crate) fn record_judged(
    device: &AnyDevice,
    variant: Variant,
    workload: &AnyWorkload,
    settings: &Settings,
) -> Result<(Row, Option<String>), Error> {
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
            // SAFETY: the kernel is that of the random array, whose parameters these are; they
            // hold this memory's handle, for one algorithm alone, and views of buffers that
            // `data` keeps and nothing else uses.
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

/// Records the random array with a seeded defect, on a device with PTX for it, with delays at the
/// fences or without. A memory that the defect spoils ends the recording: [`Row::wrong_state`].
pub(crate) fn record_mutant(
    device: &AnyDevice,
    mutant: Mutant,
    delayed: bool,
    workload: &AnyWorkload,
    settings: &Settings,
    mut sink: impl FnMut(History) -> Result<ControlFlow<()>, Error>,
) -> Result<Row, Error> {
    let Some((variant, kernel)) = kernel_of(mutant, delayed) else {
        return Err(Error::Usage(format!(
            "there is no kernel with the defect {}: `verify mutants` tries it in the simulator",
            mutant.name()
        )));
    };
    let AnyWorkload::Ra(ra) = workload else {
        return Err(Error::Usage(
            "seeded defects on a device run ra: record it alone".into(),
        ));
    };
    let mut session = Session::new(device, variant, settings);
    session.until_enough(|session, seed| {
        let prepare = |transactions| prepare(ra, device, (seed, transactions), Some(kernel()));
        session.run(ra, seed, &prepare, &mut sink)
    })
}

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
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The variant's, in the form of its transactions.
    pub(crate) name: &'static str,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    /// Runs whose histories are all complete.
    pub(crate) runs: u64,
    /// Complete histories.
    pub(crate) histories: u64,
    /// Histories thrown away because a buffer was full.
    pub repeated: u64,
    /// Transactions committed, in the complete histories.
    pub transactions: u64,
    /// Attempts recorded.
    pub attempts: u64,
    /// Attempts that aborted.
    pub aborted: u64,
    /// Turns in which a warp, a team or a lane worked alone under contention.
    pub(crate) turns: u64,
    /// Time in kernels with transactions.
    pub(crate) kernel: Duration,
    pub(crate) wall: Duration,
    /// What is wrong with the memory that a run left.
    pub wrong_state: Option<String>,
}

/// Takes the histories, and breaks when it has seen enough.
type Sink<'a> = dyn FnMut(History) -> Result<ControlFlow<()>, Error> + 'a;

/// Returns a workload: what `args` does not say suits the kind of device.
pub(crate) fn workload(
    name: &str,
    args: &WorkloadArgs,
    device: DeviceKind,
) -> Result<AnyWorkload, Error> {
    let mut args = args.clone();
    // A caller's transactions are those of all runs together.
    args.take_transactions();
    args.workload(name, Occasion::Recording(device))
}

/// Returns how many transactions are recorded by default: few where blocks share them.
pub(crate) fn transactions(workload: &AnyWorkload) -> u64 {
    if workload.sizes().by_blocks() {
        1 << 10
    } else {
        100 << 10
    }
}

/// Refuses options that none of the workloads takes, or that mean another thing for each.
pub(crate) fn check_options(names: &[&'static str], args: &WorkloadArgs) -> Result<(), Error> {
    // How many transactions to record is the same for all.
    let mut args = args.clone();
    args.take_transactions();
    // One command line may serve both of these.
    let both = ["ra", "ht"];
    match names {
        [name] if both.contains(name) => args.check(&both, false),
        _ => args.check(names, names.len() > 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;
    use clap::{Args, Command, FromArgMatches};

    fn args(options: &[&str]) -> WorkloadArgs {
        let command = WorkloadArgs::augment_args(Command::new("record"));
        let words = ["record"].iter().chain(options);
        let matches = command.try_get_matches_from(words).expect("options");
        WorkloadArgs::from_arg_matches(&matches).expect("values")
    }

    #[test]
    fn what_is_given_is_kept_and_the_rest_fits_the_device() {
        let genome = |kind| match workload("genome", &args(&["-g", "99"]), kind).unwrap() {
            AnyWorkload::Genome(genome) => genome,
            other => panic!("{other:?}"),
        };
        let (small, large) = (genome(DeviceKind::Cpu), genome(DeviceKind::Cuda));
        assert_eq!((small.bases, large.bases), (99, 99));
        assert!(small.segments < large.segments, "{small:?} {large:?}");
        // A file brings its own shape.
        let maze = workload("labyrinth", &args(&["-i", "maze.txt"]), DeviceKind::Cpu);
        has(&maze.unwrap_err().to_string(), "maze.txt");
    }

    #[test]
    fn options_of_another_workload_are_refused() {
        let words = args(&["--words", "4", "--transactions", "9"]);
        assert!(check_options(&["ht"], &words).is_ok());
        assert!(check_options(&["ra", "ht"], &words).is_ok());
        let error = check_options(&["bank"], &words).unwrap_err().to_string();
        has(&error, "--words 4 | bank");
        let error = check_options(&["genome", "kmeans"], &args(&["-n", "7"])).unwrap_err();
        has(&error.to_string(), "-n 7");
    }
}
