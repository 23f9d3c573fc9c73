//! A recording in progress: one run after the other, and the way from a run's buffers to its histories.

use super::{Flow, Row, Settings, Sink};
use crate::prelude::*;
use crate::workloads::launcher::Launcher;
use crate::workloads::prepared::{OtherKernel, prepare};
use crate::workloads::ra::Ra;
use crate::workloads::workload::MadeFor;
use stm_core::host::Statistics;
use stm_core::internal::observe::history_layout::{HEADER_WORDS, words_needed};
use stm_history::error::Error::BufferFull;
use stm_history::history::records::Records;
use stm_history::history::{Header, InitialMemory, Rest};
use stm_kernels::draw::draw;

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
pub(super) fn record<D: Device>(
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
        let seed = match runs {
            0 => settings.seed,
            n => draw(settings.seed, n, 17),
        };
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
                return refuse(format!(
                    "{bytes} bytes for recording are too few: one transaction a thread needs \
                     {needed} (--buffer-bytes), or fewer threads or --attempts"
                ));
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
            (AnyWorkload::Ra(ra), Some(kernel)) => prepare(
                ra,
                self.device,
                MadeFor::new(seed, transactions),
                Some(kernel()),
            )?,
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
