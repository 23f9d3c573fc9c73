//! GN, genome: puts a gene together. It drops duplicate segments, and links the
//! others (STAMP's application, Xu et al. 2014).
//!
//! | file | is |
//! | --- | --- |
//! | `gene.rs` | the gene and its segments |
//! | `check.rs` | what a right assembly has |

pub mod check;
mod data;
mod driver;
mod floor;
pub mod gene;
mod input;
mod links;

pub use data::GenomeData;
pub use input::{Genome, Options};
