//! KM, k-means: the host's side.

mod check;
mod file;
mod points;
mod sequential;

pub use check::{Follower, Pass};
pub use file::{read, text};
pub use points::{MAGNITUDE_MAX, Points};
pub use sequential::{Centres, Nearest, ROUNDING, Run, goes_on, move_centres, run};
