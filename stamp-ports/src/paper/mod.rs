//! `stamp bench paper`: everything that the paper shows, measured in one run
//! that can be interrupted and gone on with.
//!
//! | module | is |
//! | --- | --- |
//! | `document` | `paper.json`: the types, reading and writing |
//! | `compare` | ratios, which follow from several sections |
//! | `isolation` | the verdict on a recorded run of a result |
//! | `plan` | inputs and points, in tables |
//! | `pieces` | what one command measured, and what must not be of two |
//! | `points` | the points that the document lacks |
//! | `run` | all of them, one after the other |
//! | `measure` | one point: search, measure, verify |
//! | `profiled` | a bar of Figure 5 |
//! | `recorded` | reads and writes of a transaction, counted |
//! | `units` | the units of a document, measured or forgotten |
//!
//! Steps: list the points that the document lacks; group them by input, so that
//! data is made once; measure one after the other, writing the document after
//! each. Units are whole or measured again ([`pieces`]). The results of Figures 2 and 3 are verified; the points of Figure 4 are
//! launches of the same kernels whose results nobody looks at.

mod compare;
pub mod document;
pub mod isolation;
pub mod measure;
pub mod pieces;
pub mod plan;
pub mod points;
mod profiled;
pub mod recorded;
pub mod run;
mod units;
