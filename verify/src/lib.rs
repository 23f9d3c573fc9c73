//! verify

pub mod error;
pub mod history;
pub mod opacity;
pub mod sim;
pub mod program;
pub mod variant;
pub mod mutants;
pub mod fuzz;
pub mod record;
