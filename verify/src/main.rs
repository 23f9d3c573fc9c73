//! The program `verify`.

use std::process::ExitCode;

fn main() -> ExitCode {
    verify::commands::main_of()
}
