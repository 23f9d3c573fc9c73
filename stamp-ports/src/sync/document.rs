//! What is asked for, and what is found: [`crate::points`].

pub use crate::points::{Asked, Point};
