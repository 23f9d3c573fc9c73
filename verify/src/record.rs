//! Records the workloads on any device and judges what they did: histories of
//! real hardware, by the checker that the simulator's go through. They are
//! driven as `stamp` drives them, and each run's result passes the workload's
//! own verification as well.
//!
//! # Runs, launches, histories
//! Many transactions take several runs, each with an input from another seed.
//! Of a workload whose input says how many transactions there are, a run is the
//! whole of it; of the others, as much as the recording buffers hold: at most
//! [`Settings::buffer_bytes`], and a history with its checker takes about one
//! and a half times as much again. A history is checked and let go before the
//! next.
//!
//! A run of several launches is one history, as the clock goes on from launch
//! to launch, unless the host changes the transactions' words between them:
//! then each launch is one. Where every history starts is known from the
//! workload ([`stamp_ports::workload::Workload::initial`]).
//!
//! # A full buffer
//! A lane's buffer has room for [`Settings::attempts`] attempts at each of its
//! transactions. The history of a launch that needed more is thrown away, and
//! the run is made again with more room. If that does not fit the bytes, the
//! error says what it needs.

mod defects;
pub mod input;
mod recording;

pub use defects::{MUTANTS, record_mutant};

use crate::error::Error;
use crate::history::{Header, History, InitialMemory, Rest};
use crate::variant::{Variant, with_recorded};
use input::Input;
use recording::{BufferFull, Recording};
use stamp_ports::on_workload;
use stamp_ports::timed::Timed;
use stamp_ports::workload::{Launches, Workload};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use stm_core::algorithm::{
    Algorithm, Cgl, Egpgv, Fast, FastTable, Granule, HvBackoff, HvSorting, TbvSorting, Vbv,
};
use stm_core::history_layout::{HEADER_WORDS, words_needed};
use stm_core::host::{Buffer, Device, Launch, Statistics, Stm, StmConfig};
use stm_core::probe::Recorder;
use stm_core::stm_ref::Patience;
use stm_kernels::draw::draw;

/// How to record.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Transactions in all, or some more: a run is not cut short.
    pub transactions: u64,
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
    pub patience: Patience,
    /// The seed of the first run's data, and of the others' seeds.
    pub seed: u64,
    /// Attempts at each transaction that buffers have room for at first.
    pub attempts: u64,
    /// Most bytes of all recording buffers together.
    pub buffer_bytes: u64,
    /// How long one run may take.
    pub time_limit: Option<Duration>,
}

/// What one variant did, over all its runs.
#[derive(Clone, Debug)]
pub struct Row {
    /// The variant.
    pub variant: Variant,
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
    /// Time in kernels with transactions.
    pub kernel: Duration,
    /// Time for everything.
    pub wall: Duration,
    /// What is wrong with the memory that a run left.
    pub wrong_state: Option<String>,
}

/// What takes the histories: breaks when it has seen enough.
type Sink<'a> = dyn FnMut(History) -> Result<ControlFlow<()>, Error> + 'a;

/// How a run launches its kernels.
type Go<'a, D, W> = dyn Fn(
        &W,
        &mut <W as Workload>::Data<D>,
        &mut Timed<'_, D, Recorder>,
        u64,
    ) -> Result<(), stamp_ports::Error>
    + 'a;

/// Records a variant and hands each history on, until `sink` breaks.
///
/// # Errors
/// Of the input, the device or a launch; [`Error::BufferFull`] if the records
/// of a launch do not fit [`Settings::buffer_bytes`]; whatever `sink` returns.
pub fn record<D: Device>(
    device: &D,
    variant: Variant,
    input: &Input,
    settings: &Settings,
    mut sink: impl FnMut(History) -> Result<ControlFlow<()>, Error>,
) -> Result<Row, Error> {
    let mut session = Session::new(device, variant, settings);
    session.until_enough(|session, seed| {
        let workload = input.make(seed)?;
        on_workload!(&workload, w => session.with_variant(w, seed, &mut sink))
    })
}

/// As [`record`], of a workload that `make` makes from a seed for each run.
///
/// # Errors
/// As [`record`].
pub fn record_made<D: Device, W: AllRecorded>(
    device: &D,
    variant: Variant,
    make: impl Fn(u64) -> Result<W, Error>,
    settings: &Settings,
    mut sink: impl FnMut(History) -> Result<ControlFlow<()>, Error>,
) -> Result<Row, Error> {
    let mut session = Session::new(device, variant, settings);
    session.until_enough(|session, seed| session.with_variant(&make(seed)?, seed, &mut sink))
}

/// A workload that runs with every algorithm, recorded.
pub trait AllRecorded:
    Launches<Cgl<Recorder>>
    + Launches<Egpgv<Recorder>>
    + Launches<Vbv<Recorder>>
    + Launches<TbvSorting<Recorder>>
    + Launches<HvSorting<Recorder>>
    + Launches<HvBackoff<Recorder>>
    + Launches<Fast<Recorder>>
    + Launches<FastTable<Recorder>>
{
}

