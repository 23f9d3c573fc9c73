//! Closures in the place of kernels: a test of a kernel that runs nowhere else needs neither
//! a type nor parameters for it, and may look at what the test has on the host.

use super::device::Body;
use super::{Sim, SimLane};
use stm_core::host::{Error, Statistics, Stm};
use stm_core::{Kernel, Lane};

/// The kernel that stands for the closure of [`Sim::with_closure`].
#[derive(Clone, Copy, Debug)]
pub struct Closure;

impl Kernel for Closure {
    const ENTRY: &'static str = "a closure";
    type Params = ();

    /// # Panics
    /// It always panics: the simulator runs the closure instead.
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

/// Takes the closure away when it may not be called any more.
struct Reset<'a>(&'a Sim);

impl Drop for Reset<'_> {
    fn drop(&mut self) {
        self.0.0.closure.set(None);
    }
}

impl Sim {
    /// Calls `launches`, whose launches of [`Closure`] on this device run `closure` as
    /// every lane.
    pub fn with_closure<R>(
        &self,
        closure: impl Fn(&SimLane<'_>),
        launches: impl FnOnce() -> R,
    ) -> R {
        let body: &Body<'_> = &closure;
        // SAFETY: the types differ in a lifetime alone, and `reset` takes the pointer away
        // before the closure ends.
        let body = unsafe { std::mem::transmute::<&Body<'_>, &Body<'static>>(body) };
        let reset = Reset(self);
        self.0.closure.set(Some(&raw const *body));
        let result = launches();
        drop(reset);
        result
    }

    /// Returns what a launch of this kernel runs in its place.
    pub(super) fn closure<K: Kernel>(&self) -> Option<&Body<'_>> {
        let body = self.0.closure.get().filter(|_| K::ENTRY == Closure::ENTRY);
        // SAFETY: it is there only while the closure lives (`with_closure`), and who calls
        // this is called by what is called there.
        body.map(|body| unsafe { &*body })
    }
}
