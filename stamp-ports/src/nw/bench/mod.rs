//! `stamp bench nw`: scores of alignments by every implementation, in one run that can be
//! interrupted and gone on with.
//!
//! | module | is |
//! | --- | --- |
//! | `document` | `nw.json`: all points |
//! | `case` | what a point aligns |
//! | `schemes` | the ways of filling tables, a line each |
//! | `plan` | the points of a device, in the order in which they are measured |
//! | `inputs` | the sequences and the scorings of a point |
//! | `measure` | one point, verified |
//! | `run` | all of them, one after the other |

mod case;
pub mod document;
mod hops;
pub mod inputs;
pub mod measure;
pub mod plan;
pub mod reduction;
pub mod run;
pub mod schemes;
