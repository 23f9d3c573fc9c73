//! The algorithms: types that implement [`Algorithm`] and have a line in the registry ([`Variant`]).
//!
//! | type | name | after |
//! | --- | --- | --- |
//! | [`Cgl`] | `cgl` | one coarse-grained lock, the paper's baseline |
//! | [`Egpgv`] | `egpgv` | Cederman, Tsigas, Chaudhry 2010: one transaction a block, blocking |
//! | [`Vbv`] | `vbv` | `NOrec` (Dalessandro, Spear, Scott 2010): one sequence lock, values |
//! | [`TbvSorting`] | `tbv-sorting` | Xu et al. 2014, time stamps only |
//! | [`HvSorting`] | `hv-sorting` | Xu et al. 2014, Algorithm 3 |
//! | [`HvBackoff`] | `hv-backoff` | Xu et al. 2014, section 4.2 |
//! | [`Fast`] | `fast` | TL2 with snapshot extension, versions beside the values |
//! | [`FastTable`] | `fast-table` | the same algorithm with versions in the lock table |
//!
//! `contract` is the interface between [`Tx`](crate::Tx) and an algorithm. The name `optimized` has no type:
//! the host chooses between `HvSorting` and `TbvSorting`. Invariant: the state of an attempt belongs to the
//! algorithm ([`Algorithm::Attempt`]), and no algorithm uses that of another.
//!
//! ```
//! use stm_core::algorithm::{Algorithm, HvSorting, Variant};
//!
//! for &variant in Variant::ALL {
//!     println!("{variant}: {}", variant.about());
//! }
//! assert_eq!(Variant::from_name("hv-sorting"), Some(HvSorting::VARIANT));
//! ```

pub(crate) mod contract;
pub(crate) mod fast;
pub(crate) mod paper;
pub(crate) mod prelude;
pub(crate) mod registry;

pub use contract::{Algorithm, Granule};
#[doc(inline)]
pub use registry::*;
