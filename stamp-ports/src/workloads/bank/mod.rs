//! Bank: transfers between accounts, and audits that sum up a range of them.

mod check;
mod driver;
mod floor;
mod input;

pub use driver::BankData;
pub use input::{Bank, Options};
