//! Records the workloads on any device and judges what they did: histories of
//! real hardware, by the checker that the simulator's go through.
//!
//! Many transactions take several launches, each with a history of its own that
//! is checked and let go before the next: the recording buffers are at most
//! [`Settings::buffer_bytes`], and a history with its checker takes about one
//! and a half times as much again. A lane's buffer has room for
//! [`Settings::attempts`] attempts at each of its transactions; a launch that
//! needed more is thrown away whole, and smaller ones with more room follow. If
//! even one transaction a lane does not fit, the error says what it needs.

use crate::error::Error;
use crate::history::recorder::decode;
use crate::history::{Header, History, InitialMemory, Rest};
use crate::variant::{Variant, with_recorded};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use stm_core::algorithm::{Algorithm, HvSorting};
use stm_core::history_layout::{HEADER_WORDS, words_needed};
use stm_core::host::{Buffer, Device, Launch, Shared, Statistics, Stm, StmConfig};
use stm_core::logs::Capacity;
use stm_core::mutant::Mutant;
use stm_core::probe::Recorder;
use stm_core::stm_ref::Patience;
use stm_core::{Element, Kernel, StmRef, View};
use stm_kernels::draw::draw;
use stm_kernels::ht::{HashTable, HtParams, bucket_of_key, key_of_node};
use stm_kernels::mutants::RaMutant;
use stm_kernels::ra::{RaParams, RaPlan, RandomArray};

/// A workload and its sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workload {
    /// Random array.
    Ra {
        /// Words of the array.
        words: u32,
        /// Words that a transaction reads, 1 to `words`.
        reads: u32,
        /// How many of those it writes.
        writes: u32,
    },
    /// Hash table.
    Ht {
        /// Buckets, 1 or more.
        buckets: u32,
        /// Keys that a transaction inserts, 1 or more.
        keys_per_tx: u32,
    },
}

impl Workload {
    /// Its name at the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ra { .. } => "ra",
            Self::Ht { .. } => "ht",
        }
    }

    /// Most reads and writes that one attempt records.
    const fn events(self) -> u64 {
        match self {
            // The last batch of reads repeats its last word up to 16.
            Self::Ra { reads, writes, .. } => reads.next_multiple_of(16) as u64 + writes as u64,
            Self::Ht { keys_per_tx, .. } => 3 * keys_per_tx as u64,
        }
    }

    const fn capacity(self) -> Capacity {
        let (reads, writes) = match self {
            Self::Ra { reads, writes, .. } => (
                reads.next_multiple_of(16),
                if writes == 0 { 1 } else { writes },
            ),
            Self::Ht { keys_per_tx, .. } => (keys_per_tx, 2 * keys_per_tx),
        };
        Capacity { reads, writes }
    }

    /// Checks the sizes.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub fn check(self) -> Result<(), Error> {
        let wrong = |text: String| Err(Error::Usage(text));
        match self {
            Self::Ra {
                words,
                reads,
                writes,
            } if reads == 0 || writes > reads || reads > words => wrong(format!(
                "{reads} reads and {writes} writes do not fit {words} words: \
                 give 1 <= reads <= words and writes <= reads"
            )),
            Self::Ht {
                buckets,
                keys_per_tx,
            } if buckets == 0 || keys_per_tx == 0 => wrong(format!(
                "{buckets} buckets and {keys_per_tx} keys a transaction: give 1 or more of each"
            )),
            _ => Ok(()),
        }
    }
}

/// How to record.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Transactions in all.
    pub transactions: u64,
    /// Blocks of a launch.
    pub blocks: u32,
    /// Threads of a block; `egpgv` is launched with one, as no other would run.
    pub threads: u32,
    /// Version locks, a power of two.
    pub locks: u64,
    /// Bytes of a stripe, a power of two.
    pub stripe_bytes: u64,
    /// Bounds of waits and tries.
    pub patience: Patience,
    /// The seed of the data.
    pub seed: u64,
    /// Attempts at each transaction that buffers have room for at first.
    pub attempts: u64,
    /// Most bytes of all recording buffers together.
    pub buffer_bytes: u64,
    /// How long one launch may take.
    pub time_limit: Option<Duration>,
}

/// What one variant did, over all its launches.
#[derive(Clone, Debug)]
pub struct Row {
    /// The variant.
    pub variant: Variant,
    /// Blocks of a launch.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Launches whose histories are complete.
    pub launches: u64,
    /// Launches made again because a buffer was full.
    pub repeated: u64,
    /// Transactions committed.
    pub transactions: u64,
    /// Attempts recorded.
    pub attempts: u64,
    /// Attempts that aborted.
    pub aborted: u64,
    /// Time in kernels.
    pub kernel: Duration,
    /// Time for everything.
    pub wall: Duration,
    /// What is wrong with the memory that a launch left.
    pub wrong_state: Option<String>,
}

