//! The macros that turn a kernel's type into a `Kernel` by one line: for every
//! algorithm of the registry, with a PTX entry point for each on the GPU, and
//! one compiled instance for each on the CPU.

/// Makes `$kernel<A>` a `Kernel`.
///
/// `$kernel` has `fn body<L: Lane>(lane: &L, params: &$params<A>)`. The entry
/// points are `<name>_<variant>`; the PTX of one is `ptx/<name>/<variant>.ptx`.
///
/// | form | it has entry points for |
/// | --- | --- |
/// | `kernels!(K, KParams, "k")` | every algorithm of the registry |
/// | `kernels!(K, KParams, "k", teams)` | the algorithms with teams; under others it must not be launched |
/// | `kernels!(K, KParams, "k", [Fast fast "fast" own teams sums;])` | the algorithms of the lines given, which are those of the registry |
///
/// `wide` behind that adds, for `fast`, an entry point for GPUs with atomics of
/// 128 bits, which pays for a kernel with 64-bit elements in cells. `registers
/// { fast: 128 }` bounds the registers of a thread, where the compiler would
/// use more and too few threads would fit on a multiprocessor.
macro_rules! kernels {
    ($kernel:ident, $params:ident, $name:literal
        $(, wide $(@$wide:tt)?)? $(, registers { $($limited:ident: $registers:literal),* })?) => {
        $crate::entry::kernels!(@width [$(wide $($wide)?)?] all $kernel $params $name);
        $($($crate::entry::registers!($name, $limited, $registers);)*)?
    };
    ($kernel:ident, $params:ident, $name:literal, teams) => {
        $crate::entry::kernels!(@width [] teams $kernel $params $name);
    };
    ($kernel:ident, $params:ident, $name:literal, [$($line:tt)*]) => {
        $crate::entry::entries! { all narrow $kernel $params $name; $($line)* }
    };
    ($kernel:ident, $params:ident, $name:literal, [$($line:tt)*], wide) => {
        $crate::entry::entries! { all wide $kernel $params $name; $($line)* }
    };
    (@width [] $select:ident $kernel:ident $params:ident $name:literal) => {
        stm_core::for_each_algorithm! {
            $crate::entry::entries! { $select narrow $kernel $params $name; }
        }
    };
    (@width [wide] $select:ident $kernel:ident $params:ident $name:literal) => {
        stm_core::for_each_algorithm! {
            $crate::entry::entries! { $select wide $kernel $params $name; }
        }
    };
}
pub(crate) use kernels;

/// Tells the splitter of the PTX how many registers an entry may use.
macro_rules! registers {
    ($name:literal, $variant:ident, $registers:literal) => {
        stm_core::ptx_note!(
            "stm-registers ",
            $name,
            "_",
            stringify!($variant),
            " ",
            $registers
        );
    };
}
pub(crate) use registers;

/// Implements `Kernel`, and makes the entry points of each line.
macro_rules! entries {
    ($select:ident $width:ident $kernel:ident $params:ident $name:literal;
        $($type:ident $entry:ident $variant:literal $origin:ident $teams:ident $sums:ident;)*) => {
        impl<A: stm_core::algorithm::Algorithm> stm_core::Kernel for $kernel<A> {
            const ENTRY: &'static str =
                const { &stm_core::kernel::EntryName::new($name, A::NAME) }.as_str();
            type Params = $params<A>;

            #[cfg(not(target_arch = "nvptx64"))]
            fn ptx(
                build: stm_core::kernel::Build,
            ) -> Result<std::borrow::Cow<'static, str>, stm_core::host::Error> {
                $crate::ptx::find(Self::ENTRY, $name, A::NAME, build)
            }

            #[inline(always)]
            fn run<L: stm_core::Lane>(lane: &L, params: &Self::Params) {
                Self::body(lane, params);
            }

            /// Sends the call to the instance that this crate has compiled.
            ///
            /// # Panics
            /// It panics under an algorithm for which the kernel has no entry
            /// point.
            #[cfg(not(target_arch = "nvptx64"))]
            fn run_on_cpu(lane: &stm_core::lane::cpu::CpuLane<'_>, params: &Self::Params) {
                let params: &dyn core::any::Any = params;
                $($crate::entry::on_cpu!(@$select $teams lane params $kernel $params $type);)*
                panic!("the kernel {} has no entry point for {}", $name, A::NAME);
            }
        }

        $($crate::entry::on_gpu!(
            @$select $teams $width $kernel $params $name $type $entry $variant $origin
        );)*
    };
}
pub(crate) use entries;

/// Makes one instance on the CPU. It is not generic, so that it is compiled
/// here and only once.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! on_cpu {
    (@teams alone $($rest:tt)*) => {};
    (@teams teams $($rest:tt)*) => {
        $crate::entry::on_cpu!(@all teams $($rest)*)
    };
    (@all $teams:ident $lane:ident $values:ident $kernel:ident $params:ident $type:ident) => {
        if let Some(params) =
            $values.downcast_ref::<$params<stm_core::algorithm::$type>>()
        {
            #[inline(never)]
            fn instance(
                lane: &stm_core::lane::cpu::CpuLane<'_>,
                params: &$params<stm_core::algorithm::$type>,
            ) {
                $kernel::<stm_core::algorithm::$type>::body(lane, params);
            }
            return instance($lane, params);
        }
    };
}
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use on_cpu;

