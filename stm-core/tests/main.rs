//! The transactional memory as a user has it, on the CPU: kernels, containers, errors and their texts.

mod call;
mod checks;
mod collections;
mod common;
mod core_paths;
mod foreign;
mod in_use;
mod misuse;
mod names;
mod pool;
mod records;
mod teams;
mod transactions;
mod waiting;
