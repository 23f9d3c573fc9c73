//! stamp
fn main() {}