/// Makes the entry points of one algorithm on the GPU: the silent one, which
/// ships, or with the feature `observed` those that are built on demand.
macro_rules! on_gpu {
    (@teams alone $($rest:tt)*) => {};
    (@teams teams $($rest:tt)*) => {
        $crate::entry::on_gpu!(@all teams $($rest)*);
    };
    (@all $teams:ident $width:ident $kernel:ident $params:ident $name:literal
        $type:ident $entry:ident $variant:literal $origin:ident) => {
        #[cfg(not(feature = "observed"))]
        $crate::entry::entry_point!(
            $kernel<stm_core::algorithm::$type>, stm_core::observe::Silent, { u32::MAX }, false,
            [$name, "_", stringify!($entry)], [$name, "/", $variant]
        );
        #[cfg(feature = "observed")]
        $crate::entry::entry_point!(
            $kernel<stm_core::algorithm::$type>, stm_core::observe::Recorder, { u32::MAX }, false,
            [$name, "_", stringify!($entry), "_recorded"], [$name, "/", $variant, ".recorded"]
        );
        $crate::entry::on_gpu!(@profile $origin $kernel $name $type $entry $variant);
        $crate::entry::on_gpu!(@wide $width $kernel $name $type $entry $variant);
    };
    (@profile own $($rest:tt)*) => {};
    (@profile paper $kernel:ident $name:literal $type:ident $entry:ident $variant:literal) => {
        #[cfg(feature = "observed")]
        $crate::entry::entry_point!(
            $kernel<stm_core::algorithm::$type>, stm_core::observe::Profiler, { u32::MAX }, false,
            [$name, "_", stringify!($entry), "_profiled"], [$name, "/", $variant, ".profiled"]
        );
    };
    (@wide wide $kernel:ident $name:literal Fast $entry:ident $variant:literal) => {
        #[cfg(not(feature = "observed"))]
        $crate::entry::entry_point!(
            $kernel<stm_core::algorithm::Fast>, stm_core::observe::Silent, { u32::MAX }, true,
            [$name, "_", stringify!($entry), "_wide"], [$name, "/", $variant, "-wide"]
        );
        #[cfg(feature = "observed")]
        $crate::entry::entry_point!(
            $kernel<stm_core::algorithm::Fast>, stm_core::observe::Recorder, { u32::MAX }, true,
            [$name, "_", stringify!($entry), "_wide_recorded"],
            [$name, "/", $variant, "-wide.recorded"]
        );
    };
    (@wide $width:ident $kernel:ident $name:literal $type:ident $entry:ident $variant:literal) => {};
}
pub(crate) use on_gpu;

/// Makes one entry point, given the kernel, the probe, the seeded defect and
/// whether atomics of 128 bits are used; its name; and its file below the
/// folder of the PTX.
macro_rules! entry_point {
    ($kernel:ty, $probe:ty, $mutant:expr, $wide:literal, [$($name:expr),*], [$($file:expr),*]) => {
        stm_core::ptx_note!("stm-entry ", $($name,)* " ", $($file,)*);
        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            /// Runs one thread of the launch.
            ///
            /// # Safety
            /// The driver calls it, which `Device::launch` ensures.
            // The algorithm is a marker that takes no bytes.
            #[allow(improper_ctypes_definitions, unreachable_pub)]
            #[unsafe(export_name = concat!($($name,)*))]
            pub unsafe extern "ptx-kernel" fn entry(
                params: <$kernel as stm_core::Kernel>::Params,
            ) {
                // SAFETY: launches are one-dimensional (Device::launch).
                let lane = unsafe {
                    stm_core::lane::gpu::GpuLane::<$probe, $mutant, $wide>::current()
                };
                <$kernel as stm_core::Kernel>::run(&lane, &params);
            }
        };
    };
}
pub(crate) use entry_point;

/// Makes `$kernel`, which is independent of the algorithms, a `Kernel` with the
/// entry point `$entry`, whose PTX is `ptx/<folder>/<file>.ptx`.
///
/// `$kernel` has `fn body<L: Lane>(lane: &L, params: &$params)`.
macro_rules! kernel {
    ($kernel:ident, $params:ident, $entry:literal, $folder:literal / $file:literal) => {
        impl stm_core::Kernel for $kernel {
            const ENTRY: &'static str = $entry;
            type Params = $params;

            #[cfg(not(target_arch = "nvptx64"))]
            fn ptx(
                build: stm_core::kernel::Build,
            ) -> Result<std::borrow::Cow<'static, str>, stm_core::host::Error> {
                $crate::ptx::find($entry, $folder, $file, build)
            }

            #[inline(always)]
            fn run<L: stm_core::Lane>(lane: &L, params: &$params) {
                Self::body(lane, params);
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn run_on_cpu(lane: &stm_core::lane::cpu::CpuLane<'_>, params: &$params) {
                Self::body(lane, params);
            }
        }

        #[cfg(not(feature = "observed"))]
        $crate::entry::entry_point!(
            $kernel,
            stm_core::observe::Silent,
            { u32::MAX },
            false,
            [$entry],
            [$folder, "/", $file]
        );
    };
}
pub(crate) use kernel;
