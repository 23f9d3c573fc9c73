//! What the unit tests and the tests of the program share: the former take this file by its path.

/// Checks that a text has all of these parts, which ` | ` separates.
#[track_caller]
pub(crate) fn has(text: &str, parts: &str) {
    for part in parts.split(" | ") {
        assert!(text.contains(part), "{text} lacks {part:?}");
    }
}

/// Ways to spoil a result, each with what is said of it.
pub(crate) type Spoils<T, const N: usize> = [(fn(&mut T), &'static str); N];

/// Makes a table of them: a function, `=>`, and what is said.
macro_rules! spoils {
    ($($spoil:expr => $said:literal;)*) => {
        [$(($spoil, $said)),*]
    };
}
pub(crate) use spoils;

/// Checks that a right result, spoilt in each of these ways, is refused with what is said of it.
#[track_caller]
pub(crate) fn refused<T, const N: usize>(
    spoils: Spoils<T, N>,
    right: impl Fn() -> T,
    mut wrong: impl FnMut(T) -> Option<String>,
) {
    for (i, (spoil, said)) in spoils.into_iter().enumerate() {
        let mut spoilt = right();
        spoil(&mut spoilt);
        let what = wrong(spoilt).unwrap_or_else(|| panic!("number {i} is not refused: {said}"));
        assert!(!what.contains('\n'), "{what}");
        has(&what, said);
    }
}
