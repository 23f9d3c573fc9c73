//! Closures in the place of kernels on the CPU: a test needs neither a type nor parameters, and may share what it has on
//! the host. All threads of the launch call it, so that beside views it captures what they may share.

use stm_machine::lane::cpu::CpuLane;
use stm_machine::{Kernel, Lane};

type Body<'a> = dyn Fn(&CpuLane<'_>) + 'a;

/// What launches of a [`Closure`] are given ([`with`]).
#[derive(Clone, Copy)]
pub struct Given(*const Body<'static>);

/// The kernel that calls the closure which it is given.
pub struct Closure;

impl Kernel for Closure {
    const ENTRY: &'static str = "a closure";
    type Params = Given;

    fn run<L: Lane>(_lane: &L, _given: &Given) {
        unreachable!("a closure runs on the CPU alone")
    }

    fn run_on_cpu(lane: &CpuLane<'_>, given: &Given) {
        // SAFETY: it lives until the launch has ended (`with`).
        unsafe { (*given.0)(lane) }
    }
}

/// Calls `launch`, whose launches of [`Closure`] have all ended when it returns.
pub fn with<R>(closure: impl Fn(&CpuLane<'_>), launch: impl FnOnce(&Given) -> R) -> R {
    let body: &Body<'_> = &closure;
    // SAFETY: the types differ in a lifetime alone, and nothing calls it after the launch.
    let body = unsafe { std::mem::transmute::<&Body<'_>, &Body<'static>>(body) };
    launch(&Given(&raw const *body))
}

/// Does not compile if one of the types is `Send` or `Sync`, as then two implementations fit.
#[macro_export]
macro_rules! stay {
    ($($ty:ty),* $(,)?) => {
        $(const _: () = {
            trait Stays<Why> {
                const STAYS: () = ();
            }
            impl<T: ?Sized> Stays<()> for T {}
            impl<T: ?Sized + Send> Stays<u8> for T {}
            impl<T: ?Sized + Sync> Stays<u16> for T {}
            <$ty as Stays<_>>::STAYS
        };)*
    };
}
