//! The macros that turn a kernel's type into a `Kernel` by one line, with a PTX entry point on the GPU.

/// Keeps tokens on the host, where the feature `host` is on.
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __host {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// Drops tokens elsewhere.
#[cfg(not(all(not(target_arch = "nvptx64"), feature = "host")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __host {
    ($($tokens:tt)*) => {};
}

/// Keeps the first tokens in a build of the kernels that ship, and the second
/// ones in a build of those that observe.
#[cfg(not(feature = "observed"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __observed {
    ({ $($silent:tt)* } { $($observed:tt)* }) => { $($silent)* };
}

#[cfg(feature = "observed")]
#[doc(hidden)]
#[macro_export]
macro_rules! __observed {
    ({ $($silent:tt)* } { $($observed:tt)* }) => { $($observed)* };
}

/// Tells the splitter of the PTX how many registers an entry may use.
#[doc(hidden)]
#[macro_export]
macro_rules! __registers {
    ($name:literal, $variant:ident, $registers:literal) => {
        $crate::ptx_note!(
            "stm-registers ",
            $name,
            "_",
            stringify!($variant),
            " ",
            $registers
        );
    };
}

/// Makes one entry point, given the kernel, the probe, the seeded defect and whether atomics of 128
/// bits are used; its name; and its file below the folder of the PTX.
#[doc(hidden)]
#[macro_export]
macro_rules! __entry_point {
    ($kernel:ty, $probe:ty, $mutant:expr, $wide:literal, [$($name:expr),*], [$($file:expr),*]) => {
        $crate::ptx_note!("stm-entry ", $($name,)* " ", $($file,)*);
        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            /// Runs one thread of the launch.
            ///
            /// # Safety
            /// The driver calls it, which `Device::launch` ensures.
            // What a kernel is generic over is a marker that takes no bytes.
            #[allow(improper_ctypes_definitions, unreachable_pub)]
            #[unsafe(export_name = concat!($($name,)*))]
            pub unsafe extern "ptx-kernel" fn entry(
                params: <$kernel as $crate::Kernel>::Params,
            ) {
                // SAFETY: launches are one-dimensional (Device::launch).
                let lane = unsafe {
                    $crate::lane::gpu::GpuLane::<$probe, $mutant, $wide>::current()
                };
                <$kernel as $crate::Kernel>::run(&lane, &params);
            }
        };
    };
}

/// Makes `$kernel`, a type with `fn body<L: Lane>(lane: &L, params: &$params)`, a `Kernel` with the entry
/// point `$entry`, whose PTX is `ptx/<folder>/<file>.ptx`. `wide` behind it makes another one for GPUs with
/// atomics of 128 bits, which a launch with clusters needs.
#[macro_export]
macro_rules! kernel_alone {
    ($kernel:ty, $params:ty, $entry:literal, $folder:literal / $file:literal, wide) => {
        $crate::kernel_alone!($kernel, $params, $entry, $folder / $file);
        $crate::__observed! { {
            $crate::__entry_point!(
                $kernel, $crate::observe::Silent, { u32::MAX }, true,
                [$entry, "_wide"], [$folder, "/", $file, "-wide"]
            );
        } {} }
    };
    ($kernel:ty, $params:ty, $entry:literal, $folder:literal / $file:literal) => {
        impl $crate::Kernel for $kernel {
            const ENTRY: &'static str = $entry;
            type Params = $params;
            const PARAMETERS: &'static str = {
                #[allow(unused_imports)]
                use $crate::kernel::Unnoted as _;
                Self::NOTE
            };

            #[inline(always)]
            fn run<L: $crate::Lane>(lane: &L, params: &$params) {
                Self::body(lane, params);
            }

            $crate::__host! {
                fn ptx(
                    build: $crate::kernel::Build,
                ) -> Result<$crate::kernel::ptx::Text, $crate::host::Error> {
                    $crate::kernel::ptx::find($crate::ptx_of!($folder), $entry, ($folder, $file), build)
                }
            }
        }

        $crate::__observed! { {
            $crate::__entry_point!(
                $kernel, $crate::observe::Silent, { u32::MAX }, false,
                [$entry], [$folder, "/", $file]
            );
        } {} }
    };
}
