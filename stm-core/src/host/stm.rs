//! The owner of a transactional memory's metadata. A launch resets gate, stop flag, fault and statistics,
//! while clock and versions stay; runs the kernel; reads statistics and fault; and checks the metadata. If
//! that is corrupt, every later launch returns the same error.

use crate::host::config::StmConfig;
use crate::host::fault_error::of_fault;
use crate::host::inspect::Watcher;
use crate::host::prelude::*;
use crate::memory::globals::{COUNTERS, Counter, FaultRecord, Globals, STATISTICS_STRIPES};
use core::slice;
use stm_machine::host::StopAt;

/// The counts of what a launch's transactions did: `attempts == commits + aborts`, over all reasons.
///
/// ```
/// use stm_core::host::Statistics;
///
/// let mut all = Statistics::default();
/// let launch = Statistics { attempts: 12, commits: 10, rounds: 4, round_lanes: 12, ..Default::default() };
/// all += launch;
/// all += launch;
/// assert_eq!(all.attempts, 24);
/// assert_eq!(all.active_lanes(), Some(3.0)); // of a warp, on average
/// assert_eq!((all.aborted_for("commit_stale"), all.waits()), (0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Attempts begun.
    pub attempts: u64,
    /// Attempts that committed.
    pub commits: u64,
    /// Commits that wrote nothing.
    pub read_only_commits: u64,
    /// Transactions given up after `retries_max` conflicts.
    pub gave_up: u64,
    /// Attempts that did not commit, by reason ([`Abort::NAMES`]).
    pub aborts: [u64; Abort::COUNT],
    /// Turns in which a warp, a team or a lane worked alone under contention.
    pub turns: u64,
    /// Rounds in which a warp made attempts, in loops over transactions.
    pub rounds: u64,
    /// Attempts made in these rounds; divided by the rounds, the mean number of active lanes of a warp.
    pub round_lanes: u64,
}

impl Statistics {
    /// Returns how many lanes of a warp made attempts together, on average; `None` without loops.
    pub fn active_lanes(&self) -> Option<f64> {
        (self.rounds != 0).then(|| self.round_lanes as f64 / self.rounds as f64)
    }

    /// Returns the number of aborts for the reason of this name ([`Abort::NAMES`]), 0 for an unknown name.
    pub fn aborted_for(&self, name: &str) -> u64 {
        let reason = Abort::NAMES.iter().position(|&other| other == name);
        reason.map_or(0, |reason| self.aborts[reason])
    }

    /// Returns how many attempts ended in a wait ([`Tx::retry`](crate::Tx::retry)); they count as aborts too.
    pub const fn waits(&self) -> u64 {
        self.aborts[Abort::Retry as usize]
    }

    /// Returns the number of attempts that did not commit, [`Self::waits`] among them.
    pub fn aborted(&self) -> u64 {
        self.aborts.iter().sum()
    }
}

/// The statistics of several launches are their sums.
impl AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        self.attempts += other.attempts;
        self.commits += other.commits;
        self.read_only_commits += other.read_only_commits;
        self.gave_up += other.gave_up;
        for (sum, n) in self.aborts.iter_mut().zip(other.aborts) {
            *sum += n;
        }
        self.turns += other.turns;
        self.rounds += other.rounds;
        self.round_lanes += other.round_lanes;
    }
}

fn region_bytes<D: Device>(device: &D, launch: Launch, capacity: Capacity) -> Result<u64> {
    let limits = device.limits();
    launch.check(&limits)?;
    let warps = u64::from(launch.threads.div_ceil(limits.warp_width)) * u64::from(launch.blocks);
    let words = capacity.warp_words(limits.warp_width);
    // The product may exceed 64 bits; it then exceeds the memory as well.
    Ok(warps.saturating_mul(words).saturating_mul(8))
}

