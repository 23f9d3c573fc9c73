//! The algorithms: one file or folder each, the same set of methods
//! ([`Algorithm`]), chosen by type, and one line each in the registry ([`Variant`]).
//!
//! | type | name | after |
//! | --- | --- | --- |
//! | [`Cgl`] | `cgl` | one coarse-grained lock, the paper's baseline |
//! | [`Egpgv`] | `egpgv` | Cederman, Tsigas, Chaudhry 2010: one transaction a block, blocking |
//! | [`Vbv`] | `vbv` | `NOrec` (Dalessandro, Spear, Scott 2010): one sequence lock, values |
//! | [`TbvSorting`] | `tbv-sorting` | Xu et al. 2014, time stamps only |
//! | [`HvSorting`] | `hv-sorting` | Xu et al. 2014, Algorithm 3 |
//! | [`HvBackoff`] | `hv-backoff` | Xu et al. 2014, section 4.2 |
//! | [`Fast`] | `fast` | TL2 with extension, versions beside the values |
//! | [`FastTable`] | `fast-table` | the same with the table of locks |
//!
//! `optimized` is no type: the host picks `HvSorting` or `TbvSorting`.

pub(crate) mod contract;
pub(crate) mod fast;
pub(crate) mod paper;
pub(crate) mod registry;

pub use contract::{Algorithm, Granule, Scratch};
pub use fast::protocol::{Fast, FastTable, Versioned};
pub use fast::storage::{Cells, Storage, Table};
pub use paper::acquisition::{Acquisition, Backoff, Blocking, Sorted};
pub use paper::cgl::Cgl;
pub use paper::validation::{Hierarchical, Tbv, Validation};
pub use paper::vbv::Vbv;
pub use paper::version_locks::{Egpgv, HvBackoff, HvSorting, TbvSorting, VersionLocks};
pub use registry::Variant;
