//! The simulator's [`Device`]: it owns the memory, and runs a fibre for each lane on the calling thread.

use super::config::SimConfig;
use super::error::{SimError, SimErrorKind};
use super::lane::SimLane;
use super::machine::{Machine, RunReport};
use super::space::{BYTES_MAX, Space};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;
use stm_core::Kernel;
use stm_core::host::{Device, Error, Launch};
use stm_core::internal::host::{Limits, Memory};
use stm_core::internal::observe::{HostProbe, Observation};
use stm_history::error::Error as Unrecorded;

/// Bytes of a fibre's stack, of which only what is touched takes memory.
const STACK_BYTES: usize = 256 << 10;

/// Stacks that a thread keeps for the launches that follow, as they are costly to make.
const STACKS_KEPT: usize = 1024;

thread_local! {
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// Most threads of a launch: each has a stack, and the system limits mappings.
const LANES_MAX: u32 = 8192;

type Fibre<'a> = Coroutine<(), (), (), &'a mut DefaultStack>;

/// Somebody on the host's side who records launches, and looks at the memory before and after.
pub(crate) trait Attendant {
    /// Returns the probe of a launch, or why it is refused.
    fn before(&self, sim: &Sim, launch: &Launch) -> Result<HostProbe, Unrecorded>;
    fn after(&self, sim: &Sim, end: &Result<(), SimError>);
}

pub(super) struct Inner {
    /// It is borrowed while a launch runs; then nothing else may touch it.
    machine: RefCell<Machine>,
    launches: Cell<u64>,
    last: RefCell<Option<(RunReport, Result<(), SimError>)>>,
    attendant: RefCell<Option<Rc<dyn Attendant>>>,
    /// What launches of [`Closure`](super::Closure) run, while it lives.
    pub(super) closure: Cell<Option<*const Body<'static>>>,
}

pub(super) type Body<'a> = dyn Fn(&SimLane<'_>) + 'a;

impl Inner {
    fn with<R>(&self, f: impl FnOnce(&mut Machine) -> R) -> R {
        let machine = self.machine.try_borrow_mut();
        f(&mut machine.expect("the simulator's memory was used by the host during a launch"))
    }
}

/// A simulated device, for one thread only. Its clones share memory and runs.
#[derive(Clone)]
pub struct Sim(pub(super) Rc<Inner>);

impl std::fmt::Debug for Sim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Sim").field(&self.id()).finish()
    }
}

impl Sim {
    /// Makes a device with empty memory.
    ///
    /// # Panics
    /// It panics if a value of `config` is out of its range.
    pub fn new(config: SimConfig) -> Self {
        assert!(config.check().is_ok(), "{config}: {:?}", config.check());
        Self(Rc::new(Inner {
            machine: RefCell::new(Machine::new(config)),
            launches: Cell::new(0),
            last: RefCell::default(),
            attendant: RefCell::default(),
            closure: Cell::new(None),
        }))
    }

    /// Returns the configuration of the next launch.
    pub fn config(&self) -> SimConfig {
        self.0.with(|machine| machine.config)
    }

    /// Changes the configuration for the launches that follow, which are numbered from 0 again; the memory
    /// stays.
    ///
    /// # Panics
    /// It panics if the warp width is another, as metadata may depend on it, or a value is out of its range.
    pub fn configure(&self, config: SimConfig) {
        assert!(config.check().is_ok(), "{config}: {:?}", config.check());
        assert_eq!(
            config.warp_width,
            self.config().warp_width,
            "a device's warp width is fixed"
        );
        self.0.with(|machine| machine.config = config);
        self.0.launches.set(0);
    }

    pub(crate) fn attended_by(&self, attendant: Option<Rc<dyn Attendant>>) {
        self.0.attendant.replace(attendant);
    }

    pub(crate) fn newest(&self, address: u64, wide: bool) -> Option<u64> {
        self.0.with(|machine| machine.space.newest(address, wide))
    }

    /// Returns what the last launch did, and how it ended, or `None` before the first.
    pub fn last_run(&self) -> Option<(RunReport, Result<(), SimError>)> {
        self.0.last.borrow().clone()
    }

