//! Launches on a GPU: its [`Device`], launches recorded as a CUDA graph, and events of a stream.

use crate::host::cuda::context::{Cuda, Loaded};
use crate::host::cuda::driver::Call;
use crate::host::cuda::memory::CudaMemory;
use crate::host::cuda::module::Entry;
use crate::host::device::{Laps, Replay};
use crate::host::prelude::*;
use std::ffi::c_void;
use std::thread;

/// The GPU's clock: an event for each lap.
struct EventLaps<'a> {
    cuda: &'a Cuda,
    /// Those that have been recorded, and behind them those that have not.
    events: Vec<Event<'a>>,
    recorded: usize,
}

impl Laps for EventLaps<'_> {
    fn lap(&mut self) -> Result {
        if self.recorded == self.events.len() {
            self.events.push(Event::new(self.cuda)?);
        }
        self.events[self.recorded].record()?;
        self.recorded += 1;
        Ok(())
    }

    fn read(&mut self) -> Result<Vec<Duration>> {
        let recorded = self.events[..self.recorded].windows(2);
        recorded.map(|lap| lap[0].until(&lap[1])).collect()
    }
}

impl Device for Cuda {
    type Memory = CudaMemory;

    fn space(&self) -> u64 {
        self.context.handle as u64
    }

    fn name(&self) -> String {
        self.context.info.name.clone()
    }

    fn id(&self) -> String {
        let is_whole = self.context.info.has_wide_atomics() == self.wide;
        let rest = if is_whole { "" } else { ",atomics=64" };
        format!("cuda:{}{rest}", self.context.ordinal)
    }

    fn limits(&self) -> Limits {
        self.context.limits.clone()
    }

    fn atomics_bits(&self) -> u32 {
        if self.wide { 128 } else { 64 }
    }

    fn available_bytes(&self) -> Result<u64> {
        self.alive()?;
        Ok(self.done("cuMemGetInfo", self.driver().free_bytes())? as u64)
    }

    fn allocate(&self, bytes: usize, what: &'static str) -> Result<CudaMemory> {
        let available = self.available_bytes()?;
        let out = Error::out_of(what, bytes as u64, available);
        if bytes as u64 > available {
            return Err(out);
        }
        // SAFETY: the allocation is initialised below, before anybody reads it.
        let start = match unsafe { self.driver().allocate(bytes.max(1)) } {
            Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => return Err(out),
            other => self.done("cuMemAlloc", other)?,
        };
        let mut memory = CudaMemory {
            device: self.clone(),
            start,
            bytes: bytes.max(1),
        };
        memory.clear()?;
        Ok(memory)
    }

    fn prepare<K: Kernel>(&self, observation: Observation) -> Result<Duration> {
        self.compiled_in(Entry::of::<K>(), observation)
    }

    fn resident_blocks<K: Kernel>(&self, launch: &Launch) -> Result<u32> {
        let loaded = self.ready(Entry::of::<K>(), &launch.of_one_cluster())?;
        self.resident(loaded, launch)
    }

    unsafe fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<Duration> {
        self.alive()?;
        let (to, from) = (to as sys::CUdeviceptr, from as sys::CUdeviceptr);
        self.timed(None, "a copy on the device", || {
            // SAFETY: the caller promises it, and `timed` waits for the copy.
            let copied = unsafe { self.driver().copy_within(to, from, bytes, self.stream()) };
            self.done("cuMemcpyDtoDAsync", copied)
        })
    }

    unsafe fn launch<K: Kernel>(&self, launch: &Launch, params: &K::Params) -> Result<Duration> {
        let params = core::ptr::from_ref(params).cast();
        // SAFETY: the entry point takes K::Params by value, whose validity is the caller's promise.
        unsafe { self.launch_entry(Entry::of::<K>(), launch, params) }
    }

    unsafe fn enqueue<K: Kernel>(&self, launch: &Launch, params: &K::Params) -> Result {
        let params = core::ptr::from_ref(params).cast();
        // SAFETY: as above.
        unsafe { self.start(Entry::of::<K>(), launch, params) }
    }

