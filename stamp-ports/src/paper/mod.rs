//! `stamp bench paper`: everything that the paper shows, measured in one run that can be interrupted and gone
//! on with.
//!
//! Steps: list the points that the document lacks; group them by input, so that data is made once; measure
//! one after the other, writing the document after each. Units are whole or measured again (`plan`). The
//! results of Figures 2 and 3 are verified; the points of Figure 4 are launches of the same kernels whose
//! results nobody looks at.

pub mod document;
mod measure;
pub(crate) mod plan;
pub(crate) mod run;