    /// Runs a closure as every lane of a launch, on the calling thread. An error is what ended the launch
    /// early, with the memory as it was left.
    pub fn run(
        &self,
        launch: &Launch,
        kernel: impl Fn(&SimLane<'_>),
    ) -> Result<RunReport, SimError> {
        self.run_kernel(launch, &kernel)
    }

    fn lost(&self, what: &str, why: impl Display) -> Error {
        Error::DeviceLost {
            during: format!("{what} on {}", self.id()),
            code: why.to_string(),
        }
    }

    fn run_kernel(&self, launch: &Launch, kernel: &Body<'_>) -> Result<RunReport, SimError> {
        launch.check(&self.limits()).map_err(SimError::launch)?;
        let lanes = u64::from(launch.blocks) * u64::from(launch.threads);
        if lanes > u64::from(LANES_MAX) {
            let text = format!("{lanes} threads in all are more than {LANES_MAX}");
            return Err(SimError::launch(text));
        }
        let attendant = self.0.attendant.borrow().clone();
        let probe = match &attendant {
            Some(attendant) => attendant.before(self, launch).map_err(SimError::launch)?,
            None => launch.probe,
        };
        let number = self.0.launches.replace(self.0.launches.get() + 1);
        self.0.with(|machine| machine.begin_launch(number, launch));
        let mut stacks = STACKS.take();
        let stacked = (stacks.len() as u64..lanes).try_for_each(|lane| {
            let stack = DefaultStack::new(STACK_BYTES);
            let why = |error| SimError::launch(format!("no stack for lane {lane}: {error}"));
            stack.map(|stack| stacks.push(stack)).map_err(why)
        });
        if stacked.is_ok() {
            let stacks = &mut stacks[..lanes as usize];
            run_fibres(&mut self.0.machine.borrow_mut(), stacks, probe, kernel);
        }
        stacks.truncate(STACKS_KEPT);
        STACKS.set(stacks);
        stacked?;
        let (run, end) = self.0.with(|machine| {
            let mut run = machine.report.clone();
            run.stale_loads = machine.views.stale;
            (run, machine.error.take().map_or(Ok(()), Err))
        });
        self.0.last.replace(Some((run.clone(), end.clone())));
        if let Some(attendant) = &attendant {
            attendant.after(self, &end);
        }
        end.map(|()| run)
    }
}

fn run_fibres<'a>(
    machine: &mut Machine,
    stacks: &'a mut [DefaultStack],
    probe: HostProbe,
    kernel: &'a Body<'a>,
) {
    let machine = &raw mut *machine;
    let mut fibres: Vec<Fibre<'a>> = (0..)
        .zip(stacks)
        .map(|(lane, stack)| {
            // The machine is live while this function runs, and while a fibre runs nobody else
            // holds a reference to it.
            let body = move |fibre: &Yielder<(), ()>, ()| {
                kernel(&SimLane {
                    machine,
                    fibre,
                    lane,
                    probe,
                });
            };
            // SAFETY: what the closure borrows outlives `fibres`, whose every
            // fibre is driven to its end or unwound below.
            unsafe { Fibre::with_stack_unchecked(stack, body) }
        })
        .collect();
    let outcome = catch_unwind(AssertUnwindSafe(|| drive(machine, &mut fibres)));
    // SAFETY: no fibre runs, so this is the only reference.
    let m = unsafe { &mut *machine };
    m.ending = true;
    if let Err(panic) = outcome
        && m.error.is_none()
    {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let message = text.unwrap_or("a payload that is no text");
        let text = format!("{} panicked: {message}", m.id(m.current));
        let kind = SimErrorKind::Panicked;
        m.error = Some(SimError { kind, text });
    }
    for fibre in &mut fibres {
        fibre.force_unwind();
    }
}

