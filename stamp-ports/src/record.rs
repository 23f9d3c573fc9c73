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
use crate::workloads::AnyWorkload;
use crate::workloads::launcher::Launcher;
use crate::workloads::prepared::{OtherKernel, prepare};
use crate::workloads::ra::Ra;
use crate::workloads::workload::MadeFor;
use stm_core::internal::observe::history_layout::{HEADER_WORDS, words_needed};
use stm_history::error::Error::BufferFull;
use stm_history::history::records::Records;
use stm_history::history::{Header, History, InitialMemory, Rest};
use stm_history::opacity;
use stm_kernels::draw::draw;
pub(crate) use stm_kernels::mutants::RA_MUTANTS;
use stm_kernels::mutants::RaMutant;

/// Records a variant and hands each history on, until `sink` breaks or the settings have enough. It is an error
/// if the records of a launch do not fit [`Settings::buffer_bytes`].
pub fn record<D: Device>(
    device: &D,
    variant: Variant,
    workload: &AnyWorkload,
    settings: &Settings,
    mut sink: impl FnMut(History) -> Flow,
) -> Result<Row> {
    made(device, (variant, None), (workload, settings), &mut sink)
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

/// Returns the random array's kernel with a seeded defect that is one of `RA_MUTANTS`, with delays at the fences or
/// without, and its variant. Recorded, it shows what the hardware does of the defect; a memory that the defect spoils
/// ends the recording: [`Row::wrong_state`].
pub(crate) fn kernel_of(mutant: Mutant, delayed: bool) -> (Variant, Other<AnyDevice>) {
    macro_rules! dispatch {
        ($name:ident, $type:ident) => {
            if mutant == Mutant::$name {
                const NUMBER: u32 = Mutant::$name as u32;
                let kernel = if delayed {
                    kernel::<stm_core::algorithm::$type, NUMBER, true>
                } else {
                    kernel::<stm_core::algorithm::$type, NUMBER, false>
                };
                return (Variant::$type, Some(kernel));
            }
        };
    }
    stm_kernels::for_each_ra_mutant!(dispatch);
    unreachable!("no kernel has the defect {}", mutant.name())
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

/// The kernel of the random array that takes the place of the workload's, if any does.
type Other<D> = Option<fn() -> OtherKernel<D, Ra>>;

struct Session<'a, D: Device> {
    device: &'a D,
    variant: Variant,
    other: Other<D>,
    settings: &'a Settings,
    /// Attempts at each transaction that buffers have room for now.
    attempts: u64,
    /// That of the last run: its clock goes on.
    stm: Option<Stm<D>>,
    row: Row,
}

/// Makes runs, each on data from another seed, until the sink or the settings have enough.
pub(crate) fn made<D: Device>(
    device: &D,
    (variant, other): (Variant, Other<D>),
    (workload, settings): (&AnyWorkload, &Settings),
    sink: &mut Sink<'_>,
) -> Result<Row> {
    let start = Instant::now();
    let mut session = Session {
        device,
        variant,
        other,
        settings,
        attempts: settings.attempts,
        stm: None,
        row: Row {
            blocks: settings.blocks,
            threads: settings.threads,
            ..Row::default()
        },
    };
    loop {
        let (runs, before) = (session.row.runs, session.row.transactions);
        let seed = [settings.seed, draw(settings.seed, runs, 17)][usize::from(runs > 0)];
        let flow = session.run(&workload.redrawn(seed)?, seed, sink)?;
        let row = &mut session.row;
        // An input with nothing to commit never has enough.
        let has_all = row.transactions >= settings.transactions || row.transactions == before;
        let has_runs = settings.runs_max.is_some_and(|max| row.runs >= max);
        let is_enough = row.runs > runs && (has_all || has_runs);
        if flow.is_break() || is_enough || row.wrong_state.is_some() {
            row.seconds = start.elapsed().as_secs_f64();
            return Ok(session.row);
        }
    }
}

impl<D: Device> Session<'_, D> {
    fn shape(&self, workload: &dyn Sizes) -> Launch {
        let threads = match self.variant {
            Variant::Egpgv if !workload.by_blocks() => 1,
            // A warp's records are all in its first lane's buffer.
            variant if variant.has_teams() && workload.by_warps() => self.settings.threads.min(32),
            _ => self.settings.threads,
        };
        Launch {
            shared_bytes: workload.shared_bytes(),
            ..Launch::new(self.row.blocks, threads)
        }
    }

    /// Plans the next run: its launch, its transactions, as many as the buffers hold, and the words of a lane's
    /// buffer, which are more than `before` if the input says how many transactions there are. The blocks are
    /// halved until each lane has room enough.
    fn plan(&mut self, workload: &dyn Sizes, before: u64) -> Result<(Launch, u64, u64)> {
        let capacity = workload.capacity();
        // The last batch of reads repeats its last word up to 16.
        let events = u64::from(capacity.reads).next_multiple_of(16) + u64::from(capacity.writes);
        let by_warps = workload.by_warps() && self.variant.has_teams();
        let bytes = self.settings.buffer_bytes;
        loop {
            let shape = self.shape(workload);
            let lanes = lanes((shape.blocks, shape.threads));
            let available = bytes / 8 / lanes;
            let (transactions, room, least) = if let Some(n) = workload.transactions() {
                let workers = if workload.by_blocks() || by_warps {
                    u64::from(shape.blocks)
                } else {
                    lanes
                };
                let asked = words_needed(n.div_ceil(workers).saturating_mul(self.attempts), events);
                // Few attempts make as many events as they may.
                (n, asked.min(available), words_needed(1, events))
            } else {
                // Whole rounds, so that no lane has more than its share of room.
                let of_one = words_needed(self.attempts, events) - HEADER_WORDS;
                let rounds = (available.saturating_sub(HEADER_WORDS) / of_one).max(1);
                let missing = self.settings.transactions - self.row.transactions;
                let n = (rounds * lanes).min(missing);
                let room = words_needed(n.div_ceil(lanes) * self.attempts, events);
                (n, room, room)
            };
            // Where the input does not say, more attempts leave room for fewer transactions.
            let is_more = room > before || workload.transactions().is_none();
            if least <= available && is_more {
                return Ok((shape, transactions, room));
            }
            if self.row.blocks == 1 {
                let needed = least.saturating_mul(lanes).saturating_mul(8);
                return Err(Error::NoRoom(format!(
                    "{bytes} bytes for recording are too few: one transaction a thread needs \
                     {needed} (--buffer-bytes), or fewer threads or --attempts"
                )));
            }
            self.row.blocks /= 2;
            self.stm = None;
        }
    }

    fn run(&mut self, any: &AnyWorkload, seed: u64, sink: &mut Sink<'_>) -> Flow {
        let workload = any.sizes();
        workload.check(workload.transactions().unwrap_or(1))?;
        self.row.workload = workload.name();
        self.row.variant = workload.form().name(self.variant.into());
        let (shape, transactions, room) = self.plan(workload, 0)?;
        self.row.threads = shape.threads;
        workload.check(transactions)?;
        let mut stm = self.memory(workload, shape)?;
        let mut prepared = match (any, self.other) {
            (AnyWorkload::Ra(ra), Some(kernel)) => {
                let made_for = MadeFor::new(seed, transactions);
                prepare(ra, self.device, made_for, Some(kernel()))?
            }
            _ => any.prepare(self.device, seed, transactions)?,
        };
        prepared.fit(self.variant, shape)?;
        prepared.reset()?;
        let words = prepared.initial()?.into_iter();
        let words = words.map(|(word, value)| (word.bits(), value));
        let records = Records::new(self.device, &shape, room)?;
        stm.observe(records.probe());
        let mut recording = Recording {
            records,
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
        let mut after_each = |time, statistics: &Statistics| {
            recording.pending += *statistics;
            recording.kernel += time;
            if each {
                recording.take();
            }
            Ok(())
        };
        let launcher = Launcher::new(self.device, &mut stm).followed_by(&mut after_each);
        let done = prepared.run(self.variant, launcher, transactions)?;
        if !each {
            recording.take();
        }
        let Recording { full, ended, .. } = recording;
        self.stm = Some(stm);
        if let Some(wrong) = prepared.verify(done.statistics.commits, transactions)? {
            self.row.wrong_state.get_or_insert(wrong);
        }
        let flow = ended?;
        match full {
            _ if flow.is_break() => {}
            None => self.row.runs += 1,
            Some(lacking) => self.grow(workload, room, lacking)?,
        }
        Ok(flow)
    }

    /// The memory: that of the last run, whose clock goes on, if it has the same sets.
    fn memory(&mut self, workload: &dyn Sizes, shape: Launch) -> Result<Stm<D>> {
        let config = StmConfig {
            locks: self.settings.locks,
            stripe_bytes: self.settings.stripe_bytes,
            capacity: workload.capacity(),
            retry_limits: self.settings.retry_limits,
            time_limit: self.settings.time_limit,
        };
        Ok(match self.stm.take() {
            Some(stm) if stm.config().capacity == config.capacity => stm,
            _ => Stm::new(self.device, shape, config)?,
        })
    }

    /// Makes room for what did not fit, as far as the bytes go; with fewer blocks, if need be.
    fn grow(&mut self, workload: &dyn Sizes, room: u64, (lane, needed): (u32, u64)) -> Result<()> {
        // Another run is not the same run: some more than it needed.
        self.attempts = (self.attempts * needed).div_ceil(room) * 5 / 4 + 1;
        let full = BufferFull {
            lane,
            needed,
            words_per_lane: room,
        };
        self.plan(workload, room).map_err(|_| full)?;
        Ok(())
    }

    fn header(&self, workload: &dyn Sizes, seed: u64) -> Header {
        let mut what = workload.name().to_owned();
        let parameters = workload.parameters().into_iter();
        // Those that are sizes.
        let sizes = parameters.filter(|(_, value)| value.is_u64());
        what.extend(sizes.map(|(name, value)| format!(" {name}={value}")));
        Header {
            variant: self.row.variant.to_owned(),
            workload: what,
            device: self.device.name(),
            seed: format!("{seed:#x}"),
        }
    }
}

struct Recording<'a, 's, D: Device> {
    records: Records<D>,
    header: Header,
    initial: InitialMemory,
    pending: Statistics,
    kernel: Duration,
    row: &'a mut Row,
    sink: &'a mut Sink<'s>,
    /// Of the launch that lacked the most room: the lane that needed the most words, and how many.
    full: Option<(u32, u64)>,
    /// Whether the sink has seen enough, or what went wrong.
    ended: Flow,
}

impl<D: Device> Recording<'_, '_, D> {
    fn take(&mut self) {
        if matches!(self.ended, Ok(ControlFlow::Continue(()))) {
            self.ended = self.history();
        }
    }

    fn history(&mut self) -> Flow {
        let (header, initial) = (self.header.clone(), self.initial.clone());
        let recorded = self.records.history(header, initial);
        self.records.clear()?;
        let done = std::mem::take(&mut self.pending);
        let kernel = std::mem::take(&mut self.kernel);
        let history = match recorded {
            Ok(history) => history,
            Err(BufferFull { lane, needed, .. }) => {
                self.row.repeated += 1;
                if self.full.is_none_or(|(_, most)| most < needed) {
                    self.full = Some((lane, needed));
                }
                return Ok(ControlFlow::Continue(()));
            }
            Err(error) => return Err(error.into()),
        };
        let row = &mut *self.row;
        row.histories += 1;
        row.transactions += done.commits;
        row.attempts += done.attempts;
        row.aborted += done.aborted();
        row.turns += done.turns;
        row.kernel_seconds += kernel.as_secs_f64();
        let (recorded, made) = (history.len() as u64, done.attempts);
        if recorded != made {
            let what = format!("{recorded} attempts were recorded, and {made} made");
            row.wrong_state.get_or_insert(what);
        }
        (self.sink)(history)
    }
}