    unsafe fn record<'d, K: Kernel>(
        &'d self,
        launches: &[(Launch, K::Params)],
    ) -> Result<Box<dyn Replay + 'd>> {
        let (driver, stream, entry) = (self.driver(), self.stream(), Entry::of::<K>());
        // What loads a module or sets an attribute of it comes before.
        for (launch, _) in launches {
            self.ready(entry, launch)?;
        }
        // SAFETY: the stream is live.
        let begun = unsafe { driver.begin_capture(stream) };
        self.done("cuStreamBeginCapture", begun)?;
        let recorded = launches.iter().try_for_each(|(launch, params)| {
            let params = core::ptr::from_ref(params).cast();
            // SAFETY: nothing runs yet; the caller promises the rest for what will.
            unsafe { self.start(entry, launch, params) }
        });
        // SAFETY: the stream is live, and capturing.
        let ended = unsafe { driver.end_capture(stream) };
        if let (Err(_), Ok(graph)) = (&recorded, &ended) {
            // SAFETY: this call made the graph, which is destroyed once. The first error is reported.
            let _ = unsafe { driver.destroy_graph(*graph) };
        }
        recorded?;
        let graph = self.done("cuStreamEndCapture", ended)?;
        // SAFETY: the graph is live, and destroyed once; what was instantiated does not need it.
        let (made, destroyed) = unsafe { (driver.instantiate(graph), driver.destroy_graph(graph)) };
        let ready = self.done("cuGraphInstantiate", made)?;
        let made = Graph { cuda: self, ready };
        self.done("cuGraphDestroy", destroyed)?;
        Ok(Box::new(made))
    }

    fn laps(&self, most: usize) -> Result<Box<dyn Laps + '_>> {
        self.alive()?;
        let events = (0..most).map(|_| Event::new(self));
        Ok(Box::new(EventLaps {
            cuda: self,
            events: events.collect::<Result<_, _>>()?,
            recorded: 0,
        }))
    }

    fn wait(&self, stop: Option<StopAt>) -> Result {
        self.alive()?;
        let reached = Event::new(self)?;
        self.wait_until(&reached, stop, "a kernel in order")
    }
}

/// Waits between two polls of a kernel: about a sixteenth of the time that it has run, so that short ones are
/// not seen to end late, and at most 200 us.
fn pause_between_polls(elapsed: Duration) {
    let pause = (elapsed / 16).min(Duration::from_micros(200));
    if pause < Duration::from_micros(20) {
        thread::yield_now();
    } else {
        thread::sleep(pause);
    }
}

impl Cuda {
    /// Records an event behind all that has been launched, and waits for it. After an error kernels may still
    /// run, so the context is lost whatever the error: nothing that they use may be freed.
    fn wait_until(&self, reached: &Event<'_>, stop: Option<StopAt>, what: &str) -> Result {
        // SAFETY: both are live.
        let recorded = unsafe { self.driver().record_event(reached.event, self.stream()) };
        let waited = recorded.and_then(|()| self.wait_for(reached, stop));
        waited.map_err(|error| self.lose(what, error))
    }

    /// Waits for what `begin` begins, which errors name `what`, and returns the time that the device took.
    fn timed(
        &self,
        stop: Option<StopAt>,
        what: &str,
        begin: impl FnOnce() -> Result,
    ) -> Result<Duration> {
        let (before, after) = (Event::new(self)?, Event::new(self)?);
        before.record()?;
        begin()?;
        self.wait_until(&after, stop, what)?;
        before.until(&after)
    }

    /// Loads a kernel for launches of this shape, and checks the limits: registers bound the threads of a
    /// block, shared memory beyond 48 KiB must be requested, and clusters need the module for newer GPUs.
    fn ready(&self, kernel: Entry, launch: &Launch) -> Result<Loaded> {
        launch.check(&self.limits())?;
        let loaded = self.function(kernel, launch.probe.observation())?;
        let (driver, function) = (self.driver(), loaded.function);
        if launch.cluster > 1 && !loaded.wide {
            return Err(Error::NoPtx { entry: kernel.name });
        }
        let what = "threads a block of this kernel, which needs many registers,";
        Error::above(what, launch.threads, loaded.threads_max)?;
        if launch.shared_bytes > 48 << 10 {
            // SAFETY: the function is loaded, and the value below the device's limit.
            let set = unsafe { driver.allow_shared(function, launch.shared_bytes as i32) };
            self.done("cuFuncSetAttribute", set)?;
        }
        if launch.cooperative {
            let limit = self.resident(loaded, launch)?;
            Error::above("blocks at the same time", launch.blocks, limit)?;
        }
        Ok(loaded)
    }

