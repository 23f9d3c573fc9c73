//! `stamp bench paper`: everything that the paper shows, measured in one run
//! that can be interrupted and gone on with.
//!
//! | module | is |
//! | --- | --- |
//! | `document` | `paper.json`: the types, and ratios, which follow from several sections; the verdict on a recorded run of a result |
//! | `plan` | inputs and launches, in tables; what one command measured, and what must not be of two |
//! | `run` | the units of the document, and the points of those that it lacks, one after the other |
//! | `measure` | one point: search, measure, verify, profile, and count reads and writes |
//!
//! Steps: list the points that the document lacks; group them by input, so that
//! data is made once; measure one after the other, writing the document after
//! each. Units are whole or measured again (`plan`). The results of Figures 2 and 3 are verified;
//! the points of Figure 4 are launches of the same kernels whose results nobody looks at.

pub mod document;
mod measure;
pub(crate) mod plan;
pub(crate) mod run;