impl<W> AllRecorded for W where
    W: Launches<Cgl<Recorder>>
        + Launches<Egpgv<Recorder>>
        + Launches<Vbv<Recorder>>
        + Launches<TbvSorting<Recorder>>
        + Launches<HvSorting<Recorder>>
        + Launches<HvBackoff<Recorder>>
        + Launches<Fast<Recorder>>
        + Launches<FastTable<Recorder>>
{
}

/// How a run ended.
enum Ended {
    /// All its histories are complete.
    Complete,
    /// A buffer was full; the next run has more room.
    Full,
    /// The sink has seen enough.
    Enough,
}

/// A recording in progress.
struct Session<'a, D: Device> {
    device: &'a D,
    settings: &'a Settings,
    /// Attempts at each transaction that buffers have room for now.
    attempts: u64,
    /// That of the last run: its clock goes on.
    stm: Option<Stm<D>>,
    row: Row,
}

impl<'a, D: Device> Session<'a, D> {
    fn new(device: &'a D, variant: Variant, settings: &'a Settings) -> Self {
        let row = Row {
            variant,
            blocks: settings.blocks,
            threads: settings.threads,
            runs: 0,
            histories: 0,
            repeated: 0,
            transactions: 0,
            attempts: 0,
            aborted: 0,
            kernel: Duration::ZERO,
            wall: Duration::ZERO,
            wrong_state: None,
        };
        Self {
            device,
            settings,
            attempts: settings.attempts,
            stm: None,
            row,
        }
    }

    /// Makes one run after the other, each with a seed of its own.
    fn until_enough(
        &mut self,
        mut run: impl FnMut(&mut Self, u64) -> Result<Ended, Error>,
    ) -> Result<Row, Error> {
        let start = Instant::now();
        loop {
            let before = self.row.transactions;
            let seed = match self.row.runs {
                0 => self.settings.seed,
                n => draw(self.settings.seed, n, 17),
            };
            match run(self, seed)? {
                Ended::Full => {}
                Ended::Enough => break,
                Ended::Complete => {
                    self.row.runs += 1;
                    let now = self.row.transactions;
                    // An input with nothing to commit never has enough.
                    if now >= self.settings.transactions || now == before {
                        break;
                    }
                }
            }
            if self.row.wrong_state.is_some() {
                break;
            }
        }
        self.row.wall = start.elapsed();
        Ok(self.row.clone())
    }

    /// One run with the session's variant.
    fn with_variant<W: AllRecorded>(
        &mut self,
        workload: &W,
        seed: u64,
        sink: &mut Sink<'_>,
    ) -> Result<Ended, Error> {
        with_recorded!(self.row.variant, A => {
            let go: &Go<'_, D, W> = &|w, data, timed, n| Launches::<A>::run(w, data, timed, n);
            self.run::<W, A>(workload, seed, go, sink)
        })
    }

    fn shape(&self, workload: &impl Workload) -> Launch {
        let threads = match self.row.variant {
            Variant::Egpgv if !is_team(workload) => 1,
            // A warp's records are all in its first lane's buffer.
            Variant::Fast | Variant::FastTable if workload.by_warps() => {
                self.settings.threads.min(WARP)
            }
            _ => self.settings.threads,
        };
        Launch {
            shared_bytes: workload.shared_bytes(),
            ..Launch::new(self.settings.blocks, threads)
        }
    }

    /// Transactions of the next run, as many as the buffers hold with room for
    /// so many attempts at each; and words of a lane's buffer.
    fn plan(&self, workload: &impl Workload, shape: Launch) -> Result<(u64, u64), Error> {
        let capacity = workload.capacity();
        // The last batch of reads repeats its last word up to 16.
        let events = u64::from(capacity.reads).next_multiple_of(16) + u64::from(capacity.writes);
        let lanes = lanes(shape);
        let available = self.settings.buffer_bytes / 8 / lanes;
        let (transactions, room, least) = if let Some(n) = workload.transactions() {
            let by_warps = workload.by_warps()
                && matches!(self.row.variant, Variant::Fast | Variant::FastTable);
            let workers = if is_team(workload) || by_warps {
                u64::from(shape.blocks)
            } else {
                lanes
            };
            let asked = words_needed(n.div_ceil(workers).saturating_mul(self.attempts), events);
            // Few attempts make as many events as they may.
            let least = words_needed(1, events);
            (n, asked.min(available), least)
        } else {
            // Whole rounds, so that no lane has more than its share of room.
            let of_one = words_needed(self.attempts, events) - HEADER_WORDS;
            let rounds = (available.saturating_sub(HEADER_WORDS) / of_one).max(1);
            let missing = self.settings.transactions - self.row.transactions;
            let n = (rounds * lanes).min(missing);
            let room = words_needed(n.div_ceil(lanes) * self.attempts, events);
            (n, room, room)
        };
        if least > available {
            return Err(Error::Usage(format!(
                "{} bytes for recording are too few: one transaction a thread needs {} \
                 (--buffer-bytes), or fewer threads or --attempts",
                self.settings.buffer_bytes,
                least.saturating_mul(lanes).saturating_mul(8),
            )));
        }
        Ok((transactions, room))
    }

