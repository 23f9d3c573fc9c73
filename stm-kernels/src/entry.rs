//! One line a variant: the kernel's type, its PTX entry points, its PTX. And
//! one line a workload for those that take times.

/// Makes `$kernel<A>` a `Kernel` for each algorithm named, silent and
/// recording, with entry points of the given names on the GPU and their PTX
/// embedded on the host.
///
/// `$kernel` has `fn body<L: Lane>(lane: &L, params: &$params<A>)`.
///
/// A kernel with 64-bit elements in cells has, behind `wide`, entry points for
/// GPUs with atomics of 128 bits.
macro_rules! entries {
    ($kernel:ident, $params:ident, {
        $($algorithm:ident => $entry:ident, $recorded:ident $(, wide $wide:ident, $wide_recorded:ident)?;)*
    }) => {
        $(
            $crate::entry::entries!(@one $kernel, $params,
                stm_core::algorithm::$algorithm<stm_core::probe::Silent>, $entry $(, wide $wide)?);
            $crate::entry::entries!(@one $kernel, $params,
                stm_core::algorithm::$algorithm<stm_core::probe::Recorder>, $recorded
                $(, wide $wide_recorded)?);
        )*
    };
    (@one $kernel:ident, $params:ident, $algorithm:ty, $entry:ident $(, wide $wide:ident)?) => {
        impl stm_core::Kernel for $kernel<$algorithm> {
            const ENTRY: &'static str = stringify!($entry);
            type Params = $params<$algorithm>;

            #[cfg(not(target_arch = "nvptx64"))]
            fn ptx() -> Option<&'static str> {
                Some(include_str!(concat!("../ptx/", stringify!($entry), ".ptx")))
            }

            $(
                #[cfg(not(target_arch = "nvptx64"))]
                fn wide_ptx() -> Option<(&'static str, &'static str)> {
                    let text = include_str!(concat!("../ptx/", stringify!($wide), ".ptx"));
                    Some((stringify!($wide), text))
                }
            )?

            #[inline(always)]
            fn run<L: stm_core::Lane>(lane: &L, params: &Self::Params) {
                Self::body(lane, params);
            }
        }

        /// The entry point: one thread of the launch.
        ///
        /// # Safety
        /// The driver calls it, as `Device::launch` promises.
        #[cfg(target_arch = "nvptx64")]
        // The algorithm is a marker, and a silent probe no bytes.
        #[allow(improper_ctypes_definitions)]
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $entry(params: $params<$algorithm>) {
            // SAFETY: launches are one-dimensional (Device::launch).
            let lane = unsafe { <stm_core::lane::gpu::GpuLane>::current() };
            <$kernel<$algorithm> as stm_core::Kernel>::run(&lane, &params);
        }

        $(
            /// The entry point on a GPU with atomics of 128 bits.
            ///
            /// # Safety
            /// As above.
            #[cfg(target_arch = "nvptx64")]
            #[allow(improper_ctypes_definitions)]
            #[unsafe(no_mangle)]
            pub unsafe extern "ptx-kernel" fn $wide(params: $params<$algorithm>) {
                // SAFETY: as above.
                let lane = unsafe { stm_core::lane::gpu::GpuLane::<{ u32::MAX }, true>::current() };
                <$kernel<$algorithm> as stm_core::Kernel>::run(&lane, &params);
            }
        )?
    };
}
pub(crate) use entries;

/// Makes `$kernel<A>` a `Kernel` for each algorithm with the probe that takes
/// times, as [`entries`] does for the others. `$workload` begins the names of
/// the entry points: `<workload>_<variant>_profiled`.
macro_rules! profiled {
    ($kernel:ident, $params:ident, $workload:literal) => {
        $crate::entry::profiled!(@one $kernel, $params, Cgl, $workload, "cgl");
        $crate::entry::profiled!(@one $kernel, $params, Egpgv, $workload, "egpgv");
        $crate::entry::profiled!(@one $kernel, $params, Vbv, $workload, "vbv");
        $crate::entry::profiled!(@one $kernel, $params, TbvSorting, $workload, "tbv_sorting");
        $crate::entry::profiled!(@one $kernel, $params, HvSorting, $workload, "hv_sorting");
        $crate::entry::profiled!(@one $kernel, $params, HvBackoff, $workload, "hv_backoff");
    };
    (@one $kernel:ident, $params:ident, $algorithm:ident, $workload:literal, $variant:literal) => {
        const _: () = {
            type Profiled = stm_core::algorithm::$algorithm<stm_core::profile::Profiler>;

            impl stm_core::Kernel for $kernel<Profiled> {
                const ENTRY: &'static str = concat!($workload, "_", $variant, "_profiled");
                type Params = $params<Profiled>;

                #[cfg(not(target_arch = "nvptx64"))]
                fn ptx() -> Option<&'static str> {
                    Some(include_str!(concat!(
                        "../ptx/", $workload, "_", $variant, "_profiled.ptx"
                    )))
                }

                #[inline(always)]
                fn run<L: stm_core::Lane>(lane: &L, params: &Self::Params) {
                    Self::body(lane, params);
                }
            }

            /// The entry point: one thread of the launch.
            ///
            /// # Safety
            /// The driver calls it, as `Device::launch` promises.
            #[cfg(target_arch = "nvptx64")]
            // The algorithm is a marker.
            #[allow(improper_ctypes_definitions, unreachable_pub)]
            #[unsafe(export_name = concat!($workload, "_", $variant, "_profiled"))]
            pub unsafe extern "ptx-kernel" fn entry(params: $params<Profiled>) {
                // SAFETY: launches are one-dimensional (Device::launch).
                let lane = unsafe { <stm_core::lane::gpu::GpuLane>::current() };
                <$kernel<Profiled> as stm_core::Kernel>::run(&lane, &params);
            }
        };
    };
}
pub(crate) use profiled;
