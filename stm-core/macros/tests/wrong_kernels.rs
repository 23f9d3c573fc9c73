//! Kernels that somebody writes who has not seen the macro, and what the compiler says of each.
//!
//! `wrong_kernels.txt` has them: behind `== NAME` the program, behind `--` all messages. Each is
//! compiled with the macro as it is, and a message that is another one is a failure. After a change
//! that is meant, `TRYBUILD=overwrite cargo test -p stm-core-macros` writes the messages anew, for
//! review: each points at the user's line, and says what is expected there.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use trybuild::TestCases;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wrong_kernels.txt");

/// What the messages have for the folder of the programs.
const FOLDER: &str = "$FOLDER";

/// What stands before each program, and behind it.
const AROUND: [&str; 2] = ["use stm_core::prelude::*;\n\n", "\nfn main() {}\n"];

/// A case: its name, the program, and the messages.
fn cases(table: &str) -> Vec<[&str; 3]> {
    let read = |case| {
        let (name, rest): (&str, &str) = str::split_once(case, '\n')?;
        let (program, messages) = rest.split_once("\n--\n")?;
        Some([name, program, messages])
    };
    let cases = table.split("== ").skip(1);
    let cases = cases.map(|case| read(case).unwrap_or_else(|| panic!("not a case: {case}")));
    cases.collect()
}

#[test]
fn each_wrong_kernel_gets_the_messages_of_the_table() {
    // The checks build by a linter, whose messages are others than the compiler's.
    // SAFETY: this is the only test of the program, and nothing else reads the environment meanwhile.
    unsafe { std::env::remove_var("RUSTC_WORKSPACE_WRAPPER") };
    let table = fs::read_to_string(TABLE).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong_kernels");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let place = folder.display().to_string();
    let cases = cases(&table);
    assert!(cases.len() >= 20);
    let of_case = |name: &str, kind| folder.join(name).with_extension(kind);
    for [name, program, messages] in &cases {
        let [before, after] = AROUND;
        let program = format!("{before}{program}\n{after}");
        fs::write(of_case(name, "rs"), program).unwrap();
        let messages = messages.trim_end().replace(FOLDER, &place) + "\n";
        fs::write(of_case(name, "stderr"), messages).unwrap();
    }
    let compiled = TestCases::new();
    compiled.compile_fail(folder.join("*.rs"));
    // It compiles them, and panics if messages differ.
    drop(compiled);
    if std::env::var_os("TRYBUILD").is_some_and(|value| value == "overwrite") {
        let mut written = table[..table.find("== ").unwrap()].to_owned();
        for [name, program, _] in cases {
            let messages = fs::read_to_string(of_case(name, "stderr")).unwrap();
            let messages = messages.trim_end().replace(&place, FOLDER);
            let _ = write!(written, "== {name}\n{program}\n--\n{messages}\n\n");
        }
        fs::write(TABLE, written.trim_end().to_owned() + "\n").unwrap();
    }
}
