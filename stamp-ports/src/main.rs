//! The program `stamp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    stamp_ports::main_of(std::env::args_os())
}
