//! The macros that turn a kernel's type into a `Kernel`: with a PTX entry point for each algorithm on the
//! GPU, and one compiled instance for each on the CPU. [`#[kernel]`](macro@crate::kernel) ends in them, too.

/// Keeps tokens on the host, where the feature `host` is on.
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __host {
    ($($tokens:tt)*) => { $($tokens)* };
}

#[cfg(not(all(not(target_arch = "nvptx64"), feature = "host")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __host {
    ($($tokens:tt)*) => {};
}

/// Makes `$kernel<A>` a [`Kernel`](crate::kernel::Kernel) for several algorithms.
///
/// `$kernel` has `fn body<L: Lane>(lane: &L, params: &$params<A>)`, and entry points `<name>_<variant>` with
/// PTX in `<name>/<variant>.ptx`. [`#[kernel]`](macro@crate::kernel) writes all this for a function.
///
/// | form | it has entry points for |
/// | --- | --- |
/// | `kernels!(K, KParams, "k")` | every algorithm of the registry |
/// | `kernels!(K, KParams, "k", teams)` | the algorithms with teams; under others it must not be launched |
/// | `kernels!(K, KParams, "k", [Fast, HvSorting])` | the algorithms named |
///
/// `wide` behind that adds, for `fast`, an entry point for GPUs with atomics of 128 bits, which pays for
/// 64-bit elements in cells. `registers { fast: 128 }` bounds the registers of a thread.
///
/// ```
/// use stm_core::prelude::*;
/// use stm_core::View;
///
/// /// Adds one to each word.
/// pub struct AddOne<A>(std::marker::PhantomData<A>);
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// pub struct AddOneParams<A: Algorithm> {
///     stm: StmRef<A>,
///     words: A::Array<u32>,
/// }
///
/// impl<A: Algorithm> AddOne<A> {
///     fn body<L: Lane>(lane: &L, params: &AddOneParams<A>) {
///         let words = &params.words;
///         params.stm.update_each(lane, 0..words.len(), words, |i| [i], |_, [n]| Some([n + 1]));
///     }
/// }
///
/// stm_core::kernels!(AddOne, AddOneParams, "add_one_to_each", [Fast]);
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let mut stm = Stm::on(&Cpu::new())?;
/// let words = stm.array("words", &[4u32; 3])?;
/// stm.set_up::<Fast>(Launch::new(1, 2))?;
/// let params = AddOneParams { stm: stm.handle::<Fast>(), words: words.view::<Fast>() };
/// // SAFETY: the words live, and nothing else accesses them.
/// unsafe { stm.launch::<AddOne<Fast>>(&params) }?;
/// assert_eq!(words.download()?, [5; 3]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[macro_export]
macro_rules! kernels {
    ($kernel:ident, $params:ident, $name:literal
        $(, wide $(@$wide:tt)?)? $(, registers { $($limited:ident: $registers:literal),* $(,)? })?) => {
        $crate::kernels!(@width [$(wide $($wide)?)?] all $kernel $params $name);
        $($($crate::__registers!($name, $limited, $registers);)*)?
    };
    ($kernel:ident, $params:ident, $name:literal, teams) => {
        $crate::kernels!(@width [] teams $kernel $params $name);
    };
    ($kernel:ident, $params:ident, $name:literal, [$($type:ident),+ $(,)?]
        $(, registers { $($limited:ident: $registers:literal),* $(,)? })?) => {
        $crate::__algorithm_lines! { [$($type)+] {} all narrow $kernel $params $name; }
        $($($crate::__registers!($name, $limited, $registers);)*)?
    };
    ($kernel:ident, $params:ident, $name:literal, [$($type:ident),+ $(,)?], wide
        $(, registers { $($limited:ident: $registers:literal),* $(,)? })?) => {
        $crate::__algorithm_lines! { [$($type)+] {} all wide $kernel $params $name; }
        $($($crate::__registers!($name, $limited, $registers);)*)?
    };
    (@width [] $select:ident $kernel:ident $params:ident $name:literal) => {
        $crate::for_each_algorithm! {
            $crate::__entries! { $select narrow $kernel $params $name; }
        }
    };
    (@width [wide] $select:ident $kernel:ident $params:ident $name:literal) => {
        $crate::for_each_algorithm! {
            $crate::__entries! { $select wide $kernel $params $name; }
        }
    };
}

