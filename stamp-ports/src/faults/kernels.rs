//! Kernels that misbehave on purpose, by a few lines of PTX; on the CPU only [`Store`] does anything. With
//! them is a small transactional memory, which faults are injected into.

use crate::devices::AnyDevice;
use std::borrow::Cow;
use std::time::Duration;
use stm_core::algorithm::{Algorithm, Variant};
use stm_core::host::{self, Capacity, Error, Launch, Statistics, Stm, StmConfig, TxArray};
use stm_core::internal::kernel::Build;
use stm_core::{Kernel, Lane, View, with_algorithm};
use stm_kernels::ra::{RaParams, RaPlan, RandomArray};

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

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct StoreParams {
    pub(super) address: u64,
    pub(super) value: u64,
}

const STORE: &str = "\
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
";

impl Kernel for Store {
    const ENTRY: &'static str = "fault_store";
    type Params = StoreParams;

    fn ptx(build: Build) -> Result<Cow<'static, str>, Error> {
        text(Self::ENTRY, build, STORE)
    }

    fn run<L: Lane>(lane: &L, params: &StoreParams) {
        // SAFETY: on the CPU the address is always a live word.
        unsafe { lane.store_relaxed_64(params.address as *mut u64, params.value) };
    }
}

/// Kernels that the host launches without parameters: each with its entry point, that of its text
/// and what this has in brackets and between its braces.
macro_rules! without_parameters {
    ($($(#[$about:meta])* $name:ident $entry:literal: $in_text:literal($params:literal) $code:literal;)*) => {
        $(
            $(#[$about])*
            pub(super) struct $name;

            impl Kernel for $name {
                const ENTRY: &'static str = $entry;
                type Params = ();

                fn ptx(build: Build) -> Result<Cow<'static, str>, Error> {
                    let text = concat!(
                        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry ",
                        $in_text, "(", $params, ")\n{\n", $code, "}\n",
                    );
                    self::text(Self::ENTRY, build, text)
                }

                fn run<L: Lane>(_lane: &L, _params: &()) {}
            }
        )*
    };
}

without_parameters! {
    /// Traps.
    Trap "fault_trap": "fault_trap"("") "  trap;\n  ret;\n";
    /// Never ends, and asks for no stop flag.
    Endless "fault_endless": "fault_endless"("") "\
  .reg .b32 %r<2>;
  mov.u32 %r1, 1000;
$again:
  nanosleep.u32 %r1;
  bra.uni $again;
";
    /// Has text that is no PTX.
    Rubbish "fault_rubbish": "fault_rubbish"("") "  this is no instruction;\n";
    /// Has PTX of another entry point.
    Absent "fault_absent": "fault_present"("") "  ret;\n";
    /// Has PTX with parameters that the host does not pass.
    Stale "fault_stale": "fault_stale"(".param .u64 fault_stale_param_0") "  ret;\n";
}

pub(crate) const WORDS: u32 = 4096;

/// What transactions do, beside their number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// The words among which they choose; above [`WORDS`] some do not exist.
    pub(crate) words: u32,
    pub(crate) reads: u32,
    pub(crate) writes: u32,
    pub(crate) transactions: u64,
}

impl Load {
    /// A load that every memory here carries.
    pub(crate) const LIGHT: Self = Self {
        words: WORDS,
        reads: 4,
        writes: 4,
        transactions: 10_000,
    };
}

/// A transactional memory of an algorithm, with an array that it watches.
pub(crate) struct Memory {
    pub(crate) stm: Stm<AnyDevice>,
    pub(crate) array: TxArray<AnyDevice, u32>,
    algorithm: Variant,
}

impl Memory {
    /// Makes one for launches of so many blocks and threads a block.
    pub(crate) fn with_shape(
        device: &AnyDevice,
        algorithm: Variant,
        capacity: Capacity,
        limit: Option<Duration>,
        (blocks, threads): (u32, u32),
    ) -> Result<Self, host::Error> {
        let config = StmConfig {
            locks: 1 << 12,
            capacity,
            time_limit: limit,
            ..StmConfig::default()
        };
        let mut stm = Stm::new(device, Launch::new(blocks, threads), config)?;
        let layout =
            with_algorithm!(algorithm, A => <<A as Algorithm>::Array<u32> as View<u32>>::LAYOUT);
        let array = TxArray::zeroed(device, layout, WORDS as usize, "the words")?;
        stm.watch(&array);
        Ok(Self {
            stm,
            array,
            algorithm,
        })
    }

    pub(crate) fn run(&mut self, load: Load) -> Result<Statistics, host::Error> {
        let plan = RaPlan::new(17, load.words, load.reads, load.writes);
        with_algorithm!(self.algorithm, A => {
            let params = RaParams::<A> {
                stm: self.stm.handle(),
                words: self.array.try_view::<A>()?,
                transactions: load.transactions,
                plan,
            };
            self.launch::<RandomArray<A>>(&params)
        })
    }

    pub(crate) fn launch<K: Kernel>(
        &mut self,
        params: &K::Params,
    ) -> Result<Statistics, host::Error> {
        // SAFETY: the parameters hold the handle of this memory, for the one algorithm, and a view of its
        // array; kernels that misbehave are launched where the child process ends soon.
        unsafe { self.stm.launch::<K>(params) }.map(|(_, statistics)| statistics)
    }

    /// Returns an error unless nothing is locked, the words add up to zero, and transactions run.
    pub(crate) fn is_whole(&mut self) -> Result<(), String> {
        let text = |error: host::Error| format!("the memory is not whole: {error}");
        self.stm.check_in_full().map_err(text)?;
        self.sum_is_zero()?;
        self.stm.set_time_limit(Some(StmConfig::TIME_LIMIT));
        let statistics = self.run(Load::LIGHT).map_err(text)?;
        let (commits, all) = (statistics.commits, Load::LIGHT.transactions);
        if commits != all {
            return Err(format!("{commits} of {all} transactions committed"));
        }
        self.sum_is_zero()
    }

    /// Returns an error unless the words add up to zero, as they did at first.
    pub(crate) fn sum_is_zero(&self) -> Result<(), String> {
        let words = self.array.download().map_err(|error| error.to_string())?;
        match words.iter().fold(0u32, |sum, word| sum.wrapping_add(*word)) {
            0 => Ok(()),
            sum => Err(format!("the words add up to {sum}, and not to 0")),
        }
    }
}