/// A transactional memory on a device: the clock, the lock table, the logs of all warps, and the statistics.
/// It serves any number of launches of any shape under one algorithm.
///
/// ```
/// use stm_core::prelude::*;
///
/// #[kernel]
/// pub fn step(stm: &Stm, words: Cells<u32>) {
///     stm.update_each(0..100, words, |i| [i % 8], |_, [word]| Some([word + 1]));
/// }
///
/// # fn main() -> Result<(), stm_core::host::Error> {
/// let mut stm = Stm::on(&Cpu::new())?;
/// let words = stm.array("words", &[0u32; 8])?;
/// for shape in [Launch::new(1, 2), Launch::new(3, 8)] {
///     step::launch(&mut stm, shape, &words)?;
/// }
/// stm.check_in_full()?; // nothing is left unfinished
/// assert_eq!(words.download()?.iter().sum::<u32>(), 200);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Stm<D: Device> {
    device: D,
    launch: Launch,
    config: StmConfig,
    map: StripeMap,
    globals: D::Memory,
    pub(super) locks: D::Memory,
    region: D::Memory,
    pub(super) corrupt: Option<String>,
    probe: HostProbe,
    pub(super) algorithm: Option<&'static str>,
    pub(super) watched: Vec<Watcher<D::Memory>>,
    /// The launches checked so far, which say where the next check reads.
    pub(super) launches: u64,
}

impl<D: Device> Stm<D> {
    /// Allocates the metadata, with room for launches of this shape.
    ///
    /// # Errors
    /// [`Error::BadConfig`] for a size or limit out of its range, [`Error::OutOfMemory`].
    pub fn new(device: &D, launch: Launch, config: StmConfig) -> Result<Self> {
        let map = config.check()?;
        let region_bytes = region_bytes(device, launch, config.capacity)?;
        let needed = region_bytes.saturating_add(map.locks() * 8 + size_of::<Globals>() as u64);
        let available = device.available_bytes()?;
        if needed > available {
            let what = "the metadata (locks and sets)";
            return Err(Error::out_of(what, needed, available));
        }
        Ok(Self {
            device: device.clone(),
            launch,
            config,
            map,
            globals: device.allocate(size_of::<Globals>(), "the global metadata")?,
            locks: device.allocate(map.locks() as usize * 8, "the lock table")?,
            region: device.allocate(region_bytes as usize, "the read and write sets")?,
            corrupt: None,
            probe: HostProbe::SILENT,
            algorithm: None,
            watched: Vec::new(),
            launches: 0,
        })
    }

    /// Makes the following launches have this shape. If it is larger than those before, the sets of the lanes
    /// grow, and handles made before are not valid any more.
    ///
    /// # Errors
    /// The shape exceeds the limits of the device, or its memory.
    pub fn reshape(&mut self, launch: Launch) -> Result {
        let needed = region_bytes(&self.device, launch, self.config.capacity)?;
        let same = self.has_shape(launch);
        if needed > self.region.bytes() as u64 {
            let what = "the read and write sets";
            self.region = self.device.allocate(needed as usize, what)?;
        } else if !same {
            // Each lane has its sets in another place than before, where others have left something.
            self.region.clear()?;
        }
        self.launch = launch;
        Ok(())
    }

    pub(super) const fn has_shape(&self, launch: Launch) -> bool {
        launch.blocks == self.launch.blocks && launch.threads == self.launch.threads
    }

    /// Returns the device.
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// Returns the handle for kernels with transactions of algorithm `A`. It is valid while this `Stm` lives.
    pub fn handle<A: Algorithm>(&self) -> StmRef<A> {
        // SAFETY: the memories have these sizes and were zeroed; the caller of `launch` promises the rest.
        unsafe {
            StmRef::from_raw(
                self.globals.address().cast(),
                self.locks.address().cast(),
                self.region.address().cast(),
                self.config.capacity,
                self.map,
                self.config.retry_limits,
            )
        }
    }

