//! Lists of names at the command line.

/// Several workloads, or parts of a measurement, in one argument.
pub type NameList = std::vec::Vec<&'static str>;