/// Resumes the fibre of the machine's choice until all have ended. The error of a fibre, which ends
/// the launch, unwinds what follows.
fn drive(machine: *mut Machine, fibres: &mut [Fibre<'_>]) {
    // SAFETY: no fibre runs where this is called, and its result is dropped before one does, so
    // it is the only reference.
    let machine = || unsafe { &mut *machine };
    machine().next();
    while machine().live != 0 {
        let lane = machine().current;
        if let CoroutineResult::Return(()) = fibres[lane as usize].resume(()) {
            machine().ended(lane);
        }
    }
}

/// An allocation in a [`Sim`]'s memory, given back when dropped.
#[derive(Debug)]
pub struct SimMemory {
    device: Sim,
    number: u32,
    address: u64,
    bytes: usize,
}

impl SimMemory {
    fn with<R>(&self, f: impl FnOnce(&mut Space, u32) -> R) -> R {
        (self.device.0).with(|machine| f(&mut machine.space, self.number))
    }
}

impl Drop for SimMemory {
    fn drop(&mut self) {
        self.with(Space::free);
    }
}

impl Memory for SimMemory {
    fn address(&self) -> *mut u8 {
        std::ptr::without_provenance_mut(self.address as usize)
    }
    fn bytes(&self) -> usize {
        self.bytes
    }
    fn space(&self) -> u64 {
        Rc::as_ptr(&self.device.0) as u64
    }
    fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), Error> {
        self.with(|space, number| space.data(number)[offset..][..data.len()].copy_from_slice(data));
        Ok(())
    }
    fn read(&self, offset: usize, data: &mut [u8]) -> Result<(), Error> {
        self.with(|space, number| {
            data.copy_from_slice(&space.data(number)[offset..][..data.len()]);
        });
        Ok(())
    }
    fn clear(&mut self) -> Result<(), Error> {
        self.with(|space, number| space.data(number).fill(0));
        Ok(())
    }
}

impl Device for Sim {
    type Memory = SimMemory;

    fn name(&self) -> String {
        format!("simulator, warps of {}", self.config().warp_width)
    }

    /// Returns the line that replays a run.
    fn id(&self) -> String {
        self.config().to_string()
    }

    fn space(&self) -> u64 {
        Rc::as_ptr(&self.0) as u64
    }

    fn limits(&self) -> Limits {
        Limits {
            warp_width: self.config().warp_width,
            threads_max: 1024,
            blocks_max: LANES_MAX,
            shared_bytes_max: 228 << 10,
            processors: 1,
            cluster_max: 16,
        }
    }

    fn atomics_bits(&self) -> u32 {
        if self.config().wide_atomics { 128 } else { 64 }
    }

    fn available_bytes(&self) -> Result<u64, Error> {
        Ok(self.0.with(|machine| machine.space.available()))
    }

    fn allocate(&self, bytes: usize, what: &'static str) -> Result<SimMemory, Error> {
        let available = self.available_bytes()?;
        let needed = bytes as u64;
        if needed > available.min(BYTES_MAX) {
            return Err(Error::OutOfMemory {
                what,
                needed,
                available,
            });
        }
        let (number, address) = (self.0).with(|machine| machine.space.allocate(needed, what));
        Ok(SimMemory {
            device: self.clone(),
            number,
            address,
            bytes,
        })
    }

    fn prepare<K: Kernel>(&self, _observation: Observation) -> Result<Duration, Error> {
        Ok(Duration::ZERO)
    }

    /// Returns the most blocks that a launch may have, as all of its lanes run at the same time.
    fn resident_blocks<K: Kernel>(&self, launch: &Launch) -> Result<u32, Error> {
        let one = Launch {
            blocks: launch.cluster,
            ..*launch
        };
        one.check(&self.limits())?;
        Ok(LANES_MAX / launch.threads)
    }

    /// Copies words, which takes a nanosecond each. A place outside of its memory is [`Error::DeviceLost`].
    unsafe fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<Duration, Error> {
        let (to, from) = (to.addr() as u64, from.addr() as u64);
        let copied = self.0.with(|machine| {
            for at in (0..bytes as u64).step_by(4) {
                let word = machine.space.find(from + at, 4).ok()?;
                let value = machine.space.load(word);
                let place = machine.space.find(to + at, 4).ok()?;
                machine.space.store(place, value);
            }
            Some(Duration::from_nanos(bytes as u64 / 4))
        });
        copied.ok_or_else(|| self.lost("a copy", "a place outside of its memory"))
    }

    /// Launches a kernel. An operation takes a nanosecond, for the time returned and for the time limit. A
    /// [`SimError`] is [`Error::DeviceLost`] with the line that replays the run; [`Sim::last_run`] has it.
    unsafe fn launch<K: Kernel>(
        &self,
        launch: &Launch,
        params: &K::Params,
    ) -> Result<Duration, Error> {
        launch.check(&self.limits())?;
        let ran = match self.closure::<K>() {
            Some(closure) => self.run_kernel(launch, closure),
            None => self.run(launch, |lane| K::run(lane, params)),
        };
        let time = ran.map(|run| Duration::from_nanos(run.steps));
        time.map_err(|error| self.lost(K::ENTRY, error))
    }
}
