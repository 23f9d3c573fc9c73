//! A SIMT machine in one thread, worse than any GPU: seeded, deterministic and replayable from one line.
//!
//! [`Sim`] is a [`Device`](stm_core::host::Device) and [`SimLane`] a [`Lane`], so the code under test is the
//! code that ships. Each lane is a fibre. Every operation on global or shared memory, every fence, warp
//! operation, barrier, clock reading and pause is a point at which the schedule may let another lane run.
//!
//! # What is simulated, and what is not
//!
//! - All blocks are resident; a launch has at most 8,192 threads.
//! - Global memory is C11 without load buffering and with modification order equal to execution order;
//!   each word remembers eight stores. A failed compare-and-swap reads the newest one.
//! - Each block has a first-level cache. `load_weak_64` may return its copy, which may be older than what
//!   the lane has loaded before, unless a newer store happens before the load, or the lane has read one
//!   before its last fence or acquire. Relaxed loads pass the cache by.
//! - `sync_warp` and `barrier` order the memory accesses of those that meet; votes do so too unless the
//!   line says `votes=relaxed`.
//! - Shared memory is sequentially consistent. It orders global memory as a relaxed word of that does:
//!   with a fence before a store, and one after the load that finds it.
//! - Errors are typed and end the launch: accesses outside allocations, misaligned or of mixed width,
//!   private words of two lanes, wrong masks, lanes that wait for ever, lanes that run and change nothing.
//!
//! # Example
//!
//! ```
//! use stm_core::Lane;
//! use stm_core::host::{Buffer, Launch};
//! use verify::sim::{Sim, SimConfig};
//!
//! let sim = Sim::new("sim:w4,its16,weak25,seed=7".parse::<SimConfig>()?);
//! let counter = Buffer::<_, u64>::zeroed(&sim, 1, "counter")?;
//! let word = counter.as_mut_ptr();
//! let run = sim.run(&Launch::new(2, 8), |lane| {
//!     // SAFETY: the counter is live, and every access to it is of 64 bits.
//!     unsafe { lane.add_relaxed_64(word, 1) };
//! })?;
//! assert_eq!(counter.download()?, [16]);
//! assert_eq!(run.steps, 16);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use config::{MemoryModel, Schedule, SimConfig};
pub(crate) use device::Attendant;
use device::Body;
pub use device::{Sim, SimMemory};
pub use error::{ConfigError, Op, SimError, SimErrorKind};
pub use lane::SimLane;
pub use machine::RunReport;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use stm_core::host::{Error, Statistics, Stm};
use stm_core::{Kernel, Lane};

pub(crate) mod config;
mod device;
#[macro_use]
mod error;
mod lane;
mod machine;
mod meet;
mod rounds;
mod schedule;
mod space;
mod views;

/// The kernel that stands for the closure of [`Sim::with_closure`].
#[derive(Clone, Copy, Debug)]
pub struct Closure;

impl Kernel for Closure {
    const ENTRY: &'static str = "a closure";
    type Params = ();

    /// Panics: the simulator runs the closure instead.
    fn run<L: Lane>(_lane: &L, (): &()) {
        panic!("a closure is launched inside of `Sim::with_closure` alone")
    }
}

/// Launches a closure with a transactional memory, as [`Stm::launch`] does with a kernel.
///
/// ```
/// use stm_core::prelude::*;
/// use verify::sim::{self, Sim, SimConfig};
///
/// let sim = Sim::new(SimConfig::default());
/// let mut stm = Stm::on(&sim)?;
/// stm.set_up::<Fast>(Launch::new(1, 4))?;
/// let counter = stm.array("counter", &[0_u32])?;
/// let (handle, word) = (stm.handle::<Fast>(), counter.view::<Fast>());
/// let done = sim::launch(&mut stm, |lane| {
///     handle.for_each(lane, 0..9, |tx, _| {
///         let count = tx.read(&word, 0)?;
///         tx.write(&word, 0, count + 1)
///     });
/// })?;
/// assert_eq!((done.commits, counter.download()?), (9, vec![9]));
/// # Ok::<(), stm_core::host::Error>(())
/// ```
pub fn launch(stm: &mut Stm<Sim>, closure: impl Fn(&SimLane<'_>)) -> Result<Statistics, Error> {
    let sim = stm.device().clone();
    // SAFETY: there are no parameters, and the simulator checks what the closure accesses.
    let launched = sim.with_closure(closure, || unsafe { stm.launch::<Closure>(&()) });
    launched.map(|(_, statistics)| statistics)
}

impl Sim {
    /// Calls `launches`, whose launches of [`Closure`] on this device run `closure` as every lane.
    pub fn with_closure<R>(
        &self,
        closure: impl Fn(&SimLane<'_>),
        launches: impl FnOnce() -> R,
    ) -> R {
        let body: &Body<'_> = &closure;
        // SAFETY: the types differ in a lifetime alone, and the pointer is taken away before the
        // closure ends.
        let body = unsafe { std::mem::transmute::<&Body<'_>, &Body<'static>>(body) };
        self.0.closure.set(Some(&raw const *body));
        let result = catch_unwind(AssertUnwindSafe(launches));
        self.0.closure.set(None);
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }

    pub(super) fn closure<K: Kernel>(&self) -> Option<&Body<'_>> {
        let body = self.0.closure.get().filter(|_| K::ENTRY == Closure::ENTRY);
        // SAFETY: it is there only while the closure lives (`with_closure`), and who calls
        // this is called by what is called there.
        body.map(|body| unsafe { &*body })
    }
}