/// A launch whose records did not fit.
struct BufferFull {
    /// The lane that needed the most.
    lane: u32,
    /// The words that it needed.
    needed: u64,
}

/// One launch's result.
struct Launched {
    history: History,
    statistics: Statistics,
    kernel: Duration,
}

/// Records a variant and hands each history on, until `sink` breaks.
///
/// # Errors
/// Of the device or a launch; [`Error::BufferFull`] if the records of a launch
/// do not fit [`Settings::buffer_bytes`]; whatever `sink` returns.
pub fn record<D: Device>(
    device: &D,
    variant: Variant,
    workload: Workload,
    settings: &Settings,
    sink: impl FnMut(History) -> Result<ControlFlow<()>, Error>,
) -> Result<Row, Error> {
    workload.check()?;
    with_recorded!(variant, A => {
        let mut session = Session::<D, A>::new(device, variant, workload, settings)?;
        session.run(sink)
    })
}

/// The seeded defects that have a kernel for a GPU.
pub const MUTANTS: [Mutant; 10] = [
    Mutant::NoE1,
    Mutant::NoE2,
    Mutant::NoE2Extension,
    Mutant::NoE3,
    Mutant::NoE4,
    Mutant::NoE4Extension,
    Mutant::NoE5,
    Mutant::LockWordBeforeValue,
    Mutant::ExtensionWithoutLocks,
    Mutant::VersionBeforeLocking,
];

/// Records the random array with a seeded defect, on a device with PTX for it.
/// A memory that the defect spoils ends the run: [`Row::wrong_state`].
///
/// # Errors
/// As [`record`]; [`Error::Usage`] for a defect without a kernel, or a
/// workload that is not the random array.
pub fn record_mutant<D: Device>(
    device: &D,
    mutant: Mutant,
    workload: Workload,
    settings: &Settings,
    sink: impl FnMut(History) -> Result<ControlFlow<()>, Error>,
) -> Result<Row, Error> {
    workload.check()?;
    if !matches!(workload, Workload::Ra { .. }) {
        return Err(Error::Usage(
            "seeded defects on a device run ra: give --workload ra".into(),
        ));
    }
    macro_rules! dispatch {
        ($name:ident) => {
            if mutant == Mutant::$name {
                let mut session = Session::<
                    D,
                    HvSorting<Recorder>,
                    RaMutant<{ Mutant::$name as u32 }>,
                >::new(device, Variant::HvSorting, workload, settings)?;
                return session.run(sink);
            }
        };
    }
    stm_kernels::for_each_ra_mutant!(dispatch);
    Err(Error::Usage(format!(
        "there is no kernel with the defect {}: `verify mutants` tries it in the simulator",
        mutant.name()
    )))
}

/// A device, a transactional memory and a workload's arrays.
struct Session<'a, D: Device, A, R = RandomArray<A>> {
    device: &'a D,
    variant: Variant,
    workload: Workload,
    settings: &'a Settings,
    shape: Launch,
    stm: Stm<D>,
    /// Of RA: the array as it must be; of HT nothing.
    expected: Vec<u32>,
    words: Option<Shared<D, u32>>,
    /// What is wrong with the memory that a launch left.
    wrong_state: Option<String>,
    kernel: std::marker::PhantomData<(A, R)>,
}

