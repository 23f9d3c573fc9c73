//! Panics that are findings: caught with their place, and printed by nobody.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread's panics are findings.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// The last of them.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `body`; `Err` has the message of its panic and where it was. Panics of
/// other threads, and later ones of this, go where they went before.
pub(super) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if QUIET.get() {
                LAST.set(info.to_string());
            } else {
                before(info);
            }
        }));
    });
    let nested = QUIET.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    QUIET.set(nested);
    result.map_err(|_| LAST.take())
}

#[cfg(test)]
mod tests {
    use super::catch;

    #[test]
    fn a_panic_is_caught_with_its_message_and_its_place() {
        assert_eq!(catch(|| 3), Ok(3));
        let text = catch(|| panic!("no {}", 7)).unwrap_err();
        assert!(text.contains("no 7") && text.contains("quiet.rs"), "{text}");
    }
}