    /// Sets the probe of the following launches, until another one is set; [`HostProbe::SILENT`] ends the
    /// observation. On a GPU an observed launch needs PTX that was built for it (`Error::PtxNotBuilt` names
    /// the command).
    pub const fn observe(&mut self, probe: HostProbe) {
        self.probe = probe;
    }

    /// Returns whether a probe observes the transactions of the following launches.
    pub fn is_observed(&self) -> bool {
        self.probe.observation() != Observation::Silent
    }

    /// Returns the sizes and limits.
    pub const fn config(&self) -> &StmConfig {
        &self.config
    }

    /// Changes the time limit of the following launches.
    pub const fn set_time_limit(&mut self, limit: Option<Duration>) {
        self.config.time_limit = limit;
    }

    /// Returns the number of bytes of device memory that the metadata takes.
    pub fn metadata_bytes(&self) -> u64 {
        (self.globals.bytes() + self.locks.bytes() + self.region.bytes()) as u64
    }

    /// Sets the clock to `to` joint commits, for tests; [`Error::BadConfig`] if it is above.
    #[doc(hidden)]
    pub fn advance_clock(&mut self, to: u64) -> Result {
        let clock = offset_of!(Globals, clock.now);
        let expected = "at or above its present value, as it never goes back";
        Error::unless(self.global::<u64>(clock)? <= to, "the clock", to, expected)?;
        self.globals.write(clock, &to.to_le_bytes())
    }

    /// Returns the shape of the launches.
    pub const fn shape(&self) -> Launch {
        self.launch
    }

    /// Launches a kernel whose parameters hold this memory's [handle](Self::handle), waits for it, and
    /// returns the time the kernel ran and its statistics.
    ///
    /// Then it checks that there was no fault, that commits plus aborts equal attempts, that all locks are
    /// free and none has a version above the clock, and the arrays that it [watches](Self::watch); `download`
    /// checks others. Of the lock table and of each array it reads 64 KiB, others after each launch; after a
    /// timeout, a panic or a fault, and in [`Self::check_in_full`], all of them.
    ///
    /// # Errors
    /// A fault of a transaction ([`Error::CapacityExceeded`], [`Error::OutOfRange`]), [`Error::Timeout`],
    /// [`Error::Corrupt`] (from this and every later launch), or an error of the device.
    ///
    /// # Safety
    /// 1. `params` holds a [handle](Self::handle) of this `Stm`, for the one algorithm of all its launches;
    /// 2. every array in it belongs to a buffer on the same device that lives until this returns;
    /// 3. the obligations of [`Device::launch`] hold.
    pub unsafe fn launch<K: Kernel>(
        &mut self,
        params: &K::Params,
    ) -> Result<(Duration, Statistics)> {
        // SAFETY: the caller promises it.
        self.launch_by(&|device, launch| unsafe { device.launch::<K>(launch, params) })
    }

    /// Does what [`Self::launch`] does by the closure, so that it is compiled once for all kernels.
    fn launch_by(
        &mut self,
        kernel: &dyn Fn(&D, &Launch) -> Result<Duration>,
    ) -> Result<(Duration, Statistics)> {
        self.begin()?;
        let launched = kernel(&self.device, &self.present_launch());
        let time = launched.map_err(|error| self.after_error(error))?;
        Ok((time, self.conclude()?))
    }

    /// Resets gate, stop flag, fault and statistics, and numbers the launch; clock and versions stay.
    pub(super) fn begin(&mut self) -> Result {
        self.refuse_if_corrupt()?;
        // A launch that was stopped leaves tickets and places present.
        let (gate, from) = (offset_of!(Globals, clock.gate), offset_of!(Globals, stop));
        self.globals.write(gate, &[0; 16])?;
        let mut reset = vec![0; size_of::<Globals>() - from];
        let buffer = self.probe.buffer();
        let words_per_lane = offset_of!(Globals, probe.0.words_per_lane);
        let mut launches = locked(&LAUNCHES);
        *launches += 1;
        for (at, word) in [
            (offset_of!(Globals, launch), *launches),
            (offset_of!(Globals, probe.0.base), buffer.base as u64),
            (words_per_lane, buffer.words_per_lane),
        ] {
            reset[at - from..][..8].copy_from_slice(&word.to_le_bytes());
        }
        self.globals.write(from, &reset)
    }

