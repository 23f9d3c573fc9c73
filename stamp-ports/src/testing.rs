//! What the unit tests and the tests of the program share: the latter take this file by its path.

/// Checks that a text has all of these parts, which ` | ` separates.
#[track_caller]
pub(crate) fn has(text: &str, parts: &str) {
    for part in parts.split(" | ") {
        assert!(text.contains(part), "{text} lacks {part:?}");
    }
}
