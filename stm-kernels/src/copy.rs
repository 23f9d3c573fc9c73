//! The entry points of the kernels that `stm-core` itself launches ([`stm_core::internal::kernel::copy`]).
//! `cargo xtask ptx` puts their PTX into `stm-core/ptx/`, because the library carries it.

macro_rules! entries {
    ($($kernel:ty, $entry:literal, $file:literal;)*) => {
        $(stm_core::__observed! { {
            stm_core::__entry_point!(
                $kernel, stm_core::internal::observe::Silent, { u32::MAX }, false, [$entry], [$file]
            );
        } {} })*
    };
}

entries! {
    stm_core::internal::kernel::copy::IntoCells<u32>, "copy_into_cells_32", "copy/into-cells-32";
    stm_core::internal::kernel::copy::IntoCells<u64>, "copy_into_cells_64", "copy/into-cells-64";
    stm_core::internal::kernel::copy::FromCells<u32>, "copy_from_cells_32", "copy/from-cells-32";
    stm_core::internal::kernel::copy::FromCells<u64>, "copy_from_cells_64", "copy/from-cells-64";
}
