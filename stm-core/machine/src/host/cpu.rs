//! The CPU as a device: each thread of a block is an OS thread. As on a GPU a few blocks run at a time: each
//! team of threads takes the next when it has finished one. A cooperative launch gets a team for every block.

use crate::host::CORES;
use crate::host::device::check_range;
use crate::host::prelude::*;
use crate::lane::cpu::{Block, BrokenBlock, Cluster, CpuLane, StopFlag};
use crate::observe::host_probe::HostProbe;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};
use std::thread;

/// The CPU as a device: threads of the system run the kernels, each of which is a warp of its own.
///
/// ```
/// use stm_machine::host::{Cpu, Device};
///
/// let cpu = Cpu::new();
/// assert_eq!((cpu.id(), cpu.limits().warp_width), ("cpu".to_owned(), 1));
/// println!("{}", cpu.name());
/// ```
#[derive(Clone, Debug)]
pub struct Cpu {
    cores: u32,
    /// The number of OS threads that a launch gets, as far as tests limit it.
    os_threads: u64,
}

impl Cpu {
    /// Makes a device of all cores that this process may use.
    pub fn new() -> Self {
        let (cores, os_threads) = (*CORES as u32, u64::MAX);
        Self { cores, os_threads }
    }

    /// Returns the device as if the system gave so many threads, for tests of [`Error::NoThreads`].
    #[doc(hidden)]
    #[must_use]
    pub const fn with_os_threads(mut self, os_threads: u64) -> Self {
        self.os_threads = os_threads;
        self
    }

    /// [`Device::launch`] for any kernel, so that it is compiled once; `entry` is the kernel's name.
    ///
    /// # Safety
    /// The obligations are those of [`Device::launch`].
    unsafe fn launch_work(
        &self,
        launch: &Launch,
        entry: &'static str,
        work: Work<'_>,
    ) -> Result<Duration> {
        launch.check(&self.limits())?;
        let enough = self.cores.div_ceil(launch.threads).max(1);
        let wanted = if launch.cooperative { u32::MAX } else { enough };
        // The blocks of a cluster run at the same time.
        let teams = wanted.min(launch.blocks).next_multiple_of(launch.cluster);
        let os_threads = u64::from(teams) * u64::from(launch.threads);
        let asked = os_threads.min(u64::from(u32::MAX)) as u32;
        Error::above("threads at the same time", asked, OS_THREADS_MAX)?;
        let block = |_| Block::new(launch.threads, launch.shared_bytes / 4);
        let blocks: Vec<Block> = (0..teams).map(block).collect();
        let clusters = blocks.chunks(launch.cluster as usize);
        let clusters = clusters.filter(|blocks| blocks.len() > 1);
        let cluster = |blocks| Cluster::new(blocks, launch.threads);
        let clusters: Vec<_> = clusters.map(cluster).collect();
        // SAFETY: the flag is live while the launch runs (the caller's promise).
        let flag = launch.stop.map(|at| unsafe { StopFlag::new(at.flag) });
        let crew = Crew {
            blocks: &blocks,
            clusters: &clusters,
            queue: Mutex::new(0..launch.blocks),
            threads: launch.threads,
            grid: launch.blocks,
            flag,
            probe: launch.probe,
            kernel: work,
            panic: Mutex::new(None),
            gate: RwLock::new(false),
        };
        let _running = RUNNING.read().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        // SAFETY: the caller promises it.
        let started = unsafe { crew.run(launch.stop.and_then(|at| at.after), self.os_threads) };
        let (time, asked) = (start.elapsed(), os_threads);
        if started < asked {
            return Err(Error::NoThreads { started, asked });
        }
        match locked(&crew.panic).take() {
            Some(message) => Err(Error::Panicked { entry, message }),
            None => Ok(time),
        }
    }
}

impl Default for Cpu {
    fn default() -> Self {
        Self::new()
    }
}

const OS_THREADS_MAX: u32 = 4096;

/// Host memory that serves as device memory.
#[derive(Debug)]
pub struct CpuMemory {
    start: *mut u8,
    layout: Layout,
}

/// Held by launches, and alone by copies, which the atomics of kernels must not race with.
static RUNNING: RwLock<()> = RwLock::new(());

/// Keeps launches away as long as it is held.
fn still() -> RwLockWriteGuard<'static, ()> {
    RUNNING.write().unwrap_or_else(PoisonError::into_inner)
}

