//! Workloads under locks, in place of transactions, and without either.
//!
//! | module | the same with transactions |
//! | --- | --- |
//! | [`counter`] | [`crate::counter`] |
//! | [`table`] | [`crate::ht`] with one key a transaction |
//! | [`sorted`] | [`crate::sorted`] |
//!
//! A kernel is generic over the kind of lock, and has an entry point for each kind that is
//! measured. As all of `stm_sync`, they report what goes wrong to the locks' owner on the host.

pub mod counter;
pub mod sorted;
pub mod table;

/// Makes the entry points of `$kernel`, one for each kind of lock.
macro_rules! of_kinds {
    ($kernel:ident, $params:ident, $folder:literal:
        $($name:ident, $name_params:ident, $kind:ty, $entry:literal, $file:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($kernel), "`] with locks of kind `", stringify!($kind), "`.")]
        pub type $name = $kernel<$kind>;
        #[doc = concat!("The parameters of [`", stringify!($name), "`].")]
        pub type $name_params = $params<$kind>;
        stm_core::kernel_alone!($name, $name_params, $entry, $folder / $file);
    )*};
}
pub(crate) use of_kinds;
