//! The argument about memory order and the code name the same events: every `ORDER(…)` in the sources is an event of
//! its `ORDERING.md`, and the reverse. Likewise every unsafe trait, every type that is said to be `Send` or `Sync`,
//! and every file with assembly or an entry point is in `SAFETY.md`.

mod vocabulary;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use stm_core::algorithm::Fast;
use stm_core::{
    Action, Input, Output, StmRef, TArray, TCells, TNodes, TPool, TPreassigned, TRecords, TSums,
    collections as c,
};
use stm_core::{Field, Preassigned};
use stm_core_tests::{sources, stay};

/// Words of the document that look like events and are none.
const NO_EVENTS: &[&str] = &["C11"];

/// Returns an event without its prime: E2' is the same fence at another place.
fn base(event: &str) -> String {
    event.trim_end_matches('\'').to_owned()
}

/// Returns whether a word is an upper-case letter and a number.
fn is_event(word: &str) -> bool {
    let number = word.strip_prefix(|c: char| c.is_ascii_uppercase());
    number.is_some_and(|n| n.parse::<u8>().is_ok()) && !NO_EVENTS.contains(&word)
}

fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| is_event(word))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_events_of_the_argument_are_those_that_the_sources_mark() {
    // Barriers that count arrivals are of the machine, and are argued with the channels.
    for (folder, folders) in [
        ("src", &["src"][..]),
        ("sync/src", &["sync/src", "machine/src"][..]),
    ] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut marked_events = BTreeSet::new();
        for (_, text) in folders.iter().flat_map(|dir| sources(&root.join(dir))) {
            for rest in text.split("ORDER(").skip(1) {
                let name = rest.split(')').next().unwrap_or_default();
                marked_events.extend(name.split(", ").map(base));
            }
        }
        assert!(marked_events.len() > 14, "{marked_events:?}");
        let text = fs::read_to_string(root.join(folder).join("ORDERING.md")).unwrap();
        assert_eq!(marked_events, named(&text), "{folder}/ORDERING.md");
    }
}

#[test]
fn events_are_told_from_other_words() {
    let text = "C11 says: **E4**, F2' and (S1); `fast` on an H200x is F, and A 2 or 31E is none.";
    let events: Vec<String> = named(text).into_iter().collect();
    assert_eq!(events, ["E4", "F2", "S1"]);
}

stm_core::record! {
    /// A record.
    pub struct Pair {
        /// The first field.
        pub a: u32,
        /// The second.
        pub b: u64,
    }
}

stay!(
    StmRef<Fast>,
    TArray<u32>,
    TCells<u32>,
    TSums<u64>,
    TRecords<Fast, Pair>,
    TPool,
    TNodes<Fast, Pair>,
    TPreassigned<Fast, Pair>,
    Preassigned<'static, Fast, Pair>,
    Input<u32>,
    Output<u32>,
    Action,
    stm_machine::Stop,
    c::TQueue<Fast, u32>,
    c::TList<Fast, u32, u32>,
    c::TLists<Fast, u32, u32>,
    c::TMap<Fast, u32, u32>,
    c::TOrderedMap<Fast, u32, u32>,
);

const SAFETY: &str = include_str!("../src/SAFETY.md");

/// The folders with sources, from the root of the repository.
const FOLDERS: &str = "stm-core/src stm-core/machine/src stm-core/sync/src stm-kernels/src \
                       verify/src verify/history/src stamp-ports";

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric());
    &text[..end.unwrap_or(text.len())]
}

#[test]
fn every_rare_kind_of_unsafe_code_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = 0;
    let mut missing = Vec::new();
    let mut listed = |name: &str| {
        found += 1;
        if !SAFETY.contains(&format!("`{name}`")) {
            missing.push(name.to_owned());
        }
    };
    // A package has only its own sources.
    let folders = FOLDERS.split(' ').map(|folder| root.join(folder));
    let files = folders.filter(|folder| folder.is_dir());
    for (path, text) in files.flat_map(|folder| sources(&folder)) {
        let file = path.file_name().unwrap().to_string_lossy();
        let parent = path.parent().unwrap().file_name().unwrap();
        for line in text.lines().map(str::trim_start) {
            if let Some((_, name)) = line.split_once("unsafe trait ") {
                listed(word(name));
            }
            let mut of = ["Send for ", "Sync for "].iter();
            if line.starts_with("unsafe impl")
                && let Some((_, name)) = of.find_map(|of| line.split_once(of))
            {
                listed(word(name));
            }
            if line.starts_with("asm!(") || line.starts_with("global_asm!(") {
                listed(&format!("{}/{file}", parent.display()));
            }
            if line.starts_with("#[unsafe(") && !SAFETY.contains(&*file) {
                listed(&file);
            }
            assert!(!line.contains("static mut "), "{}", path.display());
        }
    }
    assert!(missing.is_empty(), "not in SAFETY.md: {missing:?}");
    assert!(found > 10, "{found} are found, so the test looks elsewhere");
}

#[test]
fn a_field_is_one_of_its_record() {
    let second = format!("{:?}", Field::<Pair, u64>::of(1));
    assert_eq!(second, format!("{:?}", Pair::b()));
    // There is no third, and the second is wide.
    for i in [2, 1] {
        std::panic::catch_unwind(|| Field::<Pair, u32>::of(i)).unwrap_err();
    }
}