    pub(super) fn present_launch(&self) -> Launch {
        let mut launch = self.launch;
        (launch.probe, launch.stop) = (self.probe, Some(self.stop_at()));
        launch
    }

    pub(super) fn stop_at(&self) -> StopAt {
        let (flag, after) = (self.stop_flag(), self.config.time_limit);
        StopAt { flag, after }
    }

    /// Returns the stop flag, for barriers and semaphores beside transactions. It is valid while this lives.
    pub fn stop(&self) -> Stop {
        // SAFETY: a word of live globals, which the caller of a launch keeps alive.
        unsafe { Stop::from_raw(self.stop_flag()) }
    }

    /// Returns the error of a launch, after which the memory may be of no use.
    pub(super) fn after_error(&mut self, error: Error) -> Error {
        if matches!(error, Error::Panicked { .. }) {
            // Locks may be held, and values may be written back in part.
            self.close_after(&error);
        }
        error
    }

    /// Reads statistics and fault of the launches since [`Self::begin`], and checks what they have left.
    pub(super) fn conclude(&mut self) -> Result<Statistics> {
        let (statistics, unfinished) = self.statistics()?;
        let fault: FaultRecord = self.global(offset_of!(Globals, fault))?;
        self.check(&statistics, fault.reason != 0 || unfinished != 0)?;
        let reason = (fault.reason as usize).checked_sub(1);
        if let Some(&reason) = reason.and_then(|reason| Abort::ALL.get(reason)) {
            if reason == Abort::TeamIncomplete {
                // Warps that have gathered in part have counts in their logs.
                self.region.clear()?;
            }
            return Err(of_fault(reason, &fault));
        }
        if unfinished != 0 {
            return Err(Error::Timeout {
                limit: self.config.time_limit.unwrap_or_default(),
                committed: statistics.commits,
                aborted: statistics.aborted(),
            });
        }
        Ok(statistics)
    }

    pub(super) fn stop_flag(&self) -> *mut u32 {
        let stop = offset_of!(Globals, stop);
        self.globals.address().wrapping_add(stop).cast()
    }

    pub(super) fn global<T: Pod>(&self, offset: usize) -> Result<T> {
        // SAFETY: zero bytes are a value (`Pod`).
        let mut value: T = unsafe { core::mem::zeroed() };
        let bytes = bytes_of_mut(slice::from_mut(&mut value));
        self.globals.read(offset, bytes)?;
        Ok(value)
    }

    fn statistics(&self) -> Result<(Statistics, u64)> {
        let mut bytes = vec![0; STATISTICS_STRIPES as usize * COUNTERS * 8];
        (self.globals).read(offset_of!(Globals, statistics), &mut bytes)?;
        let mut sums = [0u64; COUNTERS];
        for (i, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
            sums[i % COUNTERS] += u64::from_le_bytes(*word);
        }
        let of = |counter: Counter| sums[counter as usize];
        let statistics = Statistics {
            attempts: of(Counter::Attempts),
            commits: of(Counter::Commits),
            read_only_commits: of(Counter::ReadOnlyCommits),
            gave_up: of(Counter::GaveUp),
            aborts: core::array::from_fn(|reason| sums[Counter::AbortsFrom as usize + reason]),
            turns: of(Counter::Turns),
            rounds: of(Counter::Rounds),
            round_lanes: of(Counter::RoundLanes),
        };
        Ok((statistics, of(Counter::Unfinished)))
    }
}

static LAUNCHES: Mutex<u64> = Mutex::new(0);

// SAFETY: numbers without padding between them.
unsafe impl Pod for FaultRecord {}
