//! A test that only the lane module contains atomics, `asm!`, fences and spin
//! hints: everything else goes through `Lane`, where a test can see it.

use std::path::Path;
use stm_core_tests::sources;

const FORBIDDEN: &str = "asm! Atomic atomic:: fence(Ordering spin_loop compare_exchange nvptx:: \
                         llvm.nvvm Ordering::";

/// Returns the lines of a file that use a forbidden word, other than in a comment.
fn offences(text: &str) -> Vec<&str> {
    let is_one = |line: &&str| {
        let code = line.split("//").next().unwrap_or("");
        FORBIDDEN.split(' ').any(|word| code.contains(word))
    };
    text.lines().filter(is_one).collect()
}

#[test]
fn only_the_lane_module_speaks_to_the_machine() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["machine/src", "sync/src", "src", "../stm-kernels/src"];
    let files: Vec<_> = folders.map(|dir| sources(&root.join(dir))).concat();
    assert!(files.len() > 20, "found only {} source files", files.len());
    let lane = root.join("machine/src/lane");
    let mut seen_in_lane = 0;
    for (file, text) in files {
        let offences = offences(&text);
        if file.starts_with(&lane) {
            seen_in_lane += offences.len();
        } else {
            assert!(offences.is_empty(), "{}: {offences:?}", file.display());
        }
    }
    assert!(seen_in_lane > 10, "it finds nothing where it must");
}
