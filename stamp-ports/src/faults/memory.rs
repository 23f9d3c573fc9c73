//! What faults are injected into and by: a small transactional memory, and kernels that misbehave on purpose,
//! by a few lines of PTX; on the CPU only [`Store`] does anything.

use crate::prelude::*;
use stm_kernels::ra::{RaParams, RaPlan, RandomArray};

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct StoreParams {
    pub(crate) address: u64,
    pub(crate) value: u64,
}

/// Kernels: each with its parameters and its entry point, that of its text and what this has in brackets and
/// between its braces, and what it does on the CPU. The text is for every GPU, and the only build there is.
macro_rules! kernels {
    ($($(#[$about:meta])* $name:ident($params:ty) $entry:literal: $in_text:literal($declared:literal)
       $code:literal |$lane:pat_param, $given:pat_param| $run:expr;)*) => {
        $(
            $(#[$about])*
            pub(crate) struct $name;

            impl Kernel for $name {
                const ENTRY: &'static str = $entry;
                type Params = $params;

                fn ptx(build: Build) -> host::Result<Cow<'static, str>> {
                    let text = concat!(
                        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry ",
                        $in_text, "(", $declared, ")\n{\n", $code, "}\n",
                    );
                    let is_there = build == Build::default();
                    let missing = host::Error::NoPtx { entry: Self::ENTRY };
                    is_there.then_some(text.into()).ok_or(missing)
                }

                fn run<L: Lane>($lane: &L, $given: &$params) {
                    $run
                }
            }
        )*
    };
}

kernels! {
    /// Stores 64 bits at an address, whatever is there.
    Store(StoreParams) "fault_store": "fault_store"(".param .align 8 .b8 fault_store_param_0[16]") "\
  .reg .b64 %rd<3>;
  ld.param.b64 %rd1, [fault_store_param_0];
  ld.param.b64 %rd2, [fault_store_param_0+8];
  st.global.b64 [%rd1], %rd2;
  ret;
" |lane, params| {
        // SAFETY: on the CPU the address is always a live word.
        unsafe { lane.store_relaxed_64(params.address as *mut u64, params.value) };
    };
    /// Traps.
    Trap(()) "fault_trap": "fault_trap"("") "  trap;\n  ret;\n" |_, ()| ();
    /// Never ends, and asks for no stop flag.
    Endless(()) "fault_endless": "fault_endless"("") "\
  .reg .b32 %r<2>;
  mov.u32 %r1, 1000;
$again:
  nanosleep.u32 %r1;
  bra.uni $again;
" |_, ()| ();
    /// Has text that is no PTX.
    Rubbish(()) "fault_rubbish": "fault_rubbish"("") "  this is no instruction;\n" |_, ()| ();
    /// Has PTX of another entry point.
    Absent(()) "fault_absent": "fault_present"("") "  ret;\n" |_, ()| ();
    /// Has PTX with parameters that the host does not pass.
    Stale(()) "fault_stale": "fault_stale"(".param .u64 fault_stale_param_0") "  ret;\n" |_, ()| ();
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
        (blocks, threads): Shape,
    ) -> host::Result<Self> {
        let config = StmConfig {
            locks: 1 << 12,
            capacity,
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

    pub(crate) fn run(&mut self, load: Load) -> host::Result<Statistics> {
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

    pub(crate) fn launch<K: Kernel>(&mut self, params: &K::Params) -> host::Result<Statistics> {
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