/// Implements `Kernel`, and makes the entry points of each line.
#[doc(hidden)]
#[macro_export]
macro_rules! __entries {
    ($select:ident $width:ident $kernel:ident $params:ident $name:literal;
        $($type:ident $entry:ident $variant:literal $origin:ident $teams:ident $sums:ident;)*) => {
        impl<A: $crate::algorithm::Algorithm> $crate::Kernel for $kernel<A> {
            const ENTRY: &'static str =
                const { &$crate::internal::kernel::EntryName::new($name, A::NAME) }.as_str();
            type Params = $params<A>;
            const PARAMETERS: &'static str = {
                #[allow(unused_imports)]
                use $crate::internal::kernel::Unnoted as _;
                Self::NOTE
            };

            #[inline(always)]
            fn run<L: $crate::Lane>(lane: &L, params: &Self::Params) {
                Self::body(lane, params);
            }

            $crate::__host! {
                fn ptx(
                    build: $crate::internal::kernel::Build,
                ) -> Result<$crate::internal::kernel::ptx::Text, $crate::host::Error> {
                    let name = ($name, A::NAME);
                    $crate::internal::kernel::ptx::find($crate::ptx_of!($name), Self::ENTRY, name, build)
                }

                /// Sends the call to the instance that this crate has compiled.
                ///
                /// # Panics
                /// It panics under an algorithm for which the kernel has no entry point.
                fn run_on_cpu(lane: &$crate::internal::lane::cpu::CpuLane<'_>, params: &Self::Params) {
                    let params: &dyn core::any::Any = params;
                    $($crate::__on_cpu!(@$select $teams lane params $kernel $params $type);)*
                    panic!(
                        "the kernel {} has no entry point for {}: declare it by `#[kernel(all)]` or `#[kernel({:?})]`",
                        $name, A::NAME, A::VARIANT,
                    );
                }
            }
        }

        $crate::__host! {
            const _: () = {
                /// A second kernel of this name in the crate is an error of the
                /// compiler, and in the program one of the linker.
                #[unsafe(export_name = concat!("stm_kernel_", $name))]
                static NAME: u8 = 0;
            };
        }

        $($crate::__on_gpu!(
            @$select $teams $width $kernel $params $name $type $entry $variant $origin
        );)*
    };
}

/// Makes one instance on the CPU. It is not generic, so that it is compiled here and only once.
#[doc(hidden)]
#[macro_export]
macro_rules! __on_cpu {
    (@teams alone $($rest:tt)*) => {};
    (@teams teams $($rest:tt)*) => {
        $crate::__on_cpu!(@all teams $($rest)*)
    };
    (@all $teams:ident $lane:ident $values:ident $kernel:ident $params:ident $type:ident) => {
        if let Some(params) =
            $values.downcast_ref::<$params<$crate::algorithm::$type>>()
        {
            #[inline(never)]
            fn instance(
                lane: &$crate::internal::lane::cpu::CpuLane<'_>,
                params: &$params<$crate::algorithm::$type>,
            ) {
                $kernel::<$crate::algorithm::$type>::body(lane, params);
            }
            return instance($lane, params);
        }
    };
}

/// Makes the entry points of one algorithm on the GPU: the silent one, which
/// ships, or with the feature `observed` those that are built on demand.
#[doc(hidden)]
#[macro_export]
macro_rules! __on_gpu {
    (@teams alone $($rest:tt)*) => {};
    (@teams teams $($rest:tt)*) => {
        $crate::__on_gpu!(@all teams $($rest)*);
    };
    (@all $teams:ident $width:ident $kernel:ident $params:ident $name:literal
        $type:ident $entry:ident $variant:literal $origin:ident) => {
        $crate::__on_gpu!(@both $kernel $name $type $entry $variant false "" "");
        $crate::__on_gpu!(@profile $origin $kernel $name $type $entry $variant);
        $crate::__on_gpu!(@wide $width $kernel $name $type $entry $variant);
    };
    (@profile own $($rest:tt)*) => {};
    (@profile paper $($of:tt)*) => {
        $crate::__observed! { {} {
            $crate::__on_gpu!(@one $($of)* Profiler false ["_profiled"] [".profiled"]);
        } }
    };
    (@wide wide $kernel:ident $name:literal Fast $entry:ident $variant:literal) => {
        $crate::__on_gpu!(@both $kernel $name Fast $entry $variant true "_wide" "-wide");
    };
    (@wide $width:ident $kernel:ident $name:literal $type:ident $entry:ident $variant:literal) => {};
    (@both $kernel:ident $name:literal $type:ident $entry:ident $variant:literal
        $wide:literal $suffix:literal $end:literal) => {
        $crate::__observed! { {
            $crate::__on_gpu!(@one $kernel $name $type $entry $variant Silent $wide [$suffix] [$end]);
        } {
            $crate::__on_gpu!(@one $kernel $name $type $entry $variant
                Recorder $wide [$suffix, "_recorded"] [$end, ".recorded"]);
        } }
    };
    (@one $kernel:ident $name:literal $type:ident $entry:ident $variant:literal
        $probe:ident $wide:literal [$($suffix:literal),*] [$($end:literal),*]) => {
        $crate::__entry_point!(
            $kernel<$crate::algorithm::$type>, $crate::internal::observe::$probe, { u32::MAX }, $wide,
            [$name, "_", stringify!($entry), $($suffix),*], [$name, "/", $variant, $($end),*]
        );
    };
}
