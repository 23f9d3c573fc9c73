//! LB, labyrinth: routes paths through a grid; each transaction claims one path
//! (STAMP's application, Xu et al. 2014).
//!
//! | file | is |
//! | --- | --- |
//! | `maze.rs` | the grid and the paths asked for; STAMP's file format |
//! | `check.rs` | what a right routing has |
//! | `claims.rs` | the time that routers spend in transactions |

pub mod check;
mod claims;
mod data;
mod driver;
mod input;
pub mod maze;
mod section;
mod sizes;

pub use data::LabyrinthData;
pub use input::{Claim, Drawn, GenerateOptions, Grid, Labyrinth, LabyrinthInput, Options};
pub use maze::{Maze, Place, Request};