impl<'a, D: Device, A: Algorithm<Probe = Recorder>, R> Session<'a, D, A, R>
where
    R: Kernel<Params = RaParams<A>>,
    HashTable<A>: Kernel<Params = HtParams<A>>,
{
    fn new(
        device: &'a D,
        variant: Variant,
        workload: Workload,
        settings: &'a Settings,
    ) -> Result<Self, Error> {
        let threads = if variant == Variant::Egpgv {
            1
        } else {
            settings.threads
        };
        let shape = Launch::new(settings.blocks, threads);
        let stm = Stm::new(
            device,
            shape,
            StmConfig {
                locks: settings.locks,
                stripe_bytes: settings.stripe_bytes,
                capacity: workload.capacity(),
                patience: settings.patience,
                time_limit: settings.time_limit,
            },
        )?;
        let (expected, words) = if let Workload::Ra { words, .. } = workload {
            let initial: Vec<u32> = (0..u64::from(words))
                .map(|w| draw(settings.seed, w, u32::MAX) as u32)
                .collect();
            let layout = <A::Array<u32> as View<u32>>::LAYOUT;
            let buffer = Shared::from_slice(device, layout, &initial, "the array of ra")?;
            (initial, Some(buffer))
        } else {
            (Vec::new(), None)
        };
        Ok(Self {
            device,
            variant,
            workload,
            settings,
            shape,
            stm,
            expected,
            words,
            wrong_state: None,
            kernel: std::marker::PhantomData,
        })
    }

    fn lanes(&self) -> u64 {
        u64::from(self.shape.blocks) * u64::from(self.shape.threads)
    }

    /// Transactions of one launch, as many as the buffers hold with room for so
    /// many attempts at each; and words of a lane's buffer.
    fn chunk(&self, attempts: u64) -> (u64, u64) {
        let events = self.workload.events();
        let lanes = self.lanes();
        let words = self.settings.buffer_bytes / 8 / lanes;
        // Whole rounds, so that no lane has more than its share of room.
        let of_one = words_needed(attempts, events) - HEADER_WORDS;
        let rounds = (words.saturating_sub(HEADER_WORDS) / of_one).max(1);
        let chunk = (rounds * lanes).min(self.settings.transactions);
        let room = words_needed(chunk.div_ceil(lanes) * attempts, events);
        (chunk, room)
    }

    fn run(
        &mut self,
        mut sink: impl FnMut(History) -> Result<ControlFlow<()>, Error>,
    ) -> Result<Row, Error> {
        let start = Instant::now();
        let mut row = Row {
            variant: self.variant,
            blocks: self.shape.blocks,
            threads: self.shape.threads,
            launches: 0,
            repeated: 0,
            transactions: 0,
            attempts: 0,
            aborted: 0,
            kernel: Duration::ZERO,
            wall: Duration::ZERO,
            wrong_state: None,
        };
        let mut attempts = self.settings.attempts;
        let (mut chunk, mut room) = self.chunk(attempts);
        let needed = room * self.lanes() * 8;
        if needed > self.settings.buffer_bytes {
            return Err(Error::Usage(format!(
                "{} bytes for recording are too few: one transaction a thread needs {needed} \
                 (--buffer-bytes), or fewer threads or --attempts",
                self.settings.buffer_bytes
            )));
        }
        let mut launch = 0;
        while row.transactions < self.settings.transactions && self.wrong_state.is_none() {
            let transactions = chunk.min(self.settings.transactions - row.transactions);
            let seed = draw(self.settings.seed, launch, 17);
            launch += 1;
            match self.launch(seed, transactions, room)? {
                Err(BufferFull { lane, needed }) => {
                    row.repeated += 1;
                    // Another run is not the same run: some more than it needed.
                    attempts = (attempts * needed).div_ceil(room) * 5 / 4 + 1;
                    let words_per_lane = room;
                    (chunk, room) = self.chunk(attempts);
                    if room * self.lanes() * 8 > self.settings.buffer_bytes {
                        return Err(Error::BufferFull {
                            lane,
                            needed,
                            words_per_lane,
                        });
                    }
                }
                Ok(done) => {
                    row.launches += 1;
                    row.transactions += done.statistics.commits;
                    row.attempts += done.statistics.attempts;
                    row.aborted += done.statistics.aborted();
                    row.kernel += done.kernel;
                    if done.statistics.commits != transactions {
                        self.wrong_state.get_or_insert(format!(
                            "{} of {transactions} transactions committed",
                            done.statistics.commits
                        ));
                    }
                    if sink(done.history)?.is_break() {
                        break;
                    }
                }
            }
        }
        row.wrong_state = self.wrong_state.take();
        row.wall = start.elapsed();
        Ok(row)
    }

    fn launch(
        &mut self,
        seed: u64,
        transactions: u64,
        room: u64,
    ) -> Result<Result<Launched, BufferFull>, Error> {
        let records =
            Buffer::<D, u64>::zeroed(self.device, (self.lanes() * room) as usize, "the records")?;
        // SAFETY: as many words as said, zero, and only this launch uses them.
        let probe = unsafe { Recorder::new(records.as_mut_ptr(), room) };
        let stm = self.stm.observed_handle::<A>(probe);
        let (initial, kernel, statistics) = match self.workload {
            Workload::Ra {
                words,
                reads,
                writes,
            } => self.ra(
                stm,
                RaPlan::new(seed, words, reads, writes),
                writes,
                transactions,
            )?,
            Workload::Ht {
                buckets,
                keys_per_tx,
            } => self.ht(stm, seed, buckets, keys_per_tx, transactions)?,
        };
        let header = Header {
            variant: self.variant.to_string(),
            workload: format!("{:?}", self.workload),
            device: self.device.name(),
            seed: format!("{seed:#x}"),
        };
        let lanes = self.lanes() as u32;
        let buffers = records.download()?;
        drop(records);
        match decode(&buffers, lanes, room, header, initial) {
            Ok(history) => Ok(Ok(Launched {
                history,
                statistics,
                kernel,
            })),
            Err(Error::BufferFull { lane, needed, .. }) => Ok(Err(BufferFull { lane, needed })),
            Err(error) => Err(error),
        }
    }

    fn ra(
        &mut self,
        stm: StmRef<A>,
        plan: RaPlan,
        writes: u32,
        transactions: u64,
    ) -> Result<(InitialMemory, Duration, Statistics), Error> {
        let Some(array) = &self.words else {
            return Err(Error::Usage("ra has no array".into()));
        };
        let params = RaParams {
            stm,
            words: array.view::<A>(),
            transactions,
            plan,
        };
        let initial = initial(&params.words, &self.expected);
        // SAFETY: the array and the records live in the caller, and nothing
        // but these transactions touches them.
        let (kernel, statistics) = unsafe { self.stm.launch::<R>(&params)? };
        for i in 0..transactions {
            let transaction = plan.transaction(i);
            for k in 0..writes {
                let word = &mut self.expected[transaction.word(k) as usize];
                *word = word.wrapping_add(transaction.delta(k));
            }
        }
        let found = array.download()?;
        let wrong = found
            .iter()
            .zip(&self.expected)
            .position(|(f, e)| f != e)
            .map(|w| format!("word {w} is {}, not {}", found[w], self.expected[w]));
        self.wrong_state = wrong;
        Ok((initial, kernel, statistics))
    }

    fn ht(
        &mut self,
        stm: StmRef<A>,
        seed: u64,
        buckets: u32,
        keys_per_tx: u32,
        transactions: u64,
    ) -> Result<(InitialMemory, Duration, Statistics), Error> {
        let nodes = transactions * u64::from(keys_per_tx);
        if nodes >= u64::from(u32::MAX) {
            return Err(Error::Usage(format!(
                "{nodes} nodes in a launch are too many for links of 32 bits: give a smaller --buffer-bytes"
            )));
        }
        let keys_host: Vec<u32> = (0..nodes as u32).map(|n| key_of_node(seed, n)).collect();
        let keys = Buffer::from_slice(self.device, &keys_host, "the keys of ht")?;
        let layout = <A::Array<u32> as View<u32>>::LAYOUT;
        let buckets = buckets as usize;
        let heads = Shared::<D, u32>::zeroed(self.device, layout, buckets, "the buckets of ht")?;
        // Full of wrong links, so that one that is not written shows.
        let unlinked = vec![u32::MAX; nodes as usize];
        let nexts = Shared::from_slice(self.device, layout, &unlinked, "the nodes of ht")?;
        let params = HtParams {
            stm,
            heads: heads.view::<A>(),
            nexts: nexts.view::<A>(),
            keys: keys.tarray(),
            transactions,
            keys_per_tx,
        };
        // Nodes are written and never read, so their first values are of no use.
        let initial = initial(&params.heads, &vec![0; buckets]);
        // SAFETY: all buffers live in this function and the caller's, and
        // nothing but these transactions writes them.
        let (kernel, statistics) = unsafe { self.stm.launch::<HashTable<A>>(&params)? };
        self.wrong_state = wrong_chains(&heads.download()?, &nexts.download()?, &keys_host);
        Ok((initial, kernel, statistics))
    }
}

