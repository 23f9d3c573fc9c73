//! Histories and the opacity checker: files, recording buffers, verdicts, and the checker beside brute force.

mod brute;
mod common;
mod file;
mod must_reject;
mod recorder;
