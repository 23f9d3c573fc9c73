//! The program `stamp`, driven from outside: what it prints, writes and refuses, and its exit status.
//! Only the CPU is used, so that the result does not depend on the machine. `paper.rs` and `against.rs`,
//! in which time matters, are programs of their own.

#[path = "../prelude/mod.rs"]
mod prelude;

mod cli;
mod floor;
mod nw;
mod record;
mod report;
#[cfg(target_os = "linux")]
mod streams;