fn initial<T: Element>(array: &impl View<T>, values: &[T]) -> InitialMemory {
    InitialMemory {
        words: (0..)
            .map(|i| array.word(i).bits())
            .zip(values.iter().map(|v| v.to_bits64()))
            .collect(),
        rest: Rest::Value(0),
    }
}

/// What is wrong with a hash table that should hold every key once.
fn wrong_chains(heads: &[u32], nexts: &[u32], keys: &[u32]) -> Option<String> {
    let mut seen = vec![false; keys.len()];
    for (bucket, &head) in heads.iter().enumerate() {
        let mut link = head;
        while link != 0 {
            let node = link as usize - 1;
            if node >= keys.len() {
                return Some(format!(
                    "bucket {bucket} links to node {node} of {}",
                    keys.len()
                ));
            }
            if seen[node] {
                return Some(format!(
                    "node {node} is met twice, in bucket {bucket} the second time"
                ));
            }
            seen[node] = true;
            let right = bucket_of_key(keys[node], heads.len() as u32) as usize;
            if right != bucket {
                return Some(format!("node {node} is in bucket {bucket}, not {right}"));
            }
            link = nexts[node];
        }
    }
    let lost = seen.iter().position(|&there| !there)?;
    Some(format!("node {lost} is in no chain"))
}