// SAFETY: it is an allocation of its own.
unsafe impl Send for CpuMemory {}
// SAFETY: reads and writes go through `&self` and `&mut self`, and not while a kernel runs (`RUNNING`).
unsafe impl Sync for CpuMemory {}

impl Drop for CpuMemory {
    fn drop(&mut self) {
        // SAFETY: allocated in `allocate` with this layout.
        unsafe { dealloc(self.start, self.layout) }
    }
}

impl Memory for CpuMemory {
    fn address(&self) -> *mut u8 {
        self.start
    }

    fn bytes(&self) -> usize {
        self.layout.size()
    }

    fn space(&self) -> u64 {
        0
    }

    fn write(&mut self, offset: usize, data: &[u8]) -> Result {
        check_range(offset, data.len(), self.layout.size());
        let (_still, from, bytes) = (still(), data.as_ptr(), data.len());
        // SAFETY: in range; no kernel runs (`RUNNING`).
        unsafe { (self.start.add(offset)).copy_from_nonoverlapping(from, bytes) };
        Ok(())
    }

    fn read(&self, offset: usize, data: &mut [u8]) -> Result {
        check_range(offset, data.len(), self.layout.size());
        let (_still, to, bytes) = (still(), data.as_mut_ptr(), data.len());
        // SAFETY: in range; no kernel runs (`RUNNING`).
        unsafe { (self.start.add(offset)).copy_to_nonoverlapping(to, bytes) };
        Ok(())
    }

    fn clear(&mut self) -> Result {
        let _still = still();
        // SAFETY: the whole allocation; no kernel runs (`RUNNING`).
        unsafe { self.start.write_bytes(0, self.layout.size()) }
        Ok(())
    }
}

/// Returns the bytes that the system still has, by `/proc/meminfo`; without that, no limit is known.
fn available_memory() -> u64 {
    if cfg!(miri) {
        // An interpreter should not look at the system that it runs on.
        return u64::MAX;
    }
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let mut kib = (text.lines()).filter_map(|line| line.strip_prefix("MemAvailable:"));
    kib.find_map(|line| line.split_whitespace().next()?.parse().ok())
        .map_or(u64::MAX, |kib: u64| kib * 1024)
}

impl Device for Cpu {
    type Memory = CpuMemory;

    fn space(&self) -> u64 {
        0
    }

    fn name(&self) -> String {
        format!("CPU, {} cores", self.cores)
    }

    fn id(&self) -> String {
        "cpu".into()
    }

    fn limits(&self) -> Limits {
        Limits {
            warp_width: 1,
            threads_max: 1024,
            blocks_max: i32::MAX as u32,
            shared_bytes_max: 1 << 20,
            processors: self.cores,
            cluster_max: 16,
        }
    }

    fn available_bytes(&self) -> Result<u64> {
        Ok(available_memory())
    }

    fn allocate(&self, bytes: usize, what: &'static str) -> Result<CpuMemory> {
        let available = available_memory();
        let needed = bytes as u64;
        let layout = Layout::from_size_align(bytes.max(1), 256);
        let layout = layout.ok().filter(|_| needed <= available);
        // SAFETY: the layout's size is not zero.
        let memory = layout.map(|layout| (unsafe { alloc_zeroed(layout) }, layout));
        let memory = memory.filter(|(start, _)| !start.is_null());
        let memory = memory.map(|(start, layout)| CpuMemory { start, layout });
        memory.ok_or(Error::out_of(what, needed, available))
    }

    fn prepare<K: Kernel>(&self, _observation: Observation) -> Result<Duration> {
        Ok(Duration::ZERO)
    }

    /// Returns how many blocks a launch may give OS threads of their own.
    fn resident_blocks<K: Kernel>(&self, launch: &Launch) -> Result<u32> {
        launch.of_one_cluster().check(&self.limits())?;
        Ok(OS_THREADS_MAX / launch.threads)
    }

    unsafe fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<Duration> {
        let _still = still();
        let start = Instant::now();
        // SAFETY: the caller promises it; no kernel runs (`RUNNING`).
        unsafe { to.copy_from_nonoverlapping(from, bytes) };
        Ok(start.elapsed())
    }