    /// Launches an entry point and waits for it.
    ///
    /// # Safety
    /// The obligations are those of [`Device::launch`]; `params` points to the entry point's parameters.
    unsafe fn launch_entry(
        &self,
        kernel: Entry,
        launch: &Launch,
        params: *const c_void,
    ) -> Result<Duration> {
        // What may fail, and takes long the first time, comes before the clock.
        self.ready(kernel, launch)?;
        self.timed(launch.stop, &format!("kernel {}", kernel.name), || {
            // SAFETY: the caller promises it.
            unsafe { self.start(kernel, launch, params) }
        })
    }

    /// Launches an entry point and does not wait for it.
    ///
    /// # Safety
    /// The obligations are those of [`Device::enqueue`]; `params` points to the entry point's parameters.
    unsafe fn start(&self, kernel: Entry, launch: &Launch, params: *const c_void) -> Result {
        let (function, params) = (self.ready(kernel, launch)?.function, params.cast_mut());
        // SAFETY: the entry point takes what `params` points to (the caller's promise), and the driver copies
        // it.
        let launched = unsafe { (self.driver()).launch(function, launch, self.stream(), params) };
        self.done("cuLaunchKernel", launched)
    }

    fn resident(&self, loaded: Loaded, launch: &Launch) -> Result<u32> {
        let (function, threads) = (loaded.function, launch.threads as i32);
        let shared = launch.shared_bytes as usize;
        // SAFETY: the function is loaded.
        let blocks = unsafe { self.driver().resident_blocks(function, threads, shared) };
        let blocks = self.done("cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks)?;
        Ok(blocks as u32 * self.context.limits.processors)
    }

    /// Waits for an event after kernels, and at the time limit sets the stop flag through another stream.
    fn wait_for(&self, after: &Event<'_>, stop: Option<StopAt>) -> Call {
        let driver = self.driver();
        if let Some((flag, limit)) = stop.and_then(|stop| Some((stop.flag, stop.after?))) {
            let start = Instant::now();
            let one = 1u32.to_ne_bytes();
            let mut stopped = false;
            loop {
                // SAFETY: the event is live.
                match unsafe { driver.query_event(after.event) } {
                    Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_READY)) => {}
                    ended => return ended,
                }
                if !stopped && start.elapsed() >= limit {
                    let side = self.context.side_stream;
                    // SAFETY: the flag is live (StopAt), and the source outlives the copy.
                    unsafe {
                        driver.copy_in(flag as sys::CUdeviceptr, &one, side)?;
                        driver.wait_for_stream(side)?;
                    }
                    stopped = true;
                }
                pause_between_polls(start.elapsed());
            }
        }
        // SAFETY: the event is live.
        unsafe { driver.wait_for_event(after.event) }
    }
}

struct Graph<'a> {
    cuda: &'a Cuda,
    ready: sys::CUgraphExec,
}

impl Replay for Graph<'_> {
    fn replay(&mut self) -> Result<Duration> {
        let cuda = self.cuda;
        cuda.alive()?;
        cuda.timed(None, "a recorded kernel", || {
            // SAFETY: both are live, and what the kernels use is until the graph is dropped (`record`).
            let launched = unsafe { cuda.driver().launch_graph(self.ready, cuda.stream()) };
            cuda.done("cuGraphLaunch", launched)
        })
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // SAFETY: made once, destroyed once, and it does not run. An error here changes nothing.
        let _ = unsafe { self.cuda.driver().destroy_ready(self.ready) };
    }
}

struct Event<'a> {
    cuda: &'a Cuda,
    event: sys::CUevent,
}

impl<'a> Event<'a> {
    fn new(cuda: &'a Cuda) -> Result<Self> {
        let event = cuda.done("cuEventCreate", cuda.driver().create_event())?;
        Ok(Self { cuda, event })
    }

    fn record(&self) -> Result {
        let stream = self.cuda.stream();
        // SAFETY: both are live.
        let recorded = unsafe { self.cuda.driver().record_event(self.event, stream) };
        self.cuda.done("cuEventRecord", recorded)
    }

    /// Returns the time from this event to a later one; both have been reached.
    fn until(&self, later: &Self) -> Result<Duration> {
        // SAFETY: both are live.
        let elapsed = unsafe { self.cuda.driver().elapsed(self.event, later.event) };
        let ms = self.cuda.done("cuEventElapsedTime", elapsed)?;
        Ok(Duration::from_secs_f64(f64::from(ms) * 1e-3))
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once. An error here changes nothing.
        let _ = unsafe { self.cuda.driver().destroy_event(self.event) };
    }
}
