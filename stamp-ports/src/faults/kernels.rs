//! Kernels that misbehave on purpose. Their PTX is a few lines that stand here;
//! on the CPU only [`Store`] does anything.

use std::borrow::Cow;
use stm_core::host::Error;
use stm_core::kernel::Build;
use stm_core::{Kernel, Lane};

/// Returns PTX for every GPU, which is the only build there is.
fn text(entry: &'static str, build: Build, ptx: &'static str) -> Result<Cow<'static, str>, Error> {
    if build == Build::default() {
        Ok(Cow::Borrowed(ptx))
    } else {
        Err(Error::NoPtx { entry })
    }
}

/// Stores 64 bits at an address, whatever is there.
pub(super) struct Store;

/// The parameters of [`Store`].
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct StoreParams {
    pub(super) address: u64,
    pub(super) value: u64,
}

impl Kernel for Store {
    const ENTRY: &'static str = "fault_store";
    type Params = StoreParams;

    fn ptx(build: Build) -> Result<Cow<'static, str>, Error> {
        text(
            Self::ENTRY,
            build,
            "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry fault_store(.param .align 8 .b8 fault_store_param_0[16])
{
  .reg .b64 %rd<3>;
  ld.param.b64 %rd1, [fault_store_param_0];
  ld.param.b64 %rd2, [fault_store_param_0+8];
  st.global.b64 [%rd1], %rd2;
  ret;
}
",
        )
    }

    fn run<L: Lane>(lane: &L, params: &StoreParams) {
        // SAFETY: on the CPU the address is always a live word.
        unsafe { lane.store_relaxed_64(params.address as *mut u64, params.value) };
    }
}

macro_rules! without_parameters {
    ($(#[$about:meta])* $name:ident, $entry:literal, $ptx:expr) => {
        $(#[$about])*
        pub(super) struct $name;

        impl Kernel for $name {
            const ENTRY: &'static str = $entry;
            type Params = ();

            fn ptx(build: Build) -> Result<Cow<'static, str>, Error> {
                text(Self::ENTRY, build, $ptx)
            }

            fn run<L: Lane>(_lane: &L, _params: &()) {}
        }
    };
}

without_parameters!(
    /// Traps.
    Trap,
    "fault_trap",
    "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry fault_trap()
{
  trap;
  ret;
}
"
);

without_parameters!(
    /// Never ends, and asks for no stop flag.
    Endless,
    "fault_endless",
    "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry fault_endless()
{
  .reg .b32 %r<2>;
  mov.u32 %r1, 1000;
$again:
  nanosleep.u32 %r1;
  bra.uni $again;
}
"
);

without_parameters!(
    /// Has text that is no PTX.
    Rubbish,
    "fault_rubbish",
    "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry fault_rubbish()
{
  this is no instruction;
}
"
);

without_parameters!(
    /// Has PTX of another entry point.
    Absent,
    "fault_absent",
    "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry fault_present()
{
  ret;
}
"
);

without_parameters!(
    /// Has PTX with parameters that the host does not pass.
    Stale,
    "fault_stale",
    "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry fault_stale(.param .u64 fault_stale_param_0)
{
  ret;
}
"
);
