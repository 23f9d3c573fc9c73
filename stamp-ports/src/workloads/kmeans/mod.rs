//! KM, k-means: the host's side (STAMP's application, Xu et al. 2014).
//!
//! A run makes clusters of the points, first `-n` of them, then one more, up to
//! `-m`. Each clustering starts from that many points, drawn from the seed, and
//! goes in passes: a launch finds the nearest centre of each point and adds the
//! point to its sums in a transaction, then the host moves the centres to the
//! means. It ends when at most the part `-t` of the points changed its centre.
//! What is timed is the sum of the launches.
//!
//! With `adds`, transactions add to sums that they do not read: then the order of
//! the additions is not known, and the sums of a pass are compared with those in
//! double precision (check 5 of `check.rs`, and `sums.rs`).
//!
//! Every pass is checked, before the next begins, against the double-precision
//! run that follows it; how, [`Follower`] and its file say.
//!
//! | file | is |
//! | --- | --- |
//! | `points.rs` | points: generated, normalised, the first centres chosen |
//! | `file.rs` | STAMP's format of points |
//! | `sequential.rs` | the means on the host, the run in double precision |
//! | `passes.rs` | the passes of a run |
//! | `check.rs` | the checks |
//! | `sums.rs` | sums whose order is not known |

mod check;
mod driver;
mod file;
mod floor;
mod input;
mod passes;
mod points;
mod rivals;
mod sequential;
mod sizes;
mod sums;

pub use check::{Follower, Pass};
pub use driver::KmeansData;
pub use file::{read, text};
pub use input::{Drawn, GenerateOptions, Kmeans, KmeansInput, Options, PointsFrom, Source};
pub use points::{MAGNITUDE_MAX, Points};
pub use sequential::{Centres, Nearest, ROUNDING, SequentialRun, goes_on, move_centres, run};
pub use sums::wrong_sums;
