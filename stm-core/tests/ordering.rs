//! A test that the argument about memory order and the code name the same
//! events: every `ORDER(…)` in the sources is an event of its `ORDERING.md`, and
//! every event there is marked in the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Words of the document that look like events and are none.
const NO_EVENTS: &[&str] = &["C11"];

/// Collects the arguments of `ORDER(…)` in the sources below a folder.
fn marked(dir: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            marked(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            for rest in text.split("ORDER(").skip(1) {
                let name = rest.split(')').next().unwrap_or_default();
                found.extend(name.split(", ").map(base));
            }
        }
    }
}

/// Returns an event without its prime: E2' is the same fence at another place.
fn base(event: &str) -> String {
    event.trim_end_matches('\'').to_owned()
}

/// Returns whether a word is an upper-case letter and a number.
fn is_event(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| c.is_ascii_uppercase())
        && letters.as_str().parse::<u8>().is_ok()
        && !NO_EVENTS.contains(&word)
}

/// Returns the events that a document names.
fn named(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| is_event(word))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_events_of_the_argument_are_those_that_the_sources_mark() {
    // Barriers that count arrivals are of the machine, and are argued with the channels.
    for (folder, sources) in [
        ("src", &["src"][..]),
        ("sync/src", &["sync/src", "machine/src"][..]),
    ] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut marked_events = BTreeSet::new();
        for dir in sources {
            marked(&root.join(dir), &mut marked_events);
        }
        assert!(marked_events.len() > 14, "{marked_events:?}");
        assert!(
            marked_events.iter().all(|event| is_event(event)),
            "{marked_events:?}"
        );
        let text = fs::read_to_string(root.join(folder).join("ORDERING.md")).unwrap();
        let named_events = named(&text);
        let missing: Vec<_> = marked_events.difference(&named_events).collect();
        assert!(
            missing.is_empty(),
            "{folder}/ORDERING.md does not name {missing:?}"
        );
        let unmarked: Vec<_> = named_events.difference(&marked_events).collect();
        assert!(
            unmarked.is_empty(),
            "{folder}: no source marks {unmarked:?}"
        );
    }
}

#[test]
fn events_are_told_from_other_words() {
    let text = "C11 says: **E4**, F2' and (S1); `fast` on an H200x is F, and A 2 or 31E is none.";
    let events: Vec<String> = named(text).into_iter().collect();
    assert_eq!(events, ["E4", "F2", "S1"]);
}