    unsafe fn launch<K: Kernel>(&self, launch: &Launch, params: &K::Params) -> Result<Duration> {
        let work = |lane: &CpuLane<'_>| K::run_on_cpu(lane, params);
        // SAFETY: the caller promises it.
        unsafe { self.launch_work(launch, K::ENTRY, Work(&work)) }
    }
}

/// What one thread of a launch does in a block, with the parameters of the kernel.
struct Work<'a>(&'a dyn Fn(&CpuLane<'_>));

// SAFETY: views in the parameters are neither `Send` nor `Sync`, so that no safe kernel keeps one
// for later (`Kernel::Params`). The threads of the launch may share them: they end before it does,
// and access what views name by a `Lane` alone, whose accesses are atomic.
unsafe impl Sync for Work<'_> {}

struct Crew<'a> {
    blocks: &'a [Block],
    /// The clusters of the blocks, in their order, if they have more than one block.
    clusters: &'a [Cluster<'a>],
    queue: Mutex<Range<u32>>,
    threads: u32,
    grid: u32,
    flag: Option<StopFlag<'a>>,
    probe: HostProbe,
    kernel: Work<'a>,
    panic: Mutex<Option<String>>,
    /// Says whether the launch begins. It is locked until every thread has started or one could not: a kernel
    /// that lacks threads must not run at all, as it would leave what they do half-done.
    gate: RwLock<bool>,
}

impl Crew<'_> {
    /// Runs all blocks. Returns how many threads, `most` at most, there were; if not all, nothing has run.
    ///
    /// # Safety
    /// The obligations are those of [`Device::launch`].
    unsafe fn run(&self, limit: Option<Duration>, most: u64) -> u64 {
        thread::scope(|scope| {
            let mut gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
            let (done, finished) = channel::<()>();
            let mut started = 0;
            for team in 0..self.blocks.len() {
                for thread in 0..self.threads {
                    let done = done.clone();
                    let work = move || {
                        // SAFETY: the caller promises it.
                        unsafe { self.work(team, thread) };
                        drop(done);
                    };
                    if started == most || thread::Builder::new().spawn_scoped(scope, work).is_err()
                    {
                        return started;
                    }
                    started += 1;
                }
            }
            if let (Some(flag), Some(after)) = (self.flag, limit) {
                let watch = move || {
                    if finished.recv_timeout(after) == Err(RecvTimeoutError::Timeout) {
                        flag.raise();
                    }
                };
                if thread::Builder::new().spawn_scoped(scope, watch).is_err() {
                    return started - 1;
                }
            }
            *gate = true;
            started
        })
    }

    /// Runs one thread: block after block, as long as no thread panics.
    ///
    /// # Safety
    /// The obligations are those of [`Device::launch`].
    unsafe fn work(&self, team: usize, thread: u32) {
        if !*self.gate.read().unwrap_or_else(PoisonError::into_inner) {
            return;
        }
        let block = &self.blocks[team];
        let (grid, threads, probe) = (self.grid, self.threads, self.probe);
        // Blocks of a cluster are those of neighbouring teams, so with clusters each team has its own blocks.
        let draw = |present: Option<u32>| {
            if self.clusters.is_empty() {
                return locked(&self.queue).next();
            }
            let next = present.map_or(team, |present| present as usize + self.blocks.len());
            u32::try_from(next).ok().filter(|&next| next < grid)
        };
        let result = catch_unwind(AssertUnwindSafe(|| {
            while let Some(index) = block.next(draw) {
                // SAFETY: the caller's promise; the queue gives each block once, and its team each thread.
                let mut lane = unsafe { CpuLane::new(block, thread, index, threads, grid, probe) };
                if !self.clusters.is_empty() {
                    let size = self.blocks.len() / self.clusters.len();
                    lane = lane.in_cluster(&self.clusters[team / size], (team % size) as u32);
                }
                (self.kernel.0)(&lane);
            }
        }));
        let Err(payload) = result else { return };
        if !payload.is::<BrokenBlock>() {
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            locked(&self.panic).get_or_insert(text.unwrap_or("no message").to_owned());
        }
        // The launch ends early, so that no thread waits for one that will not come.
        self.blocks.iter().for_each(Block::break_up);
        self.clusters.iter().for_each(Cluster::break_up);
        if let Some(flag) = self.flag {
            flag.raise();
        }
    }
}