    /// One run, recorded and verified.
    fn run<W: Workload, A: Algorithm>(
        &mut self,
        workload: &W,
        seed: u64,
        go: &Go<'_, D, W>,
        sink: &mut Sink<'_>,
    ) -> Result<Ended, Error> {
        workload.check(workload.transactions().unwrap_or(1))?;
        let shape = self.shape(workload);
        self.row.threads = shape.threads;
        let (transactions, room) = self.plan(workload, shape)?;
        workload.check(transactions)?;
        let config = StmConfig {
            locks: self.settings.locks,
            stripe_bytes: self.settings.stripe_bytes,
            capacity: workload.capacity(),
            patience: self.settings.patience,
            time_limit: self.settings.time_limit,
        };
        let mut stm = match self.stm.take() {
            Some(stm) if stm.config().capacity == config.capacity => stm,
            _ => Stm::new(self.device, shape, config)?,
        };
        let mut data = workload.prepare(self.device, seed, transactions)?;
        let running = match A::GRANULE {
            Granule::Lane | Granule::LaneInTurn => lanes(shape),
            Granule::Block => u64::from(shape.blocks),
        };
        workload.fit(self.device, &mut data, running)?;
        workload.arrange::<D, A>(&mut data)?;
        workload.reset(&mut data)?;
        let words = workload.initial(&data)?;
        let words = words.into_iter().map(|(word, value)| (word.bits(), value));
        let buffer_words = (lanes(shape) * room) as usize;
        let records = Buffer::<D, u64>::zeroed(self.device, buffer_words, "the records")?;
        // SAFETY: as many words as said, zero, and only this run uses them.
        let probe = unsafe { Recorder::new(records.as_mut_ptr(), room) };
        let mut recording = Recording {
            records,
            room,
            lanes: lanes(shape) as u32,
            header: self.header(workload, seed),
            initial: InitialMemory {
                words: words.collect(),
                rest: Rest::Value(0),
            },
            pending: Statistics::default(),
            kernel: Duration::ZERO,
            row: &mut self.row,
            sink,
            full: None,
            ended: Ok(ControlFlow::Continue(())),
        };
        let each = workload.is_reset_between_launches();
        let mut observer = |time, statistics: &Statistics| {
            recording.pending += *statistics;
            recording.kernel += time;
            if each {
                recording.take();
            }
        };
        let mut timed =
            Timed::new(self.device, &mut stm, probe, config.time_limit).observed_by(&mut observer);
        go(workload, &mut data, &mut timed, transactions)?;
        let commits = timed.finish().statistics.commits;
        if !each {
            recording.take();
        }
        let (full, ended) = (recording.full, recording.ended);
        self.stm = Some(stm);
        let wrong = match workload.commits_expected(&data, transactions)? {
            Some(n) if n != commits => Some(format!("{commits} of {n} transactions committed")),
            _ => workload.verify(&mut data, transactions)?,
        };
        if let Some(wrong) = wrong {
            self.row.wrong_state.get_or_insert(wrong);
        }
        match (ended?, full) {
            (ControlFlow::Break(()), _) => Ok(Ended::Enough),
            (_, None) => Ok(Ended::Complete),
            (_, Some(full)) => self.grow(workload, shape, room, &full),
        }
    }

    /// Makes room for what did not fit, as far as the bytes go.
    fn grow(
        &mut self,
        workload: &impl Workload,
        shape: Launch,
        room: u64,
        full: &BufferFull,
    ) -> Result<Ended, Error> {
        // Another run is not the same run: some more than it needed.
        self.attempts = (self.attempts * full.needed).div_ceil(room) * 5 / 4 + 1;
        let of_input = workload.transactions().is_some();
        match self.plan(workload, shape) {
            // The same transactions again, in a larger buffer; or fewer.
            Ok((_, more)) if more > room || !of_input => Ok(Ended::Full),
            _ => Err(Error::BufferFull {
                lane: full.lane,
                needed: full.needed,
                words_per_lane: room,
            }),
        }
    }

    fn header(&self, workload: &impl Workload, seed: u64) -> Header {
        let mut what = vec![workload.name().to_owned()];
        for (name, value) in workload.parameters() {
            what.push(format!("{name}={value}"));
        }
        Header {
            variant: self.row.variant.to_string(),
            workload: what.join(" "),
            device: self.device.name(),
            seed: format!("{seed:#x}"),
        }
    }
}

/// Lanes of a GPU's warp.
const WARP: u32 = 32;

fn lanes(shape: Launch) -> u64 {
    u64::from(shape.blocks) * u64::from(shape.threads)
}

/// Whether the threads of a block work together, and one runs the transactions.
fn is_team(workload: &impl Workload) -> bool {
    workload.shared_bytes() != 0
}
